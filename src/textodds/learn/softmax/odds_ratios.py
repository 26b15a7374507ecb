"""Odds ratios of words, and how sure one can be of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.learn.solvers.information import Information, odds_ratio_interval
from textodds.learn.solvers.objective import Objective, Parameters


@dataclass(frozen=True)
class OddsRatio:
    """By what factor one more unit of a feature multiplies the odds of a label against its rival.

    A unit is one occurrence, or what the recipe's weighting makes of it. ``standard_error`` is that of
    ``log_odds``, infinite where the data leave it open; ``interval`` holds the odds ratio at ``level``.
    """

    feature: str
    log_odds: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def odds_ratio(self) -> float:
        """``exp(log_odds)``."""
        return math.exp(self.log_odds)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.feature}: × {self.odds_ratio:.3g} ({low:.3g} to {high:.3g}), "
            f"log-odds {self.log_odds:+.3f} ± {self.standard_error:.3f}"
        )


def odds_ratios(
    objective: Objective,
    at: Parameters,
    features: NDArray[np.integer],
    names: Sequence[str],
    label: int,
    rival: int,
    level: float = 0.95,
) -> tuple[OddsRatio, ...]:
    """The odds ratios of some features at an optimum; see `Information` for what the errors mean."""
    information = Information(objective, at)
    errors = information.standard_errors(features, label, rival)
    sign = np.array([-1.0, 1.0])
    ratios = []
    for name, v, error in zip(names, features.tolist(), errors.tolist(), strict=True):
        row = at.weights[v]
        scores = sign * row[0] / 2 if objective.n_classes == 2 else row
        log_odds = float(scores[label] - scores[rival])
        low, high = odds_ratio_interval(log_odds, error, level)
        ratios.append(OddsRatio(name, log_odds, error, (float(low), float(high))))
    return tuple(ratios)
