"""Priors and scores of classes of which some have no rows: what estimators of matrices share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import log_joint


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """A prior of K classes, and the class-conditional of the J of them that have rows."""

    places: NDArray[np.intp]  # (J,) which of the classes those are
    log_prior: Floats  # (K,)
    density: Any  # of the J classes
    has_prior: bool = True  # whether the prior has a part in the scores

    def by_class(self, values: Floats, empty: float = np.nan) -> Floats:
        """Values by class (J, ...) for all classes, (K, ...)."""
        out = np.full((len(self.log_prior), *values.shape[1:]), empty)
        out[self.places] = values
        return out

    def log_joint(self, log_likelihood: Floats) -> Floats:
        """``log p(x, k)``, (N, K); a class without rows is impossible."""
        if not self.has_prior:
            return log_likelihood
        joint, K = log_joint(log_likelihood, self.log_prior[self.places]), len(self.log_prior)
        if len(self.places) == K and (self.places == np.arange(K)).all():
            return joint
        out = np.full((len(joint), K), -np.inf)
        out[:, self.places] = joint
        return out


def of_log_odds(log_odds: Floats) -> Floats:
    """``p(k | x)`` of two classes, (N, 2), from the log-odds of the second (N,)."""
    out = np.empty((len(log_odds), 2))
    with np.errstate(over="ignore", divide="ignore"):  # odds of zero and of infinity are right
        odds = np.exp(log_odds)
        np.divide(1.0, 1.0 + odds, out=out[:, 0])  # not 1 - p, which would lose the digits of a
        np.divide(1.0, 1.0 + 1.0 / odds, out=out[:, 1])  # small probability
    return out


def shares_of(log_prior: Floats) -> Floats:
    """The prior of some classes, (J,), brought to a sum of 1."""
    prior = np.exp(log_prior)
    return np.asarray(prior / prior.sum())


def refuse_overflow(joint: Floats) -> Floats:
    """``log p(x, k)``, (N, K), unless no class has a finite one for some row."""
    if np.isfinite(joint).all():
        return joint
    bad = np.flatnonzero(~np.isfinite(joint.max(axis=1)))  # some classes may be impossible, all cannot
    if len(bad):
        raise InputError(
            f"row {bad[0]} has numbers so large that no class has a density there",
            hint="numbers must be below 1e100: drop the row, or scale the column",
        )
    return joint


def checked_shares(priors: ArrayLike, K: int) -> Floats:
    """Probabilities of K classes, (K,), if ``priors`` are such."""
    values = np.asarray(priors, dtype=np.float64)
    if values.shape != (K,):
        raise InputError(
            f"Number of priors must match number of classes: there are {values.size} priors for {K} classes",
            hint="give one for each of `classes_`, in that order",
        )
    bad = np.flatnonzero(~(values >= 0))
    if len(bad):
        raise InputError(
            f"Priors must be non-negative: number {bad[0]} is {values[bad[0]]:g}",
            hint="priors must be non-negative shares, 1 in all",
        )
    if abs(float(values.sum()) - 1) > 1e-6:
        raise InputError(
            f"The sum of the priors should be 1: these sum to {values.sum():g}",
            hint="give each class a share of zero or more, 1 in all",
        )
    return np.asarray(values / values.sum())
