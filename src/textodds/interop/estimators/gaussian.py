"""Gaussian naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.interop.estimators.base import FittedClasses, LabelledBatch
from textodds.interop.estimators.gaussians import NumberRows
from textodds.learn import discriminant
from textodds.learn.conditionals.gaussian import Gaussian, overall_variance

Floats = NDArray[np.float64]


class GaussianNB(NumberRows):
    r"""Gaussian naive Bayes: numbers independent given the class.

    See `textodds.learn.conditionals.gaussian.Gaussian` for the mathematics. A missing number (NaN) is left
    out of the likelihood, in training as in prediction.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default None
        Probability of each class, in the order of ``classes_``; None: as often as in training.
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
    last batch and stores it within variances, so that batches do not equal the whole; here they do. The
    first batch names the ``classes``, as there; a later one may leave them out, and labels that were never
    named are then welcome. Missing numbers are taken.

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

    _declares = True
    _missing = True

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def learner(self) -> discriminant.GaussianLearner:
        """The learner of the core with the same choices, which smooths each column by its own variance."""
        return discriminant.GaussianLearner(smoothing=self.var_smoothing, prior=self._prior())

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
        places, log_prior = self._placed(moments.classes, moments.class_rows, self.priors)
        density: Any = Gaussian("diagonal", smoothing=self.var_smoothing, of_largest=True).fit(moments)
        return FittedClasses(places, log_prior, density)
