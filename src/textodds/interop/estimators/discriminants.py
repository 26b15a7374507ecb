"""What linear and quadratic discriminant analysis share: shrinkage, and sparse rows."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from textodds.errors import InputError, TextoddsWarning, Unsupported, suggestion
from textodds.interop.estimators.base import FittedClasses, LabelledBatch, checked_priors, told
from textodds.interop.estimators.gaussians import NumberRows
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.labelled_rows import LabelledRows, checked_rows
from textodds.learn.registry import Prior
from textodds.learn.shrinkage_choice import chosen

Floats = NDArray[np.float64]

CHOICES = ("auto", "oas", "likelihood")

FROM_ROWS = ("auto", "likelihood")
"""Shrinkages that are chosen from rows, and not from their moments."""


def _takes_batches(estimator: Discriminants) -> bool:
    if estimator.shrinkage in FROM_ROWS:
        raise Unsupported(
            f"shrinkage={estimator.shrinkage!r} is chosen from all rows at once, not in batches",
            hint="shrinkage='oas', or a number",
        )
    if estimator.covariance_estimator is not None:
        raise Unsupported(
            "a covariance_estimator is given all rows at once, not batches", hint="give `fit` all"
        )
    return True


class Discriminants(NumberRows):
    """Gaussian classes with covariances, of dense or sparse rows."""

    solver: str
    shrinkage: float | str | None
    covariance_estimator: Any
    _solvers: tuple[str, ...]
    _full = True
    _least_rows = 2

    @property
    def _sparse(self) -> bool:  # type: ignore[override]
        # The other choices are made from a covariance that is written out.
        return not isinstance(self.shrinkage, str) and self.covariance_estimator is None

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (N, V), dense or sparse, with labels y (N,), and from nothing before."""
        self._check_choices()
        batch = self._batch(X, y, sample_weight, first=True, least=self._least_rows)
        if self.covariance_estimator is not None and batch.weights is not None:
            raise InputError(
                "a covariance_estimator takes no weights of rows", hint="give a shrinkage instead"
            )
        self.classes_ = batch.labels
        self.__dict__.pop("statistics_", None)
        if sparse.issparse(batch.rows):
            self._fitted = self._made_sparse(batch)
        else:
            self.statistics_ = self._counted(batch)
            self._fitted = None
            self._fitted = self._made(batch)
        return self

    @available_if(_takes_batches)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more dense rows: after the last batch, as if `fit` had seen them all."""
        self._check_choices()
        if hasattr(self, "classes_"):
            self._moments("further batch")
        super().partial_fit(X, y, classes, sample_weight)
        return self

    @property
    def priors_(self) -> Floats:
        """Probability of each class, (K,)."""
        return np.asarray(np.exp(self._known().log_prior))

    def log_joint(self, X: Any) -> Floats:
        """``log p(x, k)`` with all constants, (N, K); of an estimator fitted on dense rows."""
        self._moments("density")
        return super().log_joint(X)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        fitted = self._known()
        rows = self._rows(X)
        with np.errstate(all="ignore"):
            return told(self._scores_of(fitted, rows))

    def _scores_of(self, fitted: FittedClasses, rows: Any) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        raise NotImplementedError

    def _made_sparse(self, batch: LabelledBatch) -> FittedClasses:
        """The model of sparse rows."""
        raise NotImplementedError

    def _shares(self, priors: Any, K: int) -> Floats:
        values = np.asarray(priors, dtype=np.float64)
        total = float(values.sum())
        if values.shape == (K,) and (values >= 0).all() and 0 < total < np.inf and abs(total - 1) > 1e-6:
            warnings.warn(
                f"the priors sum to {total:g}; each was divided by that", TextoddsWarning, stacklevel=5
            )
            values = values / total
        return checked_priors(values, K)

    def _check_choices(self) -> None:
        if self.solver not in self._solvers:
            raise InputError(
                f"unknown solver {self.solver!r}{suggestion(str(self.solver), self._solvers)}",
                hint=" or ".join(f"`{solver}`" for solver in self._solvers),
            )
        if self.covariance_estimator is not None and self.shrinkage is not None:
            raise InputError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.",
                hint="an estimator shrinks as it will: leave shrinkage out",
            )
        given = self.shrinkage
        if given is None or given in CHOICES:
            return
        number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if not number or not 0 <= given <= 1:  # type: ignore[operator]
            raise InputError(
                f"unknown shrinkage {given!r}{suggestion(str(given), CHOICES)}",
                hint="None, a number from 0 to 1, `auto`, `oas` or `likelihood`",
            )

    def _core_shrinkage(self) -> float | str | None:
        return "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage

    def _needed(self, batch: LabelledBatch | None) -> LabelledBatch:
        assert batch is not None, "partial_fit refuses what is chosen from rows"
        return batch

    def _refuse_estimator(self) -> None:
        if self.covariance_estimator is not None:
            raise Unsupported("the learner has no covariance_estimator", hint="give a shrinkage instead")

    def _gaussian(self, covariance: str, batch: LabelledBatch | None, pooling: float = 0.0) -> Gaussian:
        """The conditional for a shrinkage that is a number, "oas" or "likelihood"."""
        if self.shrinkage == "likelihood":
            data = self._needed(batch)
            weights = np.ones(len(data.codes)) if data.weights is None else data.weights
            rows = np.asarray(data.rows, dtype=np.float64)
            codes = data.codes.astype(np.int64)
            made = chosen(covariance, "likelihood", rows, codes, weights, data.classes, pooling=pooling)
            return made.gaussian
        target = "diagonal" if self.shrinkage == "oas" else "sphere"
        amount = 0.0 if self.shrinkage is None else self.shrinkage
        return Gaussian(covariance, amount, target, pooling)

    def _prior_of(self, classes: tuple[str, ...], log_prior: Floats) -> Prior:
        """The prior of the classes that have rows, for a learner of the core."""
        if self.priors is None:
            return "data"
        share = np.exp(log_prior)
        return dict(zip(classes, (share / share.sum()).tolist(), strict=True))


def labelled_rows(batch: LabelledBatch) -> LabelledRows:
    """A batch of sparse rows as the core takes it, with the classes that have a weight."""
    N = batch.rows.shape[0]
    weights = np.ones(N) if batch.weights is None else batch.weights
    rows = checked_rows(batch.rows)
    return LabelledRows(rows, batch.classes, batch.codes.astype(np.int64), weights).with_two_classes()
