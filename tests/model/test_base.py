"""What models of texts and of tables do alike."""

import numpy as np
import pytest

import textodds
from textodds.errors import InputError, Unsupported
from textodds.learn.forms.linear import log_softmax

TEXTS = ["free prize", "free phone", "see you", "at six"] * 60
LABELS = [*["spam", "spam", "ham", "ham"] * 50, *["spam", "ham", "ham", "spam"] * 10]
ROWS = [{"size": i % 7 + 3.0 * (i % 2), "colour": "red" if i % 3 else "blue"} for i in range(120)]
CODES = ["ab"[i % 2] for i in range(120)]


@pytest.fixture(params=["texts", "tables"])
def case(request):
    """A model with a calibration, data of its kind, and labels."""
    if request.param == "texts":
        return textodds.train(TEXTS, LABELS, learner="multinomial", calibrate=True), TEXTS, LABELS
    return textodds.train(ROWS, CODES, learner="mixed"), ROWS, CODES


def test_without_calibration_answers_are_bayes_rule(case):
    model, data, _ = case
    plain = model.predict_proba(data, calibrate=False)
    np.testing.assert_allclose(plain, np.exp(log_softmax(model.log_joint(data))), rtol=1e-12)
    assert not np.allclose(plain, model.predict_proba(data))


def test_without_calibration_an_explanation_adds_up_to_bayes_rule(case):
    model, data, _ = case
    for calibrate in (True, False):
        why = model.explain(data[0], calibrate=calibrate)
        a, b = (model.classes_.index(name) for name in (why.label, why.rival))
        log_proba = model.predict_log_proba(data[:1], calibrate=calibrate)[0]
        assert why.log_odds == pytest.approx(log_proba[a] - log_proba[b])


def test_learning_and_forgetting_say_how_many(case):
    model, data, labels = case
    before = model.predict_proba(data)
    assert model.learn(data[:3], labels[:3]) == 3
    assert model.learn(data[0], labels[0]) == 1
    assert model.learn(data[:4:2], labels[0]) == 2  # one label for all
    assert model.forget(data[:4:2], labels[0]) == 2
    assert model.forget([data[0], *data[:3]], [labels[0], *labels[:3]]) == 4
    np.testing.assert_allclose(model.predict_proba(data), before, rtol=1e-9)


def test_a_label_cannot_be_its_own_rival(case):
    model, data, _ = case
    label = model.classes_[0]
    with pytest.raises(InputError, match="cannot be its own rival"):
        model.explain(data[0], label, label)
    with pytest.raises(InputError, match="is the answer"):
        model.explain(data[0], rival=model.predict(data[:1])[0])


def test_ids_are_kept_of_texts_alone(case):
    model, data, labels = case
    if model.keeps_ids:
        assert model.learn(data[:2], labels[:2], ids=["m1", "m2"]) == 2
        assert model.learn(data[:2], labels[:2], ids=["m1", "m3"]) == 1
    else:
        with pytest.raises(Unsupported, match="ids are kept of texts"):
            model.learn(data[:2], labels[:2], ids=["m1", "m2"])


def test_a_model_of_a_table_is_its_counts(case, tmp_path):
    model = case[0]
    assert model.has_counts
    if model.kind == "texts":
        model.save(tmp_path / "m", counts=False)
        assert not textodds.load(tmp_path / "m").has_counts
    else:
        with pytest.raises(InputError, match="a model of a table is its counts"):
            model.save(tmp_path / "m", counts=False)
