"""Categorical models against scikit-learn, a textbook, and figures for real tables."""

import csv
import gzip

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from pairs import together
from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.conditionals.table import FullTable
from textodds.stats.categories import CategoryTally, CellTally, coded_columns


@pytest.fixture(scope="module")
def table(data_folder):
    """A function from the name and part of a table to its columns and labels."""

    def read(name, part):
        with gzip.open(data_folder / name / f"{part}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        labels = [row.pop("label") for row in rows]
        return {column: [row[column] for row in rows] for column in rows[0]}, labels

    return read


def log_joint(conditional, tally, new):
    """log p(x, k), with as much of each class as in training."""
    prior = np.log(tally.class_rows / tally.class_rows.sum())
    return conditional.fit(tally).log_likelihood(new) + prior


def joint_probabilities(conditional, kind, columns, labels, new):
    tally = kind.of(columns, labels)
    return dict(zip(tally.classes, np.exp(log_joint(conditional, tally, new))[0].tolist(), strict=True))


@pytest.mark.realdata
def test_play_tennis_of_mitchell(table):
    """Machine Learning (1997), section 6.9.1: .0053 and .0206, so no with .795."""
    columns, labels = table("tab_play_tennis", "train")
    new = {"outlook": ["Sunny"], "temperature": ["Cool"], "humidity": ["High"], "wind": ["Strong"]}
    got = joint_probabilities(Categorical(alpha=0), CategoryTally, columns, labels, new)
    assert got["Yes"] == pytest.approx(9 / 14 * 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9, rel=1e-12)
    assert got["No"] == pytest.approx(5 / 14 * 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5, rel=1e-12)
    assert (round(got["Yes"], 4), round(got["No"], 4)) == (0.0053, 0.0206)
    assert round(got["No"] / (got["Yes"] + got["No"]), 3) == 0.795


@pytest.mark.realdata
def test_play_tennis_as_a_full_table(table):
    """The 14 rows are 14 of 36 cells, and none is (Sunny, Cool, High, Strong): only the prior speaks."""
    columns, labels = table("tab_play_tennis", "train")
    tally = CellTally.of(columns, labels)
    assert len(tally.cells) == 14
    assert FullTable().cells(tally.marginals()) == 36
    new = {"outlook": ["Sunny"], "temperature": ["Cool"], "humidity": ["High"], "wind": ["Strong"]}
    got = joint_probabilities(FullTable(), CellTally, columns, labels, new)
    naive = joint_probabilities(Categorical(), CategoryTally, columns, labels, new)
    assert got["Yes"] == pytest.approx(naive["Yes"] / 10, rel=1e-12)
    assert got["No"] == pytest.approx(naive["No"] / 6, rel=1e-12)
    every = FullTable(alpha=0).fit(tally).log_likelihood(columns)
    assert [tally.classes[k] for k in every.argmax(axis=1)] == labels


@pytest.mark.realdata
@pytest.mark.parametrize(("alpha", "accuracy"), [(1.0, 94.22), (0.01, 98.58)])
def test_mushrooms(table, alpha, accuracy):
    """The figures of scikit-learn's CategoricalNB in REFERENCE.md, and its posteriors."""
    (columns, labels), (new, answers) = table("tab_mushroom", "train"), table("tab_mushroom", "test")
    tally = CategoryTally.of(columns, labels)
    scores = log_joint(Categorical(alpha), tally, new)
    best = np.array(tally.classes)[scores.argmax(axis=1)]
    assert round(100 * np.mean(best == np.array(answers)), 2) == accuracy
    estimate = Categorical(alpha).fit(tally)
    X, fresh = (np.stack(estimate.rows(part), axis=1) for part in (columns, new))
    known = (fresh >= 0).all(axis=1)  # scikit-learn fails on the others
    assert known.mean() > 0.99
    expected = CategoricalNB(alpha=alpha).fit(X, labels).predict_joint_log_proba(fresh[known])
    np.testing.assert_allclose(scores[known], expected, rtol=0, atol=1e-10)


@together
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("classes", [2, 7])
def test_likelihoods_are_those_of_scikit_learn(alpha, classes):
    random = np.random.default_rng(classes)
    sizes = [2, 3, 12, 1]
    X = np.stack([random.integers(0, size, 400) for size in sizes], axis=1)
    X[: max(sizes)] = np.arange(max(sizes))[:, None] % sizes  # no category is absent
    y = random.integers(0, classes, 400)
    y[:classes] = np.arange(classes)
    weights = random.integers(1, 4, 400) / 4
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    tally = CategoryTally.of(columns, y, weights)
    reference = CategoricalNB(alpha=alpha).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(
        log_joint(Categorical(alpha), tally, columns),
        reference.predict_joint_log_proba(X),
        rtol=0,
        atol=1e-10,
    )
    # The model sorts names as text, so that 10 comes before 2.
    parts = Categorical(alpha).fit(tally).by_column(columns)
    for j, log_p in enumerate(reference.feature_log_prob_):
        np.testing.assert_allclose(parts[:, j], log_p[:, X[:, j]].T, rtol=0, atol=1e-10)


def test_a_full_table_of_one_column_with_uniform_prior_is_the_categorical():
    columns, labels = {"x": list("aabbbc")}, list("klklkl")
    table = FullTable(0.7, "uniform").fit(CellTally.of(columns, labels))
    single = Categorical(0.7).fit(CategoryTally.of(columns, labels))
    new = coded_columns({"x": ["a", "b", "c", None, "new"]})
    np.testing.assert_allclose(table.log_likelihood(new), single.log_likelihood(new), rtol=0, atol=1e-14)
