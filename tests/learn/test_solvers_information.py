"""Standard errors: against tables, loops and scipy, exactly and by conjugate gradients."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pairs import together
from textodds.learn.solvers import information
from textodds.learn.solvers.information import Information, odds_ratio_interval
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective


def problem(seed, K, *, n=150, V=3, penalty=0.5, sparsely=False):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, V)) * random.uniform(0.1, 10.0, V) * (random.random((n, V)) < 0.7)
    codes = (rows @ random.normal(size=(V, K)) * 0.1 + random.gumbel(size=(n, K))).argmax(axis=1)
    codes[:K] = np.arange(K)
    return Objective(
        sparse.csr_matrix(rows) if sparsely else rows, codes, random.uniform(0.5, 2.0, n), K, penalty
    )


def standard_errors(objective, at, features, k, against):
    return Information(objective, at).standard_errors(features, k, against)


def optimum(objective):
    return newton(objective, objective.zero(), tolerance=1e-12).parameters


def fisher_by_loops(objective, at):
    """The Hessian of F over (class, feature or bias), written out; the first class is left out if λ = 0.

    With the first class at zero the information is regular, and contrasts are those of all classes.
    """
    V, K = objective.rows.shape[1], objective.n_classes
    rows = objective.rows.toarray() if sparse.issparse(objective.rows) else objective.rows
    W, b = at.weights, at.bias
    if K == 2:
        W, b = np.hstack([0 * W, W]), np.concatenate([0 * b, b])
    H = np.zeros((K, V + 1, K, V + 1))
    for x, s in zip(rows, objective.sample_weights, strict=True):
        scores = [sum(x[v] * W[v, k] for v in range(V)) + b[k] for k in range(K)]
        total = sum(math.exp(z - max(scores)) for z in scores)
        p = [math.exp(z - max(scores)) / total for z in scores]
        one = [*x, 1.0]
        for k in range(K):
            for j in range(K):
                share = s * (p[k] * (1 - p[k]) if k == j else -p[k] * p[j])
                for u in range(V + 1):
                    for v in range(V + 1):
                        H[k, u, j, v] += share * one[u] * one[v]
    return H


def errors_by_loops(objective, at, k, against):
    """Standard errors of all features and of the bias."""
    V, K = objective.rows.shape[1], objective.n_classes
    H = fisher_by_loops(objective, at)
    if K == 2 or not objective.penalty:
        H = H[1:, :, 1:, :]  # relative to class 0
        first = 1
    else:
        first = 0
    size = K - first
    for c in range(size):
        for v in range(V):
            H[c, v, c, v] += objective.penalty
    flat = H.reshape(size * (V + 1), -1)
    if first == 0:  # all biases may rise together: hold their sum
        bias = np.tile(np.arange(V + 1) == V, K).astype(float)
        flat = flat + np.outer(bias, bias)
    inverse = np.linalg.inv(flat)
    errors = []
    for v in range(V + 1):
        c = np.zeros((size, V + 1))
        for index, sign in ((k, 1.0), (against, -1.0)):
            if index >= first:
                c[index - first, v] = sign
        errors.append(math.sqrt(c.reshape(-1) @ inverse @ c.reshape(-1)))
    return errors


@given(*[st.floats(0.5, 50.0)] * 4)
def test_a_table_has_the_standard_error_of_its_log_odds_ratio(a, b, c, d):
    """Without the feature a and b rows of classes 0 and 1, with it c and d: √(1/a + 1/b + 1/c + 1/d)."""
    rows, codes = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    objective = Objective(rows, codes, np.array([a, b, c, d]), 2, 0.0)
    at = newton(objective, objective.zero(), tolerance=1e-12).parameters
    assert at.weights[0, 0] == pytest.approx(math.log(a * d / (b * c)), abs=1e-6)
    expected = math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    found = Information(objective, at)
    assert found.standard_errors([0], 1, 0)[0] == pytest.approx(expected, rel=1e-6)
    assert found.standard_errors([0], 0, 1)[0] == pytest.approx(expected, rel=1e-6)
    assert found.standard_errors([found.objective.shape[0]], 1, 0)[0] == pytest.approx(
        math.sqrt(1 / a + 1 / b), rel=1e-6
    )


def test_a_table_of_three_classes_has_the_standard_errors_of_its_pairs():
    """Classes of a saturated model are compared by their own four cells, whatever the third has."""
    rows, codes = np.array([[0.0]] * 3 + [[1.0]] * 3), np.array([0, 1, 2, 0, 1, 2])
    cells = np.array([5.0, 3.0, 4.0, 2.0, 7.0, 6.0])
    objective = Objective(rows, codes, cells, 3, 0.0)
    at = newton(objective, objective.zero(), tolerance=1e-12).parameters
    for k, j in ((1, 0), (2, 0), (1, 2)):
        expected = math.sqrt(sum(1 / cells[c] for c in (k, j, 3 + k, 3 + j)))
        assert standard_errors(objective, at, [0], k, j)[0] == pytest.approx(expected, rel=1e-6)


@together
@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("penalty", [0.0, 0.5])
@pytest.mark.parametrize("sparsely", [False, True])
def test_they_equal_the_inverse_of_an_information_written_with_loops(K, penalty, sparsely):
    objective = problem(K, K, penalty=penalty, sparsely=sparsely)
    at = optimum(objective)
    found = Information(objective, at)
    for k, against in ((1, 0), (0, K - 1), (K - 1, 1)):
        if k == against:
            continue
        expected = errors_by_loops(objective, at, k, against)
        np.testing.assert_allclose(found.standard_errors([0, 1, 2], k, against), expected[:3], rtol=1e-6)
        assert found.standard_errors([3], k, against)[0] == pytest.approx(expected[3], rel=1e-6)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.sampled_from([0.0, 1e-3, 1.0]), st.booleans())
def test_conjugate_gradients_agree_with_the_decomposition(seed, K, penalty, sparsely):
    objective = problem(seed, K, penalty=penalty, sparsely=sparsely)
    at = newton(objective, objective.zero(), tolerance=1e-6).parameters
    exact = Information(objective, at)
    expected = exact.standard_errors([2, 0, exact.objective.shape[0]], 1, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(information, "LARGEST_DENSE", 0)
        stepwise = Information(objective, at)
        found = stepwise.standard_errors([2, 0, exact.objective.shape[0]], 1, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("largest", [information.LARGEST_DENSE, 0])
@pytest.mark.parametrize("K", [2, 3])
def test_what_the_data_leave_open_has_no_standard_error_but_infinity(largest, K, monkeypatch):
    """A feature that never occurs, and two that are always equal."""
    monkeypatch.setattr(information, "LARGEST_DENSE", largest)
    random = np.random.default_rng(1)
    x = random.normal(size=100)
    rows = np.stack([x, np.zeros(100), random.normal(size=100), x], axis=1)
    objective = Objective(rows, random.integers(0, K, 100), np.ones(100), K, 0.0)
    at = newton(objective, objective.zero(), tolerance=1e-8).parameters
    errors = standard_errors(objective, at, [0, 1, 2, 3], 1, 0)
    assert np.isinf(errors).tolist() == [True, True, False, True]
    penalised = standard_errors(objective.with_penalty(0.1), at, [0, 1, 2, 3], 1, 0)
    assert np.isfinite(penalised).all()


@pytest.mark.parametrize("K", [2, 3])
def test_where_the_data_say_nothing_the_prior_speaks(K):
    """A feature that never occurs has the prior's deviation: 1/√λ, √2/√λ for the difference of two."""
    objective = Objective(np.zeros((6, 1)), np.arange(6) % K, np.ones(6), K, 4.0)
    error = standard_errors(objective, objective.zero(), [0], 1, 0)[0]
    assert error == pytest.approx(math.sqrt((1 if K == 2 else 2) / 4.0))


def test_a_class_has_no_difference_to_itself():
    objective = problem(2, 3)
    assert standard_errors(objective, objective.zero(), [0, 1], 2, 2).tolist() == [0.0, 0.0]


def test_twice_the_weight_is_a_root_of_two_less_error():
    objective = problem(3, 3, penalty=0.0)
    twice = Objective(objective.rows, objective.codes, 2 * objective.sample_weights, 3, 0.0)
    at = optimum(objective)
    once = standard_errors(objective, at, [0, 1, 2], 1, 0)
    np.testing.assert_allclose(standard_errors(twice, at, [0, 1, 2], 1, 0), once / math.sqrt(2))


@pytest.mark.slow
def test_they_tell_how_estimates_vary_over_samples():
    """Simulation: the deviation of the estimate over samples is what one sample's standard error says."""
    random = np.random.default_rng(4)
    x = random.normal(size=(400, 1))
    estimates, errors = [], []
    for _ in range(300):
        y = (random.random(400) < 1 / (1 + np.exp(-(0.8 * x[:, 0] - 0.3)))).astype(int)
        objective = Objective(x, y, np.ones(400), 2, 0.0)
        at = newton(objective, objective.zero(), tolerance=1e-8).parameters
        estimates.append(at.weights[0, 0])
        errors.append(standard_errors(objective, at, [0], 1, 0)[0])
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.15)
    low, high = odds_ratio_interval(estimates, errors)
    assert np.mean((low <= math.exp(0.8)) & (math.exp(0.8) <= high)) == pytest.approx(0.95, abs=0.04)


def test_an_interval_is_symmetric_in_the_logarithm():
    low, high = odds_ratio_interval([0.0, 1.0], [0.5, 2.0])
    np.testing.assert_allclose(np.log(low), [-0.5 * 1.959964, 1 - 2 * 1.959964], rtol=1e-6)
    np.testing.assert_allclose(low * high, np.exp([0.0, 2.0]))


def test_a_higher_level_is_a_wider_interval():
    narrow, wide = (odds_ratio_interval(1.0, 0.5, level=level) for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_an_open_estimate_has_the_whole_interval():
    low, high = odds_ratio_interval(1.0, math.inf)
    assert low == 0.0
    assert high == math.inf
