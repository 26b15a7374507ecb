"""Where the likeliest class of a single number changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from textodds.learn.forms.quadratic import Diagonal
from textodds.study.report.classifiers import MaximumLikelihood

Floats = NDArray[np.float64]

FAR = 1e6  # deviations from the mean at which a root comes of variances that are equal but for rounding


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
