"""CSV, TSV, fastText lines and plain lines, plain or gzipped, as the Rust kernel reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

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


def batches(
    file: File,
    format: str,  # noqa: A002 (the word of the whole package)
    wanted: ColumnNames,
    rejects: Rejects,
    progress: Position,
    *,
    quoting: bool,
    header: bool,
) -> Iterator[Batch]:
    """Batches of the rows of ``file``, which is in one of `KINDS`."""
    kind, origin, rows = KINDS[format], Origin(file.name), 0
    formats.refuse_utf16(file)
    with files.trouble(file, lambda: rows):
        reader = _reader(file, format, quoting=quoting, header=header)
        if kind == "delimited":
            if not reader.columns:
                return
            at = wanted.find(file.name, reader.columns)
            reader.select(at.text, at.label, at.weight)
        while True:
            with _unreadable(file, kind):
                part = reader.next_batch(rejects.skips)
            if part is None:
                return
            texts, labels, weights, bad = part
            for line, reason, raw in bad:
                rejects.add(origin, line, reason, raw)
            rows += len(texts) + len(bad)
            progress.current = reader.bytes_read
            if len(texts):
                yield Batch(texts, labels if wanted.reads_labels else None, weights)


def parts(
    file: File,
    format: str,  # noqa: A002
    sought: Sought,
    rejects: Rejects,
    progress: Position,
    *,
    quoting: bool,
    header: bool,
) -> Iterator[Part]:
    """Parts of the table in ``file``, which is CSV or TSV."""
    import pyarrow as pa

    origin, rows = Origin(file.name), 0
    formats.refuse_utf16(file)
    with files.trouble(file, lambda: rows):
        reader = _reader(file, format, quoting=quoting, header=header)
        names = reader.columns
        if not names:
            return
        chosen = sought.positions(file.name, names)
        reader.select_columns(chosen)
        while True:
            with _unreadable(file, KINDS[format]):
                table = reader.next_table(BATCH_ROWS, rejects.skips)
            if table is None:
                return
            columns, at, bad = table
            for line, reason, raw in bad:
                rejects.add(origin, line, reason, raw)
            rows += len(at) + len(bad)
            progress.current = reader.bytes_read
            if len(at):
                yield Part(
                    origin,
                    [names[position] for position in chosen],
                    [Values(pa.array(column)) for column in columns],
                    len(at),
                    partial(_line, at),
                )


def _line(lines: NDArray[np.uint64], position: int) -> int:
    return int(lines[position])


def _reader(file: File, format: str, *, quoting: bool, header: bool) -> LineReader:  # noqa: A002
    from textodds._kernels import LineReader

    delimiter = "\t" if format == "tsv" else None  # a `.csv` may be delimited by `;`: the kernel looks
    with _unreadable(file, KINDS[format]):
        return LineReader(file.path, KINDS[format], delimiter, quoting, header, BATCH_BYTES)


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
