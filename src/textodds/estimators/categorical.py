"""Categorical naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.categories import CategoryTally
from textodds.conditionals.categorical import Categorical
from textodds.estimators.base import Batch
from textodds.estimators.columns import Categories, labels_of

Floats = NDArray[np.float64]


class CategoricalNB(Categories):
    r"""Categorical naive Bayes: columns of categories, independent given the class.

    See `textodds.conditionals.categorical.Categorical` for the mathematics. Categories are text, whole
    numbers or truth values; None and NaN are missing values.

    Parameters
    ----------
    alpha : float, default 1.0
        Smoothing, in pseudo-counts a category.
    missing : "ignore" or "category", default "ignore"
        Whether a missing value is left out, or a category like any other.
    unseen : "ignore" or "smooth", default "ignore"
        Whether a category that was not in training is left out, or has a cell for all such.
    fit_prior : bool, default True
        Whether classes are as probable as they are often in training, or all alike.
    class_prior : array-like of shape (n_classes,), default None
        Probability of each class, in the order of ``classes_``; then ``fit_prior`` is not asked.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    categories_ : list of ndarray of shape (n_categories,)
        The categories of each column, as text.
    n_categories_ : ndarray of shape (n_features,)
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Rows, and logarithms of probabilities, in the order of ``categories_``.
    statistics_ : textodds.categories.CategoryTally
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's, which takes numbers only, without gaps, and fails on a category that was not in
    training: where that is so, the numbers are the same. Weights are rounded to multiples of 2**-30. A class
    that was declared and has no rows is impossible, whatever the prior.

    Examples
    --------
    >>> model = CategoricalNB().fit([["sun"], ["sun"], ["rain"]], ["play", "play", "stay"])
    >>> np.exp(model.feature_log_prob_[0]).round(3), model.categories_
    (array([[0.25 , 0.75 ],
           [0.667, 0.333]]), [array(['rain', 'sun'], dtype='<U4')])
    >>> model.predict([["sun"], ["snow"], [None]])
    array(['play', 'play', 'play'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        missing: str = "ignore",
        unseen: str = "ignore",
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.missing = missing
        self.unseen = unseen
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def category_count_(self) -> list[Floats]:
        """Rows by class and category of each column, (K, C_j)."""
        counts = self._singles().counts
        return [self._known().by_class(counts[j].T[:, order], 0.0) for j, order in self._order()]

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """Logarithms of the probability of each category, (K, C_j)."""
        fitted = self._known()
        return [fitted.by_class(fitted.density.log_p[j].T[:, order]) for j, order in self._order()]

    def _conditional(self) -> Categorical:
        return Categorical(self.alpha, self.missing, self.unseen)

    def _counted(self, batch: Batch) -> CategoryTally:
        return CategoryTally.of(batch.rows, labels_of(batch), batch.weights)
