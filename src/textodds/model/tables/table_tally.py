"""What is counted of a table: the statistics of all of its blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.errors import InputError, NoData
from textodds.model.tables.blocks import Block, Statistic, Words
from textodds.stats.moment_tally import MomentTally
from textodds.stats.tally import MEMORY, Additive, Tally, TallyBuilder


@dataclass(frozen=True, eq=False)
class TableTally(Additive):
    """The statistics of some blocks, of the same rows: whole numbers, so that sums are exact."""

    parts: tuple[Statistic, ...]

    @classmethod
    def count(
        cls,
        batches: Iterable[Batch],
        blocks: Sequence[Block],
        *,
        threads: int | None = None,
        memory: int = MEMORY,
    ) -> TableTally:
        """The tally of a stream of batches, in one pass."""
        sums: list[Statistic | None] = [None] * len(blocks)
        # A vocabulary is merged once, at the end, rather than batch by batch.
        words = {
            at: TallyBuilder(block.recipe.settings, threads=threads, memory=memory)
            for at, block in enumerate(blocks)
            if isinstance(block, Words)
        }
        rows = 0
        for batch in batches:
            if batch.labels is None:
                raise NoData("there are rows but no labels to learn from")
            if batch.weights is not None:  # as counts are: what rounds to nothing is nothing in every block
                batch = replace(batch, weights=np.round(batch.weights * 2.0**30) * 2.0**-30)
            for at, block in enumerate(blocks):
                if isinstance(block, Words):
                    words[at].add(block.texts(batch))
                else:
                    part: Any = block.count(batch, rows + 1)
                    sums[at] = part if sums[at] is None else sums[at] + part
            rows += len(batch)
        for at, counting in words.items():
            sums[at] = counting.finish()
        parts = [part for part in sums if part is not None]
        if not parts or len(parts) < len(blocks) or not parts[0].classes:
            raise NoData("there is nothing to learn from: no row has a weight above zero")
        return cls(tuple(parts))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, sorted."""
        return self.parts[0].classes

    def with_classes(self, classes: tuple[str, ...]) -> TableTally:
        """The same with other names for its classes, in the same order."""
        return TableTally(tuple(part.with_classes(classes) for part in self.parts))

    @property
    def class_rows(self) -> NDArray[np.float64]:
        """Weight of the rows of each class, (K,)."""
        return self.parts[0].class_rows

    @property
    def n_documents(self) -> float:
        """Total weight of the rows."""
        return float(self.class_rows.sum())

    @property
    def is_pruned(self) -> bool:
        """Whether rare words were dropped for want of memory."""
        return any(isinstance(part, Tally) and part.pruned for part in self.parts)

    def _combine(self, other: TableTally, sign: int) -> TableTally:
        if [type(part) for part in self.parts] != [type(part) for part in other.parts]:
            raise InputError("the tables have different blocks of columns")
        done: dict[int, Statistic] = {}
        pairs: Any = list(zip(self.parts, other.parts, strict=True))
        # Counts first: they know best whether what is taken away was ever there.
        for at in sorted(range(len(pairs)), key=lambda at: isinstance(pairs[at][0], MomentTally)):
            a, b = pairs[at]
            done[at] = a + b if sign > 0 else a - b
        return TableTally(tuple(done[at] for at in range(len(pairs))))
