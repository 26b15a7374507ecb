"""The prior of classes as a parameter of an estimator has it: by name, by label, or in their order."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textodds.errors import InputError, TextoddsWarning
from textodds.interop.labels import Label, LabelArray, by_label, name_in, names
from textodds.learn.arrays import Floats
from textodds.learn.bayes import checked_shares
from textodds.learn.forms.linear import check_prior
from textodds.learn.registry import Prior

ClassPrior = ArrayLike | Mapping[Label, float] | str | None
"""A prior in the order of ``classes_``, by label, ``data``, ``uniform``; None: as ``fit_prior`` says."""


@dataclass(frozen=True, eq=False)
class PriorParameter:
    """A parameter that has a prior, and what it has.

    Examples
    --------
    >>> PriorParameter("class_prior", {True: 0.9, False: 0.1}).for_learner(None)
    {'true': 0.9, 'false': 0.1}
    >>> PriorParameter("class_prior", "uniform").shares(np.array(["a", "b"]), np.array([3.0, 1.0]))
    array([0.5, 0.5])
    """

    name: str
    given: ArrayLike | Mapping[Label, float]
    is_rescaled: bool = False  # whether shares of another sum than 1 are divided by it, with a warning

    def __post_init__(self) -> None:
        if isinstance(self.given, str):
            check_prior(self.given)

    @property
    def is_of_data(self) -> bool:
        """Whether classes are as probable as they are often in training."""
        return isinstance(self.given, str) and self.given == "data"

    def for_learner(self, labels: LabelArray | None) -> Prior:
        """The prior as a learner of the core takes it; labels (K,) are None where they are not known yet."""
        if isinstance(self.given, str):
            return self.given
        if isinstance(self.given, Mapping):
            return {name_in(self.name, label): float(share) for label, share in self.given.items()}
        if labels is None:
            raise InputError(
                f"`{self.name}` has the order of the classes, which is not known before the estimator is "
                "fitted",
                hint=f"fit it first, or name the classes: {self.name}={{'ham': 0.9, 'spam': 0.1}}",
            )
        return dict(zip(names(labels), self._checked(self.given, len(labels)).tolist(), strict=True))

    def shares(self, labels: LabelArray, mass: Floats) -> Floats:
        """The probabilities of the classes of these labels (K,), which have rows of so much weight (K,)."""
        K = len(mass)
        if isinstance(self.given, str):
            return np.asarray(mass / mass.sum()) if self.is_of_data else np.full(K, 1 / K)
        if isinstance(self.given, Mapping):
            return self._checked(by_label(self.name, self.given, labels), K)
        return self._checked(self.given, K)

    def _checked(self, given: ArrayLike, K: int) -> Floats:
        values = np.asarray(given, dtype=np.float64)
        total = float(values.sum())
        are_shares = values.shape == (K,) and (values >= 0).all() and 0 < total < np.inf
        if self.is_rescaled and are_shares and abs(total - 1) > 1e-6:
            warnings.warn(
                f"the priors sum to {total:g}; each was divided by that", TextoddsWarning, stacklevel=6
            )
            values = values / total
        return checked_shares(values, K)
