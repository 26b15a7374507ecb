"""Columns of categories: each by itself (`CategoricalNB`), or all combinations of them (`JointTable`)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from textodds.errors import InputError, NoData, Unsupported
from textodds.interop.estimators.count_rows import LEAST_ALPHA, warn_of_alpha
from textodds.interop.estimators.generative import (
    Classifier,
    ClassPrior,
    FittedClasses,
    Generative,
    LabelledBatch,
)
from textodds.learn.tables import CategoricalLearner, JointTableLearner
from textodds.stats.categories import CategoryTally, CellTally, CodedColumn
from textodds.stats.categories.category_tally import check_size

Floats = NDArray[np.float64]


class FrameRows(Classifier):
    """Rows of a table, whose columns may be of different types and have names."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _frame(self, X: Any, *, first: bool) -> dict[str, Any]:
        """The columns by name."""
        if hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__"):  # columns may be of different types
            validate_data(self, X, reset=first, skip_check_array=True)
            if not len(X):
                raise NoData("found 0 samples: there are no rows")
            columns = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else pa.table(X).columns
        else:
            # NumPy would write NaN beside text as the text "nan".
            dtype = object if isinstance(X, (list, tuple)) else None
            columns = validate_data(self, X, reset=first, dtype=dtype, ensure_all_finite="allow-nan").T
        return dict(zip(self._names(), columns, strict=True))

    def _labelled_frame(self, X: Any, y: Any, *, first: bool) -> tuple[dict[str, Any], NDArray[Any], int]:
        """The columns by name, the labels (N,), and N."""
        if y is None:  # before X, so that nothing is changed by it
            validate_data(self, X, y, skip_check_array=True)
        frame = self._frame(X, first=first)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        N = len(next(iter(frame.values())))
        check_consistent_length(range(N), y)
        return frame, y, N

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]


class CategoryRows(FrameRows, Generative):
    """Columns of categories, whose statistics are a tally of them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self._known().by_class(self.statistics_.class_rows, 0.0)

    @property
    def class_log_prior_(self) -> Floats:
        """Logarithm of the probability of each class, (K,)."""
        return self._known().log_prior

    @property
    def categories_(self) -> list[NDArray[np.str_]]:
        """The categories of each column, as text; numbers in their order."""
        singles = self._singles()
        return [np.array([singles.categories[j][c] for c in order], dtype=str) for j, order in self._order()]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """How many categories each column has, (V,)."""
        return np.array([len(names) for names in self.categories_], dtype=np.int64)

    def _tally(self) -> Any:
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
        at = [singles.columns.index(name) for name in self._names()]
        return [(j, _in_order(singles.categories[j])) for j in at]

    def _checked(self, X: Any, y: Any, *, first: bool, least: int) -> tuple[Any, Any, int]:
        frame, y, N = self._labelled_frame(X, y, first=first)
        arrays = {name: _arrow(column) for name, column in frame.items()}
        for name, column in arrays.items():
            self._refuse_negative(name, column)
        return {name: _coded(name, column) for name, column in arrays.items()}, y, N

    def _rows(self, X: Any) -> dict[str, CodedColumn]:
        frame = self._frame(X, first=False)
        return {name: _coded(name, _arrow(column)) for name, column in frame.items()}

    def _refuse_negative(self, name: str, column: Any) -> None:
        """Refuse to learn from numbers below zero: encoders write -1 for what they do not know."""
        kind = getattr(column, "type", None)
        if kind is None or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return
        least = pc.min(column).as_py()
        if least is not None and least < 0:
            below = pc.fill_null(pc.less(column, 0), False).to_numpy(zero_copy_only=False)
            row = int(np.flatnonzero(below)[0])
            raise InputError(
                f"Negative values in data passed to {type(self).__name__} (input X): "
                f"row {row} of column `{name}` has {column[row].as_py():g}",
                hint="put None for a missing value, and write categories as text",
            )

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        tally = self._tally()
        places, log_prior = self._placed(tally.classes, tally.class_rows)
        return FittedClasses(places, log_prior, self._conditional().fit(tally))

    def _conditional(self) -> Any:
        """The class-conditional."""
        raise NotImplementedError

    def _log_likelihood(self, density: Any, rows: Any) -> Floats:
        return np.asarray(density.log_likelihood(rows))


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalNB(CategoryRows):
    r"""Categorical naive Bayes: columns of categories, independent given the class.

    See `textodds.learn.conditionals.categorical.Categorical` for the mathematics. Categories are text, whole
    numbers or truth values; None and NaN are missing values.

    Parameters
    ----------
    alpha : float, default 1.0
        Smoothing, in pseudo-counts a category.
    force_alpha, fit_prior, class_prior
        As in `MultinomialNB`.
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
    same. Weights are rounded to multiples of 2**-30. A class that was named and has no rows is impossible,
    whatever the prior.

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
        found = CategoricalLearner(self.alpha, self.missing, self.unseen, self._prior())
        return found if self.force_alpha else replace(found, alpha=max(found.alpha, LEAST_ALPHA))

    def _conditional(self) -> Any:
        conditional = self._learner().categorical
        if conditional.alpha > self.alpha:
            warn_of_alpha(stacklevel=4)
        return conditional

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
        return CategoryTally.of(batch.rows, _labels_of(batch), batch.weights)


@dataclass(kw_only=True, eq=False, repr=False)
class JointTable(CategoryRows):
    r"""A probability of each combination of categories: nothing is independent.

    See `textodds.learn.conditionals.table.FullTable` for the mathematics. Categories are as in
    `CategoricalNB`.

    Parameters
    ----------
    alpha : float, default 1.0
        Under ``independent`` how many rows the naive Bayes assumption is worth; under ``uniform``
        pseudo-counts a cell.
    backoff : "independent" or "uniform", default "independent"
        What combinations are believed to be before they are seen: the product of their columns, or alike.
    missing : "ignore" or "category", default "ignore"
        Whether a missing value is summed over, or a category like any other.
    unseen : "ignore" or "smooth", default "ignore"
        Whether a category that was not in training is summed over, or has a cell for all such.
    max_cells : int, default 1,000,000
        More cells than this are refused.
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
    >>> model = JointTable().fit(X, ["same", "other", "other", "same"])
    >>> model.predict(X)
    array(['same', 'other', 'other', 'same'], dtype='<U5')
    >>> model.predict_proba([[1, None]])
    array([[0.5, 0.5]])
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
        return JointTableLearner(
            self.alpha, self.backoff, self.missing, self.unseen, self.max_cells, self._prior()
        )

    @property
    def n_cells_(self) -> int:
        """How many combinations there are."""
        return int(self._conditional().cells(self._singles()))

    def _conditional(self) -> Any:
        return self.learner().table

    def _counted(self, batch: LabelledBatch) -> CellTally:
        return CellTally.of(batch.rows, _labels_of(batch), batch.weights)


def _labels_of(batch: LabelledBatch) -> CodedColumn:
    """The labels of a batch as the core takes them."""
    return CodedColumn(batch.classes, batch.codes.astype(np.int32))


def _arrow(column: Any) -> Any:
    """A column of NumPy or pandas as one of Arrow, whose type tells numbers from text."""
    if isinstance(column, np.ndarray) or hasattr(column, "iloc"):
        with suppress(
            pa.ArrowException, OverflowError, ValueError, TypeError
        ):  # `CodedColumn` says what is wrong
            return pa.array(column, from_pandas=True)
    return column


def _coded(name: str, column: Any) -> CodedColumn:
    try:
        return CodedColumn.of(column)
    except InputError as error:
        hint = f"{error.hint}; GaussianNB takes numbers as they are, with a variance in each class"
        raise InputError(f"column `{name}`: {error.problem}", hint=hint) from error


def _in_order(categories: tuple[str, ...]) -> list[int]:
    """Categories in order: 2 before 10 if all are numbers."""
    if all(name.removeprefix("-").isdecimal() for name in categories):
        return sorted(range(len(categories)), key=lambda c: int(categories[c]))
    return list(range(len(categories)))


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
