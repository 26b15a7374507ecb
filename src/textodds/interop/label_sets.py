"""Several labels a row, as a caller of scikit-learn has them: an indicator matrix, or lists of labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from textodds.data import frames
from textodds.errors import InputError
from textodds.interop.labels import LabelArray, Labels, names

LISTS, MATRIX, SPARSE = "lists", "matrix", "sparse matrix"
"""The forms in which several labels a row come, and are given."""

_SETS = (list, tuple, set, frozenset, np.ndarray)
A_MATRIX = "give an indicator matrix (N, K) of zeros and ones, or a list of labels for each text"


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Which labels each of N rows has, and in which form that was said."""

    labels: LabelArray  # (K,)
    matrix: sparse.csr_array  # (N, K) ones
    form: str

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def by_name(self) -> list[list[str]]:
        """What the core calls the labels of each row."""
        known = np.array(names(self.labels), dtype=object)
        flat, ends = known[self.matrix.indices].tolist(), self.matrix.indptr.tolist()
        return [flat[first:last] for first, last in pairwise(ends)]


def label_rows(estimator: object, y: Labels) -> LabelRows:
    """The labels of rows, in whatever form they come.

    Examples
    --------
    >>> label_rows(None, [["b", "a"], [], ["a"]]).matrix.toarray()
    array([[1, 1],
           [0, 0],
           [1, 0]])
    >>> label_rows(None, np.array([[0, 1], [0, 0]])).labels
    array([0, 1])
    """
    if y is None:
        raise InputError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None.",
            hint=A_MATRIX,
        )
    if sparse.issparse(y):
        return _of_matrix(sparse.csr_array(y), None, SPARSE)
    if frames.is_frame(y):
        table = frames.table_of(y)
        columns = [np.asarray(column) for column in table.columns]
        dense = np.column_stack(columns) if columns else np.zeros((0, 0))
        return _of_matrix(dense, np.array(table.names), MATRIX)
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return _of_matrix(y, None, MATRIX)
    return _of_lists(_rows(y))


def _rows(y: object) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, of polars and pandas, of NumPy
        if hasattr(y, method):
            return list(getattr(y, method)())
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise InputError(f"expected the labels of texts, got a {type(y).__name__}", hint=A_MATRIX)
    return list(y)


def _of_matrix(given: Any, labels: LabelArray | None, form: str) -> LabelRows:
    if given.dtype.kind not in "biuf":
        raise InputError(
            f"an indicator matrix has zeros and ones, and this one has {given.dtype}", hint=A_MATRIX
        )
    matrix = sparse.csr_array(given)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    wrong = np.flatnonzero(matrix.data != 1)
    if len(wrong):
        row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
        raise InputError(
            f"row {row} of the indicator matrix has {matrix.data[wrong[0]]} in column "
            f"{matrix.indices[wrong[0]]}, where 1 says that the label is there and 0 that it is not",
            hint=A_MATRIX,
        )
    ones = matrix.astype(np.int64)
    return LabelRows(np.arange(given.shape[1]) if labels is None else labels, ones, form)


def _of_lists(rows: list[Any]) -> LabelRows:
    for at, row in enumerate(rows):
        if not isinstance(row, _SETS):
            raise InputError(
                f"row {at} of y is {row!r}, not a list of labels",
                hint="write [[label], …]; for one label a text use TextClassifier",
            )
    flat = [label for row in rows for label in row]
    _refuse_flags(rows, flat)
    if len({isinstance(label, str) for label in flat}) > 1:
        raise InputError(
            "labels are of mixed types: some are text", hint="make them all text, or all numbers"
        )
    labels = np.array(sorted(set(flat)))
    place = {label: k for k, label in enumerate(labels.tolist())}
    codes = np.array([place[label] for label in flat], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    matrix = sparse.csr_array((np.ones(len(codes), np.int64), codes, starts), shape=(len(rows), len(labels)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return LabelRows(labels, matrix, LISTS)


def _refuse_flags(rows: Sequence[Any], flat: list[Any]) -> None:
    """Refuse zeros and ones in equal rows, some of them twice: an indicator matrix that became a list."""
    sizes = {len(row) for row in rows}
    if (
        len(sizes) == 1
        and sizes.pop() > 1
        and set(flat) <= {0, 1}
        and any(len(set(row)) < len(row) for row in rows)
    ):
        raise InputError(
            "y has lists of zeros and ones, as many in each, and lists are of labels",
            hint="if it is an indicator matrix, make it an array: np.asarray(y)",
        )
