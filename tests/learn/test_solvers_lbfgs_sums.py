"""L-BFGS from sums over rows: the optimum of other solvers, bounds that are never above it, and the sums."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from pairs import in_turn, together
from textodds import _kernels
from textodds.errors import InputError
from textodds.learn.solvers.lbfgs_sums import Sums, SumSolver, Totals
from textodds.learn.solvers.objective import Objective, Parameters
from textodds.learn.solvers.solve import solve


class Rows:
    """Random rows of K classes, and by plain NumPy what is asked of them, a point at a time."""

    def __init__(self, K, *, seed=0, N=120, V=12, centred=False, weighted=True):
        random = np.random.default_rng(seed)
        self.x = random.normal(size=(N, V)) * (random.random((N, V)) < 0.3)
        lean = random.normal(size=(V, K))
        self.codes = (self.x @ lean + random.gumbel(size=(N, K))).argmax(axis=1)
        self.codes[:K] = np.arange(K)
        self.weights = random.choice([0.0, 0.25, 1.0, 3.5], N) if weighted else np.ones(N)
        self.weights[:K] = 1.0
        self.K, self.M, self.V = K, 1 if K == 2 else K, V
        self.centre = random.normal(size=(V, self.M)) if centred else None
        self.targets = np.eye(K)[self.codes]
        self.asked = 0

    def log_p(self, at):
        """``log p``, (N, K)."""
        z = self.x @ at.weights + at.bias
        return log_softmax(np.hstack([np.zeros_like(z), z]) if self.K == 2 else z, axis=1)

    def at(self, point):
        self.asked += 1
        log_p = self.log_p(point)
        p, s = np.exp(log_p), self.weights
        error = ((p - self.targets) * s[:, None])[:, 1 if self.K == 2 else 0 :]
        return Sums(
            float(-s @ (log_p * self.targets).sum(axis=1)),
            float(-s @ (p * log_p).sum(axis=1)),
            self.x.T @ error,
            error.sum(axis=0),
        )

    @property
    def totals(self):
        weighed = self.targets * self.weights[:, None]
        return Totals(weighed.sum(axis=0), self.x.T @ weighed, self.weights @ self.x**2)

    def value(self, at, penalty):
        away = at.weights if self.centre is None else at.weights - self.centre
        return -self.weights @ (self.log_p(at) * self.targets).sum(axis=1) + penalty / 2 * (away**2).sum()

    def objective(self, penalty):
        return Objective(sparse.csr_array(self.x), self.codes, self.weights, self.K, penalty, self.centre)

    def problem(self, penalty, watch=None):
        return SumSolver(self.at, self.totals, penalty, self.centre, watch)


CASES = [
    pytest.param({"K": K, "centred": centred, "weighted": weighted}, penalty, id=f"{K}-{centred}-{penalty}")
    for K, centred, weighted in [(2, False, True), (2, True, False), (3, False, False), (7, True, True)]
    for penalty in (0.01, 1.0, 100.0)
]


def point_of(x, rows):
    cut = rows.V * rows.M
    return Parameters(x[:cut].reshape(rows.V, rows.M), x[cut:])


def scipys(rows, penalty):
    """The least value by another method of SciPy's, which is told no gradient of ours."""

    def value(x):
        return rows.value(point_of(x, rows), penalty)

    def slope(x):
        at = point_of(x, rows)
        error = (np.exp(rows.log_p(at)) - rows.targets) * rows.weights[:, None]
        error = error[:, 1:] if rows.K == 2 else error
        away = at.weights if rows.centre is None else at.weights - rows.centre
        return np.concatenate([(rows.x.T @ error + penalty * away).reshape(-1), error.sum(axis=0)])

    begin = np.zeros(rows.V * rows.M + rows.M)
    return minimize(value, begin, jac=slope, method="CG", options={"gtol": 1e-9, "maxiter": 20_000}).fun


@together
@pytest.mark.parametrize(("choices", "penalty"), CASES)
def test_the_optimum_is_that_of_the_other_solver_and_of_scipy(choices, penalty):
    rows = Rows(**choices)
    # More than can be proven: it goes on until rounding ends it.
    found = rows.problem(penalty).solve(tolerance=1e-12, max_steps=2000)
    assert found.gap <= 1e-7
    assert found.steps < 500
    assert found.method == "l-bfgs"
    assert found.value == pytest.approx(rows.value(found.parameters, penalty), rel=1e-13)
    assert found.value == pytest.approx(scipys(rows, penalty), rel=1e-8)
    other = solve(rows.objective(penalty), tolerance=1e-10, max_epochs=2000)[0]
    assert found.value == pytest.approx(other.value, rel=1e-9)
    # The penalty curves the weights, so that points of nearly one value are near each other.
    apart = ((found.parameters.weights - other.parameters.weights) ** 2).sum()
    assert penalty / 2 * apart <= 8e-9 * found.value


@together
@pytest.mark.parametrize("tolerance", [1e-1, 1e-4, 1e-6])
@pytest.mark.parametrize("K", [2, 3])
def test_it_stops_at_the_gap_that_was_asked_for(K, tolerance):
    rows = Rows(K, seed=8)
    found = rows.problem(0.1).solve(tolerance=tolerance, max_steps=500)
    assert found.converged
    assert found.gap <= tolerance
    least = solve(rows.objective(0.1), tolerance=1e-10, max_epochs=2000)[0].value
    assert -1e-9 <= (found.value - least) / found.value <= tolerance
    assert len(found.curve) == found.steps == rows.asked


@together
@pytest.mark.parametrize(("choices", "penalty"), CASES)
def test_at_every_step_the_optimum_lies_between_bound_and_value(choices, penalty):
    rows = Rows(**choices, seed=1)
    least = solve(rows.objective(penalty), tolerance=1e-11, max_epochs=5000)[0].value
    seen = []
    problem = rows.problem(penalty, lambda step, gap: seen.append((step, gap, problem.value, problem.bound)))
    found = problem.solve(tolerance=1e-7, max_steps=2000)
    assert [step for step, *_ in seen] == list(range(1, found.steps + 1))
    assert len(seen) > 3
    for _, gap, value, bound in seen:
        assert bound <= least * (1 + 1e-9)
        assert value >= least * (1 - 1e-9)
        assert gap >= (value - least) / value - 1e-9
    for before, after in pairwise(seen):  # what is known is never lost
        assert after[2] <= before[2]
        assert after[3] >= before[3]
    assert seen[-1][1] == found.gap <= 1e-7


@given(
    K=st.sampled_from([2, 3, 5]),
    seed=st.integers(0, 10_000),
    size=st.floats(-3, 3).map(lambda power: 10.0**power),
    bias=st.floats(-2, 2).map(lambda power: 10.0**power),
    centred=st.booleans(),
    penalty=st.floats(-3, 3).map(lambda power: 10.0**power),
)
def test_no_point_whatever_proves_more_than_is_true(K, seed, size, bias, centred, penalty):
    """Also where the bias is far from the best, so that errors of classes do not sum to zero."""
    rows = Rows(K, seed=seed, N=30, V=4, centred=centred)
    random = np.random.default_rng(seed)
    start = Parameters(random.normal(size=(4, rows.M)) * size, random.normal(size=rows.M) * bias)
    problem = rows.problem(penalty)
    found = problem.solve(tolerance=1e-12, max_steps=1, start=start)
    assert found.steps == rows.asked == 1
    least = rows.problem(penalty).solve(tolerance=1e-10, max_steps=5000).value
    assert problem.bound <= least * (1 + 1e-9)
    assert found.value == pytest.approx(rows.value(start, penalty), rel=1e-12)


@pytest.mark.parametrize("K", [2, 4])
def test_the_best_point_of_few_passes_is_handed_back(K):
    rows = Rows(K, seed=2)
    told = []
    found = rows.problem(1e-3, lambda step, gap: told.append((step, gap))).solve(tolerance=1e-9, max_steps=4)
    assert not found.converged
    assert found.steps == len(found.curve) == len(told) == rows.asked == 4
    assert found.gap > 1e-9
    assert found.value == min(value for _, value in found.curve)
    assert rows.value(found.parameters, 1e-3) == pytest.approx(found.value, rel=1e-13)


@pytest.mark.parametrize("centred", [False, True])
def test_from_the_optimum_one_pass_proves_it(centred):
    rows = Rows(3, seed=3, centred=centred)
    best = rows.problem(0.5).solve(tolerance=1e-8, max_steps=500).parameters
    again = rows.problem(0.5).solve(tolerance=1e-6, max_steps=500, start=best)
    assert again.converged
    assert again.steps == 1


def test_it_begins_at_the_centre():
    """With a penalty beyond measure the centre is the answer, but for the bias."""
    rows = Rows(3, seed=4, centred=True)
    found = rows.problem(1e9).solve(tolerance=1e-6, max_steps=100)
    assert found.converged
    np.testing.assert_allclose(found.parameters.weights, rows.centre, atol=1e-5)


FREQUENCIES = {"count": lambda n: n, "log": lambda n: 1 + np.log(n), "binary": np.ones_like}


class Packed:
    """Random documents as the kernel packs them, and their rows by NumPy."""

    def __init__(self, K, *, V=30, frequency="log", unit=True, blocks=1, seed=0):
        random = np.random.default_rng(seed)
        N = 200
        counts = random.poisson(0.1, (N, V)) + 100_000 * (random.random((N, V)) < 0.005)
        counts[3] = 0  # a text without a known word
        counts[4, : V // 2] = 0  # and one without any of the first block
        self.scale = random.uniform(0.5, 4.0, V)
        second = (np.arange(V) >= V // 2) if blocks == 2 else np.zeros(V, bool)
        self.x = np.where(counts > 0, FREQUENCIES[frequency](np.maximum(counts, 1.0)) * self.scale, 0.0)
        if unit:
            for block in (~second, second):
                length = np.sqrt((self.x[:, block] ** 2).sum(axis=1, keepdims=True) * blocks)
                self.x[:, block] /= np.where(length > 0, length, 1.0)
        self.codes = random.integers(0, K, N)
        self.costs = random.choice([0.0, 0.5, 1.0, 3.0], N)
        self.K, self.M = K, 1 if K == 2 else K
        rows = sparse.csr_array(counts.astype(float))
        self.second = second.astype(np.uint8) if blocks == 2 else np.zeros(0, np.uint8)
        raw = (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)
        kinds = (frequency, self.scale, unit, blocks, self.second)
        self.packed = _kernels.pack_rows(raw, self.codes.astype(np.int32), *kinds)
        self.how = (frequency, self.second, V)


KINDS = [
    {"frequency": frequency, "unit": unit, "blocks": blocks}
    for frequency, unit, blocks in [
        ("log", True, 1),
        ("count", True, 2),
        ("binary", False, 1),
        ("log", True, 2),
    ]
]


@together
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_packed_comes_back(kind):
    """Single precision is for the length of a row alone."""
    given = Packed(3, **kind)
    codes, starts, features, values = _kernels.unpack_rows(given.packed, given.how)
    found = sparse.csr_array((values * given.scale[features], features, starts), shape=given.x.shape)
    np.testing.assert_array_equal(codes, given.codes)
    np.testing.assert_allclose(found.toarray(), given.x, rtol=1e-6)


def test_words_that_lie_far_apart_come_back():
    V, none = 3_000_000, np.zeros(0, np.uint8)
    words = np.array([0, 65_534, 131_069, 196_605, V - 1, 65_535, 65_536], np.int32)
    starts, counts = np.array([0, 5, 5, 7], np.int64), np.array([1.0, 63, 64, 65_535, 70_000, 2, 1])
    codes = np.array([70_000, 0, 65_535], np.int32)
    packed = _kernels.pack_rows((starts, words, counts), codes, "count", np.ones(V), False, 1, none)
    found = _kernels.unpack_rows(packed, ("count", none, V))
    for array, expected in zip(found, (codes, starts, words, counts), strict=True):
        np.testing.assert_array_equal(array, expected)


@in_turn(1)
@pytest.mark.parametrize("size", [1.0, 300.0])
@pytest.mark.parametrize("K", [2, 3, 4, 5, 6, 8, 11])
def test_sums_of_the_kernel_are_those_of_numpy(K, size):
    given = Packed(K, **KINDS[K % 4])
    random = np.random.default_rng(6)
    weights, bias = size * random.normal(size=(30, given.M)), random.normal(size=given.M)
    gradient, by_bias = np.ones((30, given.M)), np.full(given.M, 2.0)  # it adds to what is there
    at = (weights * given.scale[:, None], bias, gradient, by_bias)
    loss, entropy = _kernels.softmax_slope(given.packed, given.how, given.costs, *at)
    z = given.x @ weights + bias
    if K == 2:
        z = np.hstack([np.zeros_like(z), z])
    log_p = log_softmax(z, axis=1)
    p, own = np.exp(log_p), log_p[np.arange(200), given.codes]
    error = ((p - np.eye(K)[given.codes]) * given.costs[:, None])[:, 1 if K == 2 else 0 :]
    near = {"rtol": 1e-6 * size, "atol": 1e-5 * size}  # the lengths of rows have seven digits
    np.testing.assert_allclose(loss, -given.costs @ own, **near)
    np.testing.assert_allclose(entropy, -given.costs @ (p * np.where(p > 0, log_p, 0)).sum(axis=1), **near)
    np.testing.assert_allclose((gradient - 1) * given.scale[:, None], given.x.T @ error, **near)
    np.testing.assert_allclose(by_bias - 2, error.sum(axis=0), **near)


def test_weights_that_are_all_one_need_not_be_given():
    given = Packed(3)
    found = []
    for costs in (np.ones(200), np.zeros(0)):
        sums = np.zeros((30, 3)), np.zeros(3)
        loss = _kernels.softmax_slope(given.packed, given.how, costs, np.ones((30, 3)), np.arange(3.0), *sums)
        found.append((loss, *(array.tolist() for array in sums)))
    assert found[0] == found[1]
    assert found[0][0][0] > 0


def test_packed_rows_that_do_not_fit_are_refused():
    given = Packed(3)
    stream, factors = given.packed
    at = (np.zeros((30, 3)), np.zeros(3), np.zeros((30, 3)), np.zeros(3))
    good = {"packed": given.packed, "how": given.how, "costs": given.costs, "at": at}
    bad = {
        "half a stream": {"packed": (stream[:-1], factors)},
        "words that are not there": {"how": ("log", given.second, 29)},
        "fewer weights than rows": {"costs": given.costs[:-1]},
        "fewer classes than rows have": {"at": tuple(array[..., :1].copy() for array in at)},
        "a bias too much": {"at": (at[0], np.zeros(4), at[2], np.zeros(4))},
        "a gradient of another size": {"at": (at[0], at[1], np.zeros((29, 3)), at[3])},
    }

    def passed(packed, how, costs, at):
        return _kernels.softmax_slope(packed, how, costs, *at)

    assert passed(**good)[0] == pytest.approx(given.costs.sum() * np.log(3), rel=1e-12)
    for what, change in bad.items():
        with pytest.raises(InputError):
            print(what, passed(**good | change))
