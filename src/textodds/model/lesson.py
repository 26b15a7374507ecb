"""What a sample of documents teaches, each left out: smoothing, calibration, and how good the model is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.calibration import Calibration, few_enough, log_loss
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import FEWEST, FEWEST_TO_CALIBRATE, HeldOut
from textodds.model.leave_one_out import LeaveOneOut, class_numbers, obstacle
from textodds.stats.sample import UNIT, Example, as_rows

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel

Floats = NDArray[np.float64]

MANY = 30  # classes beyond which smoothing is chosen with a temperature alone, not with a bias for each
STEP = 1.2  # by which a slope is raised while that makes more answers right
MOST_STEPS = 10
MOST_LOSS = 1.05  # times the least loss, which such a slope may cost
LOWEST, HIGHEST = -4, 4  # half decades from 1 between which the smoothing lies: 0.01 to 100
ODDS = 0.5  # sum of losses by which a step away from 1 must be better, which counts where texts are few
CHOOSE_BY = 1000  # documents that the smoothing is chosen by, or more:
CHOOSE_CELLS = 1 << 19  # as many as have so many scores of words


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a sample of documents says, each left out: calibration, and how good the model is."""

    calibration: Calibration
    held_out: HeldOut | None  # None of fewer documents than promise anything
    about: dict[str, Any]


@dataclass(frozen=True, eq=False)
class LeftOutSample:
    """A sample of the documents of a model, each of which can be left out."""

    without: LeaveOneOut
    classes: tuple[str, ...]
    rows: Any  # (N, V) counts of words
    codes: NDArray[np.int64]  # (N,) classes
    each: Floats  # (N,) what is left out: one row, however many are like it
    weights: Floats  # (N,) of all those rows
    as_often: NDArray[np.intp]  # which document each row is, as often as it came

    @classmethod
    def of(cls, model: TextModel, sample: list[Example]) -> LeftOutSample | str:
        """The documents of a sample that can be left out; in words why they are too few, if so."""
        if len(model.classes_) < 2:
            return "there is only one class"
        if (error := obstacle(model.recipe)) is not None:
            return error.problem
        without = LeaveOneOut(model.tally, model.recipe, model.threads)
        mass = dict(zip(without.counts.classes, without.counts.class_documents, strict=True))
        # The only text of a class cannot be left out: nothing would be known of the class.
        sample = [row for row in sample if UNIT <= row.weight < mass.get(row.label, 0.0)]
        sample = few_enough(sample, len(model.classes_))
        as_often = as_rows(sample)
        if len(as_often) < FEWEST_TO_CALIBRATE:
            return f"that takes {FEWEST_TO_CALIBRATE} texts, and {len(as_often)} can be left out"
        codes = class_numbers([row.label for row in sample], model.class_names)
        each = np.array([row.weight for row in sample])
        weights = each * np.array([row.rows for row in sample])
        rows = model.scorer.rows([row.text for row in sample], model.threads)
        return cls(without, model.class_names, rows, codes, each, weights, as_often)

    @cached_property
    def data(self) -> Floats:
        """The prior of the data (N, K), whatever the model's own: texts come as they did then."""
        return self.without.log_prior(self.codes, self.each, "data")

    @cached_property
    def words(self) -> Floats | None:
        """How many words of each document the model of all others knows, (N,)."""
        return self.without.words(self.rows, self.each)

    def at(self, alpha: float, *, biases: bool = True) -> tuple[float, Calibration, Floats]:
        """The loss with this smoothing once it is calibrated, the calibration, and the scores (N, K)."""
        without, codes, each = self.without, self.codes, self.each
        scores = without.scores(self.rows, codes, each, alpha) - without.log_prior(codes, each)
        found = Calibration.of_parts(
            scores[None],
            codes,
            self.weights,
            offset=self.data,
            start=np.array([_slope(scores + self.data)]),
            biases=biases,
            words=self.words,
        )
        calibrated = found.applied(scores, words=self.words) + self.data
        return log_loss(calibrated, codes, self.weights), found, scores

    def best_alpha(self) -> float:
        """The smoothing of least loss, by so many of the documents as are soon left out."""
        K = len(self.classes)
        n = max(CHOOSE_BY, int(np.searchsorted(self.rows.indptr[1:] * K, CHOOSE_CELLS)))
        codes, each, weights = self.codes[:n], self.each[:n], self.weights[:n]  # in the order of hashes
        some = replace(self, rows=self.rows[:n], codes=codes, each=each, weights=weights)
        few = K <= MANY  # a bias for each of many costs more than leaving texts out
        return _best_alpha(lambda alpha: some.at(alpha, biases=few)[0], ODDS / float(weights.sum()))

    def lesson(self, alpha: float) -> Lesson:
        """What the documents say of the model with this smoothing."""
        codes, weights, data, words = self.codes, self.weights, self.data, self.words
        loss, calibration, scores = self.at(alpha)
        posterior = log_softmax(calibration.applied(scores, words=words) + data)
        before = (scores + data).argmax(axis=1) == codes
        for _ in range(MOST_STEPS):
            steeper = _steeper(calibration, scores, codes, weights, data, words)
            answers = log_softmax(steeper.applied(scores, words=words) + data)
            right, next_right = (each.argmax(axis=1) == codes for each in (posterior, answers))
            gains = surely_more(next_right, right) or surely_more(before, right)
            if not gains or log_loss(answers, codes, weights) > MOST_LOSS * loss:
                break
            calibration, posterior = steeper, answers
        rows = self.as_often
        after, truth = posterior[rows], codes[rows]
        about = calibration.told((scores + data)[rows], after, truth, self.each[rows])
        promised = HeldOut.of(after, truth) if len(rows) >= FEWEST else None
        return Lesson(calibration, promised, about)


def lesson(model: TextModel, sample: LeftOutSample | str) -> Lesson | str:
    """What a sample of the documents of a model teaches; in words why nothing, if it does not."""
    if isinstance(sample, str):
        return sample
    learner: Any = model.recipe.learner
    alpha = float(learner.conditional.alpha)
    if alpha == 0:
        return "with alpha=0 a word rules out every class that it was not seen in, however it is weighed"
    return sample.lesson(alpha)


def _steeper(
    calibration: Calibration,
    scores: Floats,
    codes: NDArray[np.int64],
    weights: Floats,
    data: Floats,
    words: Floats | None,
) -> Calibration:
    """The calibration whose slope is larger by a step, with the biases that then cost least.

    Where texts are long, likelihoods are far too sure and their slope is small; a prior beside them that is
    left as it is then outweighs them in short texts.
    """
    slopes = STEP * calibration.slopes
    if not np.ndim(calibration.bias) and not np.ndim(calibration.rate):  # of very many classes none has one
        return replace(calibration, slopes=slopes)
    nothing = np.zeros((0, *scores.shape))
    found = Calibration.of_parts(nothing, codes, weights, offset=slopes[0] * scores + data, words=words)
    return replace(found, slopes=slopes)


def surely_more(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> bool:
    """Whether more are right in the first answers than in the second, by two standard errors.

    >>> surely_more(np.array([True] * 9), np.array([False] * 9)), surely_more(np.ones(3) > 0, np.ones(3) > 0)
    (True, False)
    """
    won, lost = np.count_nonzero(first & ~second), np.count_nonzero(second & ~first)
    return bool(won - lost > 2.0 * np.sqrt(won + lost))


def _slope(scores: Floats) -> float:
    """Where the search for a slope begins: scores of texts have the size of their length."""
    ordered = np.sort(scores, axis=1)
    return min(1.0, 2.0 / max(float(np.median(ordered[:, -1] - ordered[:, -2])), 1e-3))


def _best_alpha(loss: Callable[[float], float], odds: float = 0.0) -> float:
    """The smoothing of least loss, to three digits.

    From 1 by half decades while the loss falls by more than ``odds``, downwards or else upwards; then the
    lowest point of the parabola through the best and those beside it.

    >>> _best_alpha(lambda alpha: (np.log10(alpha) + 0.6) ** 2)
    0.251
    >>> _best_alpha(lambda alpha: alpha), _best_alpha(lambda alpha: -alpha)
    (0.01, 100.0)
    """
    points, best = {0: loss(1.0)}, 0
    for step in (-1, 1):
        at = step
        while LOWEST <= at <= HIGHEST:
            points[at] = loss(10.0 ** (at / 2))
            if points[at] >= points[at - step] - odds:
                break
            best, at = at, at + step
        if best:
            break
    shift = 0.0
    if best - 1 in points and best + 1 in points:
        left, low, right = (points[at] for at in (best - 1, best, best + 1))
        bend = left - 2 * low + right
        shift = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return rounded(10.0 ** ((best + min(max(shift, -0.5), 0.5)) / 2))


def rounded(alpha: float) -> float:
    """A smoothing to three digits, which can be written.

    >>> rounded(0.060980456)
    0.061
    """
    return float(f"{alpha:.3g}")
