"""CSV, TSV, fastText lines and plain lines, plain or gzipped, as the Rust kernel reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import files, formats
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, Batch
from textodds.data.columns import ColumnNames
from textodds.data.files import File
from textodds.data.parts import Part, Values
from textodds.data.rejects import Origin, Rejects
from textodds.data.sought import Sought
from textodds.data.source import Position
from textodds.errors import BadFile

if TYPE_CHECKING:
    from textodds._kernels import LineReader

KINDS = {"csv": "delimited", "tsv": "delimited", "fasttext": "fasttext", "lines": "lines"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How lines are taken apart: a format of `KINDS`, and whether CSV and TSV have quotes and a header."""

    format: str
    quoting: bool
    header: bool

    @property
    def kind(self) -> str:
        """What the kernel calls the format."""
        return KINDS[self.format]


def batches(
    file: File, dialect: Dialect, wanted: ColumnNames, rejects: Rejects, progress: Position
) -> Iterator[Batch]:
    """Batches of the rows of ``file``."""

    def select(reader: LineReader) -> Callable[[], Any]:
        if dialect.kind == "delimited":
            at = wanted.find(file.name, reader.columns)
            reader.select(at.text, at.label, at.weight)
        return partial(reader.next_batch, rejects.skips)

    for texts, labels, weights in _pieces(file, dialect, select, rejects, progress):
        yield Batch(texts, labels if wanted.reads_labels else None, weights)


def parts(
    file: File, dialect: Dialect, sought: Sought, rejects: Rejects, progress: Position
) -> Iterator[Part]:
    """Parts of the table in ``file``, which is CSV or TSV."""
    import pyarrow as pa

    names: list[str] = []

    def select(reader: LineReader) -> Callable[[], Any]:
        chosen = sought.positions(file.name, reader.columns)
        names.extend(reader.columns[position] for position in chosen)
        reader.select_columns(chosen)

        def following() -> Any:
            table = reader.next_table(BATCH_ROWS, rejects.skips)
            return None if table is None else (table[1], table[0], table[2])

        return following

    for at, columns in _pieces(file, dialect, select, rejects, progress):
        values = [Values(pa.array(column)) for column in columns]
        yield Part(Origin(file.name), names, values, len(at), partial(_line, at))


def _line(lines: NDArray[np.uint64], position: int) -> int:
    return int(lines[position])


def _pieces(
    file: File,
    dialect: Dialect,
    select: Callable[[LineReader], Callable[[], Any]],
    rejects: Rejects,
    progress: Position,
) -> Iterator[list[Any]]:
    """What the kernel reads, piece by piece, after ``select`` says which columns; bad rows are rejected."""
    from textodds._kernels import LineReader

    origin, rows = Origin(file.name), 0
    delimiter = "\t" if dialect.format == "tsv" else None  # a `.csv` may have `;` instead: the kernel looks
    formats.refuse_utf16(file)
    with files.trouble(file, lambda: rows):
        with _unreadable(file, dialect.kind):
            reader = LineReader(
                file.path, dialect.kind, delimiter, dialect.quoting, dialect.header, BATCH_BYTES
            )
        if dialect.kind == "delimited" and not reader.columns:
            return
        following = select(reader)
        while True:
            with _unreadable(file, dialect.kind):
                piece = following()
            if piece is None:
                return
            *values, bad = piece
            for line, reason, raw in bad:
                rejects.add(origin, line, reason, raw)
            rows += len(values[0]) + len(bad)
            progress.current = reader.bytes_read
            if len(values[0]):
                yield values


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
