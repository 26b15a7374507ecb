"""What the two discriminant analyses share: rows, dense or sparse, of classes that have covariances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone

from textodds.errors import InputError, TextoddsWarning, Unsupported, suggestion
from textodds.interop.estimators.gaussians import NumberRows
from textodds.interop.estimators.generative import (
    FittedClasses,
    LabelledBatch,
)
from textodds.learn import bayes
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.covariance import fit_by_shrinkage, fit_exactly
from textodds.learn.discriminant import (
    DiscriminantFit,
)
from textodds.learn.forms.quadratic import Full
from textodds.learn.labelled_rows import LabelledRows
from textodds.stats.moments import Moments

Floats = NDArray[np.float64]

CHOICES = ("auto", "oas", "likelihood")

FROM_ROWS = ("auto", "likelihood")
"""Shrinkages that are chosen from rows, and not from their moments."""


class Discriminants(NumberRows):
    """Gaussian classes with covariances, of dense or sparse rows."""

    solver: Any
    shrinkage: Any
    priors: Any
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

    @property
    def priors_(self) -> Floats:
        """Probability of each class, (K,)."""
        return np.asarray(np.exp(self._known().log_prior))

    def log_joint(self, X: Any) -> Floats:
        """``log p(x, k)`` with all constants, (N, K); of an estimator fitted on dense rows."""
        self._moments("density")
        return super().log_joint(X)

    def _scores(self, X: Any) -> Floats:
        fitted = self._known()
        rows = self._rows(X)
        with np.errstate(all="ignore"):
            return bayes.refuse_overflow(self._scores_of(fitted, rows))

    def _scores_of(self, fitted: FittedClasses, rows: Any) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        raise NotImplementedError

    def _made_sparse(self, batch: LabelledBatch) -> FittedClasses:
        """The model of sparse rows."""
        raise NotImplementedError

    def _fit_sparse(self, data: LabelledRows, mass: Floats) -> tuple[FittedClasses, DiscriminantFit]:
        """What the learner makes of sparse rows in classes of so much weight (K,)."""
        places, log_prior = self._placed(data.classes, mass)
        learner: Any = self.learner()
        if not isinstance(given := self._given_prior(), str) or given == "uniform":  # of those with rows
            share = np.exp(log_prior[places])
            own = dict(zip(data.classes, (share / share.sum()).tolist(), strict=True))
            learner = replace(learner, prior=own)
        return FittedClasses(places, log_prior, None), learner.fit_design(None, data)

    def _batch(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, first: bool, least: int = 1
    ) -> LabelledBatch:
        self._check_choices()
        if not first:
            self._moments("further batch")
        return super()._batch(X, y, sample_weight, first=first, least=least)

    def _refuse_batches(self) -> None:
        if self.shrinkage in FROM_ROWS:
            raise Unsupported(
                f"shrinkage={self.shrinkage!r} is chosen from all rows at once, not in batches",
                hint="shrinkage='oas', or a number",
            )
        if self.covariance_estimator is not None:
            raise Unsupported(
                "a covariance_estimator is given all rows at once, not batches", hint="give `fit` all"
            )

    def _shares(self, priors: Any, K: int) -> Floats:
        values = np.asarray(priors, dtype=np.float64)
        total = float(values.sum())
        if values.shape == (K,) and (values >= 0).all() and 0 < total < np.inf and abs(total - 1) > 1e-6:
            warnings.warn(
                f"the priors sum to {total:g}; each was divided by that", TextoddsWarning, stacklevel=6
            )
            values = values / total
        return bayes.checked_shares(values, K)

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
        if not number or not 0 <= given <= 1:
            raise InputError(
                f"unknown shrinkage {given!r}{suggestion(str(given), CHOICES)}",
                hint="None, a number from 0 to 1, `auto`, `oas` or `likelihood`",
            )

    def _core_shrinkage(self) -> float | str | None:
        """The shrinkage as a learner of the core takes it."""
        if self.covariance_estimator is not None:
            raise Unsupported("the learner has no covariance_estimator", hint="give a shrinkage instead")
        given: float | str | None = "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage
        return given

    def _fit_dense(
        self,
        gaussian: Gaussian,
        batch: LabelledBatch | None,
        weigh: Callable[[Moments], Moments] = lambda moments: moments,
    ) -> Full:
        """The densities of dense rows, of classes that may be given other weights than they have."""
        moments: Moments = self.statistics_
        if self.covariance_estimator is None:
            data = None if batch is None or self.shrinkage not in FROM_ROWS else batch.labelled_rows()
            return fit_by_shrinkage(gaussian, self.shrinkage, moments, data, weigh)
        assert batch is not None, "a covariance_estimator is not given batches"
        return fit_exactly(gaussian, weigh(self._estimated(moments, batch)))

    def _estimated(self, moments: Moments, batch: LabelledBatch) -> Moments:
        """The same with covariances of the classes as the estimator of them finds: ``covariance_``."""
        scatter = np.empty_like(moments.scatter)
        for k, name in enumerate(moments.classes):
            own = clone(self.covariance_estimator, safe=False)  # the caller's stays as it was
            own.fit(batch.rows[batch.codes == batch.classes.index(name)])
            found = np.asarray(getattr(own, "covariance_", None), dtype=np.float64)
            if found.shape != scatter[k].shape:
                V = moments.n_columns
                raise InputError(
                    f"{type(own).__name__} does not have a covariance_ attribute of shape ({V}, {V})",
                    hint="give an estimator of covariances, such as those of sklearn.covariance",
                )
            scatter[k] = found * moments.count[k, 0]
        return replace(moments, scatter=scatter)
