"""Sources that are Python objects: frames, arrays, columns, dicts of columns, streams and iterables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from textodds.data import frames
from textodds.data.admission import Parts
from textodds.data.batch import TEXT
from textodds.data.columns import ColumnRequest
from textodds.data.frames import Column, Table
from textodds.data.rejects import Origin, Rejects
from textodds.data.row_parts import Row, record_parts, row_parts, text_parts
from textodds.data.source import Source, refuse
from textodds.data.table_request import TableRequest
from textodds.errors import InputError, LengthMismatch, require

END = object()

HINT = "give a path, a frame, a 2-D array, a dict of columns or a list of dicts"


def object_source(
    source: object,
    first: object,
    labels: Column | None,
    weights: Column | None,
    request: ColumnRequest,
    rejects: Rejects,
) -> Source:
    """The source of what is in an object; if it is an iterable of Python's, ``first`` is one of its items."""
    kind = _TextObject if request.is_of_texts else _TableObject
    for each in (source, labels, weights):
        if frames.needs_pyarrow(each):
            require("pyarrow", why="reading data frames")
    source, split = frames.split_of(source)
    given = kind(source, frames.column_of(labels), frames.column_of(weights), request, rejects)
    opened = given.dataset() if frames.is_dataset(source) else given.opened(first)
    opened.description = split + opened.description
    return opened


@dataclass
class _Object:
    """An object that is to be read, and what stands beside it."""

    source: Any
    labels: Column | None
    weights: Column | None
    request: ColumnRequest
    rejects: Rejects

    def _made(
        self,
        item: str,
        read: Callable[[Origin], Parts],
        *,
        request: ColumnRequest | None = None,
        replayable: bool | None = None,
    ) -> Source:
        """The source of what ``read`` yields; as many items as the object has a length."""
        origin = Origin(_described(self.source, item), "row")
        if replayable is None:
            replayable = not any(
                isinstance(each, Iterator) for each in (self.source, self.labels, self.weights)
            )
        request = request or self.request
        return Source(request, origin.where, lambda *_: read(origin), self.rejects, replayable=replayable)

    def _refuse_beside(self, what: str) -> None:
        refuse(what, labels=self.labels, weights=self.weights)

    @property
    def _beside(self) -> dict[str, bool]:
        return {"labelled": self.labels is not None, "weighted": self.weights is not None}

    def _stream(self) -> Source:
        read = partial(frames.stream_parts, self.source, self.request)
        return self._made("row", read, replayable=hasattr(self.source, "__len__"))

    def dataset(self) -> Source:
        """The source of a data set of the library `datasets`."""
        self._refuse_beside("a data set, which has columns")
        return self._made("row", partial(frames.dataset_parts, self.source, self.request))

    def _columns(self, table: Table) -> Source:
        labels, weights = (
            column if column is None or hasattr(column, "__getitem__") else list(column)
            for column in (self.labels, self.weights)
        )
        length = len(table.columns[0]) if table.columns else 0
        _check_lengths(range(length), labels, weights)
        origin = Origin(f"{_article(frames.name_of(self.source))} of {_count_of(length, 'row')}", "row")
        read = partial(frames.table_parts, table, labels, weights, self.request, origin)
        return Source(self.request, origin.where, lambda *_: read(), self.rejects)


class _TextObject(_Object):
    """Texts, pairs of text and label, or a table of which one column is read."""

    def opened(self, first: object) -> Source:
        if self.labels is not None or frames.is_column(self.source):
            self.source = frames.column_of(self.source)
        source = self.source
        if frames.is_column(source):
            return self._texts()
        if frames.is_stream(source):
            self._refuse_beside("a table")
            return self._stream()
        try:
            table = _table(source)
        except InputError as error:
            raise InputError(f"cannot read texts from a dict: {error.problem}", hint=error.hint) from None
        if table is not None:
            self._refuse_beside("a table")
            return self._columns(table)
        if not isinstance(source, Iterable) or isinstance(source, bytes):
            raise InputError(
                f"cannot read texts from {_article(type(source).__name__)}",
                hint="give a path, a table, a list of texts with `labels`, or pairs of text and label",
            )
        if isinstance(first, (Mapping, tuple, list)):
            self._refuse_beside("rows with labels of their own")
            return self._made("row", self._records) if isinstance(first, Mapping) else self._pairs(len(first))
        return self._texts(may_be_rows=first is None)

    def _texts(self, *, may_be_rows: bool = False) -> Source:
        """The source of texts; nulls only, or none at all, could be anything."""
        columns = (self.source, self.labels, self.weights)
        is_unknown = may_be_rows and self.labels is None and self.weights is None
        if not is_unknown:
            description = _described(self.source, "text")
            self.request.refuse_names(description)
            if self.labels is None and self.request.labelled:
                raise InputError(
                    f"{description} comes without labels",
                    hint="give as many `labels`, or pairs of text and label, or a table with a label column",
                )
            _check_beside("text", labels=self.labels, weights=self.weights)
            _check_lengths(*columns)
        request = ColumnRequest.without_names()
        request.label_sets = self.request.label_sets

        def read(origin: Origin) -> Parts:
            if all(column is None or hasattr(column, "__getitem__") for column in columns):
                table = Table([TEXT], [self.source])
                return frames.table_parts(table, self.labels, self.weights, request, origin)
            return text_parts(_paired_rows(*map(frames.items_of, columns)), origin, **self._beside)

        return self._made("row" if is_unknown else "text", read, request=request)

    def _records(self, origin: Origin) -> Parts:
        return record_parts(_paired_rows(self.source, None, None), self.request, origin)

    def _pairs(self, width: int) -> Source:
        """The source of pairs of text and label, or of these with a weight."""
        self.request.refuse_names("a tuple")
        if not 2 <= width <= 3:
            raise InputError(
                f"row 1 of {_described(self.source, 'row')} has {width} items",
                hint="give (text, label) or (text, label, weight)",
            )
        names = [TEXT, "label", "weight"][:width]
        request = ColumnRequest.without_names("label" if self.request.labelled else None, *names[2:])
        request.label_sets = self.request.label_sets

        def read(origin: Origin) -> Parts:
            return row_parts(_paired_rows(self.source, None, None), names, request, origin)

        return self._made("row", read, request=request)


class _TableObject(_Object):
    """The columns of a table, or its rows."""

    request: TableRequest

    def opened(self, first: object) -> Source:
        source = self.source
        if hasattr(source, "toarray"):
            raise InputError(
                f"cannot read a table from {_article(frames.name_of(source))}, which is sparse",
                hint="give `source.toarray()`",
            )
        _check_beside("row", labels=self.labels, weights=self.weights)
        if frames.is_stream(source):
            self._refuse_beside("a stream")
            return self._stream()
        if frames.is_column(source):
            raise InputError(f"{_article(frames.name_of(source))} is one column, not a table", hint=HINT)
        table = self._array() if isinstance(source, np.ndarray) else _table(source)
        if table is not None:
            return self._columns(table)
        if not isinstance(source, Iterable) or isinstance(source, bytes):
            raise InputError(f"cannot read a table from {_article(frames.name_of(source))}", hint=HINT)
        return self._rows(first)

    def _array(self) -> Table:
        """The columns of an array of two dimensions."""
        array = self.source
        if array.ndim != 2 or not array.shape[1]:
            raise InputError(
                f"an array of shape {array.shape} is not a table, which has rows and columns",
                hint="an array of one column is made by `array.reshape(-1, 1)`",
            )
        if not isinstance(array, np.ma.MaskedArray):
            array = np.asarray(array)  # a column of a `matrix` would be a matrix
        return Table(self.request.array_names(array.shape[1]), list(array.T))

    def _rows(self, first: object) -> Source:
        """The source of a table that comes row by row."""
        _check_lengths(self.source, self.labels, self.weights)
        names: list[str] | None = None
        if isinstance(first, (tuple, list)) or (isinstance(first, np.ndarray) and first.ndim == 1):
            names = self.request.array_names(len(first))
        elif first is not None and not isinstance(first, Mapping):
            what = "texts, which are" if isinstance(first, str) else f"{type(first).__name__} objects,"
            raise InputError(f"{_described(self.source, 'row')} holds {what} not rows of a table", hint=HINT)

        def read(origin: Origin) -> Parts:
            items = (item.tolist() if isinstance(item, np.ndarray) else item for item in self.source)
            rows = _paired_rows(items, frames.items_of(self.labels), frames.items_of(self.weights))
            if names is None:
                return record_parts(rows, self.request, origin, **self._beside)
            return row_parts(rows, names, self.request, origin, **self._beside)

        return self._made("row", read)


def _check_beside(item: str, **columns: object) -> None:
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


def _table(source: object) -> Table | None:
    """The columns of a source that is in memory by columns, or None."""
    if frames.is_frame(source):
        return frames.table_of(source)
    return _of_mapping(source) if isinstance(source, Mapping) else None


def _of_mapping(source: Mapping[Any, object]) -> Table:
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
        if isinstance(column, np.ndarray) and column.ndim not in (1, 2):
            raise InputError(
                f"column `{name}` is an array of shape {column.shape}",
                hint="give an array of one dimension or, of vectors, of two",
            )
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
    if labels is None and weights is None:
        for at, text in enumerate(texts, start=1):
            yield text, None, None, at, None
        return
    sides = iter(texts), iter(() if labels is None else labels), iter(() if weights is None else weights)
    for at in itertools.count(1):
        text, label, weight = (next(side, END) for side in sides)
        for given, other, name in ((labels, label, "labels"), (weights, weight, "weights")):
            if given is not None and (text is END) != (other is END):
                raise LengthMismatch(at - (text is END), at - (other is END), name)
        if text is END:
            return
        yield text, label, weight, at, None


def _described(source: object, item: str) -> str:
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
