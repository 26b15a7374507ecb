"""Where each class is the likeliest: margins on a grid whose zeros are the boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.study.report.classifiers import MaximumLikelihood
from textodds.study.report.points import LabelledPoints

Floats = NDArray[np.float64]

FINE = 361  # points of the grid along each axis: a cell is then smaller than a line is wide
TAILS = 0.5  # percent of the rows at either end of an axis that need not be in the picture
MARGIN = 0.04  # room around what is drawn, as a share of it


@dataclass(frozen=True)
class AxisLimits:
    """The limits of a picture."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, data: LabelledPoints, models: Sequence[MaximumLikelihood], distance: float) -> AxisLimits:
        """AxisLimits that hold the ellipses of all models and nearly all rows, but no far outliers."""
        K = len(data.classes)
        shown = np.concatenate(
            [np.percentile(data.rows, [TAILS, 100 - TAILS], axis=0)]
            + [fitted.ellipse(k, distance) for fitted in models for k in range(K)]
        )
        low, high = shown.min(axis=0), shown.max(axis=0)
        room = MARGIN * (high - low)
        return cls(*(float(limit) for v in (0, 1) for limit in ((low - room)[v], (high + room)[v])))

    def holds(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows (N, 2) are in the picture."""
        x, y = rows.T
        return np.asarray((x >= self.left) & (x <= self.right) & (y >= self.bottom) & (y <= self.top))


@dataclass(frozen=True, eq=False)
class Regions:
    r"""Margins of the classes on a grid.

    With scores :math:`s_k = \log p(x \mid k) + \log \pi_k` the margin of a class is
    :math:`s_k - \max_{j \ne k} s_j`: the distance of the best to the second-best class where k is best,
    below zero elsewhere, and zero on the boundary of its region, which it crosses there.
    """

    x: Floats  # (X,)
    y: Floats  # (Y,)
    margin: Floats  # (K, Y, X)

    @classmethod
    def of(cls, fitted: MaximumLikelihood, frame: AxisLimits, n: int = FINE) -> Regions:
        """The margins of a model on a grid of n by n points."""
        x, y = np.linspace(frame.left, frame.right, n), np.linspace(frame.bottom, frame.top, n)
        across, up = np.meshgrid(x, y)
        scores = fitted.model.scores(np.stack([across.ravel(), up.ravel()], axis=1))  # (Y X, K)
        return cls(x, y, margins(scores).T.reshape(-1, n, n))

    def coarser(self, step: int) -> Regions:
        """The same on every so many points along each axis."""
        return Regions(self.x[::step], self.y[::step], self.margin[:, ::step, ::step])

    def best(self) -> NDArray[np.intp]:
        """The class that each point of the grid is coloured as, (Y, X)."""
        return np.asarray(self.margin.argmax(axis=0))


def margins(scores: Floats) -> Floats:
    """Each score less the largest of the others, (N, K).

    >>> margins(np.array([[1.0, 4.0, 2.0]])).tolist()
    [[-3.0, 2.0, -2.0]]
    """
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T[:, :, None]
    return np.asarray(np.where(scores == best, best - second, scores - best))
