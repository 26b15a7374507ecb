"""Any source of labelled texts or of tables, as a stream of batches."""

from textodds.data.batch import Batch, Texts
from textodds.data.dispatch import read
from textodds.data.prefetch import prefetched
from textodds.data.rejects import Rejects
from textodds.data.schema import KINDS, Column, Schema
from textodds.data.source import Source
from textodds.data.table_batch import TableBatch
from textodds.data.table_source import TableSource
from textodds.data.tables import read_table

__all__ = [
    "KINDS",
    "Batch",
    "Column",
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
