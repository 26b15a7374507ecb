"""Parquet files, plain or gzipped.

Measured on 300 MB in 16 row groups of 60,000 rows, and as one row group (pyarrow 26, DuckDB 2.0, two
cores; only text and label read). pyarrow with a read buffer: 1.0 s of CPU, 90 and 60 MB above what the
import takes. DuckDB: 0.6 s of CPU, 170 and 310 MB (250 and 330 with two threads). pyarrow is taken:
its memory does not grow with the row groups, and it hands over a text that is not UTF-8, so that its
row can be named, where DuckDB fails for the file as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textodds.data import files
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, Batch
from textodds.data.columns import Wanted
from textodds.data.files import BUFFER, File
from textodds.data.frames import admitted_parts
from textodds.data.progress import Progress
from textodds.data.rejects import Origin, Rejects
from textodds.errors import BadFile


def batches(file: File, wanted: Wanted, rejects: Rejects, progress: Progress) -> Iterator[Batch]:
    """Batches of the rows of ``file``."""
    import pyarrow as pa
    from pyarrow import parquet

    size = file.size
    if size == 0:
        return
    origin = Origin(file.name, "row")
    with files.unpacked(file.path, ".parquet") as path, files.trouble(file):
        try:
            with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as table:
                columns = table.schema_arrow.names
                found = wanted.find(file.name, columns)
                parts = table.iter_batches(
                    batch_size=_batch_rows(table.metadata, columns[found.text]),
                    columns=[columns[at] for at in found.positions],
                    use_threads=False,  # two columns gain nothing, and reading already overlaps with counting
                )

                def counted() -> Iterator[Any]:
                    rows = 0
                    for part in parts:
                        rows += len(part)
                        progress.current = size * rows // table.metadata.num_rows
                        yield part

                yield from admitted_parts(counted(), found.among(found.positions), rejects, origin)
        except pa.ArrowException as error:
            raise BadFile(
                f"`{file.name}` cannot be read as Parquet: {error}",
                hint="copy the file again, or name its format with `--format` (format=)",
            ) from error


def _batch_rows(metadata: Any, text: str) -> int:
    """Rows that hold about `BATCH_BYTES` of text, by the average of the file."""
    size: int = sum(
        chunk.total_uncompressed_size
        for group in range(metadata.num_row_groups)
        for chunk in map(metadata.row_group(group).column, range(metadata.num_columns))
        if chunk.path_in_schema == text
    )
    rows: int = metadata.num_rows
    return max(1, min(BATCH_ROWS, BATCH_BYTES * rows // max(1, size)))
