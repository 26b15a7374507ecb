r"""Covariances that can be inverted: as estimated where that is possible, shrunk where not, and how far.

Intensities chosen from data are all for :math:`(1 - \gamma) C + \gamma \tfrac{\operatorname{tr} C}{V} I`. In
units in which every column has variance 1, that is shrinkage towards the diagonal.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np

from textodds.errors import InputError, Shrunk, TooFewRows, suggestion
from textodds.learn.arrays import Floats, Integers
from textodds.learn.conditionals.gaussian import FLAT, Gaussian, overall_variance
from textodds.learn.design import LabelledRows
from textodds.learn.forms.quadratic import Full
from textodds.stats.moments import Moments

CHOICES = ("auto", "oas", "likelihood")

FROM_ROWS = ("auto", "likelihood")  # shrinkages that are chosen from rows, and not from their moments
MOST = 20_000  # rows that a choice looks at; more would not change it by much
INTENSITIES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 33)])


def check_shrinkage(
    given: object,
    choices: Sequence[str] = CHOICES,
    hint: str = "None, a number from 0 to 1, `auto`, `oas` or `likelihood`",
) -> None:
    """Refuse what is neither None, a share, nor one of the choices, which are those of `fit_by_shrinkage`."""
    if given is None or given in choices:
        return
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= float(given) <= 1:
        raise InputError(f"unknown shrinkage {given!r}{suggestion(str(given), choices)}", hint=hint)


def fit_exactly(gaussian: Gaussian, moments: Moments) -> Full:
    """The Gaussians, without smoothing where that can be; `TooFewRows` where they lack rows."""
    try:
        found = replace(gaussian, smoothing=0.0).fit(moments)
        assert isinstance(found, Full)
        if np.einsum("kvv->kv", found.factor).min(initial=1.0) ** 2 > FLAT:
            return found
    except TooFewRows:
        pass  # columns that repeat one another, or do not vary within classes, are no want of rows
    _refuse_points(moments)
    found = gaussian.fit(moments)
    assert isinstance(found, Full)
    if gaussian.shrinkage == 0:
        _refuse_unspanned(moments)
    return found


def fit_or_shrink(gaussian: Gaussian, moments: Moments) -> Full:
    """The Gaussians; shrunk by OAS, with a warning, where they lack rows."""
    try:
        return fit_exactly(gaussian, moments)
    except TooFewRows as error:
        _refuse_points(moments)
        warnings.warn(
            f"{error.problem}; it was shrunk towards its diagonal by OAS. Give a shrinkage to choose another "
            "one ('likelihood', a number), or more rows",
            Shrunk,
            stacklevel=4,
        )
        return fit_exactly(replace(gaussian, shrinkage="oas", target="diagonal"), moments)


def reweigh(moments: Moments, priors: Floats) -> Moments:
    """The same with the weights of the classes in the ratio of priors (K,)."""
    n = moments.count[:, :1]
    factor = priors[:, None] * n.sum() / n  # (K, 1)
    return replace(
        moments,
        class_rows=moments.class_rows * factor[:, 0],
        count=moments.count * factor,
        scatter=moments.scatter * factor[:, :, None],
    )


def with_covariances(moments: Moments, estimators: Sequence[object]) -> Moments:
    """The same with the covariances that fitted estimators of each class have: ``covariance_``, (V, V)."""
    scatter, V = np.empty_like(moments.scatter), moments.n_columns
    for k, estimator in enumerate(estimators):
        found = np.asarray(getattr(estimator, "covariance_", None), dtype=np.float64)
        if found.shape != (V, V):
            raise InputError(
                f"{type(estimator).__name__} does not have a covariance_ attribute of shape ({V}, {V})",
                hint="give an estimator of covariances, such as those of sklearn.covariance",
            )
        scatter[k] = found * moments.count[k, 0]
    return replace(moments, scatter=scatter)


def fit_by_shrinkage(
    gaussian: Gaussian,
    shrinkage: float | str | None,
    moments: Moments,
    data: LabelledRows | None,
    weigh: Callable[[Moments], Moments],
) -> Full:
    """The Gaussians with a shrinkage as scikit-learn and we name them.

    None: not at all, and then without ``weigh``; a number: towards a sphere; ``auto`` by Ledoit and Wolf,
    ``oas``, ``likelihood``: towards the diagonal. ``data`` has the rows of the moments, from which ``auto``
    and ``likelihood`` are chosen; ``weigh`` gives the classes other weights.
    """
    if shrinkage is None:
        return fit_or_shrink(gaussian, moments)
    if shrinkage == "oas":
        return fit_or_shrink(replace(gaussian, shrinkage="oas"), weigh(moments))
    if not isinstance(shrinkage, str):
        return fit_exactly(replace(gaussian, shrinkage=shrinkage, target="sphere"), weigh(moments))
    assert data is not None, "a shrinkage chosen from rows cannot be learned in batches"
    if shrinkage == "likelihood":
        choice = chosen(gaussian.covariance, shrinkage, data, pooling=gaussian.pooling)
        return fit_or_shrink(choice, weigh(moments))
    intensities = _ledoit_wolf_by_class(data, moments)
    if gaussian.covariance == "shared":
        return fit_or_shrink(gaussian, _shrink(weigh(moments), intensities))
    return fit_or_shrink(replace(gaussian, shrinkage=intensities), weigh(moments))


def _shrink(moments: Moments, intensities: dict[str, float]) -> Moments:
    gamma = np.array([intensities[name] for name in moments.classes])[:, None, None]
    diagonal = moments.scatter * np.eye(moments.n_columns)
    return replace(moments, scatter=(1 - gamma) * moments.scatter + gamma * diagonal)


def _ledoit_wolf_by_class(data: LabelledRows, moments: Moments) -> dict[str, float]:
    """The intensity of each class in units in which its columns have variance 1: scikit-learn's "auto"."""
    found, rows = {}, np.asarray(data.rows)
    for k, name in enumerate(moments.classes):
        own = data.codes == data.classes.index(name)
        variance = np.diag(moments.scatter[k]) / moments.count[k, 0]
        units = np.sqrt(np.where(variance > 0, variance, 1.0))
        found[name] = ledoit_wolf((rows[own] - moments.mean[k]) / units, data.weights[own])
    return found


def _refuse_unspanned(moments: Moments) -> None:
    """Refuse classes whose means differ in directions in which no row differs from its mean.

    Without this a few rows, repeated, would be taken for many in columns that repeat one another.
    """
    n, overall = moments.count[:, :1], overall_variance(moments)
    units = np.sqrt(np.where(overall > 0, overall, 1.0))
    within = moments.scatter.sum(axis=0) / n.sum() / np.outer(units, units)
    away = np.sqrt(n / n.sum()) * (moments.mean - (n * moments.mean).sum(axis=0) / n.sum()) / units  # (K, V)
    rank = _rank(within)
    if rank < _rank(within + away.T @ away):
        raise TooFewRows(
            f"rows of weight {n.sum():g} in {len(n)} classes have a covariance of rank {rank} over "
            f"{moments.n_columns} columns",
            hint="shrink it (shrinkage='oas', or a number such as 0.1), or use GaussianNB",
        )


def _refuse_points(moments: Moments) -> None:
    """Refuse rows that do not differ within any class: there is no covariance to begin with."""
    if not np.einsum("kvv->kv", moments.scatter).any():
        few = moments.class_rows.sum() <= len(moments.classes)
        raise TooFewRows(
            ("The number of samples must be more than the number of classes: " if few else "")
            + "rows do not differ within any class: the rank of their covariance is 0 over "
            f"{moments.n_columns} columns",
            hint="give each class more rows, or use GaussianNB",
        )


def _rank(C: Floats) -> int:
    return int(np.linalg.matrix_rank(C, tol=FLAT, hermitian=True))


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


def chosen(
    covariance: str, shrinkage: float | str | None, data: LabelledRows, *, pooling: float = 0.0
) -> Gaussian:
    """The Gaussian for dense rows (N, V), its shrinkage by class as given or chosen.

    None is ``likelihood``: each class's rows are most likely when each is left out in turn.
    """
    how = "likelihood" if shrinkage is None else shrinkage
    if isinstance(how, (int, float)) or how == "oas":
        return Gaussian(covariance, how, pooling=pooling)
    rows, codes, weights, classes = np.asarray(data.rows), data.codes, data.weights, data.classes
    if len(rows) > MOST:
        kept = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST])
        rows, codes, weights = rows[kept], codes[kept], weights[kept]
    moments = Moments.of_codes(rows, codes, classes, weights, full=True)
    index = np.array([moments.classes.index(name) if name in moments.classes else -1 for name in classes])
    codes = index[codes]
    present = (codes >= 0) & (weights > 0)
    rows, codes, weights = rows[present], codes[present], weights[present]
    intensity = partial(_intensity, how, rows - moments.mean[codes], codes, weights, moments)
    if how == "likelihood" and (covariance == "shared" or pooling):
        # With pooling the rows of other classes matter too, and one intensity is as far as it goes.
        return Gaussian(covariance, intensity(None), pooling=pooling)
    found = {name: intensity(k) for k, name in enumerate(moments.classes)}
    return Gaussian(covariance, dict.fromkeys(classes, 1.0) | found, pooling=pooling)


def _intensity(
    how: str, rows: Floats, codes: Integers, weights: Floats, moments: Moments, k: int | None
) -> float:
    """The intensity of a class, or of all together (None), by Ledoit and Wolf or by leave-one-out likelihood.

    Rows are about the means of their classes. Columns that do not vary have nothing to be shrunk; the others
    are divided by what makes their variance 1.
    """
    own = slice(None) if k is None else codes == k
    mass, scatter = moments.count[:, 0], moments.scatter
    n, S = (mass.sum(), scatter.sum(axis=0)) if k is None else (mass[k], scatter[k])
    variance = np.diag(S) / n
    some = np.flatnonzero(variance > 0)
    units = np.sqrt(variance[some])
    z = rows[own][:, some] / units
    if how == "ledoit-wolf":
        return ledoit_wolf(z, weights[own])
    S = S[np.ix_(some, some)] / np.outer(units, units)
    total = leave_one_out(z, weights[own], S, float(n), mass[codes[own]], INTENSITIES)
    return float(INTENSITIES[int(np.argmax(total))]) if np.isfinite(total).any() else 1.0
