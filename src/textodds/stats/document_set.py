"""What kept documents have in common, texts or rows: class, weight, and a hash by which they are found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data.label_sets import shown_name
from textodds.errors import InputError, NotLearned
from textodds.stats.tally import Additive

Hashes: TypeAlias = NDArray[np.uint64]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class KeptDocuments(Additive):
    """N documents with label and weight, in the order of their hashes."""

    classes: tuple[str, ...]  # (K,) sorted, each with a document
    hashes: Hashes  # (N,) not decreasing
    codes: Integers  # (N,)
    weights: Floats  # (N,)

    noun: ClassVar[str]
    content: ClassVar[str]  # what a document has beside its label and weight

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def n_documents(self) -> float:
        """Total weight of the documents."""
        return float(self.class_rows.sum())

    @property
    def class_rows(self) -> Floats:
        """Weight of the documents of each class, (K,)."""
        return np.bincount(self.codes, self.weights, len(self.classes)).astype(np.float64, copy=False)

    @property
    def _units(self) -> Floats:
        """Weights that are equal if documents were learned with the same weight, (N,)."""
        return self.weights

    @abstractmethod
    def _at(self, rows: NDArray[np.intp]) -> Self:
        """Some of the documents, with the classes that they have."""

    @abstractmethod
    def _shown(self, row: int) -> str:
        """A document in a few words."""

    def _shared_at(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """What some of the documents have in common with those of any kind, by its name."""
        left = np.unique(self.codes[rows])
        return {
            "classes": tuple(self.classes[k] for k in left.tolist()),
            "hashes": self.hashes[rows],
            "codes": np.searchsorted(left, self.codes[rows]),
            "weights": self.weights[rows],
        }

    def _classes_with(self, other: Self) -> tuple[tuple[str, ...], Integers]:
        """The classes of both, and the codes of all documents among these, those of ``other`` behind."""
        classes = tuple(sorted({*self.classes, *other.classes}))
        index = {name: k for k, name in enumerate(classes)}
        numbers = [np.array([index[name] for name in each.classes], np.int64) for each in (self, other)]
        return classes, np.concatenate([numbers[0][self.codes], numbers[1][other.codes]])

    def _without(self, other: Self) -> Self:
        """The documents that are left if others are taken away, each of which must be there."""
        index = {name: k for k, name in enumerate(self.classes)}
        wanted = np.array([index.get(name, -1) for name in other.classes], np.int64)[other.codes]
        mine, theirs = self._units, other._units
        first, last = (np.searchsorted(self.hashes, other.hashes, side=side) for side in ("left", "right"))
        keep = np.ones(len(self), dtype=np.bool_)
        for row in range(len(other)):
            alike = slice(first[row], last[row])  # the same content
            same = (self.codes[alike] == wanted[row]) & (mine[alike] == theirs[row])
            found = np.flatnonzero(keep[alike] & same)
            if not len(found):
                raise other._stranger(row)
            keep[first[row] + found[0]] = False
        return self._at(np.flatnonzero(keep))

    def _stranger(self, row: int) -> NotLearned:
        """The error for a document that others do not have."""
        label = shown_name(self.classes[self.codes[row]])
        weight = "" if self.weights[row] == 1.0 else f" with the weight {self.weights[row]:g}"
        shown = self._shown(row)
        return NotLearned(
            f"the {self.noun} `{shown}` was not learned as `{label}`{weight}, or is forgotten already",
            hint=f"a {self.noun} is forgotten as it was learned: the same {self.content}, label and weight",
        )


def must_have_classes(codes: Integers, classes: Sequence[str], noun: str) -> None:
    """Refuse labels that are not sorted, or one that no document has."""
    if not np.array_equal(np.unique(codes), np.arange(len(classes))) or list(classes) != sorted(set(classes)):
        raise InputError(f"the labels of the {noun}s are out of order, or one has no {noun}")
