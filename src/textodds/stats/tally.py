r"""Counts that add and subtract: what is learned from data.

``tally(A) + tally(B) - tally(C) == tally(A ∪ B \ C)``, bit for bit. Learning in batches, on many
threads, on a cluster, merging models and forgetting documents are all this ``+`` and ``-``, and
nothing that depends on a choice (smoothing, priors, which words to use) is ever stored here.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds import _kernels
from textodds.data import Batch
from textodds.data.named_arrays import AnyArray
from textodds.data.values import WEIGHT_MOST
from textodds.errors import BadWeight, InputError, LengthMismatch, NoData, VocabularyPruned
from textodds.text import TextSettings, Vocabulary

MEMORY = 2 << 30  # bytes that counting may use for words and their counts before it drops the rarest


class Additive:
    """Adds and subtracts its own kind, by one method for both."""

    def _combine(self, other: Self, sign: int) -> Self:
        """``self + other`` where ``sign`` is 1, ``self - other`` where it is -1."""
        raise NotImplementedError

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        """The same with other names for its classes, in the same order."""
        return replace(self, classes=classes)  # type: ignore[type-var]

    def __add__(self, other: Self) -> Self:
        return self._combine(other, 1) if isinstance(other, type(self)) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self._combine(other, -1) if isinstance(other, type(self)) else NotImplemented


@dataclass(frozen=True, eq=False)
class Tally(Additive):
    """Documents by class, and occurrences and documents by class and word.

    With K classes, V words and C non-zero pairs of them ("cells"), word by word: word v has the
    cells ``starts[v]`` to ``starts[v + 1]``. Counts are whole numbers of ``2**-fraction``, where
    fraction is 0 unless a weight was not whole; weights are rounded to multiples of 2**-30 as they
    come in. So sums are exact, whatever their order, and equal tallies are equal arrays.
    """

    fraction: int
    classes: tuple[str, ...]  # (K,) sorted
    class_documents: NDArray[np.int64]  # (K,)
    vocabulary: Vocabulary  # (V,)
    starts: NDArray[np.uint64]  # (V + 1,)
    class_of: NDArray[np.uint32]  # (C,)
    occurrences: NDArray[np.int64]  # (C,)
    documents: NDArray[np.int64]  # (C,)
    pruned: int = 0  # words in at most so many documents may be missing: counts are not exact

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        labels: Sequence[str],
        weights: ArrayLike | None = None,
        *,
        settings: TextSettings | None = None,
        threads: int | None = None,
    ) -> Tally:
        """The tally of some texts in memory.

        Examples
        --------
        >>> tally = Tally.of(["free phone", "see you", "free"], ["spam", "ham", "spam"])
        >>> tally.classes, tally.class_documents
        (('ham', 'spam'), array([1, 2]))
        >>> tally.table(["free", "see"])
        array([[0, 2],
               [1, 0]])
        >>> tally - Tally.of(["free"], ["spam"]) == Tally.of(["free phone", "see you"], ["spam", "ham"])
        True
        """
        return cls.count([batch_of(texts, labels, weights)], settings=settings, threads=threads)

    @classmethod
    def count(
        cls,
        batches: Iterable[Batch],
        *,
        settings: TextSettings | None = None,
        threads: int | None = None,
        memory: int = MEMORY,
    ) -> Tally:
        """The tally of a stream of batches, in one pass.

        ``memory`` bounds the bytes that words and counts take in the end; on the way, tables with room for
        more take up to four times that. Past it the words in fewest documents so far are dropped, and a
        `VocabularyPruned` warning says how many: the same ones for the same documents in the same order,
        whatever the threads and the batches. In another order others may be dropped; where none are,
        neither order nor anything else matters. A text of more n-grams than that has room for is refused.
        """
        counting = TallyBuilder(settings, threads=threads, memory=memory)
        for batch in batches:
            counting.add(batch)
        return counting.finish()

    @classmethod
    def _of_raw(cls, raw: _kernels.RawTally, pruned: int) -> Tally:
        fraction, classes, class_documents, keys, arena, starts, class_of, occurrences, documents = raw
        words = Vocabulary(keys, arena)
        return cls(
            fraction, tuple(classes), class_documents, words, starts, class_of, occurrences, documents, pruned
        )

    def _raw(self) -> _kernels.RawTally:
        documents, words = self.class_documents, self.vocabulary
        head = self.fraction, list(self.classes), documents, words.keys, words.arena
        return *head, self.starts, self.class_of, self.occurrences, self.documents

    def checked(self) -> Tally:
        """The tally, if its arrays fit together: for one that comes from a file."""
        nothing = Tally._of_raw(_kernels.Counter(TextSettings().analyser, 1, MEMORY).finish()[0], 0)
        return self._combine(nothing, 1)

    def _combine(self, other: Tally, sign: int) -> Tally:
        pruned = max(self.pruned, other.pruned)
        # A pruned tally may have dropped what is subtracted: it then stops at zero.
        return self._of_raw(_kernels.combine(self._raw(), other._raw(), sign, pruned > 0), pruned)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        mine, theirs = self._raw(), other._raw()
        return mine[:2] == theirs[:2] and all(map(np.array_equal, mine[2:], theirs[2:]))  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    @property
    def class_rows(self) -> NDArray[np.float64]:
        """Weight of the documents of each class, (K,)."""
        return self.class_documents * np.float64(2.0**-self.fraction)

    @property
    def n_documents(self) -> float:
        """Total weight of the documents."""
        return float(self.class_documents.sum()) * 2.0**-self.fraction

    @property
    def nbytes(self) -> int:
        """Memory that the counts take."""
        return sum(array.nbytes for array in self._raw()[2:])

    def cut(self, bits: int) -> list[Tally]:
        """The tally in ``2**bits`` parts, each with the words of a range of hashes.

        Parts of the same range add up to that part of the sum, so that many tallies can be added up in
        many places at once. The documents of classes are in the first.
        """
        return [self._of_raw(part, self.pruned) for part in _kernels.cut(self._raw(), bits)]

    def within(self, memory: int) -> Tally:
        """The tally without its rarest words if it takes more than so many bytes; as in `count`."""
        if self.nbytes <= memory or not len(self.vocabulary):
            return self
        cells = np.diff(self.starts).astype(np.int64)
        word_of = np.repeat(np.arange(len(cells)), cells)
        documents = np.bincount(word_of, self.documents, len(cells)) * 2.0**-self.fraction
        each = self.nbytes / max(len(self.class_of), 1)
        order = np.argsort(-documents, kind="stable")
        fitting = int(np.searchsorted(np.cumsum(cells[order] * each), memory / 2))  # and room for more
        least = documents[order[min(fitting, len(order) - 1)]]
        keep = documents > least
        here = keep[word_of]
        rest = replace(
            self,
            vocabulary=self.vocabulary.select(np.flatnonzero(keep)),
            starts=np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells[keep], dtype=np.uint64)]),
            class_of=self.class_of[here],
            occurrences=self.occurrences[here],
            documents=self.documents[here],
            pruned=max(self.pruned, math.ceil(least)),
        )
        return rest.checked()  # in the one form that counts have

    def table(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Occurrences of some words by class, (len(words), K), in units of ``2**-fraction``."""
        table = np.zeros((len(words), len(self.classes)), dtype=np.int64)
        for row, v in enumerate(self.vocabulary.find(words)):
            if v >= 0:
                cells = slice(int(self.starts[v]), int(self.starts[v + 1]))
                table[row, self.class_of[cells]] = self.occurrences[cells]
        return table

    def counts(self) -> Counts:
        """The counts as numbers, for estimation."""
        unit = np.float64(2.0**-self.fraction)
        return Counts(
            self.classes,
            self.class_rows,
            self.starts,
            self.class_of,
            self.occurrences * unit,
            self.documents * unit,
        )

    def fingerprint(self) -> str:
        """SHA-256 of the counts: equal for equal data, in any order and division."""
        import hashlib

        digest = hashlib.sha256(repr((self.fraction, self.classes)).encode())
        for array in self._raw()[2:]:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        return digest.hexdigest()


def batch_of(texts: Sequence[str], labels: Sequence[str], weights: ArrayLike | None = None) -> Batch:
    """A batch of texts in memory."""
    values = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    for others, name in ((labels, "labels"), (values, "weights")):
        if others is not None and len(others) != len(texts):
            raise LengthMismatch(len(texts), len(others), name)
    return Batch(list(texts), list(labels), values)


class TallyBuilder:
    """A tally in the making, batch by batch."""

    def __init__(
        self, settings: TextSettings | None = None, *, threads: int | None = None, memory: int = MEMORY
    ) -> None:
        settings = settings or TextSettings()
        self._counter = _kernels.Counter(settings.analyser, checked_threads(threads), memory)
        self._memory = memory

    def add(self, batch: Batch) -> None:
        """Count one more batch."""
        if batch.labels is None:
            raise NoData("there are texts but no labels to learn from")
        self._counter.add(batch.texts, batch.labels, batch.weights)

    def finish(self) -> Tally:
        """The tally of all batches."""
        raw, words, most = self._counter.finish()
        if words:
            warn_pruned(self._memory, most, f" ({words:,} in all)", stacklevel=4)
        return Tally._of_raw(raw, pruned=most)


def warn_pruned(memory: int, most: int, how_many: str = "", *, stacklevel: int = 3) -> None:
    """Say that words in at most so many documents were dropped to stay within memory."""
    warnings.warn(
        f"the vocabulary outgrew {memory / 2**20:.3g} MiB: words seen in at most {most} "
        f"documents were dropped on the way{how_many}, so that counts of rare words are too "
        "low; allow more memory, or hash words into a fixed number of buckets (hash_bits=22), which "
        "keeps counts exact",
        VocabularyPruned,
        stacklevel=stacklevel,
    )


class Sum:
    """Tallies added up as they come, each word touched about log n times for n of them, not n times."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._parts: list[Tally] = []  # each at least twice as large as the next
        self._memory = memory

    def add(self, tally: Tally) -> None:
        """Add one more."""
        self._parts.append(tally)
        while len(self._parts) > 1 and self._parts[-2].nbytes < 2 * self._parts[-1].nbytes:
            self._join_last()

    def total(self) -> Tally | None:
        """The sum; None of nothing."""
        while len(self._parts) > 1:
            self._join_last()
        return self._parts[0] if self._parts else None

    def _join_last(self) -> None:
        last = self._parts.pop()
        self._parts[-1] = (self._parts[-1] + last).within(self._memory)


@dataclass(frozen=True, eq=False)
class Counts:
    """A tally as floating-point numbers: what class-conditional distributions are estimated from.

    K classes, V features, C cells, feature by feature as in `Tally`.
    """

    classes: tuple[str, ...]  # (K,)
    class_documents: NDArray[np.float64]  # (K,)
    starts: NDArray[np.uint64]  # (V + 1,)
    class_of: NDArray[np.uint32]  # (C,)
    occurrences: NDArray[np.float64]  # (C,)
    documents: NDArray[np.float64]  # (C,)

    @property
    def n_features(self) -> int:
        """V."""
        return len(self.starts) - 1

    @cached_property
    def feature_of(self) -> NDArray[np.intp]:
        """Feature of each cell, (C,)."""
        return np.repeat(np.arange(self.n_features), np.diff(self.starts).astype(np.intp))

    def by_class(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of cell values over each class, (K,)."""
        return np.bincount(self.class_of, values, len(self.classes)).astype(np.float64, copy=False)

    def by_feature(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of cell values over each feature, (V,)."""
        return np.bincount(self.feature_of, values, self.n_features).astype(np.float64, copy=False)

    def binary(self) -> Counts:
        """The same with every feature counted once a document."""
        return replace(self, occurrences=self.documents)

    def select(self, keep: NDArray[np.bool_]) -> Counts:
        """The counts of the features in a mask (V,)."""
        cells = keep[self.feature_of]
        lengths = np.diff(self.starts)[keep]
        return replace(
            self,
            starts=np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)]),
            class_of=self.class_of[cells],
            occurrences=self.occurrences[cells],
            documents=self.documents[cells],
        )

    def insert(self, place: int, occurrences: NDArray[np.float64], *, new: bool = True) -> Counts:
        """The counts with occurrences by class (K,) added to feature ``place``, a ``new`` one or not.

        Each class's documents that hold it are taken to be as many, up to all of the class.
        """
        starts = np.insert(self.starts, place, self.starts[place]) if new else self.starts.copy()
        old = slice(int(starts[place]), int(starts[place + 1]))
        row = np.zeros((2, len(self.classes)))  # occurrences, documents
        row[:, self.class_of[old]] = self.occurrences[old], self.documents[old]
        row += occurrences
        row[1] = np.minimum(row[1], self.class_documents)
        classes = np.flatnonzero(row[0])
        starts[place + 1 :] += np.uint64(len(classes))
        starts[place + 1 :] -= np.uint64(old.stop - old.start)

        def exchanged(cells: AnyArray, by: AnyArray) -> AnyArray:
            return np.concatenate([cells[: old.start], by.astype(cells.dtype), cells[old.stop :]])

        return replace(
            self,
            starts=starts,
            class_of=exchanged(self.class_of, classes),
            occurrences=exchanged(self.occurrences, row[0, classes]),
            documents=exchanged(self.documents, row[1, classes]),
        )


def checked_weights(
    weights: ArrayLike, N: int, *, most: float = WEIGHT_MOST, first: int = 0
) -> NDArray[np.float64]:
    """Weights of N rows, (N,), none below zero or above ``most``; the first is that of row ``first``."""
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (N,):
        raise LengthMismatch(N, values.size, "weights")
    for row in np.flatnonzero(~((values >= 0) & (values <= most)))[:1]:
        rule = "a number from 0 to 2^32" if most == WEIGHT_MOST else "zero or more"
        raise BadWeight(f"row {first + row} has the weight {values[row]:g}; a weight is {rule}")
    return values


MOST_THREADS = 1024
"""More are a slip of the keyboard, and would take the machine down."""


def default_threads() -> int:
    """Threads to use: ``TEXTODDS_THREADS``, or one per core this process may use."""
    given = os.environ.get("TEXTODDS_THREADS", "")
    if given and not (given.isdecimal() and 1 <= int(given) <= MOST_THREADS):
        raise InputError(f"TEXTODDS_THREADS must be a whole number from 1 to {MOST_THREADS:,}, got {given!r}")
    if given:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """The number of threads asked for, or the default."""
    if threads is None:
        return default_threads()
    if not 1 <= threads <= MOST_THREADS:
        raise InputError(f"threads must be from 1 to {MOST_THREADS:,}, got {threads}")
    return threads


def narrow(counts: AnyArray) -> AnyArray:
    """The same whole numbers in the smallest type that holds them."""
    most = int(counts.max()) if len(counts) else 0
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32, np.int64) if most <= np.iinfo(kind).max)
    return counts.astype(kind)
