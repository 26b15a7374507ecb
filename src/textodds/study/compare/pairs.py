r"""Whether one model is better than another, asked about the same rows.

Both answered every row, so that what is compared are the rows on which they differ: of accuracy those that
only one had right, of log-loss the differences row by row.

References
----------
McNemar (1947), exact by the binomial distribution; Agresti and Min (2005), "Simple improved confidence
intervals for comparing matched proportions", section 3; Holm (1979), "A simple sequentially rejective
multiple test procedure"; Dietterich (1998), "Approximate statistical tests for comparing supervised
classification learning algorithms", for why pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from textodds.judge.evaluation import Interval, Z, mcnemar
from textodds.stats.distributions import student_cdf, student_quantile
from textodds.training.choose.trial import Answers

LEVEL = 0.05
"""A difference is told where luck alone gives as large a one less often than this, in all tests together."""


@dataclass(frozen=True)
class PairedTest:
    """A model against the best one by some measure, ``accuracy`` or ``log_loss``, on n rows.

    ``difference`` is by how much the best is better, with an interval at 95 % of its own; ``adjusted`` is
    the p-value after Holm, for as many tests as the best has ``rivals``. Of accuracy, ``only`` counts
    the rows that only the best, and only the other, had right.
    """

    measure: str
    best: str
    other: str
    n: int
    difference: float
    interval: Interval
    p_value: float
    adjusted: float
    rivals: int = 1
    only: tuple[int, int] | None = None

    @property
    def is_told(self) -> bool:
        """Whether the two can be told apart."""
        return self.adjusted < LEVEL

    def sentence(self, noun: str = "row") -> str:
        """What it means."""
        low, high = self.interval
        on = f"on these {self.n:,} {noun}s"
        if self.measure == "accuracy":
            span = f"{100 * low:.1f} to {100 * high:.1f} points"
        else:
            span = f"{low:.4f} to {high:.4f}"
        if not self.is_told:
            told = f"{self.best} and {self.other} cannot be told apart {on}"
            if self.p_value < LEVEL:
                return f"{told}: {span}, which would be enough for one pair but not among {self.rivals}"
            if self.only is not None and low > 0:  # the interval is near enough, the test is exact
                return f"{told}: only {sum(self.only):,} are answered rightly by one of the two alone"
            return f"{told} (difference {span})"
        what = "more accurate" if self.measure == "accuracy" else "better in log-loss"
        return f"{self.best} is {what} than {self.other} by {span}"

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data."""
        return {**asdict(self), "is_told": self.is_told}


def paired_tests(answers: dict[str, Answers]) -> tuple[PairedTest, ...]:
    """The best of the models against each of the others: by accuracy, then by log-loss.

    Which is the best is chosen on the same rows, so that its lead is a little flattered.
    """
    return (*_family("accuracy", answers), *_family("log_loss", answers))


def _family(measure: str, answers: dict[str, Answers]) -> list[PairedTest]:
    def worth(name: str) -> float:
        found = answers[name].error if measure == "accuracy" else answers[name].log_loss
        return math.inf if math.isnan(found) else found

    order = sorted(answers, key=worth)
    if len(order) < 2 or math.isinf(worth(order[0])):
        return []
    best = order[0]
    test = _by_accuracy if measure == "accuracy" else _by_loss
    others = [other for other in order[1:] if math.isfinite(worth(other))]
    found = [test(best, other, answers[best], answers[other]) for other in others]
    adjusted = holm([each.p_value for each in found])
    return [
        replace(each, adjusted=p_value, rivals=len(found))
        for each, p_value in zip(found, adjusted, strict=True)
    ]


def _by_accuracy(best: str, other: str, first: Answers, second: Answers) -> PairedTest:
    a, b = first.right, second.right
    only = int((a & ~b).sum()), int((b & ~a).sum())
    p_value = mcnemar(*only)
    n = len(a)
    return PairedTest(
        "accuracy", best, other, n, (only[0] - only[1]) / n, matched(*only, n), p_value, p_value, only=only
    )


def matched(first: int, second: int, n: int) -> Interval:
    """The interval at 95 % of a difference of shares of the same n rows.

    ``first`` and ``second`` are the rows that only one, and only the other, had right. Half a row is added to
    each of the four kinds of pairs (Agresti and Min), so that it is honest where these are few.

    >>> [round(end, 4) for end in matched(12, 5, 200)]
    [-0.0062, 0.0755]
    """
    total = n + 2
    difference = (first - second) / total
    spread = Z * math.sqrt(max((first + second + 1) - (first - second) ** 2 / total, 0.0)) / total
    return max(difference - spread, -1.0), min(difference + spread, 1.0)


def _by_loss(best: str, other: str, first: Answers, second: Answers) -> PairedTest:
    n = int(np.count_nonzero(~np.isnan(first.loss + second.loss)))
    mean, error = second.behind(first)
    error = error * math.sqrt(n / (n - 1)) if n > 1 else math.inf  # that of Student: over n - 1
    if not error:  # the same loss on every row
        p_value = 0.0 if mean else 1.0
        return PairedTest("log_loss", best, other, n, mean, (mean, mean), p_value, p_value)
    spread = student_quantile(0.975, n - 1) * error if n > 1 else math.inf
    p_value = 2 * float(student_cdf(-abs(mean) / error, n - 1)) if n > 1 else 1.0
    return PairedTest("log_loss", best, other, n, mean, (mean - spread, mean + spread), p_value, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values that stay honest together (Holm): the least times their number, the next times one less.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    times = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(times * np.array(p_values)[order]), 1.0)
    return adjusted.tolist()
