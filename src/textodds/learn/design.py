"""Documents under a recipe: the rows that softmax regression and discriminants learn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.learn.arrays import Floats, Integers
from textodds.learn.labelled_rows import LabelledRows, checked_weights
from textodds.stats.documents import Documents

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.learn.recipe import Recipe
    from textodds.text import Weighting


@dataclass(frozen=True, eq=False)
class WeightedDocuments:
    """Documents whose words naive Bayes may scale."""

    documents: Documents
    weighting: Weighting
    least: float = 0.0  # documents that a word must be in

    def scale(self, factor: Floats | None) -> Floats:
        """What each word is worth, (V,)."""
        idf = self.documents.idf(self.weighting)
        return idf if factor is None else idf * factor

    def rows(self, factor: Floats | None) -> Any:
        """The rows, (N, V)."""
        return self.documents.rows(self.weighting, self.scale(factor))

    def presence(self, codes: Integers, weights: Floats, n_classes: int) -> Floats:
        """Weight of the documents of each class with each word, (V, K)."""
        return self.documents.gathered.by_class(codes, weights, n_classes)

    def known(self, weights: Floats) -> Floats:
        """One for each word that is known from documents of these weights (N,), zero for the others; (V,)."""
        found = self.presence(np.zeros(len(weights), dtype=np.int64), weights, 1)[:, 0]
        return np.asarray((found >= max(self.least, 1e-9)).astype(np.float64))


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Documents under a recipe."""

    recipe: Recipe
    documents: Documents

    @cached_property
    def design(self) -> WeightedDocuments:
        """The documents, their words weighted."""
        assert self.recipe.weighting is not None
        least = self.recipe.selection.min_df
        if isinstance(least, float):
            least *= self.documents.n_documents
        return WeightedDocuments(self.documents, self.recipe.weighting, float(least))

    @cached_property
    def rows(self) -> LabelledRows:
        """The rows with their classes, of which there must be two."""
        documents = self.documents
        weights = checked_weights(documents.weights, len(documents))
        rows = LabelledRows(self.design.rows(None), documents.classes, documents.codes, weights)
        return rows.with_two_classes()

    @classmethod
    def of(cls, batches: Iterable[Batch], recipe: Recipe, threads: int) -> DesignMatrix:
        """A stream of batches, in one pass."""
        settings, selection = recipe.settings, recipe.selection
        return cls(recipe, Documents.gather(batches, settings=settings, selection=selection, threads=threads))
