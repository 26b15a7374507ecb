"""Any source of labelled text, as a stream of batches."""

from textodds.data.batch import Batch, Texts
from textodds.data.dispatch import read
from textodds.data.prefetch import prefetched
from textodds.data.rejects import Rejects
from textodds.data.source import Source

__all__ = ["Batch", "Rejects", "Source", "Texts", "prefetched", "read"]
