r"""Arrays of exact sums of floating-point numbers: fixed point, in as many digits of 22 bits as they take.

Every finite number is a whole multiple of a power of two, and so are sums and products of them. Digits are
whole numbers, so that sums are the same in any order, what was added can be taken away without a trace, and
equal sums are equal arrays, be the numbers 1e-300 and 1e100.

References
----------
Kulisch (2013), "Computer Arithmetic and Validity", chapter 8, for sums in fixed point; Ozaki, Ogita, Oishi,
Rump (2012), "Error-free transformations of matrix multiplication by using fast routines of matrix
multiplication", for products of digits that are exact in floating point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.named_arrays import AnyArray
from textodds.stats.tally import Additive

BITS = 22  # of a digit
HALF = 1 << (BITS - 1)  # digits are from -HALF to HALF - 1
ROWS = 2048  # so many products of two digits add up to at most 2^53, exactly in floating point
FARTHEST = 256  # digits beside the point, at most: squares of subnormal numbers end at the 98th

Floats = NDArray[np.float64]
Units = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExactSums(Additive):
    r"""An array of numbers :math:`\sum_l d_l 2^{22 (l + \mathrm{low})}`, in the one form that each has.

    Examples
    --------
    >>> big, small = ExactSums.of(np.array([1e100])), ExactSums.of(np.array([1e-300]))
    >>> (big + small).floats(), (big + small - big).floats()
    (array([1.e+100]), array([1.e-300]))
    >>> (small * small + big - big).floats(), (small * small).signs()
    (array([0.]), array([1]))
    """

    low: int
    digits: Units  # (L, …) from -HALF to HALF - 1; neither the first nor the last is 0 everywhere

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the numbers."""
        return self.digits.shape[1:]

    @classmethod
    def none(cls, *shape: int) -> ExactSums:
        """Zeros."""
        return cls(0, np.zeros((0, *shape), np.int64))

    @classmethod
    def of(cls, values: Floats) -> ExactSums:
        """Finite numbers, as they are."""
        parts = {exponent: part.astype(np.int64) for exponent, part in split(values).items()}
        return cls.of_parts(parts, np.shape(values))

    @classmethod
    def of_parts(cls, parts: Mapping[int, Units], shape: tuple[int, ...]) -> ExactSums:
        """Sums of whole numbers of powers of two, by the exponent of these."""
        if not parts:
            return cls.none(*shape)
        low, high = min(parts) // BITS, max(parts) // BITS
        digits = np.zeros((high - low + 4, *shape), np.int64)  # 64 bits that are shifted are four digits
        for exponent, part in parts.items():
            at, shift = divmod(exponent, BITS)
            for place, piece in enumerate((part & (2 * HALF - 1), (part >> BITS) & (2 * HALF - 1))):
                digits[at - low + place] += piece << shift
            digits[at - low + 2] += ((part >> 2 * BITS) & (2 * HALF - 1)) << shift
            if (rest := part >> 3 * BITS).any():  # -1 of numbers below zero
                digits[at - low + 3] += rest << shift
        return cls._normal(low, digits)

    @classmethod
    def _normal(cls, low: int, digits: Units) -> ExactSums:
        """The one form of a number by digits of any size; they are written over."""
        if not len(digits):
            return cls(0, digits)
        for at in range(len(digits) - 1):
            carry = (digits[at] + HALF) >> BITS
            digits[at] -= carry << BITS
            digits[at + 1] += carry
        while (carry := (digits[-1] + HALF) >> BITS).any():
            digits[-1] -= carry << BITS
            digits = np.concatenate([digits, carry[None]])
        some = np.flatnonzero(digits.reshape(len(digits), -1).any(axis=1))
        if not len(some):
            return cls(0, digits[:0])
        return cls(low + int(some[0]), digits[some[0] : some[-1] + 1])

    def _combine(self, other: ExactSums, sign: int) -> ExactSums:
        if not len(other.digits):
            return self
        if not len(self.digits) and sign > 0:
            return other
        low = min(self.low, other.low) if len(self.digits) else other.low
        high = max(self.low + len(self.digits) if len(self.digits) else low, other.low + len(other.digits))
        digits = np.zeros((high - low, *self.shape), np.int64)
        if len(self.digits):
            digits[self.low - low :][: len(self.digits)] += self.digits
        digits[other.low - low :][: len(other.digits)] += sign * other.digits
        return self._normal(low, digits)

    def __mul__(self, other: ExactSums) -> ExactSums:
        """Products of numbers, whose shapes are made alike as NumPy does."""
        shape = np.broadcast_shapes(self.shape, other.shape)
        if not len(self.digits) or not len(other.digits):
            return ExactSums.none(*shape)
        digits = np.zeros((len(self.digits) + len(other.digits), *shape), np.int64)
        for a, mine in enumerate(self.digits):
            for b, theirs in enumerate(other.digits):
                digits[a + b] += mine * theirs  # at most 2^42, and as many of them as one has digits
        return self._normal(self.low + other.low, digits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactSums):
            return NotImplemented
        return self.low == other.low and np.array_equal(self.digits, other.digits)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, place: Any) -> ExactSums:
        """Some of the numbers, as NumPy would have them."""
        index = place if isinstance(place, tuple) else (place,)
        return self._normal(self.low, self.digits[(slice(None), *index)].copy())

    def put(self, places: NDArray[np.integer], size: int) -> ExactSums:
        """The numbers at other places of the first axis, of so many; zeros elsewhere."""
        if len(places) == size and np.array_equal(places, np.arange(size)):
            return self
        digits = np.zeros((len(self.digits), size, *self.shape[1:]), np.int64)
        digits[:, places] = self.digits
        return ExactSums(self.low, digits)

    def where(self, mask: NDArray[np.bool_]) -> ExactSums:
        """The same with zeros where the mask has none."""
        return self if mask.all() else self._normal(self.low, np.where(mask, self.digits, 0))

    def signs(self) -> Units:
        """-1, 0 or 1 by number: the sign of the first digit that is not 0."""
        found = np.zeros(self.shape, np.int64)
        for digit in self.digits[::-1]:
            found = np.where(found, found, np.sign(digit))
        return found

    def floats(self) -> Floats:
        """The numbers, rounded to about the last bit."""
        found = np.zeros(self.shape)
        for at, digit in enumerate(self.digits):  # the smallest first
            found += np.ldexp(digit.astype(np.float64), BITS * (self.low + at))
        return found

    def flat(self) -> NDArray[np.int32]:
        """The digits in a row, for a file."""
        return self.digits.astype(np.int32).reshape(-1)

    @classmethod
    def of_flat(cls, low: int, count: int, digits: AnyArray, shape: tuple[int, ...]) -> ExactSums | None:
        """The numbers that `flat` made a row of, of so many digits each; None if they are none."""
        if digits.dtype != np.int32 or digits.shape != (count * int(np.prod(shape)),):
            return None
        if not (low >= -FARTHEST and count >= 0 and low + count <= FARTHEST):
            return None
        found = cls(low, digits.astype(np.int64).reshape(count, *shape))
        return found if found == cls._normal(low, found.digits.copy()) else None


def top_of(most: float) -> int:
    """The exponent that `split` begins with where numbers are up to so large: 2^21 of its powers of two."""
    mantissa, exponent = np.frexp(most)
    return int(exponent) - (BITS - 1) - int(mantissa == 0.5)


def split(values: Floats, top: int | None = None) -> dict[int, Floats]:
    """Finite numbers as whole numbers from -2^21 to 2^21 of powers of two, by the exponent of these.

    Exponents are ``top``, or differ from it by multiples of 22. Each part is what the parts before it have
    left, rounded to its power of two: at most half of it is left, and that without rounding.

    Examples
    --------
    >>> split(np.array([3.0, 0.5]))
    {-19: array([1572864.,  262144.])}
    """
    rest = np.array(values, dtype=np.float64)
    parts: dict[int, Floats] = {}
    scaled = 0  # powers of two by which the rest was multiplied
    while (most := float(np.abs(rest).max(initial=0.0))) > 0:
        if most < 2.0**-900 and not scaled:  # so that no power of two below is too small to be a number
            rest, scaled = rest * 2.0**500, 500
            most *= 2.0**500
        needed = top_of(most) - scaled
        top = needed if top is None else top
        exponent = top - (top - needed) // BITS * BITS
        digit = np.rint(rest * 2.0 ** -(exponent + scaled))
        rest -= digit * 2.0 ** (exponent + scaled)
        parts[exponent] = digit
    return parts
