"""Learning curves: their sizes, the order in which rows are learned from, and where one overtakes another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from textodds.learn.arrays import Floats, Integers
from textodds.training.choose.trial import Answers

RESAMPLES = 1000

SMALLEST = 20
"""Rows that a learning curve begins with, or two of each class where these are more."""

PAIRS = {
    "text": (("multinomial", "softmax"), ("bernoulli", "softmax")),
    "row": (("gaussian", "lda"), ("gaussian", "qda"), ("lda", "qda"), ("lda", "softmax")),
}
"""Learners of which the second assumes less than the first, and may overtake it: of texts, of tables."""

WHY = {
    "text": "Softmax regression and naive Bayes are a pair: the same linear form, fitted to p(label | text) "
    "or to p(text, label). With V words the generative model comes near the best it can do after about log V "
    "texts, the discriminative one after about V, but the best of the latter is at least as good. So the "
    "first may lead on few texts, and the second overtakes it on many (Ng and Jordan 2001).",
    "row": "Each of these pairs but the last is a Gaussian model with less and with more to estimate: "
    "variances of every class, one covariance of all classes, a covariance for every class. What estimates "
    "less comes near its best on fewer rows; what assumes less ends better, if there is something to gain. "
    "It is the trade that Ng and Jordan (2001) describe for generative and discriminative models, of which "
    "linear discriminant analysis and softmax regression are a pair: the same linear form, fitted to "
    "p(row, label) or to p(label | row).",
}


@dataclass(frozen=True)
class Point:
    """What a model came to on so many rows, once for each repeat."""

    size: int
    errors: tuple[float, ...]
    log_losses: tuple[float, ...]

    @property
    def error(self) -> float:
        """Mean share of wrong answers."""
        return math.fsum(self.errors) / len(self.errors)

    @property
    def log_loss(self) -> float:
        """Mean log-loss."""
        return math.fsum(self.log_losses) / len(self.log_losses)


@dataclass(frozen=True)
class LearningCurve:
    """The points of a model, by size."""

    name: str
    points: tuple[Point, ...]

    @classmethod
    def of(cls, name: str, answers: Mapping[int, Iterable[Answers]]) -> LearningCurve:
        """The curve of what a model answered, by size and repeat."""
        points = []
        for size in sorted(answers):
            if found := list(answers[size]):
                losses = tuple(each.log_loss for each in found)
                points.append(Point(size, tuple(each.error for each in found), losses))
        return cls(name, tuple(points))

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data."""
        points = [
            {**asdict(point), "error": point.error, "log_loss": point.log_loss} for point in self.points
        ]
        return {"name": self.name, "points": points}


@dataclass(frozen=True)
class Crossover:
    """Where the second of two models, which assumes less, overtakes the first and stays ahead.

    ``at`` is the size from which on its ``measure`` (``error`` or ``log_loss``) is below that of the first,
    read off between two sizes on a logarithmic axis: 0 where it is ahead from the smallest size on, infinity
    where it is not ahead at the largest. The interval at 95 % comes from drawing held-out rows, and repeats
    of each size, again with replacement.
    """

    measure: str
    first: str
    second: str
    smallest: int
    largest: int
    at: float
    interval: tuple[float, float]

    def sentence(self, noun: str = "row") -> str:
        """What it means."""
        low, high = self.interval
        span = f"95 %: {self._told(low, noun)} to {self._told(high, noun)}"
        if low == high:
            span = f"95 %: {self._told(low, noun)}"
        what = "error" if self.measure == "error" else "log-loss"
        if math.isinf(self.at):
            return (
                f"in {what}, {self.second} does not overtake {self.first} within these sizes, up to "
                f"{self.largest:,} {noun}s ({span})"
            )
        if not self.at:
            return (
                f"in {what}, {self.second} is ahead of {self.first} from the smallest size, "
                f"{self.smallest:,} {noun}s, on ({span})"
            )
        return f"in {what}, {self.second} overtakes {self.first} at about {_round(self.at)} {noun}s ({span})"

    def _told(self, size: float, noun: str) -> str:
        if math.isinf(size):
            return f"beyond {self.largest:,}"
        return f"below {self.smallest:,}" if not size else _round(size)

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data; None stands for beyond the largest size."""
        ends = [None if math.isinf(end) else end for end in self.interval]
        return {**asdict(self), "at": None if math.isinf(self.at) else self.at, "interval": ends}


def nested(codes: Integers, seed: Sequence[int]) -> Integers:
    """An order of the rows every beginning of which has all classes, about as often as all rows do.

    One row of each class comes first, in any order; then row i of the n of a class, shuffled, stands at
    about i / n of the whole.

    >>> order = nested(np.array([0] * 90 + [1] * 10), [0])
    >>> [int((order[:n] >= 90).sum()) for n in (2, 20, 50, 100)]
    [1, 2, 5, 10]
    """
    random = np.random.default_rng(list(seed))
    place = np.empty(len(codes))
    for k in range(int(codes.max(initial=-1)) + 1):
        own = random.permutation(np.flatnonzero(codes == k))
        place[own] = (np.arange(len(own)) + random.random()) / max(len(own), 1)
        place[own[:1]] = -random.random()
    return np.argsort(place, kind="stable").astype(np.int64)


def usual_sizes(n: int, n_classes: int) -> tuple[int, ...]:
    """Round sizes for a learning curve that are about evenly spaced on a logarithmic axis, n the last.

    >>> usual_sizes(4459, 2)
    (20, 50, 100, 200, 500, 1000, 2000, 4459)
    """
    least = max(SMALLEST, 2 * n_classes)
    steps = [step * 10**power for power in range(12) for step in (1, 2, 5)]
    return (*(size for size in steps if least <= size <= n / 1.25), n)


def overtaking(
    measure: str,
    first: tuple[str, Mapping[int, Sequence[Answers]]],
    second: tuple[str, Mapping[int, Sequence[Answers]]],
) -> Crossover | None:
    """Where the second model overtakes the first; None with fewer than two sizes that both have."""
    by_size: dict[int, Floats] = {}
    for size in sorted(set(first[1]) & set(second[1])):
        pairs = list(zip(first[1][size], second[1][size], strict=False))
        if pairs:
            by_size[size] = np.stack([_ahead(measure, a, b) for a, b in pairs], axis=1)  # (N, repeats)
    if len(by_size) < 2:
        return None
    sizes = list(by_size)
    known = np.all([~np.isnan(part).any(axis=1) for part in by_size.values()], axis=0)
    parts = [part[known] for part in by_size.values()]
    if not known.any():
        return None
    means = np.array([part.mean() for part in parts])
    at = crossing(sizes, means)
    drawn = np.sort([crossing(sizes, each) for each in _resampled(parts)])
    low, high = drawn[int(0.025 * (RESAMPLES - 1))], drawn[math.ceil(0.975 * (RESAMPLES - 1))]
    return Crossover(measure, first[0], second[0], sizes[0], sizes[-1], at, (float(low), float(high)))


def crossing(sizes: Sequence[int], ahead: Floats) -> float:
    """The size from which on ``ahead`` stays above zero, between two sizes by their logarithms.

    >>> round(crossing([10, 100, 1000], np.array([-1.0, -1.0, 1.0])), 1)
    316.2
    >>> crossing([10, 100], np.array([1.0, 2.0])), crossing([10, 100], np.array([1.0, 0.0]))
    (0.0, inf)
    """
    behind = np.flatnonzero(ahead <= 0)
    if not len(behind):
        return 0.0
    i = int(behind[-1])
    if i == len(sizes) - 1:
        return math.inf
    share = -ahead[i] / (ahead[i + 1] - ahead[i])
    return float(math.exp((1 - share) * math.log(sizes[i]) + share * math.log(sizes[i + 1])))


def _ahead(measure: str, first: Answers, second: Answers) -> Floats:
    """By how much the second is better on each row, (N,)."""
    if measure == "error":
        return second.right.astype(np.float64) - first.right
    return np.subtract(first.loss, second.loss, dtype=np.float64)


def _resampled(parts: Sequence[Floats]) -> Floats:
    """Means (RESAMPLES, sizes) over rows and repeats (N, repeats) of each size that are drawn again.

    The rows are the same ones at every size, as they are in truth; repeats are drawn for each size.
    """
    random = np.random.default_rng(0)
    n = len(parts[0])
    by_repeat = np.empty((RESAMPLES, sum(part.shape[1] for part in parts)))
    joined = np.concatenate(parts, axis=1)
    for at in range(0, RESAMPLES, 100):
        drawn = random.multinomial(n, np.full(n, 1 / n), size=100) / n  # (100, N)
        by_repeat[at : at + 100] = drawn @ joined
    means = []
    for own in np.split(by_repeat, np.cumsum([part.shape[1] for part in parts[:-1]]), axis=1):
        chosen = random.integers(own.shape[1], size=own.shape)
        means.append(np.take_along_axis(own, chosen, axis=1).mean(axis=1))
    return np.stack(means, axis=1)


def _round(size: float) -> str:
    """A size with two digits that count.

    >>> _round(12345.0), _round(87.2)
    ('12,000', '87')
    """
    digits = max(0, len(str(int(size))) - 2)
    return f"{round(size / 10**digits) * 10**digits:,}"
