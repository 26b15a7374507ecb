"""What only softmax regression has: an optimum, whose gap is proven, of rows that are not counts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import textodds
from model_cases import OF_TEXTS, TIGHT, SoftmaxCase, documents, new_texts
from pairs import pairwise, together
from textodds.errors import InputError, Unsupported
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner
from textodds.text import Weighting

CASES = [case for case in OF_TEXTS if isinstance(case, SoftmaxCase)]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
LEARNERS = {
    "softmax": SoftmaxLearner(C=1.0, tolerance=TIGHT),
    "softmax-weak": SoftmaxLearner(C=50.0, tolerance=TIGHT),
    "softmax-balanced": SoftmaxLearner(alpha=0.01, class_weight="balanced", tolerance=TIGHT),
    "nb-softmax": NBSoftmaxLearner(C=1.0, tolerance=TIGHT),
    "nb-centred": NBSoftmaxLearner(C=0.5, form="centred", tolerance=TIGHT),
}
CLASSES = (2, 7)
SETTINGS = {
    "words": {"ngrams": (1, 1)},
    "ngrams": {"ngrams": (1, 2)},
    "characters": {"ngrams": (1, 1), "characters": (2, 3)},
    "counts": {"ngrams": (1, 1), "weighting": Weighting("count", idf=False, unit=False)},
}
every_learner = pytest.mark.parametrize("learner", LEARNERS)
one_of_each = pytest.mark.parametrize(
    ("learner", "classes"), [(learner, classes) for learner in LEARNERS for classes in CLASSES]
)


def trained(learner, settings, texts, labels, weights=None, **changes):
    """A model of a learner by its name, as it is solved: without calibration."""
    learner = replace(LEARNERS[learner], **changes)
    given = {**SETTINGS[settings], "calibrate": False}
    return textodds.train(list(texts), list(labels), weights, learner=learner, **given)


@cache
def model_of(learner, classes, settings):
    """The model of a learner by its name on the documents; not to be changed."""
    return trained(learner, settings, *documents(classes))


def bias_of(model):
    return model.linear.log_prior + model.linear.intercept


def distance(model):
    """How far the weights may be from the optimum."""
    return CASES[0].distance(model)


@every_case
def test_the_gap_asked_for_is_proven(case):
    fit = case.model.info["fit"]
    assert fit["converged"]
    assert 0 <= fit["gap"] <= TIGHT


@cache
def haunted(learner, classes):
    """A model of pairs of words, trained with a class whose rows weigh nothing beside the others."""
    texts, labels = documents(classes)
    weights = [1.0] * len(texts) + [0.0, 0.0]
    more = ["shared0 own0x0", "ghostly"]
    return trained(learner, "ngrams", [*texts, *more], [*labels, "ghost", "ghost"], weights)


@one_of_each
def test_a_class_whose_rows_weigh_nothing_is_never_chosen(learner, classes):
    model = haunted(learner, classes)
    if "ghost" in model.classes_:
        assert (model.predict_proba(new_texts(classes))[:, model.classes_.index("ghost")] < 1e-9).all()
    assert "ghost" not in model.predict([*new_texts(classes), "ghostly"]).tolist()


@one_of_each
def test_a_class_whose_rows_weigh_nothing_is_never_chosen_under_another_prior(learner, classes):
    model = haunted(learner, classes)
    assert "ghost" not in model.with_prior("uniform").predict([*new_texts(classes), "ghostly"]).tolist()


@together
@one_of_each
def test_a_class_whose_rows_weigh_nothing_changes_no_other(learner, classes):
    plain, beside = model_of(learner, classes, "ngrams"), haunted(learner, classes)
    texts = new_texts(classes)
    others = [k for k, name in enumerate(beside.classes_) if name != "ghost"]
    allowed = 6 * (distance(plain) + distance(beside)) + 1e-9
    assert allowed < 0.02
    np.testing.assert_allclose(
        beside.predict_proba(texts)[:, others], plain.predict_proba(texts), rtol=0, atol=allowed
    )


@together
@every_learner
def test_what_counts_alone_allow_is_refused_with_the_way_out(learner):
    with pytest.raises(Unsupported, match="is not a model of counts") as caught:
        _ = model_of(learner, 2, "words").tally
    assert "train multinomial" in caught.value.hint


@together
@every_case
def test_the_prior_is_that_of_the_data_or_of_balanced_classes(case):
    shares = np.array(list(case.model.class_documents.values()))
    is_balanced = case.learner.class_weight == "balanced"
    expected = np.full(case.classes, 1 / case.classes) if is_balanced else shares / shares.sum()
    np.testing.assert_allclose(np.exp(case.model.linear.log_prior), expected, rtol=1e-12)


@together
@every_case
def test_parameters_sum_to_zero_over_the_classes_and_a_text_without_words_has_the_bias(case):
    weights, bias = case.model.linear.weights.dense, bias_of(case.model)
    np.testing.assert_allclose(weights.sum(axis=1), 0, rtol=0, atol=1e-12 * max(1.0, np.abs(weights).max()))
    assert abs(bias.sum()) <= 1e-10 * max(1.0, np.abs(bias).max())
    np.testing.assert_array_equal(case.model.score([""])[0][0], bias)


@together
@pytest.mark.parametrize("case", [case for case in CASES if not case.learner.naive_bayes], ids=str)
def test_the_gradient_is_zero_at_the_optimum(case):
    """That of the lectures, written out here from the rows and the probabilities."""
    texts, labels = case.rows_and_labels
    model, classes = case.model, case.classes
    fit = model.info["fit"]
    rows, p = model.rows(texts), model.predict_proba(texts, calibrate=False)
    target = np.array([[label == name for name in model.classes_] for label in labels], dtype=float)
    weight = np.ones(len(texts))
    if case.learner.class_weight == "balanced":
        weight = (len(texts) / (classes * target.sum(axis=0)))[target.argmax(axis=1)]
    error = (p - target) * weight[:, None]
    # A function bent by no more than L has ‖∇F‖² ≤ 2 L (F - F*).
    most_bent = 1 / fit["C"] + 0.5 * weight @ (1 + rows.power(2).sum(axis=1))
    allowed = np.sqrt(2 * most_bent * fit["gap"] * fit["objective"]) + 1e-12
    assert allowed < 0.01
    np.testing.assert_allclose(error.sum(axis=0), 0, rtol=0, atol=allowed)
    penalised = model.linear.weights.dense
    if "nb-centred" in case.name:
        penalised = penalised - prior_mean(rows, target, weight)
    if classes == 2:
        penalised = 2 * penalised  # w = w1 - w0 has the penalty
    np.testing.assert_allclose(rows.T @ error + penalised / fit["C"], 0, rtol=0, atol=allowed)


def prior_mean(rows, target, weight):
    """The log-ratios of naive Bayes, by class and centred, (V, K): Wang and Manning's equation 2."""
    seen = (rows > 0).astype(float)
    ours = seen.T @ (target * weight[:, None]) + 1.0
    theirs = (seen.T @ weight)[:, None] - ours + 2.0
    ratios = np.log(ours / ours.sum(axis=0)) - np.log(theirs / theirs.sum(axis=0))
    return ratios / 2 if target.shape[1] == 2 else ratios - ratios.mean(axis=1, keepdims=True)


def coefficients(model):
    """Weights (V, M) and biases (M,) as scikit-learn has them: one column for two classes."""
    weights, bias = model.linear.weights.dense, bias_of(model)
    if len(bias) == 2:
        return weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1]
    return weights, bias - bias.mean()


@pairwise
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("weighting", ["plain", "weights", "balanced", "both", "given"])
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("settings", ["ngrams", "counts"])
def test_models_are_those_of_logistic_regression(C, weighting, classes, settings):
    texts, labels = documents(classes)
    weights = None
    if weighting in ("weights", "both"):
        weights = np.random.default_rng(classes).integers(1, 9, len(texts)) / 2.0
    class_weight = None
    if weighting in ("balanced", "both"):
        class_weight = "balanced"
    elif weighting == "given":
        class_weight = {f"class {k:02}": 0.5 + k for k in range(classes)}
    learner = SoftmaxLearner(C=C, class_weight=class_weight, tolerance=1e-13, max_epochs=1000)
    given = {**SETTINGS[settings], "calibrate": False}
    model = textodds.train(list(texts), list(labels), weights, learner=learner, **given)
    rows = model.rows(list(texts))
    if weighting == "both":  # every class gets the same total of its weights, whatever scikit-learn's version
        totals = {name: weights[[label == name for label in labels]].sum() for name in model.classes_}
        mean = sum(totals.values()) / classes
        weights, class_weight = weights * [mean / totals[label] for label in labels], None
    reference = LogisticRegression(
        C=C, class_weight=class_weight, tol=1e-9, max_iter=20_000, solver="newton-cg"
    )
    reference.fit(rows, labels, weights)
    found, bias = coefficients(model)
    expected = reference.intercept_ if classes == 2 else reference.intercept_ - reference.intercept_.mean()
    np.testing.assert_allclose(found, reference.coef_.T, rtol=0, atol=1e-5)
    np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-5)
    new = new_texts(classes)
    np.testing.assert_allclose(
        model.predict_proba(new), reference.predict_proba(model.rows(new)), rtol=0, atol=1e-6
    )


@pairwise
@pytest.mark.parametrize("settings", ["ngrams", "characters", "counts"])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("classes", CLASSES)
def test_texts_and_their_rows_give_the_same_model(learner, classes, settings):
    texts, labels = documents(classes)
    if learner == "nb-softmax":
        settings = "counts"  # naive Bayes scales words before a row gets its length, which given rows have
    rows = model_of("softmax", classes, settings).rows(list(texts))  # tf-idf, and nothing of naive Bayes
    model = model_of(learner, classes, settings)
    fit = LEARNERS[learner].fit(rows, labels)
    allowed = 6 * (distance(model) + np.sqrt(2 * fit.C * fit.outcome.gap * fit.outcome.value)) + 1e-9
    assert allowed < 0.02
    np.testing.assert_allclose(
        np.exp(fit.model.log_posterior(rows)), model.predict_proba(list(texts)), rtol=0, atol=allowed
    )


@every_learner
def test_one_class_that_counts_is_not_enough(learner):
    with pytest.raises(InputError, match="every row that counts is of one class, `ham`"):
        trained(learner, "words", ["see you", "free phone", "see me"], ["ham", "spam", "ham"], [1, 0, 1])


@every_learner
def test_empty_documents_alone_give_the_shares_of_the_classes(learner):
    changes = {"class_weight": None} if "balanced" in learner else {}
    model = trained(learner, "words", [""] * 4, ["ham", "ham", "ham", "spam"], **changes)
    np.testing.assert_allclose(model.predict_proba(["whatever"])[0], [0.75, 0.25], rtol=1e-9)
