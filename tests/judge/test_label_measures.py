"""Held-out labels measured with thresholds of others, and the shares of labels."""

import numpy as np
import pytest

from textodds.errors import NoData
from textodds.judge.label_evaluation import evaluate_held_labels, evaluate_labels
from textodds.judge.label_shares import label_shares
from textodds.judge.thresholds import Goal


def drawn(n, K=3, seed=0):
    """Calibrated probabilities, and labels drawn by them."""
    random = np.random.default_rng(seed)
    p = random.beta(0.4, 1.2, size=(n, K))
    return p, random.random((n, K)) < p


def test_thresholds_that_do_not_depend_on_data_measure_as_ever():
    p, truth = drawn(500)
    labels = ["a", "b", "c"]
    names = ["\x1e" + "\x1e".join(n for n, there in zip(labels, row, strict=True) if there) for row in truth]
    whole = evaluate_labels([(p, names)], labels, np.full(3, 0.5))
    held = evaluate_held_labels(p, truth, labels, Goal("half"))
    for name in ("micro_f1", "macro_f1", "sample_f1", "log_loss", "ranking_loss"):
        assert held.measures[name][0] == pytest.approx(whole.measures[name][0]), name
    assert held.by_label == whole.by_label


def test_no_text_has_a_part_in_the_thresholds_that_it_is_measured_by():
    random = np.random.default_rng(1)
    p, truth = random.random((400, 200)), random.random((400, 200)) < 0.02  # that know nothing
    fresh = random.random((400, 200)) < 0.02
    labels = [str(k) for k in range(200)]
    held = evaluate_held_labels(p, truth, labels, Goal("macro-f1"))
    other = evaluate_held_labels(p, fresh, labels, Goal("macro-f1"))
    assert held.macro_f1 == pytest.approx(other.macro_f1, abs=0.02)  # no better than of other labels


def test_measures_that_are_shares_have_intervals_within_0_and_1():
    _, truth = drawn(120)
    found = evaluate_held_labels(np.where(truth, 0.99, 0.01), truth, ["a", "b", "c"], Goal("f1"))
    for name, (_, (low, high)) in found.measures.items():
        assert 0 <= low <= high, name
        assert high <= 1 or name == "log_loss", name


def test_the_intervals_of_shares_hold_the_share_of_texts_in_95_percent():
    hits = 0
    for seed in range(200):
        p, truth = drawn(300, K=1, seed=seed)
        held, known = drawn(400, K=1, seed=1000 + seed)
        found = label_shares([p[:100], p[100:]], (held, known))
        ((low, high),) = found.intervals
        hits += low <= truth.mean() <= high
    assert 0.92 <= hits / 200 <= 1.0


def test_no_texts_have_no_shares():
    with pytest.raises(NoData, match="there are no documents"):
        label_shares([])
