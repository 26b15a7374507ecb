import itertools
from dataclasses import replace

import numpy as np
import pytest

from pairs import together
from textodds.learn.solvers import dense
from textodds.learn.solvers.dense import is_large_and_dense, quasi_newton
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Parameters, proven_gap
from textodds.learn.solvers.solve import solve


def problem(N, V, K, *, penalty=1.0, seed=0, unseen=0, scale=1.0, centre=False):
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, K - unseen, N)
    rows = draw.normal(size=(N, V)) @ (np.eye(V) + draw.normal(size=(V, V)) / np.sqrt(V))
    rows = scale * (rows + 0.4 * draw.normal(size=(K, V))[codes]) + draw.normal(size=V)
    weights = draw.choice([0.0, 0.5, 1.0, 2.0], N)
    around = draw.normal(size=(V, 1 if K == 2 else K)) if centre else None
    return Objective(rows, codes, weights, K, penalty, around)


@together
@pytest.mark.parametrize(
    "given",
    [
        {"K": 2},
        {"K": 5},
        {"K": 2, "penalty": 1e-3, "scale": 30.0},
        {"K": 6, "penalty": 100.0, "unseen": 2},
        {"K": 4, "centre": True},
        {"K": 3, "penalty": 1e-4, "scale": 1e-3},
        {"K": 2, "unseen": 1},
    ],
    ids=str,
)
def test_the_quasi_newton_method_ends_where_newtons_does(given):
    objective = problem(1500, 12, **given)
    seen = []
    outcome = quasi_newton(objective, objective.zero(), tolerance=1e-8, watch=seen.append)
    expected = newton(objective, objective.zero(), tolerance=1e-10)
    assert outcome.converged
    assert outcome.gap <= 1e-8
    assert outcome.value == pytest.approx(expected.value, rel=1e-7)
    assert proven_gap(objective, outcome.parameters) <= 1e-7
    ours, theirs = (
        objective.probabilities(objective.scores(each.parameters)) for each in (outcome, expected)
    )
    assert np.abs(ours - theirs).max() < 1e-2
    values = [each.value for each in seen]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(values))


def test_it_goes_on_from_a_given_start_and_by_newtons_method_where_it_is_stopped():
    objective = problem(2000, 10, 4)
    whole = quasi_newton(objective, objective.zero(), tolerance=1e-6)
    again = quasi_newton(objective, whole.parameters, tolerance=1e-6)
    assert again.steps <= 1 < whole.steps
    stopped = quasi_newton(objective, objective.zero(), tolerance=1e-6, max_steps=2)
    assert stopped.converged
    assert stopped.method == "quasi-newton, newton"
    assert stopped.value == pytest.approx(whole.value, rel=1e-6)


def test_rows_may_repeat_a_column_or_hold_none_but_zeros():
    objective = problem(1500, 6, 3)
    rows = np.hstack([objective.rows, objective.rows[:, :2], np.zeros((1500, 1))])
    doubled = Objective(rows, objective.codes, objective.sample_weights, 3, 1.0)
    outcome = quasi_newton(doubled, doubled.zero(), tolerance=1e-7)
    assert outcome.converged
    np.testing.assert_allclose(outcome.parameters.weights[:2], outcome.parameters.weights[6:8], atol=1e-3)


def test_it_is_for_many_dense_rows_under_a_penalty(monkeypatch):
    small = problem(500, 5, 3)
    assert not is_large_and_dense(small)
    assert is_large_and_dense(problem(1200, 5, 3))  # of few features
    assert not is_large_and_dense(problem(400, 50, 3))
    monkeypatch.setattr(dense, "LARGE", 100)
    assert is_large_and_dense(small)
    assert solve(small)[0].method == "quasi-newton"
    for changed in ({"penalty": 0.0}, {"penalise_bias": True}):
        assert not is_large_and_dense(replace(small, **changed))


def test_a_start_far_away_is_found_back_from():
    objective = problem(1500, 8, 3)
    far = Parameters(50.0 * np.ones(objective.shape) * [1, -1, 1], np.array([5.0, 0.0, -9.0]))
    outcome = quasi_newton(objective, far, tolerance=1e-6)
    assert outcome.converged
    assert outcome.value == pytest.approx(newton(objective, objective.zero(), tolerance=1e-9).value, rel=1e-5)
