"""How much naive Bayes counts in a pool with softmax regression, found on held-out texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from textodds.learn.arrays import Floats, Integers
from textodds.learn.calibration import Calibration
from textodds.learn.design import Design, LabelledRows
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import FOLDS, held_out, mean_by_row, tells_classes_apart
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.regression import PenalisedLearner, splitter
from textodds.learn.solvers.objective import product

SURE, LEAST = 1.64, 300
"""Standard errors by which a pool must be better on held-out texts, as one in twenty is by chance; and
how many of these texts there must be: of fewer the share is a guess, and little is gained."""


@dataclass(frozen=True, eq=False)
class FoundPool:
    """The share of naive Bayes in a pool, and what the pool says of held-out rows."""

    share: float  # of the weights of naive Bayes
    held: HeldOutScores  # nested: of each part by the slopes of the others
    is_better: bool  # by more than chance

    @classmethod
    def of(cls, alone: HeldOutScores, more: Floats) -> FoundPool:
        """The pool of what softmax regression and naive Bayes (M, K) say of held-out rows.

        Slopes are the best of held-out rows, under a prior that each half of the evidence counts as much as
        it would alone. Whether the pool is better is judged on rows that they were not found on.
        """
        codes, weights = alone.codes, alone.weights
        parts = np.stack([alone.scores, more])
        start = np.array([_slope(part, codes, weights) / 2 for part in parts])
        said = np.empty_like(alone.scores)
        for part in range(FOLDS):
            to = np.arange(len(codes)) % FOLDS == part
            of = ~to
            found = Calibration.of_parts(parts[:, of], codes[of], weights[of], start=start, biases=False)
            said[to] = found.applied(*parts[:, to])
        slopes = Calibration.of_parts(parts, codes, weights, start=start, biases=False).slopes
        share = float(f"{slopes[1] / slopes[0]:.3g}")  # the other digits are how sums were rounded
        each = np.arange(len(codes))
        gain = weights * (log_softmax(said) - alone.log_posterior)[each, codes]
        is_better = len(codes) >= LEAST and bool(gain.sum() > SURE * np.sqrt(gain @ gain))
        return cls(share, HeldOutScores(said, codes, weights), is_better)


def _slope(scores: Floats, codes: Integers, weights: Floats) -> float:
    """The slope of least loss of scores (M, K) alone."""
    return Calibration.of(scores, codes, weights).slopes.item(0)


def pool_of(
    learner: PenalisedLearner,
    design: Design,
    data: LabelledRows,
    alone: HeldOutScores,
    *,
    enough: int,
    times: int = 1,
) -> FoundPool:
    """The pool of a learner whose path has said ``alone`` of ``enough`` held-out rows, with naive Bayes.

    Few rows are divided into folds several ``times``, as on that path.
    """
    split = splitter(replace(learner, naive_bayes=1.0), design, data)
    K = len(data.classes)
    said, at, weights = [np.zeros((0, K))], [np.zeros(0, np.int64)], [np.zeros(0)]
    for held in held_out(data.codes, enough, times):
        if tells_classes_apart(data.codes, data.weights, held):
            _, rows, _, added = split(held)
            assert added is not None
            scores = product(rows, added.weights)
            said.append(scores if scores.shape[1] > 1 else np.hstack([-scores / 2, scores / 2]))
            seen = np.bincount(data.codes[~held], data.weights[~held], K) > 0
            at.append(np.flatnonzero(held))
            weights.append(np.where(seen[data.codes[held]], data.weights[held], 0.0))
    _, more, _ = mean_by_row(np.concatenate(at), np.concatenate(said), np.concatenate(weights))
    return FoundPool.of(alone, more)
