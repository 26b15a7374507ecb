"""What is drawn of logistic regression: the model of largest likelihood of labelled points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from textodds.errors import Separable
from textodds.learn.arrays import Floats
from textodds.learn.softmax.regression import SoftmaxFit, SoftmaxLearner
from textodds.study.report.gaussian_fits import LabelledPoints

HELD = 1e3  # C of the penalty that stands in where there is no maximum: too weak to be seen otherwise
SEPARABLE = (
    f"logistic regression: the classes can be separated, so its weights would grow without end; "
    f"drawn with a weak penalty (C = {HELD:,.0f}, columns standardised)"
)


@dataclass(frozen=True, eq=False)
class LogisticFit:
    r"""Logistic (softmax) regression of V numbers, by maximum likelihood.

    .. math::
        \log\frac{p(k \mid x)}{p(j \mid x)} = (w_k - w_j)^\top x + (b_k - b_j)            \tag{1}

    Columns are standardised to be solved, which changes nothing but the path: ``weights`` and ``bias`` are
    of the columns as they are. They sum to zero over the classes.
    """

    name: str
    classes: tuple[str, ...]
    weights: Floats  # (V, K)
    bias: Floats  # (K,)
    fit: SoftmaxFit  # of the standardised columns
    scale: Floats  # (V,) standard deviations
    is_separable: bool  # whether there is no maximum, so that a weak penalty holds the weights

    @classmethod
    def of(cls, data: LabelledPoints) -> LogisticFit:
        """The model of these points."""
        centre, scale = data.rows.mean(axis=0), data.rows.std(axis=0)
        rows = (data.rows - centre) / scale
        labels = [data.classes[k] for k in data.codes.tolist()]
        try:
            fit, is_separable = SoftmaxLearner(C=math.inf).fit(rows, labels), False
        except Separable:
            fit, is_separable = SoftmaxLearner(C=HELD).fit(rows, labels), True
        own = fit.model
        weights = own.weights.rows(np.arange(own.n_features)) / scale[:, None]
        bias = own.intercept + own.log_prior - centre @ weights
        return cls("logistic", own.classes, weights, bias, fit, scale, is_separable)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a picture must say of it."""
        return (SEPARABLE,) if self.is_separable else ()

    def scores(self, rows: Floats) -> Floats:
        """Scores (N, K), whose softmax is p(k | x)."""
        return np.asarray(rows @ self.weights + self.bias)

    def accuracy(self, data: LabelledPoints) -> float:
        """Share of the rows whose class is the likeliest."""
        return float((self.scores(data.rows).argmax(axis=1) == data.codes).mean())
