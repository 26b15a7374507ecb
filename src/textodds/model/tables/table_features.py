"""The columns of a table as the features of a linear model: standardised, one-hot, or weighted terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.learn.arrays import Floats, Integers, Matrix
from textodds.learn.conditionals.categorical import MISSING_ROW, UNSEEN_ROW, CategoricalEstimate
from textodds.learn.recipe import selected
from textodds.model.scorer import TextScorer, no_weights
from textodds.model.tables.blocks import Block, Categories, Numbers, Terms, Vectors
from textodds.model.tables.table_tally import TableTally
from textodds.stats.compressed_rows import CompressedRows, beside, of_dense
from textodds.stats.moments import Moments
from textodds.stats.tally import Tally
from textodds.text import Vocabulary


@dataclass(frozen=True, eq=False)
class NumberFeatures:
    """Columns of numbers, standardised one by one; see (1) of `TableFeatures`."""

    columns: tuple[str, ...]  # (A,)
    mean: Floats  # (A,)
    scale: Floats  # (A,) standard deviations; 1 of a column that does not vary
    gaps: tuple[int, ...]  # numbers of the columns in which some are missing

    @classmethod
    def of(cls, columns: tuple[str, ...], moments: Moments) -> NumberFeatures:
        """The features of columns, by their moments."""
        mean, deviation, gaps = _standard(moments)
        scale = np.where(deviation > 0, deviation, 1.0)
        return cls(columns, mean, scale, tuple(np.flatnonzero(gaps).tolist()))

    def rows(self, batch: Batch) -> Floats:
        """The numbers, and whether they are missing, (N, A + gaps)."""
        values = np.stack([batch.columns[name] for name in self.columns], axis=1)
        absent = np.isnan(values)
        z = np.where(absent, 0.0, (values - self.mean) / self.scale)  # (1)
        return np.hstack([z, absent[:, list(self.gaps)].astype(np.float64)])

    def by_column(self, batch: Batch, weights: Floats) -> Iterator[tuple[str, Floats]]:
        """What each column adds to the scores by its weights: its name, and (N, K)."""
        dense, A = self.rows(batch), len(self.columns)
        for v, name in enumerate(self.columns):
            own = [v, *(A + g for g, at in enumerate(self.gaps) if at == v)]
            yield name, dense[:, own] @ weights[own]

    def names(self) -> list[tuple[str, str]]:
        """The column of each feature, and which of its features it is."""
        return [(name, "") for name in self.columns] + [(self.columns[v], "missing") for v in self.gaps]


@dataclass(frozen=True, eq=False)
class CategoryFeatures:
    """Columns of categories, one-hot."""

    estimate: CategoricalEstimate
    has_gap: tuple[bool, ...]  # (J,) whether categories are missing

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many features each column has, (J,)."""
        named = zip(self.estimate.categories, self.has_gap, strict=True)
        return tuple(len(names) + gap for names, gap in named)

    def rows(self, batch: Batch) -> CompressedRows:
        """A one for every category that is known, (N, V)."""
        first, V = 0, sum(self.sizes)
        places = []
        for at, size in zip(self._places(batch), self.sizes, strict=True):
            places.append(np.where(at >= 0, at + first, -1))
            first += size
        place = np.stack(places, axis=1)  # (N, J)
        there = place >= 0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        return CompressedRows((np.ones(starts[-1]), place[there], starts), (len(batch), V))

    def by_column(self, batch: Batch, weights: Floats) -> Iterator[tuple[str, Floats]]:
        """What each column adds to the scores by its weights: its name, and (N, K)."""
        start = 0
        for name, at, size in zip(self.estimate.columns, self._places(batch), self.sizes, strict=True):
            own_weights = np.vstack([weights[start : start + size], np.zeros((1, weights.shape[1]))])
            yield name, own_weights[at]  # -1 is the last, which says nothing
            start += size

    def names(self) -> list[tuple[str, str]]:
        """The column of each feature, and which of its features it is."""
        found = []
        named = zip(self.estimate.columns, self.estimate.categories, self.has_gap, strict=True)
        for column, names, gap in named:
            found += [(column, f"= {name}") for name in names] + [(column, "missing")] * gap
        return found

    def _places(self, batch: Batch) -> list[Integers]:
        """The feature of each row among those of each column, (J,) of (N,); -1 for none."""
        coded = {name: batch.columns[name] for name in self.estimate.columns}
        found = []
        columns = zip(self.estimate.rows(coded), self.estimate.categories, self.has_gap, strict=True)
        for at, names, gap in columns:
            missing = len(names) if gap else -1
            place = np.where(at == MISSING_ROW, missing, np.where(at == UNSEEN_ROW, -1, at))
            found.append(place.astype(np.int64))
        return found


@dataclass(frozen=True, eq=False)
class VectorFeatures:
    """A column of vectors, centred, and scaled by one number; see (2) of `TableFeatures`."""

    column: str
    mean: Floats  # (D,)
    factor: float
    has_gap: bool  # whether vectors are missing

    @classmethod
    def of(cls, block: Vectors, moments: Moments) -> VectorFeatures:
        """The features of a block, by its moments."""
        mean, deviation, gaps = _standard(moments)
        spread = float(np.sqrt(deviation @ deviation))
        return cls(block.columns[0], mean, block.scale / (spread or 1.0), bool(gaps.any()))

    def rows(self, batch: Batch) -> Floats:
        """The vectors, and whether they are missing, (N, D + 1 or 0)."""
        values = batch.columns[self.column]
        absent = np.isnan(values[:, :1])
        z = np.where(absent, 0.0, self.factor * (values - self.mean))  # (2)
        return np.hstack([z, absent.astype(np.float64)]) if self.has_gap else z

    def by_column(self, batch: Batch, weights: Floats) -> Iterator[tuple[str, Floats]]:
        """What the column adds to the scores by its weights: its name, and (N, K)."""
        yield self.column, self.rows(batch) @ weights

    def names(self) -> list[tuple[str, str]]:
        """The column of each feature, and which of its features it is."""
        each = [(self.column, f"[{d}]") for d in range(1, len(self.mean) + 1)]
        return each + [(self.column, "missing")] * self.has_gap


@dataclass(frozen=True, eq=False)
class TermFeatures:
    """The terms of a column of texts, weighted as `Weighting` has them."""

    column: str
    factor: float
    vocabulary: Vocabulary
    scorer: TextScorer = field(repr=False)

    @classmethod
    def of(cls, block: Terms, tally: Tally) -> TermFeatures:
        """The features of a block, by its counts."""
        recipe = block.recipe
        counts, vocabulary = selected(tally, recipe.selection)
        assert recipe.weighting is not None
        idf = recipe.weighting.idf_of(counts.by_feature(counts.documents), tally.n_documents)
        scorer = TextScorer(recipe, vocabulary, no_weights(len(vocabulary)), idf)
        return cls(block.columns[0], block.scale, vocabulary, scorer)

    def rows(self, batch: Batch) -> CompressedRows:
        """The weighted terms of the texts, (N, V)."""
        rows = self.scorer.rows(batch.columns[self.column])
        return CompressedRows((self.factor * rows.data, rows.indices, rows.indptr), rows.shape)

    def by_column(self, batch: Batch, weights: Floats) -> Iterator[tuple[str, Floats]]:
        """What the column adds to the scores by its weights: its name, and (N, K)."""
        yield self.column, self.rows(batch) @ weights

    def names(self) -> list[tuple[str, str]]:
        """The column of each feature, and which of its features it is."""
        return [(self.column, f"“{word}”") for word in self.vocabulary.words()]


Features: TypeAlias = NumberFeatures | CategoryFeatures | VectorFeatures | TermFeatures


@dataclass(frozen=True, eq=False)
class TableFeatures:
    r"""Which features the columns of a table make.

    A number x of a column with mean m and standard deviation s over all rows is the feature

    .. math:: z = (x - m) / s                                                         \tag{1}

    and a missing one is z = 0, which is the mean; a column in which numbers are missing has a second feature,
    which is 1 where that is so. A category is 1 in the feature of its own, and a missing one is a category
    like others. A category that was never seen has no feature, and says nothing.

    A vector x with mean m, whose squared distance to it is :math:`r^2` on average, and a text whose tf-idf
    row of unit length is v, are the features

    .. math:: z = t\, (x - m) / r, \qquad z = s\, v                                    \tag{2}

    of mean squared lengths :math:`t^2` and :math:`s^2`. One penalty for all weights is thus a prior by which
    the vector may contribute :math:`t^2 / s^2` as much variance to a score as the text. The scales t and s
    are chosen on held-out rows; directions of vectors keep the lengths that they have.

    What they are follows from counts and exact sums, so that it is the same whatever the order of the rows.
    """

    parts: tuple[Features, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, blocks: Sequence[Block], tally: TableTally) -> TableFeatures:
        """The features of the columns of these blocks, by what was counted in them."""
        found: list[Features] = []
        widths = []
        for block, part in zip(blocks, tally.parts, strict=True):
            if isinstance(block, Vectors):
                vectors = VectorFeatures.of(block, part.moments())  # type: ignore[union-attr]
                found.append(vectors)
                widths.append(len(vectors.mean) + vectors.has_gap)
            elif isinstance(block, Numbers):
                numbers = NumberFeatures.of(block.columns, part.moments())  # type: ignore[union-attr]
                found.append(numbers)
                widths.append(len(numbers.columns) + len(numbers.gaps))
            elif isinstance(block, Terms):
                assert isinstance(part, Tally)
                terms = TermFeatures.of(block, part)
                found.append(terms)
                widths.append(len(terms.vocabulary))
            else:
                assert isinstance(block, Categories)
                has_gap = tuple((part.missing.sum(axis=1) > 0).tolist())  # type: ignore[union-attr]
                categories = CategoryFeatures(block.conditional.fit(part), has_gap)
                found.append(categories)
                widths.append(sum(categories.sizes))
        return cls(tuple(found), tuple(widths))

    @property
    def n_features(self) -> int:
        """V."""
        return sum(self.widths)

    @property
    def spans(self) -> list[slice]:
        """Which features each part has."""
        ends = np.cumsum(self.widths).tolist()
        return [slice(end - width, end) for end, width in zip(ends, self.widths, strict=True)]

    def rows(self, batch: Batch) -> Matrix:
        """The rows of a batch, (N, V): dense where all columns are numbers or vectors, else sparse."""
        parts = [part.rows(batch) for part in self.parts]
        dense = [part for part in parts if isinstance(part, np.ndarray)]
        if len(dense) == len(parts):
            return np.hstack(dense)
        return beside([of_dense(part) if isinstance(part, np.ndarray) else part for part in parts])

    def by_column(self, batch: Batch, weights: Floats) -> Iterator[tuple[str, Floats]]:
        """What each column adds to the scores by weights (V, K): its name, and (N, K)."""
        for part, span in zip(self.parts, self.spans, strict=True):
            yield from part.by_column(batch, weights[span])

    def names(self) -> list[tuple[str, str]]:
        """The column of each feature, and which of its features it is."""
        return [name for part in self.parts for name in part.names()]


def _standard(moments: Moments) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Mean and deviation of each column over all classes, (V,), and whether it has gaps."""
    n = moments.count.sum(axis=0)  # (V,)
    some = np.maximum(n, 1e-300)
    mean = (moments.count * moments.mean).sum(axis=0) / some
    between = (moments.count * (moments.mean - mean) ** 2).sum(axis=0)
    return (
        mean,
        np.sqrt((moments.scatter.sum(axis=0) + between) / some),
        n < moments.class_rows.sum(),
    )
