"""``+`` and ``-``, and weights of rows, once for all that is learned by counting."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.data.values import WEIGHT_MOST
from textodds.errors import BadWeight, LengthMismatch


class Additive:
    """Adds and subtracts its own kind, by one method for both."""

    def _combine(self, other: Self, sign: int) -> Self:
        """``self + other`` where ``sign`` is 1, ``self - other`` where it is -1."""
        raise NotImplementedError

    def __add__(self, other: Self) -> Self:
        return self._combine(other, 1) if isinstance(other, type(self)) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self._combine(other, -1) if isinstance(other, type(self)) else NotImplemented


def checked_weights(
    weights: ArrayLike, N: int, *, most: float = WEIGHT_MOST, first: int = 0
) -> NDArray[np.float64]:
    """Weights of N rows, (N,), none below zero or above ``most``; the first is that of row ``first``."""
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (N,):
        raise LengthMismatch(N, values.size, "weights")
    for row in np.flatnonzero(~((values >= 0) & (values <= most)))[:1]:
        rule = "a number from 0 to 2^32" if most == WEIGHT_MOST else "zero or more"
        raise BadWeight(f"row {first + row} has the weight {values[row]:g}; a weight is {rule}")
    return values
