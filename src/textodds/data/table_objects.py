"""Tables that are Python objects: frames, arrays, dicts of columns, lists of dicts, Arrow streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import frames, in_memory, objects
from textodds.data.frames import Pieces, Table
from textodds.data.objects import article, counted, described, is_replayable, refuse
from textodds.data.parts import Part, Values, record_parts, row_parts
from textodds.data.rejects import Origin, Rejecting
from textodds.data.sought import Sought
from textodds.data.table_source import TableSource
from textodds.errors import InputError

HINT = "give a path, a frame, a 2-D array, a dict of columns or a list of dicts"


def object_source(
    source: Any, first: object, labels: Any, weights: Any, sought: Sought, reject: Rejecting
) -> TableSource:
    """The source of an object, of whose items, if it is an iterable of Python's, ``first`` is one."""
    if hasattr(source, "toarray"):
        raise InputError(
            f"cannot read a table from {article(frames.name_of(source))}, which is sparse",
            hint="give `source.toarray()`",
        )
    labels, weights = frames.column_of(labels), frames.column_of(weights)
    objects.check_beside("row", labels=labels, weights=weights)
    make = partial(_of_parts, sought, reject)
    if frames.is_stream(source):
        refuse("a stream", labels=labels, weights=weights)
        read = partial(frames.stream_parts, source, sought)
        return make(described(source, "row"), read, replayable=hasattr(source, "__len__"))
    table = _table(source, sought)
    if table is None:
        return _row_source(source, first, labels, weights, sought, make)
    labels, weights = _column_beside(labels), _column_beside(weights)
    length = len(table.columns[0]) if table.columns else 0
    in_memory.check_lengths(range(length), labels, weights)
    read = partial(frames.table_parts, table, labels, weights, sought, pieces_of=_pieces)
    return make(f"{article(frames.name_of(source))} of {counted(length, 'row')}", read)


def _of_parts(
    sought: Sought,
    reject: Rejecting,
    description: str,
    read: Callable[[Origin], Iterator[Part]],
    *,
    replayable: bool = True,
) -> TableSource:
    origin = Origin(description, "row")
    return TableSource(
        sought, description, lambda rejects, progress: read(origin), reject("rows"), replayable=replayable
    )


def _table(source: Any, sought: Sought) -> Table | None:
    """The columns of a source that is in memory by columns, or None."""
    if isinstance(source, np.ndarray):
        if source.ndim != 2 or not source.shape[1]:
            raise InputError(
                f"an array of shape {source.shape} is not a table, which has rows and columns",
                hint="an array of one column is made by `array.reshape(-1, 1)`",
            )
        if not isinstance(source, np.ma.MaskedArray):
            source = np.asarray(source)  # a column of a `matrix` would be a matrix
        names = sought.array_names(source.shape[1])
        return Table(names, [source[:, at] for at in range(source.shape[1])])
    if frames.is_column(source):
        raise InputError(f"{article(frames.name_of(source))} is one column, not a table", hint=HINT)
    if frames.is_table(source):
        return frames.table_of(source)
    if isinstance(source, Mapping):
        return _of_mapping(source)
    return None


def _of_mapping(source: Mapping[Any, Any]) -> Table:
    names = [str(name) for name in source]
    columns: list[Any] = []
    for name, given in zip(names, source.values(), strict=True):
        column = frames.column_of(given)
        if isinstance(column, (str, bytes)) or not (
            isinstance(column, Sized) and hasattr(column, "__getitem__") and not isinstance(column, Mapping)
        ):
            raise InputError(
                f"column `{name}` is {article(type(column).__name__)}, not a list of values",
                hint="a dict is a table if it goes from names to columns; a row alone goes in a list",
            )
        if isinstance(column, np.ndarray) and column.ndim != 1:
            raise InputError(f"column `{name}` is an array of shape {column.shape}, not of one dimension")
        if columns and len(column) != len(columns[0]):
            raise InputError(
                f"column `{name}` has {len(column):,} rows, and `{names[0]}` {len(columns[0]):,}",
                hint="every row needs a value in each column, if only None",
            )
        columns.append(column)
    return Table(names, columns)


def _row_source(
    source: Any, first: object, labels: Any, weights: Any, sought: Sought, make: Callable[..., TableSource]
) -> TableSource:
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise InputError(f"cannot read a table from {article(frames.name_of(source))}", hint=HINT)
    in_memory.check_lengths(source, labels, weights)
    description = described(source, "row")
    reads: Callable[..., Iterator[Part]]
    if first is None or isinstance(first, Mapping):
        reads = record_parts
    elif isinstance(first, (tuple, list)) or (isinstance(first, np.ndarray) and first.ndim == 1):
        reads = partial(row_parts, names=sought.array_names(len(first)))
    else:
        what = "texts, which are" if isinstance(first, str) else f"{type(first).__name__} objects,"
        raise InputError(f"{description} holds {what} not rows of a table", hint=HINT)

    def read(origin: Origin) -> Iterator[Part]:
        items = (item.tolist() if isinstance(item, np.ndarray) else item for item in source)
        rows = in_memory.paired_rows(items, frames.items_of(labels), frames.items_of(weights))
        return reads(
            rows, sought=sought, origin=origin, labelled=labels is not None, weighted=weights is not None
        )

    return make(description, read, replayable=is_replayable(source, labels, weights))


def _column_beside(column: Any | None) -> Any | None:
    return column if column is None or hasattr(column, "__getitem__") else list(column)


def _pieces(column: Any, name: str) -> Pieces:
    """The lengths of the pieces a column consists of, and how to cut it to Arrow, numbers without a copy."""
    array = column
    if hasattr(column, "iloc") and isinstance(column.dtype, np.dtype):
        array = column.to_numpy()
    if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
        return [len(array)], lambda start, stop: Values(_cut_array(array, start, stop))
    lengths, cut = frames.pieces(column)

    def values(start: int, stop: int) -> Values:
        from textodds.data import cells

        part = cut(start, stop)
        return cells.of_list(part, name) if isinstance(part, list) else Values(part)

    return lengths, values


def _cut_array(array: NDArray[Any], start: int, stop: int) -> Any:
    import pyarrow as pa

    part = array[start:stop]
    if not part.dtype.isnative or part.dtype.itemsize > 8:  # which Arrow does not take
        part = part.astype(np.float64 if part.dtype.kind == "f" else part.dtype.newbyteorder("="))
    return pa.array(part)
