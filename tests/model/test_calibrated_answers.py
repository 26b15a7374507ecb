"""Calibrated answers: no word gives the prior, and there is one boundary for all who ask."""

import numpy as np
import pytest

import textodds
from pairs import together
from textodds import softmax_parameters
from textodds.errors import InputError
from textodds.interop.full_matrix import weights_and_bias

WORDS = {"spam": "free prize win phone now claim".split(), "ham": "see you at six lunch home".split()}
LEARNERS = ["multinomial", "multinomial:binary", "multinomial:alpha=auto", "complement"]


def texts_and_labels(n=300, classes=("ham", "spam"), seed=0):
    """Texts of words that repeat, one class being longer and rarer than the others."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        label = classes[
            int(random.random() < 0.3) if len(classes) == 2 else int(random.integers(len(classes)))
        ]
        own = WORDS.get(label, [f"{label}{i}" for i in range(5)])
        size = int(random.integers(1, 8)) * (3 if label == "spam" else 1)
        pool = own * 2 + WORDS["ham"] + WORDS["spam"]
        texts.append(" ".join(pool[i] for i in random.integers(0, len(pool), size)))
        labels.append(label)
    return texts, labels


def probabilities(model, text):
    return np.array(list(model(text).probabilities.values()))


@together
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("text", ["", "qwertz", "!?"])
def test_a_text_without_a_known_word_gives_the_prior(learner, text):
    model = textodds.train(*texts_and_labels(), learner=learner)
    assert model.calibration is not None
    prior = np.exp(model.form.log_prior) / np.exp(model.form.log_prior).sum()
    np.testing.assert_allclose(probabilities(model, text), prior, rtol=1e-14)
    np.testing.assert_allclose(model.predict_proba([text])[0], prior, rtol=1e-14)
    np.testing.assert_allclose(
        probabilities(model.with_prior("uniform"), text) if learner != "complement" else 0.5, 0.5, rtol=1e-14
    )


@together
@pytest.mark.parametrize("learner", [*LEARNERS, "bernoulli"])
@pytest.mark.parametrize("classes", [("ham", "spam"), tuple(f"c{i:02}" for i in range(12))], ids=len)
def test_predict_the_form_the_hyperplane_and_the_export_have_one_boundary(learner, classes):
    texts, labels = texts_and_labels(400, classes)
    model = textodds.train(texts, labels, learner=learner, min_df=2)
    assert model.calibration is not None
    texts = [*texts[:50], "", "free", "see see see"]
    log_p = model.predict_log_proba(texts)
    rows = model.rows(texts)
    np.testing.assert_allclose(model.calibrated_form.log_posterior(rows), log_p, atol=1e-9)
    if model.form.presence:
        rows = (rows > 0).astype(float)
    weights, bias = weights_and_bias(model)
    by_matrix = rows @ weights + bias
    np.testing.assert_allclose(by_matrix - by_matrix[:, :1], log_p - log_p[:, :1], atol=1e-9)
    softmax, start = softmax_parameters(model.calibrated_form, classes[0])
    np.testing.assert_allclose(rows @ softmax + start, log_p - log_p[:, :1], atol=1e-9)
    plane = model.hyperplane(classes[1], classes[0], n=None)
    weight = dict(plane.words)
    column = np.array([weight[word] for word in model.vocabulary.words()])
    np.testing.assert_allclose(rows @ column + plane.bias, log_p[:, 1] - log_p[:, 0], atol=1e-9)
    why = model.explain("free", classes[1], classes[0])
    for word, _, odds in why.words:
        assert odds == pytest.approx(weight[word], abs=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_calibrated_model_comes_back_from_a_file_with_the_same_answers(learner, tmp_path):
    texts, labels = texts_and_labels()
    model = textodds.train(texts, labels, learner=learner)
    assert np.any(model.calibration.rate)
    model.save(tmp_path / "model")
    again = textodds.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    np.testing.assert_allclose(probabilities(again, texts[0]), model.predict_proba(texts[:1])[0], rtol=1e-12)


def test_a_model_of_very_many_classes_from_a_file_answers_one_text(tmp_path):
    """It has one bias for all, which came back as a list of one."""
    names = tuple(f"c{i:03}" for i in range(301))
    texts = [f"{name} word" for name in names for _ in range(2)]
    model = textodds.train(texts, [name for name in names for _ in range(2)], learner="multinomial")
    assert np.ndim(model.calibration.rate) == 0
    model.save(tmp_path / "model")
    assert textodds.load(tmp_path / "model")("c007 word").label == "c007"


@pytest.mark.parametrize("unknown", ["smooth", "first"])
def test_where_unknown_words_count_training_says_that_it_does_not_calibrate(unknown):
    model = textodds.train(*texts_and_labels(), unknown=unknown)
    assert model.calibration is None
    assert f"unknown={unknown}" in model.info["uncalibrated"]


def test_counted_unknown_words_are_not_calibrated_either():
    model = textodds.train(*texts_and_labels(), unknown="count", vocabulary=["free", "see"])
    assert "unknown=count" in model.info["uncalibrated"]


def test_without_smoothing_probabilities_are_those_of_bayes_rule_and_it_is_said():
    texts, labels = texts_and_labels()
    model = textodds.train([*texts, "only here"], [*labels, "spam"], learner="multinomial:alpha=0")
    assert model.calibration is None
    assert "alpha=0" in model.info["uncalibrated"]
    assert model("only here").probability == 1.0
    plain = textodds.train(
        [*texts, "only here"], [*labels, "spam"], learner="multinomial:alpha=0", calibrate=False
    )
    np.testing.assert_array_equal(model.predict_proba(texts), plain.predict_proba(texts))
    assert "uncalibrated" not in plain.info


def test_few_texts_are_not_calibrated_and_it_is_said_until_there_are_enough():
    texts, labels = texts_and_labels(150)
    model = textodds.train(texts[:15], labels[:15], learner="multinomial")
    assert model.info["uncalibrated"] == "that takes 16 texts, and 15 can be left out"
    model.learn(texts[15:], labels[15:])
    model.follow()
    assert model.calibration is not None
    assert "uncalibrated" not in model.info


def test_a_damaged_rate_is_refused():
    from textodds.learn.calibration import Calibration

    with pytest.raises(InputError, match="damaged"):
        Calibration.of_dict({"slopes": [1.0], "bias": [0.0], "rate": [1e12, 0.0]})


@pytest.mark.realdata
def test_every_text_of_the_sms_test_set_is_on_the_side_of_the_hyperplane_that_predict_says(real_data):
    train, (texts, _) = real_data("sms_spam")
    model = textodds.train(*train, learner="multinomial")
    plane = model.hyperplane("spam", "ham", n=None)
    weight = dict(plane.words)
    column = np.array([weight[word] for word in model.vocabulary.words()])
    sides = model.rows(texts) @ column + plane.bias
    assert [("ham", "spam")[int(side > 0)] for side in sides] == model.predict(texts).tolist()
    for text in texts[::50]:
        why = model.explain(text, "spam", "ham")
        assert why.log_odds == pytest.approx(float(sides[texts.index(text)]), abs=1e-9)
    prior = np.exp(model.form.log_prior)
    np.testing.assert_allclose(probabilities(model, ""), prior, rtol=1e-14)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "most"), [("sms_spam", 0.05), ("mr", 0.495), ("reuters_r8", 0.25)])
def test_biases_by_word_keep_log_losses_low(name, most, real_data):
    train, test = real_data(name)
    found = textodds.train(*train, learner="multinomial").evaluate(*test)
    assert found.log_loss < most


def test_a_smoothing_is_chosen_for_many_classes():
    """Without a rate for each, while it is chosen."""
    texts = [f"own{i % 40} own{i % 40}b common{i % 7}" for i in range(400)]
    model = textodds.train(
        texts, [f"class {i % 40:02}" for i in range(400)], learner="multinomial:alpha=auto"
    )
    assert len(model.classes_) == 40
    assert model.calibration is not None
    assert model.predict(texts[:40]).tolist() == list(model.classes_)
