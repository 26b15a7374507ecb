from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textodds.learn.forms.quadratic import Diagonal, QuadraticModel
from textodds.study.report.gaussian_fits import MaximumLikelihood, crossings, margins


def of(means, deviations, priors):
    mean, variance = np.array(means, float)[:, None], np.array(deviations, float)[:, None] ** 2
    names = tuple("abcdefgh"[: len(means)])
    prior = np.log(np.array(priors) / np.sum(priors))
    return MaximumLikelihood(
        "GNB", QuadraticModel(names, prior, Diagonal(mean, variance)), mean, variance[:, None]
    )


def test_between_equal_classes_the_point_is_in_the_middle():
    (point,) = crossings(of([2, 4], [1, 1], [1, 1]))
    assert (point.at, point.before, point.after) == (3.0, "a", "b")


def test_a_rarer_class_has_less_room_by_the_log_odds_over_the_distance():
    (point,) = crossings(of([0, 2], [1, 1], [0.9, 0.1]))
    assert point.at == pytest.approx(1 + np.log(9) / 2)


def test_a_narrow_class_within_a_wide_one_has_a_point_on_either_side():
    first, second = crossings(of([0, 0], [1, 3], [1, 1]))
    assert (first.before, first.after, second.before, second.after) == ("b", "a", "a", "b")
    root = np.sqrt(2 * np.log(3) / (1 - 1 / 9))
    assert (first.at, second.at) == (pytest.approx(-root), pytest.approx(root))


def test_a_class_that_is_never_the_likeliest_has_no_points():
    assert crossings(of([0, 0], [1, 1], [0.9, 0.1])) == []
    assert crossings(of([0, 0.1], [3, 1], [0.99, 0.01])) == []


def test_variances_that_are_equal_but_for_rounding_have_one_point():
    (point,) = crossings(of([0, 1], [1, 1 + 1e-15], [1, 1]))
    assert point.at == pytest.approx(0.5)


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.floats(0.1, 10), st.floats(0.01, 1)), min_size=2, max_size=8)
)
def test_at_every_point_two_posteriors_are_equal_and_best_and_the_decision_changes(classes):
    fitted = of(*zip(*classes, strict=True))
    found = crossings(fitted)
    for point in found:
        posterior = fitted.model.log_posterior([[point.at]])[0]
        names = fitted.model.classes
        before, after = posterior[names.index(point.before)], posterior[names.index(point.after)]
        size = 1 + np.abs(fitted.model.scores([[point.at]])).max()
        assert abs(before - after) < 1e-9 * size
        assert posterior.max() - before < 1e-9 * size
    for one, next_ in pairwise(found):
        assert one.at <= next_.at
        assert one.after == next_.before


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.floats(0.1, 10), st.floats(0.01, 1)), min_size=2, max_size=5)
)
def test_no_change_of_decision_is_missed(classes):
    fitted = of(*zip(*classes, strict=True))
    x = np.linspace(-60, 60, 2001)
    scores = fitted.model.scores(x[:, None])
    best, clear = scores.argmax(axis=1), margins(scores).max(axis=1) > 1e-6  # not by rounding
    found = np.array([point.at for point in crossings(fitted)])
    for at in np.flatnonzero((np.diff(best) != 0) & clear[1:] & clear[:-1]):
        assert ((found >= x[at] - 1e-6) & (found <= x[at + 1] + 1e-6)).any()
