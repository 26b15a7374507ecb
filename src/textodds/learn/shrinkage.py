r"""How far to shrink a covariance: intensities chosen from data.

All for :math:`(1 - \gamma) C + \gamma \tfrac{\operatorname{tr} C}{V} I`. In units in which every column has
variance 1, that is shrinkage towards the diagonal.
"""

from __future__ import annotations

import numpy as np

from textodds.learn.arrays import Floats

INTENSITIES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 33)])


def oas(C: Floats, n: float) -> float:
    r"""The intensity of the oracle approximating shrinkage estimator for n rows of a Gaussian.

    .. math:: \gamma = \min\Bigl(1, \frac{\overline{C^2} + \mu^2}{(n + 1)(\overline{C^2} - \mu^2 / V)}\Bigr)

    with :math:`\mu` the mean of the diagonal and the bar the mean over all entries: as in scikit-learn,
    which differs by O(1 / V) from eq. 23 of Chen, Wiesel, Eldar, Hero (2010).
    """
    V = len(C)
    if V == 0:
        return 1.0
    mu, alpha = float(np.trace(C)) / V, float((C**2).mean())
    denominator = (n + 1) * (alpha - mu**2 / V)
    return 1.0 if denominator <= 0 else min(1.0, (alpha + mu**2) / denominator)


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
