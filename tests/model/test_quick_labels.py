"""What a few documents change at once in a model of several labels."""

import copy

import numpy as np
import pytest

import textodds
from textodds.data import Batch
from textodds.data.label_sets import name_of
from textodds.learn.multilabel.odds import sigmoid
from textodds.model.multilabel.quick_labels import QuickLabels, quick_form_of_labels, take_odds
from textodds.model.quick import Recounted

TEXTS = ["crash now", "refund the card", "crash of the card", "see you", "the card now"] * 60
LABELS = [["bug"], ["billing"], ["bug", "billing"], [], ["billing"]] * 60
NOTHING = Batch([], [], None)


@pytest.fixture(scope="module")
def models():
    return {
        name: textodds.train(TEXTS, LABELS, learner=name, ngrams=(1, 1))
        for name in ("softmax", "multinomial")
    }


def batch(*rows):
    return Batch([text for text, _ in rows], [name_of(labels) for _, labels in rows], None)


def test_a_step_is_where_one_document_alone_would_move_each_label(models):
    model = models["softmax"]
    form = quick_form_of_labels(model)
    assert isinstance(form, QuickLabels)
    text = "crash the card please"
    after = form.changed(NOTHING, batch((text, ["billing"])))
    x = model.scorer.rows([text])
    words, values = x.indices.astype(np.int64), x.data
    moved = after.weights - form.weights
    prior = form.form.log_prior + form.form.intercept
    p = sigmoid(prior + values @ after.weights[words])  # at the scores after the step
    truth = np.array([name == "billing" for name in model.class_names], dtype=float)
    assert moved[words] == pytest.approx(form.C * np.outer(values, truth - p), abs=1e-9)
    others = np.setdiff1d(np.arange(len(moved)), words)
    assert not moved[others].any()


def test_forgetting_undoes_learning_and_what_others_read_stays(models):
    form = quick_form_of_labels(models["softmax"])
    before = form.weights.copy()
    row = batch(("crash the card now", []))
    learned = form.changed(NOTHING, row)
    assert np.array_equal(form.weights, before)
    assert not np.allclose(learned.weights, before, atol=1e-3)
    assert learned.changed(row, NOTHING).weights == pytest.approx(before, abs=1e-9)


def test_a_text_without_a_known_word_moves_nothing(models):
    form = quick_form_of_labels(models["softmax"])
    after = form.changed(NOTHING, batch(("zzz", ["bug"])))
    assert np.array_equal(after.weights, form.weights)


def test_a_new_label_stands_between_the_others_as_rare_as_one_document(models):
    form = quick_form_of_labels(models["softmax"])
    after = form.changed(NOTHING, batch(("see the card", ["between"])))
    assert after.form.classes == ("between", "billing", "bug")
    shares = sigmoid(after.form.log_prior)
    assert shares[0] == pytest.approx(1 / 301, rel=0.6)
    assert shares[1:] == pytest.approx(sigmoid(form.form.log_prior))
    assert (after.form.weights.rows(np.arange(len(after.vocabulary)))[:, 0] != 0).any()


def test_counts_are_those_of_the_documents_bit_for_bit(models):
    model = models["multinomial"]
    form = quick_form_of_labels(model)
    assert isinstance(form, Recounted)
    after = form.changed(batch((TEXTS[0], LABELS[0])), batch(("new words", ["new", "bug"]), ("see", [])))
    rest = textodds.train(
        [*TEXTS[1:], "new words", "see"],
        [*LABELS[1:], ["new", "bug"], []],
        learner="multinomial:alpha=1",
        ngrams=(1, 1),
    )
    if model.recipe.learner.alpha == 1:
        numbers = np.arange(len(rest.vocabulary))
        assert np.array_equal(after.form.weights.rows(numbers), rest.form.weights.rows(numbers))
    assert after.form.classes == rest.class_names
    assert after.vocabulary.words() == rest.vocabulary.words()


def test_calibration_and_thresholds_are_kept_by_label(models):
    last, model = models["multinomial"], copy.copy(models["multinomial"])
    model.learn("new words", ["new"])
    model._is_behind = False
    take_odds(model, last)
    at = [model.class_names.index(name) for name in last.class_names]
    assert np.array_equal(model.thresholds[at], last.thresholds)
    assert np.array_equal(model.odds.slopes[at], last.odds.slopes)
    assert model.thresholds[model.class_names.index("new")] == np.median(last.thresholds)
    assert model.held_labels is None
    take_odds(model := copy.copy(last), last)
    assert model.held_labels is last.held_labels
