"""Documents as compressed sparse rows: what learning needs of them, in NumPy and the kernels.

SciPy has more and weighs more than all of the rest together. Those who bring SciPy's rows keep them: the two
have the same names for the same things, and `CompressedRows.scipy` makes one into the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.named_arrays import AnyArray
from textodds.errors import require

Floats = NDArray[np.float64]


class CompressedRows:
    """N rows of V numbers, of which only those that are stored can differ from zero; no cell is stored twice.

    Row i is ``data[indptr[i]:indptr[i + 1]]`` at the columns ``indices[indptr[i]:indptr[i + 1]]``, which are
    in any order.

    Examples
    --------
    >>> rows = CompressedRows((np.array([2.0, 1.0, 3.0]), np.array([0, 2, 1]), np.array([0, 2, 3])), (2, 3))
    >>> rows.toarray()
    array([[2., 0., 1.],
           [0., 3., 0.]])
    >>> rows @ np.array([1.0, 10.0, 100.0]), rows.T @ np.array([1.0, 10.0])
    (array([102.,  30.]), array([ 2., 30.,  1.]))
    >>> rows[np.array([1, 0, 1])].toarray().sum(axis=1)
    array([3., 3., 3.])
    """

    ndim = 2
    has_canonical_format = True  # as far as it matters here: no cell is stored in parts

    def __init__(
        self,
        stored: tuple[Floats, NDArray[np.integer], NDArray[np.integer]],
        shape: tuple[int, int],
        copy: bool = False,
    ) -> None:
        data, indices, indptr = stored
        self.data = np.array(data, np.float64) if copy else np.asarray(data, np.float64)  # (C,)
        self.indices = np.asarray(indices, np.int32)  # (C,)
        self.indptr = np.asarray(indptr, np.int64)  # (N + 1,)
        self.shape = shape  # (N, V)

    @property
    def raw(self) -> _kernels.RawRows:
        """As the kernels take it."""
        return self.indptr, self.indices, self.data

    def copy(self) -> CompressedRows:
        """The same rows with numbers of their own."""
        return CompressedRows((self.data, self.indices, self.indptr), self.shape, copy=True)

    def toarray(self) -> Floats:
        """The full matrix, (N, V)."""
        full = np.zeros(self.shape)
        full[np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = self.data
        return full

    def __matmul__(self, other: Floats) -> Floats:
        columns = np.ascontiguousarray(other[:, None] if other.ndim == 1 else other, np.float64)  # (V, M)
        found = _kernels.row_scores(self.raw, columns, np.zeros(columns.shape[1]))
        return found[:, 0] if other.ndim == 1 else found

    def __getitem__(self, which: slice | Sequence[int] | AnyArray) -> CompressedRows:
        """Some of the rows, by their numbers, a mask or a slice."""
        chosen = np.arange(self.shape[0])[which]
        first, lengths = self.indptr[chosen], np.diff(self.indptr)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        stored = np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths)
        return CompressedRows((self.data[stored], self.indices[stored], starts), (len(chosen), self.shape[1]))

    @property
    def T(self) -> TransposedRows:  # noqa: N802  (as NumPy and SciPy have it)
        """The transposed matrix, for products."""
        return TransposedRows(self)

    def scipy(self) -> Any:
        """The same as SciPy's ``csr_array``."""
        require("scipy", why="a SciPy matrix")
        from scipy import sparse

        starts = self.indptr.astype(np.int32) if self.indptr[-1] < 2**31 else self.indptr  # both alike
        return sparse.csr_array((self.data, self.indices, starts), shape=self.shape)


@dataclass(frozen=True, eq=False)
class TransposedRows:
    """The columns of sparse rows, (V, N): products with them are sums of rows, in the order of the rows."""

    rows: CompressedRows

    @property
    def shape(self) -> tuple[int, int]:
        """(V, N)."""
        N, V = self.rows.shape
        return V, N

    def __matmul__(self, other: Floats) -> Floats:
        shares = np.ascontiguousarray(other[:, None] if other.ndim == 1 else other, np.float64)  # (N, M)
        total = np.zeros((self.shape[0], shares.shape[1]))
        _kernels.add_rows(self.rows.raw, shares, total)
        return total[:, 0] if other.ndim == 1 else total


def as_scipy(rows: object, why: str) -> Any:
    """Sparse rows as SciPy has them, for ``why``, which needs them so; dense ones as they are."""
    require("scipy", why=why)
    return rows.scipy() if isinstance(rows, CompressedRows) else rows


def of_dense(matrix: Floats) -> CompressedRows:
    """The rows of a full matrix, of which zeros are not stored."""
    row, column = np.nonzero(matrix)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))])
    return CompressedRows((matrix[row, column], column, starts), (matrix.shape[0], matrix.shape[1]))


def beside(parts: Sequence[CompressedRows]) -> CompressedRows:
    """The columns of several parts, which have as many rows, one behind the other.

    >>> beside([of_dense(np.array([[1.0, 0.0], [2.0, 3.0]])), of_dense(np.array([[4.0], [0.0]]))]).toarray()
    array([[1., 0., 4.],
           [2., 3., 0.]])
    """
    lengths = [np.diff(part.indptr) for part in parts]
    starts = np.concatenate([[0], np.cumsum(np.sum(lengths, axis=0))])
    data, indices = np.zeros(starts[-1]), np.zeros(starts[-1], np.int32)
    first, V = starts[:-1].copy(), 0
    for part, own in zip(parts, lengths, strict=True):
        at = np.arange(len(part.data)) + np.repeat(first - part.indptr[:-1], own)
        data[at], indices[at] = part.data, part.indices + np.int32(V)
        first, V = first + own, V + part.shape[1]
    return CompressedRows((data, indices, starts), (len(starts) - 1, V))


def stacked(parts: Sequence[CompressedRows], V: int) -> CompressedRows:
    """The rows of several parts in one."""
    lengths = [np.diff(part.indptr) for part in parts]
    starts = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))])
    data = np.concatenate([np.zeros(0), *(part.data for part in parts)])
    indices = np.concatenate([np.zeros(0, np.int32), *(part.indices for part in parts)])
    return CompressedRows((data, indices, starts), (len(starts) - 1, V))
