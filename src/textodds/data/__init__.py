"""How a file, frame or database is read, and what happens to a bad row: any source as a stream of batches.

Read `dispatch` first (which reader a source goes to), then `source` and `batch` (texts) or `table_source` and
`table_batch` (tables), then the reader: `lines`, `jsonl`, `parquet`, `database`, `folder`, `frames`,
`in_memory`. `columns` finds the columns that are meant, `schema` and `kinds` what they hold, `rejects` keeps
bad rows.

From outside: the names below.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textodds.data.batch import Batch, Texts
from textodds.data.dispatch import read
from textodds.data.observer import Observer
from textodds.data.options import READ_OPTIONS, ReadOptions
from textodds.data.prefetch import prefetched
from textodds.data.rejects import Rejects
from textodds.data.source import Source

if TYPE_CHECKING:
    from textodds.data.schema import KINDS, Column, Schema
    from textodds.data.table_batch import TableBatch
    from textodds.data.table_source import TableSource
    from textodds.data.tables import read_table

__all__ = [
    "KINDS",
    "READ_OPTIONS",
    "Batch",
    "Column",
    "Observer",
    "ReadOptions",
    "Rejects",
    "Schema",
    "Source",
    "TableBatch",
    "TableSource",
    "Texts",
    "prefetched",
    "read",
    "read_table",
]

_OF_TABLES = {
    "KINDS": "schema",
    "Column": "schema",
    "Schema": "schema",
    "TableBatch": "table_batch",
    "TableSource": "table_source",
    "read_table": "tables",
}


def __getattr__(name: str) -> Any:
    """Import what is about tables when it is first wanted: texts are read without."""
    if name not in _OF_TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"textodds.data.{_OF_TABLES[name]}"), name)
