"""The published gradient methods: by hand, against a plain loop, and against Newton's method."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pairs import pairwise, together
from textodds.errors import InputError
from textodds.learn.solvers.descent import Descent, descend
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Parameters


def problem(seed, K, *, n=40, V=6, penalty=0.5, sparsely=False, centred=False, weighted=True):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, V)) * (random.random((n, V)) < 0.4)
    codes = (rows @ random.normal(size=(V, K)) + random.gumbel(size=(n, K))).argmax(axis=1)
    codes[:K] = np.arange(K)
    weights = random.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    centre = random.normal(size=(V, 1 if K == 2 else K)) if centred else None
    return Objective(sparse.csr_matrix(rows) if sparsely else rows, codes, weights, K, penalty, centre)


def plain_descent(objective, start, how):
    """Equations (1) to (3) of `Descent`, all weights moved in every step."""
    random = np.random.default_rng(how.seed)
    rows = objective.rows.toarray() if sparse.issparse(objective.rows) else objective.rows
    N, n = len(rows), objective.sample_weights.sum()
    size = N if how.batch is None else min(how.batch, N)
    batches = math.ceil(N / size)
    W, b, vW, vb = start.weights, start.bias, 0.0, 0.0
    for epoch in range(how.epochs):
        order = random.permutation(N)
        for j in range(batches):
            rate = how.rate / (1 + how.decay * (epoch + j / batches))
            chosen = order[j * size : (j + 1) * size]
            p = objective.probabilities(rows[chosen] @ W + b)
            share = N * objective.sample_weights[chosen] / (n * len(chosen))
            error = (p - objective.targets[chosen]) * share[:, None]
            away = W if objective.centre is None else W - objective.centre
            vW = how.momentum * vW - rate * (rows[chosen].T @ error + objective.penalty / n * away)
            vb = how.momentum * vb - rate * error.sum(axis=0)
            W, b = W + vW, b + vb
    return Parameters(W, b)


def test_two_steps_by_hand():
    """Rows 1 and 3 of classes 0 and 1, rate 1, no penalty.

    At zero both rows have p = 1/2: the mean gradient of w is (1/2 · 1 - 1/2 · 3) / 2 = -1/2, that of b
    zero. At w = 1/2 the probabilities are σ(1/2) and σ(3/2).
    """
    objective = Objective(np.array([[1.0], [3.0]]), np.array([0, 1]), np.ones(2), 2, 0.0)
    one = descend(objective, objective.zero(), Descent(rate=1.0, epochs=1)).parameters
    assert one.weights[0, 0] == pytest.approx(0.5)
    assert one.bias[0] == pytest.approx(0.0)

    def sigma(z):
        return 1 / (1 + math.exp(-z))

    two = descend(objective, objective.zero(), Descent(rate=1.0, epochs=2))
    first, second = sigma(0.5), sigma(1.5) - 1.0
    assert two.parameters.weights[0, 0] == pytest.approx(0.5 - (first + 3 * second) / 2)
    assert two.parameters.bias[0] == pytest.approx(-(first + second) / 2)
    assert [step for step, _ in two.curve] == [0, 1, 2]
    assert two.curve[0][1] == pytest.approx(2 * math.log(2))
    assert two.curve[1][1] == pytest.approx(math.log1p(math.exp(0.5)) + math.log1p(math.exp(-1.5)))


def test_two_steps_with_momentum_and_penalty_by_hand():
    """Three classes, one row [2] of class 0, rate 1/2, momentum 1/2, penalty 1/10.

    p = (1/3, 1/3, 1/3): the first velocity of w is -1/2 · 2 · (-2/3, 1/3, 1/3) = (2/3, -1/3, -1/3).
    """
    objective = Objective(np.array([[2.0]]), np.array([0]), np.ones(1), 3, 0.1)
    v = np.array([2 / 3, -1 / 3, -1 / 3])
    vb = v / 2
    p = np.exp(2 * v + vb) / np.exp(2 * v + vb).sum()
    error = p - np.array([1.0, 0.0, 0.0])
    expected = v + (0.5 * v - 0.5 * (2 * error + 0.1 * v))
    found = descend(objective, objective.zero(), Descent(rate=0.5, epochs=2, momentum=0.5))
    np.testing.assert_allclose(found.parameters.weights[0], expected, atol=1e-12)
    np.testing.assert_allclose(found.parameters.bias, vb + (0.5 * vb - 0.5 * error), atol=1e-12)


@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.sampled_from([None, 1, 7, 1000]),
    st.sampled_from([0.0, 0.05, 0.9]),
    st.booleans(),
    st.booleans(),
)
def test_lazy_shrinkage_equals_moving_every_weight_in_every_step(seed, K, batch, momentum, sparsely, centred):
    objective = problem(seed, K, sparsely=sparsely, centred=centred, penalty=5.0)
    how = Descent(rate=0.02, epochs=6, batch=batch, momentum=momentum, decay=0.1, seed=seed)
    expected = plain_descent(objective, objective.zero(), how)
    found = descend(objective, objective.zero(), how)
    assert found.curve[-1][1] == pytest.approx(objective.value(expected), rel=1e-9)
    if found.value == found.curve[-1][1]:  # the last point is the best
        np.testing.assert_allclose(found.parameters.weights, expected.weights, atol=1e-8)
        np.testing.assert_allclose(found.parameters.bias, expected.bias, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("sparsely", [False, True])
def test_a_small_rate_goes_down_in_every_step_and_approaches_the_optimum(K, sparsely):
    objective = problem(1, K, sparsely=sparsely, penalty=2.0)
    best = newton(objective, objective.zero(), tolerance=1e-12)
    found = descend(objective, objective.zero(), Descent(rate=0.5, epochs=2000), tolerance=1e-6)
    values = [value for _, value in found.curve]
    assert all(b <= a * (1 + 1e-14) for a, b in itertools.pairwise(values))
    assert found.converged
    assert found.gap <= 1e-6
    assert found.value == pytest.approx(best.value, rel=1e-6)
    np.testing.assert_allclose(found.parameters.weights, best.parameters.weights, atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        Descent(rate=0.5, epochs=100, batch=1, decay=1.0),
        Descent(rate=1.0, epochs=200, batch=8, decay=0.1),
        Descent(rate=0.1, epochs=200, batch=8, momentum=0.9, decay=0.3),
        Descent(rate=0.1, epochs=400, momentum=0.9),
    ],
    ids=lambda how: how.name,
)
@pytest.mark.parametrize("K", [2, 3])
def test_the_variants_come_near_the_optimum(how, K):
    objective = problem(2, K, sparsely=True, penalty=1.0)
    best = newton(objective, objective.zero(), tolerance=1e-12)
    found = descend(objective, objective.zero(), how)
    assert found.value == pytest.approx(best.value, rel=2e-3)
    assert (found.value - best.value) / found.value <= found.gap + 1e-12
    assert found.method == how.name


def test_momentum_is_faster_than_none():
    objective = problem(3, 3, penalty=0.05)
    slow, fast = (
        descend(objective, objective.zero(), Descent(rate=0.2, epochs=100, momentum=m)).value
        for m in (0.0, 0.9)
    )
    assert fast < slow


@together
@pytest.mark.parametrize("batch", [None, 1, 8])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_same_seed_gives_the_same_bits(batch, momentum):
    objective = problem(4, 3, sparsely=True)
    how = Descent(rate=0.3, epochs=5, batch=batch, momentum=momentum, seed=11)
    a, b = (descend(objective, objective.zero(), how) for _ in range(2))
    np.testing.assert_array_equal(a.parameters.weights, b.parameters.weights)
    np.testing.assert_array_equal(a.parameters.bias, b.parameters.bias)
    assert a.curve == b.curve


def test_another_seed_takes_another_way():
    objective = problem(4, 3)
    a, b = (descend(objective, objective.zero(), Descent(0.3, 5, batch=1, seed=s)) for s in (1, 2))
    assert a.curve != b.curve


@pairwise
@pytest.mark.parametrize("rate", [1e3, 1e10, 1e200])
@pytest.mark.parametrize("batch", [None, 1, 8])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("K", [2, 3])
def test_a_rate_that_diverges_ends_at_the_best_point_and_says_so(rate, batch, momentum, K):
    objective = problem(5, K, sparsely=True, penalty=3.0)
    how = Descent(rate=rate, epochs=200, batch=batch, momentum=momentum)
    found = descend(objective, objective.zero(), how)
    assert not found.converged
    assert np.isfinite(found.parameters.weights).all()
    assert np.isfinite(found.parameters.bias).all()
    assert found.value == min(value for _, value in found.curve)
    assert found.value <= objective.value(objective.zero())
    assert math.isfinite(found.gap)
    assert math.isfinite(found.gradient_norm)


def test_a_rate_that_would_set_the_weights_to_zero_does_so():
    """Rate times penalty over n is one: the shrinkage of a step leaves nothing, and no division fails."""
    objective = problem(6, 3, weighted=False, penalty=40.0)
    how = Descent(rate=1.0, epochs=3, batch=5)
    expected = plain_descent(objective, objective.zero(), how)
    found = descend(objective, objective.zero(), how)
    assert found.curve[-1][1] == pytest.approx(objective.value(expected))


def test_the_rate_does_not_depend_on_how_often_the_data_are_repeated():
    objective = problem(7, 3, penalty=1.0)
    twice = Objective(
        np.vstack([objective.rows] * 2),
        np.tile(objective.codes, 2),
        np.tile(objective.sample_weights, 2),
        3,
        2.0,
    )
    a, b = (descend(o, o.zero(), Descent(rate=0.5, epochs=20)).parameters for o in (objective, twice))
    np.testing.assert_allclose(a.weights, b.weights, atol=1e-12)


def test_a_weight_of_two_equals_two_rows_when_all_rows_are_in_a_batch():
    objective = problem(8, 2, weighted=False)
    doubled = Objective(objective.rows, objective.codes, np.where(np.arange(40) < 5, 2.0, 1.0), 2, 1.0)
    repeated = Objective(
        np.vstack([objective.rows, objective.rows[:5]]),
        np.r_[objective.codes, objective.codes[:5]],
        np.ones(45),
        2,
        1.0,
    )
    a, b = (descend(o, o.zero(), Descent(rate=0.5, epochs=20)).parameters for o in (doubled, repeated))
    np.testing.assert_allclose(a.weights, b.weights, atol=1e-12)


def test_steps_count_batches_and_the_curve_epochs():
    found = descend(problem(9, 2), problem(9, 2).zero(), Descent(rate=0.1, epochs=3, batch=15))
    assert [step for step, _ in found.curve] == [0, 3, 6, 9]  # 40 rows are three batches
    assert found.steps == 9


def test_without_a_penalty_the_gradient_says_whether_it_converged():
    objective = problem(10, 2, n=200, V=2, penalty=0.0)
    found = descend(objective, objective.zero(), Descent(rate=2.0, epochs=500), tolerance=1e-6)
    assert found.gap is None
    assert found.converged
    assert found.gradient_norm <= 1e-6 * max(1.0, objective.value_and_gradient(objective.zero())[1].norm())


@pytest.mark.parametrize("batch", [None, 1, 2])
def test_an_entry_given_twice_counts_twice(batch):
    entries = (np.array([1.0, 2.0, 1.0, 4.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 3, 4]))
    given_twice = sparse.csr_matrix(entries, shape=(3, 2))
    dense = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 4.0]])
    a, b = (Objective(rows, np.array([0, 1, 0]), np.ones(3), 2, 0.1) for rows in (given_twice, dense))
    how = Descent(rate=0.1, epochs=3, batch=batch)
    found, expected = (descend(o, o.zero(), how).parameters for o in (a, b))
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-12)
    assert given_twice.nnz == 4


def test_the_start_is_not_changed():
    objective = problem(11, 3)
    start = Parameters(np.ones((6, 3)), np.ones(3))
    descend(objective, start, Descent(rate=0.5, epochs=3, batch=1, momentum=0.5))
    assert np.all(start.weights == 1.0)
    assert np.all(start.bias == 1.0)


@together
@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"rate": 0.0}, "rate must be above 0"),
        ({"rate": math.nan}, "rate must be above 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"momentum": 1.0}, "momentum must be from 0 to below 1"),
        ({"decay": -1.0}, "decay must be zero or more"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(choice, complaint):
    with pytest.raises(InputError, match=complaint):
        Descent(**{"rate": 1.0, "epochs": 1, **choice})


@together
@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ({}, "gradient descent"),
        ({"batch": 1}, "stochastic gradient descent"),
        ({"batch": 32}, "mini-batch gradient descent"),
        ({"momentum": 0.9}, "gradient descent with momentum"),
    ],
)
def test_a_method_has_the_name_of_the_lecture(choice, name):
    assert Descent(rate=1.0, epochs=1, **choice).name == name
