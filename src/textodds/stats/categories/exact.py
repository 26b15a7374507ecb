"""Sums that are exact: weights as whole numbers of units, and what both tallies do with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, NegativeCount
from textodds.stats.additive import checked_weights
from textodds.stats.categories.columns import listed

FRACTION = 30  # weights that are not whole are rounded to multiples of ``2**-FRACTION``
MOST_UNITS = 1 << 63  # total weight is below this, in units of ``2**-fraction``, so that no sum wraps around

Units: TypeAlias = NDArray[np.int64]


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


def summed(places: NDArray[Any], units: Units | None, size: int) -> Units:
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


def common(a: int, b: int, total: tuple[int, int]) -> tuple[int, int, int]:
    """The fraction two tallies share, and the factors that take each there."""
    fraction = max(a, b)
    by = 1 << (fraction - a), 1 << (fraction - b)
    if sum(units * factor for units, factor in zip(total, by, strict=True)) >= MOST_UNITS:
        raise overflow()
    return fraction, *by


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


def check_columns(a: Sequence[str], b: Sequence[str]) -> None:
    """Refuse to combine the counts of different columns."""
    if a == b:
        return
    only = [
        f"{listed(sorted(set(x) - set(y)))} only in the {which}"
        for x, y, which in ((a, b, "first"), (b, a, "second"))
        if set(x) - set(y)
    ]
    raise InputError(
        "the counts are of different columns: " + "; ".join(only),
        hint="count the same columns of both; one that was not asked for is a column of None",
    )


def negative(what: str, class_name: str) -> NegativeCount:
    """The error for subtracting what is not there."""
    return NegativeCount(
        f"the count of {what} in class `{class_name}` would go below zero",
        hint="only what was learned can be subtracted or forgotten; nothing was changed",
    )
