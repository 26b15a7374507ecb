"""Tables and columns of pyarrow, polars, pandas and whatever else speaks Arrow.

pandas and polars are known by the names of their classes, so that neither has to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textodds.data import in_memory
from textodds.data.admission import admit
from textodds.data.batch import SLICE_ROWS, Batch
from textodds.data.columns import ColumnNames, Found
from textodds.data.in_memory import Slicer
from textodds.data.parts import Part, Values
from textodds.data.rejects import Origin, Rejects
from textodds.data.sought import Sought
from textodds.errors import InputError

PYARROW_COLUMNS = ("pyarrow Array", "pyarrow ChunkedArray")


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns that are in memory."""

    names: list[str]
    columns: list[Any]


def is_stream(source: object) -> bool:
    """Whether ``source`` hands out Arrow batches, and has neither columns nor values to ask for."""
    return hasattr(source, "__arrow_c_stream__") and not (is_table(source) or is_column(source))


def is_table(source: object) -> bool:
    """Whether ``source`` is a table in memory."""
    return _is(source, "pandas DataFrame", "polars DataFrame", "pyarrow Table", "pyarrow RecordBatch") or (
        hasattr(source, "__arrow_c_array__") and not is_column(source)
    )


def is_column(source: object) -> bool:
    """Whether ``source`` is one column in memory."""
    if _is(source, "pandas Series", "polars Series", *PYARROW_COLUMNS):
        return True
    if not hasattr(source, "__arrow_c_array__") or _is(source, "pyarrow RecordBatch"):
        return False
    import pyarrow as pa

    return not pa.types.is_struct(pa.array(source).type)


def speaks_arrow(source: object) -> bool:
    """Whether ``source`` is a table, a column or a stream, rather than an iterable of Python objects."""
    return is_table(source) or is_column(source) or is_stream(source)


def table_of(source: Any) -> Table:
    """The columns of a table, without copying them."""
    if _is(source, "pandas DataFrame"):
        return Table(
            [str(name) for name in source.columns], [source.iloc[:, at] for at in range(source.shape[1])]
        )
    if _is(source, "polars DataFrame"):
        return Table(list(source.columns), source.get_columns())
    import pyarrow as pa

    if not isinstance(source, (pa.Table, pa.RecordBatch)):
        source = pa.record_batch(source)
    return Table(source.schema.names, [_chunked(column) for column in source.columns])


def table_batches(table: Table, wanted: ColumnNames, rejects: Rejects, origin: Origin) -> Iterator[Batch]:
    """Batches of the rows of a table in memory."""
    found = wanted.find(origin.where, table.names)
    return column_batches(
        table.columns[found.text],
        None if found.label is None else table.columns[found.label],
        None if found.weight is None else table.columns[found.weight],
        rejects,
        origin,
    )


def column_batches(
    texts: Any, labels: Any | None, weights: Any | None, rejects: Rejects, origin: Origin
) -> Iterator[Batch]:
    """Batches of columns in in_memory, of Arrow or of Python, all of one length."""
    lengths, text_slicer = pieces(texts)
    return in_memory.sliced(
        lengths,
        text_slicer,
        None if labels is None else pieces(labels)[1],
        None if weights is None else pieces(weights)[1],
        rejects,
        origin,
    )


def stream_batches(source: Any, wanted: ColumnNames, rejects: Rejects, origin: Origin) -> Iterator[Batch]:
    """Batches of an Arrow stream as it comes, never all of it at once."""
    import pyarrow as pa

    try:
        with pa.RecordBatchReader.from_stream(source) as parts:
            yield from admitted_parts(parts, wanted.find(origin.where, parts.schema.names), rejects, origin)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{origin.where} cannot be read: {error}") from error


def admitted_parts(parts: Iterable[Any], found: Found, rejects: Rejects, origin: Origin) -> Iterator[Batch]:
    """Batches of the ``found`` columns of Arrow record batches."""
    rows = 0
    for whole in parts:
        for start in range(0, len(whole), SLICE_ROWS):
            part = whole.slice(start, SLICE_ROWS)
            batch = admit(
                part.column(found.text),
                None if found.label is None else part.column(found.label),
                None if found.weight is None else part.column(found.weight),
                rejects,
                origin,
                range(rows + 1, rows + 1 + len(part)).__getitem__,
            )
            rows += len(part)
            if batch is not None:
                yield batch


def arrow_parts(read: Iterable[Any], origin: Origin) -> Iterator[Part]:
    """Parts of a table that are Arrow record batches."""
    rows = 0
    for whole in read:
        for start in range(0, len(whole), SLICE_ROWS):
            part = whole.slice(start, SLICE_ROWS)
            places = range(rows + 1, rows + 1 + len(part))
            rows += len(part)
            columns = [Values(column) for column in part.columns]
            yield Part(origin, part.schema.names, columns, len(part), places.__getitem__)


def stream_parts(source: Any, sought: Sought, origin: Origin) -> Iterator[Part]:
    """Parts of an Arrow stream as it comes, never all of it at once."""
    import pyarrow as pa

    try:
        with pa.RecordBatchReader.from_stream(source) as read:
            chosen = sought.positions(origin.where, read.schema.names)
            yield from arrow_parts((part.select(chosen) for part in read), origin)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{origin.where} cannot be read: {error}") from error


def column_of(source: Any) -> Any:
    """``source`` as a column with a length and positions if it is one; else ``source`` itself."""
    if hasattr(source, "__arrow_c_array__") and is_column(source):
        import pyarrow as pa

        return pa.array(source)
    if is_stream(source):
        import pyarrow as pa

        try:
            pa.RecordBatchReader.from_stream(source).close()
        except pa.ArrowInvalid:  # a stream of values, not of rows: the chunks of a column
            return pa.chunked_array(source)
    return source


def items_of(column: Any) -> Any:
    """The Python objects in a column, one by one."""
    return (item.as_py() for item in column) if _is(column, *PYARROW_COLUMNS) else column


def name_of(source: Any) -> str:
    """What ``source`` is, for messages: `pandas DataFrame`, or just `list`."""
    library, name = type(source).__module__.partition(".")[0], type(source).__name__
    return name if library == "builtins" else f"{library} {name}"


def pieces(column: Any) -> tuple[list[int], Slicer]:
    """The lengths of the pieces a column consists of, and how to cut it."""
    if _is(column, "pandas Series"):
        return [len(column)], _pandas_slicer(column)
    if not is_column(column):
        return [len(column)], in_memory.slicer(column)
    column = _chunked(column)
    return [len(chunk) for chunk in column.chunks], _arrow_slicer(column)


def _chunked(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    return pa.chunked_array([pa.array(column)])


def _arrow_slicer(column: Any) -> Slicer:
    def cut(start: int, stop: int) -> Any:
        return _joined(column.slice(start, stop - start))

    return cut


def _pandas_slicer(column: Any) -> Slicer:
    if column.dtype == object:  # Python objects, of several types at times
        return in_memory.slicer(column)

    def cut(start: int, stop: int) -> Any:
        import pyarrow as pa

        try:
            part = pa.array(column.iloc[start:stop], from_pandas=True)
        except (pa.ArrowException, TypeError):  # types that only pandas knows, such as periods
            return in_memory.slicer(column)(start, stop)
        return _joined(part) if isinstance(part, pa.ChunkedArray) else part

    return cut


def _joined(column: Any) -> Any:
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    try:
        return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    except pa.ArrowException:  # dictionaries that differ
        return column.to_pylist()


def _is(source: object, *names: str) -> bool:
    return any(
        f"{base.__module__.partition('.')[0]} {base.__name__}" in names for base in type(source).__mro__
    )
