"""The matrices of a fastText file: of numbers, or of codes that stand for parts of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textodds.errors import ModelFileError
from textodds.interop.from_fasttext.fields import Fields
from textodds.learn.arrays import Floats, Integers

CODES = 256  # centroids of each part of a row: a code is a byte
BLOCK = 1 << 15  # rows that are multiplied together


class Matrix(Protocol):
    """A matrix (M, D) that is asked for products alone: its rows may be hundreds of megabytes."""

    @property
    def shape(self) -> tuple[int, int]:
        """(M, D)."""

    def times(self, rows: Integers, right: Floats) -> Floats:
        """Some rows (n,) times a matrix (D, K), in double: (n, K)."""


@dataclass(frozen=True, eq=False)
class Dense:
    """A matrix of numbers in single precision, which stay in the file until they are asked for."""

    values: NDArray[np.float32]  # (M, D)

    @property
    def shape(self) -> tuple[int, int]:
        """(M, D)."""
        return self.values.shape[0], self.values.shape[1]

    def times(self, rows: Integers, right: Floats) -> Floats:
        """See `Matrix`."""
        out = np.empty((len(rows), right.shape[1]))
        for at in range(0, len(rows), BLOCK):
            with np.errstate(over="ignore", invalid="ignore"):  # of a damaged file
                out[at : at + BLOCK] = self.values[rows[at : at + BLOCK]].astype(np.float64) @ right
        return out


@dataclass(frozen=True, eq=False)
class Quantised:
    r"""A matrix whose rows are put together of centroids c by codes q, times a norm n.

    .. math:: x_i = n_i\,(c_{1, q_{i1}}, \dots, c_{S, q_{iS}})

    A product needs no row of it: each part of D/S columns has 256 centroids, whose products are taken once.
    """

    codes: NDArray[np.uint8]  # (M, S)
    centroids: tuple[Floats, ...]  # S of (256, columns of the part)
    norms: Floats | None  # (M,)

    @property
    def shape(self) -> tuple[int, int]:
        """(M, D)."""
        return len(self.codes), sum(part.shape[1] for part in self.centroids)

    def times(self, rows: Integers, right: Floats) -> Floats:
        """See `Matrix`."""
        out, first = np.zeros((len(rows), right.shape[1])), 0
        codes = self.codes[rows]
        for s, part in enumerate(self.centroids):
            last = first + part.shape[1]
            out += (part @ right[first:last])[codes[:, s]]
            first = last
        return out if self.norms is None else out * self.norms[rows, None]


def dense(fields: Fields, what: str) -> Dense:
    """A matrix of numbers, its shape first."""
    M, D = fields.wide(f"{what} rows"), fields.wide(f"{what} columns")
    _must_be_sized(M, D, what)
    return Dense(fields.array("<f4", M * D, what).reshape(M, D))


def quantised(fields: Fields, what: str) -> Quantised:
    """A matrix of codes, and what they stand for."""
    has_norms = fields.flag(f"{what} has norms")
    M, D = fields.wide(f"{what} rows"), fields.wide(f"{what} columns")
    _must_be_sized(M, D, what)
    size = fields.number(f"{what} codes")
    if size < M or size % M:
        raise ModelFileError(f"its {what} has {size:,} codes for {M:,} rows")
    codes = fields.array("u1", size, what).reshape(M, size // M)
    centroids = _centroids(fields, D, size // M, what)
    norms = None
    if has_norms:
        own = fields.array("u1", M, f"{what} norms")
        norms = _centroids(fields, 1, 1, f"{what} norms")[0][own, 0]
    return Quantised(codes, centroids, norms)


def _centroids(fields: Fields, D: int, S: int, what: str) -> tuple[Floats, ...]:
    """The centroids of S parts of D columns: parts are of one width, but for the last."""
    columns, parts, width, last = (fields.number(f"{what} parts") for _ in range(4))
    if columns != D or parts != S or width < 1 or last < 1 or (S - 1) * width + last != D or last > width:
        raise ModelFileError(f"the parts of its {what} do not fit its {D:,} columns")
    with np.errstate(invalid="ignore"):
        values = fields.array("<f4", D * CODES, what).astype(np.float64)
    if not np.isfinite(values).all():
        raise ModelFileError(f"its {what} has centroids that are not numbers")
    cuts = np.arange(1, S) * width * CODES
    return tuple(part.reshape(CODES, -1) for part in np.split(values, cuts))


def _must_be_sized(M: int, D: int, what: str) -> None:
    if M < 1 or D < 1:
        raise ModelFileError(f"its {what} has {M:,} rows and {D:,} columns")
