"""Which rows of a change are new to the ids of a model, or known to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textodds.data import Batch
from textodds.data.batch import taken
from textodds.errors import LengthMismatch

if TYPE_CHECKING:
    from textodds.stats.document_ids import DocumentIds


class IdFilter:
    """Lets pass the rows whose ids are new to a ledger (``sign`` 1), or known to it (-1); without one, all.

    ``ids`` are those of all rows, in order. ``rows`` counts what has passed, ``left_out`` what has not.
    """

    def __init__(self, ledger: DocumentIds | None, ids: Sequence[str], sign: int) -> None:
        self._ledger, self._ids, self._sign = ledger, ids, sign
        self.has_ids = ledger is not None
        self.rows = self.left_out = 0

    def passing(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The rows that are to be learned, or forgotten."""
        for batch in batches:
            if self._ledger is None:
                self.rows += len(batch)
                yield batch
                continue
            start, labels = self.rows + self.left_out, batch.label_list()
            ids = self._ids[start : start + len(batch)]
            self._ledger, passes = self._ledger.changed(ids, labels, self._sign)
            rows = np.flatnonzero(passes).tolist()
            self.rows += len(rows)
            self.left_out += len(batch) - len(rows)
            if rows:
                weights = None if batch.weights is None else batch.weights[rows]
                yield Batch(taken(batch.texts, rows) or [], [labels[i] for i in rows], weights)

    def finish(self) -> DocumentIds | None:
        """The ledger after all rows."""
        if self.has_ids and self.rows + self.left_out != len(self._ids):
            raise LengthMismatch(self.rows + self.left_out, len(self._ids), "ids")
        return self._ledger
