"""How a classifier of each label against the rest scores a row, as the log-odds of our linear form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textodds.interop.from_sklearn.classifiers import CLASSIFIERS, Scores
from textodds.interop.from_sklearn.steps import RowTransform, Step
from textodds.interop.labels import Label, name_in
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LOG_ZERO
from textodds.learn.registry import Learner
from textodds.learn.softmax.regression import SoftmaxLearner

OF_LABELS = ("LogisticRegression", "LogisticRegressionCV", "SGDClassifier", "MultinomialNB")
"""Classifiers whose log-odds of a label are linear."""


def label_scores_of(step: Step, rows: RowTransform, labels: Sequence[Label]) -> tuple[Scores, RowTransform]:
    """The log-odds of each label as scores, one a label, and the row that the classifier takes."""
    if step.kind != "OneVsRestClassifier":
        raise step.refusal(
            "`labels` are of an indicator matrix, and it gives one label a text",
            "leave `labels` out; or fit OneVsRestClassifier on an indicator matrix",
        )
    step.check_fitted()
    if not step.estimator.multilabel_:
        raise step.refusal("it was fitted on one label a text", "fit again with LogisticRegression")
    names = tuple(name_in("labels", label) for label in labels)
    parts = step.estimator.estimators_
    if len(names) != len(parts):
        raise step.refusal(
            f"it has {len(parts)} columns, and {len(names)} labels are named", "name each once"
        )
    if len(set(names)) < len(names):
        raise step.refusal("a label is named twice", "name each column once")
    weights, bias = np.zeros((len(rows.live), len(parts))), np.zeros(len(parts))
    learner: Learner = SoftmaxLearner()
    for k, part in enumerate(parts):
        own = Step(f"{step.name}: {names[k]}", part)
        if own.kind == "_ConstantPredictor":  # all rows had the label, or none
            bias[k] = -LOG_ZERO if np.ravel(part.y_)[0] else LOG_ZERO
            continue
        weights[:, k], bias[k], learner = _log_odds(own, rows)
    return Scores(names, bias, np.zeros(len(parts)), weights, learner), rows


def _log_odds(step: Step, rows: RowTransform) -> tuple[Floats, float, Learner]:
    """Weights (V,) and bias of the log-odds of a label, and the learner that has such."""
    is_linear = step.kind in OF_LABELS and getattr(step.estimator, "loss", "log_loss") == "log_loss"
    if not is_linear:
        raise step.refusal(
            "its log-odds are not linear in words",
            f"of several labels {', '.join(OF_LABELS)} can be converted; SGDClassifier with loss='log_loss'",
        )
    scores = CLASSIFIERS[step.kind](step, rows)
    log_prior = np.zeros(2) if scores.log_prior is None else scores.log_prior
    constant = log_prior + scores.intercept
    return scores.weights[:, 1] - scores.weights[:, 0], float(constant[1] - constant[0]), scores.learner
