"""Explanations add up: of every learner, against one rival and against all others."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from explain_texts import LABELS, TEXTS
from textodds.errors import InputError
from textodds.learn.calibration import Calibration
from textodds.learn.forms.linear import log_softmax
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.text import Weighting

WORDS = sorted({word for text in TEXTS for word in text.replace(",", "").replace("!", "").split()})


def calibrated(slope):
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    model.calibration = Calibration(np.array([slope]), np.array([0.3, -0.5, 0.2]))
    return model


MODELS = {
    "multinomial": textodds.train(TEXTS, LABELS, learner="multinomial", calibrate=False),
    "chosen": textodds.train(TEXTS, LABELS),
    "binary": textodds.train(TEXTS, LABELS, learner=MultinomialLearner(binary=True)),
    "bernoulli": textodds.train(TEXTS, LABELS, learner=BernoulliLearner()),
    "complement": textodds.train(TEXTS, LABELS, learner=ComplementLearner(norm=True)),
    "unknown": textodds.train(TEXTS, LABELS, unknown="first"),
    "hashed": textodds.train(TEXTS, LABELS, hash_bits=4),
    "impossible": textodds.train(TEXTS, LABELS, learner=MultinomialLearner(alpha=0.0)),
    "characters": textodds.train(TEXTS, LABELS, unit="characters", ngrams=(2, 3)),
    "softmax": textodds.train(TEXTS, LABELS, learner="softmax", ngrams=(1, 1)),
    "softmax bigrams": textodds.train(TEXTS, LABELS, learner="softmax", ngrams=(1, 2)),
    "softmax characters": textodds.train(TEXTS, LABELS, learner="softmax", characters=(2, 3), ngrams=(1, 1)),
    "softmax not unit": textodds.train(
        TEXTS, LABELS, learner="softmax", ngrams=(1, 1), weighting=Weighting(unit=False)
    ),
    "lda": textodds.train(TEXTS, LABELS, learner="lda"),
    "calibrated": calibrated(0.4),
    "sharpened": calibrated(2.5),
    "hashed presence": textodds.train(TEXTS, LABELS, hash_bits=3, learner=MultinomialLearner(binary=True)),
    "two classes": textodds.train(TEXTS[:6], LABELS[:6]),
}
QUADRATIC = textodds.train(TEXTS, LABELS, learner="qda")
DIAGONAL = textodds.train(TEXTS, LABELS, learner="gaussian")

said = st.lists(st.sampled_from([*WORDS, "zzz", "Free", "qqq"]), max_size=9).map(" ".join)
models = st.sampled_from(sorted(MODELS)).map(MODELS.__getitem__)


def answered(model, text):
    return model.score([text], calibrate=True)[0][0]


@given(model=models, text=said, data=st.data())
def test_against_a_rival_the_lines_sum_to_the_difference_of_the_scores(model, text, data):
    label, rival = data.draw(st.permutations(model.classes_))[:2]
    scores = dict(zip(model.classes_, answered(model, text), strict=True))
    got = model.explain(text, label, rival)
    size = max(map(abs, scores.values())) + sum(abs(odds) for _, odds in got.lines)
    assert got.log_odds == pytest.approx(scores[label] - scores[rival], abs=1e-12 * size)
    assert sum(odds for _, odds in got.lines) == pytest.approx(got.log_odds, abs=1e-12 * size)
    assert got.remainder == 0


@given(model=models, text=said, data=st.data())
def test_against_the_others_the_lines_sum_to_the_log_odds_of_the_probability(model, text, data):
    label = data.draw(st.sampled_from(model.classes_))
    scores = answered(model, text)
    k = model.classes_.index(label)
    others = np.logaddexp.reduce(np.delete(scores, k))
    got = model.explain(text, label, "others")
    size = np.abs(scores).max() + sum(abs(odds) for _, odds in got.lines)
    assert got.log_odds == pytest.approx(scores[k] - others, abs=1e-12 * size)
    assert got.rival == "others"
    assert -math.log(len(scores) - 1) - 1e-12 <= got.remainder <= 0


@given(model=models, text=said)
def test_the_probability_is_that_of_the_answer(model, text):
    got, answer = model.explain(text), model(text)
    assert (got.label, got.probability) == (answer.label, pytest.approx(answer.probability, rel=1e-12))


def test_the_sum_equals_exact_arithmetic():
    model = MODELS["multinomial"]
    text = "free free prize at the noon report"
    got = model.explain(text, "spam", "ham")
    a, b = model.classes_.index("spam"), model.classes_.index("ham")
    exact = sum(Fraction(float(v[a])) - Fraction(float(v[b])) for v in (model.linear.log_prior,))
    for word in text.split():
        row = model.linear.weights.rows(model.vocabulary.find([word]))[0]
        exact += Fraction(float(row[a])) - Fraction(float(row[b]))
    assert got.log_odds == pytest.approx(float(exact), rel=1e-12)


def test_a_share_against_the_others_is_the_derivative_of_the_log_odds():
    model = MODELS["multinomial"]
    texts = ["free at noon" + " report" * n for n in (0, 1)]
    share = {w.word: w.log_odds for w in model.explain("free at noon report", "ham", "others").words}
    rows = model.rows(texts).toarray()
    step = 1e-6

    def log_odds(row):
        s = model.linear.scores(row[None])[0]
        return s[0] - np.logaddexp.reduce(s[1:])

    change = rows[1] - rows[0]
    slope = (log_odds(rows[1] + step * change) - log_odds(rows[1] - step * change)) / (2 * step)
    assert share["report"] == pytest.approx(slope, rel=1e-6)


def test_with_two_classes_the_others_are_the_other():
    model = MODELS["two classes"]
    one, all_ = model.explain("free at noon"), model.explain("free at noon", rival="others")
    assert all_.remainder == 0
    assert all_.words == one.words
    assert all_.log_odds == one.log_odds


def test_a_class_named_others_is_a_class():
    model = textodds.train(["a", "b", "c"], ["x", "others", "z"])
    got = model.explain("a", "x", "others")
    others, x, _ = model.score(["a"])[0][0]
    assert got.log_odds == pytest.approx(x - others, rel=1e-12)
    assert got.remainder == 0


def test_absent_words_are_one_line_of_a_bernoulli_model_by_hand():
    model = textodds.train(["a", "a b", "b"], ["x", "x", "y"], learner=BernoulliLearner())
    got = model.explain("a", "x", "y")
    # P(a|x) = 3/4, P(b|x) = 2/4; P(a|y) = 1/3, P(b|y) = 2/3
    absent = math.log((1 / 4) * (1 / 2)) - math.log((2 / 3) * (1 / 3))
    assert got.absent == pytest.approx(absent, rel=1e-12)
    assert got.prior == pytest.approx(math.log(2), rel=1e-12)
    assert dict(got.lines)["absent words"] == got.absent
    assert got.words[0].log_odds == pytest.approx(math.log(3) - math.log(1 / 2), rel=1e-12)
    assert "absent words" in str(got)
    assert MODELS["binary"].explain("free").absent is None


def test_why_not_the_answer_is_an_error_that_says_so():
    with pytest.raises(InputError, match="`spam` is the answer"):
        MODELS["multinomial"].explain("free prize", rival="spam")


def test_an_uncalibrated_explanation_is_that_of_the_scores():
    model = MODELS["calibrated"]
    scores = model.score(["free at noon"])[0][0]
    got = model.explain("free at noon", "spam", "ham", calibrate=False)
    assert got.log_odds == pytest.approx(scores[1] - scores[0], rel=1e-12)
    assert got.log_odds != pytest.approx(model.explain("free at noon", "spam", "ham").log_odds, rel=1e-3)


@given(model=st.sampled_from([QUADRATIC, DIAGONAL]), text=said, data=st.data())
def test_shares_of_a_quadratic_model_add_up(model, text, data):
    label, rival = data.draw(st.permutations(model.classes_))[:2]
    scores = dict(zip(model.classes_, model.score([text])[0][0], strict=True))
    got = model.explain(text, label, rival)
    assert got.log_odds == pytest.approx(scores[label] - scores[rival], abs=1e-9)
    p = dict(zip(model.classes_, np.exp(log_softmax(model.score([text])[0][0])), strict=True))[label]
    against_all = model.explain(text, label, "others")
    if 1e-6 < p < 1 - 1e-6:
        assert against_all.log_odds == pytest.approx(math.log(p / (1 - p)), abs=1e-8)


def test_shares_of_a_quadratic_model_are_those_of_its_dense_form():
    from textodds.model.explain.decompose import shares

    form = QUADRATIC.form
    row = QUADRATIC.rows(["free phone at noon"])
    got = shares(form, row.indices, row.data)
    x, V = row.toarray()[0], form.n_features
    for k in range(len(form.classes)):
        B = np.zeros((V, len(form.gaussians.variance[k])))
        B[form.gaussians.words[k]] = form.gaussians.basis[k]
        rest = form.gaussians.rest[k]
        A = np.eye(V) / rest - B @ np.diag(1 / rest - 1 / form.gaussians.variance[k]) @ B.T
        mu = form.gaussians.mean[[k]].toarray()[0]
        np.testing.assert_allclose(got[:, k], (x * (A @ (mu - x / 2)))[row.indices], rtol=1e-9)


def test_shares_of_a_diagonal_covariance_are_those_of_its_dense_form():
    from textodds.model.explain.decompose import shares

    row = DIAGONAL.rows(["free phone at noon"])
    mean, variance = DIAGONAL.form.gaussians.columns(row.indices)
    density = -((row.data[:, None] - mean) ** 2) / (2 * variance)
    got = shares(DIAGONAL.form, row.indices, row.data)
    np.testing.assert_allclose(got, density + mean**2 / (2 * variance), rtol=1e-9)


def test_an_explanation_stays_what_it_is_when_the_model_learns_more():
    model = textodds.train(TEXTS, LABELS)
    got = model.explain("free at noon")
    before = got.flip()
    for _ in range(20):
        model.learn("free", "ham")
    assert model.explain("free at noon").log_odds != got.log_odds
    assert got.flip() == before
