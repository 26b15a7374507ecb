"""Tallies as plain arrays, for a file; and back, from a file that may come from anywhere."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError
from textodds.stats.additive import Additive
from textodds.stats.categories.exact import FRACTION, MOST_UNITS, Units, as_numbers

Arrays: TypeAlias = dict[str, NDArray[Any]]


def pack(key: str, names: Sequence[str]) -> Arrays:
    """Names as two arrays: their bytes, and where each ends."""
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.uint64)
    return {f"{key}.text": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{key}.ends": ends}


def whole_numbers(arrays: Mapping[str, Any], key: str, length: int | None = None) -> Units:
    """An array of a file as whole numbers from zero to `MOST_UNITS`."""
    if key not in arrays:
        raise InputError(f"the array `{key}` is missing")
    array = np.asarray(arrays[key])
    if array.ndim != 1 or array.dtype.kind not in "iu" or (length is not None and len(array) != length):
        raise InputError(f"the array `{key}` has the wrong type or size")
    if len(array) and not (int(array.min()) >= 0 and int(array.max()) < MOST_UNITS):
        raise InputError(f"the array `{key}` holds a number out of range")
    return array.astype(np.int64, copy=False)


def unpack(arrays: Mapping[str, Any], key: str) -> list[str]:
    """The names that `pack` made into arrays."""
    text, ends = whole_numbers(arrays, f"{key}.text"), whole_numbers(arrays, f"{key}.ends")
    edges = [0, *ends.tolist()]
    if (np.diff(edges) < 0).any() or edges[-1] != len(text) or (len(text) and int(text.max()) > 255):
        raise InputError(f"the names `{key}` are damaged")
    data = text.astype(np.uint8).tobytes()
    try:
        return [data[a:b].decode() for a, b in itertools.pairwise(edges)]
    except UnicodeDecodeError:
        raise InputError(f"the names `{key}` are not UTF-8") from None


def in_order(names: Sequence[str], key: str) -> tuple[str, ...]:
    """The names, if they are sorted and none is there twice."""
    if any(a >= b for a, b in itertools.pairwise(names)):
        raise InputError(f"the names `{key}` are out of order")
    return tuple(names)


Header: TypeAlias = tuple[int, tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]
RawHeader: TypeAlias = tuple[int, Sequence[str], Sequence[str], Sequence[Sequence[str]]]
"""Fraction, classes, columns, and the categories of each column; raw, in any order."""


@dataclass(frozen=True, eq=False)
class ExactTally(Additive):
    """What both tallies have: names that are sorted, and counts in whole numbers of ``2**-fraction``."""

    fraction: int
    classes: tuple[str, ...]  # (K,) sorted
    columns: tuple[str, ...]  # (J,) sorted
    categories: tuple[tuple[str, ...], ...]  # (J,) of (C_j,) sorted

    @cached_property
    def class_rows(self) -> NDArray[np.float64]:
        """Rows of each class, (K,)."""
        return as_numbers(self.class_units, self.fraction)  # type: ignore[attr-defined]  # of each tally

    @property
    def n_rows(self) -> float:
        """Total weight of the rows."""
        return float(self.class_units.sum()) * 2.0**-self.fraction  # type: ignore[attr-defined]

    @property
    def _header(self) -> Header:
        return self.fraction, self.classes, self.columns, self.categories

    def _counts(self) -> tuple[NDArray[Any], ...]:
        """All that the tally has beside its header."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._header == other._header and all(map(np.array_equal, self._counts(), other._counts()))

    __hash__ = None  # type: ignore[assignment]

    def header_arrays(self) -> Arrays:
        """The header as plain arrays."""
        return {
            "fraction": np.array([self.fraction], dtype=np.uint8),
            **pack("classes", self.classes),
            **pack("columns", self.columns),
            "sizes": np.array([len(names) for names in self.categories], dtype=np.uint64),
            **pack("categories", [name for names in self.categories for name in names]),
        }


def header_of(arrays: Mapping[str, Any]) -> Header:
    """The header that `ExactTally.header_arrays` made into arrays, if it is one."""
    fraction = int(whole_numbers(arrays, "fraction", 1)[0])
    if fraction not in (0, FRACTION):
        raise InputError(f"the fraction is {fraction}; it is 0 or {FRACTION}")
    columns = in_order(unpack(arrays, "columns"), "columns")
    if not columns:
        raise InputError("there are no columns")
    names = unpack(arrays, "categories")
    edges = [0, *itertools.accumulate(whole_numbers(arrays, "sizes", len(columns)).tolist())]
    if edges[-1] != len(names):
        raise InputError("the array `sizes` does not fit the categories")
    categories = tuple(in_order(names[a:b], "categories") for a, b in itertools.pairwise(edges))
    return fraction, in_order(unpack(arrays, "classes"), "classes"), columns, categories
