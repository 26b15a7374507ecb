"""The report of several labels a text says what was measured, and which labels go wrong together."""

import numpy as np
import pytest
from sklearn import metrics

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")

import textodds
from label_texts import LABELS, label_texts
from textodds.study.report.label_data import MISTAKES, measured_labels
from textodds.study.report.label_page import label_measures, label_page

from .pages import harmless

pytestmark = pytest.mark.slow

TEXTS, SETS = label_texts(400)
NEW, TRUE = label_texts(300, seed=5)
NASTY = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def model():
    return textodds.train(TEXTS, SETS, learner="multinomial")


@pytest.fixture(scope="module")
def found(model):
    return measured_labels(model, model.read(NEW, TRUE, labelled=True))


def matrix(sets):
    return np.array([[label in row for label in LABELS] for row in sets])


def test_the_page_says_what_was_measured(model, found):
    evaluation, gathered = found
    page = label_page(model, evaluation, gathered, called="tickets", data="new.csv", more=[("file", "9 kB")])
    text = harmless(page).text()
    assert "How good is tickets?" in text
    assert "Measured on 300 texts of new.csv , with 4 labels" in text
    for name, value, (low, high) in evaluation.rows():
        assert f"{name} {value:.4f} {low:.4f}–{high:.4f}" in text
    for label, threshold in zip(model.class_names, model.thresholds, strict=True):
        row = evaluation.by_label[label]
        assert f"{label} {row['rows']:.0f} {row['given']:.0f} {threshold:.3f}" in text
    assert "file 9 kB" in text
    assert "goal of the thresholds f1" in text
    assert page == label_page(
        model, evaluation, gathered, called="tickets", data="new.csv", more=[("file", "9 kB")]
    )


def test_the_pass_measures_what_evaluate_does(model, found):
    assert repr(found[0]) == repr(model.evaluate(NEW, TRUE))
    assert harmless(textodds.evaluation_report(model, NEW, TRUE)).text()


def test_average_precision_and_f1_are_those_of_scikit_learn(model, found):
    evaluation, gathered = found
    truth, p = matrix(TRUE), model.predict_proba(NEW)
    scores = np.round(np.log(p) - np.log1p(-p), 9)
    for k, label in enumerate(LABELS):
        expected = metrics.average_precision_score(truth[:, k], scores[:, k])
        assert gathered.of_label[label].average_precision == pytest.approx(expected, rel=1e-9)
    given = model.given(p)
    by_label = {each.label: each for each in label_measures(evaluation)}
    for k, label in enumerate(LABELS):
        assert by_label[label].f1[0] == pytest.approx(metrics.f1_score(truth[:, k], given[:, k]))


def test_labels_that_go_wrong_together_are_counted(model, found):
    truth, given = matrix(TRUE), model.given(model.predict_proba(NEW))
    missed, false = (truth & ~given).astype(int), (given & ~truth).astype(int)
    instead, beside = missed.T @ false, truth.astype(int).T @ false
    assert instead.sum() > 0
    for i, first in enumerate(LABELS):
        for j, second in enumerate(LABELS):
            assert found[1].instead[first, second] == instead[i, j]
            assert found[1].beside[first, second] == beside[i, j]


def test_the_surest_mistakes_are_kept_with_their_rows_and_explained(model, found):
    truth, p = matrix(TRUE), model.predict_proba(NEW)
    given = model.given(p)
    for kept, wrong in ((found[1].false, given & ~truth), (found[1].missed, truth & ~given)):
        assert len(kept) == min(MISTAKES, wrong.sum())
        for mistake in kept:
            name = mistake.answer.removeprefix("not ")
            assert wrong[mistake.row - 1, LABELS.index(name)]
            assert mistake.given == NEW[mistake.row - 1]
    text = harmless(label_page(model, *found)).text()
    assert f"predicted {found[1].false[0].answer}" in text
    assert "true label not" in text


def test_a_perfect_model_many_labels_and_no_labels_have_a_page(model):
    given = [list(row) for row in model.predict(NEW)]
    text = harmless(textodds.evaluation_report(model, NEW, given)).text()
    assert "No label is given wrongly beside another" in text
    text = harmless(textodds.evaluation_report(model, NEW[:5], [[]] * 5)).text()
    assert "Measured on 5 texts" in text


def test_of_very_many_labels_no_curves_are_drawn():
    many = [[f"label {n % 120:03}", f"other {n % 7:03}"] for n in range(480)]
    texts = [" ".join(label.replace(" ", "") for label in row) + f" n{n % 5}" for n, row in enumerate(many)]
    wide = textodds.train(texts, many, learner="multinomial")
    text = harmless(textodds.evaluation_report(wide, texts, many)).text()
    assert "All 127 labels" in text
    assert "Precision-recall curves" not in text


def test_markup_in_texts_and_labels_is_shown_and_not_run():
    model = textodds.train([NASTY, "see you", "both"], [[NASTY], ["שלום"], [NASTY, "שלום"]])
    text = harmless(
        textodds.evaluation_report(
            model, [f"{NASTY} you", "see both"], [["שלום"], [NASTY, "new"]], called=NASTY
        )
    ).text()
    assert NASTY in text
    assert "Labels that the model does not have" in text
