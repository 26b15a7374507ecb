"""Independent categorical columns: smoothing, missing and unseen values, and what is refused."""

import math

import numpy as np
import pytest

from pairs import together
from textodds.errors import InputError, NoData
from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.forms.linear import LOG_ZERO
from textodds.stats.categories import CategoryTally

COLUMNS = {"sky": ["sun", "sun", "rain", None], "wind": ["weak", "strong", None, None]}
LABELS = ["play", "play", "stay", "stay"]


def probabilities(new, columns=COLUMNS, labels=LABELS, **choices):
    """p(x | k), (N, K)."""
    return np.exp(Categorical(**choices).fit(CategoryTally.of(columns, labels)).log_likelihood(new))


def test_probabilities_are_those_of_hand():
    got = probabilities({"sky": ["sun", "rain"], "wind": ["weak", "strong"]})
    # play: sun 3/4, rain 1/4; each wind 2/4. stay: sun 1/3, rain 2/3, and nothing known of the wind
    np.testing.assert_allclose(got, [[3 / 4 / 2, 1 / 3 / 2], [1 / 4 / 2, 2 / 3 / 2]], rtol=1e-14)


def test_a_missing_value_says_nothing_or_is_a_category():
    np.testing.assert_array_equal(probabilities({"sky": [None], "wind": [None]}), [[1, 1]])
    got = probabilities({"sky": [None], "wind": [None]}, missing="category")
    # play: none of 2 in either, of 3 categories; stay: 1 of 2 skies, 2 of 2 winds
    np.testing.assert_allclose(got, [[1 / 5 * 1 / 5, 2 / 5 * 3 / 5]], rtol=1e-14)


def test_a_missing_value_that_training_never_had_is_an_unseen_category():
    columns, labels = {"x": ["a", "b", "b"]}, ["k", "k", "l"]
    for unseen, expected in (("ignore", [1, 1]), ("smooth", [1 / 5, 1 / 4])):
        got = probabilities({"x": [None, "new"]}, columns, labels, missing="category", unseen=unseen)
        np.testing.assert_allclose(got, [expected, expected], rtol=1e-14)
        ignored = probabilities({"x": [None]}, columns, labels, unseen=unseen)
        np.testing.assert_array_equal(ignored, [[1, 1]])


def test_an_unseen_category_says_nothing_or_has_a_cell():
    new = {"sky": ["snow", "sun"], "wind": [None, None]}
    np.testing.assert_allclose(probabilities(new), [[1, 1], [3 / 4, 1 / 3]], rtol=1e-14)
    got = probabilities(new, unseen="smooth")
    np.testing.assert_allclose(got, [[1 / 5, 1 / 4], [3 / 5, 1 / 4]], rtol=1e-14)


def test_without_smoothing_what_was_never_seen_is_impossible_but_finite():
    estimate = Categorical(0).fit(CategoryTally.of({"x": ["a", "b", "b"]}, ["k", "k", "l"]))
    got = estimate.log_likelihood({"x": ["a", "b"]})
    np.testing.assert_allclose(np.exp(got), [[1 / 2, 0], [1 / 2, 1]], rtol=1e-14)
    assert got[0, 1] == LOG_ZERO


def test_without_smoothing_a_class_without_values_has_none_preferred():
    got = probabilities({"sky": [None], "wind": ["weak"]}, alpha=0)
    np.testing.assert_allclose(got, [[1 / 2, 1 / 2]], rtol=1e-14)
    limit = probabilities({"sky": [None], "wind": ["weak"]}, alpha=1e-12)
    np.testing.assert_allclose(got, limit, rtol=1e-9)


def test_no_smoothing_is_the_limit_of_little():
    """Also among the impossible: the difference of two classes stays the same."""
    tally = CategoryTally.of({"x": ["a", "b", "b", "c"]}, ["k", "k", "l", "m"])
    new = {"x": ["a", "b", "c", "new"]}
    none, little = (Categorical(alpha, unseen="smooth").fit(tally).log_likelihood(new) for alpha in (0, 1e-9))
    np.testing.assert_allclose(none[3] - none[3, 0], little[3] - little[3, 0], atol=1e-7)
    np.testing.assert_allclose(np.exp(none), np.exp(little), atol=1e-8)


def test_a_column_that_is_all_missing_says_nothing():
    columns = {"x": ["a", "b"], "empty": [None, None]}
    got = probabilities({"x": ["a"], "empty": ["what"]}, columns, ["k", "l"])
    np.testing.assert_allclose(got, [[2 / 3, 1 / 3]], rtol=1e-14)


def test_contributions_are_those_of_the_columns_in_order():
    estimate = Categorical().fit(CategoryTally.of(COLUMNS, LABELS))
    assert estimate.columns == ("sky", "wind")
    got = estimate.by_column({"wind": ["weak"], "sky": ["sun"]})
    expected = [[[math.log(3 / 4), math.log(1 / 3)], [math.log(1 / 2)] * 2]]
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_no_rows_give_no_likelihoods():
    estimate = Categorical().fit(CategoryTally.of(COLUMNS, LABELS))
    assert estimate.log_likelihood({"sky": [], "wind": []}).shape == (0, 2)
    assert estimate.by_column({"sky": [], "wind": []}).shape == (0, 2, 2)


def test_one_class_is_a_class():
    got = probabilities({"x": ["a", "b"]}, {"x": ["a", "b", "b"]}, ["only"] * 3)
    np.testing.assert_allclose(got, [[2 / 5], [3 / 5]], rtol=1e-14)


@together
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"alpha": -1}, "alpha must be zero or more, got -1"),
        ({"alpha": float("nan")}, "alpha must be zero or more"),
        ({"alpha": float("inf")}, "alpha must be zero or more"),
        ({"alpha": [1, 2]}, "alpha must be one number"),
        ({"alpha": "1"}, "alpha must be one number"),
        ({"alpha": True}, "alpha must be one number"),
        ({"missing": "ignor"}, "unknown missing 'ignor'; did you mean `ignore`?"),
        ({"unseen": "category"}, "unknown unseen 'category'"),
    ],
)
def test_choices_that_cannot_be_are_refused_when_made(choices, message):
    with pytest.raises(InputError) as caught:
        Categorical(**choices)
    assert message in str(caught.value)


@together
@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"sky": ["sun"]}, "got 1 columns, the model has 2: column `wind` is not there"),
        ({"sky": ["sun"], "wnd": ["weak"]}, "column `wnd` is unknown to the model; did you mean `wind`?"),
        (
            {"sky": ["sun"], "wind": ["weak"], "x": [1]},
            "got 3 columns, the model has 2: column `x` is unknown",
        ),
        ({"x0": ["sun"], "x1": ["weak"]}, "columns `x0`, `x1` are unknown"),
        ({"sky": ["sun"], "wind": ["weak", "weak"]}, "column `sky` has 1 rows, column `wind` 2"),
        ({"sky": ["sun"], "wind": [0.5]}, "column `wind`: row 0 has 0.5"),
    ],
)
def test_columns_that_are_not_those_of_training_are_named(new, message):
    estimate = Categorical().fit(CategoryTally.of(COLUMNS, LABELS))
    with pytest.raises(InputError) as caught:
        estimate.log_likelihood(new)
    assert message in str(caught.value)
    with pytest.raises(InputError):
        estimate.by_column(new)


@pytest.mark.parametrize("rows", [([], [], []), (["a"], ["k"], [0.0])])
def test_there_must_be_something_to_learn_from(rows):
    values, labels, weights = rows
    with pytest.raises(NoData):
        Categorical().fit(CategoryTally.of({"x": values}, labels, weights))
