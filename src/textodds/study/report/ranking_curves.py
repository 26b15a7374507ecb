r"""Rows in the order of a score: ROC, precision and recall, and how the surest rows do.

Only how often each score occurs is kept, among positive and among negative rows, and so many scores at
most: beyond that they are rounded, which makes ties of neighbours, until they are few enough. Rows of one
score are taken together, so that no curve depends on the order in which they came.

With scores :math:`s` from the highest down, :math:`P_s` and :math:`N_s` being the positive and negative
rows that score s or more, and P and N those of all rows,

.. math::
    \text{AUC} &= \sum_s \frac{N_s - N_{s+}}{N} \cdot \frac{P_s + P_{s+}}{2 P}                    \tag{1} \\
    \text{AP} &= \sum_s \frac{P_s - P_{s+}}{P} \cdot \frac{P_s}{P_s + N_s}                        \tag{2}

where s+ is the next higher score. (1) is the share of pairs, one row of each kind, that are in the right
order, ties being half right (Mann and Whitney 1947); (2) is the mean precision over the positive rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from textodds.learn.arrays import Floats, Mask

DISTINCT = 200_000  # scores that are kept apart; of more, neighbours become one
WAITING = 65_536  # rows that wait to be counted, so that not every batch is sorted into all others

BITS = (16, 12, 10, 8, 6, 4, 2, 0)
"""Binary digits after the first that a score is rounded to, where there are too many."""


@dataclass(frozen=True, eq=False)
class RankingCurve:
    """Positive and negative rows from the highest score down: of each score, it and all above it."""

    scores: Floats  # (S,)
    positives: Floats  # (S,)
    negatives: Floats  # (S,)
    is_exact: bool  # whether no score was rounded

    @property
    def n_positives(self) -> float:
        """All positive rows."""
        return float(self.positives[-1]) if len(self.positives) else 0.0

    @property
    def n_negatives(self) -> float:
        """All negative rows."""
        return float(self.negatives[-1]) if len(self.negatives) else 0.0

    def roc(self) -> tuple[Floats, Floats]:
        """Share of the negative rows, and of the positive ones, that score as much, from (0, 0) to (1, 1)."""
        return _from_zero(self.negatives / self.n_negatives), _from_zero(self.positives / self.n_positives)

    def precision_recall(self) -> tuple[Floats, Floats]:
        """Recall and precision if all of a score or above are called positive."""
        return self.positives / self.n_positives, self.positives / (self.positives + self.negatives)

    def coverage(self) -> tuple[Floats, Floats]:
        """Share of all rows that score as much, and the share of positive ones among them."""
        rows = self.positives + self.negatives
        return rows / rows[-1], self.positives / rows

    def above(self, share: float) -> float:
        """Share of positive rows among this share of all rows, those of the highest scores.

        Where it ends among rows of one score, any of them may be those that are taken.
        """
        rows = _from_zero(self.positives + self.negatives)
        wanted = share * rows[-1]
        found = np.interp(wanted, rows, _from_zero(self.positives))
        return float(found / wanted) if wanted else math.nan

    def least(self, share: float) -> float:
        """The lowest score among this share of all rows, those of the highest scores."""
        rows = self.positives + self.negatives
        at = int(np.searchsorted(rows, share * rows[-1] * (1 - 1e-12)))
        return float(self.scores[min(at, len(rows) - 1)])

    @property
    def auc(self) -> float:
        """Area under the ROC curve, (1); NaN where all rows are of one kind."""
        if not self.n_positives or not self.n_negatives:
            return math.nan
        x, y = self.roc()
        return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))  # (1)

    @property
    def average_precision(self) -> float:
        """Average precision, (2); NaN where there is no positive row."""
        if not self.n_positives:
            return math.nan
        recall, precision = self.precision_recall()
        return float(np.sum(np.diff(recall, prepend=0.0) * precision))  # (2)


class RankingCounts:
    """Counts rows by their score, in bounded memory; `curve` is what comes of it."""

    def __init__(self, distinct: int = DISTINCT) -> None:
        self._distinct = distinct
        self._bits: int | None = None  # to which scores are rounded
        self._counted = (np.zeros(0), np.zeros(0), np.zeros(0))  # scores, positives, negatives
        self._waiting: list[tuple[Floats, Floats]] = []
        self._n_waiting = 0

    def add(self, scores: Floats, positive: Mask) -> None:
        """Count rows by their scores, which may be infinite; one that is not a number is the lowest."""
        self._waiting.append((np.where(np.isnan(scores), -np.inf, scores), positive.astype(np.float64)))
        self._n_waiting += len(scores)
        if self._n_waiting >= WAITING:
            self._count()

    def curve(self) -> RankingCurve:
        """The counts of all rows so far, from the highest score down."""
        self._count()
        scores, positives, negatives = (each[::-1] for each in self._counted)
        return RankingCurve(scores, np.cumsum(positives), np.cumsum(negatives), self._bits is None)

    def _count(self) -> None:
        if not self._waiting:
            return
        scores, positive = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
        self._waiting, self._n_waiting = [], 0
        scores = scores if self._bits is None else rounded(scores, self._bits)
        added = (scores, positive, 1.0 - positive)
        self._counted = _by_score(*map(np.concatenate, zip(self._counted, added, strict=True)))
        for bits in BITS:
            if len(self._counted[0]) <= self._distinct:
                break
            if self._bits is None or bits < self._bits:
                self._bits = bits
                self._counted = _by_score(rounded(self._counted[0], bits), *self._counted[1:])


def rounded(scores: Floats, bits: int) -> Floats:
    """Scores to so many binary digits after the first.

    >>> rounded(np.array([1.0, 1.1, 1.2, -5.3, np.inf]), 2).tolist()
    [1.0, 1.0, 1.25, -5.0, inf]
    """
    fraction, exponent = np.frexp(scores)
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, bits + 1)), exponent - (bits + 1)))


def _by_score(scores: Floats, positives: Floats, negatives: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct scores, the lowest first, with their counts."""
    distinct, place = np.unique(scores, return_inverse=True)
    place, S = place.reshape(-1), len(distinct)
    of_kind = [np.asarray(np.bincount(place, rows, S), dtype=np.float64) for rows in (positives, negatives)]
    return distinct, of_kind[0], of_kind[1]


def _from_zero(counts: Floats) -> Floats:
    """The counts, and before them that of no row."""
    return np.concatenate([[0.0], counts])
