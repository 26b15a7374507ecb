r"""Labels that are paths in a tree, such as ``sport/football/cup``: answers that go as deep as they are sure.

The probability of an inner node is that of all labels below it,

.. math:: p(a \mid x) = \sum_{k \text{ at or below } a} p(k \mid x)                              \tag{1}

so that it falls on the way down. An answer takes the most probable branch at each level and stops above the
first node that is less probable than a threshold: sure of ``sport/football`` and not of ``cup``, it says the
former.

References
----------
Kosmopoulos, Partalas, Gaussier, Paliouras, Androutsopoulos (2015), *Evaluation measures for hierarchical
classification*, section 3.2, has the measures that count the ancestors of labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textodds.errors import InputError
from textodds.judge.evaluation import Interval, wilson
from textodds.learn.arrays import Floats, Mask

SLASH = "/"


@dataclass(frozen=True)
class LabelTree:
    """The tree that labels are paths in.

    Examples
    --------
    >>> tree = LabelTree.of(["sport/cup", "sport/league", "news"])
    >>> tree.nodes
    ('news', 'sport', 'sport/cup', 'sport/league')
    >>> tree.answers(np.array([[0.45, 0.35, 0.2]]), threshold=0.5)
    [('sport', 0.8)]
    """

    labels: tuple[str, ...]  # (K,)
    separator: str
    nodes: tuple[str, ...]  # (M,) sorted: labels, and all that stands above them

    @classmethod
    def of(cls, labels: Iterable[str], separator: str = SLASH) -> LabelTree:
        """The tree of some labels."""
        if not separator:
            raise InputError("the levels of labels need a separator", hint="give one, such as `/`")
        names = tuple(labels)
        return cls(
            names, separator, tuple(sorted({node for name in names for node in path(name, separator)}))
        )

    @cached_property
    def below(self) -> Mask:
        """Whether each label is at or below each node, (K, M)."""
        index = {node: m for m, node in enumerate(self.nodes)}
        found = np.zeros((len(self.labels), len(self.nodes)), dtype=bool)
        for k, label in enumerate(self.labels):
            found[k, [index[node] for node in path(label, self.separator)]] = True
        return found

    def probabilities(self, p: Floats) -> Floats:
        """(1) of each node, (N, M), from the probabilities of labels (N, K)."""
        return np.asarray(np.minimum(p @ self.below.astype(np.float64), 1.0))

    def answers(self, p: Floats, threshold: float = 0.5) -> list[tuple[str, float]]:
        """The deepest node that is sure enough, of labels of probabilities (N, K); empty if none is."""
        if not 0 <= threshold <= 1:
            raise InputError(f"the threshold is {threshold!r}, not a probability", hint="write 0.8")
        of_node = self.probabilities(p)
        children = self._children
        found = []
        for row in of_node:
            node, probability = "", 1.0
            while below := children.get(node):
                best = max(below, key=lambda m: (row[m], -m))
                if row[best] < threshold:
                    break
                node, probability = self.nodes[best], float(row[best])
            found.append((node, probability))
        return found

    def several(self, p: Floats, thresholds: Floats) -> list[tuple[str, ...]]:
        """Of labels that each are there or not (N, K), the deepest nodes that reach a threshold.

        A node's probability is that of at least one label at or below it, its threshold the least of theirs.
        """
        below = self.below.astype(np.float64)
        of_node = 1.0 - np.exp(np.log1p(-np.minimum(p, 1.0 - 1e-15)) @ below)
        least = np.where(self.below, thresholds[:, None], np.inf).min(axis=0)
        own = np.array([[label == node for node in self.nodes] for label in self.labels])
        given = np.where(own.any(axis=0), 0.0, 1.0) * (of_node >= least) + (p >= thresholds) @ own > 0
        parents = [path(node, self.separator)[:-1] for node in self.nodes]
        found = []
        for row in given:
            there = [self.nodes[m] for m in np.flatnonzero(row).tolist()]
            above = {each for node in there for each in parents[self.nodes.index(node)]}
            found.append(tuple(node for node in there if node not in above))
        return found

    @cached_property
    def _children(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for m, node in enumerate(self.nodes):
            above = path(node, self.separator)[:-1]
            found.setdefault(above[-1] if above else "", []).append(m)
        return found


def path(label: str, separator: str = SLASH) -> tuple[str, ...]:
    """A label with all that stands above it, the top first; empty parts do not count as levels.

    >>> path("sport/football/cup")
    ('sport', 'sport/football', 'sport/football/cup')
    """
    parts = label.split(separator)
    return tuple(separator.join(parts[: n + 1]) for n in range(len(parts)) if parts[n]) or (label,)


@dataclass(frozen=True)
class LevelQuality:
    """How good answers are at one level: the share of rows whose label and answer agree down to it.

    Of answers that stop above the level, ``answered`` says how many do not.
    """

    level: int
    accuracy: float  # of those answered
    interval: Interval
    answered: float


def by_level(
    confusion: Mapping[tuple[str, str], int], separator: str = SLASH
) -> tuple[list[LevelQuality], dict[str, float]]:
    """Accuracy at each level, and precision, recall and F1 that count ancestors, of rows by label and answer.

    Examples
    --------
    >>> rows = {("a/x", "a/x"): 6, ("a/x", "a/y"): 3, ("b", "a"): 1}
    >>> levels, ancestors = by_level(rows)
    >>> [(each.level, round(each.accuracy, 2), each.answered) for each in levels]
    [(1, 0.9, 1.0), (2, 0.67, 0.9)]
    """
    pairs = [(path(a, separator), path(b, separator) if b else (), n) for (a, b), n in confusion.items()]
    deepest = max((len(a) for a, _, _ in pairs), default=0)
    total = sum(n for _, _, n in pairs)
    levels = []
    for level in range(1, deepest + 1):
        # A label that ends above the level is answered there if it is answered to its end.
        there = [(a[:level], b[:level], n) for a, b, n in pairs if b and (len(b) >= level or b == a)]
        n = sum(n for _, _, n in there)
        right = sum(n for a, b, n in there if a == b)
        share = n / total if total else 0.0
        levels.append(
            LevelQuality(level, right / n if n else 0.0, wilson(right, n) if n else (0.0, 1.0), share)
        )
    shared = sum(n * len(set(a) & set(b)) for a, b, n in pairs)
    true, given = sum(n * len(a) for a, _, n in pairs), sum(n * len(b) for _, b, n in pairs)
    return levels, {
        "precision": shared / given if given else 0.0,
        "recall": shared / true if true else 0.0,
        "f1": 2 * shared / (given + true) if given + true else 0.0,
    }


def levels_of(labels: Sequence[str], separator: str = SLASH) -> int:
    """How many levels labels have at most."""
    return max((len(path(label, separator)) for label in labels), default=0)
