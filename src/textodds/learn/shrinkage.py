r"""How far to shrink a covariance: intensities chosen from data, and the choice for dense rows (`chosen`).

All for :math:`(1 - \gamma) C + \gamma \tfrac{\operatorname{tr} C}{V} I`. In units in which every column has
variance 1, that is shrinkage towards the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.arrays import Floats, Integers
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.stats.moments import Moments

MOST = 20_000  # rows that a choice looks at; more would not change it by much
INTENSITIES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 33)])


def ledoit_wolf(rows: Floats, weights: Floats) -> float:
    r"""The intensity of Ledoit and Wolf for centred rows (N, V) with weights (N,).

    .. math:: \gamma = \min\Bigl(1, \frac{\frac1{n^2}\sum_i u_i \lVert x_i x_i^\top - C \rVert^2}
              {\lVert C - \mu I \rVert^2}\Bigr)

    from "A well-conditioned estimator for large-dimensional covariance matrices" (2004), lemma 3.3.
    """
    n = float(weights.sum())
    V = rows.shape[1]
    if V == 0:
        return 1.0
    C = (rows * weights[:, None]).T @ rows / n
    squares = np.einsum("iv,iv->i", rows, rows)
    spread = max(float(weights @ squares**2) / n - float((C**2).sum()), 0.0) / n
    distance = float((C**2).sum()) - float(np.trace(C)) ** 2 / V
    return 1.0 if distance <= 0 else min(1.0, spread / distance)


def leave_one_out(
    rows: Floats, weights: Floats, scatter: Floats, n: float, class_weight: Floats, intensities: Floats
) -> Floats:
    r"""Log-likelihood of rows, each under the Gaussian of all others, for each intensity.

    ``rows`` (N, V) are centred at the means of their classes, which weigh ``class_weight`` (N,);
    ``scatter`` (V, V), of weight ``n``, contains each of them. Without row d of weight u, whose class
    weighs m, the mean moves to where the row is :math:`\tfrac{m}{m - u} d` away, and

    .. math:: A = (1 - \gamma) \frac{S}{n - u} + \gamma\mu I, \qquad
              A_{-i} = A - c\,d d^\top, \quad c = \frac{1 - \gamma}{n - u} \frac{m u}{m - u}

    so that with :math:`h = d^\top A^{-1} d`, by Sherman and Morrison,
    :math:`d^\top A_{-i}^{-1} d = h / (1 - c h)` and :math:`|A_{-i}| = |A| (1 - c h)`. The target's
    :math:`\mu` is kept as it is with the row.

    References
    ----------
    Hoffbeck, Landgrebe (1996), "Covariance matrix estimation and classification with limited training
    data", eq. 14.
    """
    V = scatter.shape[0]
    if V == 0:
        return np.where(intensities == intensities.max(), 0.0, -np.inf)
    values, vectors = np.linalg.eigh(scatter)
    values = np.maximum(values, 0.0)
    mu = float(values.sum()) / n / V
    squares = (rows @ vectors) ** 2  # (N, V)
    u, m = weights, class_weight
    usable = (m - u) > 1e-9 * m  # the only row of a class cannot be left out
    if not usable.any():
        return np.where(intensities == intensities.max(), 0.0, -np.inf)  # nothing speaks for less
    squares, u, m = squares[usable], u[usable], m[usable]
    out = np.empty(len(intensities))
    for at, gamma in enumerate(intensities):
        spectrum = (1 - gamma) * values / (n - u)[:, None] + gamma * mu  # (N, V)
        if not (spectrum > 0).all():
            out[at] = -np.inf
            continue
        h = (squares / spectrum).sum(axis=1)
        c = (1 - gamma) / (n - u) * m * u / (m - u)
        left = 1 - c * h
        if not (left > 1e-12).all():
            out[at] = -np.inf
            continue
        distance = (m / (m - u)) ** 2 * h / left
        determinant = np.log(spectrum).sum(axis=1) + np.log(left)
        out[at] = float(u @ (-0.5 * (distance + determinant + V * np.log(2 * np.pi))))
    return out


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
