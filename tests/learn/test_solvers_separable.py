"""Separation, complete and quasi-complete: by hand, by enumeration, and for problems that are too large."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from pairs import together
from textodds.learn.solvers import separable
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Parameters
from textodds.learn.solvers.separable import separating_direction


def objective_of(rows, codes, K=2, weights=None):
    rows = rows if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64).reshape(len(codes), -1)
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    return Objective(rows, np.asarray(codes), weights, K, 0.0)


def margins(objective, direction):
    """Margins of every counted row against every other class, by loops."""
    rows = objective.rows.toarray() if sparse.issparse(objective.rows) else objective.rows
    W, b = direction.weights, direction.bias
    if objective.n_classes == 2:
        W, b = np.hstack([0 * W, W]), np.concatenate([0 * b, b])
    return np.array(
        [
            (W[:, y] - W[:, k]) @ x + b[y] - b[k]
            for x, y, s in zip(rows, objective.codes, objective.sample_weights, strict=True)
            for k in range(objective.n_classes)
            if k != y and s > 0
        ]
    )


def assert_is(objective, kind):
    """``kind`` is what should be found; a direction found must do what it claims."""
    found = separating_direction(objective)
    assert found.decided
    if kind == "overlap":
        assert found.direction is None
        assert found.complete is False
        return
    m = margins(objective, found.direction)
    assert m.min() >= -1e-7
    assert m.max() > 1e-7
    assert found.complete is (kind == "complete")
    if found.complete:
        assert m.min() > 1e-7


@together
@pytest.mark.parametrize(
    ("rows", "codes", "kind"),
    [
        ([0, 1, 2, 3], [0, 0, 1, 1], "complete"),
        ([3, 2, 1, 0], [0, 0, 1, 1], "complete"),
        ([0, 1, 1, 2], [0, 0, 1, 1], "quasi"),  # both classes at 1
        ([0, 2, 1, 3], [0, 0, 1, 1], "overlap"),
        ([0, 1, 2, 3], [0, 1, 0, 1], "overlap"),
        ([0, 0, 0, 0], [0, 1, 0, 1], "overlap"),  # nothing to tell them apart by
        ([5, 5, 5, 5], [1, 1, 1, 1], "complete"),  # by the bias, class 0 having no rows
        ([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], "overlap"),  # exclusive or
        ([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 0, 1], "complete"),  # and
        ([[1, 1], [1, 0], [1, 1], [1, 0], [0, 1]], [0, 0, 1, 1, 1], "quasi"),  # the last row alone
    ],
)
def test_two_classes_by_hand(rows, codes, kind):
    assert_is(objective_of(rows, codes), kind)


@together
@pytest.mark.parametrize(
    ("rows", "codes", "kind"),
    [
        ([0, 1, 2], [0, 1, 2], "complete"),
        ([0, 1, 1, 2], [0, 1, 2, 2], "quasi"),
        ([0, 2, 1, 1, 0, 2, 0, 2, 1], [0, 0, 0, 1, 1, 1, 2, 2, 2], "overlap"),
        ([0, 2, 1, 0, 2, 1], [0, 0, 0, 1, 1, 1], "quasi"),  # class 2 has no rows
        ([0, 1, 2, 9, 9], [0, 0, 0, 1, 1], "complete"),
    ],
)
def test_three_classes_by_hand(rows, codes, kind):
    assert_is(objective_of(rows, codes, K=3), kind)


def brute_force_on_a_line(x, y):
    """Two classes on a line: only the order of their values matters."""
    zero, one = x[y == 0], x[y == 1]
    if not len(zero) or not len(one):
        return "complete"
    if zero.max() < one.min() or one.max() < zero.min():
        return "complete"
    touching = zero.max() == one.min() or one.max() == zero.min()
    return "quasi" if touching and x.min() < x.max() else "overlap"


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1)), min_size=1, max_size=8))
def test_on_a_line_it_agrees_with_the_order_of_values(pairs):
    x, y = np.array(pairs).T
    assert_is(objective_of(x, y), brute_force_on_a_line(x, y))


def brute_force_in_the_plane(x, y):
    """The lines through two points, which bound all lines there are.

    Directions of which no row loses form a cone. Its edges are at right angles to two of the rows
    [x, 1], or to one of them where the rows span no more, and their sum gains wherever anything can.
    """
    rows = np.hstack([x, np.ones((len(x), 1))]) * np.where(y == 1, 1, -1)[:, None]  # integers: exact
    extreme = [np.cross(a, b) for a, b in itertools.combinations(rows, 2)]
    flat = [np.array(v) for v in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
    extreme += [np.cross(a, b) for a in rows for b in flat] + flat
    gains = [m for v in extreme for s in (1, -1) if (m := rows @ (s * v)).min() >= 0 and m.max() > 0]
    if not gains:
        return "overlap"
    return "complete" if np.sum(gains, axis=0).min() > 0 else "quasi"


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 1)), min_size=1, max_size=8))
def test_in_the_plane_it_agrees_with_enumeration_of_lines(triples):
    *x, y = np.array(triples).T
    x = np.stack(x, axis=1)
    assert_is(objective_of(x, y), brute_force_in_the_plane(x, y))


def twin(objective):
    """Another linear program: the most margins that can be one or more at once."""
    V, K = objective.rows.shape[1], objective.n_classes
    conditions = []
    for x, y in zip(objective.rows, objective.codes, strict=True):
        for k in range(K):
            if k != y:
                row = np.zeros((K, V + 1))
                row[y], row[k] = [*x, 1.0], [*-x, -1.0]
                conditions.append(row.reshape(-1))
    n = len(conditions)
    solved = linprog(
        np.concatenate([np.zeros(K * (V + 1)), -np.ones(n)]),
        A_ub=np.hstack([-np.array(conditions), np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * (K * (V + 1)) + [(0, 1)] * n,
    )
    reached = round(-solved.fun)
    return "overlap" if reached == 0 else "complete" if reached == n else "quasi"


@given(
    st.integers(2, 4),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 10**6)), min_size=1, max_size=9),
    st.booleans(),
)
def test_it_agrees_with_another_linear_program_for_any_number_of_classes(K, triples, sparsely):
    a, b, code = np.array(triples).T
    dense = objective_of(np.stack([a, b], axis=1), code % K, K)
    expected = twin(dense)
    assert_is(objective_of(sparse.csr_matrix(dense.rows), code % K, K) if sparsely else dense, expected)


def test_rows_of_weight_zero_do_not_count():
    rows, codes = [0, 1, 2, 3, 0], [0, 0, 1, 1, 1]
    assert_is(objective_of(rows, codes), "overlap")
    assert_is(objective_of(rows, codes, weights=[1, 1, 1, 1, 0]), "complete")


def test_no_rows_that_count_is_no_separation():
    assert_is(objective_of([0, 1], [0, 1], weights=[0, 0]), "overlap")


def test_features_of_very_different_sizes_are_no_trouble():
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 2))
    codes = (rows @ [1.0, 1.0] > 0).astype(int)
    assert_is(objective_of(rows * [1e6, 1e-6], codes), "complete")
    codes[:2] = 1 - codes[:2]
    assert_is(objective_of(rows * [1e6, 1e-6], codes), twin(objective_of(rows, codes)))


def test_a_candidate_that_separates_is_taken_as_it_is(monkeypatch):
    objective = objective_of([0, 1, 2, 3], [0, 0, 1, 1])
    candidate = Parameters(np.array([[2.0]]), np.array([-3.0]))
    monkeypatch.setattr(separable, "LARGEST_PROGRAM", 0.0)
    found = separating_direction(objective, candidate)
    assert found.direction is candidate
    assert found.complete
    assert found.decided


def test_a_candidate_that_does_not_separate_settles_nothing():
    wrong = Parameters(np.array([[-2.0]]), np.array([3.0]))
    assert separating_direction(objective_of([0, 1, 2, 3], [0, 0, 1, 1]), wrong).direction is not wrong
    assert separating_direction(objective_of([0, 2, 1, 3], [0, 0, 1, 1]), wrong).direction is None


def test_the_weights_of_newton_without_a_penalty_are_such_a_candidate(monkeypatch):
    random = np.random.default_rng(1)
    rows = random.normal(size=(60, 3))
    objective = objective_of(rows, (rows @ random.normal(size=(3, 3))).argmax(axis=1), 3)
    monkeypatch.setattr(separable, "LARGEST_PROGRAM", 0.0)
    assert not separating_direction(objective).decided
    reached = newton(objective, objective.zero(), tolerance=1e-3).parameters
    assert separating_direction(objective, reached).complete


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("K", [2, 3])
def test_too_large_a_problem_is_decided_by_a_word_that_one_class_never_uses(K, sparsely, monkeypatch):
    monkeypatch.setattr(separable, "LARGEST_PROGRAM", 0.0)
    random = np.random.default_rng(2)
    rows, codes = random.integers(1, 3, (30, 4)).astype(float), np.arange(30) % K
    objective = objective_of(sparse.csr_matrix(rows) if sparsely else rows, codes, K)
    assert separating_direction(objective).decided is False
    assert separating_direction(objective).complete is None

    rows[codes == 1, 2] = 0.0
    objective = objective_of(sparse.csr_matrix(rows) if sparsely else rows, codes, K)
    found = separating_direction(objective)
    m = margins(objective, found.direction)
    assert found.decided
    assert m.min() >= 0.0
    assert m.max() > 0.0
    assert np.flatnonzero(found.direction.weights.any(axis=1)).tolist() == [2]


@pytest.mark.parametrize("K", [2, 3])
def test_too_large_a_problem_is_decided_by_a_class_without_rows(K, monkeypatch):
    monkeypatch.setattr(separable, "LARGEST_PROGRAM", 0.0)
    objective = objective_of([0, 2, 1, 0, 2, 1], [0, 0, 0, 1, 1, 1] if K == 3 else [0] * 6, K)
    found = separating_direction(objective)
    m = margins(objective, found.direction)
    assert found.decided
    assert m.min() >= 0.0
    assert m.max() > 0.0
    assert found.complete is (True if K == 2 else None)


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)), min_size=1, max_size=7))
def test_what_a_single_feature_decides_the_linear_program_confirms(triples):
    a, b, codes = np.array(triples).T
    objective = objective_of(np.stack([a, b], axis=1), codes, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(separable, "LARGEST_PROGRAM", 0.0)
        cheap = separating_direction(objective)
    if cheap.decided:
        m = margins(objective, cheap.direction)
        assert m.min() >= 0.0
        assert m.max() > 0.0
        assert separating_direction(objective).direction is not None
