"""The texts that candidates are tried on: all there are, or a fair sample of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.batch import taken
from textodds.learn.design import coded
from textodds.stats.sample import Example, Reservoir, offer

MOST = 100_000
"""Texts that are kept; more would not change the choice, only its price."""

MEMORY = 512 << 20
"""Characters of text that are kept."""


@dataclass(frozen=True, eq=False)
class Pool:
    """N labelled texts in random order, so that the first n are a fair sample too."""

    texts: list[str]  # (N,)
    labels: list[str]  # (N,)
    weights: NDArray[np.float64]  # (N,)
    total: int  # texts that there are, kept or not

    @classmethod
    def of(cls, batches: Iterable[Batch], *, most: int = MOST, memory: int = MEMORY) -> Pool:
        """The pool of a stream of batches, in one pass."""
        sample, total, weighed = Reservoir(most), 0, 0
        for batch in map(_weighing, batches):
            offer(sample, batch)
            total += len(batch)
            if total > 1.1 * weighed:  # now and then: adding up lengths costs as much as reading
                weighed = total
                while len(sample.kept) > 1 and _size(sample.kept) > memory:
                    sample.halve()
        order = np.random.default_rng(0).permutation(len(sample.kept))
        kept = [sample.kept[i] for i in order.tolist()]
        weights = np.array([weight for _, _, weight in kept], dtype=np.float64)
        return cls([text for text, _, _ in kept], [str(label) for _, label, _ in kept], weights, total)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def is_whole(self) -> bool:
        """Whether these are all texts that there are."""
        return len(self) == self.total

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return coded(self.labels)[0]

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The class of each text, (N,)."""
        return coded(self.labels)[1]

    @cached_property
    def mean_size(self) -> float:
        """Characters of a text, on average."""
        return sum(map(len, self.texts)) / max(len(self), 1)

    def head(self, n: int) -> Pool:
        """The first n texts."""
        return Pool(self.texts[:n], self.labels[:n], self.weights[:n], self.total)

    def batch(self, rows: NDArray[np.intp] | None = None) -> Batch:
        """All texts, or some of them."""
        if rows is None:
            return Batch(self.texts, self.labels, self.weights)
        numbers = rows.tolist()
        return Batch([self.texts[i] for i in numbers], [self.labels[i] for i in numbers], self.weights[rows])

    def examples(self, rows: NDArray[np.intp]) -> Iterator[Example]:
        """Some texts with their labels and weights."""
        for i in rows.tolist():
            yield Example(self.texts[i], self.labels[i], float(self.weights[i]))


def _weighing(batch: Batch) -> Batch:
    """The rows of a batch that have a weight: the others say nothing."""
    if batch.weights is None or batch.weights.all():
        return batch
    rows = np.flatnonzero(batch.weights).tolist()
    return Batch(taken(batch.texts, rows) or [], taken(batch.labels, rows), batch.weights[rows])


def _size(kept: list[tuple[str, str | None, float]]) -> int:
    return sum(len(text) for text, _, _ in kept)
