"""How a file, frame or database is read, and what happens to a bad row: any source as a stream of batches.

Read `reader` first (what a source is, and who reads it), then `source` and `batch`, then the formats:
`lines`, `jsonl`, `parquet`, `database`, `excel`, `mail`, `folder`, `frames`, `objects`. `encoding` is for
text that is not UTF-8. `columns` finds the columns that are meant, `table_request` those of a table, `schema`
and `kinds` say what they hold, `row_parts` gathers rows of Python objects, `admission` checks every value and
`rejects` counts bad rows.

From outside: the names below.
"""

from textodds.data.batch import Batch, Texts
from textodds.data.read_options import READ_OPTIONS, ReadOptions
from textodds.data.reader import read
from textodds.data.rejects import Rejects
from textodds.data.schema import KINDS, Column, Schema
from textodds.data.source import Observer, Source, prefetched

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
    "Texts",
    "prefetched",
    "read",
]
