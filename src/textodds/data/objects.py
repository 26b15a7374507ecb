"""Sources that are Python objects: tables, columns, streams and iterables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from textodds.data import frames, in_memory
from textodds.data.admission import admit_parts
from textodds.data.batch import Batch
from textodds.data.columns import ColumnNames
from textodds.data.frames import Table
from textodds.data.rejects import Origin, Rejecting, Rejects
from textodds.data.source import Source
from textodds.errors import InputError


def object_source(
    source: Any, first: object, labels: Any, weights: Any, wanted: ColumnNames, reject: Rejecting
) -> Source:
    """The source of an object, of whose items, if it is an iterable of Python's, ``first`` is one."""
    labels, weights = frames.column_of(labels), frames.column_of(weights)
    if frames.is_column(source) or labels is not None:
        source = frames.column_of(source)
    if frames.is_column(source):
        return _text_source(source, labels, weights, wanted, reject)
    if frames.is_table(source) or frames.is_stream(source):
        refuse("a table", labels=labels, weights=weights)
        description = described(source, "row")
        if frames.is_table(source):
            return _column_source(frames.table_of(source), None, None, wanted, description, reject)
        return _of_rows(
            lambda rejects, origin: admit_parts(frames.stream_parts(source, wanted, origin), wanted, rejects),
            description,
            reject,
            replayable=hasattr(source, "__len__"),
        )
    if not isinstance(source, Iterable) or isinstance(source, (bytes, Mapping)):
        raise InputError(
            f"cannot read texts from {article(type(source).__name__)}",
            hint="give a path, a table, a list of texts with `labels`, or pairs of text and label",
        )
    make: Callable[[Rejects, Origin], Iterator[Batch]]
    if first is None and labels is None and weights is None:  # empty, or nulls only: it could be anything
        make = partial(in_memory.paired, source, None, None)
    elif isinstance(first, (tuple, list, Mapping)):
        refuse("rows with labels of their own", labels=labels, weights=weights)
        make = partial(in_memory.records, source, first, wanted)
    else:
        return _text_source(source, labels, weights, wanted, reject)
    return _of_rows(make, described(source, "row"), reject, replayable=is_replayable(source))


def refuse(what: str, **given: object) -> None:
    """Fail for an option that could only be ignored, since the source is ``what``."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise InputError(f"`{option}` does not apply: the source is {what}", hint=_INSTEAD[option])


def check_beside(item: str, **columns: Any) -> None:
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


def _text_source(texts: Any, labels: Any, weights: Any, wanted: ColumnNames, reject: Rejecting) -> Source:
    description = described(texts, "text")
    wanted.refuse_names(description)
    if labels is None and wanted.labelled:
        raise InputError(
            f"{description} comes without labels",
            hint="give as many `labels`, or pairs of text and label, or a table with a label column",
        )
    check_beside("text", labels=labels, weights=weights)
    in_memory.check_lengths(texts, labels, weights)
    columns = [texts, labels, weights]
    if all(column is None or hasattr(column, "__getitem__") for column in columns):
        unnamed = ColumnNames(labelled=False)  # the labels and weights are beside the table
        return _column_source(Table(["text"], [texts]), labels, weights, unnamed, description, reject)
    make = partial(in_memory.paired, *map(frames.items_of, columns))
    return _of_rows(make, description, reject, replayable=is_replayable(*columns))


def _column_source(
    table: Table, labels: Any, weights: Any, wanted: ColumnNames, description: str, reject: Rejecting
) -> Source:
    def make(rejects: Rejects, origin: Origin) -> Iterator[Batch]:
        return admit_parts(frames.table_parts(table, labels, weights, wanted, origin), wanted, rejects)

    return _of_rows(make, description, reject, replayable=True)


def _of_rows(
    make: Callable[[Rejects, Origin], Iterator[Batch]],
    description: str,
    reject: Rejecting,
    *,
    replayable: bool,
) -> Source:
    origin = Origin(description, "row")
    return Source(
        description, lambda rejects, _: make(rejects, origin), reject("rows"), replayable=replayable
    )


def is_replayable(*columns: Any) -> bool:
    """Whether what is read of ``columns`` can be read again."""
    return not any(isinstance(column, Iterator) for column in columns)


def described(source: Any, item: str) -> str:
    """What ``source`` is, for messages: `a list of 40 texts`."""
    kind = article(frames.name_of(source))
    if frames.is_stream(source):
        return kind
    if isinstance(source, Iterator):
        return f"an iterator of {item}s"
    return f"{kind} of {counted(len(source), item)}" if hasattr(source, "__len__") else f"{kind} of {item}s"


def counted(n: int, item: str) -> str:
    """``n`` of an ``item``: `40 texts`."""
    return f"{n:,} {item}{'' if n == 1 else 's'}"


def article(noun: str) -> str:
    """``noun`` with its article."""
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"
