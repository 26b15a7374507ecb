"""Rows, columns, texts and labels in whatever container a caller of scikit-learn has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from textodds.data import frames, values
from textodds.errors import BadRow, InputError, NoData
from textodds.interop.labels import LabelArray, Labels, distinct, names
from textodds.learn.arrays import Floats
from textodds.learn.design import checked_weights
from textodds.stats.categories import CodedColumn

Samples: TypeAlias = object
"""X as a caller has it: a matrix, dense or sparse, a frame, a table of Arrow, a list of rows or of texts."""

Rows: TypeAlias = Floats | sparse.csr_array
"""X after it was checked, (N, V)."""

AN_EMPTY_ONE = "put a text there, which may be empty, or leave the row out"


def label_column(estimator: object, y: Labels) -> LabelArray:
    """The labels as one array, (N,), none of them missing."""
    if y is None:
        raise InputError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None.",
            hint="give a label for each row",
        )
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    return np.asarray(y)


def labels_of_rows(
    labels: LabelArray, N: int, sample_weight: ArrayLike | None
) -> tuple[LabelArray, list[str], Floats | None]:
    """The labels that occur, sorted (K,), what the core calls that of each of N rows, and weights (N,).

    Examples
    --------
    >>> labels_of_rows(np.array([True, False]), 2, None)
    (array([False,  True]), ['true', 'false'], None)
    """
    check_consistent_length(range(N), labels)
    found, codes = distinct(labels)
    weights = None if sample_weight is None else checked_weights(sample_weight, N)
    return found, np.array(names(found), dtype=object)[codes].tolist(), weights


def columns_by_name(estimator: BaseEstimator, X: Any, *, first: bool) -> dict[str, Any]:
    """The columns of a frame, a table of Arrow or a matrix, each of its own type; N is 1 at least."""
    if hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__"):  # columns may be of different types
        validate_data(estimator, X, reset=first, skip_check_array=True)
        if not len(X):
            raise NoData("found 0 samples: there are no rows")
        columns = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else pa.table(X).columns
    else:
        # NumPy would write NaN beside text as the text "nan".
        dtype = object if isinstance(X, (list, tuple)) else None
        columns = validate_data(estimator, X, reset=first, dtype=dtype, ensure_all_finite="allow-nan").T
    return dict(zip(column_names(estimator), columns, strict=True))


def column_names(estimator: BaseEstimator) -> list[str]:
    """The names of the columns; x0, x1 and so on where they have none."""
    if hasattr(estimator, "feature_names_in_"):
        return [str(name) for name in estimator.feature_names_in_]
    return [f"x{j}" for j in range(estimator.n_features_in_)]


def categories_of(name: str, column: object) -> CodedColumn:
    """A column as categories; refuses what are none."""
    try:
        return CodedColumn.of(_arrow(column))
    except InputError as error:
        hint = f"{error.hint}; GaussianNB takes numbers as they are, with a variance in each class"
        raise InputError(f"column `{name}`: {error.problem}", hint=hint) from error


def refuse_negative(estimator: object, name: str, given: object) -> None:
    """Refuse to learn from numbers below zero: encoders write -1 for what they do not know."""
    column = _arrow(given)
    kind = getattr(column, "type", None)
    if kind is None or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return
    least = pc.min(column).as_py()
    if least is not None and least < 0:
        below = pc.fill_null(pc.less(column, 0), False).to_numpy(zero_copy_only=False)
        row = int(np.flatnonzero(below)[0])
        raise InputError(
            f"Negative values in data passed to {type(estimator).__name__} (input X): "
            f"row {row} of column `{name}` has {column[row].as_py():g}",
            hint="put None for a missing value, and write categories as text",
        )


def _arrow(column: object) -> Any:
    """A column of NumPy or pandas as one of Arrow, whose type tells numbers from text."""
    if isinstance(column, np.ndarray) or hasattr(column, "iloc"):
        # `CodedColumn` says what is wrong.
        with suppress(pa.ArrowException, OverflowError, ValueError, TypeError):
            return pa.array(column, from_pandas=True)
    return column


def text_column(X: object) -> Any:
    """Texts as one column: a list of str, or a column of pandas, polars or Arrow."""
    if isinstance(X, str):
        raise InputError(
            "Iterable over raw text documents expected, string object received.", hint="write [text]"
        )
    X = frames.column_of(X)
    if frames.is_stream(X):
        X = pa.table(X)
    if frames.is_frame(X):
        columns = frames.table_of(X).columns
        _refuse_unless_one(len(columns))
        X = columns[0]
    if frames.is_column(X):
        # polars would hand out string views, of which pyarrow can take no rows.
        return X.to_arrow() if hasattr(X, "to_arrow") else X
    if isinstance(X, np.ndarray):
        if X.ndim > 1:
            _refuse_unless_one(X.shape[1])
        X = X.reshape(-1).tolist()
    if isinstance(X, (bytes, Mapping)) or sparse.issparse(X) or not isinstance(X, Iterable):
        raise InputError(f"expected texts, got a {type(X).__name__}", hint="give a list of str, or a column")
    texts, problems = values.texts_of(list(X))
    if problems:
        row = min(problems)
        raise InputError(f"row {row}: {problems[row]}", hint=AN_EMPTY_ONE)
    return texts


def _refuse_unless_one(columns: int) -> None:
    if columns != 1:
        raise InputError(f"texts are one column, and here are {columns}", hint="choose one: X['text']")


@contextmanager
def rows_from_zero() -> Iterator[None]:
    """Bad rows are named by their positions, as whoever indexes X has them."""
    try:
        yield
    except BadRow as error:
        if error.line is None:
            raise
        raise InputError(f"row {error.line - 1}: {error.reason}", hint=AN_EMPTY_ONE) from error
