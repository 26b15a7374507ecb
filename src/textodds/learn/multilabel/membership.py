"""Which labels each set of labels has: the step from counts by set to counts by label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from textodds.data.label_sets import MARK, labels_of_sets
from textodds.learn.arrays import Floats, Integers, Mask

LabelRows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Row i has the labels ``second[first[i] : first[i + 1]]``."""


@dataclass(frozen=True, eq=False)
class Membership:
    r"""The labels of S sets.

    Examples
    --------
    >>> sets = Membership.of(["\x1e", "\x1ea", "\x1ea\x1eb"])
    >>> sets.labels, sets.totals(np.array([5.0, 3.0, 2.0]))
    (('a', 'b'), array([5., 2.]))
    """

    labels: tuple[str, ...]  # (K,) sorted
    starts: NDArray[np.int64]  # (S + 1,)
    label_of: NDArray[np.int32]

    @classmethod
    def of(cls, sets: Sequence[str], labels: Sequence[str] | None = None) -> Membership:
        """The membership of sets by name, in all their labels, or in those given."""
        names = labels_of_sets(sets) if labels is None else tuple(labels)
        index = {name: k for k, name in enumerate(names)}
        S, flat = len(sets), "".join(sets).split(MARK)[1:]  # each label has a mark before it
        set_of = np.repeat(np.arange(S), np.fromiter(map(str.count, sets, repeat(MARK)), np.int64, S))
        label_of = np.fromiter(map(index.get, flat, repeat(-1)), np.int32, len(flat))
        known = label_of >= 0  # a set without labels has an empty one there
        sizes = np.bincount(set_of[known], minlength=S)
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(names, starts.astype(np.int64), label_of[known])

    @cached_property
    def sizes(self) -> Integers:
        """How many labels each set has, (S,)."""
        return np.diff(self.starts)

    def totals(self, by_set: Floats) -> Floats:
        """Sums over the sets that have each label, (K,), of what is given by set (S,)."""
        return np.bincount(self.label_of, np.repeat(by_set, self.sizes), len(self.labels)).astype(np.float64)

    def spread(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The labels of rows of these sets (N,), one after the other, and the row that each is of."""
        sizes = self.sizes[codes]
        rows = np.repeat(np.arange(len(codes)), sizes)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return rows, self.label_of[self.starts[codes][rows] + within]

    def rows(self, codes: NDArray[np.integer]) -> LabelRows:
        """The labels of rows of these sets (N,)."""
        starts = np.concatenate([[0], np.cumsum(self.sizes[codes], dtype=np.int64)])
        return starts.astype(np.int64), self.spread(codes)[1]

    def matrix(self, codes: NDArray[np.integer]) -> Mask:
        """Whether rows of these sets have each label, (N, K)."""
        found = np.zeros((len(codes), len(self.labels)), dtype=bool)
        found[self.spread(codes)] = True
        return found


def some_labels(rows: LabelRows, first: int, last: int) -> LabelRows:
    """The labels from ``first`` to before ``last``, counted from there."""
    starts, labels = rows
    within = (labels >= first) & (labels < last)
    before = np.concatenate([[0], np.cumsum(within, dtype=np.int64)])
    return np.ascontiguousarray(before[starts]), np.ascontiguousarray(labels[within] - np.int32(first))


def some_rows(rows: LabelRows, which: NDArray[np.intp]) -> LabelRows:
    """The labels of some rows."""
    starts, labels = rows
    sizes = np.diff(starts)[which]
    ends = np.cumsum(sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    taken = labels[np.repeat(starts[which], sizes) + within]
    return np.concatenate([[0], ends]).astype(np.int64), np.ascontiguousarray(taken)
