"""Tables and columns of pyarrow, polars, pandas and whatever else speaks Arrow.

pandas and polars are known by the names of their classes, so that neither has to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from textodds.data.admission import Part, Parts, Raw, Values
from textodds.data.batch import SLICE_ROWS
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import Origin
from textodds.errors import InputError

PANDAS = ("pandas DataFrame", "pandas Series")  # of which older ones do not speak Arrow
PYARROW_COLUMNS = ("pyarrow Array", "pyarrow ChunkedArray")

# A column of some library's, or anything with a length and positions.
Column: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns that are in memory."""

    names: list[str]
    columns: list[Any]


def needs_pyarrow(source: object) -> bool:
    """Whether ``source`` is a table or a column of a library, of which pyarrow reads the values."""
    return (
        hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__") or _is(source, *PANDAS)
    )


def is_stream(source: object) -> bool:
    """Whether ``source`` hands out Arrow batches, and has neither columns nor values to ask for."""
    return hasattr(source, "__arrow_c_stream__") and not (is_frame(source) or is_column(source))


def is_frame(source: object) -> bool:
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


def is_dataset(source: object) -> bool:
    """Whether ``source`` is a data set of the library `datasets`, in memory or streamed."""
    return _is(source, "datasets Dataset", "datasets IterableDataset")


def split_of(source: Any, split: str = "train") -> tuple[Any, str]:
    """One split of a `DatasetDict`, and words that say so; anything else as it is."""
    if not _is(source, "datasets DatasetDict", "datasets IterableDatasetDict"):
        return source, ""
    listed = ", ".join(map(str, source)) or "none"
    name = split if split in source else next(iter(source), "") if len(source) == 1 else ""
    if not name:
        raise InputError(
            f"a {name_of(source)} has no split `{split}`; its splits are {listed}",
            hint="give one of them: data['NAME']",
        )
    return source[name], f"the split `{name}`, "


def dataset_parts(source: Any, request: ColumnRequest, origin: Origin) -> Parts:
    """Parts of a data set of the library `datasets`; numbers of classes become their names."""
    import pyarrow as pa

    features = source.features or {}
    names = {name: kind.names for name, kind in features.items() if _is(kind, "datasets ClassLabel")}
    if features:
        request.positions(origin.where, list(features))  # what is missing is told of though there are no rows

    def batches() -> Iterator[Any]:
        for table in source.with_format("arrow").iter(batch_size=SLICE_ROWS):
            chosen = [table.column_names[at] for at in request.positions(origin.where, table.column_names)]
            columns = [_joined(table[name]) for name in chosen]
            for at, name in enumerate(chosen):
                if name in names:
                    numbers = [None if k is None or k < 0 else k for k in columns[at].to_pylist()]
                    columns[at] = pa.array(names[name]).take(pa.array(numbers, pa.int64()))
            yield pa.RecordBatch.from_arrays(columns, names=chosen)

    return arrow_parts(batches(), origin)


def speaks_arrow(source: object) -> bool:
    """Whether ``source`` is a table, a column or a stream, rather than an iterable of Python objects."""
    return is_frame(source) or is_column(source) or is_stream(source) or is_dataset(source)


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


def table_parts(
    table: Table, labels: Column | None, weights: Column | None, request: ColumnRequest, origin: Origin
) -> Parts:
    """Parts of columns in memory, which are sliced and not copied."""
    chosen = request.positions(origin.where, table.names)
    names = [table.names[at] for at in chosen]
    cuts = [_pieces(table.columns[at], table.names[at], request) for at in chosen]
    label_cut = None if labels is None else _pieces(labels, "label", request)[1]
    weight_cut = None if weights is None else _pieces(weights, "weight", request)[1]
    for start, stop in _slices(cuts[0][0] if cuts else []):
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


def stream_parts(source: object, request: ColumnRequest, origin: Origin) -> Parts:
    """Parts of an Arrow stream as it comes, never all of it at once."""
    import pyarrow as pa

    try:
        with pa.RecordBatchReader.from_stream(source) as read:
            chosen = request.positions(origin.where, read.schema.names)
            yield from arrow_parts((part.select(chosen) for part in read), origin)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{origin.where} cannot be read: {error}") from error


def column_of(source: object) -> Any:
    """``source`` as a column with a length and positions if it is one; else ``source`` itself."""
    is_given = hasattr(source, "__arrow_c_array__") and is_column(source)
    if is_given or _is(source, "pandas Categorical"):
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


def _slices(lengths: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Start and stop of each slice of columns that consist of pieces of ``lengths`` rows."""
    end = 0
    for length in lengths:
        start, end = end, end + length
        for cut in range(start, end, SLICE_ROWS):
            yield cut, min(cut + SLICE_ROWS, end)


def _pieces(
    column: Column, name: str, request: ColumnRequest
) -> tuple[list[int], Callable[[int, int], Values]]:
    """The lengths of the pieces a column consists of, and how to cut it; numbers without a copy."""
    lengths, cut = _cuts(column)

    def values(start: int, stop: int) -> Values:
        given = cut(start, stop)
        return Values(*request.as_read(given, name), given)

    return lengths, values


def _cuts(column: Column) -> tuple[list[int], Callable[[int, int], Raw]]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return [len(column)], lambda start, stop: column[start:stop]
    if _is(column, "pandas Series") and column.dtype != object:
        return [len(column)], partial(_cut_pandas, column)
    if _is(column, "pandas Series") or not is_column(column):  # perhaps Python objects of several types
        return [len(column)], partial(_cut_list, column)
    whole = _chunked(column)
    return [len(chunk) for chunk in whole.chunks], lambda start, stop: _joined(whole[start:stop])


def _cut_list(column: Column, start: int, stop: int) -> list[object]:
    """The slice of a list, a NumPy array, or anything else with a length and positions."""
    by_position: Any = getattr(column, "iloc", column)  # a pandas Series is otherwise sliced by its index
    part = by_position[start:stop]
    for as_list in ("tolist", "to_list", "to_pylist"):  # of NumPy and pandas, polars, pyarrow
        if hasattr(part, as_list):
            listed: list[object] = getattr(part, as_list)()
            return listed
    return list(part)


def _cut_pandas(column: Column, start: int, stop: int) -> Raw:
    import pyarrow as pa

    try:
        part = pa.array(column.iloc[start:stop], from_pandas=True)
    except (pa.ArrowException, TypeError):  # types that only pandas knows, such as periods
        return _cuts(column.to_numpy())[1](start, stop)
    return _joined(part) if isinstance(part, pa.ChunkedArray) else part


def _chunked(column: object) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    return pa.chunked_array([pa.array(column)])


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
