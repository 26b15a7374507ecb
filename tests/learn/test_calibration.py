"""Calibration: a temperature and a bias that make held-out scores probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from pairs import together
from textodds.errors import InputError
from textodds.learn.calibration import Calibration, log_loss
from textodds.learn.forms.linear import LOG_ZERO, Weights
from textodds.learn.forms.quadratic import Diagonal, QuadraticModel


def scored(N=400, K=3, factor=8.0, seed=0):
    """Scores that are ``factor`` times too sure of themselves, with the classes of their rows."""
    random = np.random.default_rng(seed)
    held_out = random.normal(size=(N, K)) * 1.5 + np.linspace(0, 0.8, K)
    codes = np.array([random.choice(K, p=np.exp(row)) for row in log_softmax(held_out, axis=1)])
    return held_out * factor + random.normal(size=(N, 1)) * 1000, codes, random.uniform(0.2, 2, N)


def unit_of(scores):
    """The mean size of scores, of which the slope is not to be far."""
    return np.abs(scores - scores.mean(axis=1, keepdims=True)).mean()


def penalised(log_slope, bias, scores, codes, weights):
    """What is minimised, as its docstring says; ``log_slope`` is that of scores in their own unit."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    log_p = log_softmax(centred / unit_of(scores) * np.exp(log_slope) + bias, axis=1)
    loss = -float(weights @ log_p[np.arange(len(codes)), codes])
    return loss + 0.5 * float(bias @ bias) + 0.5 * float(log_slope**2)


def directly(scores, codes, weights):
    """The minimum by SciPy, from three starts, without a gradient of ours."""
    found = [
        minimize(
            lambda x: penalised(x[0], x[1:], scores, codes, weights),
            np.concatenate([[start], np.zeros(scores.shape[1])]),
            method="BFGS",
            options={"gtol": 1e-5, "maxiter": 1000},
        )
        for start in (-2.0, 0.0, 2.0)
    ]
    best = min(found, key=lambda result: result.fun)
    return best.x[0], best.x[1:], best.fun


def objective(found, scores, codes, weights):
    """What a calibration costs."""
    return penalised(np.log(found.slopes[0] * unit_of(scores)), found.bias, scores, codes, weights)


@together
@pytest.mark.parametrize("K", [2, 3, 7])
@pytest.mark.parametrize("factor", [1e-3, 1.0, 30.0, 1e6])
def test_the_objective_is_as_small_as_scipy_can_make_it(K, factor):
    scores, codes, weights = scored(K=K, factor=factor)
    found = Calibration.of(scores, codes, weights)
    log_slope, bias, least = directly(scores, codes, weights)
    assert objective(found, scores, codes, weights) <= least + 1e-6 * abs(least)
    assert np.log(found.slopes[0] * unit_of(scores)) == pytest.approx(log_slope, abs=0.01)
    np.testing.assert_allclose(found.bias, bias - bias.mean(), rtol=0, atol=0.01)
    assert abs(found.bias.sum()) < 1e-9
    assert found.temperature == pytest.approx(1 / found.slopes[0], rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, np.array([2.0, 0.0, -2.0])], ids=str)
def test_several_kinds_of_scores_have_a_slope_each(offset):
    """The second kind is the first again, and noise the third: their slopes add up to what one would have."""
    random = np.random.default_rng(0)
    held_out = random.normal(size=(2000, 3)) * 1.5
    codes = np.array([random.choice(3, p=np.exp(row)) for row in log_softmax(held_out + offset, axis=1)])
    parts = np.stack([held_out, held_out, random.normal(size=(2000, 3))])
    found = Calibration.of_parts(parts, codes, np.ones(2000), offset=offset)
    assert found.slopes[:2].sum() == pytest.approx(1, abs=0.15)
    assert found.slopes[2] < 0.15
    assert np.abs(found.bias).max() < 0.25
    applied = found.applied(*parts)
    np.testing.assert_allclose(applied, np.tensordot(found.slopes, parts, 1) + found.bias, rtol=0, atol=1e-12)


def test_the_plain_form_is_read_back_and_checked():
    found = Calibration.of(*scored())
    again = Calibration.of_dict(found.as_dict())
    np.testing.assert_array_equal(again.slopes, found.slopes)
    np.testing.assert_array_equal(again.bias, found.bias)
    for damage in ({"slopes": [0.0]}, {"slopes": [-1.0]}, {"slopes": [np.nan]}, {"bias": [np.inf, 0.0, 0.0]}):
        with pytest.raises(InputError, match="calibration is damaged"):
            Calibration.of_dict({**found.as_dict(), **damage})


def test_the_temperature_of_scores_that_are_eight_times_too_sure_is_eight():
    scores, codes, weights = scored(N=20_000)
    assert Calibration.of(scores, codes, weights).temperature == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize("factor", [0.1, 8.0, 100.0])
def test_the_loss_of_rows_that_were_not_calibrated_on_becomes_smaller(factor):
    scores, codes, weights = scored(N=2000, factor=factor)
    found = Calibration.of(scores[:1000], codes[:1000], weights[:1000])
    held = scores[1000:], codes[1000:], weights[1000:]
    before, after = log_loss(*held), log_loss(found.applied(held[0]), *held[1:])
    held_out = log_loss(held[0] / factor, *held[1:])
    assert after < before - 0.1
    assert after < held_out + 0.01


def test_the_order_of_classes_is_unchanged_without_a_bias():
    scores, codes, weights = scored()
    found = Calibration(Calibration.of(scores, codes, weights).slopes)
    assert found.temperature != 1
    np.testing.assert_array_equal(np.argsort(found.applied(scores), axis=1), np.argsort(scores, axis=1))


def test_no_calibration_changes_nothing():
    scores, _, _ = scored()
    np.testing.assert_array_equal(Calibration.none().applied(scores), scores)


def test_what_all_classes_of_a_row_share_does_not_matter():
    scores, codes, weights = scored()
    plain = Calibration.of(scores, codes, weights)
    shifted = Calibration.of(scores + np.random.default_rng(1).normal(size=(400, 1)) * 100, codes, weights)
    assert shifted.temperature == pytest.approx(plain.temperature, rel=1e-4)
    np.testing.assert_allclose(shifted.bias, plain.bias, rtol=0, atol=1e-4)


def test_a_weight_of_two_equals_the_row_twice_and_of_zero_its_absence():
    scores, codes, _ = scored()
    times = np.random.default_rng(0).integers(0, 4, 400)
    weighted = Calibration.of(scores, codes, times.astype(float))
    repeated = Calibration.of(np.repeat(scores, times, axis=0), np.repeat(codes, times), np.ones(times.sum()))
    assert weighted.temperature == pytest.approx(repeated.temperature, rel=1e-3)
    np.testing.assert_allclose(weighted.bias, repeated.bias, rtol=0, atol=1e-3)


def test_the_loss_is_the_weighted_mean_of_minus_the_logarithm_of_what_the_truth_got():
    scores = np.log([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]])
    expected = (3 * np.log(2) - np.log(0.1)) / 4
    assert log_loss(scores, np.array([0, 2]), np.array([3.0, 1.0])) == pytest.approx(expected, rel=1e-12)


RANDOM = np.random.default_rng(0).normal(size=(50, 3))
EXTREME = {
    "all right": (RANDOM * 100, RANDOM.argmax(axis=1)),
    "all wrong": (RANDOM * 100, RANDOM.argmin(axis=1)),
    "one class absent": (RANDOM, RANDOM.argmax(axis=1) % 2),
    "one class only": (RANDOM, np.zeros(50, dtype=np.int64)),
    "one row, right": (np.array([[3.0, 0.0, -1.0]]), np.array([0])),
    "one row, wrong": (np.array([[3.0, 0.0, -1.0]]), np.array([2])),
    "huge scores": (RANDOM * 1e12, RANDOM.argmax(axis=1)),
    "tiny scores": (RANDOM * 1e-12, RANDOM.argmin(axis=1)),
    "a class that is impossible": (RANDOM - np.array([0, 0, 2.0**22]), RANDOM.argmax(axis=1)),
    "no class ever ahead": (np.zeros((50, 3)), RANDOM.argmax(axis=1)),
    "no class ever ahead but for rounding": (np.ones((50, 3)) * RANDOM[:, :1], RANDOM.argmax(axis=1)),
}


@together
@pytest.mark.parametrize("case", EXTREME)
def test_extreme_scores_give_finite_probabilities(case):
    scores, codes = EXTREME[case]
    found = Calibration.of(scores, codes, np.ones(len(codes)))
    assert 0 < found.temperature < np.inf
    assert np.isfinite(found.bias).all()
    size = max(np.abs(scores).max(), 1e9)
    new = np.concatenate([scores, np.array([[10.0, 0.0, -10.0], [0.0, 0.0, 0.0]]) * size])
    applied = found.applied(new)
    assert np.isfinite(applied).all()
    assert np.isfinite(log_softmax(applied, axis=1)).all()


AHEAD = sorted(case for case in EXTREME if not case.startswith("no class ever ahead"))


@together
@pytest.mark.parametrize("case", AHEAD)
def test_extreme_scores_cost_as_little_as_scipy_can_make_them(case):
    scores, codes = EXTREME[case]
    u = np.ones(len(codes))
    least = directly(scores, codes, u)[2]
    assert objective(Calibration.of(scores, codes, u), scores, codes, u) <= least + 1e-4 * max(least, 1.0)


@pytest.mark.parametrize("case", sorted(set(EXTREME) - set(AHEAD)))
def test_where_no_class_is_ahead_their_shares_are_the_answer(case):
    """But for the penalty of the bias, which draws them together."""
    scores, codes = EXTREME[case]
    found = Calibration.of(scores, codes, np.ones(50))
    shares = np.bincount(codes, minlength=3) / 50
    got = np.exp(log_softmax(found.applied(scores), axis=1))
    np.testing.assert_allclose(got, np.tile(shares, (50, 1)), rtol=0, atol=0.02)


def test_no_input_is_changed():
    scores, codes, weights = scored()
    before = scores.copy(), codes.copy(), weights.copy()
    Calibration.of(scores, codes, weights).applied(scores)
    for now, then in zip((scores, codes, weights), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_calibrated_model_has_the_calibrated_scores_and_takes_another_prior():
    random = np.random.default_rng(0)
    gaussians = Diagonal(random.normal(size=(3, 2)), random.uniform(1, 2, (3, 2)))
    prior = np.log([0.2, 0.3, 0.5])
    plain = QuadraticModel(("a", "b", "c"), prior, gaussians)
    calibration = Calibration(np.array([0.4]), np.array([0.1, -0.3, 0.2]))
    rows = random.normal(size=(20, 2))
    model = plain.calibrated(calibration)
    np.testing.assert_allclose(model.scores(rows), calibration.applied(plain.scores(rows)), atol=1e-12)
    uniform = np.log(np.full(3, 1 / 3))
    shift = model.with_prior(uniform).scores(rows) - model.scores(rows)
    np.testing.assert_allclose(shift, [uniform - prior] * 20, rtol=0, atol=1e-12)


@together
@pytest.mark.parametrize("factor", [0.3, 0.5, 1.0, 2.0])
def test_weights_that_are_scaled_are_the_scaled_matrix_of_impossible_words_too(factor):
    """Each of 400 words is in one of twenty classes; the other cells are `LOG_ZERO`, and not stored.

    A number that is added to half of `LOG_ZERO` keeps its digits down to 1e-9.
    """
    K, V = 20, 400
    starts = np.arange(V + 1, dtype=np.uint64)
    class_of = (np.arange(V) % K).astype(np.uint32)
    cells, shift = np.linspace(-9.0, -1.0, V), np.linspace(0.0, 1.0, K)
    weights = Weights.of_cells(np.full(K, LOG_ZERO), starts, class_of, cells)
    assert weights.dense is None
    expected = np.full((V, K), LOG_ZERO)
    expected[np.arange(V), class_of] = cells
    made = weights.scaled(factor, shift).rows(np.arange(V))
    np.testing.assert_allclose(made, factor * expected + shift, rtol=1e-9, atol=1e-9)
