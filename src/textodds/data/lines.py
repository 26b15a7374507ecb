"""CSV, TSV, fastText lines and plain lines, plain or gzipped, as the Rust kernel reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from textodds.data import files
from textodds.data.admission import Part, Parts, Values
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, TEXT, Batch
from textodds.data.columns import ColumnRequest
from textodds.data.dialect import Dialect
from textodds.data.files import File
from textodds.data.rejects import Origin, Rejects
from textodds.data.source import Position
from textodds.errors import BadFile

if TYPE_CHECKING:
    from textodds._kernels import LineReader

# The next rows, and the bad ones among them: line, reason and bytes of each.
Piece: TypeAlias = tuple[Part | Batch, list[tuple[int, str, bytes]]]


def parts(
    file: File, dialect: Dialect, request: ColumnRequest, rejects: Rejects, progress: Position
) -> Parts:
    """Parts of the rows of ``file``; of one column of texts batches, which the kernel has checked."""
    from textodds._kernels import LineReader

    origin, rows = Origin(file.name), 0
    delimiter = "\t" if dialect.format == "tsv" else None  # a `.csv` may have `;` instead: the kernel looks
    files.refuse_utf16(file)
    with contextlib.ExitStack() as stack, files.trouble(file, lambda: rows):
        path = file.path  # the kernel unpacks gzip by itself; other packings are unpacked first
        if not file.is_pipe:
            path = stack.enter_context(files.unpacked(path, "", but="gzip"))
        with _unreadable(file, dialect.kind):
            reader = LineReader(path, dialect.kind, delimiter, dialect.quoting, dialect.header, BATCH_BYTES)
        if dialect.kind == "delimited" and not reader.columns:
            return
        following = _selected(reader, file, dialect, request, rejects)
        while True:
            with _unreadable(file, dialect.kind):
                piece = following()
            if piece is None:
                return
            part, bad = piece
            for line, reason, raw in bad:
                rejects.add(origin, line, reason, raw)
            rows += len(part) + len(bad)
            progress.current = reader.bytes_read
            if len(part):
                yield part


def _selected(
    reader: LineReader, file: File, dialect: Dialect, request: ColumnRequest, rejects: Rejects
) -> Callable[[], Piece | None]:
    """What reads the next rows of the columns that are wanted."""
    name, is_labelled = TEXT, request.reads_labels or request.keeps_rows
    if dialect.kind == "delimited":
        chosen = request.with_kept(file.name, reader.columns)
        if not request.is_one_text(chosen):
            reader.select_columns(chosen)
            return partial(_next_table, reader, [reader.columns[at] for at in chosen], file, rejects)
        places = request.places(file.name, reader.columns)
        name = reader.columns[chosen[0]]
        reader.select(chosen[0], places.label, places.weight)

    def following() -> Piece | None:
        piece = reader.next_batch(rejects.skips)
        if piece is None:
            return None
        texts, labels, weights, bad = piece
        return Batch({name: texts}, labels if is_labelled else None, weights), bad

    return following


def _next_table(reader: LineReader, names: list[str], file: File, rejects: Rejects) -> Piece | None:
    import pyarrow as pa

    piece = reader.next_table(BATCH_ROWS, rejects.skips)
    if piece is None:
        return None
    columns, at, bad = piece
    values = [Values(pa.array(column)) for column in columns]
    return Part(Origin(file.name), names, values, len(at), lambda position: int(at[position])), bad


@contextlib.contextmanager
def _unreadable(file: File, kind: str) -> Iterator[None]:
    """What the kernel cannot go on from, such as a record of more than 1 GiB, becomes `BadFile`."""
    try:
        yield
    except ValueError as error:
        hint = "check that it is a text file in UTF-8, with line ends"
        if kind == "delimited":
            hint += "; if a quotation mark is part of the text, use `--no-quoting` (quoting=False)"
        raise BadFile(f"`{file.name}` cannot be read: {error}", hint=hint) from error
