import numpy as np
import pytest

from textodds.learn.conditionals.gaussian import Gaussian
from textodds.stats.moments import Moments
from textodds.study.report.gaussian_fits import MODELS, LabelledPoints, MaximumLikelihood, margins
from textodds.study.report.gaussian_pictures import _limits, _margin_grid


@pytest.fixture(params=MODELS)
def fitted(request, three):
    return MaximumLikelihood.of(request.param, LabelledPoints.of(*three, ["x", "y"]))


def test_the_class_with_a_margin_above_zero_is_the_one_that_the_model_predicts(fitted, three):
    points = np.random.default_rng(0).uniform(-2, 5, (500, 2))
    gaussian = Gaussian(MODELS[fitted.name][0], smoothing=0.0)
    density = gaussian.fit(Moments.of(*three, full=gaussian.is_full)).log_density(points)
    predicted = (density + np.log([120 / 270, 90 / 270, 60 / 270])).argmax(axis=1)
    margin = margins(fitted.model.scores(points))
    np.testing.assert_array_equal(margin.argmax(axis=1), predicted)
    np.testing.assert_array_equal((margin > 0).sum(axis=1), 1)
    assert len(set(predicted)) == 3


def test_between_the_points_of_the_grid_the_sign_of_the_margin_is_the_decision(fitted, three):
    """The fill and the boundary are interpolated: random points away from it must lie on the right side."""
    from scipy.interpolate import RegularGridInterpolator

    low, high = limits = _limits(LabelledPoints.of(*three, ["x", "y"]), [fitted])
    points = np.random.default_rng(1).uniform(low, high, (4000, 2))
    scores = fitted.model.scores(points)
    clear = margins(scores).max(axis=1) > 0.01
    x, y, grid = _margin_grid(fitted, limits)
    for k, margin in enumerate(grid):
        drawn = RegularGridInterpolator((y, x), margin)(points[:, ::-1])
        np.testing.assert_array_equal((drawn > 0)[clear], (scores.argmax(axis=1) == k)[clear])
    assert clear.mean() > 0.98


def test_the_margin_is_the_best_less_the_second_and_zero_where_two_are_best():
    np.testing.assert_array_equal(
        margins(np.array([[3.0, 3.0, 1.0], [0.0, -2.0, -5.0]])), [[0, 0, -2], [2, -2, -5]]
    )


def test_the_boundaries_of_lda_are_straight(three):
    data = LabelledPoints.of(*three, ["x", "y"])
    fitted = MaximumLikelihood.of("LDA", data)
    along = np.linspace(0, 1, 9)[:, None] * np.array([3.0, -2.0]) + 1
    scores = fitted.model.scores(along)
    np.testing.assert_allclose(np.diff(scores[:, 0] - scores[:, 1], n=2), 0, atol=1e-9)


@pytest.mark.parametrize("distance", [1.0, 2.0])
def test_ellipses_are_at_their_mahalanobis_distance_under_the_fitted_covariance(fitted, distance):
    for k in range(3):
        away = fitted.ellipse(k, distance) - fitted.mean[k]
        squared = np.einsum("iv,vw,iw->i", away, np.linalg.inv(fitted.covariance[k]), away)
        np.testing.assert_allclose(np.sqrt(squared), distance, rtol=1e-12)


def test_the_covariance_of_the_ellipses_is_that_of_the_density(fitted):
    """Along an ellipse the density of the class is the same, and less than at the mean by d² / 2."""
    for k in range(3):
        at_mean = fitted.model.gaussians.log_density(fitted.mean[[k]])[:, k]
        for distance in (1.0, 2.0):
            there = fitted.model.gaussians.log_density(fitted.ellipse(k, distance))[:, k]
            np.testing.assert_allclose(at_mean - there, distance**2 / 2, rtol=1e-9)


def test_covariances_are_what_each_model_says_they_are(three):
    rows, labels = np.asarray(three[0]), np.asarray(three[1])
    own = np.array([np.cov(rows[labels == k].T, bias=True) for k in "abc"])
    share = np.array([120, 90, 60]) / 270
    fits = {
        name: MaximumLikelihood.of(name, LabelledPoints.of(*three, ["x", "y"])).covariance for name in MODELS
    }
    np.testing.assert_allclose(fits["QDA"], own, rtol=1e-10)
    np.testing.assert_allclose(fits["LDA"], np.repeat([np.tensordot(share, own, 1)], 3, axis=0), rtol=1e-10)
    np.testing.assert_allclose(fits["GNB"], own * np.eye(2), rtol=1e-10)


def test_the_frame_holds_all_ellipses_and_is_not_stretched_by_one_outlier(three):
    rows, labels = three
    far = np.concatenate([rows, [[60.0, 1.0]]])
    data = LabelledPoints.of(far, [*labels, "a"], ["x", "y"])
    models = [MaximumLikelihood.of(name, data) for name in MODELS]
    low, high = _limits(data, models)
    for fitted in models:
        for k in range(3):
            ellipse = fitted.ellipse(k, 2.0)
            assert ((low <= ellipse) & (ellipse <= high)).all()
    assert far[-1, 0] > high[0]
    assert ((low <= data.rows) & (data.rows <= high)).all(axis=1).mean() > 0.95


def test_a_column_of_small_numbers_beside_one_of_large_ones_keeps_its_shape(three):
    """As smoothing by a share of the largest variance would not let it."""
    rows, labels = three
    plain = MaximumLikelihood.of("GNB", LabelledPoints.of(rows, labels, ["x", "y"]))
    scaled = MaximumLikelihood.of("GNB", LabelledPoints.of(rows * [1e9, 1e-3], labels, ["x", "y"]))
    np.testing.assert_allclose(
        scaled.model.log_posterior(rows * [1e9, 1e-3]), plain.model.log_posterior(rows), atol=1e-9
    )
