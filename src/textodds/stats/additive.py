"""``+`` and ``-``, once for all that is learned by counting."""

from __future__ import annotations

from typing import Self


class Additive:
    """Adds and subtracts its own kind, by one method for both."""

    def _combine(self, other: Self, sign: int) -> Self:
        """``self + other`` where ``sign`` is 1, ``self - other`` where it is -1."""
        raise NotImplementedError

    def __add__(self, other: Self) -> Self:
        return self._combine(other, 1) if isinstance(other, type(self)) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self._combine(other, -1) if isinstance(other, type(self)) else NotImplemented
