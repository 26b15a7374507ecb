"""Sources that are Python objects: frames, arrays, columns, dicts of columns, streams and iterables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from typing import Any

import numpy as np

from textodds.data import frames
from textodds.data.admission import Parts, Row, record_parts, row_parts, text_parts
from textodds.data.batch import TEXT
from textodds.data.columns import ColumnRequest
from textodds.data.frames import Column, Table
from textodds.data.rejects import Origin, Rejects
from textodds.data.source import Source, refuse
from textodds.data.values import Unreadable
from textodds.errors import InputError, LengthMismatch

END = object()

HINT = "give a path, a frame, a 2-D array, a dict of columns or a list of dicts"


def object_source(
    source: Any,
    first: object,
    labels: Column | None,
    weights: Column | None,
    request: ColumnRequest,
    rejects: Rejects,
) -> Source:
    """The source of what is in an object; if it is an iterable of Python's, ``first`` is one of its items."""
    if request.is_table and hasattr(source, "toarray"):
        raise InputError(
            f"cannot read a table from {_article(frames.name_of(source))}, which is sparse",
            hint="give `source.toarray()`",
        )
    labels, weights = frames.column_of(labels), frames.column_of(weights)
    if request.is_table:
        _check_beside("row", labels=labels, weights=weights)
    elif frames.is_column(source) or labels is not None:
        source = frames.column_of(source)
        if frames.is_column(source):
            return _text_source(source, labels, weights, request, rejects)
    if frames.is_stream(source):
        refuse("a stream" if request.is_table else "a table", labels=labels, weights=weights)
        read = partial(frames.stream_parts, source, request)
        is_replayable = hasattr(source, "__len__")
        return _source(request, _described(source, "row"), read, rejects, replayable=is_replayable)
    table = _table(source, request)
    if table is not None:
        return _table_source(source, table, labels, weights, request, rejects)
    if request.is_table:
        return _row_source(source, first, labels, weights, request, rejects)
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise InputError(
            f"cannot read texts from {_article(type(source).__name__)}",
            hint="give a path, a table, a list of texts with `labels`, or pairs of text and label",
        )
    if isinstance(first, (tuple, list, Mapping)):
        refuse("rows with labels of their own", labels=labels, weights=weights)
        return _record_source(source, first, request, rejects)
    return _text_source(source, labels, weights, request, rejects, may_be_rows=first is None)


def _check_beside(item: str, **columns: Any) -> None:
    """Fail if what is given beside the texts or rows is not a column."""
    for name, column in columns.items():
        if column is not None and (isinstance(column, (str, bytes)) or not isinstance(column, Iterable)):
            raise InputError(
                f"`{name}` is {column!r}, not one for each {item}", hint=f"give a list of {name}"
            )


def _check_lengths(texts: object, labels: object, weights: object) -> None:
    """Fail if columns that know their length differ in it."""
    for column, name in ((labels, "labels"), (weights, "weights")):
        if isinstance(column, Sized) and isinstance(texts, Sized) and len(column) != len(texts):
            raise LengthMismatch(len(texts), len(column), name)


def _source(
    request: ColumnRequest,
    description: str,
    read: Callable[[Origin], Parts],
    rejects: Rejects,
    *,
    replayable: bool = True,
) -> Source:
    origin = Origin(description, "row")
    return Source(request, description, lambda rejects, _: read(origin), rejects, replayable=replayable)


def _text_source(
    texts: Any,
    labels: Column | None,
    weights: Column | None,
    request: ColumnRequest,
    rejects: Rejects,
    *,
    may_be_rows: bool = False,
) -> Source:
    """The source of texts, with what stands beside them; nulls only, or none at all, could be anything."""
    columns = [texts, labels, weights]
    is_unknown = may_be_rows and labels is None and weights is None
    description = _described(texts, "row" if is_unknown else "text")
    if not is_unknown:
        request.refuse_names(description)
        if labels is None and request.labelled:
            raise InputError(
                f"{description} comes without labels",
                hint="give as many `labels`, or pairs of text and label, or a table with a label column",
            )
        _check_beside("text", labels=labels, weights=weights)
        _check_lengths(texts, labels, weights)
    unnamed = ColumnRequest.without_names()
    if all(column is None or hasattr(column, "__getitem__") for column in columns):
        read = partial(frames.table_parts, Table([TEXT], [texts]), labels, weights, unnamed)
    else:
        read = partial(_paired_parts, *columns)
    return _source(unnamed, description, read, rejects, replayable=_is_replayable(*columns))


def _paired_parts(texts: Any, labels: Column | None, weights: Column | None, origin: Origin) -> Parts:
    rows = _paired_rows(*map(frames.items_of, (texts, labels, weights)))
    return text_parts(rows, origin, labelled=labels is not None, weighted=weights is not None)


def _record_source(
    source: Iterable[object], first: object, request: ColumnRequest, rejects: Rejects
) -> Source:
    """The source of rows that are all like ``first``: mappings, or tuples of text, label and weight."""
    description = _described(source, "row")
    if isinstance(first, Mapping):

        def read(origin: Origin) -> Parts:
            return record_parts(_paired_rows(source, None, None), request, origin)
    else:
        assert isinstance(first, Sequence)
        request.refuse_names("a tuple")
        width, labelled = len(first), request.labelled
        if not 2 <= width <= 3:
            raise InputError(
                f"row 1 of {description} has {width} items",
                hint="give (text, label) or (text, label, weight)",
            )
        request = ColumnRequest.without_names()

        def read(origin: Origin) -> Parts:
            return text_parts(_tuple_rows(source, width), origin, labelled=labelled, weighted=width == 3)

    return _source(request, description, read, rejects, replayable=_is_replayable(source))


def _table_source(
    source: Any,
    table: Table,
    labels: Column | None,
    weights: Column | None,
    request: ColumnRequest,
    rejects: Rejects,
) -> Source:
    if not request.is_table:
        refuse("a table", labels=labels, weights=weights)
    labels, weights = (
        column if column is None or hasattr(column, "__getitem__") else list(column)
        for column in (labels, weights)
    )
    length = len(table.columns[0]) if table.columns else 0
    _check_lengths(range(length), labels, weights)
    description = f"{_article(frames.name_of(source))} of {_count_of(length, 'row')}"
    return _source(
        request, description, partial(frames.table_parts, table, labels, weights, request), rejects
    )


def _row_source(
    source: Any,
    first: object,
    labels: Column | None,
    weights: Column | None,
    request: ColumnRequest,
    rejects: Rejects,
) -> Source:
    """The source of a table that comes row by row."""
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise InputError(f"cannot read a table from {_article(frames.name_of(source))}", hint=HINT)
    _check_lengths(source, labels, weights)
    description = _described(source, "row")
    parts: Callable[..., Parts]
    if first is None or isinstance(first, Mapping):
        parts = record_parts
    elif isinstance(first, (tuple, list)) or (isinstance(first, np.ndarray) and first.ndim == 1):
        parts = partial(row_parts, names=request.array_names(len(first)))
    else:
        what = "texts, which are" if isinstance(first, str) else f"{type(first).__name__} objects,"
        raise InputError(f"{description} holds {what} not rows of a table", hint=HINT)

    def read(origin: Origin) -> Parts:
        items = (item.tolist() if isinstance(item, np.ndarray) else item for item in source)
        rows = _paired_rows(items, frames.items_of(labels), frames.items_of(weights))
        labelled, weighted = labels is not None, weights is not None
        return parts(rows, request=request, origin=origin, labelled=labelled, weighted=weighted)

    return _source(request, description, read, rejects, replayable=_is_replayable(source, labels, weights))


def _table(source: Any, request: ColumnRequest) -> Table | None:
    """The columns of a source that is in memory by columns, or None."""
    if request.is_table and isinstance(source, np.ndarray):
        if source.ndim != 2 or not source.shape[1]:
            raise InputError(
                f"an array of shape {source.shape} is not a table, which has rows and columns",
                hint="an array of one column is made by `array.reshape(-1, 1)`",
            )
        if not isinstance(source, np.ma.MaskedArray):
            source = np.asarray(source)  # a column of a `matrix` would be a matrix
        names = request.array_names(source.shape[1])
        return Table(names, [source[:, at] for at in range(source.shape[1])])
    if frames.is_column(source):
        raise InputError(f"{_article(frames.name_of(source))} is one column, not a table", hint=HINT)
    if frames.is_table(source):
        return frames.table_of(source)
    if not isinstance(source, Mapping):
        return None
    try:
        return _of_mapping(source)
    except InputError as error:
        if request.is_table:
            raise
        raise InputError(f"cannot read texts from a dict: {error.problem}", hint=error.hint) from None


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


def _paired_rows(
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


def _tuple_rows(items: Iterable[object], size: int) -> Iterator[Row]:
    for at, item in enumerate(items, start=1):
        if isinstance(item, (tuple, list)) and len(item) == size:
            yield item[0], item[1], item[2] if size == 3 else None, at, None
        else:
            shown = f"{len(item)} items" if isinstance(item, (tuple, list)) else f"a {type(item).__name__}"
            yield Unreadable(f"{shown}, where {size} items are expected"), None, None, at, None


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
