"""What holds the weights: a penalty, chosen on held-out rows, and what naive Bayes lends to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from textodds import _kernels
from textodds.learn.arrays import FEW_CELLS, Floats, Integers, Mask, Matrix
from textodds.learn.calibration import Calibration, log_loss
from textodds.learn.design import LabelledRows
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import held_out, mean_by_row, tells_classes_apart
from textodds.learn.solvers.objective import Objective, Parameters, best_bias, product
from textodds.learn.solvers.solve import Ascent, ascends, solve

ENOUGH = 4000  # held-out rows after which another fold would hardly change the choice

STEP = math.sqrt(10.0) ** 1.5
FIRST, LAST, LEAST = 1.0, 1e3, 1e-3
"""Where the path of C begins, and its ends, for rows of length 1; rows of length r have C / r²."""

MOST = 100.0
"""Where the path of calibrated scores ends: more C hardly matters to them, and takes long to solve."""

ROUGH = 1e-2  # relative gap to which the path is solved: held-out loss differs by far more from C to C

WORTH, ODDS = 0.99, 1.0
"""Share of its loss that another C must get below: where it hardly matters the first one is kept; and the sum
of calibrated held-out losses by which it must be ahead, which counts where rows are few."""

PASSES = 20  # over the rows that a step of Newton's method takes, about
EPOCHS = 8  # passes that a point of the path may take: where more would be needed, more C hardly matters


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """What was said of rows that were held out, at the C that was chosen."""

    scores: Floats  # (M, K)
    codes: Integers  # (M,)
    weights: Floats  # (M,)
    slope: float = 1.0  # by which the scores are to be multiplied, where they are calibrated
    empty: Mask | None = None  # (M,) rows without a feature that was learned

    @classmethod
    def of(cls, folds: Sequence[_Fold], *, calibrated: bool) -> HeldOutScores:
        """Those of all folds, means of what is held out several times; ``calibrated`` ones with a slope."""
        parts = [(fold.at, fold.scores, fold.codes, fold.weights, fold.empty) for fold in folds]
        rows, scores, codes, weights, empty = (np.concatenate(each) for each in zip(*parts, strict=True))
        first, scores, weights = mean_by_row(rows, scores, weights)
        codes, empty = codes[first], empty[first]
        if not calibrated:
            return cls(scores, codes, weights, empty=empty)
        found = Calibration.of_parts(scores[None], codes, weights, biases=False)
        return cls(scores, codes, weights, found.slopes.item(0), empty)

    @cached_property
    def log_posterior(self) -> Floats:
        """Log-probabilities, (M, K)."""
        return log_softmax(self.slope * self.scores)

    @cached_property
    def log_loss(self) -> float:
        """Mean loss, by weight."""
        return log_loss(self.slope * self.scores, self.codes, self.weights)


@dataclass(frozen=True)
class Path:
    """Held-out loss over C; the best C lies where it is least."""

    C: float
    points: tuple[tuple[float, float], ...]  # (C, mean held-out log-loss)
    held_out: int  # rows
    held: HeldOutScores | None = field(default=None, compare=False)
    passes: float = 0.0  # over all rows that it took


Part: TypeAlias = "tuple[Matrix, Matrix, Floats | None, Parameters | None]"
"""Training rows, held-out rows, the mean of the prior, (V, M), and what a pool adds."""


def choose(
    split: Callable[[Mask], Part],
    data: LabelledRows,
    *,
    C: float | None = None,
    calibrated: bool = False,
    enough: int = ENOUGH,
    times: int = 1,
    threads: int = 1,
    penalise_bias: bool = False,
    watch: Callable[[float, float], object] | None = None,
) -> Path:
    """The C of least held-out log-loss, or the one that is given, and what was said of held-out rows.

    ``split`` is told which rows (N,) are held out. Folds are as even by class as they can be, and as
    many are used as it takes to hold out ``enough`` rows. From each C the next is begun where the last
    ended; the path goes up while the loss falls by a percent, or else down. Folds share the threads, and
    any number of them finds the same. Few rows are divided into folds several ``times``.

    The loss may be that of scores once they are ``calibrated``, which depends on C far less.
    """
    folds = [
        _Fold(split(held), held, data, penalise_bias)
        for held in held_out(data.codes, enough, times)
        if tells_classes_apart(data.codes, data.weights, held)
    ]
    if not folds:  # too few rows to hold any out
        return Path(1.0 if C is None else C, (), 0)
    unit = _mean_square(folds[0].objective.rows)
    said: dict[float, HeldOutScores] = {}
    workers = ThreadPoolExecutor(threads) if min(threads, len(folds)) > 1 else None

    def said_of(C: float) -> HeldOutScores:
        if C not in said:
            list((workers.map if workers else map)(lambda fold: fold.solve(C), folds))
            said[C] = HeldOutScores.of(folds, calibrated=calibrated)
            if watch is not None:
                watch(C, said[C].log_loss)
        return said[C]

    def is_worth(before: float, after: float, odds: float) -> bool:
        now, then = said_of(before).log_loss, said_of(after).log_loss
        return min(WORTH * now, now - odds) > then

    best = C
    if best is None:
        first, last = (MOST / STEP / unit, MOST / unit) if calibrated else (FIRST / unit, LAST / unit)
        best, odds = first, ODDS / max(said_of(first).weights.sum(), 1.0) if calibrated else 0.0
        while 1.01 * last >= best * STEP and is_worth(best, best * STEP, odds):
            best *= STEP
        while best <= first and LEAST / unit <= best / STEP and is_worth(best, best / STEP, odds):
            best /= STEP
    said_of(best)
    points = tuple((at, held.log_loss) for at, held in sorted(said.items()))
    if C is None:
        C = float(f"{best:.3g}") if calibrated else _lowest(points, best)
    passes = sum(fold.passes * (1.0 - fold.n / len(data.codes)) for fold in folds)
    return Path(C, points, len(said[best].codes), said[best], passes)


class _Fold:
    """One part held out, and how far the rest has come along the path."""

    def __init__(self, part: Part, held: Mask, data: LabelledRows, penalise_bias: bool) -> None:
        kept_rows, self.rows, centre, self.added = part
        codes, weights, n_classes = data.codes, data.weights, len(data.classes)
        self.objective = Objective(
            kept_rows, codes[~held], weights[~held], n_classes, 1.0, centre, penalise_bias
        )
        self.at = np.flatnonzero(held)
        self.codes, self.empty = codes[held], _has_no_feature(self.rows)
        # A class that is held out altogether says nothing about C.
        seen = np.bincount(self.objective.codes, self.objective.sample_weights, n_classes)[self.codes] > 0
        self.weights = np.where(seen, weights[held], 0.0)
        self.total, self.n = float(self.weights.sum()), len(self.codes)
        self.run: Ascent | Parameters | None = None
        self.passes = 0  # over its rows so far

    def solve(self, C: float) -> None:
        """Say what is said of held-out rows at C; cheap if C is above that of the last call."""
        objective = self.objective.with_penalty(1.0 / C)
        if ascends(objective):
            start = self.run
            self.run = start.under(1.0 / C) if isinstance(start, Ascent) else Ascent.begin(objective)
            for _ in range(EPOCHS):
                self.passes += 1
                if self.run.epoch() < ROUGH:
                    break
            weights = self.run.parameters.weights
            bias = best_bias(objective, product(objective.rows, weights), self.run.bias)
            found = Parameters(weights, bias)  # epochs end before the bias, which moves once in each
        else:
            given = self.run if isinstance(self.run, Parameters) else None
            outcome, _ = solve(objective, given, tolerance=ROUGH)
            self.passes += PASSES * outcome.steps
            found = self.run = outcome.parameters
        if self.added is not None:
            found = found + self.added
        scores = product(self.rows, found.weights) + found.bias
        self.scores = scores if scores.shape[1] > 1 else np.hstack([-scores / 2, scores / 2])


def _has_no_feature(rows: Matrix) -> Mask:
    """Which rows (M,) hold zeros alone."""
    if isinstance(rows, np.ndarray):
        return np.asarray(~rows.any(axis=1))
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.asarray(np.bincount(row_of[rows.data != 0], minlength=rows.shape[0]) == 0)


def _mean_square(rows: Matrix) -> float:
    values = rows if isinstance(rows, np.ndarray) else rows.data
    return float(np.einsum("i,i->", values.reshape(-1), values.reshape(-1))) / rows.shape[0] or 1.0


def _lowest(points: Sequence[tuple[float, float]], best: float) -> float:
    """Where a parabola through the best point and its neighbours, over log C, is lowest.

    Three digits of it: the others are how sums were rounded, by which another machine would choose another C.
    """
    at = [C for C, _ in points].index(best)
    if at in (0, len(points) - 1):
        return float(f"{best:.3g}")
    (_, left), (b, low), (_, right) = points[at - 1 : at + 2]
    bend = left - 2.0 * low + right
    shift = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return float(f"{b * STEP ** min(max(shift, -0.5), 0.5):.3g}")


def scales_or_centre(
    form: str, counts: Floats, smoothing: float, mass: Floats
) -> tuple[Floats | None, Floats | None]:
    """The `scales` of the features, or the `centre` of the prior, as ``form`` wants; None for the other."""
    ratios = log_ratios(counts, smoothing)
    return (scales(ratios, mass), None) if form == "scaled" else (None, centre(ratios))


def log_ratios(counts: Floats, smoothing: float) -> Floats:
    r"""How much the presence of each feature speaks for each class, (V, K).

    .. math::
        r_{vk} = \log\frac{\theta_{vk}}{\theta_{v\bar k}}, \qquad
        \theta_{vk} = \frac{\alpha + n_{vk}}{\sum_u (\alpha + n_{uk})}               \tag{1}

    where :math:`n_{vk}` is the `presence` of feature v in class k (:math:`\bar k`: in all others). Wang
    and Manning (2012), *Baselines and bigrams*, eq. 2, for two classes.

    Examples
    --------
    >>> log_ratios(np.array([[3.0, 0.0], [1.0, 1.0]]), 1.0).round(3)  # log (4/6) / (1/3), log (2/6) / (2/3)
    array([[ 0.693, -0.693],
           [-0.693,  0.693]])
    """
    V, K = counts.shape
    seen = counts.sum(axis=1, keepdims=True)
    ours = np.zeros(K)
    theirs = np.zeros(K)
    ratios = np.empty((V, K))
    step = max(1, FEW_CELLS // K)
    pieces = [slice(at, at + step) for at in range(0, V, step)]  # large arrays would be written over and over
    for rows in pieces:
        ours += (counts[rows] + smoothing).sum(axis=0)
        theirs += (seen[rows] - counts[rows] + smoothing).sum(axis=0)
    for rows in pieces:
        own = counts[rows]
        odds = ((own + smoothing) / ours) / ((seen[rows] - own + smoothing) / theirs)
        ratios[rows] = _kernels.logarithms(odds.reshape(-1)).reshape(odds.shape)  # (1)
    return ratios


def scales(ratios: Floats, mass: Floats) -> Floats:
    r"""One scale per feature, (V,): the root mean square of its ratios over the classes.

    .. math::
        \rho_v = \sqrt{\sum_k \pi_k r_{vk}^2}                                         \tag{2}

    with :math:`\pi_k` the share of class k in the ``mass`` of all (K,). For two classes, whose ratios are
    opposite, it is their size. A factor that differed by class would make rows of its own for each.
    """
    share, step = mass / mass.sum(), max(8, FEW_CELLS // 2 // len(mass) // 8 * 8)
    # einsum: its sums are the same on every machine, and dual ascent is led by them
    parts = [np.einsum("vk,k->v", ratios[at : at + step] ** 2, share) for at in range(0, len(ratios), step)]
    return np.asarray(np.sqrt(np.concatenate([np.zeros(0), *parts])))  # (2)


def centre(ratios: Floats) -> Floats:
    """The weights of naive Bayes as softmax has them, (V, M): of class 1 for two, centred for more."""
    if ratios.shape[1] == 2:
        return np.ascontiguousarray(ratios[:, 1:])
    return np.asarray(ratios - ratios.mean(axis=1, keepdims=True))
