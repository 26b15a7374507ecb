"""Factors for the rows of each class, which multiply their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textodds.data.labels import by_name
from textodds.errors import InputError, suggestion
from textodds.learn.arrays import Floats

ClassWeight = str | dict[str, float] | None


def class_factors(class_weight: ClassWeight, classes: Sequence[str], mass: Floats) -> Floats:
    """A factor for each class, (K,), whose rows weigh ``mass`` (K,) in all."""
    if class_weight is None:
        return np.ones(len(classes))
    if class_weight == "balanced":
        seen = mass > 0
        balanced = np.zeros(len(mass))
        balanced[seen] = mass.sum() / (seen.sum() * mass[seen])
        return balanced
    assert isinstance(class_weight, dict)
    class_weight = by_name(class_weight)
    unknown = sorted(set(class_weight) - set(classes))
    if unknown:
        raise InputError(
            f"there is no class `{unknown[0]}`{suggestion(unknown[0], classes)}",
            hint=f"the classes are {', '.join(classes[:20])}",
        )
    factors = np.array([float(class_weight.get(name, 1.0)) for name in classes])
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise InputError("a class weight is below zero or not finite", hint="give zero or more")
    return factors
