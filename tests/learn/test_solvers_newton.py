"""The objective's derivatives, the best bias, Newton's method and its certificate."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from pairs import pairwise, together
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Parameters, best_bias, proven_gap


@pytest.fixture(autouse=True, scope="module", params=["elimination", "conjugate gradients"])
def _both_ways(request):
    """Every claim holds however a step is solved; these problems are small enough for either."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "conjugate gradients":
            patch.setattr(import_module("textodds.learn.solvers.newton"), "SMALL", 0)
        yield


def problem(seed, K, *, n=30, V=4, penalty=0.7, sparsely=False, weighted=True, centred=False, noise=1.0):
    """A random problem in which every class has rows."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, V)) * (random.random((n, V)) < 0.6)
    score = rows @ random.normal(size=(V, K)) + noise * random.gumbel(size=(n, K))
    codes = score.argmax(axis=1)
    codes[:K] = np.arange(K)
    weights = random.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    centre = random.normal(size=(V, 1 if K == 2 else K)) if centred else None
    return Objective(sparse.csr_matrix(rows) if sparsely else rows, codes, weights, K, penalty, centre)


def point(objective, seed):
    random = np.random.default_rng(seed)
    V, M = objective.shape
    return Parameters(random.normal(size=(V, M)), random.normal(size=M))


problems = st.builds(
    problem,
    st.integers(0, 10**6),
    st.sampled_from([2, 4]),
    penalty=st.sampled_from([0.0, 0.01, 2.0]),
    sparsely=st.booleans(),
    centred=st.booleans(),
)


@pytest.mark.slow
@given(problems, st.integers(0, 10**6))
def test_the_gradient_equals_finite_differences(objective, seed):
    at, along = point(objective, seed), point(objective, seed + 1)
    value, slope = objective.value_and_gradient(at)
    h = 1e-5
    difference = (objective.value(at + along * h) - objective.value(at + along * -h)) / (2 * h)
    assert value == objective.value(at)
    assert slope.dot(along) == pytest.approx(difference, rel=1e-6, abs=1e-6)


@given(problems, st.integers(0, 10**6))
def test_the_curvature_equals_finite_differences_of_the_gradient(objective, seed):
    at, along = point(objective, seed), point(objective, seed + 1)
    bent = objective.curvature(objective.probabilities(objective.scores(at)), along)
    h = 1e-5
    ahead, behind = (objective.value_and_gradient(at + along * s)[1] for s in (h, -h))
    difference = (ahead + behind * -1.0) * (0.5 / h)
    np.testing.assert_allclose(bent.weights, difference.weights, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(bent.bias, difference.bias, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@given(problems)
def test_sparse_rows_have_the_optimum_of_dense_ones(objective):
    """Weights of a gap of g are within √(2 g F / λ) of the optimum, so two such are within twice that."""
    penalty = objective.penalty or 0.5
    dense = objective.rows.toarray() if sparse.issparse(objective.rows) else objective.rows
    twins = (replace(objective, rows=rows, penalty=penalty) for rows in (dense, sparse.csr_matrix(dense)))
    a, b = (newton(twin, twin.zero(), tolerance=1e-12) for twin in twins)
    near = sum(np.sqrt(2 * found.gap * found.value / penalty) for found in (a, b))
    assert np.linalg.norm(a.parameters.weights - b.parameters.weights) <= near + 1e-9


@pairwise
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_scikit_learn(K, penalty, weighted):
    objective = problem(K, K, n=80, penalty=penalty, weighted=weighted)
    theirs = LogisticRegression(C=1.0 / penalty, tol=1e-10, max_iter=10_000)
    theirs.fit(objective.rows, objective.codes, objective.sample_weights)

    found = newton(objective, objective.zero(), tolerance=1e-13)

    assert found.converged
    assert found.gap is not None
    assert found.gap <= 1e-13
    np.testing.assert_allclose(found.parameters.weights, theirs.coef_.T, rtol=1e-4, atol=1e-5)
    ours = objective.probabilities(objective.scores(found.parameters))
    expected = theirs.predict_proba(objective.rows)
    np.testing.assert_allclose(ours, expected[:, 1:] if K == 2 else expected, atol=1e-5)


@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.sampled_from([1e-3, 0.1, 10.0]),
    st.booleans(),
    st.floats(-3.0, 0.0),
)
def test_the_certificate_is_never_below_the_true_gap(seed, K, penalty, centred, exponent):
    objective = problem(seed, K, penalty=penalty, centred=centred)
    best = newton(objective, objective.zero(), tolerance=1e-14).value
    rough = newton(objective, objective.zero(), tolerance=10.0**exponent)
    assert rough.converged
    assert (rough.value - best) / rough.value <= rough.gap * (1 + 1e-9) + 1e-13
    assert rough.gap == pytest.approx(proven_gap(objective, rough.parameters), rel=1e-6, abs=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.floats(0.0, 1.0))
def test_a_gap_is_proven_at_any_point_even_with_a_bad_bias(seed, K, shift):
    objective = problem(seed, K)
    best = newton(objective, objective.zero(), tolerance=1e-14)
    away = point(objective, seed) * shift
    at = best.parameters + away
    value = objective.value(at)
    assert (value - best.value) / value <= proven_gap(objective, at) + 1e-12


def test_a_good_start_is_recognised_without_a_step():
    objective = problem(1, 3)
    first = newton(objective, objective.zero(), tolerance=1e-6)
    again = newton(objective, first.parameters, tolerance=1e-6)
    assert again.steps == 0
    assert again.converged


def test_every_step_lowers_the_objective_and_is_watched():
    objective = problem(2, 4, n=100, penalty=1e-3)
    seen = []
    found = newton(objective, objective.zero(), tolerance=1e-8, watch=seen.append)
    values = [value for _, value in found.curve]
    assert values == sorted(values, reverse=True)
    assert (
        [outcome.steps for outcome in seen]
        == [step for step, _ in found.curve]
        == list(range(found.steps + 1))
    )
    assert seen[-1] is found
    assert found.method == "newton"


def test_giving_up_is_said():
    objective = problem(3, 3)
    found = newton(objective, objective.zero(), tolerance=1e-12, max_steps=1)
    assert not found.converged
    assert found.steps == 1


def test_a_tolerance_beyond_rounding_ends_all_the_same():
    objective = problem(4, 3)
    found = newton(objective, objective.zero(), tolerance=0.0, max_steps=50)
    assert found.gap < 1e-20
    assert (
        newton(objective.with_penalty(0.0), objective.zero(), tolerance=0.0, max_steps=50).gradient_norm
        < 1e-6
    )


def test_without_a_penalty_it_is_the_gradient_that_ends():
    objective = problem(5, 3, n=200, penalty=0.0, noise=3.0)
    found = newton(objective, objective.zero(), tolerance=1e-10)
    at_zero = objective.value_and_gradient(objective.zero())[1].norm()
    assert found.converged
    assert found.gap is None
    assert found.gradient_norm <= 1e-10 * max(1.0, at_zero)
    assert objective.value_and_gradient(found.parameters)[1].norm() == pytest.approx(
        found.gradient_norm, abs=1e-9
    )


def test_separable_rows_without_a_penalty_stay_finite():
    rows, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    found = newton(Objective(rows, codes, np.ones(4), 2, 0.0), Parameters(np.zeros((1, 1)), np.zeros(1)))
    assert np.isfinite(found.parameters.weights).all()
    assert found.parameters.weights[0, 0] > 3.0


@together
@pytest.mark.parametrize("K", [2, 3, 4])
def test_a_class_without_rows_is_all_but_impossible_and_changes_nothing_else(K):
    objective = problem(6, K, penalty=0.5, weighted=False)
    codes = np.where(objective.codes == K - 1, 0, objective.codes)
    fewer = Objective(objective.rows, codes, objective.sample_weights, K, 0.5)
    found = newton(fewer, fewer.zero(), tolerance=1e-10)
    p = fewer.probabilities(fewer.scores(found.parameters))
    assert found.converged
    assert np.isfinite(found.parameters.bias).all()
    assert p[:, -1].max() < 1e-15
    if K > 3:
        without = Objective(objective.rows, codes, objective.sample_weights, K - 1, 0.5)
        expected = newton(without, without.zero(), tolerance=1e-10)
        assert found.value == pytest.approx(expected.value, rel=1e-9)
        np.testing.assert_allclose(found.parameters.weights[:, :-1], expected.parameters.weights, atol=1e-5)


def test_rows_of_weight_zero_do_not_count():
    objective = problem(7, 3, weighted=False)
    weights = np.where(np.arange(30) < 20, 1.0, 0.0)
    all_rows = Objective(objective.rows, objective.codes, weights, 3, 0.5)
    some = Objective(objective.rows[:20], objective.codes[:20], np.ones(20), 3, 0.5)
    a, b = (newton(o, o.zero(), tolerance=1e-12) for o in (all_rows, some))
    np.testing.assert_allclose(a.parameters.weights, b.parameters.weights, atol=1e-6)


@together
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_rows_that_all_weigh_nothing_leave_the_start(penalty):
    objective = Objective(np.eye(3), np.arange(3), np.zeros(3), 3, penalty)
    found = newton(objective, objective.zero())
    assert found.converged
    assert not found.parameters.weights.any()


@given(
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.integers(1, 20),
    st.floats(-2.0, 2.5),
    st.floats(-2.0, 3.0),
)
def test_the_best_bias_balances_every_class_from_any_start(seed, K, n, scores_exponent, bias_exponent):
    """At the minimum the errors of each class sum to zero; from zero the same minimum is reached."""
    random = np.random.default_rng(seed)
    M = 1 if K == 2 else K
    scores = random.normal(size=(n, M)) * 10.0**scores_exponent
    codes = random.integers(0, K, n)
    s = random.uniform(0.1, 10.0, n) * (random.random(n) < 0.9)
    objective = Objective(np.zeros((n, 1)), codes, s, K, 0.0)
    bias = best_bias(objective, scores, random.normal(size=M) * 10.0**bias_exponent)
    from_zero = best_bias(objective, scores, np.zeros(M))
    assert np.isfinite(bias).all()
    error = s @ (objective.probabilities(scores + bias) - objective.targets)
    assert np.abs(error).max() <= 1e-6 * max(s.sum(), 1e-300)
    value, other = (float(s @ objective.losses(scores + b)) for b in (bias, from_zero))
    assert value == pytest.approx(other, rel=1e-7, abs=1e-9 * s.sum())


def test_the_best_bias_of_no_scores_is_the_log_of_the_class_weights():
    objective = Objective(np.zeros((4, 1)), np.array([0, 1, 1, 2]), np.array([1.0, 2.0, 1.0, 4.0]), 3, 1.0)
    bias = best_bias(objective, np.zeros((4, 3)), np.zeros(3))
    np.testing.assert_allclose(bias - bias[0], np.log([1.0, 3.0, 4.0]), atol=1e-9)
    assert bias.sum() == pytest.approx(0.0, abs=1e-9)


def test_the_best_bias_does_not_change_its_arguments():
    objective = problem(8, 3)
    scores, bias = np.ones((30, 3)), np.zeros(3)
    best_bias(objective, scores, bias)
    assert np.all(scores == 1.0)
    assert not bias.any()


def test_newton_does_not_change_its_start():
    objective = problem(9, 3, centred=True)
    start = point(objective, 0)
    weights, bias = start.weights.copy(), start.bias.copy()
    newton(objective, start)
    np.testing.assert_array_equal(start.weights, weights)
    np.testing.assert_array_equal(start.bias, bias)
