"""A column of categories as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of N categories as numbers."""

    names: tuple[str, ...]  # the categories, distinct, in any order; some may not occur
    codes: NDArray[np.int32]  # (N,) -1 where missing

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise InputError(f"codes must be a row of whole numbers, got {codes.dtype} {codes.shape}")
        if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(self.names):
            row = int(np.flatnonzero((codes < -1) | (codes >= len(self.names)))[0])
            raise InputError(
                f"row {row} has the code {codes[row]}, and there are {len(self.names)} categories",
                hint="codes count from 0; -1 is a missing value",
            )
        if len(set(self.names)) < len(self.names):
            raise InputError("a category is named twice")
        try:
            "".join(self.names).encode()
        except (TypeError, UnicodeEncodeError):
            raise InputError("categories are text that can be written as UTF-8") from None
        object.__setattr__(self, "codes", codes.astype(np.int32, copy=False))

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, values: Any) -> Coded:
        """The column of a list, a NumPy array, or a column of pandas, polars or pyarrow.

        Text stays as it is, the empty text too; whole numbers and truth values become text as one
        would write them by hand; None and NaN are missing values.

        Examples
        --------
        >>> Coded.of(["red", None, "blue", "red"])
        Coded(names=('red', 'blue'), codes=array([ 0, -1,  1,  0], dtype=int32))
        >>> Coded.of([3, 3.0, float("nan")]).names, Coded.of([True]).names
        (('3',), ('true',))
        """
        if isinstance(values, Coded):
            return values
        from textodds.categories.arrow import entries  # heavy, and of no use to those who read text

        names, indices = entries(values)
        index: dict[str, int] = {}  # a dictionary may hold a name twice, or 0.0 and -0.0
        table = [-1 if name is None else index.setdefault(name, len(index)) for name in names]
        return cls(tuple(index), np.array([*table, -1], dtype=np.int32)[indices])

    def found(self, categories: Mapping[str, int], otherwise: int) -> NDArray[np.int64]:
        """The number of each row's category in ``categories``, (N,); -1 where missing."""
        table = [categories.get(name, otherwise) for name in self.names]
        return np.array([*table, -1], dtype=np.int64)[self.codes]
