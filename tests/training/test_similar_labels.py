"""Labels that look alike are pointed out, or joined; new ones are welcome only where that is meant."""

import unicodedata
import warnings

import pytest

import textodds
from textodds.errors import InputError, SimilarLabels

TEXTS = ["refund please", "my invoice", "refund", "a bill", "price list", "an offer"]
LABELS = ["billing", "billing", "BILLING", "billing ", "sales", "sales"]


def test_labels_that_look_alike_are_pointed_out_with_their_counts():
    with pytest.warns(SimilarLabels, match=r"'billing' \(2\), 'BILLING' \(1\), 'billing ' \(1\); join them"):
        model = textodds.train(TEXTS, LABELS, learner="multinomial")
    assert len(model.classes_) == 4


def test_accents_in_another_normal_form_look_alike():
    café = unicodedata.normalize("NFC", "café"), unicodedata.normalize("NFD", "café")
    with pytest.warns(SimilarLabels, match=r"cafe\\u0301.*caf\\xe9"):
        textodds.train(["a", "b", "c"], [*café, "tea"], learner="multinomial")


def test_labels_of_a_table_are_pointed_out_too():
    with pytest.warns(SimilarLabels):
        textodds.train({"size": [1.0, 2.0, 3.0, 4.0]}, ["a", "A", "b", "b"])
    table = textodds.train({"size": [1.0, 2.0, 3.0, 4.0]}, ["a", "A", "a", "b"], clean_labels=True)
    assert table.classes_ == ("a", "b")


def test_labels_that_differ_are_not_pointed_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        textodds.train(["a", "b"], ["resume", "résumé"])


def test_cleaned_labels_are_the_most_frequent_spelling_and_stay_so(tmp_path):
    model = textodds.train(TEXTS, LABELS, learner="multinomial", clean_labels=True)
    plain = [label.strip().lower() for label in LABELS]
    assert model.classes_ == ("billing", "sales")
    assert model.tally == textodds.train(TEXTS, plain, learner="multinomial").tally
    model.save(tmp_path / "m")
    again = textodds.load(tmp_path / "m")
    assert again.evaluate(TEXTS, LABELS).unknown_labels == {}
    again.learn("another bill", " Billing")
    again.forget("an offer", "SALES")
    assert again.class_documents == {"billing": 5, "sales": 1}


def test_what_can_be_read_but_once_cannot_be_cleaned():
    with pytest.raises(InputError, match="can be read only once, and labels are counted before"):
        textodds.train(zip(TEXTS, LABELS, strict=True), clean_labels=True)


def test_new_classes_are_learned_unless_they_are_not_meant():
    model = textodds.train(TEXTS, [label.strip().lower() for label in LABELS], learner="multinomial")
    with pytest.raises(InputError, match="no class `biling`; did you mean `billing`"):
        model.learn("a bill", "biling", new_class=False)
    assert model.classes_ == ("billing", "sales")
    with pytest.warns(SimilarLabels, match=r"'billing' \(4\), 'Billing' \(0\)"):
        model.learn("a bill", "Billing")
    assert model.learn("a screw", "hardware") == 1


def test_rows_with_labels_that_the_model_does_not_have_are_counted_and_said():
    model = textodds.train(["free", "see"], ["spam", "ham"], learner="multinomial")
    known = model.evaluate(["free", "see"], ["spam", "ham"])
    found = model.evaluate(["free", "see", "egg", "egg"], ["spam", "ham", "eggs", "eggs"])
    assert (found.n, found.accuracy, found.unknown_labels) == (4, 0.5, {"eggs": 2})
    assert found.log_loss == known.log_loss
    said = (
        "rows with labels that the model does not have (eggs): 2, wrong in accuracy, left out of the log-loss"
    )
    assert said in repr(found)


def test_an_evaluation_points_out_labels_in_another_spelling():
    model = textodds.train(["free", "see"], ["spam", "ham"], learner="multinomial")
    found = model.evaluate(["free", "see", "free", "egg"], ["SPAM", "ham", "spam ", "eggs"])
    said = (
        "2 rows have labels that the model has in another spelling: 'SPAM' (1); 'spam ' (1); correct them, "
        "or train with `--clean-labels` (clean_labels=True)"
    )
    assert said in found.warnings()
    assert f"warning: {said}" in repr(found)
    assert "spelling" not in repr(model.evaluate(["free", "egg"], ["spam", "eggs"]))
    cleaned = textodds.train(["free", "see"], ["spam", "ham"], learner="multinomial", clean_labels=True)
    assert cleaned.evaluate(["free", "see"], ["SPAM", "ham "]).accuracy == 1.0
