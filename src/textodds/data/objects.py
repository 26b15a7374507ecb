"""Sources that are Python objects: frames, arrays, columns, dicts of columns, streams and iterables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.data import frames, in_memory
from textodds.data.admission import admit_parts
from textodds.data.batch import Batch
from textodds.data.columns import ColumnNames
from textodds.data.frames import Pieces, Table
from textodds.data.parts import Part, Values, record_parts, row_parts
from textodds.data.rejects import Origin, Rejecting, Rejects
from textodds.data.sought import Sought
from textodds.data.source import Source
from textodds.data.table_source import TableSource
from textodds.errors import InputError

S = TypeVar("S")

HINT = "give a path, a frame, a 2-D array, a dict of columns or a list of dicts"


def text_object_source(
    source: Any, first: object, labels: Any, weights: Any, wanted: ColumnNames, reject: Rejecting
) -> Source:
    """The source of texts in an object; if it is an iterable of Python's, ``first`` is one of its items."""
    make = partial(_source, Source, reject)
    labels, weights = frames.column_of(labels), frames.column_of(weights)
    if frames.is_column(source) or labels is not None:
        source = frames.column_of(source)
    if frames.is_column(source):
        return _text_source(source, labels, weights, wanted, make)
    if frames.is_table(source):
        refuse("a table", labels=labels, weights=weights)
        table, description = frames.table_of(source), _described(source, "row")
        return make(description, partial(_column_batches, table, None, None, wanted))
    if frames.is_stream(source):
        refuse("a table", labels=labels, weights=weights)
        return make(
            _described(source, "row"),
            lambda rejects, origin: admit_parts(frames.stream_parts(source, wanted, origin), wanted, rejects),
            replayable=hasattr(source, "__len__"),
        )
    if not isinstance(source, Iterable) or isinstance(source, (bytes, Mapping)):
        raise InputError(
            f"cannot read texts from {_article(type(source).__name__)}",
            hint="give a path, a table, a list of texts with `labels`, or pairs of text and label",
        )
    read: Callable[[Rejects, Origin], Iterator[Batch]]
    if first is None and labels is None and weights is None:  # empty, or nulls only: it could be anything
        read = partial(in_memory.paired, source, None, None)
    elif isinstance(first, (tuple, list, Mapping)):
        refuse("rows with labels of their own", labels=labels, weights=weights)
        read = partial(in_memory.records, source, first, wanted)
    else:
        return _text_source(source, labels, weights, wanted, make)
    return make(_described(source, "row"), read, replayable=_is_replayable(source))


def table_object_source(
    source: Any, first: object, labels: Any, weights: Any, sought: Sought, reject: Rejecting
) -> TableSource:
    """The source of a table that is an object, as `text_object_source` is that of texts."""
    if hasattr(source, "toarray"):
        raise InputError(
            f"cannot read a table from {_article(frames.name_of(source))}, which is sparse",
            hint="give `source.toarray()`",
        )
    labels, weights = frames.column_of(labels), frames.column_of(weights)
    _check_beside("row", labels=labels, weights=weights)
    make = partial(_source, partial(TableSource, sought), reject)
    if frames.is_stream(source):
        refuse("a stream", labels=labels, weights=weights)
        return make(
            _described(source, "row"),
            lambda rejects, origin: frames.stream_parts(source, sought, origin),
            replayable=hasattr(source, "__len__"),
        )
    table = _table(source, sought)
    if table is None:
        return _row_source(source, first, labels, weights, sought, make)
    labels, weights = _column_beside(labels), _column_beside(weights)
    length = len(table.columns[0]) if table.columns else 0
    in_memory.check_lengths(range(length), labels, weights)
    return make(
        f"{_article(frames.name_of(source))} of {_count_of(length, 'row')}",
        lambda rejects, origin: frames.table_parts(table, labels, weights, sought, origin, _pieces),
    )


def refuse(what: str, **given: object) -> None:
    """Fail for an option that could only be ignored, since the source is ``what``."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise InputError(f"`{option}` does not apply: the source is {what}", hint=_INSTEAD[option])


def _check_beside(item: str, **columns: Any) -> None:
    """Fail if what is given beside the texts or rows is not a column."""
    for name, column in columns.items():
        if column is not None and (isinstance(column, (str, bytes)) or not isinstance(column, Iterable)):
            raise InputError(
                f"`{name}` is {column!r}, not one for each {item}", hint=f"give a list of {name}"
            )


_INSTEAD = {
    "labels": "name the column of the labels: label='COLUMN'",
    "weights": "name the column of the weights: weight='COLUMN'",
    "format": "leave out `format`, which is for files",
    "quoting": "leave out `quoting`, which is for CSV and TSV files",
    "header": "leave out `header`, which is for CSV and TSV files",
}


def _text_source(
    texts: Any, labels: Any, weights: Any, wanted: ColumnNames, make: Callable[..., Source]
) -> Source:
    description = _described(texts, "text")
    wanted.refuse_names(description)
    if labels is None and wanted.labelled:
        raise InputError(
            f"{description} comes without labels",
            hint="give as many `labels`, or pairs of text and label, or a table with a label column",
        )
    _check_beside("text", labels=labels, weights=weights)
    in_memory.check_lengths(texts, labels, weights)
    columns = [texts, labels, weights]
    read: Callable[[Rejects, Origin], Iterator[Batch]]
    if all(column is None or hasattr(column, "__getitem__") for column in columns):
        unnamed = ColumnNames(labelled=False)  # the labels and weights are beside the table
        read = partial(_column_batches, Table(["text"], [texts]), labels, weights, unnamed)
    else:
        read = partial(in_memory.paired, *map(frames.items_of, columns))
    return make(description, read, replayable=_is_replayable(*columns))


def _column_batches(
    table: Table, labels: Any, weights: Any, wanted: ColumnNames, rejects: Rejects, origin: Origin
) -> Iterator[Batch]:
    return admit_parts(frames.table_parts(table, labels, weights, wanted, origin), wanted, rejects)


def _source(
    make: Callable[..., S],
    reject: Rejecting,
    description: str,
    read: Callable[[Rejects, Origin], Iterator[Any]],
    *,
    replayable: bool = True,
) -> S:
    origin = Origin(description, "row")
    return make(description, lambda rejects, _: read(rejects, origin), reject("rows"), replayable=replayable)


def _is_replayable(*columns: Any) -> bool:
    return not any(isinstance(column, Iterator) for column in columns)


def _described(source: Any, item: str) -> str:
    """What ``source`` is, for messages: `a list of 40 texts`."""
    kind = _article(frames.name_of(source))
    if frames.is_stream(source):
        return kind
    if isinstance(source, Iterator):
        return f"an iterator of {item}s"
    return f"{kind} of {_count_of(len(source), item)}" if hasattr(source, "__len__") else f"{kind} of {item}s"


def _count_of(n: int, item: str) -> str:
    return f"{n:,} {item}{'' if n == 1 else 's'}"


def _article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


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
        raise InputError(f"{_article(frames.name_of(source))} is one column, not a table", hint=HINT)
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
                f"column `{name}` is {_article(type(column).__name__)}, not a list of values",
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
        raise InputError(f"cannot read a table from {_article(frames.name_of(source))}", hint=HINT)
    in_memory.check_lengths(source, labels, weights)
    description = _described(source, "row")
    reads: Callable[..., Iterator[Part]]
    if first is None or isinstance(first, Mapping):
        reads = record_parts
    elif isinstance(first, (tuple, list)) or (isinstance(first, np.ndarray) and first.ndim == 1):
        reads = partial(row_parts, names=sought.array_names(len(first)))
    else:
        what = "texts, which are" if isinstance(first, str) else f"{type(first).__name__} objects,"
        raise InputError(f"{description} holds {what} not rows of a table", hint=HINT)

    def read(rejects: Rejects, origin: Origin) -> Iterator[Part]:
        items = (item.tolist() if isinstance(item, np.ndarray) else item for item in source)
        rows = in_memory.paired_rows(items, frames.items_of(labels), frames.items_of(weights))
        return reads(
            rows, sought=sought, origin=origin, labelled=labels is not None, weighted=weights is not None
        )

    return make(description, read, replayable=_is_replayable(source, labels, weights))


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
