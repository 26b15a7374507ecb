"""The kernel that leaves out equals its slow twin, and takes no harm from arrays that do not fit."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pairs import in_turn, pairwise, together
from textodds import _kernels
from textodds.errors import TextoddsError
from textodds.learn.forms.linear import LOG_ZERO

MODELS = ["multinomial", "binary", "complement", "bernoulli"]


def log(x):
    return math.log(x) if x > 0 else LOG_ZERO


def twin(model, X, codes, weights, K, alpha, least):
    """Scores (N, K) by counting all other rows of X (N, V) again; ``least`` documents keep a word."""
    out = np.zeros((len(X), K))
    presence = model in ("binary", "bernoulli")
    for i, k in np.ndindex(len(X), K):
        rest = [j for j in range(len(X)) if j != i]
        words = [v for v in range(X.shape[1]) if sum(weights[j] for j in rest if X[j, v]) >= least]
        in_it = [j for j in rest if (codes[j] != k if model == "complement" else codes[j] == k)]
        n = {v: sum(weights[j] * (X[j, v] > 0 if presence else X[j, v]) for j in in_it) for v in words}
        m = sum(weights[j] for j in in_it)
        for v in words:
            x, total = X[i, v], sum(n.values()) + alpha * len(words)
            if model == "bernoulli":
                out[i, k] += log((n[v] if x else m - n[v]) + alpha) - log(m + 2 * alpha)
            else:
                term = (x > 0 if presence else x) * (log(n[v] + alpha) - log(total))
                out[i, k] += -term if model == "complement" else term
    return out


def arrays(model, X, codes, weights, K, alpha, least):
    """The arguments of the kernel, from counts of all rows."""
    V = X.shape[1]
    presence = model in ("binary", "bernoulli")
    counted = (X > 0) * weights[:, None] if presence else X * weights[:, None]
    table = np.array([[counted[codes == k, v].sum() for k in range(K)] for v in range(V)])  # (V, K)
    seen = np.array([[(X[codes == k, v] > 0).any() for k in range(K)] for v in range(V)])
    starts = np.concatenate([[0], seen.sum(axis=1).cumsum()]).astype(np.uint64)
    mass = np.bincount(codes, weights, K)
    documents = ((X > 0) * weights[:, None]).sum(axis=0)
    rows = (
        np.concatenate([[0], (X > 0).sum(axis=1).cumsum()]).astype(np.int64),
        np.nonzero(X)[1].astype(np.int32),
        X[np.nonzero(X)],
    )
    counts = (
        starts,
        np.nonzero(seen)[1].astype(np.uint32),
        table[seen],
        documents,
        mass if model == "bernoulli" else table.sum(axis=0),
    )
    absent = None
    if model == "bernoulli":

        def summed(k, m):
            return sum(log(m - table[v, k] + alpha) - log(m + 2 * alpha) for v in range(V))

        own = [summed(k, mass[k] - weight) for k, weight in zip(codes, weights, strict=True)]
        absent = (np.array([summed(k, mass[k]) for k in range(K)]), np.array(own))
    without = (codes.astype(np.uint32), weights, np.full(len(X), float(least)))
    return [model, rows, counts, without, alpha, LOG_ZERO, absent]


@st.composite
def problems(draw):
    """Counts of at least one document for each class, of words that are in enough documents."""
    K = draw(st.integers(1, 3))
    V = draw(st.integers(1, 5))
    N = draw(st.integers(K, 7))
    X = np.array(draw(st.lists(st.integers(0, 3), min_size=N * V, max_size=N * V)), float).reshape(N, V)
    weights = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.25]), min_size=N, max_size=N)))
    least = draw(st.sampled_from([0.25, 2.0, 3.0]))
    X = X[:, weights @ (X > 0) >= least]
    assume(X.shape[1])
    alpha = draw(st.sampled_from([0.0, 1e-3, 0.5, 1.0, 30.0]))
    codes = [*range(K), *draw(st.lists(st.integers(0, K - 1), min_size=N - K, max_size=N - K))]
    return X, np.array(codes), weights, K, alpha, least


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@given(problem=problems())
def test_the_kernel_equals_its_twin(model, problem):
    found = _kernels.left_out(*arrays(model, *problem))
    np.testing.assert_allclose(found, twin(model, *problem), rtol=1e-9, atol=1e-6)


def replaced(arguments, place, part, array):
    """The arguments with another array in one place."""
    changed = list(arguments)
    changed[place] = tuple(array if at == part else each for at, each in enumerate(arguments[place]))
    return changed


def sound(model="multinomial"):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [3.0, 1.0, 0.0]])
    return arrays(model, X, np.array([0, 1, 1]), np.ones(3), 2, 0.5, 0.25)


PARTS = [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (3, 0), (3, 1), (3, 2)]


@together
@in_turn(2)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("place", "part"), PARTS)
def test_an_array_too_short_or_too_long_is_refused(model, place, part):
    arguments = sound(model)
    array = arguments[place][part]
    longer = (
        [] if (place, part) == (2, 4) else [np.concatenate([array, array[-1:]])]
    )  # a class of no document
    for other in (array[:-1], array[:0], *longer):
        with pytest.raises(TextoddsError):
            _kernels.left_out(*replaced(arguments, place, part, other))


@together
@in_turn(2)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("place", "part", "value"),
    [
        (1, 0, -1),
        (1, 0, 2**62),
        (1, 1, -1),
        (1, 1, 3),
        (1, 2, np.nan),
        (1, 2, np.inf),
        (2, 0, 2**63),
        (2, 1, 2),
        (2, 1, 2**32 - 1),
        (3, 0, 2),
        (3, 0, 2**32 - 1),
    ],
)
def test_an_index_out_of_bounds_or_a_count_that_is_no_number_is_refused(model, place, part, value):
    arguments = sound(model)
    for at in range(len(arguments[place][part])):
        array = arguments[place][part].copy()
        array[at] = value
        with pytest.raises(TextoddsError):
            _kernels.left_out(*replaced(arguments, place, part, array))


@pytest.mark.parametrize("place", [1, 2])
def test_starts_out_of_order_are_refused(place):
    arguments = sound()
    starts = arguments[place][0].copy()
    starts[[1, 2]] = starts[[2, 1]]
    assert starts[1] > starts[2]
    with pytest.raises(TextoddsError):
        _kernels.left_out(*replaced(arguments, place, 0, starts))


@together
@pairwise
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e308, 1e308])
@pytest.mark.parametrize(("place", "part"), [(2, 2), (2, 3), (2, 4), (3, 1), (3, 2)])
def test_numbers_that_cannot_be_spoil_scores_but_nothing_else(model, value, place, part):
    arguments = sound(model)
    array = np.full_like(arguments[place][part], value)
    assert _kernels.left_out(*replaced(arguments, place, part, array)).shape == (3, 2)
    np.testing.assert_array_equal(
        _kernels.left_out(*sound(model)), _kernels.left_out(*arguments)
    )  # inputs are as they were


def test_a_weight_that_is_no_number_spoils_its_own_row_only():
    arguments = sound()
    spoilt = _kernels.left_out(*replaced(arguments, 3, 1, np.array([1.0, np.nan, 1.0])))
    np.testing.assert_array_equal(spoilt[[0, 2]], _kernels.left_out(*arguments)[[0, 2]])


@given(model=st.sampled_from(MODELS), numbers=st.data())
def test_arrays_of_anything_give_an_error_or_scores(model, numbers):
    kinds = [("i8", "i4", "f8"), ("u8", "u4", "f8", "f8", "f8"), ("u4", "f8", "f8")]
    whole = st.lists(st.integers(0, 4), max_size=5)
    given = [tuple(np.array(numbers.draw(whole), dtype=kind) for kind in group) for group in kinds]
    N, K = len(given[2][0]), len(given[1][4])
    absent = (np.zeros(K), np.zeros(N)) if model == "bernoulli" else None
    try:
        found = _kernels.left_out(model, *given, 1.0, LOG_ZERO, absent)
    except TextoddsError:
        return
    assert found.shape == (N, K)


@pytest.mark.parametrize(
    ("model", "absent"), [("bernoulli", False), ("multinomial", True), ("softmax", False)]
)
def test_a_model_that_is_not_there_or_not_as_it_must_be_is_refused(model, absent):
    arguments = sound("bernoulli" if absent else "multinomial")
    arguments[0] = model
    with pytest.raises(TextoddsError, match="no such model"):
        _kernels.left_out(*arguments)


@together
@pytest.mark.parametrize("sizes", [(1, 3), (3, 3), (2, 2), (2, 4)])
def test_sums_of_absent_words_of_the_wrong_size_are_refused(sizes):
    arguments = sound("bernoulli")
    arguments[6] = (np.zeros(sizes[0]), np.zeros(sizes[1]))
    with pytest.raises(TextoddsError, match="sizes"):
        _kernels.left_out(*arguments)
