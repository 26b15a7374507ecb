"""Rows as they came, all of their columns, beside the batch of those that can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textodds.data.admission import Part, admitted
from textodds.data.batch import Batch
from textodds.data.column_names import position
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import Rejects
from textodds.errors import MissingColumn

FILE, LABEL = "file", "label"  # columns of what has no names: the path of a document, its label


@dataclass(frozen=True, slots=True)
class KeptRows:
    """N rows that could be taken apart, in their order.

    ``names`` and ``columns`` are as they came: a column is a list, an Arrow array, or strings of the kernel;
    of JSON lines there are the ``lines`` instead. ``batch`` has the rows at the positions ``good``, or all
    (None): the others have no text, or a value that cannot be used.
    """

    names: Sequence[str]
    columns: Sequence[Any]
    lines: Sequence[bytes] | None
    batch: Batch | None
    good: Sequence[int] | None
    length: int

    def __len__(self) -> int:
        return self.length

    def taken_apart(self) -> tuple[Sequence[str], Sequence[Any]]:
        """The names and the columns, of JSON lines too; None where an object has no such key."""
        if self.lines is None:
            return self.names, self.columns
        objects = [json.loads(line) for line in self.lines]
        names = list(dict.fromkeys(name for each in objects for name in each))
        return names, [[each.get(name) for each in objects] for name in names]

    def portions(self, most: int) -> Iterator[KeptRows]:
        """The same rows, at most so many at once."""
        if self.length <= most:
            yield self
            return
        good = range(self.length) if self.good is None else self.good
        done = 0  # rows of the batch that were handed out
        for start in range(0, self.length, most):
            stop = min(start + most, self.length)
            here = [row - start for row in good[done : done + most] if row < stop]
            batch = None if self.batch is None or not here else self.batch.take(range(done, done + len(here)))
            done += len(here)
            columns = [_cut(column, start, stop) for column in self.columns]
            lines = None if self.lines is None else self.lines[start:stop]
            is_all = len(here) == stop - start
            yield KeptRows(self.names, columns, lines, batch, None if is_all else here, stop - start)


def kept_rows(part: Part | Batch, request: ColumnRequest, rejects: Rejects) -> KeptRows:
    """The rows of a part, which are checked as always; those that could not be taken apart are left out.

    Of columns those that are asked for; a row of JSON may lack one, but the first rows must have it.
    """
    rows = _all_columns(part, request, rejects)
    if request.kept is None:
        return rows
    names, columns = rows.taken_apart()
    first = names[:1] if FILE in names[:1] else []  # which no reader has among its columns
    known = list(dict.fromkeys([*first, *request.names, *names]))
    for name in request.kept:
        if position(names if rows.lines is None else known, name) is None:
            where = part.origin.where if isinstance(part, Part) else "the data"
            raise MissingColumn(where, name, known, None, hint="name a column that is there, or `none`")
    if rows.lines is not None:
        request.names = known
    values = dict(zip(names, columns, strict=True))
    chosen = [known[at] for at in sorted(set(request.kept_among(known)))]
    columns = [values.get(name, [None] * len(rows)) for name in chosen]
    return KeptRows(chosen, columns, None, rows.batch, rows.good, len(rows))


def _all_columns(part: Part | Batch, request: ColumnRequest, rejects: Rejects) -> KeptRows:
    if isinstance(part, Batch):
        names, columns = list(part.columns), list(part.columns.values())
        if part.labels is not None and not request.reads_labels:  # of fastText
            names, columns = [*names, LABEL], [*columns, part.labels]
        return KeptRows(names, columns, None, part, None, len(part))
    batch, bad = admitted(part, request, rejects)
    names = list(part.names)
    values: list[Any] = [column.array for column in part.columns]
    if part.length and isinstance(part.at(0), str):  # documents that are whole files
        names, values = [FILE, *names], [[part.at(row) for row in range(part.length)], *values]
    rows: Sequence[int] = range(part.length)
    lost = {row for row in bad if row in part.unreadable or (part.is_json and not _is_object(part.raw(row)))}
    if lost:
        rows = [row for row in rows if row not in lost]
        values = [_at(column, rows) for column in values]
    lines = [part.raw(row) or b"{}" for row in rows] if part.is_json else None
    good = [at for at, row in enumerate(rows) if row not in bad] if bad else None
    return KeptRows(names, values, lines, batch, good, len(rows))


def _is_object(line: bytes | None) -> bool:
    try:
        return isinstance(json.loads(line or b""), dict)
    except (ValueError, RecursionError):
        return False


def _at(column: Any, rows: Sequence[int]) -> Any:
    return [column[row] for row in rows] if isinstance(column, list) else column.take(rows)


def _cut(column: Any, start: int, stop: int) -> Any:
    if hasattr(column, "slice"):
        return column.slice(start, stop - start)
    return column[start:stop] if isinstance(column, list) else column.take(range(start, stop))
