"""Sums that are exact: weights as whole numbers of units, and the form of both tallies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, NegativeCount
from textodds.stats.categories.columns import listed
from textodds.stats.tally import Additive, checked_weights

FRACTION = 30  # weights that are not whole are rounded to multiples of ``2**-FRACTION``
MOST_UNITS = 1 << 63  # total weight is below this, in units of ``2**-fraction``, so that no sum wraps around

Units: TypeAlias = NDArray[np.int64]
Arrays: TypeAlias = dict[str, NDArray[np.integer]]
Header: TypeAlias = tuple[int, tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]
RawHeader: TypeAlias = tuple[int, Sequence[str], Sequence[str], Sequence[Sequence[str]]]
"""Fraction, classes, columns, and the categories of each column; raw, in any order."""


def weight_units(weights: ArrayLike | None, N: int) -> tuple[int, Units | None]:
    """Weights as whole numbers of ``2**-fraction``; None where each is one."""
    if weights is None:
        return 0, None
    values = checked_weights(weights, N)
    whole = np.floor(values)
    fraction = 0 if np.array_equal(whole, values) else FRACTION
    scaled = values * 2.0**fraction
    whole = np.floor(scaled)
    rounded = whole + (scaled - whole >= 0.5)  # halves up, as the kernels do
    units = rounded.astype(np.int64)
    total(units)
    return fraction, units


def total(units: Units) -> int:
    """The sum of units of zero or more; `InputError` where it does not fit 64 bits."""
    high, low = int((units >> 31).sum()), int((units & (2**31 - 1)).sum())  # neither wraps around
    if (high << 31) + low >= MOST_UNITS:
        raise overflow()
    return (high << 31) + low


def overflow() -> InputError:
    """The error for counts that are too large."""
    return InputError("a count no longer fits 64 bits", hint="use smaller weights")


def as_numbers(units: Units, fraction: int) -> NDArray[np.float64]:
    """Units of ``2**-fraction`` as floating-point numbers."""
    return units * np.float64(2.0**-fraction)


def summed(places: NDArray[np.integer], units: Units | None, size: int) -> Units:
    """Sums of ``units`` (ones, if None) by place, (size,), exact."""
    if units is None:
        return np.bincount(places, minlength=size).astype(np.int64, copy=False)
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, places, units)
    return sums


def needless(fraction: int, arrays: Sequence[Units]) -> int:
    """The power of two all counts can be divided by without one becoming fractional: fraction, or 0."""
    mask = (1 << fraction) - 1
    return fraction if all(not (array & mask).any() for array in arrays) else 0


def merged(
    a: Sequence[str], b: Sequence[str]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """The names of both, sorted, and where those of each are among them."""
    if a == b:
        same = np.arange(len(a))
        return tuple(a), same, same
    names = sorted({*a, *b})
    index = {name: at for at, name in enumerate(names)}
    places = [np.array([index[name] for name in own], dtype=np.int64) for own in (a, b)]
    return tuple(names), places[0], places[1]


def negative(what: str, class_name: str) -> NegativeCount:
    """The error for subtracting what is not there."""
    return NegativeCount(
        f"the count of {what} in class `{class_name}` would go below zero",
        hint="only what was learned can be subtracted or forgotten; nothing was changed",
    )


def pack(key: str, names: Sequence[str]) -> Arrays:
    """Names as two arrays: their bytes, and where each ends."""
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.uint64)
    return {f"{key}.text": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{key}.ends": ends}


def whole_numbers(arrays: Mapping[str, ArrayLike], key: str, length: int | None = None) -> Units:
    """An array of a file as whole numbers from zero to `MOST_UNITS`."""
    if key not in arrays:
        raise InputError(f"the array `{key}` is missing")
    array = np.asarray(arrays[key])
    if array.ndim != 1 or array.dtype.kind not in "iu" or (length is not None and len(array) != length):
        raise InputError(f"the array `{key}` has the wrong type or size")
    if len(array) and not (int(array.min()) >= 0 and int(array.max()) < MOST_UNITS):
        raise InputError(f"the array `{key}` holds a number out of range")
    return array.astype(np.int64, copy=False)


def unpack(arrays: Mapping[str, ArrayLike], key: str) -> list[str]:
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
    def _header(self) -> Header:
        return self.fraction, self.classes, self.columns, self.categories

    def _counts(self) -> tuple[NDArray[np.integer], ...]:
        """All that the tally has beside its header."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._header == other._header and all(map(np.array_equal, self._counts(), other._counts()))

    __hash__ = None  # type: ignore[assignment]

    def _common(self, other: Self) -> tuple[int, int, int]:
        """The fraction that two tallies of the same columns share, and the factors that take each there."""
        if self.columns != other.columns:
            only = [
                f"{listed(sorted(set(a) - set(b)))} only in the {which}"
                for a, b, which in (
                    (self.columns, other.columns, "first"),
                    (other.columns, self.columns, "second"),
                )
                if set(a) - set(b)
            ]
            raise InputError(
                "the counts are of different columns: " + "; ".join(only),
                hint="count the same columns of both; one that was not asked for is a column of None",
            )
        fraction = max(self.fraction, other.fraction)
        by = 1 << (fraction - self.fraction), 1 << (fraction - other.fraction)
        units = self.class_units, other.class_units  # type: ignore[attr-defined]  # of each tally
        if sum(int(own.sum()) * factor for own, factor in zip(units, by, strict=True)) >= MOST_UNITS:
            raise overflow()
        return fraction, *by

    def header_arrays(self) -> Arrays:
        """The header as plain arrays."""
        return {
            "fraction": np.array([self.fraction], dtype=np.uint8),
            **pack("classes", self.classes),
            **pack("columns", self.columns),
            "sizes": np.array([len(names) for names in self.categories], dtype=np.uint64),
            **pack("categories", [name for names in self.categories for name in names]),
        }


def header_of(arrays: Mapping[str, ArrayLike]) -> Header:
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
