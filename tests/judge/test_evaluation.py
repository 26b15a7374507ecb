"""Measures equal scikit-learn's, intervals cover what they should."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics

import textodds
from pairs import together
from textodds.errors import InputError, NoData
from textodds.judge.evaluation import evaluate, macro_f1, wilson
from textodds.learn.forms.linear import log_softmax


def scored(labels, classes, seed=0, sharpness=1.0, batches=1):
    """Batches of labels and random log-posteriors that lean to the truth."""
    random = np.random.default_rng(seed)
    scores = random.normal(0, 1, (len(labels), len(classes)))
    for i, label in enumerate(labels):
        if label in classes:
            scores[i, classes.index(label)] += sharpness
    evidence = np.stack([np.arange(len(labels)) % 5, np.full(len(labels), 5)], axis=1).astype(np.uint32)
    posterior = log_softmax(scores)
    cuts = np.array_split(np.arange(len(labels)), batches)
    return posterior, [([labels[i] for i in cut], posterior[cut], evidence[cut]) for cut in cuts]


@together
@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("batches", [1, 4])
def test_measures_are_those_of_scikit_learn(classes, batches):
    names = [f"c{k}" for k in range(classes)]
    labels = np.random.default_rng(1).choice(names, 300).tolist()
    posterior, parts = scored(labels, names, batches=batches)
    predicted = [names[k] for k in posterior.argmax(axis=1)]
    got = evaluate(parts, names)
    assert got.n == 300
    assert got.accuracy == pytest.approx(metrics.accuracy_score(labels, predicted), rel=1e-12)
    assert got.macro_f1 == pytest.approx(metrics.f1_score(labels, predicted, average="macro"), rel=1e-12)
    assert got.log_loss == pytest.approx(metrics.log_loss(labels, np.exp(posterior), labels=names), rel=1e-12)
    assert got.no_evidence == 60
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(labels, predicted, labels=names)
    for k, name in enumerate(names):
        expected = {"precision": precision[k], "recall": recall[k], "f1": f1[k], "rows": rows[k]}
        assert got.by_class()[name] == pytest.approx(expected, rel=1e-12)
    confusion = metrics.confusion_matrix(labels, predicted, labels=names)
    for a, b in np.ndindex(classes, classes):
        assert got.confusion.get((names[a], names[b]), 0) == confusion[a, b]


@given(pairs=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abc")), min_size=1, max_size=30))
def test_macro_f1_is_that_of_scikit_learn_whatever_is_missing(pairs):
    confusion = {}
    for pair in pairs:
        confusion[pair] = confusion.get(pair, 0) + 1
    truth, answers = zip(*pairs, strict=True)
    expected = metrics.f1_score(truth, answers, average="macro", zero_division=0.0)
    assert macro_f1(confusion, np.array([list(confusion.values())])) == [pytest.approx(expected, rel=1e-12)]


@together
@pytest.mark.parametrize("n", [1, 2, 10, 100, 100_000])
def test_the_interval_of_the_accuracy_is_wilsons(n):
    for right in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        expected = binomtest(right, n).proportion_ci(0.95, method="wilson")
        np.testing.assert_allclose(wilson(right, n), (expected.low, expected.high), rtol=0, atol=1e-12)


def test_intervals_hold_their_measure():
    names = ["a", "b", "c"]
    labels = names * 60
    got = evaluate(scored(labels, names)[1], names)
    for measure in ("accuracy", "macro_f1", "log_loss"):
        low, high = getattr(got, f"{measure}_interval")
        assert low < getattr(got, measure) < high


def test_the_interval_of_the_log_loss_is_the_normal_one():
    names = ["a", "b"]
    labels = names * 100
    posterior, parts = scored(labels, names)
    losses = -posterior[np.arange(200), [names.index(label) for label in labels]]
    half = 1.959963984540054 * losses.std() / math.sqrt(200)
    expected = (losses.mean() - half, losses.mean() + half)
    np.testing.assert_allclose(evaluate(parts, names).log_loss_interval, expected, rtol=1e-9)


@pytest.mark.slow
def test_bootstrap_intervals_cover_the_truth_about_as_often_as_they_say():
    """Data drawn 200 times from a known confusion: the interval should hold the true macro-F1 in 95 %."""
    truth = {("a", "a"): 0.3, ("a", "b"): 0.1, ("b", "a"): 0.15, ("b", "b"): 0.45}
    expected = macro_f1(truth, np.array([list(truth.values())]))[0]
    random, covered = np.random.default_rng(0), 0
    for _ in range(200):
        draw = random.multinomial(150, list(truth.values()))
        labels = [a for (a, _), rows in zip(truth, draw, strict=True) for _ in range(rows)]
        answers = [b for (_, b), rows in zip(truth, draw, strict=True) for _ in range(rows)]
        posterior = np.log(np.where(np.array(answers)[:, None] == ["a", "b"], 0.9, 0.1))
        low, high = evaluate(
            [(labels, posterior, np.ones((150, 2), np.uint32))], ["a", "b"]
        ).macro_f1_interval
        covered += low <= expected <= high
    assert 0.90 <= covered / 200 <= 0.99


def test_labels_the_model_does_not_have_are_wrong_and_have_no_log_loss():
    names = ["a", "b"]
    labels = ["a", "b", "eggs", "a", "eggs", "toast"]
    posterior, parts = scored(labels, names, sharpness=9)
    got = evaluate(parts, names)
    assert got.unknown_labels == {"eggs": 2, "toast": 1}
    assert got.accuracy == 0.5
    known = -posterior[[0, 1, 3], [0, 1, 0]]
    assert got.log_loss == pytest.approx(known.mean(), rel=1e-12)
    assert set(got.labels) == {"a", "b", "eggs", "toast"}
    assert got.by_class()["toast"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "rows": 1}


def test_only_labels_the_model_does_not_have_give_no_log_loss():
    got = evaluate(scored(["eggs", "eggs"], ["a", "b"])[1], ["a", "b"])
    assert math.isnan(got.log_loss)
    assert got.accuracy == 0.0


def test_nothing_to_evaluate_on_is_an_error():
    with pytest.raises(NoData, match="no rows"):
        evaluate([], ["a", "b"])


def test_an_evaluation_is_plain_data():
    plain = evaluate(scored(["a", "b", "b"], ["a", "b"])[1], ["a", "b"]).as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert sum(cell["rows"] for cell in plain["confusion"]) == 3


def test_the_same_rows_give_the_same_intervals_in_any_order():
    names = ["a", "b", "c"]
    labels = np.random.default_rng(2).choice(names, 100).tolist()
    _, ((rows, posterior, evidence),) = scored(labels, names)
    order = np.random.default_rng(3).permutation(100)
    one = evaluate([(rows, posterior, evidence)], names)
    other = evaluate([([rows[i] for i in order], posterior[order], evidence[order])], names)
    assert one.accuracy_interval == other.accuracy_interval
    assert one.macro_f1_interval == pytest.approx(other.macro_f1_interval, abs=1e-12)


def test_a_model_evaluates_itself_as_its_predictions_say():
    texts = ["win a free phone", "see you at six", "free prize", "lunch at noon", "zzz"]
    labels = ["spam", "ham", "spam", "ham", "spam"]
    model = textodds.train(texts[:4], labels[:4])
    got = model.evaluate(texts, labels)
    assert got.accuracy == metrics.accuracy_score(labels, model.predict(texts))
    assert got.log_loss == pytest.approx(metrics.log_loss(labels, model.predict_proba(texts)), rel=1e-12)
    assert got.no_evidence == 1
    by_batches = model.evaluate(iter(zip(texts, labels, strict=True)))
    assert by_batches == got


def test_texts_without_labels_cannot_be_evaluated():
    model = textodds.train(["a", "b"], ["x", "y"])
    with pytest.raises(InputError):
        model.evaluate(["a", "b"])


def test_an_impossible_truth_has_a_finite_loss():
    model = textodds.train(["a", "b"], ["x", "y"], learner=textodds.MultinomialNB(alpha=0))
    got = model.evaluate(["a"], ["y"])
    assert math.isfinite(got.log_loss)
    assert got.log_loss > 100


def test_the_calibration_error_is_the_mean_distance_between_what_was_said_and_what_was_right():
    said = np.array([0.99, 0.99, 0.6, 0.6])
    log_posterior = np.log(np.stack([said, 1 - said], axis=1))
    found = evaluate([(["a", "a", "a", "b"], log_posterior, np.ones((4, 2), np.uint32))], ("a", "b"))
    assert found.reliability == ((2, pytest.approx(0.6), 0.5), (2, pytest.approx(0.99), 1.0))
    assert found.calibration_error == pytest.approx((2 * 0.1 + 2 * 0.01) / 4)
    assert found.as_dict()["calibration_error"] == found.calibration_error


def test_bins_of_batches_are_those_of_all_rows():
    random = np.random.default_rng(0)
    log_posterior = log_softmax(random.normal(size=(200, 3)))
    labels = [f"c{k}" for k in random.integers(0, 3, 200)]
    classes, evidence = ("c0", "c1", "c2"), np.ones((200, 2), np.uint32)
    whole = evaluate([(labels, log_posterior, evidence)], classes)
    parts = evaluate(
        [(labels[i : i + 7], log_posterior[i : i + 7], evidence[i : i + 7]) for i in range(0, 200, 7)],
        classes,
    )
    assert sum(rows for rows, _, _ in whole.reliability) == 200
    np.testing.assert_allclose(np.array(whole.reliability), np.array(parts.reliability), rtol=1e-12)
