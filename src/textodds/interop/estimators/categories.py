"""Columns of categories: each by itself (`CategoricalNB`), or all combinations of them (`JointTable`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from textodds.errors import Unsupported
from textodds.interop.class_priors import ClassPrior
from textodds.interop.containers import (
    Samples,
    categories_of,
    column_names,
    columns_by_name,
    label_column,
    refuse_negative,
)
from textodds.interop.estimators.count_rows import LEAST_ALPHA, warn_of_alpha
from textodds.interop.estimators.generative import ANY_COLUMNS, Generative, fitted
from textodds.interop.labels import LabelArray, LabelledBatch, Labels
from textodds.learn.arrays import Floats, Integers
from textodds.learn.bayes import FittedClasses
from textodds.learn.conditionals.categorical import without_gaps
from textodds.learn.tables import CategoricalLearner, JointTableLearner
from textodds.stats.categories import CategoryTally, CellTally, CodedColumn

Columns: TypeAlias = dict[str, CodedColumn]
T = TypeVar("T", CategoryTally, CellTally)


class CategoryRows(Generative[Columns, T]):
    """Columns of categories, whose statistics are a tally of them."""

    _takes = (*ANY_COLUMNS, "positive_only")

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self._known().by_class(self.statistics_.class_rows, 0.0)

    class_log_prior_ = fitted("Logarithm of the probability of each class, (K,).", lambda fit: fit.log_prior)

    @property
    def categories_(self) -> list[NDArray[np.str_]]:
        """The categories of each column, as text; numbers in their order."""
        singles = self._singles()
        return [np.array([singles.categories[j][c] for c in order], dtype=str) for j, order in self._order()]

    @property
    def n_categories_(self) -> Integers:
        """How many categories each column has, (V,)."""
        return np.array([len(names) for names in self.categories_], dtype=np.int64)

    def _tally(self) -> T:
        """The counts that the model is made of."""
        return self.statistics_

    def _singles(self) -> CategoryTally:
        """The counts of each column by itself."""
        self._known()
        tally = self._tally()
        return tally if isinstance(tally, CategoryTally) else tally.marginals()

    def _order(self) -> list[tuple[int, list[int]]]:
        """For each column as the user has them its number in the tally, and there the order of categories."""
        singles = self._singles()
        at = [singles.columns.index(name) for name in column_names(self)]
        return [(j, _in_order(singles.categories[j])) for j in at]

    def _checked(self, X: Samples, y: Labels, *, first: bool, least: int) -> tuple[Columns, LabelArray, int]:
        labels = label_column(self, y)  # before X, so that nothing is changed by it
        columns = columns_by_name(self, X, first=first)
        for name, column in columns.items():
            refuse_negative(self, name, column)
        rows = {name: categories_of(name, column) for name, column in columns.items()}
        N = len(next(iter(rows.values())))
        check_consistent_length(range(N), labels)
        return rows, labels, N

    def _rows(self, X: Samples) -> Columns:
        columns = columns_by_name(self, X, first=False)
        return {name: categories_of(name, column) for name, column in columns.items()}

    def _made(self, batch: LabelledBatch[Columns] | None) -> FittedClasses:
        tally = self._tally()
        places, log_prior = self._placed(tally.classes, tally.class_rows)
        return FittedClasses(places, log_prior, self._density(tally))

    def _density(self, tally: T) -> object:
        """The class-conditional of a tally."""
        raise NotImplementedError

    def _log_likelihood(self, fitted: FittedClasses, rows: Columns) -> Floats:
        return np.asarray(fitted.density.log_likelihood(rows))


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalNB(CategoryRows[CategoryTally]):
    r"""Categorical naive Bayes: columns of categories, independent given the class.

    See `textodds.learn.conditionals.categorical.Categorical` for the mathematics. Categories are text, whole
    numbers or truth values; None and NaN are missing values.

    Parameters
    ----------
    alpha, missing, unseen
        As in `textodds.learn.conditionals.categorical.Categorical`.
    force_alpha, fit_prior, class_prior
        As in `MultinomialNB`.
    min_categories : int or array-like of shape (n_features,), default None
        Columns are numbers, and have the categories from 0 to the largest that occurs, at least so many,
        whether they occur or not; None: the categories that occur.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    categories_ : list of ndarray of shape (n_categories,)
        The categories of each column, as text; ``n_categories_`` (n_features,) has their numbers.
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Rows, and logarithms of probabilities, in the order of ``categories_``.
    statistics_ : textodds.stats.categories.CategoryTally
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's, as the mathematics says, and: with ``min_categories`` numbers are the same. Weights
    are rounded to multiples of 2**-30. A class that has no rows is impossible, whatever the prior.

    Examples
    --------
    >>> model = CategoricalNB().fit([["sun"], ["sun"], ["rain"]], ["play", "play", "stay"])
    >>> np.exp(model.feature_log_prob_[0]).round(3), model.categories_
    (array([[0.25 , 0.75 ],
           [0.667, 0.333]]), [array(['rain', 'sun'], dtype='<U4')])
    >>> model.predict([["sun"], ["snow"], [None]])
    array(['play', 'play', 'play'], dtype='<U4')
    """

    alpha: float = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ClassPrior = None
    min_categories: ArrayLike | None = None
    missing: str = "ignore"
    unseen: str = "ignore"
    _declares = True

    def learner(self) -> CategoricalLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        if self.min_categories is not None:
            raise Unsupported(
                "of a table the categories are those that occur, whatever min_categories says",
                hint="leave it out; unseen='smooth' gives what may yet come a cell",
            )
        return self._learner()

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

    def _learner(self) -> CategoricalLearner:
        found = self._learner_of(CategoricalLearner, prior=self._prior())
        return found if self.force_alpha else replace(found, alpha=max(found.alpha, LEAST_ALPHA))

    def _density(self, tally: CategoryTally) -> object:
        conditional = self._learner().density
        if conditional.alpha > self.alpha:
            warn_of_alpha(stacklevel=4)
        return conditional.fit(tally)

    def _tally(self) -> CategoryTally:
        if self.min_categories is None:
            return self.statistics_
        return without_gaps(self.statistics_, column_names(self), self.min_categories)

    def _counted(self, batch: LabelledBatch[Columns]) -> CategoryTally:
        return CategoryTally.of(batch.rows, _labels_of(batch), batch.weights)


@dataclass(kw_only=True, eq=False, repr=False)
class JointTable(CategoryRows[CellTally]):
    r"""A probability of each combination of categories, without an independence assumption.

    See `textodds.learn.conditionals.table.FullTable` for the mathematics. Categories are as in
    `CategoricalNB`.

    Parameters
    ----------
    alpha, backoff, missing, unseen, max_cells
        As in `textodds.learn.conditionals.table.FullTable`.
    fit_prior, class_prior
        As in `MultinomialNB`.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, categories_, n_categories_
        As in `CategoricalNB`.
    n_cells_ : int
        How many combinations there are.
    statistics_ : textodds.stats.categories.CellTally
        What was learned, which adds.

    Examples
    --------
    Exclusive or, which no naive Bayes can tell:

    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> JointTable().fit(X, ["same", "other", "other", "same"]).predict(X)
    array(['same', 'other', 'other', 'same'], dtype='<U5')
    """

    alpha: float = 1.0
    backoff: str = "independent"
    missing: str = "ignore"
    unseen: str = "ignore"
    max_cells: int = 1_000_000
    fit_prior: bool = True
    class_prior: ClassPrior = None

    def learner(self) -> JointTableLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        return self._learner_of(JointTableLearner, prior=self._prior())

    @property
    def n_cells_(self) -> int:
        """How many combinations there are."""
        return int(self.learner().density.cells(self._singles()))

    def _density(self, tally: CellTally) -> object:
        return self.learner().density.fit(tally)

    def _counted(self, batch: LabelledBatch[Columns]) -> CellTally:
        return CellTally.of(batch.rows, _labels_of(batch), batch.weights)


def _labels_of(batch: LabelledBatch[Columns]) -> CodedColumn:
    """The labels of a batch as the core takes them."""
    return CodedColumn(batch.classes, batch.codes.astype(np.int32))


def _in_order(categories: tuple[str, ...]) -> list[int]:
    """Categories in order: 2 before 10 if all are numbers."""
    if all(name.removeprefix("-").isdecimal() for name in categories):
        return sorted(range(len(categories)), key=lambda c: int(categories[c]))
    return list(range(len(categories)))
