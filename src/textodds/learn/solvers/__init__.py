"""Solvers of the softmax regression problem, which know nothing of text."""

from textodds.learn.solvers.descent import Descent, descend
from textodds.learn.solvers.information import Information, odds_ratio_interval
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Outcome, Parameters, best_bias
from textodds.learn.solvers.separable import Separation, separating_direction
from textodds.learn.solvers.solve import solve

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
]
