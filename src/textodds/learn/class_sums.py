"""Sums of rows of counts by class, dense or sparse: what naive Bayes learns where rows are matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textodds import _kernels
from textodds.learn.arrays import Floats, Matrix, SparseRows
from textodds.learn.design import cell_at
from textodds.learn.solvers.objective import MANY_CLASSES, product, raw

FEW_CLASSES = 4
"""Up to so many classes SciPy's product of sparse rows with membership is the fastest sum by class."""

WHOLE = 1 << 53  # up to here whole numbers are the same in double precision


@dataclass(frozen=True, eq=False)
class ClassSums:
    """The weight of the rows of each class, and the sum of each of their V columns: these add.

    Sums are in double precision, so that those of whole numbers are exact, whatever the batches. The table is
    a full one, of ``8 K V`` bytes.
    """

    labels: NDArray[np.generic]  # (K,) sorted
    weight: Floats  # (K,)
    total: Floats  # (K, V), also of what never occurs, as scikit-learn has it

    def of(self, labels: NDArray[np.generic]) -> ClassSums:
        """The same for labels, sorted, that hold these and maybe others, which have nothing yet."""
        if len(labels) == len(self.labels):
            return self
        at = np.searchsorted(labels, self.labels)
        weight, total = np.zeros(len(labels)), np.zeros((len(labels), self.total.shape[1]))
        weight[at], total[at] = self.weight, self.total
        return ClassSums(labels, weight, total)

    def __add__(self, other: ClassSums) -> ClassSums:
        labels = np.union1d(self.labels, other.labels)
        a, b = self.of(labels), other.of(labels)
        return ClassSums(labels, a.weight + b.weight, a.total + b.total)


@dataclass(frozen=True, eq=False)
class LinearScores:
    """``intercept_k + Σ_v x_v w_vk``."""

    intercept: Floats  # (K,)
    weights: Floats  # (V, K)

    @classmethod
    def of(cls, intercept: Floats, weights: Floats) -> LinearScores:
        """Of weights (K, V), which are laid out as scores are made of them fastest."""
        return cls(intercept, weights.T if len(weights) <= 2 else np.ascontiguousarray(weights.T))

    def log_density(self, rows: Matrix) -> Floats:
        """The scores of rows, (N, K)."""
        K, rows = self.weights.shape[1], in_double(rows)
        if not isinstance(rows, np.ndarray) and K <= 2:  # a class at a time: the sum stays in a register
            scores = np.stack([rows @ w for w in self.weights.T], axis=1)
        elif not isinstance(rows, np.ndarray) and K >= MANY_CLASSES:
            scores = product(rows, self.weights)
        else:
            scores = np.asarray(rows @ self.weights)
        if self.intercept.any():
            scores += self.intercept
        return scores


def class_sums(rows: Matrix, codes: NDArray[np.intp], weights: Floats | None, K: int) -> Floats:
    """The sum of each column over the rows (N, V) of each class, (K, V).

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0]]), np.array([0, 1, 0]), None, 2)
    array([[1., 7.],
           [3., 0.]])
    """
    N, V = rows.shape
    u = np.ones(N) if weights is None else weights
    if isinstance(rows, np.ndarray):
        member = sparse.csr_array((u, (codes, np.arange(N))), shape=(K, N))
        return np.asarray(member @ in_double(rows))
    if weights is None and rows.dtype == np.int64 and rows.data.max(initial=0) <= WHOLE // N:
        u = u.astype(np.int64)  # a copy of all counts in double precision takes as long as their sums
    else:
        rows = with_values(rows, rows.data.astype(np.float64, copy=False))
    if K <= FEW_CLASSES:
        members = np.zeros((N, K), dtype=u.dtype)
        members[np.arange(N), codes] = u
        return np.ascontiguousarray((rows.T @ members).T, dtype=np.float64)
    lengths = np.diff(rows.indptr)
    values = rows.data if weights is None else rows.data * np.repeat(u, lengths)
    cells = (np.repeat(codes.astype(rows.indices.dtype), lengths), rows.indices)
    return np.asarray(sparse.coo_array((values, cells), shape=(K, V)).toarray(), dtype=np.float64)


def present(rows: Matrix, above: float) -> Matrix:
    """1.0 where a value is above a threshold of zero or more and 0.0 elsewhere, (N, V)."""
    if isinstance(rows, np.ndarray):
        return (rows > above).astype(np.float64)
    found = with_values(rows, (rows.data > above).astype(np.float64))
    if not rows.has_canonical_format and _kernels.repeats(raw(found), rows.shape[1]):
        return present(with_whole_cells(rows), above)
    return found


def with_whole_cells(rows: SparseRows) -> SparseRows:
    """CSR rows no cell of which is stored in parts; the caller's rows stay as they are."""
    if rows.has_canonical_format:
        return rows
    rows = rows.copy()
    rows.sum_duplicates()  # a value is the sum of all entries of its cell
    return rows


def in_double(rows: Matrix) -> Matrix:
    """Rows in double precision, dense or CSR."""
    if isinstance(rows, np.ndarray):
        return rows.astype(np.float64, copy=False)
    return with_values(rows, rows.data.astype(np.float64, copy=False))


def first_below(rows: Matrix, bound: float) -> tuple[int, int, float] | None:
    """Row, column and value of the first number below a bound, if there is one."""
    values = rows if isinstance(rows, np.ndarray) else rows.data
    if not values.size or values.min() >= bound:
        return None
    return cell_at(rows, int(np.flatnonzero(values.reshape(-1) < bound)[0]))


def with_values(rows: SparseRows, values: Floats) -> SparseRows:
    """CSR rows with other values in the same places."""
    return type(rows)((values, rows.indices, rows.indptr), shape=rows.shape, copy=False)
