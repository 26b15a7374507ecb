"""What a recipe knows of words before it sees a labelled text: how frequent they are, and their vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds.data.named_arrays import AnyArray, Arrays, NamedArrays
from textodds.errors import InputError
from textodds.learn.arrays import Floats, Integers
from textodds.learn.design import LabelledRows, checked_weights
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.word_vectors import Neighbours, are_single_words, factor, of_words
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.documents import Documents
from textodds.text import Selection, Vocabulary

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.learn.recipe import Recipe

LEVELS = 127  # on either side of zero that a number of a kept vector may have
MOST = 128 << 20  # bytes of vectors that a model keeps; with more it keeps no documents either
BLOCK = 10_000  # words whose vectors are made numbers together
LARGEST = 1e15  # of what a file may hold


@dataclass(frozen=True, eq=False)
class KnownWords:
    """Terms that are known beforehand: in how many unlabelled texts each is, and numbers of the words.

    These are vectors of a file or, of unlabelled texts, what their decomposition is updated by. They are kept
    in steps of a 127th of the largest number of a word: 1 byte a number. It is these that training goes by,
    so that what a model says follows from what it keeps.
    """

    terms: Vocabulary  # T
    documents: Floats  # (T,) unlabelled texts with each
    n_documents: float  # unlabelled texts; none with a file
    words: Integers  # (W,) the terms that have numbers, increasing
    steps: NDArray[np.int8]  # (W, D)
    sizes: NDArray[np.float32]  # (W,) of a step
    means: Floats  # (W,) of the rows of unlabelled texts; (0,) with a file

    @classmethod
    def of_texts(cls, batches: Iterable[Batch], recipe: Recipe, threads: int) -> KnownWords:
        """Those of unlabelled texts, by latent semantic analysis."""
        assert recipe.weighting is not None
        texts = Documents.gather(batches, settings=recipe.settings, threads=threads)
        texts.select(_possible(recipe.selection, texts))
        are_words = are_single_words(texts.vocabulary)
        places = np.where(are_words, np.cumsum(are_words) - 1, -1).astype(np.int64)
        words = np.flatnonzero(are_words)
        rows = of_words(texts.rows(recipe.weighting), places, len(words))
        steps, sizes = in_steps(factor(rows)[0])
        means = rows.T @ np.full(len(texts), 1.0 / max(len(texts), 1))
        return cls(texts.vocabulary, texts.documents, texts.n_documents, words, steps, sizes, means)

    @classmethod
    def of_vectors(cls, words: list[str], matrix: NDArray[np.float32]) -> KnownWords:
        """Those of a file of word vectors."""
        terms, order = Vocabulary.of_words(words)
        steps, sizes = in_steps(matrix[order])
        return cls(terms, np.zeros(len(terms)), 0.0, np.arange(len(terms)), steps, sizes, np.zeros(0))

    @property
    def bytes(self) -> int:
        """That the vectors take."""
        return self.steps.nbytes

    @property
    def without_vectors(self) -> KnownWords:
        """The terms that unlabelled texts have, and how many of them."""
        some = np.flatnonzero(self.documents)
        nothing = np.zeros(0, np.int64), self.steps[:0], np.zeros(0, np.float32), np.zeros(0)
        return KnownWords(self.terms.select(some), self.documents[some], self.n_documents, *nothing)

    def vectors(self, which: AnyArray) -> Floats:
        """The numbers of some words."""
        return self.steps[which].astype(np.float64) * self.sizes[which, None]

    @cached_property
    def vector_of(self) -> Integers:
        """The word that each term is, (T,), -1 for none."""
        found = np.full(len(self.terms), -1, np.int64)
        found[self.words] = np.arange(len(self.words))
        return found

    def digest(self) -> str:
        """A hash of all of it."""
        seen = hashlib.sha256(repr((self.n_documents, self.steps.shape)).encode())
        parts = (self.documents, self.words, self.steps, self.sizes, self.means)
        for each in (self.terms.keys, self.terms.arena, *parts):
            seen.update(np.ascontiguousarray(each).tobytes())
        return seen.hexdigest()[:16]

    def arrays(self, vocabulary: Vocabulary) -> Arrays:
        """As arrays, for the file of a model whose vocabulary has all of the terms."""
        places = vocabulary.find(self.terms.words())
        return {
            "terms": places.astype(np.uint32),
            "documents": self.documents,
            "words": self.words.astype(np.uint32),
            "steps": self.steps.view(np.uint8).reshape(-1),
            "sizes": self.sizes,
            "means": self.means,
            "texts": np.array([self.n_documents]),
        }

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, vocabulary: Vocabulary) -> KnownWords:
        """The words that `arrays` made; refuses arrays that are none."""
        kinds = {"terms": "u4", "documents": "f8", "words": "u4", "steps": "u1", "sizes": "f4"}
        for name, kind in (kinds | {"means": "f8", "texts": "f8"}).items():
            array = arrays.get(name)
            if array is None or array.ndim != 1 or array.dtype != np.dtype(kind):
                raise InputError(f"the array `{name}` of the known words is missing, or has the wrong type")
        terms, words = arrays["terms"].astype(np.int64), arrays["words"].astype(np.int64)
        for places, n in ((terms, len(vocabulary)), (words, len(terms))):
            if len(places) and (places[-1] >= n or not (np.diff(places) > 0).all()):
                raise InputError("the known words are not in their order")
        documents, sizes, means, texts = (arrays[name] for name in ("documents", "sizes", "means", "texts"))
        for numbers in (documents, sizes, means, texts):
            if not ((numbers >= 0) & (numbers < LARGEST)).all():
                raise InputError("a number of the known words is below zero, not finite or too large")
        lengths = [len(each) for each in (texts, documents, sizes)]
        if lengths != [1, len(terms), len(words)] or len(means) != (len(words) if texts[0] else 0):
            raise InputError("the known words are not as many as their numbers")
        D, left = divmod(len(arrays["steps"]), max(len(words), 1))
        if left:
            raise InputError("the numbers of the known words are not as many of each")
        steps = np.ascontiguousarray(arrays["steps"]).view(np.int8).reshape(len(words), D)
        return cls(vocabulary.select(terms), documents, float(texts[0]), words, steps, sizes, means)


def in_steps(vectors: NDArray[np.floating]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors (W, D) in whole steps, and the size of a step of each.

    >>> steps, sizes = in_steps(np.array([[254.0, -127.0, 0.4], [0.0, 0.0, 0.0]]))
    >>> steps.tolist(), sizes.tolist()
    ([[127, -64, 0], [0, 0, 0]], [2.0, 0.0])
    """
    sizes = (np.abs(vectors).max(axis=1, initial=0.0) / LEVELS).astype(np.float32)
    steps = np.empty(vectors.shape, np.int8)
    for first in range(0, len(vectors), BLOCK):
        some = slice(first, first + BLOCK)
        step = np.where(sizes[some] > 0, sizes[some], np.float32(1.0)).astype(np.float64)
        steps[some] = np.clip(np.rint(vectors[some] / step[:, None]), -LEVELS, LEVELS)
    return steps, sizes


@dataclass(frozen=True, eq=False)
class WordPrior:
    """The prior of a recipe whose words know their neighbours; a file of it is read when it is asked for."""

    strength: float
    digest: str
    read: Callable[[], KnownWords]

    @classmethod
    def of(cls, known: KnownWords, strength: float) -> WordPrior:
        """The prior of known words."""
        return cls(strength, known.digest(), lambda: known)

    @classmethod
    def of_dict(cls, plain: object, read: Callable[[], KnownWords]) -> WordPrior:
        """The prior that `as_dict` made plain data of; its words are read later."""
        if not isinstance(plain, dict):
            raise InputError("the recipe says nothing of its known words")
        strength, digest = plain.get("strength"), plain.get("known")
        if not isinstance(strength, float) or not 0 <= strength < LARGEST or not isinstance(digest, str):
            raise InputError("the recipe is damaged where its known words are")
        return cls(strength, digest, read)

    @cached_property
    def known(self) -> KnownWords:
        """The words."""
        return self.read()

    def as_dict(self) -> dict[str, object]:
        """What says whether two are the same, as plain data."""
        return {"strength": self.strength, "known": self.digest}


@dataclass(frozen=True, eq=False)
class WordDesign:
    """Documents under a recipe whose words know their neighbours."""

    known: KnownWords
    documents: Documents
    known_as: Integers  # (V,) the known term that each is, -1 for none
    scale: Floats  # (V,) idf
    labels: LabelledRows  # (N, V)
    neighbours: Neighbours

    @classmethod
    def of(cls, batches: Iterable[Batch], recipe: Recipe, known: KnownWords, threads: int) -> WordDesign:
        """A stream of batches, in one pass. Terms that are known are kept, whatever the selection."""
        weighting, selection = recipe.weighting, recipe.selection
        assert weighting is not None
        texts = Documents.gather(batches, settings=recipe.settings, threads=threads)
        if not selection.keeps_all:
            texts.select(_possible(selection, texts), texts.are_among(known.terms))
        at = known.terms.find(texts.vocabulary.words())
        df = texts.documents + _at(known.documents, at, 0.0)
        scale = weighting.idf_of(df, texts.n_documents + known.n_documents)
        rows = texts.rows(weighting, scale)
        words = _at(known.vector_of, at, -1)
        if known.n_documents:
            new = np.flatnonzero(are_single_words(texts.vocabulary) & (words < 0))
            words[new] = len(known.words) + np.arange(len(new))
            before = known.vectors(np.arange(len(known.words)))
            neighbours = Neighbours.updated(rows, words, before, known.means, known.n_documents)
        else:
            own = np.flatnonzero(words >= 0)
            vectors = known.vectors(words[own])
            words[own] = np.arange(len(own))
            neighbours = Neighbours.given(rows, words, vectors)
        weights = checked_weights(texts.weights, len(texts))
        labels = LabelledRows(rows, texts.classes, texts.codes, weights).with_two_classes()
        return cls(known, texts, at, scale, labels, neighbours)

    def data(self, strength: float) -> LabelledRows:
        """The rows that a strength of the prior makes, (N, V + D), with their classes."""
        assert isinstance(self.labels.rows, CompressedRows)
        return replace(self.labels, rows=self.neighbours.rows(self.labels.rows, strength))

    def folded(
        self, wide: LinearModel, strength: float, recipe: Recipe
    ) -> tuple[Vocabulary, LinearModel, Floats]:
        """Vocabulary, form and idf of what was found of the wide rows: with known words of no document."""
        known, weighting = self.known, recipe.weighting
        assert weighting is not None
        form = self.neighbours.folded(wide, strength)
        is_new = np.ones(len(known.terms), np.bool_)
        is_new[self.known_as[self.known_as >= 0]] = False
        new = np.flatnonzero(is_new)
        own = self.documents.vocabulary
        if not len(new):
            return own, form, self.scale
        more = np.zeros((len(new), len(wide.classes)))
        words = known.vector_of[new]
        having = np.flatnonzero(words >= 0) if strength else np.zeros(0, np.int64)
        for first in range(0, len(having), BLOCK):
            some = having[first : first + BLOCK]
            every = self.neighbours.vectors if known.n_documents else None
            vectors = known.vectors(words[some]) if every is None else every[words[some]]
            more[some] = self.neighbours.weights_of(wide, strength, vectors)
        terms, order = Vocabulary.of_words([*own.words(), *known.terms.words(new)])
        weights = np.vstack([form.weights.rows(np.arange(len(own))), more])[order]
        n = self.documents.n_documents + known.n_documents
        scale = np.concatenate([self.scale, weighting.idf_of(known.documents[new], n)])[order]
        return terms, replace(form, weights=Weights.of_matrix(weights)), scale


def _possible(selection: Selection, texts: Documents) -> Selection:
    """The selection, but for a word to be in more texts than there are."""
    if not isinstance(selection.min_df, int):
        return selection
    return replace(selection, min_df=min(selection.min_df, max(len(texts), 1)))


def _at(values: AnyArray, places: Integers, other: float) -> AnyArray:
    """The values at some places, or another where a place is -1."""
    return np.where(places >= 0, np.append(values, other)[places], other).astype(values.dtype)
