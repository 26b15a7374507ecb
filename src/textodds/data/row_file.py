"""Files of rows that are written, with answers behind their columns: CSV, TSV, JSON lines and Parquet."""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from textodds.data import files
from textodds.data.compression import packed, packing_of_name
from textodds.data.dialect import Dialect
from textodds.data.kept_rows import KeptRows
from textodds.data.schema import refuse_twice
from textodds.data.values import cut, is_null
from textodds.errors import InputError, require

if TYPE_CHECKING:
    import pyarrow as pa

    from textodds.data.source import Source

FORMATS = ("csv", "tsv", "jsonl", "parquet")

Column = Sequence[Any]


class RowFile(Protocol):
    """A file of rows that is being written, in one of `FORMATS`."""

    format: str

    def write(self, rows: KeptRows, answers: Mapping[str, object]) -> None:
        """Write rows, each with the columns of ``answers`` (N,) behind its own."""

    def finish(self, answers: Sequence[str]) -> None:
        """End the file; one without rows has the names of its columns where it can."""


def format_of_answers(path: str) -> str:
    """The format that the ending of a file to be written says.

    >>> format_of_answers("answers.csv.gz"), format_of_answers("answers.parquet")
    ('csv', 'parquet')
    """
    packing = packing_of_name(path)
    format_ = files.BY_SUFFIX.get(Path(path[: len(path) - len(packing)]).suffix.lower())
    if format_ not in FORMATS or (packing and format_ == "parquet"):
        raise InputError(
            f"cannot tell the format of `{path}` from its ending",
            hint="name it *.csv, *.tsv, *.jsonl or *.parquet; the first three also .gz, .bz2, .xz or .zst",
        )
    return format_


@contextlib.contextmanager
def row_file(path: Path, name: str, source: Source) -> Iterator[RowFile]:
    """The file of rows at ``path``, in the format that ``name`` says; written as their source is."""
    format_ = format_of_answers(name)
    if format_ == "parquet":
        with _Parquet(path, source) as parquet_file:
            yield parquet_file
        return
    with contextlib.ExitStack() as stack:
        stream: Any = stack.enter_context(path.open("wb"))
        if packing := packing_of_name(name):
            inner = stack.enter_context(packed(packing, name, stream))
            stream = stack.enter_context(io.BufferedWriter(inner, 1 << 18))
        text = stack.enter_context(io.TextIOWrapper(stream, "utf-8", "backslashreplace", ""))
        yield row_stream(text, format_, source)


def row_stream(stream: IO[str], format_: str, source: Source) -> RowFile:
    """Rows that go to a stream of text."""
    return _JsonLines(stream) if format_ == "jsonl" else _Delimited(stream, format_, source)


class _Columns:
    """The columns of the first rows, which all others have: by place, or else by name."""

    def __init__(self, where: str) -> None:
        self.names: list[str] | None = None
        self._where = where

    def aligned(self, rows: KeptRows) -> list[Any]:
        """The columns of some rows; None in the place of one that they lack."""
        names, columns = rows.taken_apart()
        if self.names is None:
            self.names = list(names)
        if list(names) == self.names:
            return list(columns)
        for name in names:
            if name not in self.names:
                raise InputError(
                    f"the first rows have no column `{name}`, and later ones do; {self._where} has a header",
                    hint="write JSON lines, whose rows may differ: `-o answers.jsonl`",
                )
        found = dict(zip(names, columns, strict=True))
        return [found.get(name) for name in self.names]


class _Delimited:
    """CSV or TSV: as the rows were written that are read, where these are the same format."""

    def __init__(self, stream: IO[str], format_: str, source: Source) -> None:
        dialect = source.dialect
        is_same = dialect is not None and dialect.format == format_
        self._dialect = dialect if is_same and dialect is not None else Dialect(format_)
        self._source, self._stream, self.format = source, stream, format_
        self._columns = _Columns("a table")
        self._separator: str | None = None

    def write(self, rows: KeptRows, answers: Mapping[str, object]) -> None:
        columns = self._columns.aligned(rows)
        if self._separator is None:
            self._begin(self._columns.names or [], list(answers))
        length = len(rows)
        cells = [[""] * length if column is None else _cells(column) for column in columns]
        cells += [_cells(column) for column in answers.values()]
        self._put(cells)

    def _begin(self, names: Sequence[str], answers: Sequence[str]) -> None:
        self._separator = self._dialect.separator(self._source.names or names)
        if self._dialect.header:
            self._put([[name] for name in (*names, *answers)])

    def _put(self, cells: Sequence[list[str]]) -> None:
        """Write columns of cells row by row; ten times as fast as `csv`, which looks at every character."""
        separator = self._separator or ","
        quoted = [self._quoted(column, separator) for column in cells]
        self._stream.writelines([separator.join(row) + "\n" for row in zip(*quoted, strict=True)])

    def _quoted(self, column: list[str], mark: str) -> list[str]:
        """A column of cells, each within quotes where it would break a line or a field."""
        if self._dialect.quoting:
            return [
                '"' + cell.replace('"', '""') + '"'
                if mark in cell or '"' in cell or "\n" in cell or "\r" in cell
                else cell
                for cell in column
            ]
        for cell in column:
            if mark in cell or "\n" in cell or "\r" in cell:
                raise InputError(
                    f"without quotes `{cut(cell)}` cannot be written, which holds a separator or a line end",
                    hint="write JSON lines instead: `-o answers.jsonl`",
                )
        return column

    def finish(self, answers: Sequence[str]) -> None:
        if self._separator is None:
            self._begin(self._source.kept_names, answers)


class _JsonLines:
    """JSON lines; objects that were read stay as they were written, and get more keys at their end."""

    format = "jsonl"

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, rows: KeptRows, answers: Mapping[str, object]) -> None:
        added = _objects(list(answers), list(answers.values()), len(rows))
        if rows.lines is None:
            refuse_twice("the data", list(rows.names))
            before = _objects(rows.names, rows.columns, len(rows))
        else:
            before = [line.decode() for line in rows.lines]
            _refuse_keys(before, answers)
        for one, more in zip(before, added, strict=True):
            inner = one[:-1].rstrip()
            self._stream.write(f"{inner}{'' if inner == '{' else ', '}{more[1:]}\n")

    def finish(self, answers: Sequence[str]) -> None:
        """Without rows there is nothing to write."""


def _refuse_keys(lines: Sequence[str], answers: Mapping[str, object]) -> None:
    """Fail where an object has the key of an answer already, though the first ones had not."""
    for name in answers:
        key = _ENCODER.encode(name)
        for line in lines:
            if key in line and name in json.loads(line):
                raise InputError(
                    f"a row has the key `{name}`, which the first rows have not, and the answer is called so",
                    hint="rename the key, or give it to the first row as well",
                )


def _objects(names: Sequence[str], columns: Sequence[object], length: int) -> list[str]:
    """Rows as JSON objects."""
    if not columns:
        return ["{}"] * length
    cells = [
        [f"{key}: {value}" for value in _as_json(column)]
        for key, column in zip(map(encode_basestring, names), columns, strict=True)
    ]
    return [f"{{{', '.join(row)}}}" for row in zip(*cells, strict=True)]


def _as_json(column: object) -> list[str]:
    """The values of a column as JSON."""
    values = _listed(column)
    if set(map(type, values)) <= {str}:  # the usual case, without a Python call per row
        return list(map(encode_basestring, values))
    return [_ENCODER.encode(_finite(value)) for value in values]


class _Parquet:
    """Parquet, in the types of the rows that are read."""

    format = "parquet"

    def __init__(self, path: Path, source: Source) -> None:
        require("pyarrow", why="writing Parquet")
        self._path, self._source, self._columns = path, source, _Columns("Parquet")
        self._writer: Any = None
        self._schema: pa.Schema | None = None

    def __enter__(self) -> _Parquet:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, rows: KeptRows, answers: Mapping[str, object]) -> None:
        import pyarrow as pa

        columns = self._columns.aligned(rows)
        names = [*(self._columns.names or []), *answers]
        kinds = [None] * len(names) if self._schema is None else [field.type for field in self._schema]
        arrays = [
            _array(name, column, kind, len(rows))
            for name, column, kind in zip(names, [*columns, *answers.values()], kinds, strict=True)
        ]
        if self._schema is None:
            self._begin(pa.schema([(name, each.type) for name, each in zip(names, arrays, strict=True)]))
        if len(rows):
            self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))

    def _begin(self, schema: pa.Schema) -> None:
        from pyarrow import parquet

        self._schema = schema
        self._writer = parquet.ParquetWriter(self._path, schema)

    def finish(self, answers: Sequence[str]) -> None:
        import pyarrow as pa

        if self._writer is None:
            self._begin(pa.schema([(name, pa.string()) for name in (*self._source.kept_names, *answers)]))


def _array(name: str, column: Any, kind: Any, length: int) -> Any:
    """A column as an Arrow array, of the ``kind`` of the rows before."""
    import pyarrow as pa

    try:
        if column is None:
            return pa.nulls(length, pa.string() if kind is None else kind)
        if isinstance(column, pa.Array):
            array = column
        elif isinstance(column, np.ndarray) and column.dtype.kind == "f":
            array = pa.array(column, pa.float64(), from_pandas=True)
        elif hasattr(column, "__arrow_c_array__"):
            array = pa.array(column)
        else:
            array = pa.array(list(column), kind)
        if kind is None and pa.types.is_null(array.type):
            return pa.nulls(length, pa.string())
        return array if kind is None or array.type == kind else array.cast(kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"column `{name}` has values of several types, which Parquet cannot hold: {error}",
            hint="write JSON lines instead: `-o answers.jsonl`",
        ) from error


def _listed(column: Any) -> list[Any]:
    """The values of a column as Python has them."""
    for as_list in ("tolist", "to_list", "to_pylist"):
        if hasattr(column, as_list):
            listed: list[Any] = getattr(column, as_list)()
            return listed
    return list(column)


def _cells(column: Any) -> list[str]:
    """The values of a column as they stand in CSV; nothing for a null, JSON for lists and structures."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return ["" if value != value else repr(value) for value in column.tolist()]
    values = _listed(column)
    if set(map(type, values)) <= {str}:
        return values
    return [value if type(value) is str else _cell(value) for value in values]


def _cell(value: object) -> str:
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return "|".join(each.replace("|", "\\|") for each in value)
    if is_null(value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list, tuple)):
        return _ENCODER.encode(_finite(value))
    return repr(value) if isinstance(value, float) else str(_plain(value))  # 3.0 stays a decimal number


def _finite(value: object) -> Any:
    """A value as JSON has it: without NaN or infinities, which it has not."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if value is not None and not isinstance(value, (str, int)) and is_null(value) else value


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain)
