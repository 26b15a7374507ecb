"""Texts that Python holds or makes: columns in slices, iterables row by row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeAlias

from textodds.data.admission import Column, Row, gathered
from textodds.data.batch import SLICE_ROWS, Batch
from textodds.data.columns import ColumnNames
from textodds.data.rejects import Origin, Rejects
from textodds.data.values import Unreadable
from textodds.errors import InputError, LengthMismatch

END = object()

# The values of a column from one position up to another: a list, or an Arrow array without a copy.
Slicer: TypeAlias = Callable[[int, int], Column]


def slicer(column: Any) -> Slicer:
    """The slices of a list, a NumPy array, or anything else with a length and positions, as lists."""
    by_position = getattr(column, "iloc", column)  # a pandas Series is otherwise sliced by its index

    def cut(start: int, stop: int) -> list[object]:
        part = by_position[start:stop]
        for as_list in ("tolist", "to_list", "to_pylist"):  # of NumPy and pandas, polars, pyarrow
            if hasattr(part, as_list):
                listed: list[object] = getattr(part, as_list)()
                return listed
        return list(part)

    return cut


def check_lengths(texts: Any, labels: Any | None, weights: Any | None) -> None:
    """Fail if columns that know their length differ in it."""
    for column, name in ((labels, "labels"), (weights, "weights")):
        if isinstance(column, Sized) and isinstance(texts, Sized) and len(column) != len(texts):
            raise LengthMismatch(len(texts), len(column), name)


def paired(
    texts: Iterable[object],
    labels: Iterable[object] | None,
    weights: Iterable[object] | None,
    rejects: Rejects,
    origin: Origin,
) -> Iterator[Batch]:
    """Batches of iterables that run side by side; `LengthMismatch` where one ends before another."""
    rows = paired_rows(texts, labels, weights)
    return gathered(rows, rejects, origin, labelled=labels is not None, weighted=weights is not None)


def records(
    items: Iterable[object], first: object, wanted: ColumnNames, rejects: Rejects, origin: Origin
) -> Iterator[Batch]:
    """Batches of an iterable of records that are all like ``first``: tuples, or mappings."""
    if isinstance(first, Mapping):
        columns = [key for key in first if isinstance(key, str)]
        found = wanted.find(origin.where, columns)
        keys = [None if at is None else columns[at] for at in (found.text, found.label, found.weight)]
        rows = _mapping_rows(items, keys)
        labelled, weighted = found.label is not None, found.weight is not None
    else:
        assert isinstance(first, Sequence)
        wanted.refuse_names("a tuple")
        rows = _tuple_rows(items, len(first))
        labelled, weighted = wanted.labelled, len(first) == 3
        if not 2 <= len(first) <= 3:
            raise InputError(
                f"row 1 of {origin.where} has {len(first)} items",
                hint="give (text, label) or (text, label, weight)",
            )
    return gathered(rows, rejects, origin, labelled=labelled, weighted=weighted)


def slices(lengths: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Start and stop of each slice of columns that consist of pieces of ``lengths`` rows."""
    end = 0
    for length in lengths:
        start, end = end, end + length
        for cut in range(start, end, SLICE_ROWS):
            yield cut, min(cut + SLICE_ROWS, end)


def paired_rows(
    texts: Iterable[object], labels: Iterable[object] | None, weights: Iterable[object] | None
) -> Iterator[Row]:
    """Rows of iterables that run side by side; `LengthMismatch` where one ends before another."""
    sides = iter(texts), iter(() if labels is None else labels), iter(() if weights is None else weights)
    for at in itertools.count(1):
        text, label, weight = (next(side, END) for side in sides)
        for given, other, name in ((labels, label, "labels"), (weights, weight, "weights")):
            if given is not None and (text is END) != (other is END):
                raise LengthMismatch(at - (text is END), at - (other is END), name)
        if text is END:
            return
        yield text, label, weight, at, None


def _mapping_rows(items: Iterable[object], keys: Sequence[str | None]) -> Iterator[Row]:
    text, label, weight = keys
    for at, item in enumerate(items, start=1):
        if isinstance(item, Mapping):
            yield item.get(text), item.get(label), item.get(weight), at, None
        else:
            yield Unreadable(f"a {type(item).__name__}, where a dict is expected"), None, None, at, None


def _tuple_rows(items: Iterable[object], size: int) -> Iterator[Row]:
    for at, item in enumerate(items, start=1):
        if isinstance(item, (tuple, list)) and len(item) == size:
            yield item[0], item[1], item[2] if size == 3 else None, at, None
        else:
            shown = f"{len(item)} items" if isinstance(item, (tuple, list)) else f"a {type(item).__name__}"
            yield Unreadable(f"{shown}, where {size} items are expected"), None, None, at, None
