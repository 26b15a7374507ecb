"""Data read into memory as rows: texts, or the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from textodds.data import read, read_table
from textodds.errors import InputError, MissingColumn
from textodds.study.compare.rows import Rows, TableRows, TextRows
from textodds.training.train import _is_table, may_be_table

if TYPE_CHECKING:
    from textodds.data import Schema, TableSource

Watch = Callable[[Any], Iterable[Any]]


def rows_of(
    source: Any,
    labels: Any,
    *,
    text: str | None,
    columns: Mapping[str, str] | None,
    of_tables: bool,
    **reading: Any,
) -> tuple[Rows, str]:
    """The rows of a source, and what it is: texts or, where there is no column of texts, those of a table."""
    if of_tables and text is not None:
        raise InputError("`text` is the one column that is read", hint="leave it out; all columns are read")
    if not of_tables and not (text is None and _is_table(source, labels)):
        data = read(source, labels, text=text, **reading)
        try:
            return TextRows.of(data), data.description
        except MissingColumn as error:
            if text is not None or not may_be_table(error, None, data):
                raise
    found = opened_table(source, labels, columns=columns, **reading)
    return table_rows(found, columns), found.description


def rows_like(rows: Rows, source: Any, labels: Any, *, text: str | None, **reading: Any) -> tuple[Rows, str]:
    """The rows of another source, read in the same way, and what it is."""
    if isinstance(rows, TextRows):
        data = read(source, labels, text=text, **reading)
        return TextRows.of(data), data.description
    found = read_table(source, labels, schema=rows.schema, **reading)
    return table_rows(found, rows.said), found.description


def opened_table(
    source: Any, labels: Any, *, columns: Mapping[str, str] | None, **reading: Any
) -> TableSource:
    """The source of a table, its columns as they are said or found to be."""
    from textodds.training.table_columns import kinds_of

    return read_table(source, labels, kinds=kinds_of(columns or {}), **reading)


def table_rows(
    source: TableSource, columns: Mapping[str, str] | None, watch: Watch = lambda batches: batches
) -> TableRows:
    """The rows of an opened source."""
    schema: Schema = source.schema
    return TableRows.of(list(watch(source)), schema, columns or {})
