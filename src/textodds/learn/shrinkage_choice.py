"""Which shrinkage a covariance of dense rows gets: as given, or chosen from the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.arrays import Floats, Integers
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.shrinkage import INTENSITIES, leave_one_out, ledoit_wolf
from textodds.stats.moments import Moments

MOST = 20_000
"""Rows that a choice looks at; more would not change it by much."""


@dataclass(frozen=True)
class ShrinkageChoice:
    """A Gaussian with its shrinkage decided, and how."""

    gaussian: Gaussian
    how: str

    def report(self) -> dict[str, Any]:
        """What is worth keeping, as plain data."""
        return {"shrinkage": self.gaussian.shrinkage, "chosen_by": self.how}


def chosen(
    covariance: str,
    shrinkage: float | str | None,
    rows: Floats,
    codes: Integers,
    weights: Floats,
    classes: tuple[str, ...],
    *,
    target: str = "diagonal",
    pooling: float = 0.0,
    smoothing: float = 1e-9,
) -> ShrinkageChoice:
    """The Gaussian for dense rows (N, V), its shrinkage by class as given or chosen.

    None is ``likelihood``: each class's rows are most likely when each is left out in turn.
    """
    how = "likelihood" if shrinkage is None else shrinkage

    def gaussian(value: Any) -> Gaussian:
        return Gaussian(covariance, value, target, pooling, smoothing)

    if isinstance(how, (int, float)) or how == "oas":
        return ShrinkageChoice(gaussian(how), "oas" if how == "oas" else "given")
    if len(rows) > MOST:
        kept = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST])
        rows, codes, weights = rows[kept], codes[kept], weights[kept]
    moments = Moments.of_codes(rows, codes, classes, weights, full=True)
    index = np.array([moments.classes.index(name) if name in moments.classes else -1 for name in classes])
    codes = index[codes]
    present = (codes >= 0) & (weights > 0)
    rows, codes, weights = rows[present], codes[present], weights[present]
    centred = _CentredRows(rows - moments.mean[codes], codes, weights, moments, target)
    if how == "likelihood" and (covariance == "shared" or pooling):
        # With pooling the rows of other classes matter too, and one intensity is as far as it goes.
        return ShrinkageChoice(gaussian(centred.likelihood(None)), how)
    choose = centred.ledoit_wolf if how == "ledoit-wolf" else centred.likelihood
    found = {name: choose(k) for k, name in enumerate(moments.classes)}
    return ShrinkageChoice(gaussian(dict.fromkeys(classes, 1.0) | found), how)


@dataclass(frozen=True, eq=False)
class _CentredRows:
    """Rows about the means of their classes, from which intensities are chosen."""

    rows: Floats  # (N, V)
    codes: Integers  # (N,)
    weights: Floats  # (N,)
    moments: Moments
    target: str

    def ledoit_wolf(self, k: int) -> float:
        """The intensity of a class by Ledoit and Wolf."""
        own = self.codes == k
        some, units = _units(self.moments, k, self.target)
        return ledoit_wolf(self.rows[own][:, some] / units, self.weights[own])

    def likelihood(self, k: int | None) -> float:
        """The intensity of largest leave-one-out likelihood, of a class or of all together (None)."""
        own = slice(None) if k is None else self.codes == k
        some, units = _units(self.moments, k, self.target)
        mass, scatter = self.moments.count[:, 0], self.moments.scatter
        total = leave_one_out(
            self.rows[own][:, some] / units,
            self.weights[own],
            (scatter.sum(axis=0) if k is None else scatter[k])[np.ix_(some, some)] / np.outer(units, units),
            float(mass.sum() if k is None else mass[k]),
            mass[self.codes[own]],
            INTENSITIES,
        )
        return float(INTENSITIES[int(np.argmax(total))]) if np.isfinite(total).any() else 1.0


def _units(moments: Moments, k: int | None, target: str) -> tuple[NDArray[np.intp], Floats]:
    """Columns to choose by, and what they are divided by for their target to be a multiple of the identity.

    Towards the diagonal, a column that does not vary has nothing to be shrunk.
    """
    scatter = np.einsum("kvv->kv", moments.scatter)
    n = moments.count[:, 0]
    variance = scatter.sum(axis=0) / n.sum() if k is None else scatter[k] / n[k]
    if target != "diagonal":
        return np.arange(len(variance)), np.ones(len(variance))
    some = np.flatnonzero(variance > 0)
    return some, np.sqrt(variance[some])
