"""The full table: its limits, its refusal, and values that are not there."""

import itertools

import numpy as np
import pytest

from pairs import together
from textodds.errors import InputError, NoData
from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.conditionals.table import KEPT_MARGINS, FullTable
from textodds.learn.forms.linear import LOG_ZERO
from textodds.stats.categories import CategoryTally, CellTally

COLUMNS = {"a": ["0", "0", "1", "1", "1"], "b": ["x", "x", "y", "z", None]}
LABELS = ["k", "k", "k", "l", "l"]
EVERY = {"a": ["0", "0", "0", "1", "1", "1"], "b": ["x", "y", "z"] * 2}


def probabilities(new, columns=COLUMNS, labels=LABELS, **choices):
    """p(x | k), (N, K)."""
    return np.exp(FullTable(**choices).fit(CellTally.of(columns, labels)).log_likelihood(new))


def test_uniform_is_laplace():
    got = probabilities(EVERY, backoff="uniform", alpha=0.5)
    # the last row is in no cell
    n = np.array([[2, 0], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(got, (n + 0.5) / (np.array([3, 1]) + 3), rtol=1e-14)


def test_independent_adds_pseudo_rows_of_naive_bayes():
    got = probabilities(EVERY, alpha=2)
    n = np.array([[2, 0], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1]])
    # all rows count in the margins: a is 0 for k 2 of 3, for l 0 of 2; b is x y z for k 2 1 0, l 0 0 1
    a = np.array([[3 / 5, 1 / 4], [2 / 5, 3 / 4]])
    b = np.array([[3 / 6, 1 / 4], [2 / 6, 1 / 4], [1 / 6, 2 / 4]])
    q = np.array([a[i] * b[j] for i in range(2) for j in range(3)])
    np.testing.assert_allclose(got, (n + 2 * q) / (np.array([3, 1]) + 2), rtol=1e-14)


def test_much_smoothing_is_naive_bayes_and_none_the_raw_table():
    columns = {name: COLUMNS[name][:4] for name in COLUMNS}
    naive = Categorical().fit(CategoryTally.of(columns, LABELS[:4])).log_likelihood(EVERY)
    much = FullTable(1e15).fit(CellTally.of(columns, LABELS[:4])).log_likelihood(EVERY)
    np.testing.assert_allclose(much, naive, rtol=0, atol=1e-12)
    raw = probabilities(EVERY, columns, LABELS[:4], alpha=0)
    np.testing.assert_allclose(raw, [[2 / 3, 0], [0, 0], [0, 0], [0, 0], [1 / 3, 0], [0, 1]], rtol=1e-14)


@pytest.mark.parametrize("backoff", ["independent", "uniform"])
def test_among_impossible_classes_the_limit_decides(backoff):
    tally = CellTally.of(COLUMNS, LABELS)
    none, little = (FullTable(alpha, backoff).fit(tally).log_likelihood(EVERY) for alpha in (0, 1e-9))
    assert np.isfinite(none).all()
    impossible = (none < LOG_ZERO / 2).all(axis=1)
    assert impossible.sum() == 3
    difference = none[:, 0] - none[:, 1], little[:, 0] - little[:, 1]
    np.testing.assert_allclose(difference[0][impossible], difference[1][impossible], atol=1e-6)


def test_a_class_without_a_complete_row_is_as_the_prior_says():
    columns, labels = {"a": ["0", "1"], "b": ["x", None]}, ["k", "l"]
    got = probabilities({"a": ["0", "1"], "b": ["x", "x"]}, columns, labels, alpha=0)
    np.testing.assert_allclose(got, [[1, 1 / 3], [0, 2 / 3]], rtol=1e-14)
    got = probabilities({"a": ["0", "1"], "b": ["x", "x"]}, columns, labels, alpha=0, backoff="uniform")
    np.testing.assert_allclose(got, [[1, 1 / 2], [0, 1 / 2]], rtol=1e-14)


@together
@pytest.mark.parametrize("backoff", ["independent", "uniform"])
@pytest.mark.parametrize("value", [None, "never seen"])
def test_what_is_not_observed_is_summed_over(backoff, value):
    full = probabilities(EVERY, backoff=backoff).reshape(2, 3, 2)
    got = probabilities({"a": ["0", "1"], "b": [value, value]}, backoff=backoff)
    np.testing.assert_allclose(got, full.sum(axis=1), rtol=1e-14)
    got = probabilities({"a": [value] * 3, "b": ["x", "y", "z"]}, backoff=backoff)
    np.testing.assert_allclose(got, full.sum(axis=0), rtol=1e-14)
    np.testing.assert_array_equal(probabilities({"a": [value], "b": [value]}, backoff=backoff), [[1, 1]])


def test_unseen_categories_have_a_cell_each_column():
    seen = [[*EVERY["a"][::3], "new"], ["x", "y", "z", "new"]]
    every = dict(zip("ab", zip(*itertools.product(*seen), strict=True), strict=True))
    for backoff in ("independent", "uniform"):
        got = probabilities(every, backoff=backoff, unseen="smooth")
        np.testing.assert_allclose(got.sum(axis=0), [1, 1], rtol=1e-14)
    np.testing.assert_allclose(got[-1], [1 / (3 + 12), 1 / (1 + 12)], rtol=1e-14)


def test_missing_as_a_category_keeps_every_row():
    got = probabilities({"a": ["1"], "b": [None]}, missing="category", backoff="uniform")
    np.testing.assert_allclose(got, [[1 / (3 + 8), 2 / (2 + 8)]], rtol=1e-14)


def test_a_column_that_is_all_missing_is_left_aside():
    with_empty = {**COLUMNS, "empty": [None] * 5}
    for backoff in ("independent", "uniform"):
        got = probabilities({**EVERY, "empty": ["what"] * 6}, with_empty, backoff=backoff)
        np.testing.assert_array_equal(got, probabilities(EVERY, backoff=backoff))


def test_products_too_small_for_numbers_still_compare():
    """Fifty columns of something new, each with a probability below 2^-30: below what a double holds."""
    names = [f"c{j:02}" for j in range(50)]
    tally = CellTally.of({name: ["a", "a"] for name in names}, ["k", "l"], [2.0**30, 2.0**31])
    got = (
        FullTable(unseen="smooth", max_cells=2**60)
        .fit(tally)
        .log_likelihood({name: ["new"] for name in names})
    )
    expected = [-50 * np.log(n + 2) - np.log(n + 1) for n in (2.0**30, 2.0**31)]
    assert max(expected) < -800
    np.testing.assert_allclose(got, [expected], rtol=1e-12)


def numbered(matrix):
    return {f"x{j}": column for j, column in enumerate(matrix.T)}


def test_more_patterns_of_missing_values_than_are_kept_make_no_difference():
    random = np.random.default_rng(0)
    rows = random.integers(0, 2, (300, 8)).astype(object)
    estimate = FullTable().fit(CellTally.of(numbered(rows), random.integers(0, 2, 300)))
    holes = np.where(random.random((300, 8)) < 0.5, None, rows)
    whole = estimate.log_likelihood(numbered(holes))
    assert len(np.unique(holes == None, axis=0)) > KEPT_MARGINS  # noqa: E711
    for i in range(300):
        np.testing.assert_array_equal(estimate.log_likelihood(numbered(holes[i : i + 1]))[0], whole[i])
    assert 0 < len(estimate._kept) <= KEPT_MARGINS


def refusal(columns, **choices):
    """The error of a table that is too large, which one-column counts are enough for."""
    labels = ["k"] * len(next(iter(columns.values())))
    with pytest.raises(InputError) as caught:
        FullTable(**choices).cells(CategoryTally.of(columns, labels))
    with pytest.raises(InputError) as again:
        FullTable(**choices).fit(CellTally.of(columns, labels))
    assert str(again.value) == str(caught.value)
    return caught.value


@pytest.mark.slow
def test_a_thousand_yes_or_no_questions_are_refused():
    """They have more cells than a float can be large."""
    error = refusal({f"q{j}": ["yes", "no"] for j in range(1100)})
    assert (
        "2^1100 cells, and 1,000,000 are allowed: each of the 1,100 columns has 2 categories" in error.problem
    )
    assert "CategoricalNB" in error.hint
    assert "2,200 cells" in error.hint


def test_a_table_just_too_large_gives_its_number():
    columns = {"id": range(2000), "city": [i % 500 for i in range(2000)], "sex": [0, 1] * 1000}
    error = refusal(columns)
    assert "needs 2,000,000 cells" in error.problem
    assert "`id` (2,000), `city` (500), `sex` (2)" in error.problem
    assert "needs 2,502 cells" in error.hint
    assert FullTable(max_cells=2_000_000).cells(CategoryTally.of(columns, ["k"] * 2000)) == 2_000_000
    refusal(columns, max_cells=1_999_999)
    refusal(columns, max_cells=2_000_000, unseen="smooth")


def test_a_table_absurdly_too_large_gives_its_size():
    columns = {f"c{j}": [i % (j + 2) for i in range(40)] for j in range(30)}  # 31! = 8.2e33
    assert "needs about 10^34 cells" in refusal(columns).problem
    assert "`c29` (31), `c28` (30), `c27` (29)" in refusal(columns).problem


def test_one_column_too_many_categories_is_no_power():
    assert (
        "needs 11 cells, and 10 are allowed: most categories are in `x` (11)"
        in refusal({"x": range(11)}, max_cells=10).problem
    )


@together
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"alpha": -0.1}, "alpha must be zero or more"),
        ({"alpha": np.ones(2)}, "alpha must be one number"),
        ({"backoff": "indepedent"}, "did you mean `independent`?"),
        ({"missing": "drop"}, "unknown missing 'drop'"),
        ({"unseen": "no"}, "unknown unseen 'no'"),
        ({"max_cells": 0}, "max_cells must be a whole number from 1 to 2^62, got 0"),
        ({"max_cells": 1e6}, "max_cells must be a whole number"),
        ({"max_cells": 2**63}, "max_cells must be a whole number"),
    ],
)
def test_choices_that_cannot_be_are_refused_when_made(choices, message):
    with pytest.raises(InputError) as caught:
        FullTable(**choices)
    assert message in str(caught.value)


def test_columns_that_are_not_those_of_training_are_named():
    estimate = FullTable().fit(CellTally.of(COLUMNS, LABELS))
    with pytest.raises(InputError, match="column `b` is not there; column `c` is unknown"):
        estimate.log_likelihood({"a": ["0"], "c": ["0"]})


def test_there_must_be_something_to_learn_from():
    with pytest.raises(NoData):
        FullTable().fit(CellTally.of({"a": []}, []))
    assert FullTable().fit(CellTally.of(COLUMNS, LABELS)).log_likelihood({"a": [], "b": []}).shape == (0, 2)
