"""How a file, frame or database is read, and what happens to a bad row: any source as a stream of batches.

Read `dispatch` first (which reader a source goes to), then `source` and `batch` (texts) or `table_source` and
`table_batch` (tables), then the reader: `lines`, `jsonl`, `parquet`, `database`, `folder`, `frames`,
`in_memory`. `columns` finds the columns that are meant, `schema` and `kinds` what they hold, `rejects` keeps
bad rows.

From outside: the names below.
"""

from textodds.data.batch import Batch, Texts
from textodds.data.dispatch import read, read_table
from textodds.data.observer import Observer
from textodds.data.options import READ_OPTIONS, ReadOptions
from textodds.data.prefetch import prefetched
from textodds.data.rejects import Rejects
from textodds.data.schema import KINDS, Column, Schema
from textodds.data.source import Source
from textodds.data.table_batch import TableBatch
from textodds.data.table_source import TableSource

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
