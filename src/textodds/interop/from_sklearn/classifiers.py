"""How a classifier scores a row, as our linear form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from textodds.interop.containers import Rows
from textodds.interop.estimators.count_rows import LEAST_ALPHA
from textodds.interop.from_sklearn.steps import RowTransform, Step, misfit
from textodds.interop.labels import names
from textodds.learn import naive_bayes
from textodds.learn.arrays import Floats
from textodds.learn.conditionals import Bernoulli
from textodds.learn.discriminant import LinearDiscriminantLearner
from textodds.learn.forms.linear import LOG_ZERO, log_softmax
from textodds.learn.registry import Learner, Prior
from textodds.learn.softmax.class_weights import ClassWeight
from textodds.learn.softmax.regression import SoftmaxLearner


@dataclass(frozen=True, eq=False)
class Scores:
    """``log_prior_k + intercept_k + Σ_v x_v w_vk``, and the learner that makes such models here.

    Where the prior is not known (None), the intercept has it in it. A naive Bayes learner is of rows that
    are counts; its smoothing, if one by column, is in the order of the columns.
    """

    classes: tuple[str, ...]  # (K,) in the order of the classifier
    log_prior: Floats | None  # (K,)
    intercept: Floats  # (K,)
    weights: Floats  # (V, K) of the columns that are left
    learner: Learner
    is_posterior: bool = True
    class_documents: Floats | None = None  # (K,)


def scores_of(step: Step, rows: RowTransform) -> tuple[Scores, RowTransform]:
    """The scores of a classifier, and the row that it takes of the one it is given."""
    kind = CLASSIFIERS.get(step.kind)
    if kind is None:
        raise step.refusal(*OTHERS.get(step.kind, UNKNOWN))
    step.check_fitted()
    # naive Bayes of ours can count a word once; Bernoulli's asks which columns are above a threshold
    above = 0.0 if getattr(step.estimator, "binary", False) else getattr(step.estimator, "binarize", None)
    rows = rows if above is None else rows.present(float(above), step)
    return kind(step, rows), rows


def _multinomial(step: Step, rows: RowTransform) -> Scores:
    model = step.estimator
    learner = naive_bayes.MultinomialLearner(_alpha(model), _prior(model), rows.frequency == "binary")
    weights = _by_column(model.feature_log_prob_, rows, step)
    return _naive(step, weights, learner)


def _bernoulli(step: Step, rows: RowTransform) -> Scores:
    model = step.estimator
    learner: Learner = SoftmaxLearner()  # of rows that are not ones and zeros: linear, and no more
    if rows.is_plain and rows.frequency == "binary":
        learner = naive_bayes.BernoulliLearner(_alpha(model), _prior(model))
    if type(model).__module__.startswith("textodds."):
        log_p, log_not = Bernoulli(_alpha(model)).log_p(model.feature_count_, model.class_count_)
    else:
        log_p = model.feature_log_prob_
        with np.errstate(divide="ignore"):
            log_not = np.log(1 - np.exp(log_p))  # to the same digits as there
    with np.errstate(invalid="ignore"):
        weights = _by_column(log_p - log_not, rows, step)
    return _naive(step, weights, learner, log_not.sum(axis=1))


def _complement(step: Step, rows: RowTransform) -> Scores:
    model = step.estimator
    learner = naive_bayes.ComplementLearner(_alpha(model), bool(model.norm))
    return _naive(step, _by_column(model.feature_log_prob_, rows, step), learner)


def _naive(step: Step, weights: Floats, learner: Learner, intercept: Floats | None = None) -> Scores:
    """The scores of naive Bayes; of complement naive Bayes they have no prior, unless there is one class."""
    model, K = step.estimator, weights.shape[1]
    is_posterior = not isinstance(learner, naive_bayes.ComplementLearner)
    return Scores(
        _names(step),
        _log_prior(model) if is_posterior or K == 1 else np.zeros(K),
        np.zeros(K) if intercept is None else _finite(intercept, step),
        _finite(weights, step),
        learner,
        is_posterior,
        np.asarray(model.class_count_, dtype=np.float64),
    )


def _alpha(model: BaseEstimator) -> Floats | float:
    """The smoothing that was used: a number, or (V,)."""
    alpha = np.asarray(model.alpha, dtype=np.float64)
    if not model.force_alpha:
        alpha = np.maximum(alpha, LEAST_ALPHA)
    return alpha if alpha.ndim else float(alpha)


def _log_prior(model: BaseEstimator) -> Floats:
    """Logarithms of the prior (K,), whose shares scikit-learn does not ask to sum to one."""
    log_prior = np.asarray(model.class_log_prior_, dtype=np.float64)
    return np.asarray(np.maximum(log_prior - np.logaddexp.reduce(log_prior), LOG_ZERO))


def _prior(model: BaseEstimator) -> Prior:
    """The prior as a learner takes it."""
    if model.class_prior is None:
        return "data" if model.fit_prior else "uniform"
    return dict(zip(names(model.classes_), np.exp(_log_prior(model)).tolist(), strict=True))


def _logistic(step: Step, rows: RowTransform) -> Scores:
    model = step.estimator
    K = len(model.classes_)
    how = getattr(model, "multi_class", "auto")  # scikit-learn had it up to 1.7
    if K > 2 and (how == "ovr" or (how != "multinomial" and model.solver == "liblinear")):
        raise step.refusal(*ONE_VERSUS_REST)
    learner = SoftmaxLearner()
    if step.kind == "LogisticRegression":
        penalty, mix = getattr(model, "penalty", "l2"), getattr(model, "l1_ratio", None)
        if penalty in ("l2", "deprecated") and not mix and model.C > 0:
            learner = SoftmaxLearner(C=float(model.C), class_weight=_class_weight(model))
    # Multinomial of two classes, both had weights, and half of them are kept.
    times = 2.0 if K == 2 and how == "multinomial" else 1.0
    return _linear(step, rows, learner, times=times)


def _class_weight(model: BaseEstimator) -> ClassWeight:
    given: ClassWeight = model.class_weight
    if not isinstance(given, dict):
        return given
    labels = dict(zip(model.classes_.tolist(), names(model.classes_), strict=True))
    return {labels[label]: float(factor) for label, factor in given.items() if label in labels}


def _calibrated(step: Step, rows: RowTransform) -> Scores:
    """Those of what `to_sklearn` made, whose rows of zeros have the class prior."""
    prior = np.asarray(step.estimator.prior_, dtype=np.float64)
    log_prior = log_softmax(prior if len(prior) > 1 else np.array([0.0, prior[0]]))
    return _linear(step, rows, SoftmaxLearner(), log_prior=log_prior)


def _descent(step: Step, rows: RowTransform) -> Scores:
    model = step.estimator
    if model.loss == "modified_huber":
        raise step.refusal(
            "the probabilities of loss='modified_huber' are not the softmax of its scores",
            "fit again with loss='log_loss', or with 'hinge' for labels alone",
        )
    if model.loss != "log_loss":
        return _margin(step, rows)
    if len(model.classes_) > 2:
        raise step.refusal(*ONE_VERSUS_REST)
    return _linear(step, rows, SoftmaxLearner())


def _softmax(step: Step, rows: RowTransform) -> Scores:
    return _linear(step, rows, step.estimator.learner())


def _discriminant(step: Step, rows: RowTransform) -> Scores:
    model = step.estimator
    prior = np.asarray(model.priors_, dtype=np.float64)
    classes = names(model.classes_)
    shrinkage = model.shrinkage if isinstance(model.shrinkage, (int, float)) else None
    learner = LinearDiscriminantLearner(shrinkage, dict(zip(classes, prior.tolist(), strict=True)))
    with np.errstate(divide="ignore"):
        log_prior = np.maximum(np.log(prior), LOG_ZERO)
    return _linear(step, rows, learner, log_prior=log_prior)


def _margin(step: Step, rows: RowTransform) -> Scores:
    binarizer = getattr(step.estimator, "_label_binarizer", None)
    if str(getattr(binarizer, "y_type_", "")).startswith("multilabel"):
        raise step.refusal(
            "it gives several labels to one text, and a model here gives one",
            "fit one classifier for each label",
        )
    return _linear(step, rows, SoftmaxLearner(), is_posterior=False)


def _linear(
    step: Step,
    rows: RowTransform,
    learner: Learner,
    *,
    log_prior: Floats | None = None,
    is_posterior: bool = True,
    times: float = 1.0,
) -> Scores:
    """The scores of weights by class, or of the log-odds of two; ``times`` what is there."""
    model = step.estimator
    classes = _names(step)
    weights = _by_column(model.coef_, rows, step) * times
    bias = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), weights.shape[1]) * times
    if weights.shape[1] == 1:  # half for the one and half against the other, as softmax models have it
        weights, bias = np.hstack([-weights / 2, weights / 2]), np.concatenate([-bias / 2, bias / 2])
    if weights.shape[1] != len(classes):
        raise step.refusal(
            f"it has {weights.shape[1]} scores for {len(classes)} classes",
            "fit it on one label for each text",
        )
    bias = _finite(bias, step)
    if not is_posterior:
        log_prior = np.zeros(len(classes))
    elif log_prior is not None:
        bias = bias - log_prior
    return Scores(classes, log_prior, bias, _finite(weights, step), learner, is_posterior)


def _names(step: Step) -> tuple[str, ...]:
    """What the classes are called here, which must be as many."""
    labels = np.asarray(step.estimator.classes_)
    classes = names(labels)
    if len(set(classes)) < len(classes):
        raise step.refusal(
            f"different labels are the same text: {', '.join(map(repr, labels.tolist()[:10]))}",
            "labels here are text: fit again with labels that differ when they are written down",
        )
    return classes


def _by_column(by_class: Rows, rows: RowTransform, step: Step) -> Floats:
    """Numbers by class and column (K, V) the other way round, if they are of the columns that are left."""
    table = np.atleast_2d(np.asarray(by_class.toarray() if hasattr(by_class, "toarray") else by_class))
    if table.shape[1] != len(rows.live):
        raise misfit(step, table.shape[1], len(rows.live))
    return np.ascontiguousarray(table.T, dtype=np.float64)


def _finite(values: Floats, step: Step) -> Floats:
    """The numbers with `LOG_ZERO` for the logarithm of zero, if there is nothing else to mend."""
    if np.isnan(values).any() or (values == np.inf).any():
        raise step.refusal(
            "some of its weights are not numbers",
            "fit again, with smoothing (alpha above 0) and rows of each class",
        )
    return np.where(np.isneginf(values), LOG_ZERO, values)  # ours may be below it, and mean that


CLASSIFIERS: dict[str, Callable[[Step, RowTransform], Scores]] = {
    "MultinomialNB": _multinomial,
    "BernoulliNB": _bernoulli,
    "ComplementNB": _complement,
    "LogisticRegression": _logistic,
    "LogisticRegressionCV": _logistic,
    "LinearClasses": _calibrated,
    "SGDClassifier": _descent,
    "LinearDiscriminantAnalysis": _discriminant,
    "LinearSVC": _margin,
    "RidgeClassifier": _margin,
    "RidgeClassifierCV": _margin,
    "Perceptron": _margin,
    "PassiveAggressiveClassifier": _margin,
    "SoftmaxRegression": _softmax,
    "NBSoftmax": _softmax,
}

ONE_VERSUS_REST = (
    "it has a probability for each class against the rest, which no softmax of linear scores gives",
    "fit again with LogisticRegression, or our SoftmaxRegression, which know all classes at once",
)

OTHERS = {
    "CalibratedClassifierCV": (
        "its probabilities are a mean over folds, or steps of a curve, and not linear in words",
        "convert the classifier within it; or train on the texts: textodds.train calibrates by itself",
    ),
    "OneVsRestClassifier": (
        "it has a probability for each class against the rest, which no softmax of linear scores gives",
        "fitted on an indicator matrix it gives several labels a text: name its columns, labels=[…]; "
        "else fit again with LogisticRegression, which knows all classes at once",
    ),
    "TextClassifier": ("it takes texts, and needs no pipeline", "its model_ is a TextModel already"),
}

UNKNOWN = (
    "it is not a supported linear classifier",
    f"supported are {', '.join(CLASSIFIERS)}; or train on the texts: textodds.train",
)
