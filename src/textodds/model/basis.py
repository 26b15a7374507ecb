"""What a model rests on: counts, documents, or both. They add and subtract, and all else follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from textodds.errors import Unsupported
from textodds.stats.tally import Additive


class Countable(Protocol):
    """What a model has counted: see `Tally`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, sorted."""

    @property
    def class_rows(self) -> NDArray[np.float64]:
        """Weight of the documents of each class, (K,)."""

    @property
    def n_documents(self) -> float:
        """Total weight of the documents."""

    def with_classes(self, classes: tuple[str, ...]) -> Self:
        """The same with other names for its classes, in the same order."""

    def __add__(self, other: Self) -> Self: ...
    def __sub__(self, other: Self) -> Self: ...


T = TypeVar("T", bound=Countable)
D = TypeVar("D", bound=Countable)  # documents: a `Corpus` of texts, `Rows` of tables
P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Basis(Additive, Generic[T, D]):
    """Counts, documents, or both; of counts and documents that meet counts alone, the counts are left."""

    tally: T | None
    corpus: D | None

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return (self.tally or self._documents).classes

    @property
    def n_documents(self) -> float:
        """Total weight of the documents."""
        return (self.tally or self._documents).n_documents

    @property
    def _documents(self) -> D:
        assert self.corpus is not None  # what has neither is no basis of a model
        return self.corpus

    def with_classes(self, classes: tuple[str, ...]) -> Basis[T, D]:
        """The same with other names for its classes, in the same order."""
        tally = None if self.tally is None else self.tally.with_classes(classes)
        return Basis(tally, None if self.corpus is None else self.corpus.with_classes(classes))

    def _combine(self, other: Basis[T, D], sign: int) -> Basis[T, D]:
        # Documents first: they know what was never learned, which counts may not notice.
        corpus = _combined(self.corpus, other.corpus, sign)
        return Basis(_combined(self.tally, other.tally, sign), corpus)


def _combined(mine: P | None, theirs: P | None, sign: int) -> P | None:
    if mine is None or theirs is None:
        return None
    both: Any = (mine, theirs)
    found: P = both[0] + both[1] if sign > 0 else both[0] - both[1]
    return found


class Follower(Protocol):
    """A model with parts that follow from its documents."""

    def now(self) -> Self:
        """The model as it is now."""

    def follow(self) -> None:
        """Find again what follows from the documents, if they have changed."""


class Following(Generic[P]):
    """A part of a model that follows from its documents: after a change it is found when it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, model: None, owner: type) -> Self: ...
    @overload
    def __get__(self, model: Follower, owner: type) -> P | None: ...

    def __get__(self, model: Follower | None, owner: type) -> Self | P | None:
        if model is None:
            return self
        model = model.now()
        model.follow()
        found: P | None = model.__dict__.get(self._name)
        return found

    def __set__(self, model: Follower, part: P | None) -> None:
        model.__dict__[self._name] = part


def opened(stored: Callable[[], P] | P | None) -> P | None:
    """What is stored, read if it was not yet."""
    return stored() if callable(stored) else stored


class ModelBasis(Generic[T, D]):
    """A model by what it rests on, which is read when it is first asked for."""

    _tally: Callable[[], T] | T | None
    _corpus: Callable[[], D] | D | None = None
    _is_behind = False  # whether it has changed since its parts were found that follow from documents

    def labels_in(self, classes: Iterable[str]) -> Iterable[str]:
        """The labels that the classes of what it rests on have: themselves, unless they are sets."""
        return classes

    @property
    def has_counts(self) -> bool:
        """Whether the model has counts; it may be saved without."""
        return self._tally is not None

    @property
    def tally(self) -> T:
        """The counts of the model."""
        if self._tally is None:
            raise self._without_counts()
        self._tally = opened(self._tally)
        assert self._tally is not None
        return self._tally

    def _without_counts(self) -> Unsupported:
        """The error of a model that has no counts."""
        return Unsupported(
            "this model was saved without its counts",
            hint="train it again, without `--no-counts`, to learn, forget or merge",
        )

    @property
    def corpus(self) -> D | None:
        """The documents that the model stands on; None where they are not kept."""
        self._corpus = opened(self._corpus)
        return self._corpus

    @corpus.setter
    def corpus(self, corpus: D | None) -> None:
        self._corpus = corpus

    @property
    def has_documents(self) -> bool:
        """Whether the model has documents; it may be trained or saved without."""
        return self._corpus is not None

    @property
    def basis(self) -> Basis[T, D]:
        """The documents or counts that the model is computed from."""
        self.must_be_updatable()
        return Basis(self.tally if self.has_counts or not self.has_documents else None, self.corpus)

    def follow(self) -> None:
        """Find again what follows from the documents, if they have changed."""

    def must_be_updatable(self) -> None:
        """Refuse a model that rests neither on counts nor on documents that it has."""
