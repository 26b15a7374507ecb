"""Parquet files, plain or gzipped.

Measured on 300 MB in 16 row groups of 60,000 rows, and as one row group (pyarrow 26, DuckDB 2.0, two
cores; only text and label read). pyarrow with a read buffer: 1.0 s of CPU, 90 and 60 MB above what the
import takes. DuckDB: 0.6 s of CPU, 170 and 310 MB (250 and 330 with two threads). pyarrow is taken:
for a few columns its memory does not grow with the row groups, and it hands over a text that is not UTF-8,
so that its row can be named, where DuckDB fails for the file as a whole.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any

from textodds.data import files
from textodds.data.admission import Parts
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS
from textodds.data.columns import ColumnRequest
from textodds.data.files import File
from textodds.data.frames import arrow_parts
from textodds.data.rejects import Origin
from textodds.data.source import Position
from textodds.errors import BadFile

# Every column that is read has one: a table may have hundreds.
BUFFER_OF_COLUMN = 128 << 10


def parts(file: File, request: ColumnRequest, progress: Position) -> Parts:
    """Parts of the table in ``file``."""
    with _opened(file) as table:
        if table is None:
            return
        columns = table.schema_arrow.names
        positions = request.positions(file.name, columns)
        rows = _batch_rows(table.metadata, [columns[at] for at in request.bulk(positions)])
        chosen = [columns[at] for at in positions]
        yield from arrow_parts(_record_batches(file, table, chosen, rows, progress), Origin(file.name, "row"))


@contextlib.contextmanager
def _opened(file: File) -> Iterator[Any]:
    """The file, None if it is empty; what Arrow says of it becomes `BadFile`."""
    import pyarrow as pa
    from pyarrow import parquet

    if file.size == 0:
        yield None
        return
    with files.unpacked(file.path, ".parquet") as path, files.trouble(file):
        try:
            with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_OF_COLUMN) as table:
                yield table
        except pa.ArrowException as error:
            raise BadFile(
                f"`{file.name}` cannot be read as Parquet: {error}",
                hint="copy the file again, or name its format with `--format` (format=)",
            ) from error


def _record_batches(
    file: File, table: Any, columns: list[str], rows: int, progress: Position
) -> Iterator[Any]:
    size, read = file.size, 0
    # Threads gain nothing for two columns, and reading already overlaps with counting.
    for part in table.iter_batches(batch_size=rows, columns=columns, use_threads=False):
        read += len(part)
        progress.current = size * read // table.metadata.num_rows
        yield part


def _batch_rows(metadata: Any, columns: Collection[str]) -> int:
    """Rows of which ``columns`` hold about `BATCH_BYTES`, by the average of the file."""
    size: int = sum(
        chunk.total_uncompressed_size
        for group in range(metadata.num_row_groups)
        for chunk in map(metadata.row_group(group).column, range(metadata.num_columns))
        if chunk.path_in_schema in columns or chunk.path_in_schema.partition(".")[0] in columns
    )
    rows: int = metadata.num_rows
    return max(1, min(BATCH_ROWS, BATCH_BYTES * rows // max(1, size)))
