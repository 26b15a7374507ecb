"""CSV, TSV, fastText lines and plain lines, plain or gzipped, as the Rust kernel reads them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from textodds.data import files
from textodds.data.admission import Part, Parts, Values
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, TEXT, Batch
from textodds.data.columns import ColumnRequest
from textodds.data.dialect import Dialect
from textodds.data.files import File
from textodds.data.label_sets import are_on_a_line
from textodds.data.rejects import Origin, Rejects
from textodds.data.source import Position
from textodds.data.values import cut
from textodds.errors import BadFile, InputError, MissingColumn, require

if TYPE_CHECKING:
    from textodds._kernels import LineReader, Strings

# The next rows, and the bad ones among them: line, reason and bytes of each.
Piece: TypeAlias = tuple[Part | Batch, list[tuple[int, str, bytes]]]

_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*")


def parts(
    file: File, dialect: Dialect, request: ColumnRequest, rejects: Rejects, progress: Position
) -> Parts:
    """Parts of the rows of ``file``; of one column of texts batches, which the kernel has checked."""
    from textodds._kernels import LineReader

    origin, rows, kind = Origin(file.name), 0, dialect.kind
    if kind == "fasttext" and are_on_a_line(request, file):
        kind = "fasttext-sets"
    delimiter = "\t" if dialect.format == "tsv" else None  # a `.csv` may have `;` instead: the kernel looks
    files.refuse_utf16(file)
    with contextlib.ExitStack() as stack, files.trouble(file, lambda: rows):
        path = file.path  # the kernel unpacks gzip by itself; other packings are unpacked first
        if not file.is_pipe or file.encoding is not None:
            path = stack.enter_context(files.unpacked(path, "", but="gzip", encoding=file.encoding))
        with _unreadable(file, dialect.kind):
            reader = LineReader(path, kind, delimiter, dialect.quoting, dialect.header, BATCH_BYTES)
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
        try:
            chosen = request.with_kept(file.name, reader.columns)
        except MissingColumn as error:
            raise _without_header(error, reader.columns, file, dialect, request) from error
        if not request.is_one_text(chosen):
            reader.select_columns(chosen)
            names = [reader.columns[at] for at in chosen]
            return partial(_next_table, reader, names, file, rejects, _read_column(file, reader, request))
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


def _without_header(
    error: MissingColumn, cells: Sequence[str], file: File, dialect: Dialect, request: ColumnRequest
) -> InputError:
    """What to say of a missing column if the first line is not the names of columns, or not in UTF-8."""
    if any("\ufffd" in cell for cell in cells) and (likely := files.encoding_hint(file, b"")) is not None:
        return BadFile(f"{file.name}, line 1: the names of the columns are not UTF-8", hint=likely)
    if not dialect.header and not error.wanted.isdecimal():
        hint = "columns without a header go by number, such as `--text 1 --label 2` (text='1', label='2')"
        return MissingColumn.with_words(error.problem, hint, error)
    text = max(range(len(cells)), key=lambda at: len(cells[at].split()))
    is_text = len(cells[text].split()) > 3
    is_data = is_text or any(_NUMBER.fullmatch(cell.strip()) for cell in cells)
    if not dialect.header or not (is_data or error.wanted.isdecimal()):
        return error
    named = "--no-header"
    if request.is_of_texts or is_text:
        named += f" --text {text + 1}"
    if request.labelled and len(cells) > 1:
        others = [at for at in range(len(cells)) if at != text or "--text" not in named]
        label = min(others, key=lambda at: (_NUMBER.fullmatch(cells[at].strip()) is not None, len(cells[at])))
        named += f" --label {label + 1}"
    shown = ", ".join(f"`{cut(cell, 40)}`" for cell in cells[:5]) + (", …" if len(cells) > 5 else "")
    looks = f"its first line looks like data: {shown}" if is_data else f"its columns are {shown}"
    problem = f"{file.name} has no {error.wanted} column; {looks}"
    hint = f"if there is no header, name columns by number: `{named}`; otherwise {error.hint}"
    return MissingColumn.with_words(problem, hint, error)


def _read_column(file: File, reader: LineReader, request: ColumnRequest) -> Callable[[str, Strings], Values]:
    """What makes values of the strings of a column: an Arrow array, or of texts a list where Arrow is not."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        if not request.is_of_texts:
            require("pyarrow", why="a table of several columns")
        at = request.places(file.name, reader.columns).weight
        weight = None if at is None else reader.columns[at]
        return lambda name, column: Values(
            [_as_number(value) for value in column.to_list()] if name == weight else column.to_list()
        )
    return lambda name, column: Values(pa.array(column))


def _as_number(value: str) -> float | str | None:
    if not value.strip():
        return None
    try:
        return float(value)
    except ValueError:
        return value


def _next_table(
    reader: LineReader,
    names: list[str],
    file: File,
    rejects: Rejects,
    read: Callable[[str, Strings], Values],
) -> Piece | None:
    piece = reader.next_table(BATCH_ROWS, rejects.skips)
    if piece is None:
        return None
    columns, at, bad = piece
    values = [read(name, column) for name, column in zip(names, columns, strict=True)]
    return Part(Origin(file.name), names, values, len(at), lambda position: int(at[position])), bad


@contextlib.contextmanager
def _unreadable(file: File, kind: str) -> Iterator[None]:
    """What the kernel cannot go on from, such as a record of more than 1 GiB, becomes `BadFile`."""
    try:
        yield
    except ValueError as error:
        hint = "check that it is a text file in UTF-8, with line ends"
        if "UTF-8" in str(error) and (likely := files.encoding_hint(file, b"")) is not None:
            hint = likely
        if kind == "delimited":
            hint += "; if a quotation mark is part of the text, use `--no-quoting` (quoting=False)"
        raise BadFile(f"`{file.name}` cannot be read: {error}", hint=hint) from error
