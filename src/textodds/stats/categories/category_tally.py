"""Categories of each column by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError
from textodds.stats.categories import exact
from textodds.stats.categories.columns import coded_columns, coded_labels
from textodds.stats.categories.exact import Arrays, ExactTally, RawHeader, Units

MOST_CELLS = 200_000_000  # entries of a full table beyond which it is refused (1.6 GB)


@dataclass(frozen=True, eq=False)
class CategoryTally(ExactTally):
    """Rows by class, and rows by class and category of each column; adds and subtracts, exactly.

    K classes, J columns, of which column j has C_j categories. Counts are whole numbers of
    ``2**-fraction``, where fraction is 0 unless a weight was not whole; weights are rounded to
    multiples of 2**-30 as they come in. The rows of a class that are in no category of a column are
    those with a missing value there. ``class_rows``, ``counts`` and ``missing`` are the same as
    floating-point numbers.
    """

    class_units: Units  # (K,)
    units: tuple[Units, ...]  # (J,) of (C_j, K)

    @classmethod
    def of(
        cls, columns: Mapping[str, object], labels: object, weights: ArrayLike | None = None
    ) -> CategoryTally:
        """The tally of some rows in memory; see `CodedColumn.of` for what a column may be.

        Examples
        --------
        >>> tally = CategoryTally.of({"sky": ["sun", "rain", None]}, ["yes", "no", "yes"])
        >>> tally.classes, tally.categories
        (('no', 'yes'), (('rain', 'sun'),))
        >>> tally.counts[0]
        array([[1., 0.],
               [0., 1.]])
        >>> tally.missing
        array([[0., 1.]])
        >>> tally - CategoryTally.of({"sky": ["rain"]}, ["no"]) == CategoryTally.of(
        ...     {"sky": [None, "sun"]}, ["yes", "yes"]
        ... )
        True
        """
        coded = coded_columns(columns)
        N = len(next(iter(coded.values())))
        label = coded_labels(labels, N)
        fraction, units = exact.weight_units(weights, N)
        K = len(label.names)
        header = fraction, label.names, tuple(coded), [column.names for column in coded.values()]
        tables = [
            table_of(name, column.codes, len(column.names), label.codes, K, units)
            for name, column in coded.items()
        ]
        return cls.canonical(header, exact.summed(label.codes, units, K), tables)

    @classmethod
    def canonical(cls, header: RawHeader, class_units: Units, units: Sequence[Units]) -> CategoryTally:
        """The one form of these counts: sorted, without what has no rows, no needless fraction."""
        fraction, classes, columns, categories = header
        shift = exact.needless(fraction, [class_units, *units])
        ks = sorted(np.flatnonzero(class_units).tolist(), key=classes.__getitem__)
        kept, tables = [], []
        for names, table in zip(categories, units, strict=True):
            rows = sorted(np.flatnonzero(table.any(axis=1)).tolist(), key=names.__getitem__)
            kept.append(tuple(names[c] for c in rows))
            tables.append(table[np.ix_(rows, ks)].reshape(len(rows), len(ks)) >> shift)
        sorted_ = tuple(classes[k] for k in ks), tuple(columns), tuple(kept)
        return cls(fraction - shift, *sorted_, class_units[ks] >> shift, tuple(tables))

    @cached_property
    def counts(self) -> tuple[NDArray[np.float64], ...]:
        """Rows by category and class, (C_j, K) for each column."""
        return tuple(exact.as_numbers(table, self.fraction) for table in self.units)

    @cached_property
    def missing(self) -> NDArray[np.float64]:
        """Rows with a missing value by column and class, (J, K)."""
        units = np.array([self.class_units - table.sum(axis=0) for table in self.units])
        return exact.as_numbers(units, self.fraction)

    def _combine(self, other: CategoryTally, sign: int) -> CategoryTally:
        fraction, mine, theirs = self._common(other)
        classes, k_mine, k_theirs = exact.merged(self.classes, other.classes)
        class_units = np.zeros(len(classes), dtype=np.int64)
        class_units[k_mine] += self.class_units * mine
        class_units[k_theirs] += other.class_units * theirs * sign
        categories, tables = [], []
        for j, column in enumerate(self.columns):
            names, c_mine, c_theirs = exact.merged(self.categories[j], other.categories[j])
            check_size(column, len(names), len(classes))
            table = np.zeros((len(names), len(classes)), dtype=np.int64)
            table[np.ix_(c_mine, k_mine)] += self.units[j] * mine
            table[np.ix_(c_theirs, k_theirs)] += other.units[j] * theirs * sign
            # A class whose rows would go below zero shows in one of its categories or its missing values.
            for c, k in np.argwhere(table < 0)[:1]:
                raise exact.negative(f"`{names[c]}` of column `{column}`", classes[k])
            for k in np.flatnonzero(table.sum(axis=0) > class_units)[:1]:
                raise exact.negative(f"missing values of column `{column}`", classes[k])
            categories.append(names)
            tables.append(table)
        return self.canonical((fraction, classes, self.columns, categories), class_units, tables)

    def _counts(self) -> tuple[Units, ...]:
        return self.class_units, *self.units

    def arrays(self) -> Arrays:
        """The tally as plain arrays of one dimension, for a file."""
        units = np.concatenate([table.reshape(-1) for table in self.units])
        return {**self.header_arrays(), "class_units": self.class_units, "units": units}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, ArrayLike]) -> CategoryTally:
        """The tally of `arrays`, which may come from anywhere: `InputError` unless they are one.

        Examples
        --------
        >>> tally = CategoryTally.of({"sky": ["sun", "rain"]}, ["yes", "no"], [0.5, 2])
        >>> CategoryTally.of_arrays(tally.arrays()) == tally
        True
        """
        header = exact.header_of(arrays)
        _, classes, columns, categories = header
        K, sizes = len(classes), [len(names) for names in categories]
        class_units = exact.whole_numbers(arrays, "class_units", K)
        exact.total(class_units)
        flat = exact.whole_numbers(arrays, "units", sum(sizes) * K)
        edges = np.cumsum([0, *sizes]) * K
        tables = tuple(flat[a:b].reshape(C, K) for a, b, C in zip(edges[:-1], edges[1:], sizes, strict=True))
        for column, table in zip(columns, tables, strict=True):
            sums = table.sum(axis=0)
            wrapped = (sums < 0) | (table.sum(axis=0, dtype=np.float64) > 1.5 * exact.MOST_UNITS)
            if (wrapped | (sums > class_units)).any():
                raise InputError(f"the categories of column `{column}` have more rows than a class")
        tally = cls(*header, class_units, tables)
        if tally != cls.canonical(header, class_units, tables):
            raise InputError(
                "the counts name a class or a category that has no rows, or have a needless fraction"
            )
        return tally


def table_of(
    column: str, codes: NDArray[np.integer], C: int, classes: NDArray[np.integer], K: int, units: Units | None
) -> Units:
    """Units by category and class, (C, K); rows with the code -1 count nowhere."""
    check_size(column, C, K)
    places = (codes.astype(np.int64) + 1) * K + classes
    return exact.summed(places, units, (C + 1) * K).reshape(C + 1, K)[1:]


def check_size(column: str, C: int, K: int) -> None:
    """Refuse a table of categories by classes that is too large."""
    if C * K > MOST_CELLS:
        raise InputError(
            f"column `{column}` has {C:,} categories: with {K:,} classes that is {C * K * 8 / 1e9:.0f} GB",
            hint="leave out columns that name each row, such as numbers of customers",
        )
