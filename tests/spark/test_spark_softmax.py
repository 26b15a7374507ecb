"""Softmax regression on Spark: the optimum of one machine, proven, whatever the partitions."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from naive import trained_here, trained_there

import textodds
from textodds.errors import NotConverged
from textodds.learn.softmax.class_weights import class_factors
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner, parameters_of
from textodds.learn.solvers.objective import Objective
from textodds.spark import fit
from textodds.text import Weighting


@pytest.fixture(scope="module")
def table(mail):
    """The texts with some labels that are wrong, and weights."""
    random = np.random.default_rng(0)
    labels = np.array(mail["label"].to_pylist(), dtype=object)
    labels[::9] = random.choice(["spam", "work", "home"], len(labels[::9]))
    weights = random.choice([0.0, 0.3, 1.0, 2.5], len(mail))
    return pa.table({"text": mail["text"], "label": pa.array(labels), "w": weights})


@pytest.fixture(scope="module")
def two(table):
    """Those of two classes."""
    return table.filter(pa.array([label != "home" for label in table["label"].to_pylist()]))


@pytest.fixture(scope="module")
def frames(spark, table, two):
    """Both as DataFrames, by the number of their classes."""
    return {n: spark.createDataFrame(rows).coalesce(1).cache() for n, rows in ((3, table), (2, two))}


def objective_at(model, table, weight):
    """F at what a model has learned, from its own rows."""
    learner = model.recipe.learner
    labels = table["label"].to_pylist()
    codes = np.array([model.classes_.index(label) for label in labels])
    weights = np.array(table[weight].to_pylist()) if weight else np.ones(len(table))
    mass = np.bincount(codes, weights)
    factors = class_factors(learner.class_weight, model.classes_, mass)
    penalty = 1.0 / model.info["fit"]["C"]
    rows = model.rows(table["text"].to_pylist())
    objective = Objective(rows, codes, weights * factors[codes], len(model.classes_), penalty)
    return objective.value(parameters_of(model.linear))


def alike(found, expected, table):
    """The same model, as far as the proven gap has it."""
    ours, theirs = found.info["fit"], expected.info["fit"]
    assert ours["method"] == "l-bfgs"
    assert ours["converged"]
    assert 0 <= ours["gap"] <= 1e-4
    assert ours["C"] == pytest.approx(theirs["C"], rel=1e-9)
    assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-4)
    for name in ("documents", "class_documents", "rejected"):
        assert found.info[name] == pytest.approx(expected.info[name], rel=1e-9)
    assert found.classes_ == expected.classes_
    assert found.vocabulary.words() == expected.vocabulary.words()
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-9)
    np.testing.assert_allclose(found.form.log_prior, expected.form.log_prior, rtol=1e-9)
    texts = table["text"].to_pylist()  # before calibration, which the driver makes on a sample
    mine, theirs = (model.predict_proba(texts, calibrate=False) for model in (found, expected))
    np.testing.assert_allclose(mine, theirs, atol=0.02)
    sure = theirs.max(axis=1) > 0.55
    assert (mine.argmax(axis=1) == theirs.argmax(axis=1))[sure].all()


CASES = {
    "three classes": (3, None, SoftmaxLearner(C=1.0), {"ngrams": (1, 2)}),
    "two classes, balanced, with weights": (
        2,
        "w",
        SoftmaxLearner(C=0.5, class_weight="balanced"),
        {"features": "characters", "min_df": 5},
    ),
    "scaled, two classes, a penalty for each row": (
        2,
        None,
        NBSoftmaxLearner(alpha=0.02, class_weight={"spam": 3.0}),
        {"ngrams": (1, 1), "weighting": Weighting("count", idf=False)},
    ),
    "scaled, three classes, balanced, with weights": (
        3,
        "w",
        NBSoftmaxLearner(C=0.3, class_weight="balanced", smoothing=0.5),
        {"hash_bits": 9},
    ),
    "centred, two classes": (
        2,
        None,
        NBSoftmaxLearner(C=0.5, form="centred", class_weight="balanced"),
        {"ngrams": (1, 1), "weighting": Weighting("binary", unit=False)},
    ),
    "centred, three classes, with weights": (
        3,
        "w",
        NBSoftmaxLearner(C=0.2, form="centred", class_weight={"home": 0.25, "work": 2.0}),
        {"ngrams": (1, 1)},
    ),
    "pooled with naive Bayes, three classes, with weights": (
        3,
        "w",
        SoftmaxLearner(C=1.0, naive_bayes=0.5),
        {"ngrams": (1, 1)},
    ),
    "scaled and pooled, two classes, balanced": (
        2,
        None,
        NBSoftmaxLearner(C=0.5, class_weight="balanced", naive_bayes=0.5),
        {"ngrams": (1, 2)},
    ),
}


@pytest.mark.parametrize(("classes", "weight", "learner", "recipe"), CASES.values(), ids=CASES.keys())
def test_the_optimum_is_that_of_one_machine(frames, table, two, classes, weight, learner, recipe):
    rows = two if classes == 2 else table
    recipe = {**recipe, "calibrate": False}  # the driver calibrates on a sample of its own
    found = trained_there(frames[classes], weight=weight, learner=learner, **recipe)
    expected = trained_here(rows, weight=weight, learner=learner, **recipe)
    assert len(found.classes_) == classes
    alike(found, expected, rows)
    if getattr(learner, "form", "") != "centred" and not learner.naive_bayes:
        assert objective_at(found, rows, weight) == pytest.approx(found.info["fit"]["objective"], rel=1e-6)


def test_partitions_and_who_adds_up_make_no_difference(spark, table, monkeypatch):
    """Spark adds up where tasks are many; some are without rows, and one class is apart from the others."""
    monkeypatch.setattr(fit, "FEW", 2)
    order = np.argsort(table["label"].to_pylist(), kind="stable")
    rows = list(zip(*(table.take(order)[name].to_pylist() for name in ("text", "label")), strict=True))
    parts = [rows[:100], [], rows[100::2], rows[101::2]]
    df = spark.createDataFrame(
        spark.sparkContext.parallelize(parts, len(parts)).flatMap(lambda part: part),
        "text string, label string",
    )
    learner, steps = SoftmaxLearner(C=0.01), []
    observer = textodds.Observer()
    observer.step = lambda step, gap: steps.append((step, gap))
    found = trained_there(df, learner=learner, ngrams=(1, 1), observer=observer)
    alike(found, trained_here(table, learner=learner, ngrams=(1, 1)), table)
    assert [step for step, _ in steps] == list(range(1, found.info["fit"]["steps"] + 1))
    assert steps[-1][1] == found.info["fit"]["gap"]


def test_a_penalty_that_is_not_given_is_chosen_on_held_out_texts(frames, two):
    found = trained_there(frames[2], learner="softmax", ngrams=(1, 1))
    C = found.info["fit"]["C"]
    assert found.recipe.learner == SoftmaxLearner(C=C)
    expected = trained_here(two, learner=SoftmaxLearner(C=C), ngrams=(1, 1))
    assert found.info["fit"]["objective"] == pytest.approx(expected.info["fit"]["objective"], rel=1e-4)
    usual = trained_here(two, learner="softmax", ngrams=(1, 1))
    assert usual.info["fit"]["C"] / 40 < C < usual.info["fit"]["C"] * 40
    assert len(found.held_out) >= 100  # it says how it does on texts that it did not learn
    assert found.info["left_out"]["folds"]
    assert found.info["left_out"]["accuracy"] == pytest.approx(usual.info["left_out"]["accuracy"], abs=0.1)


def test_features_that_are_left_open_are_chosen(frames, two):
    seen = []
    choices = {"learner": ["nb-softmax"], "features": ["words", "pairs"]}
    observer = textodds.Observer()
    observer.candidate = lambda name, *rest: seen.append(name)
    found = trained_there(frames[2], **choices, observer=observer)
    assert len(set(seen)) >= 2
    assert {trial["name"] for trial in found.info["chosen"]["tried"]} >= set(seen)
    assert found.info["fit"]["converged"]
    recipe = found.recipe
    assert recipe.learner.form == "scaled"
    given = {"learner": replace(recipe.learner, tolerance=1e-4), "settings": recipe.settings}
    expected = trained_here(two, **given, weighting=recipe.weighting, min_df=recipe.selection.min_df)
    least = expected.info["fit"]["objective"]
    assert -1e-4 <= found.info["fit"]["objective"] / least - 1 <= 1.01 * recipe.learner.tolerance


def test_auto_chooses_among_learners(frames, two):
    found = trained_there(frames[2], learner="auto", budget=20)
    tried = found.info["chosen"]["tried"]
    assert len(tried) > 3
    assert found.evaluate(two).accuracy > 0.8
    assert found.info["documents"] == len(two)


def test_too_few_passes_are_told(frames):
    with pytest.warns(
        NotConverged, match=r"not converged after 2 passes: a relative gap of .* 1e-09 was asked"
    ):
        found = trained_there(
            frames[2], learner=SoftmaxLearner(C=1.0, tolerance=1e-9, max_epochs=2), ngrams=(1, 1)
        )
    assert not found.info["fit"]["converged"]
    assert found.info["fit"]["gap"] > 1e-9


def test_a_class_without_weight_is_as_on_one_machine(frames, table):
    learner = SoftmaxLearner(C=0.1, class_weight={"home": 0.0})
    found = trained_there(frames[3], learner=learner, ngrams=(1, 1))
    expected = trained_here(table, learner=learner, ngrams=(1, 1))
    assert found.classes_ == expected.classes_
