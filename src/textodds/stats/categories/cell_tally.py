"""Whole combinations of categories by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError
from textodds.stats.categories import exact
from textodds.stats.categories.category_tally import MOST_CELLS, CategoryTally, table_of
from textodds.stats.categories.columns import coded_columns, coded_labels
from textodds.stats.categories.exact import Arrays, ExactTally, RawHeader, Units


@dataclass(frozen=True, eq=False)
class CellTally(ExactTally):
    """Rows by class and whole combination of categories; adds and subtracts, exactly.

    Only the C combinations ("cells") that occur are stored, and of the classes of a cell only those
    that have rows there: E pairs, by cell and then by class. All else is as in `CategoryTally`.
    """

    cells: NDArray[np.int32]  # (C, J) category of each column, -1 where missing; rows in lexicographic order
    cell_of: NDArray[np.int64]  # (E,)
    class_of: NDArray[np.int64]  # (E,)
    units: Units  # (E,)

    @classmethod
    def of(cls, columns: Mapping[str, object], labels: object, weights: ArrayLike | None = None) -> CellTally:
        """The tally of some rows in memory; see `CodedColumn.of` for what a column may be.

        Examples
        --------
        >>> columns = {"sky": ["sun", "rain", "sun"], "wind": ["weak", None, "weak"]}
        >>> tally = CellTally.of(columns, ["yes", "no", "no"])
        >>> tally.cells
        array([[ 0, -1],
               [ 1,  0]], dtype=int32)
        >>> tally.counts
        array([[1., 0.],
               [1., 1.]])
        >>> tally.marginals() == CategoryTally.of(columns, ["yes", "no", "no"])
        True
        """
        coded = coded_columns(columns)
        N = len(next(iter(coded.values())))
        label = coded_labels(labels, N)
        fraction, units = exact.weight_units(weights, N)
        classes = sorted(label.names)
        categories = [tuple(sorted(column.names)) for column in coded.values()]
        codes = np.empty((N, len(coded)), dtype=np.int32)
        for j, column in enumerate(coded.values()):
            codes[:, j] = column.found({name: c for c, name in enumerate(categories[j])}, -1)
        class_of = label.found({name: k for k, name in enumerate(classes)}, -1)
        return cls._of_rows((fraction, classes, tuple(coded), categories), codes, class_of, units)

    @classmethod
    def _of_rows(
        cls, header: RawHeader, codes: NDArray[np.int32], class_of: NDArray[np.int64], units: Units | None
    ) -> CellTally:
        """The tally of rows (n, J) of sorted categories, of some classes and some units, below zero too."""
        fraction, classes, columns, categories = header
        sizes = [len(names) for names in categories]
        key = lexicographic([*codes.T, class_of], [*sizes, len(classes)])
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        sums = exact.summed(inverse, units, len(first))
        for at in first[sums < 0][:1]:
            raise exact.negative(_combination(columns, categories, codes[at]), classes[class_of[at]])
        first, sums = first[sums > 0], sums[sums > 0]
        shift = exact.needless(fraction, [sums])
        cells, entry_class = codes[first], class_of[first]  # (E, J) (E,)
        new = np.ones(len(first), dtype=bool)
        new[1:] = (cells[1:] != cells[:-1]).any(axis=1)
        kept = []
        for j, names in enumerate(categories):
            used, numbers = _renumber(cells[:, j], len(names))
            kept.append(tuple(names[c] for c in used))
            cells[:, j] = numbers
        used, entry_class = _renumber(entry_class, len(classes))
        sorted_ = tuple(classes[k] for k in used), tuple(columns), tuple(kept)
        return cls(fraction - shift, *sorted_, cells[new], np.cumsum(new) - 1, entry_class, sums >> shift)

    @cached_property
    def class_units(self) -> Units:
        """Units of each class, (K,)."""
        return exact.summed(self.class_of, self.units, len(self.classes))

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Rows by cell and class, (C, K), in full."""
        C, K = len(self.cells), len(self.classes)
        if C * K > MOST_CELLS:
            raise InputError(
                f"{C:,} combinations and {K:,} classes need {C * K * 8 / 1e9:.0f} GB",
                hint="use fewer columns or fewer categories",
            )
        counts = np.zeros((C, K))
        counts[self.cell_of, self.class_of] = exact.as_numbers(self.units, self.fraction)
        return counts

    def marginals(self) -> CategoryTally:
        """The counts of each column by itself."""
        K = len(self.classes)
        tables = [
            table_of(name, self.cells[self.cell_of, j], len(names), self.class_of, K, self.units)
            for j, (name, names) in enumerate(zip(self.columns, self.categories, strict=True))
        ]
        return CategoryTally.canonical(self._header, self.class_units, tables)

    def _combine(self, other: CellTally, sign: int) -> CellTally:
        fraction, mine, theirs = self._common(other)
        classes, k_mine, k_theirs = exact.merged(self.classes, other.classes)
        codes = np.concatenate([self.cells[self.cell_of], other.cells[other.cell_of]])
        E, categories = len(self.units), []
        for j in range(len(self.columns)):
            names, c_mine, c_theirs = exact.merged(self.categories[j], other.categories[j])
            codes[:E, j] = np.append(c_mine, -1)[codes[:E, j]]
            codes[E:, j] = np.append(c_theirs, -1)[codes[E:, j]]
            categories.append(names)
        class_of = np.concatenate([k_mine[self.class_of], k_theirs[other.class_of]])
        units = np.concatenate([self.units * mine, other.units * theirs * sign])
        return self._of_rows((fraction, classes, self.columns, categories), codes, class_of, units)

    def _counts(self) -> tuple[NDArray[np.integer], ...]:
        return self.cells, self.cell_of, self.class_of, self.units

    def arrays(self) -> Arrays:
        """The tally as plain arrays of one dimension, for a file; cells count from 1, 0 is missing."""
        return {
            **self.header_arrays(),
            "cells": (self.cells.reshape(-1).astype(np.int64) + 1).astype(np.uint32),
            "cell_of": self.cell_of.astype(np.uint64),
            "class_of": self.class_of.astype(np.uint32),
            "units": self.units,
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, ArrayLike]) -> CellTally:
        """The tally of `arrays`, which may come from anywhere: `InputError` unless they are one.

        Examples
        --------
        >>> tally = CellTally.of({"sky": ["sun", "rain"]}, ["yes", "no"], [0.5, 2])
        >>> CellTally.of_arrays(tally.arrays()) == tally
        True
        """
        header = exact.header_of(arrays)
        sizes = np.array([len(names) for names in header[3]])
        J, K = len(sizes), len(header[1])
        flat = exact.whole_numbers(arrays, "cells")
        if len(flat) % J or (flat.reshape(-1, J) > sizes).any():
            raise InputError("the array `cells` does not fit the columns")
        cells = (flat.reshape(-1, J) - 1).astype(np.int32)
        units = exact.whole_numbers(arrays, "units")
        cell_of, class_of = (exact.whole_numbers(arrays, key, len(units)) for key in ("cell_of", "class_of"))
        if (cell_of >= len(cells)).any() or (class_of >= K).any():
            raise InputError("the counts name a cell or a class that is not there")
        exact.total(units)
        tally = cls(*header, cells, cell_of, class_of, units)
        if tally != cls._of_rows(header, cells[cell_of], class_of, units):
            raise InputError(
                "the counts are out of order, name what has no rows, or have a needless fraction"
            )
        return tally


def lexicographic(codes: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number (n,) for each row of columns of codes from -1 to size - 1, in their order.

    However many columns there are, the numbers fit 64 bits: where their product would not, the
    combinations so far are numbered anew.

    Examples
    --------
    >>> lexicographic([np.array([1, 0, -1]), np.array([0, 1, 1])], [2, 2])
    array([7, 5, 2])
    """
    key, bound = np.zeros(len(codes[0]), dtype=np.int64), 1
    for column, size in zip(codes, sizes, strict=True):
        if bound * (size + 1) >= exact.MOST_UNITS:
            distinct, key = np.unique(key, return_inverse=True)
            bound = len(distinct)
        key = key * (size + 1) + (column.astype(np.int64) + 1)
        bound *= size + 1
    return key


def _renumber(codes: NDArray[np.integer], size: int) -> tuple[list[int], NDArray[np.int64]]:
    """The codes that occur, and the codes numbered anew without the others; -1 stays."""
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=size))
    table = np.full(size + 1, -1, dtype=np.int64)
    table[used] = np.arange(len(used))
    return used.tolist(), table[codes]


def _combination(columns: Sequence[str], categories: Sequence[Sequence[str]], cell: NDArray[np.int32]) -> str:
    parts = [
        f"{column}={'missing' if c < 0 else f'`{names[c]}`'}"
        for column, names, c in zip(columns, categories, cell.tolist(), strict=True)
    ]
    return ", ".join(parts[:5]) + (f" and {len(parts) - 5} more" if len(parts) > 5 else "")
