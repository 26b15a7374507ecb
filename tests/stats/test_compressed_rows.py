"""Our sparse rows do as SciPy's do, to the last digit."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from textodds.errors import Unsupported
from textodds.learn.solvers.objective import Objective, Parameters
from textodds.stats.compressed_rows import CompressedRows, as_scipy, stacked


def pair(N, V, seed=0):
    """The same rows as ours and as SciPy's."""
    theirs = sparse.random_array((N, V), density=0.3, rng=np.random.default_rng(seed), format="csr")
    return CompressedRows((theirs.data, theirs.indices, theirs.indptr), theirs.shape), theirs


@given(N=st.integers(0, 12), V=st.integers(1, 9), M=st.integers(1, 3), seed=st.integers(0, 99))
def test_products_choices_and_stacks_are_those_of_scipy(N, V, M, seed):
    ours, theirs = pair(N, V, seed)
    random = np.random.default_rng(seed)
    right, left = random.normal(size=(V, M)), random.normal(size=(N, M))
    assert np.array_equal(ours @ right, theirs @ right)
    assert np.array_equal(ours.T @ left, theirs.T @ left)
    assert np.array_equal(ours @ right[:, 0], theirs @ right[:, 0])
    assert np.array_equal(ours.T @ left[:, 0], theirs.T @ left[:, 0])
    some = random.integers(0, N, size=5 if N else 0)
    for which in (some, random.random(N) < 0.5, slice(1, 4)):
        assert np.array_equal(ours[which].toarray(), theirs[which].toarray())
    both = stacked([ours, ours[some]], V)
    assert np.array_equal(both.toarray(), np.vstack([theirs.toarray(), theirs[some].toarray()]))
    assert (both.scipy() != sparse.vstack([theirs, theirs[some]])).nnz == 0


def test_a_copy_has_numbers_of_its_own():
    ours, _ = pair(4, 5)
    before = ours.toarray()
    ours.copy().data[:] = 7.0
    assert np.array_equal(ours.toarray(), before)


def test_of_no_parts_there_are_no_rows():
    assert stacked([], 3).shape == (0, 3)


@pytest.mark.parametrize("K", [2, 3])
def test_what_softmax_minimises_is_the_same_of_both(K):
    ours, theirs = pair(40, 6)
    random = np.random.default_rng(1)
    codes, weights = random.integers(0, K, 40), random.random(40)
    M = 1 if K == 2 else K
    at = Parameters(random.normal(size=(6, M)), random.normal(size=M))
    a, b = (Objective(rows, codes, weights, K, 0.5) for rows in (ours, theirs))
    p = a.probabilities(a.scores(at))
    (one, slope), (other, expected) = a.value_and_gradient(at), b.value_and_gradient(at)
    assert one == other
    assert np.array_equal(slope.weights, expected.weights)
    bend, known = a.hessian_diagonal(p, a.squares()), b.hessian_diagonal(p, b.squares())
    assert np.array_equal(bend.weights, known.weights)
    np.testing.assert_allclose(a.hessian(p), b.hessian(p), rtol=1e-12, atol=1e-14)


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    ours, _ = pair(2, 2)
    monkeypatch.setitem(sys.modules, "scipy", None)
    for work in (ours.scipy, lambda: as_scipy(ours, "a discriminant of texts")):
        with pytest.raises(Unsupported, match="needs scipy, which is not installed") as caught:
            work()
        assert caught.value.hint == "pip install 'textodds[sklearn]'"
