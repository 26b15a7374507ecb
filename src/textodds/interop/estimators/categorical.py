"""Categorical naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, TextoddsWarning, Unsupported
from textodds.interop.estimators.base import LabelledBatch
from textodds.interop.estimators.category_rows import CategoryRows, labels_of
from textodds.interop.estimators.counts import LEAST_ALPHA
from textodds.learn import tables
from textodds.learn.conditionals.categorical import Categorical
from textodds.stats.categories import CategoryTally
from textodds.stats.categories.category_tally import check_size

Floats = NDArray[np.float64]


class CategoricalNB(CategoryRows):
    r"""Categorical naive Bayes: columns of categories, independent given the class.

    See `textodds.learn.conditionals.categorical.Categorical` for the mathematics. CategoryRows are text,
    whole numbers or truth values; None and NaN are missing values.

    Parameters
    ----------
    alpha : float, default 1.0
        Smoothing, in pseudo-counts a category.
    force_alpha : bool, default True
        Whether an ``alpha`` below 1e-10 is kept as it is, or is made that with a warning.
    fit_prior : bool, default True
        Whether classes are as probable as they are often in training, or all alike.
    class_prior : array-like of shape (n_classes,), default None
        Probability of each class, in the order of ``classes_``; then ``fit_prior`` is not asked.
    min_categories : int or array-like of shape (n_features,), default None
        Columns are numbers, and have the categories from 0 to the largest that occurs, at least so many,
        whether they occur or not; None: the categories that occur.
    missing : "ignore" or "category", default "ignore"
        Whether a missing value is left out, or a category like any other.
    unseen : "ignore" or "smooth", default "ignore"
        Whether a category that was not in training is left out, or has a cell for all such.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    categories_ : list of ndarray of shape (n_categories,)
        The categories of each column, as text.
    n_categories_ : ndarray of shape (n_features,)
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Rows, and logarithms of probabilities, in the order of ``categories_``.
    statistics_ : textodds.stats.categories.CategoryTally
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's, which takes numbers only, cuts their fractions off, and fails on a category that was
    not in training, or is below zero. It smooths over all numbers from 0 to the largest, here only over those
    that occur, unless ``min_categories`` is given: then, and where there are no gaps, the numbers are the
    same. Weights are rounded to multiples of 2**-30. The first call of ``partial_fit`` names the ``classes``,
    as there; a later one may leave them out, and labels that were never named are then welcome. A class that
    was named and has no rows is impossible, whatever the prior.

    Examples
    --------
    >>> model = CategoricalNB().fit([["sun"], ["sun"], ["rain"]], ["play", "play", "stay"])
    >>> np.exp(model.feature_log_prob_[0]).round(3), model.categories_
    (array([[0.25 , 0.75 ],
           [0.667, 0.333]]), [array(['rain', 'sun'], dtype='<U4')])
    >>> model.predict([["sun"], ["snow"], [None]])
    array(['play', 'play', 'play'], dtype='<U4')
    """

    _declares = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: ArrayLike | None = None,
        missing: str = "ignore",
        unseen: str = "ignore",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.missing = missing
        self.unseen = unseen

    def learner(self) -> tables.CategoricalLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        if self.min_categories is not None:
            raise Unsupported(
                "of a table the categories are those that occur, whatever min_categories says",
                hint="leave it out; unseen='smooth' gives what may yet come a cell",
            )
        alpha = self.alpha if self.force_alpha else max(self.alpha, LEAST_ALPHA)
        return tables.CategoricalLearner(alpha, self.missing, self.unseen, self._prior())

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
        chosen = Categorical(self.alpha, self.missing, self.unseen)
        if self.force_alpha or chosen.alpha >= LEAST_ALPHA:
            return chosen
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep it",
            TextoddsWarning,
            stacklevel=4,
        )
        return replace(chosen, alpha=LEAST_ALPHA)

    def _tally(self) -> CategoryTally:
        tally: CategoryTally = self.statistics_
        if self.min_categories is None:
            return tally
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise InputError(
                f"'min_categories' should have integral type. Got {least.dtype} instead.",
                hint="give how many categories there are, from 0",
            )
        if least.ndim and least.shape != (self.n_features_in_,):
            raise InputError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is "
                f"provided. Got {least.shape} instead.",
                hint="give one number for each column, or one for all",
            )
        if (least < 1).any():
            raise InputError(f"'min_categories' should be 1 or more. Got {least.min()} instead.")
        each = np.broadcast_to(least, self.n_features_in_).tolist()
        return _without_gaps(tally, dict(zip(self._names(), each, strict=True)))

    def _counted(self, batch: LabelledBatch) -> CategoryTally:
        return CategoryTally.of(batch.rows, labels_of(batch), batch.weights)


def _without_gaps(tally: CategoryTally, least: Mapping[str, int]) -> CategoryTally:
    """The same with all numbers from 0 to the largest as categories, at least so many by column."""
    categories, units = [], []
    for column, names, table in zip(tally.columns, tally.categories, tally.units, strict=True):
        for name in names:
            if not name.isdecimal() or name != str(int(name)):
                raise InputError(
                    f"column `{column}` has the category `{name}`: `min_categories` is of numbers from 0",
                    hint="leave it out; unseen='smooth' gives what may yet come a cell",
                )
        at = [int(name) for name in names]
        C, K = max([least[column], *(c + 1 for c in at)]), len(tally.classes)
        check_size(column, C, K)
        whole = np.zeros((C, K), dtype=table.dtype)
        whole[at] = table
        categories.append(tuple(str(c) for c in range(C)))
        units.append(whole)
    return replace(tally, categories=tuple(categories), units=tuple(units))
