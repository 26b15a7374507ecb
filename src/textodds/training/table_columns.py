"""Which blocks the columns of a table make, by their kinds and by what suits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Column, Schema
from textodds.data.schema import GIVEN
from textodds.errors import InputError, NoData, suggestion
from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.covariance import chosen
from textodds.learn.design import LabelledRows
from textodds.learn.discriminant import (
    GaussianLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
)
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.registry import Learner
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.learn.tables import CategoricalLearner, JointTableLearner, MixedLearner
from textodds.model.tables.blocks import (
    Bins,
    Block,
    Categories,
    Cells,
    ColumnChoice,
    Numbers,
    Terms,
    Vectors,
    Words,
    class_codes,
)
from textodds.stats.categories import CategoryTally
from textodds.stats.distributions import student_cdf
from textodds.training.choose.candidates import recipe_with
from textodds.training.table_scales import chosen_terms

Floats = NDArray[np.float64]
INTERVALS = 32
"""Intervals of a column at most, but for those of single values."""

FEWEST = 8
"""Rows that an interval needs to be one."""

CLEARLY = 3.0
"""By how much intervals must make held-out rows more likely (e^3 is 20 times) to be preferred."""

CHOICES = ("number", "gaussian", "bins", "vector", "category", "text", "ignore")
"""What a user may say that a column is."""


def kinds_of(columns: Mapping[str, str]) -> dict[str, str]:
    """The kinds in which columns are to be read, where users said something of them."""
    for name, choice in columns.items():
        if choice not in CHOICES:
            raise InputError(
                f"column `{name}` cannot be `{choice}`{suggestion(choice, CHOICES)}",
                hint=f"one of {', '.join(CHOICES)}",
            )
    numbers = ("number", "gaussian", "bins")
    return {name: "number" if choice in numbers else choice for name, choice in columns.items()}


def as_read(learner: Learner, schema: Schema) -> dict[str, str]:
    """Kinds that a learner needs where columns were found to be something else."""
    if learner.entry.column_kind != "category":
        return {}
    return {column.name: "category" for column in schema.columns if column.kind == "number"}


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table, and what they are chosen by.

    ``first`` are some rows; ``said`` is what the user said that columns are, ``words`` how texts are cut.
    """

    schema: Schema
    first: Batch
    said: Mapping[str, str]
    words: Mapping[str, object]

    def blocks(self, learner: Learner) -> tuple[tuple[Block, ...], tuple[ColumnChoice, ...]]:
        """The blocks of the table, and what was chosen for each column."""
        used = [column for column in self.schema.columns if column.kind != "ignore"]
        if not isinstance(learner, MixedLearner):
            self._refuse_single(learner)
        if not used:
            raise NoData(
                "no column is left to learn from",
                hint="say what columns are, as in `--columns age=number` (columns={'age': 'number'})",
            )
        if isinstance(learner, MixedLearner):
            blocks, how = self._mixed(learner)
        elif isinstance(learner, SoftmaxLearner):
            blocks, how = self._features()
        else:
            _refuse_others(learner, used)
            blocks = [self._block(learner, tuple(column.name for column in used))]
            how = dict.fromkeys(blocks[0].columns, blocks[0].means)
        if self.words and not any(isinstance(block, Words) for block in blocks):
            raise InputError(
                f"`{next(iter(self.words))}` applies to texts, and no column is text",
                hint="leave it out, or say which column is: `--columns NAME=text` (columns={'NAME': 'text'})",
            )
        whys = {column.name: column.why for column in self.schema.columns}
        if learner.entry.column_kind == "category":
            found = (name for name, why in whys.items() if why == GIVEN and name not in self.said)
            whys |= dict.fromkeys(list(found), "taken as a category")
        choices = [ColumnChoice(name, how.get(name, "left out"), why) for name, why in whys.items()]
        return tuple(blocks), tuple(choices)

    def _refuse_single(self, learner: Learner) -> None:
        """Refuse what is said of single columns where the learner takes all of them alike."""
        for name, choice in self.said.items():
            if choice == "bins" or (choice == "gaussian" and not isinstance(learner, GaussianLearner)):
                raise InputError(
                    f"column `{name}` cannot be `{choice}` here",
                    hint="the learner mixed takes columns one by one",
                )

    def _block(self, learner: Learner, names: tuple[str, ...]) -> Block:
        """The one block of a learner that takes all columns alike."""
        if isinstance(learner, CategoricalLearner):
            return Categories(names, learner.density)
        if isinstance(learner, JointTableLearner):
            # Refused, if it must be, before all rows are counted.
            columns = {name: self.first.columns[name] for name in names}
            learner.density.cells(CategoryTally.of(columns, self.first.labels))
            return Cells(names, learner.density)
        return Numbers(names, _gaussian(learner, self.first, names), self._sizes(names))

    def _sizes(self, names: Sequence[str]) -> tuple[int, ...]:
        """The sizes of columns that are vectors, 0 of the others; none if all are numbers."""
        sizes = {column.name: column.size or 0 for column in self.schema.columns}
        return tuple(sizes[name] for name in names) if any(sizes[name] for name in names) else ()

    def _features(self) -> tuple[list[Block], dict[str, str]]:
        """The blocks of softmax regression: their statistics say how numbers are standardised."""
        blocks: list[Block] = []
        how: dict[str, str] = {}
        if numbers := self.schema.names("number"):
            blocks.append(Numbers(tuple(numbers), Gaussian("diagonal")))
            how |= dict.fromkeys(numbers, "standardised")
        if categories := self.schema.names("category"):
            blocks.append(Categories(tuple(categories), Categorical()))
            how |= dict.fromkeys(categories, "one-hot")
        for name in self.schema.names("vector"):
            blocks.append(Vectors((name,), Gaussian("diagonal"), self._sizes([name])))
            how[name] = "centred"
        for name in self.schema.names("text"):
            features, recipe = chosen_terms(self.first, name, self.words)
            blocks.append(Terms((name,), recipe))
            how[name] = f"tf-idf of {features}"
        return blocks, how

    def _mixed(self, learner: MixedLearner) -> tuple[list[Block], dict[str, str]]:
        blocks: list[Block] = []
        how: dict[str, str] = {}
        numbers, cut = [], {}
        for name in self.schema.names("number"):
            values = self.first.columns[name]
            edges = edges_of(values, self.first.weights)
            wanted = self.said.get(name, "number")
            if wanted == "bins" or (wanted == "number" and prefers_bins(self.first, name, edges)):
                cut[name] = with_range(edges, values, self.first.weights)
                occupied = np.unique(np.searchsorted(edges, values[~np.isnan(values)], side="left"))
                how[name] = f"{len(occupied)} intervals"
            else:
                numbers.append(name)
                how[name] = "Gaussian"
        if numbers:
            blocks.append(Numbers(tuple(numbers), learner.gaussian))
        for name in self.schema.names("vector"):
            gaussian = _gaussian(LinearDiscriminantLearner(), self.first, (name,))
            blocks.append(Numbers((name,), gaussian, self._sizes([name])))
            how[name] = "Gaussian, one covariance"
        if cut:
            ends = tuple(tuple(edges.tolist()) for edges in cut.values())
            blocks.append(Bins(tuple(cut), learner.categorical, ends))
        if categories := self.schema.names("category"):
            blocks.append(Categories(tuple(categories), learner.categorical))
            how |= dict.fromkeys(categories, "categorical")
        for name in self.schema.names("text"):
            recipe = recipe_with(MultinomialLearner(alpha=learner.word_alpha), self.words)
            blocks.append(Words((name,), recipe))
            how[name] = "multinomial of words"
        return blocks, how


def _gaussian(learner: Learner, first: Batch, names: tuple[str, ...]) -> Gaussian:
    """The Gaussian of a learner; of a discriminant its shrinkage is chosen by the first rows."""
    if isinstance(learner, GaussianLearner):
        return learner.gaussian
    assert isinstance(learner, (LinearDiscriminantLearner, QuadraticDiscriminantLearner))
    covariance = "shared" if isinstance(learner, LinearDiscriminantLearner) else "full"
    pooling = learner.pooling if isinstance(learner, QuadraticDiscriminantLearner) else 0.0
    rows = np.column_stack([first.columns[name] for name in names])
    there = ~np.isnan(rows).any(axis=1)
    if not there.any():
        gaps = [np.isnan(first.columns[name]).mean() for name in names]
        raise NoData(
            f"no row has all of its numbers; `{names[int(np.argmax(gaps))]}` lacks most of them",
            hint="leave that column out, or use the learner mixed, which takes missing numbers",
        )
    classes, codes = class_codes(first)
    weights = np.ones(len(rows)) if first.weights is None else first.weights
    if not weights[there].any():
        raise NoData("no row that has all of its numbers weighs anything", hint="use the learner mixed")
    data = LabelledRows(rows[there], classes, codes[there], weights[there])
    gaussian = chosen(covariance, learner.shrinkage, data, pooling=pooling)
    if isinstance(gaussian.shrinkage, dict):
        # Classes may come later that the first rows do not have: one intensity for all, by their weight.
        mass = np.bincount(codes[there], weights[there], len(classes))
        values = np.array([gaussian.shrinkage[name] for name in classes])
        level = float(values @ mass / mass.sum())
        gaussian = Gaussian(covariance, level, pooling=pooling)
    return gaussian


def _refuse_others(learner: Learner, used: list[Column]) -> None:
    """Refuse columns that are of other kinds than a learner takes."""
    wanted = learner.entry.column_kind or "number"
    kinds = ("number", "vector") if wanted == "number" else (wanted,)
    others = [column for column in used if column.kind not in kinds]
    if others:
        taken = " and ".join(map(_plural, kinds))
        column = others[0]
        numbers = ""
        if wanted == "number" and column.why in ("two values", "one value"):
            numbers = f", or take it for numbers: `--columns {column.name}=number`"
        ignored = ",".join(f"{other.name}=ignore" for other in others[:20]) + ("," + "…") * (len(others) > 20)
        raise InputError(
            f"column `{column.name}` is one of {_plural(column.kind)} ({column.why}), "
            f"and {type(learner).__name__} takes {taken} only",
            hint=f"use the learner mixed, or leave it out: `--columns {ignored}` "
            f"(columns={{{column.name!r}: 'ignore'}}){numbers}",
        )


def _plural(kind: str) -> str:
    return {"category": "categories"}.get(kind, f"{kind}s")


def edges_of(values: Floats, weights: Floats | None = None) -> Floats:
    """Upper ends of intervals of about equal weight; a frequent value has one of its own.

    Examples
    --------
    >>> edges_of(np.array([1.0] * 90 + [float(n) for n in range(2, 34)]))
    array([ 1.,  1.,  9., 17., 25.])
    """
    u = np.ones(len(values)) if weights is None else weights
    known = ~np.isnan(values) & (u > 0)
    each, inverse = np.unique(values[known], return_inverse=True)
    mass = np.bincount(inverse, u[known], len(each))  # (D,) weight of each different value
    is_frequent = (mass * INTERVALS >= mass.sum()) & (mass >= FEWEST)
    edges = np.concatenate([each[is_frequent], np.nextafter(each[is_frequent], -np.inf)])
    rest, total = mass[~is_frequent], float(mass.sum())
    parts = min(max(round(INTERVALS * rest.sum() / max(total, 1.0)), 4), int(rest.sum() // FEWEST))
    if parts > 1:
        wanted = np.arange(1, parts) / parts * rest.sum()
        edges = np.concatenate([edges, each[~is_frequent][np.searchsorted(np.cumsum(rest), wanted)]])
    return np.unique(edges)


def with_range(edges: Floats, values: Floats, weights: Floats | None = None) -> Floats:
    """Edges with the least and the largest value, so that what lies beyond is in intervals of its own.

    No row is in these, and they are as unlikely as a category never seen: 999 is not an age above 66.

    >>> with_range(np.array([9.0, 17.0]), np.array([2.0, 9.0, 12.0, 33.0]))
    array([ 2.,  9., 17., 33.])
    """
    known = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    if not known.any():
        return edges
    least, most = values[known].min(), values[known].max()
    return np.union1d(edges, [np.nextafter(least, -np.inf), most])


def prefers_bins(first: Batch, name: str, edges: Floats) -> bool:
    """Whether held-out values are clearly more likely to fall where they do by counts than by a Gaussian.

    Both are of few rows, and say so: the counts have one row more in each interval, the Gaussian is the t
    distribution of a new value, with a little for what it does not foresee.
    """
    values = first.columns[name]
    weights = np.ones(len(values)) if first.weights is None else first.weights
    classes, codes = class_codes(first)
    known = ~np.isnan(values) & (weights > 0)
    values, codes, weights = values[known], codes[known], weights[known]
    half = np.random.default_rng(0).random(len(values)) < 0.5
    place = np.searchsorted(edges, values, side="left")
    cells = len(edges) + 1
    least = 1e-9 * float(np.ptp(values)) if len(values) else 0.0  # a class may not vary at all
    gain = 0.0
    for k in range(len(classes)):
        seen, held = half & (codes == k), ~half & (codes == k)
        n = int(seen.sum())
        if n < 2 or not held.any():
            continue
        counts = np.bincount(place[seen], weights[seen], cells)
        by_counts = np.log((counts + 1) / (counts.sum() + cells))
        mean = np.average(values[seen], weights=weights[seen])
        spread = np.sqrt(np.average((values[seen] - mean) ** 2, weights=weights[seen]))
        scale = max(float(spread) * np.sqrt((n + 1) / (n - 1)), least, 1e-300)
        share = np.diff(np.concatenate([[0.0], student_cdf((edges - mean) / scale, n - 1), [1.0]]))
        by_gaussian = np.log(0.98 * share + 0.02 / cells)
        gain += float(weights[held] @ (by_counts - by_gaussian)[place[held]])
    return gain > CLEARLY
