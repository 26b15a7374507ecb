"""Tables and columns of pyarrow, polars, pandas and whatever else speaks Arrow.

pandas and polars are known by the names of their classes, so that neither has to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from textodds.data import in_memory
from textodds.data.batch import SLICE_ROWS
from textodds.data.in_memory import Slicer
from textodds.data.parts import Part, Parts, Values
from textodds.data.rejects import Origin
from textodds.data.sought import ColumnRequest
from textodds.errors import InputError

PYARROW_COLUMNS = ("pyarrow Array", "pyarrow ChunkedArray")

# The lengths of the pieces a column consists of, and how to cut it.
Pieces: TypeAlias = tuple[list[int], Callable[[int, int], Values]]


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


def raw_pieces(column: Any, name: str) -> Pieces:
    """The pieces of a column as they are."""
    lengths, cut = pieces(column)
    return lengths, lambda start, stop: Values(cut(start, stop))


def table_parts(
    table: Table,
    labels: Any | None,
    weights: Any | None,
    wanted: ColumnRequest,
    origin: Origin,
    pieces_of: Callable[[Any, str], Pieces] = raw_pieces,
) -> Parts:
    """Parts of columns in memory, which are sliced and not copied."""
    chosen = wanted.positions(origin.where, table.names)
    names = [table.names[at] for at in chosen]
    cuts = [pieces_of(table.columns[at], table.names[at]) for at in chosen]
    label_cut = None if labels is None else pieces_of(labels, "label")[1]
    weight_cut = None if weights is None else pieces_of(weights, "weight")[1]
    for start, stop in in_memory.slices(cuts[0][0] if cuts else []):
        yield Part(
            origin,
            names,
            [cut(start, stop) for _, cut in cuts],
            stop - start,
            range(start + 1, stop + 1).__getitem__,
            labels=label_cut and label_cut(start, stop),
            weights=weight_cut and weight_cut(start, stop),
        )


def arrow_parts(read: Iterable[Any], origin: Origin) -> Parts:
    """Parts that are Arrow record batches."""
    rows = 0
    for whole in read:
        for start in range(0, len(whole), SLICE_ROWS):
            part = whole.slice(start, SLICE_ROWS)
            places = range(rows + 1, rows + 1 + len(part))
            rows += len(part)
            columns = [Values(column) for column in part.columns]
            yield Part(origin, part.schema.names, columns, len(part), places.__getitem__)


def stream_parts(source: Any, wanted: ColumnRequest, origin: Origin) -> Parts:
    """Parts of an Arrow stream as it comes, never all of it at once."""
    import pyarrow as pa

    try:
        with pa.RecordBatchReader.from_stream(source) as read:
            chosen = wanted.positions(origin.where, read.schema.names)
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
    whole = _chunked(column)
    return [len(chunk) for chunk in whole.chunks], lambda start, stop: _joined(
        whole.slice(start, stop - start)
    )


def _chunked(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    return pa.chunked_array([pa.array(column)])


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
