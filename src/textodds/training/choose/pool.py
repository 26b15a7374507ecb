"""The documents that models are tried on: all there are, or a fair sample of many."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Observer, Schema, Source
from textodds.data.batch import taken
from textodds.learn.arrays import Floats, Integers
from textodds.learn.design import coded
from textodds.stats import tally
from textodds.stats.sample import Example, Reservoir, offer

MOST = 100_000
"""Texts that are kept; more would not change the choice, only its price."""

MEMORY = 512 << 20
"""Characters of text that are kept."""

CHARACTER = 10e-9
"""Seconds that an ordinary core takes to read one."""


class _Labelled:
    """N labelled documents."""

    labels: list[str]  # (N,)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def _coded(self) -> tuple[tuple[str, ...], Integers]:
        return coded(self.labels)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return self._coded[0]

    @property
    def codes(self) -> Integers:
        """The class of each document, (N,)."""
        return self._coded[1]


@dataclass(frozen=True, eq=False)
class Pool(_Labelled):
    """N labelled texts; in random order if they are a sample, so that the first n are a fair one too."""

    texts: list[str]  # (N,)
    labels: list[str]  # (N,)
    weights: Floats  # (N,)
    total: int  # texts that there are, kept or not

    noun = "text"

    @classmethod
    def of(cls, batches: Iterable[Batch], *, most: int = MOST, memory: int = MEMORY) -> Pool:
        """The pool of a stream of batches, in one pass."""
        sample, total, weighed = Reservoir(most), 0, 0
        for batch in map(_weighing, batches):
            offer(sample, batch)
            total += len(batch)
            if total > 1.1 * weighed:  # now and then: adding up lengths costs as much as reading
                weighed = total
                while len(sample.kept) > 1 and sum(len(text) for text, _, _ in sample.kept) > memory:
                    sample.halve()
        order = np.random.default_rng(0).permutation(len(sample.kept))
        kept = [sample.kept[i] for i in order.tolist()]
        weights = np.array([weight for _, _, weight in kept], dtype=np.float64)
        return cls([text for text, _, _ in kept], [str(label) for _, label, _ in kept], weights, total)

    @classmethod
    def whole(cls, batches: Iterable[Batch]) -> Pool:
        """All texts, in their order."""
        texts: list[str] = []
        labels: list[str] = []
        weights = [np.zeros(0)]
        for batch in batches:
            texts += taken(batch.texts, list(range(len(batch)))) or []
            labels += batch.label_list()
            weights.append(np.ones(len(batch)) if batch.weights is None else batch.weights)
        return cls(texts, labels, np.concatenate(weights), len(texts))

    @cached_property
    def mean_size(self) -> float:
        """Characters of a text, on average."""
        return sum(map(len, self.texts)) / max(len(self), 1)

    def head(self, n: int) -> Pool:
        """The first n texts."""
        return Pool(self.texts[:n], self.labels[:n], self.weights[:n], self.total)

    def at(self, rows: NDArray[np.intp]) -> Pool:
        """Some of the texts."""
        numbers = rows.tolist()
        texts, labels = [self.texts[i] for i in numbers], [self.labels[i] for i in numbers]
        return Pool(texts, labels, self.weights[rows], self.total)

    @property
    def batch(self) -> Batch:
        """The texts as a model reads them."""
        return Batch(self.texts, self.labels, self.weights)

    def examples(self) -> list[Example]:
        """The texts with their labels and weights."""
        return [Example(*row) for row in zip(self.texts, self.labels, self.weights.tolist(), strict=True)]

    def contents(self) -> Sequence[str]:
        """What tells a text from others, labels apart."""
        return self.texts


@dataclass(frozen=True, eq=False)
class TablePool(_Labelled):
    """N labelled rows of a table; ``said`` is what a user said that columns are."""

    rows: Batch
    schema: Schema
    said: Mapping[str, str]

    noun = "row"

    @classmethod
    def whole(cls, batches: list[Batch], schema: Schema, said: Mapping[str, str]) -> TablePool:
        """All rows, in their order."""
        from textodds.data.batch import joined_rows

        return cls(joined_rows(batches) if batches else Batch({}, [], None), schema, said)

    @cached_property
    def labels(self) -> list[str]:  # type: ignore[override]
        """The label of each row, (N,)."""
        return self.rows.label_list()

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns that are read are."""
        return {column.name: column.kind for column in self.schema.used}

    def at(self, rows: NDArray[np.intp]) -> TablePool:
        """Some of the rows."""
        return replace(self, rows=self.rows.take(rows))

    def contents(self) -> Sequence[str]:
        """What tells a row from others, labels apart."""
        columns = self.rows.columns.values()
        listed = (each.tolist() if isinstance(each, np.ndarray) else each.to_pylist() for each in columns)
        return [repr(row) for row in zip(*listed, strict=True)]


@dataclass(frozen=True, eq=False)
class PooledSource:
    """A pool, and how the source is read for learning."""

    pool: Pool
    batches: Iterable[Batch] | None  # to learn from instead of the source, which cannot be read again
    is_endless: bool  # whether texts are left that were never looked at: a stream of more than memory holds

    @property
    def seconds(self) -> float:
        """That an ordinary core takes to read it."""
        return CHARACTER * self.pool.total * self.pool.mean_size


def pool_of(data: Source, observer: Observer | None = None, *, memory: int = tally.MEMORY) -> PooledSource:
    """The pool of a source, read once; of a stream as much as memory holds, and that is kept."""
    batches = (observer or Observer()).watched(data, data.ahead(), "reading")
    if data.replayable:
        pool = Pool.of(batches)
        return PooledSource(pool, None, False)
    stream, size = iter(batches), 0
    kept: list[Batch] = []
    for batch in stream:
        kept.append(batch)
        size += _size(batch)
        if size > memory:
            break
    is_endless = size > memory
    left = itertools.chain(kept, stream) if is_endless else kept
    return PooledSource(Pool.of(kept), left, is_endless)


def _size(batch: Batch) -> int:
    texts = batch.texts
    return sum(map(len, texts)) if isinstance(texts, list) else int(getattr(texts, "nbytes", 64 * len(texts)))


def _weighing(batch: Batch) -> Batch:
    """The rows of a batch that have a weight: the others say nothing."""
    if batch.weights is None or batch.weights.all():
        return batch
    rows = np.flatnonzero(batch.weights).tolist()
    return Batch(taken(batch.texts, rows) or [], taken(batch.labels, rows), batch.weights[rows])


def split(codes: Integers, share: float, seed: int) -> tuple[Integers, Integers]:
    """Rows to learn from and rows that are held out, in their order; a ``share`` of every class.

    A class of n rows gives ``share`` n of them, rounded, but keeps one: what is never shown cannot be
    learned.

    >>> learned, held = split(np.array([0] * 10 + [1] * 5), 0.2, seed=0)
    >>> len(learned), np.bincount(np.array([0] * 10 + [1] * 5)[held]).tolist()
    (12, [2, 1])
    """
    random = np.random.default_rng(seed)
    held = np.zeros(len(codes), dtype=np.bool_)
    for k in range(int(codes.max(initial=-1)) + 1):
        own = random.permutation(np.flatnonzero(codes == k))
        held[own[: min(int(share * len(own) + 0.5), len(own) - 1)]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
