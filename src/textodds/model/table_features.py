"""The columns of a table as the features of a linear model: numbers standardised, categories one-hot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.errors import require
from textodds.learn.arrays import Floats, Integers, Matrix
from textodds.learn.conditionals.categorical import MISSING_ROW, UNSEEN_ROW, CategoricalEstimate
from textodds.model.blocks import Block, Categories, Numbers, TableTally
from textodds.stats.moments import Moments


@dataclass(frozen=True, eq=False)
class TableFeatures:
    r"""Which features the columns of a table make.

    A number x of a column with mean m and standard deviation s over all rows is the feature

    .. math:: z = (x - m) / s                                                         \tag{1}

    and a missing one is z = 0, which is the mean; a column in which numbers are missing has a second feature,
    which is 1 where that is so. A category is 1 in the feature of its own, and a missing one is a category
    like others. A category that was never seen has no feature, and says nothing.

    What they are follows from counts and exact sums, so that it is the same whatever the order of the rows.
    """

    numbers: tuple[str, ...]  # (A,)
    mean: Floats  # (A,)
    scale: Floats  # (A,) standard deviations; 1 of a column that does not vary
    gaps: tuple[int, ...]  # numbers of the columns of numbers in which some are missing
    categories: CategoricalEstimate | None
    has_gap: tuple[bool, ...]  # (J,) whether categories are missing

    @classmethod
    def of(cls, blocks: Sequence[Block], tally: TableTally) -> TableFeatures:
        """The features of the columns of these blocks, by what was counted in them."""
        names: tuple[str, ...] = ()
        mean, scale, gaps = np.zeros(0), np.zeros(0), np.zeros(0, np.bool_)
        estimate, has_gap = None, ()
        for block, part in zip(blocks, tally.parts, strict=True):
            if isinstance(block, Numbers):
                names = block.columns
                mean, scale, gaps = _standard(part.moments())  # type: ignore[union-attr]
            elif isinstance(block, Categories):
                estimate = block.conditional.fit(part)
                has_gap = tuple((part.missing.sum(axis=1) > 0).tolist())  # type: ignore[union-attr]
        return cls(names, mean, scale, tuple(np.flatnonzero(gaps).tolist()), estimate, has_gap)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many features each column of categories has, (J,)."""
        if self.categories is None:
            return ()
        named = zip(self.categories.categories, self.has_gap, strict=True)
        return tuple(len(names) + gap for names, gap in named)

    @property
    def n_features(self) -> int:
        """V."""
        return len(self.numbers) + len(self.gaps) + sum(self.sizes)

    def rows(self, batch: Batch) -> Matrix:
        """The rows of a batch, (N, V): dense where all columns are numbers, else SciPy sparse."""
        dense = self._dense(batch)
        if self.categories is None:
            return dense
        require("scipy", why="softmax regression of a table with categories")
        from scipy import sparse

        parts = [sparse.csr_array(dense)] if dense.shape[1] else []
        for at, size in zip(self._places(batch), self.sizes, strict=True):
            there = np.flatnonzero(at >= 0)
            ones = np.ones(len(there)), (there, at[there])
            parts.append(sparse.csr_array(ones, shape=(len(batch), size)))
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def by_column(self, batch: Batch, weights: Floats) -> Iterator[tuple[str, Floats]]:
        """What each column adds to the scores by weights (V, K): its name, and (N, K)."""
        dense, A = self._dense(batch), len(self.numbers)
        for v, name in enumerate(self.numbers):
            own = [v, *(A + g for g, at in enumerate(self.gaps) if at == v)]
            yield name, dense[:, own] @ weights[own]
        start = A + len(self.gaps)
        if self.categories is None:
            return
        places = zip(self.categories.columns, self._places(batch), self.sizes, strict=True)
        for name, at, size in places:
            own_weights = np.vstack([weights[start : start + size], np.zeros((1, weights.shape[1]))])
            yield name, own_weights[at]  # -1 is the last, which says nothing
            start += size

    def names(self) -> list[tuple[str, str]]:
        """The column of each feature, and which of its features it is."""
        found = [(name, "") for name in self.numbers]
        found += [(self.numbers[v], "missing") for v in self.gaps]
        if self.categories is not None:
            named = zip(self.categories.columns, self.categories.categories, self.has_gap, strict=True)
            for column, names, gap in named:
                found += [(column, f"= {name}") for name in names] + [(column, "missing")] * gap
        return found

    def _dense(self, batch: Batch) -> Floats:
        """The features of numbers, and of their being missing, (N, A + gaps)."""
        if not self.numbers:
            return np.zeros((len(batch), 0))
        values = np.stack([batch.columns[name] for name in self.numbers], axis=1)
        z = (values - self.mean) / self.scale  # (1)
        absent = np.isnan(values)
        return np.hstack([np.where(absent, 0.0, z), absent[:, list(self.gaps)].astype(np.float64)])

    def _places(self, batch: Batch) -> list[Integers]:
        """The feature of each row among those of each column of categories, (J,) of (N,); -1 for none."""
        assert self.categories is not None
        coded = {name: batch.columns[name] for name in self.categories.columns}
        found = []
        columns = zip(self.categories.rows(coded), self.categories.categories, self.has_gap, strict=True)
        for at, names, gap in columns:
            missing = len(names) if gap else -1
            place = np.where(at == MISSING_ROW, missing, np.where(at == UNSEEN_ROW, -1, at))
            found.append(place.astype(np.int64))
        return found


def _standard(moments: Moments) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Mean and deviation of each column over all classes, (V,), and whether it has gaps."""
    n = moments.count.sum(axis=0)  # (V,)
    some = np.maximum(n, 1e-300)
    mean = (moments.count * moments.mean).sum(axis=0) / some
    between = (moments.count * (moments.mean - mean) ** 2).sum(axis=0)
    scale = np.sqrt((moments.scatter.sum(axis=0) + between) / some)
    return mean, np.where(scale > 0, scale, 1.0), n < moments.class_rows.sum()
