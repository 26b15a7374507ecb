"""The three Gaussian classifiers of a picture, and what is drawn of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.errors import TooFewRows
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.forms.linear import log_prior
from textodds.learn.forms.quadratic import Diagonal, QuadraticModel
from textodds.stats.moments import Moments
from textodds.study.report.points import LabelledPoints

Floats = NDArray[np.float64]

MODELS = {
    "QDA": ("full", "a covariance of each class"),
    "LDA": ("shared", "one covariance for all"),
    "GNB": ("diagonal", "variances of each class"),
}
"""The covariance of each model, and in words."""


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """A model of largest likelihood, without shrinkage or smoothing; its prior is the shares of classes."""

    name: str
    model: QuadraticModel
    mean: Floats  # (K, V)
    covariance: Floats  # (K, V, V)

    @classmethod
    def of(cls, name: str, data: LabelledPoints) -> MaximumLikelihood:
        """The model called ``name``, one of `MODELS`."""
        # Smoothing is a share of the largest variance, and would widen a column of small numbers beside one
        # of large ones; nor is it needed, as every column varies in every class.
        gaussian = Gaussian(MODELS[name][0], smoothing=0.0)
        moments = Moments.of_codes(data.rows, data.codes, data.classes, full=gaussian.is_full)
        try:
            gaussians = gaussian.fit(moments)
        except TooFewRows as error:
            raise TooFewRows(
                f"{name} cannot be drawn: {error.problem}",
                hint="leave that class out, give more rows of it, or choose other columns",
            ) from error
        K, V = moments.mean.shape
        own = (
            np.einsum("kv,vw->kvw", gaussians.variance, np.eye(V))
            if isinstance(gaussians, Diagonal)
            else gaussians.covariance()
        )
        prior = log_prior("data", data.classes, moments.class_rows)
        model = QuadraticModel(data.classes, prior, gaussians)
        return cls(name, model, moments.mean, np.broadcast_to(own, (K, V, V)))

    def accuracy(self, data: LabelledPoints) -> float:
        """Share of the rows whose class is the likeliest."""
        return float((self.model.scores(data.rows).argmax(axis=1) == data.codes).mean())

    def ellipse(self, k: int, distance: float, n: int = 181) -> Floats:
        r"""Points at a Mahalanobis ``distance`` from the mean of class k, (n, 2), the last being the first.

        With :math:`\Sigma = L L^\top`, the points :math:`\mu + d L (\cos t, \sin t)^\top`.
        """
        turn = np.linspace(0, 2 * np.pi, n)
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        return np.asarray(self.mean[k] + distance * circle @ np.linalg.cholesky(self.covariance[k]).T)
