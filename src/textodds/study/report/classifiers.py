"""The three Gaussian classifiers of a picture: their ellipses, and where their decisions change."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

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

FAR = 1e6  # deviations from the mean at which a root comes of variances that are equal but for rounding


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


def margins(scores: Floats) -> Floats:
    r"""Each score less the largest of the others, (N, K).

    With scores :math:`s_k = \log p(x \mid k) + \log \pi_k` the margin of a class is
    :math:`s_k - \max_{j \ne k} s_j`: the distance of the best to the second-best class where k is best,
    below zero elsewhere, and zero on the boundary of its region, which it crosses there.

    >>> margins(np.array([[1.0, 4.0, 2.0]])).tolist()
    [[-3.0, 2.0, -2.0]]
    """
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T[:, :, None]
    return np.asarray(np.where(scores == best, best - second, scores - best))


@dataclass(frozen=True)
class Crossing:
    """A number ``at`` which the decision changes, read from left to right."""

    at: float
    before: str
    after: str


def crossings(fitted: MaximumLikelihood) -> list[Crossing]:
    r"""The decision points of a Gaussian model of one column, from left to right.

    Classes j and k are equally likely where, with :math:`z = x - \mu_j` and
    :math:`d = \mu_k - \mu_j`,

    .. math::
        \log\frac{\pi_j \sigma_k}{\pi_k \sigma_j} - \frac{z^2}{2 \sigma_j^2}
        + \frac{(z - d)^2}{2 \sigma_k^2} = 0                                      \tag{1}

    which is a quadratic equation in z; its roots count where no third class is likelier, and where the
    decision does change: not where two curves only touch.
    """
    gaussians = fitted.model.gaussians
    assert isinstance(gaussians, Diagonal)
    mean, variance, prior = gaussians.mean[:, 0], gaussians.variance[:, 0], fitted.model.log_prior
    roots: list[float] = []
    for j, k in combinations(range(len(mean)), 2):
        d = mean[k] - mean[j]
        square = 0.5 / variance[k] - 0.5 / variance[j]
        constant = prior[j] - prior[k] + 0.5 * np.log(variance[k] / variance[j]) + 0.5 * d**2 / variance[k]
        reach = abs(d) + FAR * np.sqrt(max(variance[j], variance[k]))
        with np.errstate(over="ignore"):  # means that are equal but for rounding: a root beyond all numbers
            roots += [mean[j] + z for z in _roots(square, -d / variance[k], constant) if abs(z) < reach]
    points = np.unique(roots)
    if not len(points):
        return []
    # Between neighbouring roots the order of the classes is the same everywhere.
    gap = max(np.ptp(points), np.sqrt(variance.max()))
    between = np.concatenate([[points[0] - gap], (points[:-1] + points[1:]) / 2, [points[-1] + gap]])
    best = fitted.model.scores(between[:, None]).argmax(axis=1)
    names = fitted.model.classes
    return [
        Crossing(float(at), names[before], names[after])
        for at, before, after in zip(points, best[:-1], best[1:], strict=True)
        if before != after
    ]


def _roots(a: float, b: float, c: float) -> list[float]:
    """Real roots of ``a z² + b z + c``, without the cancellation of the formula in books."""
    if a == 0:
        return [-c / b] if b else []
    inside = b**2 - 4 * a * c
    if inside < 0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(inside), b))
    return [q / a, c / q] if q else [0.0]
