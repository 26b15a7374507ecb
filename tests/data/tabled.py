"""The rows of a table one by one, and the same table in every form a source can have."""

import contextlib
import csv
import gzip
import json
import math
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

from textodds.data import Source, read


def read_table(source, *args, **options):
    """`read` of a table: all columns, unless a schema names them."""
    return read(source, *args, **options if "schema" in options else {"columns": {}, **options})


def cells(column):
    """A column of a batch as a list, None where a value is missing."""
    if isinstance(column, np.ndarray):
        assert column.dtype == np.float64
        return [None if math.isnan(value) else value for value in column.tolist()]
    assert column.type in (pa.string(), pa.large_string())
    return column.to_pylist()


def rows(source, *args, **options):
    """Each row as a dict, with `LABEL` and `WEIGHT`; a source can be given as to `read`."""
    if not isinstance(source, Source):
        source = read_table(source, *args, **options)
    listed = []
    for batch in source:
        assert len(batch) > 0
        assert list(batch.columns) == [column.name for column in source.schema.used]
        columns = {name: cells(column) for name, column in batch.columns.items()}
        if batch.labels is not None:
            columns["LABEL"] = batch.label_list()
        if batch.weights is not None:
            columns["WEIGHT"] = batch.weights.tolist()
        assert {len(column) for column in columns.values()} == {len(batch)}
        listed += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return listed


def kinds(source, *args, **options):
    """The kind of each column by name."""
    return {column.name: column.kind for column in read_table(source, *args, **options).schema.columns}


class OnlyAStream:
    """Some other library's table, of which nothing is known but the stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def dicts(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_csv(path, columns, delimiter=",", pack=bytes):
    lines = []

    class Lines:
        write = staticmethod(lines.append)

    writer = csv.writer(Lines, delimiter=delimiter)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if value is None else str(value) for value in row])
    path.write_bytes(pack("".join(lines).encode()))
    return path


def write_jsonl(path, columns, pack=bytes):
    path.write_bytes(pack("\n".join(json.dumps(row) for row in dicts(columns)).encode()))
    return path


def write_parquet(path, columns):
    parquet.write_table(pa.table(columns), path, row_group_size=2)
    return path


def write_duckdb(path, columns):
    table = pa.table(columns)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    return path


def write_sqlite(path, columns):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE rows ({', '.join(map(json.dumps, columns))})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", zip(*columns.values(), strict=True))
        connection.commit()
    return path


FORMS = {
    "csv": lambda folder, columns: write_csv(folder / "t.csv", columns),
    "csv with semicolons": lambda folder, columns: write_csv(folder / "t.csv", columns, ";"),
    "csv.gz": lambda folder, columns: write_csv(folder / "t.csv.gz", columns, pack=gzip.compress),
    "tsv": lambda folder, columns: write_csv(folder / "t.tsv", columns, "\t"),
    "csv without a suffix": lambda folder, columns: write_csv(folder / "t", columns),
    "jsonl": lambda folder, columns: write_jsonl(folder / "t.jsonl", columns),
    "jsonl.gz": lambda folder, columns: write_jsonl(folder / "t.jsonl.gz", columns, gzip.compress),
    "parquet": lambda folder, columns: write_parquet(folder / "t.parquet", columns),
    "duckdb": lambda folder, columns: write_duckdb(folder / "t.duckdb", columns),
    "sqlite": lambda folder, columns: write_sqlite(folder / "t.sqlite", columns),
    "pyarrow Table": lambda folder, columns: pa.table(columns),
    "pyarrow RecordBatch": lambda folder, columns: pa.record_batch(columns),
    "pyarrow RecordBatchReader": lambda folder, columns: pa.table(columns).to_reader(max_chunksize=2),
    "an Arrow stream": lambda folder, columns: OnlyAStream(pa.table(columns)),
    "pandas DataFrame": lambda folder, columns: pd.DataFrame(columns),
    "pandas DataFrame of objects": lambda folder, columns: pd.DataFrame(columns, dtype=object),
    "polars DataFrame": lambda folder, columns: pl.DataFrame(columns, strict=False),
    "a dict of lists": lambda folder, columns: columns,
    "a dict of arrays": lambda folder, columns: {
        name: np.array(column, dtype=object) for name, column in columns.items()
    },
    "a list of dicts": lambda folder, columns: dicts(columns),
    "an iterator of dicts": lambda folder, columns: iter(dicts(columns)),
}

READERS = [
    "csv",
    "jsonl.gz",
    "parquet",
    "duckdb",
    "sqlite",
    "pyarrow Table",
    "pyarrow RecordBatchReader",
    "pandas DataFrame of objects",
    "polars DataFrame",
    "a dict of arrays",
    "an iterator of dicts",
]
"""Of the forms that one reader reads, one: for what is decided once the rows are read."""
