"""Blocks of columns: how each kind is counted, and what it says of a class.

A block is a frozen set of choices. ``count`` makes the statistic of a batch, which adds and subtracts;
``fit`` makes the class-conditional of a statistic. What a model counts are the statistics of all its blocks,
a `TableTally`.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.named_arrays import Arrays
from textodds.errors import InputError
from textodds.learn.conditionals.categorical import UNSEEN_ROW, Categorical, CategoricalEstimate
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.conditionals.product import Likelihood, joined
from textodds.learn.conditionals.table import FullTable, TableEstimate
from textodds.learn.forms.linear import LOG_ZERO
from textodds.learn.forms.quadratic import Diagonal, Full
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe
from textodds.model.file import tally_arrays, tally_of_arrays
from textodds.model.novelty import TextDensity
from textodds.model.text_model import TextModel
from textodds.stats.categories import CategoryTally, CellTally, CodedColumn
from textodds.stats.categories.columns import coded_labels
from textodds.stats.corpus import reread
from textodds.stats.moment_tally import MomentTally
from textodds.stats.rows import Kind, Vector
from textodds.stats.tally import Tally
from textodds.text.plain import checked

Floats = NDArray[np.float64]
Statistic: TypeAlias = MomentTally | CategoryTally | CellTally | Tally


@dataclass(frozen=True)
class _ColumnBlock:
    """Columns, and what is chosen for their distribution."""

    columns: tuple[str, ...]
    conditional: Any
    kind: ClassVar[str]
    choices: ClassVar[type]  # of the conditional
    column_kind: ClassVar[Kind] = "number"  # of its columns

    def kept_as(self, name: str) -> Kind:
        """How one of its columns is kept."""
        return self.column_kind

    def as_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {"kind": self.kind, "columns": list(self.columns), **asdict(self.conditional)}

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Self:
        """The block that `as_dict` made plain data of."""
        return cls(tuple(plain.pop("columns")), cls.choices(**checked(cls.choices, plain)))

    def rereading(self) -> Self:
        """The same block for rows that are kept."""
        return self

    def arrays(self, statistic: Any) -> Arrays:
        """The statistic as arrays, for a file."""
        arrays: Arrays = statistic.arrays()
        return arrays


@dataclass(frozen=True)
class Numbers(_ColumnBlock):
    """Columns of numbers, and of vectors: a Gaussian distribution of them all.

    ``sizes`` are those of vectors, 0 for a column of numbers; none where all columns are of numbers.
    """

    conditional: Gaussian
    sizes: tuple[int, ...] = ()
    kind: ClassVar[str] = "numbers"
    choices: ClassVar[type] = Gaussian

    @property
    def means(self) -> str:
        """What is assumed, in a word or two."""
        return {"diagonal": "Gaussian", "shared": "Gaussian, one covariance"}.get(
            self.conditional.covariance, "Gaussian, own covariance"
        )

    def count(self, batch: Batch, first: int = 1) -> MomentTally:
        """The moments of a batch, whose first row has a number for errors to name."""
        classes, codes = class_codes(batch)
        full = self.conditional.is_full
        try:
            return MomentTally.of(self.values(batch), codes, classes, batch.weights, full=full, first=first)
        except InputError as error:
            raise InputError(self._with_name(error.problem), hint=error.hint) from error

    def fit(self, tally: MomentTally) -> Likelihood:
        """The Gaussian distributions."""
        return _Gaussian(tally.classes, self, self.conditional.fit(tally.moments()))

    def values(self, batch: Batch) -> Floats:
        """The numbers (N, V)."""
        return np.column_stack([batch.columns[name] for name in self.columns])

    @property
    def widths(self) -> tuple[int, ...]:
        """How many numbers each column has."""
        return tuple(max(size, 1) for size in self.sizes) or (1,) * len(self.columns)

    @property
    def owners(self) -> tuple[str, ...]:
        """The column of each number, (V,)."""
        pairs = zip(self.columns, self.widths, strict=True)
        return tuple(name for name, width in pairs for _ in range(width))

    def kept_as(self, name: str) -> Kind:
        """How one of its columns is kept."""
        size = self.sizes[self.columns.index(name)] if self.sizes else 0
        return Vector(size) if size else "number"

    def as_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {**super().as_dict(), **({"sizes": list(self.sizes)} if any(self.sizes) else {})}

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Self:
        """The block that `as_dict` made plain data of."""
        sizes = _sizes(plain)
        return replace(super().of_dict(plain), sizes=sizes)

    def _with_name(self, problem: str) -> str:
        head, found, number = problem.rpartition(" in column ")
        if found and number.isdigit() and int(number) < len(self.owners):
            return f"{head} in column `{self.owners[int(number)]}`"
        return problem

    def of_arrays(self, arrays: Arrays, classes: tuple[str, ...]) -> MomentTally:
        """The moments that `arrays` made."""
        return MomentTally.of_arrays(arrays, classes, sum(self.widths), full=self.conditional.is_full)


def _sizes(plain: dict[str, Any]) -> tuple[int, ...]:
    """The sizes of vectors in the plain data of a block, from which they are taken."""
    sizes = plain.pop("sizes", [])
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise InputError("the sizes of vectors must be whole numbers")
    if sizes and len(sizes) != len(plain["columns"]):
        raise InputError(f"there are {len(plain['columns'])} columns, but sizes of {len(sizes)}")
    return tuple(sizes)


@dataclass(frozen=True)
class Vectors(Numbers):
    """A column of vectors as features of softmax regression, worth ``scale``; see `TableFeatures`."""

    scale: float = 1.0
    kind: ClassVar[str] = "vectors"

    def as_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {**super().as_dict(), "scale": self.scale}

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Self:
        """The block that `as_dict` made plain data of."""
        scale = checked_scale(plain.pop("scale"))
        return replace(super().of_dict(plain), scale=scale)


def checked_scale(scale: object) -> float:
    """What the features of a block are worth, if it is a number above zero."""
    if not isinstance(scale, float) or not 1e-12 < scale < 1e12:
        raise InputError(f"the scale of a block must be a number above 0, got {scale!r}")
    return scale


@dataclass(frozen=True, eq=False)
class _Gaussian:
    classes: tuple[str, ...]
    block: Numbers
    gaussians: Diagonal | Full

    def log_likelihood(self, batch: Batch) -> Floats:
        values = self.block.values(batch)
        if isinstance(self.gaussians, Full):
            _refuse_missing(values, self.block.owners)
        return self.gaussians.log_density(values)

    def log_unseen(self, batch: Batch) -> Floats:
        return np.zeros((len(batch), len(self.classes)))

    def by_column(self, batch: Batch) -> dict[str, Floats]:
        if isinstance(self.gaussians, Full):
            return {joined(self.block.columns): self.log_likelihood(batch)}
        each = self.gaussians.by_column(self.block.values(batch))
        ends = np.cumsum(self.block.widths)
        spans = zip(self.block.columns, self.block.widths, ends.tolist(), strict=True)
        return {name: each[:, end - width : end].sum(axis=1) for name, width, end in spans}


def _refuse_missing(values: Floats, columns: tuple[str, ...]) -> None:
    gaps = np.isnan(values)
    if gaps.any():
        row, column = np.argwhere(gaps)[0]
        raise InputError(
            f"row {row + 1} has no number in column `{columns[column]}`, and lda and qda need them all",
            hint="fill it in, or train with the learner mixed, which leaves out what is missing",
        )


@dataclass(frozen=True)
class Categories(_ColumnBlock):
    """Columns of categories, each by itself."""

    kind: ClassVar[str] = "categories"
    means: ClassVar[str] = "categorical"
    column_kind: ClassVar[Kind] = "category"
    choices: ClassVar[type] = Categorical
    tallies: ClassVar[type[CategoryTally | CellTally]] = CategoryTally

    def count(self, batch: Batch, first: int = 1) -> CategoryTally | CellTally:
        """Rows by class and category."""
        return self.tallies.of(self.coded(batch), batch.labels, batch.weights)

    def fit(self, tally: Any) -> Likelihood:
        """The distributions over categories."""
        return _Categorical(self, self.conditional.fit(tally))

    def coded(self, batch: Batch) -> dict[str, Any]:
        """The columns of the block."""
        return {name: batch.columns[name] for name in self.columns}

    def by_column(self, estimate: Any, columns: dict[str, Any]) -> dict[str, Floats]:
        """What each column contributes, (N, K) by name."""
        each = estimate.by_column(columns)
        return {name: each[:, j] for j, name in enumerate(estimate.columns)}

    def of_arrays(self, arrays: Arrays, classes: tuple[str, ...]) -> CategoryTally | CellTally:
        """The counts that `arrays` made."""
        tally = self.tallies.of_arrays(arrays)
        if tuple(tally.columns) != tuple(sorted(self.columns)):
            raise InputError("its counts are not those of its columns")
        return tally


@dataclass(frozen=True, eq=False)
class _Categorical:
    block: Categories
    estimate: CategoricalEstimate | TableEstimate

    @property
    def classes(self) -> tuple[str, ...]:
        return self.estimate.classes

    def log_likelihood(self, batch: Batch) -> Floats:
        return self.estimate.log_likelihood(self.block.coded(batch))

    def log_unseen(self, batch: Batch) -> Floats:
        coded = self.block.coded(batch)
        unseen = self.estimate.log_unseen(coded)
        if isinstance(self.block, Bins):
            assert isinstance(self.estimate, CategoricalEstimate)
            for name, at in zip(self.estimate.columns, self.estimate.rows(coded), strict=True):
                unseen -= np.where(at == UNSEEN_ROW, self.block.beyond(name, batch), 0.0)[:, None]
        return unseen

    def by_column(self, batch: Batch) -> dict[str, Floats]:
        return self.block.by_column(self.estimate, self.block.coded(batch))


@dataclass(frozen=True)
class Bins(Categories):
    """Columns of numbers, each cut into intervals that are categories.

    For numbers that are not at all Gaussian: many zeros and a long tail, or a few values that come again
    and again. ``edges`` are upper ends, inclusive; the last interval has none.
    """

    edges: tuple[tuple[float, ...], ...] = ()  # one for each column, ascending
    kind: ClassVar[str] = "bins"
    means: ClassVar[str] = "intervals"
    column_kind: ClassVar[Kind] = "number"

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.columns):
            raise InputError(f"there are {len(self.columns)} columns, but edges for {len(self.edges)}")
        for edges in self.edges:
            if not all(np.isfinite(edges)) or not all(a < b for a, b in itertools.pairwise(edges)):
                raise InputError("the edges of bins must be numbers in ascending order")

    def coded(self, batch: Batch) -> dict[str, CodedColumn]:
        """The number of the interval of each value."""
        found = {}
        for name, edges in zip(self.columns, self.edges, strict=True):
            values = batch.columns[name]
            codes = np.searchsorted(np.array(edges), values, side="left").astype(np.int32)
            codes[np.isnan(values)] = -1
            names = [f"up to {edge!r}" for edge in edges]
            names.append(f"above {edges[-1]!r}" if edges else "any")
            found[name] = CodedColumn(tuple(names), codes)
        return found

    def beyond(self, name: str, batch: Batch) -> Floats:
        """How far values lie beyond the outermost edges, in mean widths of intervals, (N,).

        Beyond the edges the probability of being so far out or further falls by a factor e with each.
        """
        values, edges = batch.columns[name], self.edges[self.columns.index(name)]
        if not edges:
            return np.zeros(len(values))
        away = np.nan_to_num(np.maximum(np.maximum(values - edges[-1], edges[0] - values), 0.0))
        width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1)
        return np.asarray(np.minimum(away / max(width, 1e-300), -LOG_ZERO))

    def as_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {**super().as_dict(), "edges": [list(each) for each in self.edges]}

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Self:
        """The block that `as_dict` made plain data of."""
        edges = tuple(tuple(float(edge) for edge in each) for each in plain.pop("edges"))
        return cls(tuple(plain.pop("columns")), cls.choices(**checked(cls.choices, plain)), edges)


@dataclass(frozen=True)
class Cells(Categories):
    """Columns of categories, all together."""

    kind: ClassVar[str] = "cells"
    means: ClassVar[str] = "full table"
    choices: ClassVar[type] = FullTable
    tallies = CellTally

    def by_column(self, estimate: Any, columns: dict[str, Any]) -> dict[str, Floats]:
        """What all columns together contribute, (N, K), under one name."""
        return {joined(self.columns): estimate.log_likelihood(columns)}


@dataclass(frozen=True)
class Words:
    """A column of texts: naive Bayes of its words."""

    columns: tuple[str, ...]  # one
    recipe: Recipe
    kind: ClassVar[str] = "words"
    means: ClassVar[str] = "multinomial of words"

    def kept_as(self, name: str) -> Kind:
        """How its column is kept."""
        return self.recipe.settings

    def rereading(self) -> Self:
        """The same block for texts that are kept, which are prepared already."""
        return replace(self, recipe=replace(self.recipe, settings=reread(self.recipe.settings)))

    def count(self, batch: Batch, first: int = 1) -> Tally:
        """The words of a batch."""
        return Tally.count([self.texts(batch)], settings=self.recipe.settings)

    def texts(self, batch: Batch) -> Batch:
        """The texts of a batch."""
        return Batch(batch.columns[self.columns[0]], batch.labels, batch.weights)

    def fit(self, tally: Tally) -> Likelihood:
        """The distributions over words."""
        return _Words(self.columns[0], TextModel.of_tally(tally, self.recipe))

    def as_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {"kind": self.kind, "columns": list(self.columns), "recipe": self.recipe.as_dict()}

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Self:
        """The block that `as_dict` made plain data of."""
        columns = tuple(plain.pop("columns"))
        if len(columns) != 1:
            raise InputError("a block of words has one column")
        recipe = Recipe.of_dict(plain["recipe"])
        if cls is Words and not isinstance(recipe.learner, MultinomialLearner):
            raise InputError("a block of words is one of a multinomial model")
        return cls(columns, recipe)

    def arrays(self, tally: Tally) -> Arrays:
        """The counts as arrays, for a file."""
        return tally_arrays(tally)

    def of_arrays(self, arrays: Arrays, classes: tuple[str, ...]) -> Tally:
        """The counts that `arrays` made."""
        return tally_of_arrays(arrays, classes)


@dataclass(frozen=True)
class Terms(Words):
    """A column of texts as features of softmax regression, worth ``scale``; see `TableFeatures`."""

    scale: float = 1.0
    kind: ClassVar[str] = "terms"
    means: ClassVar[str] = "tf-idf of words"

    def as_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {**super().as_dict(), "scale": self.scale}

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Self:
        """The block that `as_dict` made plain data of."""
        scale = checked_scale(plain.pop("scale"))
        found = replace(super().of_dict(plain), scale=scale)
        if found.recipe.weighting is None:
            raise InputError("a block of terms weighs them")
        return found


@dataclass(frozen=True, eq=False)
class _Words:
    column: str
    model: TextModel

    @property
    def classes(self) -> tuple[str, ...]:
        return self.model.class_names

    def log_likelihood(self, batch: Batch) -> Floats:
        texts = Batch(batch.columns[self.column], None, None)
        return TextDensity(self.model).log_likelihood(texts)  # evidence, be it a distribution of texts or not

    def log_unseen(self, batch: Batch) -> Floats:
        return TextDensity(self.model).log_unknown(Batch(batch.columns[self.column], None, None))

    def by_column(self, batch: Batch) -> dict[str, Floats]:
        return {self.column: self.log_likelihood(batch)}


@dataclass(frozen=True)
class ColumnChoice:
    """What a column is taken for, and why."""

    column: str
    conditional: str
    why: str


Block: TypeAlias = Numbers | Vectors | Bins | Categories | Cells | Words | Terms
BLOCKS: dict[str, type[Block]] = {
    kind.kind: kind for kind in (Numbers, Vectors, Bins, Categories, Cells, Words, Terms)
}


def block_of_dict(plain: dict[str, Any]) -> Block:
    """The block that its `as_dict` made plain data of."""
    plain = dict(plain)
    kind = plain.pop("kind")
    if kind not in BLOCKS or not all(isinstance(name, str) for name in plain["columns"]):
        raise InputError(f"there is no block of {kind!r}")
    return BLOCKS[kind].of_dict(plain)


def class_codes(batch: Batch) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The classes of a batch, sorted, and the number of each row's."""
    labels = coded_labels(batch.labels, len(batch))
    order = sorted(range(len(labels.names)), key=labels.names.__getitem__)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return tuple(labels.names[at] for at in order), place[labels.codes]
