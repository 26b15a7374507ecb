"""The rows that learners fit: labelled and checked, as they are or of documents under a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textodds import _kernels
from textodds.errors import InputError, LengthMismatch, NoData
from textodds.learn.arrays import Floats, Integers, Matrix
from textodds.learn.solvers.objective import raw
from textodds.stats import tally
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.documents import Documents
from textodds.stats.moments import LARGEST

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.learn.recipe import Recipe
    from textodds.text import Weighting


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """N rows (N, V), dense or sparse, with a class and a weight each."""

    rows: Matrix  # (N, V)
    classes: tuple[str, ...]  # (K,) sorted
    codes: Integers  # (N,)
    weights: Floats  # (N,)

    @classmethod
    def of(
        cls,
        rows: Matrix | ArrayLike,
        labels: Sequence[object],
        weights: ArrayLike | None = None,
        *,
        missing: bool = False,
    ) -> LabelledRows:
        """The rows, if there is something to be learned from them; ``missing`` ones (NaN) may be allowed."""
        matrix = checked_rows(rows, missing=missing)
        N = matrix.shape[0]
        if len(labels) != N:
            raise LengthMismatch(N, len(labels))
        if N == 0:
            raise NoData("there are no rows to learn from")
        classes, codes = coded(labels)
        return cls(matrix, classes, codes, checked_weights(weights, N)).with_two_classes()

    def class_weights(self) -> Floats:
        """Total weight of the rows of each class, (K,)."""
        return np.bincount(self.codes, self.weights, len(self.classes)).astype(np.float64, copy=False)

    def class_means(self) -> Floats:
        """The mean of the rows of each class, (K, V); of SciPy's sparse rows."""
        from scipy import sparse

        mass, N = self.class_weights(), len(self.codes)
        share = (self.weights / mass[self.codes], (self.codes, np.arange(N)))
        return np.asarray((sparse.csr_array(share, shape=(len(mass), N)) @ self.rows).toarray())

    def with_two_classes(self) -> LabelledRows:
        """The same with the classes that have a weight, if those are at least two."""
        mass = self.class_weights()
        seen = np.flatnonzero(mass)
        if len(seen) < 2:
            raise InputError(
                f"every row that counts is of one class, `{self.classes[seen[0]]}`"
                if len(seen)
                else "no row has a weight above zero",
                hint="a discriminative model needs rows of two classes or more to tell apart",
            )
        if len(seen) == len(mass):
            return self
        codes = np.maximum(np.searchsorted(seen, self.codes), 0)
        codes[mass[self.codes] == 0] = 0  # these rows weigh nothing: any class will do
        return replace(self, classes=tuple(self.classes[k] for k in seen), codes=codes.astype(np.int64))


def checked_rows(rows: Matrix | ArrayLike, *, missing: bool = False) -> Matrix:
    """Rows as float64, dense or CSR, all numbers."""
    matrix: Matrix
    if isinstance(rows, CompressedRows):
        matrix, values = rows, rows.data
    elif hasattr(rows, "tocsr"):  # of SciPy's, which is there then
        from scipy import sparse

        matrix = sparse.csr_array(rows, dtype=np.float64)
        if not matrix.has_canonical_format and _kernels.repeats(raw(matrix), matrix.shape[1]):
            matrix = matrix.copy()  # since the caller's rows are the caller's
            matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = np.ascontiguousarray(rows, dtype=np.float64)
        if matrix.ndim != 2:
            raise InputError(
                f"rows must be a matrix, got {matrix.ndim} dimensions",
                hint="one row a document, one column a feature",
            )
        values = matrix
    if values.size and not (-LARGEST < values.min() <= values.max() < LARGEST):  # NaN is neither
        good = np.abs(values) < LARGEST
        if missing:
            good |= np.isnan(values)
        if good.all():
            return matrix
        row, column, value = cell_at(matrix, int(np.flatnonzero(~good.reshape(-1))[0]))
        raise InputError(
            f"row {row} has {value:g} in column {column}",
            hint=f"features are numbers below {LARGEST:g}: drop the row, put a number there, or scale",
        )
    return matrix


def cell_at(rows: Matrix, at: int) -> tuple[int, int, float]:
    """Row, column and value of a number by its place among those that are stored, dense or CSR."""
    if isinstance(rows, np.ndarray):
        row, column = divmod(at, rows.shape[1])
        return row, column, float(rows[row, column])
    row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
    return row, int(rows.indices[at]), float(rows.data[at])


def checked_weights(weights: ArrayLike | None, N: int) -> Floats:
    """Sample weights, (N,), ones by default; zero or more."""
    if weights is None:
        return np.ones(N)
    return tally.checked_weights(weights, N, most=np.finfo(np.float64).max)


def coded(labels: Sequence[object]) -> tuple[tuple[str, ...], Integers]:
    """The classes, sorted, and the class number of each label; labels are text, or become so."""
    if isinstance(labels, list) and set(map(type, labels)) == {str}:  # as nearly always
        return _numbered(labels)
    kinds = {_kind(label): row for row, label in reversed(list(enumerate(labels)))}
    if "a missing value" in kinds:
        raise InputError(f"row {kinds['a missing value']} has no label")
    if len(kinds) > 1:
        (one, first), (other, second) = sorted(kinds.items(), key=lambda item: item[1])[:2]
        raise InputError(
            f"labels are of mixed types: row {first} has {one}, row {second} has {other}",
            hint="make them all text, or all numbers",
        )
    return _numbered([str(label) for label in labels])


def _numbered(names: list[str]) -> tuple[tuple[str, ...], Integers]:
    classes = sorted(set(names))
    index = {name: k for k, name in enumerate(classes)}
    return tuple(classes), np.fromiter(map(index.__getitem__, names), np.int64, count=len(names))


def _kind(label: object) -> str:
    if isinstance(label, (str, bytes)):
        return "text"
    if label is None or (isinstance(label, (float, np.floating)) and np.isnan(label)):
        return "a missing value"
    if isinstance(label, (bool, np.bool_)):
        return "a truth value"
    if isinstance(label, (int, float, np.integer, np.floating)):
        return "a number"
    raise InputError(
        f"a label is {label!r}, of type {type(label).__name__}", hint="labels are text or numbers"
    )


@dataclass(frozen=True, eq=False)
class Plain:
    """Rows as they are, of which naive Bayes may scale the features."""

    matrix: Matrix  # (N, V)

    def rows(self, factor: Floats | None) -> Matrix:
        """The rows, every feature times its factor."""
        if factor is None:
            return self.matrix
        if isinstance(self.matrix, np.ndarray):
            return self.matrix * factor
        scaled = self.matrix.copy()
        scaled.data *= factor[scaled.indices]
        return scaled

    def presence(self, codes: Integers, weights: Floats, n_classes: int) -> Floats:
        """Weight of the rows of each class in which each feature is not zero."""
        V, matrix = self.matrix.shape[1], self.matrix
        if isinstance(matrix, np.ndarray):
            member = np.zeros((len(codes), n_classes))
            member[np.arange(len(codes)), codes] = weights
            return np.asarray((matrix != 0.0).T @ member)
        lengths = np.diff(matrix.indptr)
        cell = matrix.indices.astype(np.int64) * n_classes + np.repeat(codes, lengths)
        present = np.repeat(weights, lengths)
        present[matrix.data == 0.0] = 0.0
        counts = np.bincount(cell, present, V * n_classes).astype(np.float64, copy=False)
        return counts.reshape(V, n_classes)

    def known(self, weights: Floats) -> None:
        """All of them: what columns there are was not found in the rows."""


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Documents under a recipe, whose words naive Bayes may scale."""

    recipe: Recipe
    documents: Documents

    @classmethod
    def of(cls, batches: Iterable[Batch], recipe: Recipe, threads: int) -> DesignMatrix:
        """A stream of batches, in one pass."""
        settings, selection = recipe.settings, recipe.selection
        return cls(recipe, Documents.gather(batches, settings=settings, selection=selection, threads=threads))

    @property
    def _weighting(self) -> Weighting:
        assert self.recipe.weighting is not None
        return self.recipe.weighting

    @cached_property
    def labelled(self) -> LabelledRows:
        """The rows with their classes, of which there must be two."""
        return replace(self.labels, rows=self.rows(None))

    @property
    def labels(self) -> LabelledRows:
        """The same, every row empty, for those that weigh its words themselves."""
        documents = self.documents
        N = len(documents)
        nowhere = np.zeros(0, np.int32), np.zeros(N + 1, np.int64)
        empty = CompressedRows((np.zeros(0), *nowhere), (N, len(documents.vocabulary)))
        weights = checked_weights(documents.weights, N)
        return LabelledRows(empty, documents.classes, documents.codes, weights).with_two_classes()

    def scale(self, factor: Floats | None) -> Floats:
        """What each word is worth, (V,)."""
        idf = self.documents.idf(self._weighting)
        return idf if factor is None else idf * factor

    def rows(self, factor: Floats | None) -> Matrix:
        """The rows, (N, V)."""
        return self.documents.rows(self._weighting, self.scale(factor))

    def presence(self, codes: Integers, weights: Floats, n_classes: int) -> Floats:
        """Weight of the documents of each class with each word, (V, K)."""
        return self.documents.gathered.by_class(codes, weights, n_classes)

    def known(self, weights: Floats) -> Floats:
        """One for each word that is known from documents of these weights (N,), zero for the others; (V,)."""
        least = self.recipe.selection.min_df
        if isinstance(least, float):
            least *= self.documents.n_documents
        found = self.presence(np.zeros(len(weights), dtype=np.int64), weights, 1)[:, 0]
        return np.asarray((found >= max(least, 1e-9)).astype(np.float64))


Design: TypeAlias = Plain | DesignMatrix
"""Rows whose features can be scaled; documents that are brought to one length are so after that."""
