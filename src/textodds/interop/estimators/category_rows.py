"""What the estimators of categories share: columns of text or whole numbers, and counts of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from textodds.errors import InputError, NoData
from textodds.interop.estimators.base import FittedClasses, Generative, LabelledBatch
from textodds.learn.registry import Prior
from textodds.stats.categories import CategoryTally, CodedColumn

Floats = NDArray[np.float64]


class CategoryRows(Generative):
    """Columns of categories, whose statistics are a tally of them."""

    fit_prior: bool
    class_prior: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
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

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _checked(self, X: Any, y: Any, *, first: bool, least: int) -> tuple[Any, Any, int]:
        if y is None:  # before X, so that nothing is changed by it
            validate_data(self, X, y, skip_check_array=True)
        rows = self._columns(X, first=first, learning=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        N = len(next(iter(rows.values())))
        check_consistent_length(range(N), y)
        return rows, y, N

    def _rows(self, X: Any) -> dict[str, CodedColumn]:
        return self._columns(X, first=False)

    def _columns(self, X: Any, *, first: bool, learning: bool = False) -> dict[str, CodedColumn]:
        """The columns by name, coded."""
        if hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__"):  # columns may be of different types
            validate_data(self, X, reset=first, skip_check_array=True)
            table = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else pa.table(X).columns
            if not len(X):
                raise NoData("found 0 samples: there are no rows")
        else:
            # NumPy would write NaN beside text as the text "nan".
            dtype = object if isinstance(X, (list, tuple)) else None
            X = validate_data(self, X, reset=first, dtype=dtype, ensure_all_finite="allow-nan")
            table = list(X.T)
        named = {name: _arrow(column) for name, column in zip(self._names(), table, strict=True)}
        if learning:
            for name, column in named.items():
                self._refuse_negative(name, column)
        return {name: _coded(name, column) for name, column in named.items()}

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

    def _prior(self) -> Prior:
        """The prior as a learner of the core takes it."""
        if self.class_prior is None:
            return "data" if self.fit_prior else "uniform"
        return self._prior_by_name(self.class_prior, "class_prior")

    def _prior_given(self) -> Any:
        """The prior of all classes; None: as often as in training."""
        if self.class_prior is None and not self.fit_prior:
            return np.full(len(self.classes_), 1 / len(self.classes_))
        return self.class_prior

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        tally = self._tally()
        places, log_prior = self._placed(tally.classes, tally.class_rows, self._prior_given())
        return FittedClasses(places, log_prior, self._conditional().fit(tally))

    def _conditional(self) -> Any:
        """The class-conditional."""
        raise NotImplementedError

    def _log_likelihood(self, density: Any, rows: Any) -> Floats:
        return np.asarray(density.log_likelihood(rows))


def labels_of(batch: LabelledBatch) -> CodedColumn:
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
