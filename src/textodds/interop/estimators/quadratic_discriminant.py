"""Quadratic discriminant analysis as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, Unsupported
from textodds.interop.estimators.base import FittedClasses, LabelledBatch
from textodds.interop.estimators.covariance import estimated, ledoit_wolf_by_class, settled, settled_or_shrunk
from textodds.interop.estimators.discriminants import Discriminants, labelled_rows
from textodds.learn import discriminant
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.forms.quadratic import LOG_2PI, QuadraticModel

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SparseFit(FittedClasses):
    """A calibrated model of sparse rows."""

    model: QuadraticModel


class QuadraticDiscriminantAnalysis(Discriminants):
    r"""Quadratic discriminant analysis: Gaussian classes of own covariances.

    See `textodds.learn.conditionals.gaussian.Gaussian` for the mathematics of dense rows, and
    `textodds.learn.conditionals.sparse_gaussian` for that of sparse ones.

    Parameters
    ----------
    solver, store_covariance, tol : "svd" or "eigen", bool, float
        Taken for the sake of scikit-learn's callers: the numbers are the same under either solver,
        ``covariance_`` is there without being asked for, and the rank of a covariance is told from the
        variances of its own columns.
    shrinkage : None, float, "auto", "oas" or "likelihood", default None
        How far covariances of dense rows are drawn towards simpler ones: not at all, with a number from 0
        to 1 towards :math:`\operatorname{tr}(C_k) / V \cdot I`, and chosen by Ledoit and Wolf ("auto"), by
        OAS or by leave-one-out likelihood towards their diagonals. Of sparse rows a number, or None to have
        it chosen by the log-loss of held-out rows.
    priors : array-like of shape (n_classes,), default None
        Probability of each class, in the order of ``classes_``; None: as often as in training.
    reg_param : float, default 0.0
        How far covariances are drawn towards I instead: for columns that were standardised, and dense rows.
    covariance_estimator : estimator, default None
        Has the covariance of a class as ``covariance_`` after a `fit` on its rows, instead of a shrinkage; of
        dense rows without weights only.
    pooling : float, default 0.0
        How far covariances are drawn towards that of all classes before, Friedman's :math:`\lambda`; of
        dense rows only.
    rank : int, default 128
        Directions of largest variance that each class has of its own; of sparse rows only.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    covariance_ : ndarray of shape (n_classes, n_features, n_features)
        The covariances that are used; of dense rows only.
    rotations_, scalings_ : list of ndarray of shape (n_features, n_features), (n_features,)
        Their principal axes in columns, and the variances along those, the largest first.
    statistics_ : textodds.stats.moments.Moments
        What was learned of dense rows, which adds.

    Differs
    -------
    From scikit-learn's, which has the same numbers, but does not shrink with svd. Where a class has too few
    rows for its covariance that one fails; here covariances are then shrunk by OAS and a warning names the
    class. A class whose rows do not differ at all has the covariance of all classes.

    Examples
    --------
    >>> X = [[-1.0], [1.0], [-2.0], [2.0]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, ["near", "near", "far", "far"])
    >>> model.covariance_.ravel(), model.predict([[0.5], [3.0]])
    (array([4., 1.]), array(['near', 'far'], dtype='<U4'))
    """

    _solvers = ("svd", "eigen")

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        pooling: float = 0.0,
        rank: int = 128,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.pooling = pooling
        self.rank = rank

    def learner(self) -> discriminant.QuadraticDiscriminantLearner:
        """The learner of the core with the same choices, as for sparse rows."""
        self._refuse_estimator()
        if self.reg_param:
            raise Unsupported(
                "the learner has no reg_param", hint="leave it out; shrinkage does not depend on units"
            )
        return discriminant.QuadraticDiscriminantLearner(
            self._core_shrinkage(), self.pooling, self._prior(), self.rank
        )

    def decision_function(self, X: Any) -> Floats:
        """Scores, (N, K); of two classes the log-odds of the second, (N,)."""
        scores = self._scores(X)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores + self.n_features_in_ / 2 * LOG_2PI  # scikit-learn leaves that out

    @property
    def means_(self) -> Floats:
        """Means, (K, V)."""
        moments = self._moments("means_")
        return self._known().by_class(moments.mean)

    @property
    def covariance_(self) -> Floats:
        """The covariances that are used, (K, V, V)."""
        self._moments("covariance_")
        fitted = self._known()
        return fitted.by_class(fitted.density.covariance())

    @property
    def rotations_(self) -> list[Floats]:
        """Principal axes of each class in columns, (V, V)."""
        return [axes for _, axes in self._principal()]

    @property
    def scalings_(self) -> list[Floats]:
        """Variances along the principal axes of each class, (V,)."""
        return [variances for variances, _ in self._principal()]

    def _principal(self) -> list[tuple[Floats, Floats]]:
        found = []
        for C in self.covariance_:
            seen = np.isfinite(C).all()  # it is NaN for a class without rows
            variances, axes = np.linalg.eigh(C) if seen else (C[0], C)
            found.append((variances[::-1], axes[:, ::-1]))
        return found

    @property
    def _sparse(self) -> bool:  # type: ignore[override]
        return super()._sparse and not self.pooling and not self.reg_param

    def _check_choices(self) -> None:
        super()._check_choices()
        if not 0 <= self.reg_param <= 1:
            raise InputError(f"reg_param must be from 0 to 1, got {self.reg_param!r}")
        for other in ("shrinkage", "covariance_estimator"):
            if self.reg_param and getattr(self, other) is not None:
                raise InputError(
                    f"{other} and reg_param are both towards something simpler", hint="give one of the two"
                )

    def _scores_of(self, fitted: FittedClasses, rows: Any) -> Floats:
        if isinstance(fitted, SparseFit):
            return fitted.by_class(fitted.model.scores(rows).T, -np.inf).T
        return fitted.log_joint(self._log_likelihood(fitted.density, rows))

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        moments = self.statistics_
        places, log_prior = self._placed(moments.classes, moments.class_rows, self.priors)
        if self.covariance_estimator is not None:
            rows = self._needed(batch)
            found = estimated(rows.rows, rows.codes, rows.classes, moments, self.covariance_estimator)
            density = settled(Gaussian("full", pooling=self.pooling), found)
        elif self.reg_param:
            density = settled(Gaussian("full", self.reg_param, "unit", self.pooling), moments)
        elif self.shrinkage is None:
            density = settled_or_shrunk(Gaussian("full", pooling=self.pooling), moments)
        elif self.shrinkage == "auto":
            rows = self._needed(batch)
            shares = ledoit_wolf_by_class(rows.rows, rows.codes, rows.weights, rows.classes, moments)
            density = settled_or_shrunk(Gaussian("full", shares, pooling=self.pooling), moments)
        else:
            settle = settled_or_shrunk if isinstance(self.shrinkage, str) else settled
            density = settle(self._gaussian("full", batch, self.pooling), moments)
        return FittedClasses(places, log_prior, density)

    def _made_sparse(self, batch: LabelledBatch) -> SparseFit:
        data = labelled_rows(batch)
        mass = np.bincount(data.codes, data.weights, len(data.classes)).astype(np.float64)
        places, log_prior = self._placed(data.classes, mass, self.priors)
        learner = replace(self.learner(), prior=self._prior_of(data.classes, log_prior[places]))
        model: Any = learner.fit_design(None, data).model
        return SparseFit(places, log_prior, None, model)
