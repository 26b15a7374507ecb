"""What was chosen, what else was tried, by how much it was behind, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.training.choose.trial import Trial


@dataclass(frozen=True, eq=False)
class Choice:
    """The outcome of a race.

    Attributes
    ----------
    winner : Trial
        What was chosen.
    trials : tuple of Trial
        The last trial of everything that was tried, on most texts and with least loss first.
    fate : dict
        Why a candidate did not go on: ``behind``, ``no time``, or ``no room`` in memory.
    seconds, budget : float
        What the race took, and what it was given.
    """

    winner: Trial
    trials: tuple[Trial, ...]
    fate: dict[str, str]
    seconds: float
    budget: float

    @property
    def recipe(self) -> Recipe:
        """The recipe that was chosen, its penalty included."""
        return self.winner.recipe

    def report(self) -> dict[str, Any]:
        """The choice as plain data, for the model file; without times, so that the file is the same again."""
        return {
            "features": self.winner.candidate.features,
            "learner": self.winner.candidate.learner,
            "log_loss": self.winner.log_loss,
            "accuracy": self.winner.accuracy,
            "held_out": len(self.winner.losses),
            "texts": self.winner.n,
            "budget": self.budget,
            "tried": [self._line(trial) for trial in self.trials],
            **{
                why.replace(" ", "_"): [name for name, fate in self.fate.items() if fate == why]
                for why in ("no time", "no room")
            },
        }

    def _line(self, trial: Trial) -> dict[str, Any]:
        """One candidate: how well it did and, if on the same texts as the winner, how far behind it is."""
        line: dict[str, Any] = {
            "name": trial.candidate.name,
            "texts": trial.n,
            "log_loss": trial.log_loss,
            "accuracy": trial.accuracy,
        }
        if trial is not self.winner and len(trial.losses) == len(self.winner.losses):
            behind, error = trial.behind(self.winner)
            line |= {"behind": behind, "error": error, "sure": sureness(behind, error)}
        return line


def sureness(behind: float, error: float) -> float:
    """Probability that what is behind by so much, with this standard error, is behind in truth.

    Examples
    --------
    >>> round(sureness(0.0196, 0.01), 3)
    0.975
    """
    if error == 0:
        return 1.0 if behind > 0 else 0.5
    return 0.5 * math.erfc(-behind / error / math.sqrt(2))
