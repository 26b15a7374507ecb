"""Solvers of the softmax regression problem, which know nothing of text."""

from textodds.optimise.bias import best_bias
from textodds.optimise.descent import Descent, descend
from textodds.optimise.information import Information, odds_ratio_interval, standard_errors
from textodds.optimise.newton import newton
from textodds.optimise.objective import Objective, Parameters
from textodds.optimise.optimum import solve
from textodds.optimise.outcome import Outcome
from textodds.optimise.separable import Separation, separating_direction

__all__ = [
    "Descent",
    "Information",
    "Objective",
    "Outcome",
    "Parameters",
    "Separation",
    "best_bias",
    "descend",
    "newton",
    "odds_ratio_interval",
    "separating_direction",
    "solve",
    "standard_errors",
]
