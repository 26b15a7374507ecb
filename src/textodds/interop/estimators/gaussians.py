"""Rows of numbers: their moments, Gaussian naive Bayes, and what the two discriminant analyses share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from textodds.errors import InputError, Unsupported
from textodds.interop.class_priors import ClassPrior
from textodds.interop.containers import Rows, Samples
from textodds.interop.estimators.generative import Generative, fitted
from textodds.interop.labels import LabelledBatch, Labels
from textodds.learn import bayes
from textodds.learn.arrays import Floats
from textodds.learn.bayes import FittedClasses
from textodds.learn.conditionals.estimate import check_choice
from textodds.learn.conditionals.gaussian import Gaussian, overall_variance
from textodds.learn.covariance import (
    FROM_ROWS,
    check_shrinkage,
    fit_by_shrinkage,
    fit_exactly,
    with_covariances,
)
from textodds.learn.design import LabelledRows
from textodds.learn.discriminant import (
    DiscriminantFit,
    GaussianLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
)
from textodds.learn.forms.quadratic import Full
from textodds.stats.moments import Moments


class NotOfSparseRows(Unsupported, AttributeError):
    """What there is of dense rows only; an `AttributeError` so that ``hasattr`` says no."""


class NumberRows(Generative[Rows, Moments]):
    """Rows of numbers, whose statistics are `Moments`."""

    _prior_name = "priors"
    _full = False  # whether products of columns are needed

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self._known().by_class(self.statistics_.class_rows, 0.0)

    def _moments(self, wanted: str) -> Moments:
        """The statistics, which there are of dense rows only."""
        check_is_fitted(self)
        if not hasattr(self, "statistics_"):
            raise NotOfSparseRows(
                f"there is no {wanted} of sparse rows, whose covariance is never written out",
                hint="fit dense rows (`X.toarray()`) where there are few columns",
            )
        return self.statistics_

    def _counted(self, batch: LabelledBatch[Rows]) -> Moments:
        if sparse.issparse(batch.rows):
            raise Unsupported(
                "sparse rows are not learned in batches: their shrinkage is chosen on held-out rows of all",
                hint="give all rows to `fit`, or dense ones to `partial_fit`",
            )
        return Moments.of_codes(batch.rows, batch.codes, batch.classes, batch.weights, full=self._full)

    def _log_likelihood(self, fitted: FittedClasses, rows: Rows) -> Floats:
        return super()._log_likelihood(fitted, rows if isinstance(rows, np.ndarray) else rows.toarray())


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNB(NumberRows):
    r"""Gaussian naive Bayes: numbers independent given the class.

    See `textodds.learn.conditionals.gaussian.Gaussian` for the mathematics. A missing number (NaN) is left
    out of the likelihood, in training as in prediction.

    Parameters
    ----------
    priors : "data", "uniform", array-like of shape (n_classes,) or dict, default None
        Probability of each class, as ``class_prior`` of `MultinomialNB`; None: as often as in training.
    var_smoothing : float, default 1e-9
        Share of the largest variance of a column over all rows that is added to all variances.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : ndarray of shape (n_classes,)
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Means and variances, these with ``epsilon_`` (float); NaN for a class without rows.
    statistics_ : textodds.stats.moments.Moments
        What was learned: the moments of each class, which add.

    Differs
    -------
    From scikit-learn's, whose ``partial_fit`` takes ``epsilon_`` from the last batch and stores it within
    variances: here batches equal the whole. Missing numbers are taken.

    Examples
    --------
    >>> model = GaussianNB().fit([[1.0], [3.0], [7.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.predict([[2.5], [np.nan]]), model.predict_proba([[5.0]])
    (array(['low', 'high'], dtype='<U4'), array([[0.5, 0.5]]))
    """

    priors: ClassPrior = None
    var_smoothing: float = 1e-9
    _declares = True
    _takes = ("allow_nan",)

    def learner(self) -> GaussianLearner:
        """The learner of the core with the same choices, which smooths each column by its own variance."""
        return GaussianLearner(smoothing=self.var_smoothing, prior=self._prior())

    class_prior_ = fitted("Probability of each class, (K,).", lambda fit: np.exp(fit.log_prior))
    theta_ = fitted("Means, (K, V).", lambda fit: fit.by_class(fit.density.mean))
    var_ = fitted("Variances with smoothing, (K, V).", lambda fit: fit.by_class(fit.density.variance))

    @property
    def epsilon_(self) -> float:
        """What is added to variances."""
        self._known()
        return float(self.var_smoothing * overall_variance(self.statistics_).max(initial=0.0))

    def _made(self, batch: LabelledBatch[Rows] | None) -> FittedClasses:
        moments = self.statistics_
        places, log_prior = self._placed(moments.classes, moments.class_rows)
        conditional = replace(self.learner().gaussian, of_largest=True)
        return FittedClasses(places, log_prior, conditional.fit(moments))


class Discriminants(NumberRows):
    """Gaussian classes with covariances, of dense or sparse rows."""

    solver: str
    shrinkage: float | str | None
    priors: ClassPrior
    covariance_estimator: BaseEstimator | None
    _solvers: tuple[str, ...]
    _full = True
    _least_rows = 2
    _rescales_prior = True

    @property
    def _takes(self) -> tuple[str, ...]:  # type: ignore[override]
        if isinstance(self.shrinkage, str) or self.covariance_estimator is not None:
            return ()  # these choices are made from a covariance that is written out
        return ("sparse",)

    def fit(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
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

    priors_ = fitted("Probability of each class, (K,).", lambda fit: np.exp(fit.log_prior))

    def log_joint(self, X: Samples) -> Floats:
        """``log p(x, k)`` with all constants, (N, K); of an estimator fitted on dense rows."""
        self._moments("density")
        return super().log_joint(X)

    def _scores(self, X: Samples) -> Floats:
        fitted = self._known()
        rows = self._rows(X)
        with np.errstate(all="ignore"):
            return bayes.refuse_overflow(self._scores_of(fitted, rows))

    def decision_function(self, X: Samples) -> Floats:
        """Scores, (N, K); of two classes the log-odds of the second, (N,)."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def learner(self) -> LinearDiscriminantLearner | QuadraticDiscriminantLearner:
        """The learner of the core with the same choices, as for sparse rows."""
        raise NotImplementedError

    def _scores_of(self, fitted: FittedClasses, rows: Rows) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        raise NotImplementedError

    def _made_sparse(self, batch: LabelledBatch[Rows]) -> FittedClasses:
        """The model of sparse rows."""
        raise NotImplementedError

    def _fit_sparse(self, data: LabelledRows) -> tuple[FittedClasses, DiscriminantFit]:
        """What the learner makes of sparse rows."""
        places, log_prior = self._placed(data.classes, data.class_weights())
        learner = self.learner()
        if not self._prior_parameter().is_of_data:  # it is of the classes with rows
            share = np.exp(log_prior[places])
            own = dict(zip(data.classes, (share / share.sum()).tolist(), strict=True))
            learner = replace(learner, prior=own)
        return FittedClasses(places, log_prior, None), learner.fit_design(None, data)

    def _batch(
        self, X: Samples, y: Labels, sample_weight: ArrayLike | None, *, first: bool, least: int = 1
    ) -> LabelledBatch[Rows]:
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

    def _check_choices(self) -> None:
        check_choice("solver", self.solver, self._solvers)
        if self.covariance_estimator is not None and self.shrinkage is not None:
            raise InputError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.",
                hint="an estimator shrinks as it will: leave shrinkage out",
            )
        check_shrinkage(self.shrinkage)

    def _core_shrinkage(self) -> float | str | None:
        """The shrinkage as a learner of the core takes it."""
        if self.covariance_estimator is not None:
            raise Unsupported("the learner has no covariance_estimator", hint="give a shrinkage instead")
        return "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage

    def _fit_dense(
        self,
        gaussian: Gaussian,
        batch: LabelledBatch[Rows] | None,
        weigh: Callable[[Moments], Moments] = lambda moments: moments,
    ) -> Full:
        """The densities of dense rows, of classes that may be given other weights than they have."""
        moments = self.statistics_
        if self.covariance_estimator is None:
            data = None if batch is None or self.shrinkage not in FROM_ROWS else batch.labelled_rows()
            return fit_by_shrinkage(gaussian, self.shrinkage, moments, data, weigh)
        assert batch is not None, "a covariance_estimator is not given batches"
        found = [clone(self.covariance_estimator, safe=False) for _ in moments.classes]  # the caller's stays
        for name, estimator in zip(moments.classes, found, strict=True):
            estimator.fit(batch.rows[batch.codes == batch.classes.index(name)])
        return fit_exactly(gaussian, weigh(with_covariances(moments, found)))
