"""Which word said what: the log-odds of a decision as a sum over words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.linear import LinearModel


@dataclass(frozen=True)
class Contribution:
    """A word of the text, how often it counts, and what it adds to the log-odds."""

    word: str
    count: int
    log_odds: float


@dataclass(frozen=True)
class Explanation:
    """Log-odds of ``label`` against ``rival``: ``start`` plus the contributions of the words.

    ``start`` is what the model believes before reading: the prior and, for a Bernoulli model, the
    absence of all words.
    """

    label: str
    rival: str
    start: float
    words: tuple[Contribution, ...]  # strongest first
    unknown: int  # terms the model does not know

    @property
    def log_odds(self) -> float:
        """The sum, exactly rounded: ``start`` and every contribution."""
        return math.fsum([self.start, *(word.log_odds for word in self.words)])

    def __str__(self) -> str:
        lines = [f"{self.label} rather than {self.rival}: log-odds {self.log_odds:+.2f}"]
        lines.append(f"  {self.start:+8.2f}  before reading")
        for word in self.words:
            times = f" × {word.count}" if word.count > 1 else ""
            lines.append(f"  {word.log_odds:+8.2f}  {word.word}{times}")
        if self.unknown:
            lines.append(f"            ({self.unknown} unknown)")
        return "\n".join(lines)


def explain(
    linear: LinearModel,
    features: NDArray[np.integer],
    values: NDArray[np.float64],
    counts: NDArray[np.float64],
    words: Sequence[str],
    unknown: int,
    label: int,
    rival: int,
) -> Explanation:
    """The explanation of one row: its features, their values, how often they occur, and their names."""
    weights = linear.weights.rows(features)  # (n, K)
    start = linear.log_prior + linear.intercept
    if linear.presence:
        values = counts = np.ones_like(counts)
    parts = values * (weights[:, label] - weights[:, rival])
    order = np.argsort(-np.abs(parts), kind="stable")
    return Explanation(
        linear.classes[label],
        linear.classes[rival],
        float(start[label] - start[rival]),
        tuple(Contribution(words[i], int(counts[i]), float(parts[i])) for i in order),
        unknown,
    )
