"""Parquet files, plain or gzipped.

Measured on 300 MB in 16 row groups of 60,000 rows, and as one row group (pyarrow 26, DuckDB 2.0, two
cores; only text and label read). pyarrow with a read buffer: 1.0 s of CPU, 90 and 60 MB above what the
import takes. DuckDB: 0.6 s of CPU, 170 and 310 MB (250 and 330 with two threads). pyarrow is taken:
for a few columns its memory does not grow with the row groups, and it hands over a text that is not UTF-8,
so that its row can be named, where DuckDB fails for the file as a whole.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from textodds.data import files
from textodds.data.admission import Parts
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS
from textodds.data.columns import ColumnRequest
from textodds.data.files import File
from textodds.data.frames import arrow_parts
from textodds.data.rejects import Origin
from textodds.data.source import Position
from textodds.errors import BadFile, TextoddsError, require

# Every column that is read has one: a table may have hundreds.
BUFFER_OF_COLUMN = 128 << 10

LOOKED_AT = 64  # rows of a row group that tell how long its rows are


def parts(file: File, request: ColumnRequest, progress: Position) -> Parts:
    """Parts of the table in ``file``."""
    with _opened(file) as table:
        if table is not None:
            yield from arrow_parts(_record_batches(file, table, request, progress), Origin(file.name, "row"))


@contextlib.contextmanager
def _opened(file: File) -> Iterator[Any]:
    """The file, None if it is empty; whatever Arrow says of it becomes `BadFile`."""
    if file.size == 0:
        yield None
        return
    with files.unpacked(file.path, ".parquet") as path:
        require("pyarrow", why=f"reading `{file.name}`, which is Parquet,")
        from pyarrow import parquet

        try:
            with files.trouble(file), contextlib.ExitStack() as stack:
                given: Any = path
                if not files.is_utf8(path):  # which Arrow cannot open by its name
                    given = stack.enter_context(io.FileIO(path))
                opened = parquet.ParquetFile(given, pre_buffer=False, buffer_size=BUFFER_OF_COLUMN)
                yield stack.enter_context(opened)
        except TextoddsError:
            raise
        except Exception as error:  # Arrow's own, and what damaged bytes make of Python's: of any kind
            raise BadFile(
                f"`{file.name}` cannot be read as Parquet: {error}",
                hint="copy the file again, or name its format with `--format` (format=)",
            ) from error


def _record_batches(file: File, table: Any, request: ColumnRequest, progress: Position) -> Iterator[Any]:
    """Batches of about `BATCH_BYTES` of what is wanted, row group by row group.

    How long rows are is told by the first of each group. The metadata of a column must not be asked for: of
    one that is encrypted, used or not, Arrow ends the process.
    """
    size, read, names = file.size, 0, _names(table.schema_arrow, request.paths)
    n_rows: int = table.metadata.num_rows
    request.positions(file.name, names)  # a column that is missing is told of though there are no rows
    for group in range(table.metadata.num_row_groups):
        positions = request.with_kept(file.name, names)
        chosen = [names[at] for at in positions]
        # Threads gain nothing for two columns, and reading already overlaps with counting.
        of_group = {"row_groups": [group], "columns": chosen, "use_threads": False}
        first = next(table.iter_batches(batch_size=LOOKED_AT, **of_group), None)
        if first is None:
            continue
        first = _flat(first, chosen)
        rows = _batch_rows(len(first), sum(first.column(names[at]).nbytes for at in request.bulk(positions)))
        for part in table.iter_batches(batch_size=rows, **of_group):
            part = _flat(part, chosen)
            read += len(part)
            progress.current = size * read // max(n_rows, 1)
            yield part


def _names(schema: Any, paths: list[str]) -> list[str]:
    """The names of the columns, and those ``paths`` that lead to a field within a struct."""
    import pyarrow as pa

    names = list(schema.names)
    for path in paths:
        top, *inner = path.split(".")
        kind: Any = schema.field(top).type if path not in names and names.count(top) == 1 else None
        for name in inner:
            is_there = kind is not None and pa.types.is_struct(kind) and kind.get_field_index(name) >= 0
            kind = kind.field(name).type if is_there else None
        if kind is not None:
            names.append(path)
    return names


def _flat(part: Any, names: list[str]) -> Any:
    """The columns of these ``names``, those within structs taken out of them."""
    if part.schema.names == names:
        return part
    import pyarrow as pa
    from pyarrow import compute

    def column(name: str) -> Any:
        if name in part.schema.names:
            return part.column(name)
        top, *inner = name.split(".")
        return compute.struct_field(part.column(top), inner)

    return pa.RecordBatch.from_arrays([column(name) for name in names], names=names)


def _batch_rows(rows: int, size: int) -> int:
    """Rows that hold about `BATCH_BYTES`, if ``rows`` of them hold ``size``."""
    return max(1, min(BATCH_ROWS, BATCH_BYTES * rows // max(1, size)))
