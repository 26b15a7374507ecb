"""Covariances that can be inverted: as estimated where that is possible, shrunk with a warning where not."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textodds.errors import InputError, Shrunk, TooFewRows, suggestion
from textodds.learn.arrays import Floats
from textodds.learn.conditionals.gaussian import FLAT, Gaussian, overall_variance
from textodds.learn.design import LabelledRows
from textodds.learn.forms.quadratic import Full
from textodds.learn.shrinkage import chosen, ledoit_wolf
from textodds.stats.moments import Moments

CHOICES = ("auto", "oas", "likelihood")

FROM_ROWS = ("auto", "likelihood")
"""Shrinkages that are chosen from rows, and not from their moments."""


def check_shrinkage(given: Any) -> None:
    """Refuse what `fit_by_shrinkage` does not know."""
    if given is None or given in CHOICES:
        return
    is_number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= 1:
        raise InputError(
            f"unknown shrinkage {given!r}{suggestion(str(given), CHOICES)}",
            hint="None, a number from 0 to 1, `auto`, `oas` or `likelihood`",
        )


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


def with_covariances(moments: Moments, estimators: Sequence[Any]) -> Moments:
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
    assert data is not None, "what is chosen from rows is not learned in batches"
    if shrinkage == "likelihood":
        rows = (np.asarray(data.rows), data.codes, data.weights, data.classes)
        choice = chosen(gaussian.covariance, shrinkage, *rows, pooling=gaussian.pooling)
        return fit_or_shrink(choice.gaussian, weigh(moments))
    intensities = _ledoit_wolf_by_class(data, moments)
    if gaussian.covariance == "shared":
        return fit_or_shrink(gaussian, _shrink(weigh(moments), intensities))
    return fit_or_shrink(replace(gaussian, shrinkage=intensities), weigh(moments))


def _shrink(moments: Moments, intensities: dict[str, float]) -> Moments:
    """The same with the scatter of each class drawn towards its diagonal."""
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
