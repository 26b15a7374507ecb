r"""Weights, sums and products of columns of numbers, exactly: what the moments of tables are made of.

``tally(A) + tally(B) - tally(C) == tally(A ∪ B \ C)``, bit for bit, as `textodds.stats.tally` does for
counts, whatever the size of the numbers.
"""

from __future__ import annotations

import itertools
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import InputError, NegativeCount
from textodds.stats.categories.exact import merged
from textodds.stats.exact_sums import BITS, ROWS, ExactSums, Floats, Units, split, top_of
from textodds.stats.moments import BLOCK_BYTES, LARGEST, LEFT, Moments, refuse_numbers
from textodds.stats.sample import UNIT
from textodds.stats.tally import Additive

PARTS = ("rows", "numbers", "sums", "products")


@dataclass(frozen=True, eq=False)
class MomentTally(Additive):
    r"""Exact sums over the rows of each of K classes, of V columns of numbers.

    With weights :math:`u_i`, whole numbers of :math:`2^{-30}`, they are :math:`n = \sum_i u_i`,
    :math:`s = \sum_i u_i x_i` and :math:`Q = \sum_i u_i x_i x_i^\top`, or the diagonal of Q alone, a column
    at a time, so that a missing number (NaN) is left out of its own column only. Mean and scatter are

    .. math:: \mu = s / n, \qquad S = (n Q - s s^\top) / n                             \tag{1}

    whose numerators are exact too, so that nothing is lost where Q and :math:`s s^\top / n` are nearly equal.

    Examples
    --------
    >>> a = MomentTally.of(np.array([[1.0], [3.0]]), np.array([0, 0]), ("x",))
    >>> b = MomentTally.of(np.array([[1e80]]), np.array([0]), ("x",))
    >>> (a + b - b).moments().scatter, a + b - b == a
    (array([[2.]]), True)
    """

    classes: tuple[str, ...]  # (K,) sorted
    rows: ExactSums  # (K,) weight of all rows
    numbers: ExactSums  # (K, V) weight of the rows that have a number; (K, 1) of full products
    sums: ExactSums  # (K, V)
    products: ExactSums  # (K, V), or (K, V, V) if full
    _: KW_ONLY
    stored: Moments | None = None  # as they stand in a file of before sums were exact
    is_rounded: bool = False  # whether it began with such moments

    @property
    def parts(self) -> tuple[ExactSums, ...]:
        """The sums, in the order of `PARTS`."""
        return self.rows, self.numbers, self.sums, self.products

    @property
    def is_full(self) -> bool:
        """Whether products of different columns are kept."""
        return len(self.products.shape) == 3

    @property
    def n_columns(self) -> int:
        """V."""
        return self.sums.shape[1]

    @property
    def class_rows(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self.rows.floats()

    @classmethod
    def of(
        cls,
        rows: Floats,
        codes: NDArray[np.integer],
        classes: tuple[str, ...],
        weights: Floats | None = None,
        *,
        full: bool = False,
        first: int = 0,
    ) -> MomentTally:
        """The sums of rows (N, V) whose classes are given by number; the first is row ``first``."""
        refuse_numbers(rows, first, missing=not full)
        there = ~np.isnan(rows)
        counting = _Counting(len(classes), rows.shape[1], full=full, gaps=not there.all())
        top = top_of(float(np.abs(rows).max(initial=0.0, where=there)))
        step = min(ROWS, max(64, BLOCK_BYTES // (8 * max(rows.shape[1], 1))))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            units = None if weights is None else np.round(weights[part] / UNIT)
            counting.add(np.where(there[part], rows[part], 0.0), there[part], codes[part], units, top)
        return cls(classes, *counting.finish())._without_empty()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MomentTally):
            return NotImplemented
        return self.classes == other.classes and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def _without_empty(self) -> MomentTally:
        some = np.flatnonzero(self.rows.signs() > 0)
        if len(some) == len(self.classes):
            return self
        names = tuple(self.classes[k] for k in some)
        return MomentTally(names, *(part[some] for part in self.parts), is_rounded=self.is_rounded)

    def moments(self) -> Moments:
        """Weights, means and scatters as numbers, for estimation."""
        if self.stored is not None:
            return self.stored
        count = self.numbers.floats()
        known = np.where(count > 0, count, 1.0)
        over = known[:, :, None] if self.is_full else known
        with np.errstate(under="ignore"):
            scatter = self._scatter().floats() / over  # (1)
        diagonal = np.einsum("kvv->kv", scatter) if self.is_full else scatter
        np.maximum(diagonal, 0.0, out=diagonal)  # of moments that were rounded once
        return Moments(self.classes, self.class_rows, count, self.sums.floats() / known, scatter)

    def _scatter(self) -> ExactSums:
        """``n Q - s s'``."""
        if not self.is_full:
            return self.numbers * self.products - self.sums * self.sums
        return self.numbers[:, :, None] * self.products - self.sums[:, :, None] * self.sums[:, None, :]

    def _spread(self) -> ExactSums:
        """The diagonal of `_scatter`, (K, V)."""
        return self.numbers * self._squares() - self.sums * self.sums

    def _squares(self) -> ExactSums:
        """The diagonal of the products, (K, V)."""
        every = np.arange(self.n_columns)
        return self.products[:, every, every] if self.is_full else self.products

    def _combine(self, other: MomentTally, sign: int) -> MomentTally:
        if self.is_full != other.is_full or self.n_columns != other.n_columns:
            raise InputError(
                f"moments of {self.n_columns} and of {other.n_columns} columns, or of different kinds, "
                "cannot be added or subtracted"
            )
        classes, mine, theirs = merged(self.classes, other.classes)
        pairs = zip(self.parts, other.parts, strict=True)
        placed = [(a.put(mine, len(classes)), b.put(theirs, len(classes))) for a, b in pairs]
        is_rounded = self.is_rounded or other.is_rounded
        sums = [a + b if sign > 0 else a - b for a, b in placed]
        total = MomentTally(classes, *sums, is_rounded=is_rounded)
        if sign < 0:
            before = MomentTally(classes, *(a for a, _ in placed), is_rounded=is_rounded)
            total = total._without_rounding(before) if is_rounded else total
            total._check(before)
        return total._without_empty()

    def _check(self, before: MomentTally) -> None:
        """Refuse what is left after subtraction if something was never there, as far as it shows."""
        hint, slack = "only rows that were learned can be forgotten", np.zeros(self.sums.shape)
        if self.is_rounded:
            slack = 1e-6 * before._spread().floats()
            slack += 1e-12 * (before.numbers * before._squares()).floats()
        have, left = before.rows.floats(), self.rows.floats()
        for k in np.flatnonzero(self.rows.signs() < 0):
            taken = f"{have[k]:g}, and {have[k] - left[k]:g} would be taken away"
            raise NegativeCount(f"class `{self.classes[k]}` has rows of weight {taken}", hint=hint)
        have, left = before.numbers.floats(), self.numbers.floats()
        for k, v in np.argwhere(self.numbers.signs() < 0):
            taken = f"{have[k, v]:g} in class `{self.classes[k]}`, and {have[k, v] - left[k, v]:g} would be"
            raise NegativeCount(f"column {v} has numbers of weight {taken} taken away", hint=hint)
        # Numbers that are not there have no squares, and no class varies by less than nothing.
        spread, some = self._spread(), np.broadcast_to(self.numbers.signs() > 0, self.sums.shape)
        wrong = np.where(some, spread.signs() < 0, self._squares().signs() != 0)
        for k, v in np.argwhere(wrong & (spread.floats() <= -slack)):
            variance = f"a variance below zero in class `{self.classes[k]}`"
            raise NegativeCount(f"column {v} would be left with {variance}", hint=hint)

    def _without_rounding(self, before: MomentTally) -> MomentTally:
        """The same with nothing where what is left of moments that were rounded once is rounding."""
        rows, numbers = (
            now.where(np.abs(now.floats()) > LEFT * then.floats())
            for now, then in zip(self.parts[:2], before.parts[:2], strict=True)
        )
        some = np.broadcast_to(numbers.signs() > 0, self.sums.shape)
        pairs = some[:, :, None] & some[:, None, :] if self.is_full else some
        sums, products = self.sums.where(some), self.products.where(pairs)
        return MomentTally(self.classes, rows, numbers, sums, products, is_rounded=True)

    def arrays(self) -> Arrays:
        """The sums as flat arrays, for a file."""
        if self.stored is not None:
            return dict(self.stored.arrays())
        about = [int(self.is_rounded)]
        for part in self.parts:
            about += [part.low, len(part.digits)]
        flat = {name: part.flat() for name, part in zip(PARTS, self.parts, strict=True)}
        return {"about": np.array(about, np.int64), **flat}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, classes: tuple[str, ...], V: int, *, full: bool) -> MomentTally:
        """The sums that `arrays` made flat, or moments of an older file; refuses arrays that are neither."""
        if "mean" in arrays:
            return cls.of_moments(Moments.of_arrays(arrays, classes, V, full=full))
        about, K = arrays.get("about"), len(classes)
        if about is None or about.dtype != np.int64 or about.shape != (9,) or about[0] not in (0, 1):
            raise InputError("the moments lack the position of their digits")
        shapes = (K,), (K, 1 if full else V), (K, V), (K, V, V) if full else (K, V)
        parts = []
        for name, (low, length), shape in zip(PARTS, about[1:].reshape(4, 2).tolist(), shapes, strict=True):
            part = ExactSums.of_flat(low, length, arrays.get(name, np.zeros(0)), shape)
            if part is None or not np.abs(part.floats()).max(initial=0.0) < LARGEST**2.5:
                raise InputError(f"the {name} of the moments are invalid")
            parts.append(part)
        tally = cls(classes, *parts, is_rounded=bool(about[0]))
        some = tally.numbers.signs() > 0
        if (tally.numbers.signs() < 0).any() or (tally.rows.signs() <= 0).any() or (full and not some.all()):
            raise InputError("the moments have a variance below zero, or a class without rows")
        spread = np.where(some, tally._spread().signs(), -np.abs(tally.sums.signs()))
        if (spread < 0).any() and not tally.is_rounded:
            raise InputError("the moments have a variance below zero, or a class without rows")
        if full and not np.array_equal(tally.products.digits, tally.products.digits.swapaxes(2, 3)):
            raise InputError("the products of the moments are invalid")
        return tally

    @classmethod
    def of_moments(cls, moments: Moments) -> MomentTally:
        """The sums of moments that were rounded."""
        rows, n, mean, scatter = map(ExactSums.of, moments.parts)
        sums = n * mean
        own = sums[:, :, None] * mean[:, None, :] if moments.is_full else sums * mean
        return cls(moments.classes, rows, n, sums, scatter + own, stored=moments, is_rounded=True)


class _Counting:
    """Sums in the making, block by block: whole numbers of powers of two, by the exponents of these."""

    def __init__(self, K: int, V: int, *, full: bool, gaps: bool) -> None:
        self._full, self._gaps = full, gaps
        self._shapes = (K,), (K, 1 if full else V), (K, V), (K, V, V) if full else (K, V)
        self._parts: tuple[dict[int, Units], ...] = ({}, {}, {}, {})
        self._done = [ExactSums.none(*shape) for shape in self._shapes]
        self._blocks = 0

    def add(
        self,
        block: Floats,
        there: NDArray[np.bool_],
        codes: NDArray[np.integer],
        units: Floats | None,
        top: int,
    ) -> None:
        """Add some rows, missing numbers being 0, by their weights in units of 2^-30, all 1 if None."""
        # Numbers of 16 bits are sorted digit by digit, ten times faster than others.
        short = codes.astype(np.uint16) if self._shapes[0][0] <= 1 << 16 else codes
        order = np.argsort(short, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        classes = codes[order][starts]
        digits = {e: part[order] for e, part in split(block, top).items()}
        there = there[order]
        weighed, weights = digits, {0: np.ones(len(order))}
        if units is not None:
            weights = {e - 30: part for e, part in split(units[order], 0).items()}
            weighed = _weighed(digits, weights)
        for e, part in weights.items():
            mass = np.add.reduceat(part, starts)
            self._put(0, e, classes, mass)
            if self._full or not self._gaps:
                self._put(1, e, classes, np.broadcast_to(mass[:, None], (len(mass), self._shapes[1][1])))
            else:
                self._put(1, e, classes, np.add.reduceat(part[:, None] * there, starts, axis=0))
        for e, part in weighed.items():
            self._put(2, e, classes, np.add.reduceat(part, starts, axis=0))
        if self._full:
            self._add_full(weighed, digits, classes, np.append(starts, len(order)))
        else:
            for (a, mine), (b, theirs) in itertools.product(weighed.items(), digits.items()):
                self._put(3, a + b, classes, np.add.reduceat(mine * theirs, starts, axis=0))
        self._blocks += 1
        if self._blocks == 64:  # whole numbers of 53 bits, of several pairs of digits
            self._flush()

    def _add_full(
        self,
        weighed: dict[int, Floats],
        digits: dict[int, Floats],
        classes: NDArray[np.integer],
        ends: NDArray[np.intp],
    ) -> None:
        """Add products of all columns: those of all pairs of digits at once, class by class."""
        if not digits:
            return
        V = self._shapes[2][1]
        right = np.concatenate(list(digits.values()), axis=1)
        left = right if weighed is digits else np.concatenate(list(weighed.values()), axis=1)
        for k, (start, end) in zip(classes, itertools.pairwise(ends), strict=True):
            found = (left[start:end].T @ right[start:end]).reshape(len(weighed), V, len(digits), V)
            for (i, a), (j, b) in itertools.product(enumerate(weighed), enumerate(digits)):
                self._put(3, a + b, k, found[i, :, j])

    def _put(self, which: int, exponent: int, classes: Any, sums: Floats) -> None:
        parts = self._parts[which]
        if exponent not in parts:
            parts[exponent] = np.zeros(self._shapes[which], np.int64)
        parts[exponent][classes] += sums.astype(np.int64)

    def _flush(self) -> None:
        for at, (parts, shape) in enumerate(zip(self._parts, self._shapes, strict=True)):
            self._done[at] += ExactSums.of_parts(parts, shape)
            parts.clear()
        self._blocks = 0

    def finish(self) -> list[ExactSums]:
        """All sums."""
        self._flush()
        return self._done


def _weighed(digits: dict[int, Floats], weights: dict[int, Floats]) -> dict[int, Floats]:
    """The digits of numbers (N, V) times weights (N,), each again from -2^21 to 2^21."""
    parts: dict[int, Floats] = {}
    for (a, part), (b, weight) in itertools.product(digits.items(), weights.items()):
        product = part * weight[:, None]  # at most 2^42
        high = np.rint(product * 2.0**-BITS)
        for exponent, piece in ((a + b, product - high * 2.0**BITS), (a + b + BITS, high)):
            parts[exponent] = parts[exponent] + piece if exponent in parts else piece
    found: dict[int, Floats] = {}
    while parts:  # the lowest first, carrying what is too much
        exponent = min(parts)
        part = parts.pop(exponent)
        carry = np.rint(part * 2.0**-BITS)
        found[exponent] = part - carry * 2.0**BITS
        if carry.any():
            above = exponent + BITS
            parts[above] = parts[above] + carry if above in parts else carry
    return found
