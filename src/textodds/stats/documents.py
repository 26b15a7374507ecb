"""Documents in memory as sparse rows: what models that need every document at once learn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch
from textodds.errors import NoData
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.tally import checked_threads, checked_weights
from textodds.text import Selection, TextSettings, Vocabulary, Weighting

NAMED = 100_000  # terms whose names are looked at together


@dataclass(eq=False)
class Documents:
    """Labelled documents, their terms counted once and for all.

    Which terms are kept, and what they are worth, is decided afterwards: `select`, then `rows`, as often
    as wanted. Rows and vocabulary are the same for any number of threads.
    """

    classes: tuple[str, ...]  # (K,) sorted
    codes: NDArray[np.int64]  # (N,) class of each document
    weights: NDArray[np.float64] | None  # (N,)
    settings: TextSettings
    gathered: _kernels.Gathered
    vocabulary: Vocabulary = field(init=False)
    documents: NDArray[np.float64] = field(init=False)  # (V,) weight of the documents with each term

    @classmethod
    def gather(
        cls,
        batches: Iterable[Batch],
        *,
        settings: TextSettings | None = None,
        selection: Selection | None = None,
        threads: int | None = None,
    ) -> Documents:
        """A stream of batches, in one pass. Memory grows with the distinct terms of each document.

        Examples
        --------
        >>> texts = Batch(["free phone", "see you", "free"], ["spam", "ham", "spam"], None)
        >>> documents = Documents.gather([texts])
        >>> rows = documents.rows(Weighting(idf=False, unit=False))
        >>> [documents.vocabulary.words()[v] for v in rows.indices]
        ['free', 'phone', 'see', 'you', 'free']
        """
        settings = settings or TextSettings()
        gatherer = _kernels.Gatherer(settings.analyser, checked_threads(threads))
        labels: list[str] = []
        weights: list[NDArray[np.float64]] = []
        is_weighted = False
        for batch in batches:
            if batch.labels is None:
                raise NoData("there are texts but no labels to learn from")
            gatherer.add(batch.texts)
            is_weighted |= batch.weights is not None
            n, given = len(batch), batch.weights
            weights.append(np.ones(n) if given is None else checked_weights(given, n, first=len(labels)))
            labels += batch.label_list()
        names = sorted(set(labels))
        index = {name: k for k, name in enumerate(names)}
        codes = np.fromiter((index[label] for label in labels), dtype=np.int64, count=len(labels))
        mass = np.concatenate(weights) if is_weighted else None
        documents = cls(tuple(names), codes, mass, settings, gatherer.finish())
        documents.select(selection or Selection())
        return documents

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_documents(self) -> float:
        """Total weight of the documents."""
        return float(len(self) if self.weights is None else self.weights.sum())

    def select(self, selection: Selection, also: NDArray[np.bool_] | None = None) -> None:
        """Keep the terms that a selection names, and others by their number as they were gathered."""
        documents = occurrences = self.gathered.documents(self.weights)
        if selection.max_features is not None:
            occurrences = self.gathered.occurrences(self.weights)
        keep = documents > 0
        if len(self) and not selection.keeps_all:
            keep &= selection.mask(documents, occurrences, self.n_documents)
        selection.break_ties(keep, occurrences, lambda tied: self.gathered.names(tied.astype(np.uint32)))
        if also is not None:
            keep |= also & (documents > 0)
        keys, arena, numbers = self.gathered.select(keep)
        self.vocabulary = Vocabulary(keys, arena)
        self.documents = documents[numbers]

    def are_among(self, terms: Vocabulary) -> NDArray[np.bool_]:
        """Which terms, by their number as they were gathered, are among others."""
        n = len(self.gathered.documents())
        found = np.zeros(n, np.bool_)
        for first in range(0, n, NAMED):
            numbers = np.arange(first, min(first + NAMED, n), dtype=np.uint32)
            found[numbers] = terms.find(self.gathered.names(numbers)) >= 0
        return found

    def idf(self, weighting: Weighting) -> NDArray[np.float64]:
        """The factor of each term, (V,)."""
        return weighting.idf_of(self.documents, self.n_documents)

    def rows(self, weighting: Weighting, scale: NDArray[np.float64] | None = None) -> CompressedRows:
        """The documents as sparse rows, (N, V); terms are worth ``scale`` (idf) each.

        Within a row terms stand in the order in which the document brings them.
        """
        scale = self.idf(weighting) if scale is None else scale
        starts, features, values = self.gathered.rows(
            weighting.frequency, scale, weighting.unit, self.settings.blocks
        )
        return CompressedRows((values, features, starts), (len(self), len(self.vocabulary)))
