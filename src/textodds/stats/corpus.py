"""The documents that a model stands on, kept compactly, so that all that follows from them can be found.

Of a text is kept what decides its features: its words in their order, prepared, by number. Frequent words
take one byte, so that English takes a byte and a half a word, and any n-gram can be made again. With it stand
label, weight, and a hash of the text as it came, by which it is found when it is to be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch, Texts
from textodds.data.batch import BATCH_ROWS, taken
from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import InputError
from textodds.stats.document_set import KeptDocuments, must_have_classes
from textodds.stats.sample import LARGEST_SHARE, SAMPLE, UNIT, Example
from textodds.stats.tally import narrow
from textodds.text import TextSettings

Hashes: TypeAlias = NDArray[np.uint64]
Integers: TypeAlias = NDArray[np.int64]

MOST = 256 << 20
"""Bytes that kept documents may take; of more none are kept."""

PENDING = 64 << 20  # bytes of text that are held as they came before they are encoded
LOOKED_AT = 64  # texts of a batch that tell how many bytes it has
MANY = 32  # stores after which those of a few documents are joined


@dataclass(frozen=True, eq=False)
class _Encoded:
    """Texts by the numbers of their words; the kernel `encode_texts` says how."""

    arena: NDArray[np.uint8]
    ends: NDArray[np.uint64]
    codes: NDArray[np.uint8]
    starts: NDArray[np.uint64]
    between: int  # what stands between words

    @classmethod
    def of(cls, canonical: Texts, settings: TextSettings) -> _Encoded:
        between = _between(settings)
        return cls(*_kernels.encode_texts(canonical, between), between)

    @classmethod
    def joined(
        cls, stores: Sequence[_Encoded | _Pending], place: Integers, settings: TextSettings
    ) -> _Encoded:
        """The texts of some stores at these places, as `of` makes them, without all of them in memory."""
        encoded = [
            store
            if isinstance(store, _Encoded)
            else cls.of(store.canonical(np.arange(len(store)), settings), settings)
            for store in stores
        ]
        ends = np.cumsum([len(store) for store in encoded])
        which = np.searchsorted(ends, place, side="right")
        rows = place - (ends - [len(store) for store in encoded])[which]
        arrays = [(store.arena, store.ends, store.codes, store.starts) for store in encoded]
        return cls(*_kernels.join_texts(arrays, which, rows), _between(settings))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def size(self) -> int:
        return self.arena.nbytes + self.codes.nbytes + self.starts.nbytes

    def canonical(self, rows: Integers, settings: TextSettings) -> list[str]:
        return _kernels.decode_texts(
            self.arena, self.ends, self.codes, self.starts, self.between, rows
        ).to_list()


@dataclass(frozen=True, eq=False)
class _Pending:
    """Texts as they came, not yet encoded, of one batch or several."""

    texts: tuple[Texts, ...]

    def __len__(self) -> int:
        return sum(map(len, self.texts))

    @property
    def size(self) -> int:
        return sum(map(_size, self.texts)) // 3

    def canonical(self, rows: Integers, settings: TextSettings) -> list[str]:
        """The texts in some rows, which are in order."""
        found: list[str] = []
        first = 0
        for each in self.texts:
            own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + len(each))] - first
            some = each if len(own) == len(each) else taken(each, own.tolist()) or []
            found += settings.analyser.canonical(some).to_list()
            first += len(each)
        return found


def reread(settings: TextSettings) -> TextSettings:
    """The settings that read texts which are kept, and prepared already."""
    return replace(settings, lower=False, normal_form=None, strip_accents=False)


def _between(settings: TextSettings) -> int:
    return ord(" " if settings.analyser.keeps_all else "\n")


@dataclass(frozen=True, eq=False)
class Corpus(KeptDocuments):
    r"""N documents with label and weight, in the order of their hashes; they add and subtract.

    Two texts are one document if they have the same hash of 64 bits: of a million documents two different
    ones do with a probability of 3 in 100 million.

    Examples
    --------
    >>> corpus = Corpus.of([Batch(["Free phone!", "See you", "free"], ["spam", "ham", "spam"], None)])
    >>> len(corpus), corpus.classes, sorted(corpus.texts())
    (3, ('ham', 'spam'), ['free', 'free\nphone', 'see\nyou'])
    >>> less = corpus - Corpus.of([Batch(["See you"], ["ham"], None)])
    >>> less.classes, len(corpus + corpus - less)
    (('spam',), 4)
    """

    settings: TextSettings
    classes: tuple[str, ...]  # (K,) sorted, each with a document
    hashes: Hashes  # (N,) not decreasing
    codes: Integers  # (N,)
    weights: NDArray[np.float64]  # (N,)
    place: Integers  # (N,) where each text is among those stored
    stores: tuple[_Encoded | _Pending, ...]

    noun = content = "text"

    @classmethod
    def of(cls, batches: Iterable[Batch], settings: TextSettings | None = None) -> Corpus:
        """The documents of a stream of batches."""
        keeper = Keeper(settings or TextSettings(), most=None)
        for batch in batches:
            keeper.keep(batch)
        return keeper.corpus() or keeper.nothing()

    @property
    def reread(self) -> TextSettings:
        """The settings that find in kept texts the terms that `settings` find in the texts as they came."""
        return reread(self.settings)

    def prepared_like(self, settings: TextSettings) -> TextSettings:
        """Settings that cut as others do, and prepare texts as those of these documents were."""
        own = self.settings
        return replace(
            settings, lower=own.lower, normal_form=own.normal_form, strip_accents=own.strip_accents
        )

    def decides(self, settings: TextSettings) -> bool:
        """Whether kept texts have the terms that other settings find in the texts as they came.

        Texts that are kept whole have all that are prepared in the same way; those that are kept as tokens
        have the n-grams of the same tokens.
        """
        own = self.settings
        if self.prepared_like(settings) != settings or own.fields != settings.fields:
            return False
        if own.analyser.keeps_all:
            return True
        left_out = set(own.stop_words) <= set(settings.stop_words)
        return settings.unit == own.unit and settings.characters is None and left_out

    def cut_by(self, settings: TextSettings) -> Corpus:
        """The same documents, kept as other settings keep them, which they must decide."""
        assert self.decides(settings)
        other, own = replace(self, settings=settings), self.settings
        if (own.unit, own.analyser.keeps_all) == (settings.unit, settings.analyser.keeps_all):
            return other
        store = _Encoded.of(other.reread.analyser.canonical(self.texts()).to_list(), settings)
        return replace(other, place=np.arange(len(self)), stores=(store,))

    def texts(self, rows: Integers | None = None) -> list[str]:
        """The kept texts of all documents, or of some, to be read by `reread`."""
        place = self.place if rows is None else self.place[rows]
        order = np.argsort(place, kind="stable")
        place = place[order]
        found: list[str] = []
        first = 0
        for store in self.stores:
            own = slice(*np.searchsorted(place, (first, first + len(store))).tolist())
            found += store.canonical(place[own] - first, self.settings)
            first += len(store)
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return [found[at] for at in back.tolist()]

    def batches(self) -> Iterator[Batch]:
        """The kept texts with labels and weights, in the order of their hashes, to be read by `reread`."""
        for start in range(0, len(self), BATCH_ROWS):
            rows = np.arange(start, min(start + BATCH_ROWS, len(self)))
            labels = [self.classes[k] for k in self.codes[rows].tolist()]
            yield Batch(self.texts(rows), labels, self.weights[rows])

    def sample(self, size: int = SAMPLE) -> list[Example]:
        """What `HashSample.examples` gives of the same documents, with the kept texts."""
        units = np.round(self.weights / UNIT)
        some = np.flatnonzero(units)
        hashes = self.hashes[some]
        text = np.cumsum(np.concatenate([[0], hashes[1:] != hashes[:-1]])[: len(some)])  # by its number
        is_whole = not len(text) or bool(text[-1] < size)
        some, text = some[text < size], text[text < size]
        cells, first, which = np.unique(
            text * len(self.classes) + self.codes[some], return_index=True, return_inverse=True
        )
        rows = np.bincount(which, minlength=len(cells))
        weights = np.bincount(which, units[some], len(cells)) / rows * UNIT
        most = int(rows.sum()) if is_whole else max(1, int(LARGEST_SHARE * rows.sum()))
        kept = some[first]
        labels = (self.classes[k] for k in self.codes[kept].tolist())
        stands_for = np.minimum(rows, most).astype(np.float64).tolist()
        return list(map(Example, self.texts(kept), labels, weights.tolist(), stands_for))

    def _combine(self, other: Corpus, sign: int) -> Corpus:
        if self.settings != other.settings:
            raise InputError(
                "documents were tokenised differently", hint="train both models with the same options"
            )
        return self._with(other) if sign > 0 else self._without(other)

    def _with(self, other: Corpus) -> Corpus:
        classes, codes = self._classes_with(other)
        stored = sum(map(len, self.stores))
        return Corpus(
            self.settings,
            classes,
            np.concatenate([self.hashes, other.hashes]),
            codes,
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.place, other.place + stored]),
            self.stores + other.stores,
        )._in_order()

    @property
    def _units(self) -> NDArray[np.float64]:
        return np.asarray(np.round(self.weights / UNIT))

    def _shown(self, row: int) -> str:
        text = " ".join(self.texts(np.array([row]))[0].split())
        return text if len(text) <= 40 else f"{text[:40]}…"

    def at(self, rows: NDArray[np.integer]) -> Corpus:
        """Some of the documents, in their order."""
        return self._at(rows.astype(np.intp))

    def _at(self, rows: NDArray[np.intp]) -> Corpus:
        return replace(self, place=self.place[rows], **self._shared_at(rows))

    def _in_order(self) -> Corpus:
        """The same by hash, class and weight; of many stores those of a few documents are joined."""
        corpus = self._at(np.lexsort((self.weights, self.codes, self.hashes)))
        if len(self.stores) <= MANY:
            return corpus
        large = [store for store in self.stores if isinstance(store, _Encoded)]
        if len(large) > 1 or not isinstance(self.stores[0], _Encoded):
            return corpus.compact()
        texts = [each for store in self.stores if isinstance(store, _Pending) for each in store.texts]
        listed = [text for each in texts for text in taken(each, list(range(len(each)))) or []]
        return replace(corpus, stores=(large[0], _Pending((listed,))))

    @property
    def size(self) -> int:
        """Bytes that the documents take, about: of those not encoded yet a third of their characters."""
        return sum(store.size for store in self.stores)

    def compact(self) -> Corpus:
        """The same in one store, without a trace of what is not among the documents."""
        [first, *more] = self.stores or (_Encoded.of([], self.settings),)
        if isinstance(first, _Encoded) and not more and len(first) == len(self):
            return replace(self, stores=(first,))
        if any(isinstance(each, _Encoded) for each in self.stores):
            store = _Encoded.joined(self.stores, self.place, self.settings)
        else:
            store = _Encoded.of(self.texts(), self.settings)
        return replace(self, place=np.arange(len(self)), stores=(store,))

    def arrays(self) -> Arrays:
        """The documents as arrays, for a file; the names of the classes go beside them."""
        corpus = self.compact()
        [store] = corpus.stores
        assert isinstance(store, _Encoded)
        order = np.argsort(corpus.place)  # as the texts are stored
        arrays: Arrays = {
            "arena": store.arena,
            "codes": store.codes,
            # Both begin at 0, so that lengths say as much, in less.
            "words": narrow(np.diff(store.ends, prepend=np.uint64(0))),
            "lengths": narrow(np.diff(store.starts)),
            "hashes": corpus.hashes[order],
            "class_of": narrow(corpus.codes[order]),
        }
        return arrays | ({"weights": corpus.weights[order]} if (self.weights != 1.0).any() else {})

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, classes: Sequence[str], settings: TextSettings) -> Corpus:
        """The documents that `arrays` made; refuses arrays that are none."""
        kinds = {"arena": "u1", "codes": "u1", "hashes": "u8"}
        for name in (*kinds, "words", "lengths", "class_of"):
            array = arrays.get(name)
            if array is None or array.ndim != 1 or array.dtype.kind not in "ui":
                raise InputError(f"the array `{name}` of the documents is missing, or has the wrong type")
            if array.dtype != kinds.get(name, array.dtype):
                raise InputError(f"the array `{name}` of the documents has the wrong type")
        hashes, codes = arrays["hashes"], arrays["class_of"].astype(np.int64)
        weights, n = np.asarray(arrays.get("weights", np.ones(len(hashes)))), len(hashes)
        if not len(codes) == len(arrays["lengths"]) == len(weights) == n:
            raise InputError("the documents are not as many as their labels, hashes or weights")
        if weights.dtype != np.float64 or not ((weights >= 0) & (weights <= 2.0**32)).all():
            raise InputError("a weight of the documents is not a number from 0 to 2^32")
        must_have_classes(codes, classes, "document")
        ends, starts = (np.cumsum(arrays[name], dtype=np.uint64) for name in ("words", "lengths"))
        arena, encoded = (np.ascontiguousarray(arrays[name]) for name in ("arena", "codes"))
        if [int(last[-1]) if len(last) else 0 for last in (ends, starts)] != [len(arena), len(encoded)]:
            raise InputError("the words or texts of the documents are longer or shorter than they say")
        store = _Encoded(arena, ends, encoded, np.insert(starts, 0, np.uint64(0)), _between(settings))
        return cls(settings, tuple(classes), hashes, codes, weights, np.arange(n), (store,))._in_order()


class Keeper:
    """Keeps the documents of batches that pass by, up to so many bytes; of more, none."""

    def __init__(self, settings: TextSettings, most: int | None = MOST) -> None:
        self._settings, self._most = settings, most
        self.is_full = False  # whether there were more, so that none are kept
        self._stores: list[_Encoded] = []
        self._batches: list[Texts] = []
        self._bytes = 0
        self._rows: list[tuple[list[str], Hashes, NDArray[np.float64]]] = []  # labels, hashes, weights

    def passed(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, each kept on its way."""
        for batch in batches:
            self.keep(batch)
            yield batch

    def keep(self, batch: Batch) -> None:
        """Keep a batch; its texts are not copied before they are many."""
        if batch.weights is not None and (batch.weights < UNIT / 2).any():  # which count as if not there
            batch = batch.take(np.flatnonzero(batch.weights >= UNIT / 2))
        if self.is_full or not len(batch):
            return
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        self._rows.append((batch.label_list(), batch.hashes(), weights))
        self._batches.append(batch.texts)
        self._bytes += _size(batch.texts)
        if self._bytes > PENDING:
            self._encode()

    def _encode(self) -> None:
        pending = _Pending(tuple(self._batches))
        texts = pending.canonical(np.arange(len(pending)), self._settings)
        self._stores.append(_Encoded.of(texts, self._settings))
        self._batches, self._bytes = [], 0
        if self._most is not None and sum(store.size for store in self._stores) > self._most:
            self.is_full, self._stores, self._rows = True, [], []

    def nothing(self) -> Corpus:
        """No documents."""
        none = np.zeros(0, np.int64)
        return Corpus(self._settings, (), np.zeros(0, np.uint64), none, np.zeros(0), none, ())

    def corpus(self) -> Corpus | None:
        """What was kept; None if it was too much."""
        if self.is_full or not self._rows:
            return None if self.is_full else self.nothing()
        stores: list[_Encoded | _Pending] = [*self._stores]
        if self._batches:
            stores.append(_Pending(tuple(self._batches)))
        labels = [label for each, _, _ in self._rows for label in each]
        classes = tuple(sorted(set(labels)))
        index = {name: k for k, name in enumerate(classes)}
        codes = np.fromiter(map(index.__getitem__, labels), np.int64, len(labels))
        hashes, weights = (np.concatenate([row[at] for row in self._rows]) for at in (1, 2))
        place = np.arange(len(labels))
        return Corpus(self._settings, classes, hashes, codes, weights, place, tuple(stores))._in_order()


def _size(texts: Texts) -> int:
    """About how many bytes texts take; of texts that the kernel has read, some are looked at."""
    if isinstance(texts, list):
        return sum(map(len, texts))
    if hasattr(texts, "nbytes"):
        return int(texts.nbytes)
    some = range(0, len(texts), len(texts) // LOOKED_AT + 1)
    return sum(map(len, taken(texts, some) or [])) * len(texts) // max(len(some), 1)
