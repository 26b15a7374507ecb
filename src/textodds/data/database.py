"""Tables of databases and the results of SQL queries.

DuckDB runs the queries, and reads its own files. SQLite files go through Python's `sqlite3`, because
DuckDB would first have to download its extension for them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from textodds.data import files
from textodds.data.admission import Parts
from textodds.data.batch import BATCH_ROWS
from textodds.data.columns import ColumnRequest
from textodds.data.files import SQLITE_MAGIC, File
from textodds.data.frames import arrow_parts
from textodds.data.rejects import Origin
from textodds.data.row_parts import row_parts
from textodds.errors import BadFile, InputError, require

if TYPE_CHECKING:
    import sqlite3

DUCKDB_TABLES = "SELECT table_name FROM information_schema.tables ORDER BY 1"
SQLITE_TABLES = """
    SELECT name FROM sqlite_master
    WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY 1
"""


def parts(file: File | None, query: str | None, request: ColumnRequest) -> Parts:
    """Parts of the rows of a query or, without one, of the only table of ``file``.

    Without a file the query runs in an empty database in memory, and can name files itself:
    ``SELECT body AS text, kind AS label FROM 'mail/*.parquet'``. Rows come in the order of the query;
    to be sure that two passes see the same order, give it an ORDER BY.
    """
    origin = _origin(file)
    if _is_sqlite(file):
        with _sqlite(file, query) as cursor:
            names = [column[0] for column in cursor.description]
            rows = ((row, None, None, at, None) for at, row in enumerate(cursor, start=1))
            yield from row_parts(rows, names, request, origin)
    elif file is None or file.size:
        with _duckdb(file, query) as relation:
            read = _record_batches(relation, request.with_kept(origin.where, relation.columns))
            yield from arrow_parts(read, origin)


def _is_sqlite(file: File | None) -> TypeGuard[File]:
    return file is not None and files.head(file.path, len(SQLITE_MAGIC)) == SQLITE_MAGIC


@contextlib.contextmanager
def _duckdb(file: File | None, query: str | None) -> Iterator[Any]:
    """The relation that ``query`` returns, or that is the only table of ``file``."""
    require("duckdb", "pyarrow", why="a DuckDB file or a query")
    import duckdb
    import pyarrow as pa

    origin = _origin(file)
    if file is not None and not files.is_utf8(file.path):
        raise BadFile(f"DuckDB cannot open `{file.name}`, whose name is not UTF-8", hint="rename it")
    try:
        with duckdb.connect() if file is None else duckdb.connect(file.path, read_only=True) as connection:
            if query is None:
                tables = [table for (table,) in connection.sql(DUCKDB_TABLES).fetchall()]
                query = _all_of_the_only(tables, origin.where)
            relation = connection.sql(query)
            if relation is None:
                raise InputError("the query returns no rows", hint="end it with a SELECT")
            yield relation
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise _refused("DuckDB", file, query, error) from error


def _record_batches(relation: Any, positions: list[int]) -> Any:
    import duckdb

    columns = [duckdb.ColumnExpression(relation.columns[at]) for at in positions]
    return relation.select(*columns).to_arrow_reader(BATCH_ROWS)


@contextlib.contextmanager
def _sqlite(file: File, query: str | None) -> Iterator[sqlite3.Cursor]:
    """The rows that ``query`` returns, or those of the only table."""
    import sqlite3

    origin = _origin(file)
    address = f"{Path(file.path).absolute().as_uri()}?mode=ro"
    try:
        # A pass that is begun to find the kinds of columns may go on in the thread that reads ahead.
        connecting = sqlite3.connect(address, uri=True, check_same_thread=False)
        with contextlib.closing(connecting) as connection:
            if query is None:
                tables = [table for (table,) in connection.execute(SQLITE_TABLES)]
                query = _all_of_the_only(tables, origin.where)
            connection.text_factory = _text  # SQLite does not check that its text is UTF-8; we do
            cursor = connection.execute(query)
            if cursor.description is None:
                raise InputError("the query returns no rows", hint="make it a SELECT")
            yield cursor
    except (sqlite3.Error, sqlite3.Warning) as error:  # a Warning is raised for two statements at once
        raise _refused("SQLite", file, query, error) from error


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw  # found out among the strings, where the column has a name


def _origin(file: File | None) -> Origin:
    return Origin("the query" if file is None else file.name, "row")


def _all_of_the_only(tables: list[str], where: str) -> str:
    if len(tables) != 1:
        listed = ", ".join(f"`{table}`" for table in tables)
        raise InputError(
            f"`{where}` has no tables" if not tables else f"`{where}` has {len(tables)} tables: {listed}",
            hint="say what to read with `--query 'SELECT text, label FROM …'` (query='SELECT …')",
        )
    quoted = tables[0].replace('"', '""')
    return f'SELECT * FROM "{quoted}"'


def _refused(engine: str, file: File | None, query: str | None, error: Exception) -> InputError:
    if query is None:
        assert file is not None
        return BadFile(
            f"`{file.name}` cannot be read as a database: {error}",
            hint="name its format with `--format` (format=), or copy the file again",
        )
    return InputError(f"{engine} could not run the query: {error}", hint=f"the query was: {query}")
