"""Evaluations in parts: sums that were taken apart merge to those of all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from textodds.errors import NoData
from textodds.judge.evaluation import EvaluationSums, evaluate
from textodds.learn.forms.linear import log_softmax

CLASSES = ("a", "b", "c")


def scored(labels, seed):
    """Labels, log-posteriors that lean to them, and evidence, a third of which is none."""
    random = np.random.default_rng(seed)
    scores = random.normal(0, 1, (len(labels), len(CLASSES)))
    for i, label in enumerate(labels):
        if label in CLASSES:
            scores[i, CLASSES.index(label)] += 1
    evidence = np.stack([random.integers(0, 3, len(labels)), np.full(len(labels), 5)], axis=1)
    return labels, log_softmax(scores), evidence.astype(np.uint32)


def measured(batches):
    measuring = EvaluationSums(CLASSES)
    for batch in batches:
        measuring.add(*batch)
    return measuring


labels = st.lists(st.sampled_from(["a", "b", "c", "unknown"]), min_size=1, max_size=20)


@given(parts=st.lists(labels, max_size=5), data=st.data())
def test_parts_merge_to_the_whole_in_any_order(parts, data):
    batches = [scored(part, seed) for seed, part in enumerate(parts)]
    whole, total = measured(batches), EvaluationSums(CLASSES)
    for batch in data.draw(st.permutations(batches)):
        total.merge(measured([batch]))
    for name in ("n", "no_evidence", "known", "confusion"):
        assert getattr(total, name) == getattr(whole, name)
    for name in ("loss", "squares", "bins"):  # equal, but for the order in which they were added up
        np.testing.assert_allclose(getattr(total, name), getattr(whole, name), rtol=1e-12)


# zero comes to it so (evaluate(..., left_out=True))
def test_a_batch_without_rows_adds_nothing():
    total = measured([scored(["a", "b"], 0)])
    before = total.finish()
    total.add(*scored([], 0))
    assert total.finish() == before


def test_what_is_merged_is_left_as_it_was():
    left, right = measured([scored(["a", "b"], 0)]), measured([scored(["a", "c", "c"], 1)])
    before = right.finish()
    left.merge(right)
    left.merge(right)
    assert left.n == 2 + 3 + 3
    assert right.finish() == before
    right.add(*scored(["b"], 2))
    assert left.n == 8


def test_a_merged_evaluation_is_that_of_scikit_learn():
    names = np.random.default_rng(3).choice(CLASSES, 400).tolist()
    batches = [scored(names[i : i + 90], i) for i in range(0, 400, 90)]
    total = EvaluationSums(CLASSES)
    for batch in batches:
        total.merge(measured([batch]))
    got, whole = total.finish(), evaluate(batches, CLASSES)
    assert got.confusion == whole.confusion
    assert (got.accuracy_interval, got.macro_f1_interval) == (
        whole.accuracy_interval,
        whole.macro_f1_interval,
    )
    assert got.calibration_error == pytest.approx(whole.calibration_error, rel=1e-12)
    np.testing.assert_allclose(np.array(got.reliability), np.array(whole.reliability), rtol=1e-12)
    posterior = np.concatenate([part for _, part, _ in batches])
    answers = [CLASSES[k] for k in posterior.argmax(axis=1)]
    assert got.n == 400
    assert got.accuracy == pytest.approx(metrics.accuracy_score(names, answers))
    assert got.macro_f1 == pytest.approx(metrics.f1_score(names, answers, average="macro"))
    assert got.log_loss == pytest.approx(metrics.log_loss(names, np.exp(posterior), labels=CLASSES))
    losses = -posterior[np.arange(400), [CLASSES.index(name) for name in names]]
    error = 1.959964 * losses.std() / 20
    assert got.log_loss_interval == pytest.approx((losses.mean() - error, losses.mean() + error))
    assert got.no_evidence == sum((evidence[:, 0] == 0).sum() for _, _, evidence in batches)


def test_nothing_merged_with_nothing_is_no_evaluation():
    total = EvaluationSums(CLASSES)
    total.merge(EvaluationSums(CLASSES))
    with pytest.raises(NoData, match="no rows to evaluate on"):
        total.finish()
