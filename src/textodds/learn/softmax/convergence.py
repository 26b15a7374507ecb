"""How near to its optimum softmax regression is to come, and what is said where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textodds.learn.softmax.regression import PenalisedLearner
    from textodds.learn.solvers.objective import Outcome

TOLERANCE, GOOD = 1e-6, 1e-4
"""The relative gap that is asked for where nobody says, and what then will do where rounding ends it."""


def falls_short(learner: PenalisedLearner, outcome: Outcome) -> bool:
    """Whether a solution is not as good as was asked; of the default tolerance `GOOD` is good enough."""
    enough = GOOD if learner.tolerance == TOLERANCE else learner.tolerance
    return not outcome.converged and (outcome.gap is None or outcome.gap > enough)


def shortfall(learner: PenalisedLearner, outcome: Outcome, settings: str = "max_epochs or tolerance") -> str:
    """How far a solution is from what was asked, and what to do, such as to raise some ``settings``."""
    where = (
        f"a relative gap of {outcome.gap:.2g} is proven, {learner.tolerance:g} was asked"
        if outcome.gap is not None
        else f"the gradient still has length {outcome.gradient_norm:.2g}"
    )
    what = (
        "take more epochs, or a smaller rate"
        if learner.descent is not None
        else f"raise {settings}, lower C, or scale the features to similar lengths"
    )
    return f"not converged after {outcome.steps} steps: {where}; this is the best point found; {what}"
