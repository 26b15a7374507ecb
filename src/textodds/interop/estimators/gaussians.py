"""Rows of numbers and their moments, and Gaussian naive Bayes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds.errors import Unsupported
from textodds.interop.estimators.generative import ClassPrior, FittedClasses, Generative, LabelledBatch
from textodds.learn.conditionals.gaussian import overall_variance
from textodds.learn.discriminant import GaussianLearner
from textodds.stats.moments import Moments

Floats = NDArray[np.float64]


class NotOfSparseRows(Unsupported, AttributeError):
    """What there is of dense rows only; an `AttributeError` so that ``hasattr`` says no."""


class NumberRows(Generative):
    """Rows of numbers, whose statistics are `Moments`."""

    _prior_name = "priors"
    _full = False  # whether products of columns are needed
    _sparse = False  # whether sparse rows are taken
    _missing = False  # whether missing numbers are taken

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.input_tags.allow_nan = self._missing
        return tags

    def _moments(self, wanted: str) -> Moments:
        """The statistics, which there are of dense rows only."""
        check_is_fitted(self)
        if not hasattr(self, "statistics_"):
            raise NotOfSparseRows(
                f"there is no {wanted} of sparse rows, whose covariance is never written out",
                hint="fit dense rows (`X.toarray()`) where there are few columns",
            )
        moments: Moments = self.statistics_
        return moments

    def _checked(self, X: Any, y: Any, *, first: bool, least: int) -> tuple[Any, Any, int]:
        rows, y = validate_data(self, X, y, reset=first, ensure_min_samples=least, **self._checks)
        return rows, y, rows.shape[0]

    def _rows(self, X: Any) -> Any:
        return validate_data(self, X, reset=False, **self._checks)

    @property
    def _checks(self) -> dict[str, Any]:
        # Moments take rows of any type of number block by block: a copy of all of them is not needed.
        return {
            "accept_sparse": "csr" if self._sparse else False,
            "ensure_all_finite": "allow-nan" if self._missing else True,
            "dtype": "numeric",
        }

    def _counted(self, batch: LabelledBatch) -> Moments:
        if sparse.issparse(batch.rows):
            raise Unsupported(
                "sparse rows are not learned in batches: their shrinkage is chosen on held-out rows of all",
                hint="give all rows to `fit`, or dense ones to `partial_fit`",
            )
        return Moments.of_codes(batch.rows, batch.codes, batch.classes, batch.weights, full=self._full)

    def _log_likelihood(self, density: Any, rows: Any) -> Floats:
        return np.asarray(density.log_density(rows.toarray() if sparse.issparse(rows) else rows))


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
        Means and variances, these with ``epsilon_``; NaN for a class without rows.
    epsilon_ : float
        What is added to variances.
    statistics_ : textodds.stats.moments.Moments
        What was learned: the moments of each class, which add.

    Differs
    -------
    From scikit-learn's: the numbers of `fit` are the same. Its ``partial_fit`` takes ``epsilon_`` from the
    last batch and stores it within variances, so that batches do not equal the whole; here they do. Missing
    numbers are taken.

    Examples
    --------
    >>> model = GaussianNB().fit([[1.0], [3.0], [7.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.theta_, model.var_.round(6)
    (array([[8.],
           [2.]]), array([[1.],
           [1.]]))
    >>> model.predict([[2.5], [np.nan]]), model.predict_proba([[5.0]])
    (array(['low', 'high'], dtype='<U4'), array([[0.5, 0.5]]))
    """

    priors: ClassPrior = None
    var_smoothing: float = 1e-9
    _declares = True
    _missing = True

    def learner(self) -> GaussianLearner:
        """The learner of the core with the same choices, which smooths each column by its own variance."""
        return GaussianLearner(smoothing=self.var_smoothing, prior=self._prior())

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self._known().by_class(self.statistics_.class_rows, 0.0)

    @property
    def class_prior_(self) -> Floats:
        """Probability of each class, (K,)."""
        return np.asarray(np.exp(self._known().log_prior))

    @property
    def theta_(self) -> Floats:
        """Means, (K, V)."""
        fitted = self._known()
        return fitted.by_class(fitted.density.mean)

    @property
    def var_(self) -> Floats:
        """Variances with smoothing, (K, V)."""
        fitted = self._known()
        return fitted.by_class(fitted.density.variance)

    @property
    def epsilon_(self) -> float:
        """What is added to variances."""
        self._known()
        return float(self.var_smoothing * overall_variance(self.statistics_).max(initial=0.0))

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        moments = self.statistics_
        places, log_prior = self._placed(moments.classes, moments.class_rows)
        conditional = replace(self.learner().gaussian, of_largest=True)
        return FittedClasses(places, log_prior, conditional.fit(moments))
