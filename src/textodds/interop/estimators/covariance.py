"""Covariances that can be inverted: as they are where they can, and what is done where not."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from textodds.errors import InputError, Shrunk, TooFewRows
from textodds.learn.conditionals.gaussian import FLAT, Gaussian, overall_variance
from textodds.learn.forms.quadratic import Full
from textodds.learn.shrinkage import ledoit_wolf
from textodds.stats.moments import Moments

Floats = NDArray[np.float64]


def settled(gaussian: Gaussian, moments: Moments) -> Full:
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


def settled_or_shrunk(gaussian: Gaussian, moments: Moments) -> Full:
    """The Gaussians; shrunk by OAS, with a warning, where they lack rows."""
    try:
        return settled(gaussian, moments)
    except TooFewRows as error:
        _refuse_points(moments)
        warnings.warn(
            f"{error.problem}; it was shrunk towards its diagonal by OAS. Give a shrinkage to choose another "
            "one ('likelihood', a number), or more rows",
            Shrunk,
            stacklevel=4,
        )
        return settled(replace(gaussian, shrinkage="oas", target="diagonal"), moments)


def weighted(moments: Moments, priors: Floats) -> Moments:
    """The same with the weights of the classes in the ratio of priors (K,)."""
    n = moments.count[:, :1]
    factor = priors[:, None] * n.sum() / n  # (K, 1)
    return replace(
        moments,
        class_rows=moments.class_rows * factor[:, 0],
        count=moments.count * factor,
        scatter=moments.scatter * factor[:, :, None],
    )


def shrunk(moments: Moments, intensities: dict[str, float]) -> Moments:
    """The same with the scatter of each class drawn towards its diagonal."""
    gamma = np.array([intensities[name] for name in moments.classes])[:, None, None]
    diagonal = moments.scatter * np.eye(moments.n_columns)
    return replace(moments, scatter=(1 - gamma) * moments.scatter + gamma * diagonal)


def ledoit_wolf_by_class(
    rows: Floats, codes: NDArray[np.intp], weights: Floats | None, classes: tuple[str, ...], moments: Moments
) -> dict[str, float]:
    """The intensity of each class in units in which its columns have variance 1: scikit-learn's "auto"."""
    found = {}
    for k, name in enumerate(moments.classes):
        own = codes == classes.index(name)
        variance = np.diag(moments.scatter[k]) / moments.count[k, 0]
        units = np.sqrt(np.where(variance > 0, variance, 1.0))
        u = np.ones(int(own.sum())) if weights is None else weights[own]
        found[name] = ledoit_wolf((rows[own] - moments.mean[k]) / units, u)
    return found


def estimated(
    rows: Floats, codes: NDArray[np.intp], classes: tuple[str, ...], moments: Moments, estimator: Any
) -> Moments:
    """The same with covariances of the classes as an estimator finds them: `fit`, then ``covariance_``."""
    scatter = np.empty_like(moments.scatter)
    for k, name in enumerate(moments.classes):
        own = clone(estimator, safe=False)  # the caller's stays as it was
        own.fit(rows[codes == classes.index(name)])
        found = np.asarray(getattr(own, "covariance_", None), dtype=np.float64)
        if found.shape != scatter[k].shape:
            V = moments.n_columns
            raise InputError(
                f"{type(estimator).__name__} does not have a covariance_ attribute of shape ({V}, {V})",
                hint="give an estimator of covariances, such as those of sklearn.covariance",
            )
        scatter[k] = found * moments.count[k, 0]
    return replace(moments, scatter=scatter)


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
