"""What every class-conditional gives, and the smoothing they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textodds.errors import InputError, suggestion
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LOG_ZERO, Weights, log
from textodds.stats.tally import Counts


@dataclass(frozen=True, eq=False)
class Estimate:
    """``log p(x | k) = intercept_k + Σ_v x_v w_vk``, up to a term that is the same for all classes."""

    intercept: Floats  # (K,)
    weights: Weights  # (V, K)


Alpha = float | ArrayLike  # smoothing in pseudo-counts: one number, or one per feature


def checked_alpha(alpha: Alpha) -> Alpha:
    """The smoothing, if it is zero or more throughout."""
    values = np.asarray(alpha, dtype=np.float64)
    if values.ndim > 1 or not np.all((values >= 0) & (values < 1e100)):
        raise InputError(
            f"alpha must be zero or more, got {alpha!r}",
            hint="the usual choice is 1.0; try 0.01 to 1 for long documents",
        )
    return float(values) if values.ndim == 0 else values


def one_alpha(alpha: object) -> float:
    """The smoothing, if it is one number of zero or more."""
    if not isinstance(alpha, (int, float, np.number)) or isinstance(alpha, bool):
        raise InputError(
            f"alpha must be one number, zero or more, got {alpha!r}", hint="the usual choice is 1.0"
        )
    return float(checked_alpha(alpha))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Conditional:
    """A family of distributions of a document given its class, with a smoothing that is checked."""

    alpha: Alpha = 1.0
    is_likelihood = True  # whether scores are log-likelihoods, so that Bayes' rule gives probabilities

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))

    @property
    def presence(self) -> bool:
        """Whether only the presence of a feature counts."""
        return False

    def fit(self, counts: Counts) -> Estimate:
        """The estimate from counts."""
        raise NotImplementedError


def alpha_of(alpha: Alpha, counts: Counts) -> Floats:
    """Smoothing by feature: (V,), or () for one number."""
    values = np.asarray(alpha, dtype=np.float64)
    if values.ndim == 1 and len(values) != counts.n_features:
        raise InputError(
            f"alpha has {len(values)} entries, the model {counts.n_features} features",
            hint="give one number, or one per word in the order of `model.vocabulary.words()`",
        )
    return values


def log_table(values: Floats) -> Floats:
    """Natural logarithms of a full table, written over it, with `LOG_ZERO` for zero and what is below it."""
    if values.min(initial=1.0) > 0:
        return np.log(values, out=values)
    nothing = values <= 0
    values[nothing] = 1.0
    np.log(values, out=values)
    values[nothing] = LOG_ZERO
    return values


def log_total(total: Floats, cells: int) -> Floats:
    """Logarithms of totals; where nothing was counted in so many cells, each of them is left one share.

    That is the limit of a smoothing that goes to zero: `LOG_ZERO` less this is ``-log(cells)``.
    """
    return log(total) + np.where(total > 0, 0.0, np.log(cells))


def check_choice(option: str, given: str, choices: tuple[str, ...]) -> None:
    """Refuse an option that is none of its choices."""
    if given not in choices:
        raise InputError(
            f"unknown {option} {given!r}{suggestion(str(given), choices)}",
            hint=" or ".join(f"`{choice}`" for choice in choices),
        )
