r"""Weights, means and scatters that add and subtract: what Gaussian models are made of.

Learning in batches, merging and forgetting are ``+`` and ``-`` here as for `textodds.stats.tally`, and
nothing that depends on a choice (smoothing, shrinkage, priors) is stored. Unlike counts, means are rounded:
the laws hold to the last few digits, not to the last bit. Estimators of arrays rest on these, which cost one
product of matrices; models of tables rest on exact sums (`moment_tally`), of which these are made.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.data.named_arrays import NamedArrays
from textodds.errors import InputError, LengthMismatch, NegativeCount
from textodds.stats.tally import Additive, checked_weights

BLOCK_BYTES = 2 << 20  # rows are taken in blocks that stay in the cache while they are centred and multiplied
LARGEST = 1e100  # no number is as large: squares, and sums of them, are still numbers

LEFT = 1e-9
"""A class of which less than this share of its weight is left has been forgotten: the rest is rounding."""

Floats = NDArray[np.float64]

PARTS = ("class_rows", "count", "mean", "scatter")


@dataclass(frozen=True, eq=False)
class Moments(Additive):
    r"""Weight, mean and scatter of V columns of numbers in each of K classes.

    With weights :math:`u_i` of the rows of a class,

    .. math::
        n = \sum_i u_i, \qquad \mu = \frac1n \sum_i u_i x_i, \qquad
        S = \sum_i u_i (x_i - \mu)(x_i - \mu)^\top                                  \tag{1}

    and of two sets of rows together, with :math:`\delta = \mu_b - \mu_a`,

    .. math::
        n = n_a + n_b, \qquad \mu = \mu_a + \frac{n_b}{n}\delta, \qquad
        S = S_a + S_b + \frac{n_a n_b}{n} \delta\delta^\top                         \tag{2}

    A ``full`` scatter is S itself; otherwise only its diagonal is kept, a column at a time, so that a
    missing number (NaN) is left out of its own column only.

    References
    ----------
    Chan, Golub, LeVeque (1979), "Updating formulae and a pairwise algorithm for computing sample
    variances", eq. 2.1; (2) with a minus is the same, read backwards.
    """

    classes: tuple[str, ...]  # (K,) sorted
    class_rows: Floats  # (K,) weight of all rows
    count: Floats  # (K, V) weight of the rows that have a number; (K, 1) for a full scatter
    mean: Floats  # (K, V)
    scatter: Floats  # (K, V), or (K, V, V) if full

    @property
    def parts(self) -> tuple[Floats, ...]:
        """The arrays, in the order of `PARTS`."""
        return self.class_rows, self.count, self.mean, self.scatter

    @property
    def is_full(self) -> bool:
        """Whether products of different columns are kept."""
        return self.scatter.ndim == 3

    @property
    def n_columns(self) -> int:
        """V."""
        return int(self.mean.shape[1])

    @classmethod
    def of(
        cls, rows: ArrayLike, labels: Sequence[str], weights: ArrayLike | None = None, *, full: bool = False
    ) -> Moments:
        """The moments of labelled rows (N, V).

        Examples
        --------
        >>> a = Moments.of([[1.0], [3.0]], ["x", "x"])
        >>> b = Moments.of([[8.0]], ["x"])
        >>> (a + b).mean, (a + b).scatter
        (array([[4.]]), array([[26.]]))
        >>> (a + b - b).scatter
        array([[2.]])
        """
        names = [str(label) for label in labels]
        classes = tuple(sorted(set(names)))  # NumPy's own text would lose a final NUL
        index = {name: k for k, name in enumerate(classes)}
        codes = np.fromiter((index[name] for name in names), np.int64, count=len(names))
        return cls.of_codes(rows, codes, classes, weights, full=full)

    @classmethod
    def of_codes(
        cls,
        rows: ArrayLike,
        codes: NDArray[np.integer],
        classes: tuple[str, ...],
        weights: ArrayLike | None = None,
        *,
        full: bool = False,
        first: int = 0,
    ) -> Moments:
        """The moments of rows (N, V) whose classes are given by number; the first is row ``first``."""
        X = np.asarray(rows)
        if X.ndim != 2:
            raise InputError(f"rows must be a matrix, got {X.ndim} dimensions", hint="one row a case")
        N, V = X.shape
        if len(codes) != N:
            raise LengthMismatch(N, len(codes))
        w = None if weights is None else checked_weights(weights, N)
        total = cls.none(classes, V, full=full)
        # Numbers of 16 bits are sorted digit by digit, ten times faster than others.
        short = codes.astype(np.uint16) if len(classes) <= 1 << 16 else codes
        step = max(64, BLOCK_BYTES // (8 * max(V, 1)))
        for start in range(0, N, step):
            part = slice(start, start + step)
            block = np.asarray(X[part], dtype=np.float64)
            with np.errstate(invalid="ignore", over="ignore"):  # what cannot be is named, not warned of
                _add_block(total, block, short[part], None if w is None else w[part], first + start)
        return total.without_empty()

    @classmethod
    def none(cls, classes: tuple[str, ...], V: int, *, full: bool = False) -> Moments:
        """The moments of no rows at all."""
        K = len(classes)
        scatter = np.zeros((K, V, V) if full else (K, V))
        return cls(classes, np.zeros(K), np.zeros((K, 1 if full else V)), np.zeros((K, V)), scatter)

    def without_empty(self) -> Moments:
        """The same without the classes that have no weight."""
        return self.of_classes(np.flatnonzero(self.class_rows > 0))

    def of_classes(self, numbers: NDArray[np.intp]) -> Moments:
        """The moments of some of the classes."""
        if np.array_equal(numbers, np.arange(len(self.classes))):
            return self
        names = tuple(self.classes[k] for k in numbers)
        return Moments(names, *(part[numbers] for part in self.parts))

    def diagonal(self) -> Moments:
        """The same without the products of different columns."""
        if not self.is_full:
            return self
        count = np.repeat(self.count, self.n_columns, axis=1)
        return replace(self, count=count, scatter=np.einsum("kvv->kv", self.scatter).copy())

    def arrays(self) -> dict[str, Floats]:
        """The moments as flat arrays, for a file."""
        return {name: part.reshape(-1) for name, part in zip(PARTS, self.parts, strict=True)}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, classes: tuple[str, ...], V: int, *, full: bool) -> Moments:
        """The moments that `arrays` made flat; refuses arrays that are none."""
        empty = cls.none(classes, V, full=full)
        parts = {}
        for name, part in zip(PARTS, empty.parts, strict=True):
            shape, array = part.shape, arrays.get(name)
            if array is None or array.dtype != np.float64 or array.shape != (int(np.prod(shape)),):
                raise InputError(f"the moments have no {name} of {int(np.prod(shape))} numbers")
            most = LARGEST if name != "scatter" else LARGEST**1.5
            is_count = name in ("class_rows", "count")  # of weights, which are multiples of 2^-30
            if not (np.abs(array) < most).all() or (is_count and ((array < 2.0**-31) & (array != 0)).any()):
                raise InputError(f"the {name} of the moments are invalid")
            parts[name] = array.reshape(shape)
        diagonal = np.einsum("kvv->kv", parts["scatter"]) if full else parts["scatter"]
        if (diagonal < 0).any() or not (parts["class_rows"] > 0).all() or (full and not parts["count"].all()):
            raise InputError("the moments have a variance below zero, or a class without rows")
        return cls(classes, **parts)

    def _combine(self, other: Moments, sign: int) -> Moments:
        if self.is_full != other.is_full or self.n_columns != other.n_columns:
            raise InputError(
                f"moments of {self.n_columns} and of {other.n_columns} columns, or of different kinds, "
                "cannot be added or subtracted"
            )
        classes = tuple(sorted({*self.classes, *other.classes}))
        total = Moments.none(classes, self.n_columns, full=self.is_full)
        for k, name in enumerate(self.classes):
            at = classes.index(name)
            for mine, sum_ in zip(self.parts, total.parts, strict=True):
                sum_[at] = mine[k]
        for k, name in enumerate(other.classes):
            at = classes.index(name)
            if sign < 0:
                _refuse_negative(total, at, other, k)
            _merge(total, at, *(part[k] for part in other.parts), sign=sign)
        return total.without_empty()


def _merge(
    total: Moments, k: int, rows: float, count: Floats, mean: Floats, scatter: Floats, *, sign: int = 1
) -> None:
    """Add (or take away) the moments of one class in place, by (2)."""
    before = total.count[k]  # (V,) or (1,)
    after = np.maximum(before + sign * count, 0.0)
    total.class_rows[k] = max(total.class_rows[k] + sign * rows, 0.0)
    if sign < 0:
        after[after <= LEFT * before] = 0.0
        if total.class_rows[k] <= LEFT * rows:
            total.class_rows[k] = 0.0
    some = after > 0
    # Subtracting, μ = μ_a - (n_b / n)(μ_b - μ_a): (2) solved for what is left.
    share = sign * np.divide(count, after, out=np.zeros_like(after), where=some)
    delta, factor = mean - total.mean[k], share * before
    if total.is_full:
        total.scatter[k] += sign * scatter + factor * np.outer(delta, delta)
        diagonal = np.einsum("vv->v", total.scatter[k])
        np.maximum(diagonal, 0.0, out=diagonal)
    else:
        total.scatter[k] = np.maximum(total.scatter[k] + sign * scatter + factor * delta**2, 0.0)
    total.mean[k] += share * delta
    total.count[k] = after
    if not some.all():
        total.mean[k] = np.where(some, total.mean[k], 0.0)
        total.scatter[k] = np.where(some, total.scatter[k], 0.0)


def _add_block(
    total: Moments, block: Floats, codes: NDArray[np.integer], weights: Floats | None, first: int
) -> None:
    """Add some rows in place: each class's own moments by (1), then (2)."""
    order = np.argsort(codes, kind="stable")
    sorted_ = block[order]
    ends = np.searchsorted(codes, np.arange(len(total.classes) + 1), sorter=order)
    w = None if weights is None else weights[order]
    for k, (start, end) in enumerate(itertools.pairwise(ends)):
        if start == end:
            continue
        rows = sorted_[start:end]  # our own copy: it may be written to
        u = None if w is None else w[start:end]
        n = float(end - start) if u is None else float(u.sum())
        if n == 0:
            continue
        mean = (np.ones(len(rows)) if u is None else u) @ rows / n
        if not np.abs(mean).max(initial=0.0) < 0.01 * LARGEST:  # NaN is not; it may be too large, or a gap
            refuse_numbers(block, first, missing=not total.is_full)
            if np.isnan(rows).any():
                _add_with_gaps(total, k, rows, u, n)
                continue
        rows -= mean
        if u is not None:
            rows *= np.sqrt(u)[:, None]
        scatter = rows.T @ rows if total.is_full else np.einsum("iv,iv->v", rows, rows)
        if not scatter.max(initial=0.0) < 1e-4 * LARGEST**2:
            refuse_numbers(block, first, missing=not total.is_full)
        _merge(total, k, n, np.full(total.count.shape[1], n), mean, scatter)


def _add_with_gaps(total: Moments, k: int, rows: Floats, u: Floats | None, n: float) -> None:
    """Add rows of which some numbers are missing, column by column."""
    there = ~np.isnan(rows)
    weight = there.astype(np.float64) if u is None else there * u[:, None]  # (n, V)
    count = weight.sum(axis=0)
    filled = np.where(there, rows, 0.0)
    mean = np.divide((weight * filled).sum(axis=0), count, out=np.zeros_like(count), where=count > 0)
    scatter = (weight * np.where(there, rows - mean, 0.0) ** 2).sum(axis=0)
    _merge(total, k, n, count, mean, scatter)


def refuse_numbers(block: Floats, first: int, *, missing: bool) -> None:
    """Name the first number that cannot be used, if there is one."""
    good = np.abs(block) < LARGEST
    if missing:
        good |= np.isnan(block)
    bad = np.flatnonzero(~good.reshape(-1))
    if len(bad):
        row, column = divmod(int(bad[0]), block.shape[1])
        value = block[row, column]
        what = "a missing number" if np.isnan(value) else f"{value:g}"
        raise InputError(
            f"row {first + row} has {what} in column {column}",
            hint="a diagonal covariance (GaussianNB) takes missing numbers; or drop the row, or fill it in"
            if np.isnan(value)
            else f"numbers must be below {LARGEST:g}: drop the row, or scale the column",
        )


def _refuse_negative(total: Moments, at: int, other: Moments, k: int) -> None:
    """Refuse to take away what was never there, as far as it shows."""
    name, hint = other.classes[k], "only rows that were learned can be forgotten"
    have, take = total.class_rows[at], other.class_rows[k]
    if take > have * (1 + LEFT):
        raise NegativeCount(
            f"class `{name}` has rows of weight {have:g}, and {take:g} would be taken away", hint=hint
        )
    before, gone = total.count[at], other.count[k]
    column = np.flatnonzero(gone > before * (1 + LEFT))
    if len(column):
        raise NegativeCount(
            f"column {column[0]} has numbers of weight {before[column[0]]:g} in class `{name}`, and "
            f"{gone[column[0]]:g} would be taken away",
            hint=hint,
        )
    after = before - gone
    some = after > LEFT * before
    delta = other.mean[k] - total.mean[at]
    share = np.divide(before * gone, after, out=np.zeros_like(after), where=some)  # (V,) or (1,)
    mine, theirs = (
        np.einsum("vv->v", part) if total.is_full else part for part in (total.scatter[at], other.scatter[k])
    )
    left = mine - theirs - share * delta**2
    # Means are rounded, and what remains of equal ones is not a difference.
    rounding = 1e-12 * (np.abs(other.mean[k]) + np.abs(total.mean[at]))
    slack = 1e-6 * (mine + theirs) + share * rounding * (2 * np.abs(delta) + rounding) + before * rounding**2
    slack += (1.0 + share) * np.finfo(np.float64).tiny  # squares below it have no digits
    below = np.flatnonzero(some & (left < -slack))
    if len(below):
        raise NegativeCount(
            f"column {below[0]} would be left with a variance below zero in class `{name}`", hint=hint
        )
