"""Scores of classes through few numbers of a text, and probabilities of classes that are leaves of a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.named_arrays import Arrays
from textodds.errors import ModelFileError
from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.forms.linear import LinearModel, Weights, log_joint, log_softmax

if TYPE_CHECKING:
    from textodds.learn.calibration import Calibration

LARGEST_COUNT = 10**15  # of a class: stands for a node that is not made yet
MOST_STEPS = 1 << 25  # from leaves to the root, all together
CELLS = 1 << 21  # numbers that are made at once of rows and the nodes on their ways


@dataclass(frozen=True, eq=False)
class Leaves:
    r"""K classes as the leaves of a binary tree with a logistic regression at each of its J inner nodes.

    .. math:: p(k \mid x) = \prod_{j \in \mathrm{path}(k)} \sigma(\pm s_j),
              \qquad + \text{ to the right}, - \text{ to the left}                                  \tag{1}

    The probabilities of all leaves sum to one, whatever the scores. ``nodes[starts[k]:starts[k + 1]]`` are on
    the way to leaf k.
    """

    starts: Integers  # (K + 1,)
    nodes: Integers  # (P,)
    is_right: Mask  # (P,)

    @classmethod
    def of_counts(cls, counts: Integers) -> Leaves:
        """The Huffman tree of classes by their counts (K,), decreasing, as fastText builds it."""
        K = len(counts)
        weight = [*map(int, counts), *[LARGEST_COUNT] * (K - 1)]
        if max(weight[:K]) >= LARGEST_COUNT:
            raise ModelFileError(f"a class has {max(weight[:K]):,} rows, which cannot be")
        parent, is_right = [-1] * (2 * K - 1), [False] * (2 * K - 1)
        leaf, node = K - 1, K
        for new in range(K, 2 * K - 1):
            taken = []
            for _ in range(2):
                if leaf >= 0 and weight[leaf] < weight[node]:
                    taken.append(leaf)
                    leaf -= 1
                else:
                    taken.append(node)
                    node += 1
            weight[new] = weight[taken[0]] + weight[taken[1]]
            parent[taken[0]] = parent[taken[1]] = new
            is_right[taken[1]] = True
        return cls._of_parents(parent, is_right, K)

    @classmethod
    def _of_parents(cls, parent: list[int], is_right: list[bool], K: int) -> Leaves:
        """The tree whose 2K - 1 nodes, leaves first and the root last, have these parents."""
        depth = [0] * (2 * K - 1)
        for node in range(2 * K - 3, -1, -1):
            depth[node] = depth[parent[node]] + 1
        if sum(depth[:K]) > MOST_STEPS:
            raise ModelFileError(f"the tree of its {K:,} classes is too deep")
        nodes: list[int] = []
        rights: list[bool] = []
        for k in range(K):
            at = k
            while parent[at] >= 0:
                nodes.append(parent[at] - K)
                rights.append(is_right[at])
                at = parent[at]
        return cls(np.cumsum([0, *depth[:K]]), np.array(nodes), np.array(rights))

    def taken(self, order: Integers) -> Leaves:
        """The same tree with its leaves in another order."""
        ways = [slice(self.starts[k], self.starts[k + 1]) for k in order]
        lengths = [way.stop - way.start for way in ways]
        return Leaves(
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([self.nodes[way] for way in ways]),
            np.concatenate([self.is_right[way] for way in ways]),
        )

    @property
    def sign(self) -> Floats:
        """1 to the right and -1 to the left, (P,)."""
        return np.where(self.is_right, 1.0, -1.0)

    def log_probability(self, scores: Floats) -> Floats:
        """The logarithm of (1), (N, K), of the scores of nodes (N, J)."""
        out = np.empty((len(scores), len(self.starts) - 1))
        step = max(1, CELLS // max(len(self.nodes), 1))
        for at in range(0, len(scores), step):
            ways = scores[at : at + step][:, self.nodes] * self.sign  # (n, P)
            out[at : at + step] = np.add.reduceat(-np.logaddexp(0.0, -ways), self.starts[:-1], axis=1)
        return out

    def shares(self, scores: Floats, parts: Floats) -> Floats:
        r"""What parts (n, J), which sum to the scores of nodes (J,), add to log-probabilities: (n, K).

        Along the straight line from no score at all, :math:`\log\sigma(\pm s_j)` grows from
        :math:`-\log 2` in proportion to its parts. So each part has the factor
        :math:`(\log\sigma(\pm s_j) + \log 2) / s_j` (and :math:`\pm\frac12` where that is 0/0), and the
        shares add up exactly.
        """
        own, sign = scores[self.nodes], self.sign
        small = np.abs(own) < 1e-6
        grown = -np.logaddexp(0.0, -sign * own) + np.log(2.0)
        factor = np.where(small, sign / 2 - own / 8, grown / np.where(small, 1.0, own))  # (P,)
        return np.asarray(np.add.reduceat(parts[:, self.nodes] * factor, self.starts[:-1], axis=1))

    def arrays(self) -> Arrays:
        """The arrays of a model file."""
        return {
            "starts": self.starts.astype(np.uint32),
            "nodes": self.nodes.astype(np.uint32),
            "right": self.is_right.astype(np.uint8),
        }

    @classmethod
    def of_arrays(cls, arrays: Arrays, K: int) -> Leaves:
        """The tree in a model file, if it is one of K leaves; fails otherwise."""
        starts, nodes, right = (arrays[name] for name in ("starts", "nodes", "right"))
        kinds = [array.dtype.str[1:] for array in (starts, nodes, right)]
        is_sized = kinds == ["u4", "u4", "u1"] and starts.shape == (K + 1,) and nodes.shape == right.shape
        starts, nodes = starts.astype(np.int64), nodes.astype(np.int64)
        if not (
            is_sized
            and K > 1
            and starts[0] == 0
            and starts[-1] == len(nodes)
            and (np.diff(starts) > 0).all()
            and nodes.max() < K - 1
            and right.max() < 2
        ):
            raise ModelFileError("the tree of its classes is damaged")
        found = cls(starts, nodes, right.astype(bool))
        total = np.exp(found.log_probability(np.zeros((1, K - 1)))).sum()
        if abs(total - 1) > 1e-9:
            raise ModelFileError("the tree of its classes is not one")
        return found


@dataclass(frozen=True, eq=False)
class FactoredModel:
    r"""Scores through M numbers of a text, the sums of those of its features.

    .. math:: s = B^\top \sum_v x_v a_v, \qquad
              \text{score}_k = \log\pi_k + c_k + f_k(s) / T                                         \tag{2}

    ``inner`` has :math:`a_v` as a full matrix (V, M), ``output`` is B, or None for the identity; f is the
    logarithm of (1) for ``leaves``, else the scores themselves. Of many classes it takes M numbers for each
    feature in the place of K.
    """

    classes: tuple[str, ...]  # (K,)
    log_prior: Floats  # (K,)
    inner: Floats  # (V, M)
    output: Floats | None = None  # (M, J)
    leaves: Leaves | None = None
    temperature: float = 1.0
    intercept: Floats | float = 0.0  # (K,)
    is_posterior = True

    @property
    def n_features(self) -> int:
        """V."""
        return len(self.inner)

    @property
    def linear(self) -> LinearModel:
        """The linear form of the M numbers, which kernels compute."""
        M = self.inner.shape[1]
        return LinearModel(("",) * M, np.zeros(M), np.zeros(M), Weights.of_matrix(self.inner))

    def of_inner(self, inner: Floats) -> Floats:
        """Scores (N, K) of texts whose M numbers are known, (N, M)."""
        found = inner if self.output is None else inner @ self.output
        if self.leaves is not None:
            found = self.leaves.log_probability(found)
        return log_joint(found / self.temperature, self.intercept + self.log_prior)

    def scores(self, rows: Any) -> Floats:
        """Score of each row (N, V) and class, (N, K)."""
        return self.of_inner(np.asarray(rows @ self.inner))

    def log_posterior(self, rows: Any) -> Floats:
        """``log p(class | row)``, (N, K)."""
        return log_softmax(self.scores(rows))

    @property
    def nothing(self) -> Floats:
        """Scores of no features at all, less the prior, (K,)."""
        return np.asarray(self.of_inner(np.zeros((1, self.inner.shape[1])))[0] - self.log_prior)

    def shares(self, features: NDArray[np.integer], values: Floats) -> Floats:
        """What each feature of a row adds to the score of each class, (n, K), before the temperature."""
        parts = values[:, None] * self.inner[features]
        if self.output is not None:
            parts = parts @ self.output
        return parts if self.leaves is None else self.leaves.shares(parts.sum(axis=0), parts)

    def with_prior(self, log_prior: Floats) -> FactoredModel:
        """The same model under another prior over the classes."""
        return replace(self, log_prior=log_prior)

    def calibrated(self, calibration: Calibration) -> FactoredModel:
        """The model with calibrated scores, under the same prior."""
        T = calibration.temperature
        intercept = (self.intercept + self.log_prior) / T + calibration.bias - self.log_prior
        return replace(self, temperature=self.temperature * T, intercept=intercept)

    def arrays(self) -> Arrays:
        """The arrays of a model file."""
        K = len(self.classes)
        found = {
            "log_prior": self.log_prior,
            "intercept": np.broadcast_to(np.asarray(self.intercept, dtype=np.float64), K).copy(),
            "inner": self.inner.reshape(-1),
        }
        if self.output is not None:
            found["output"] = np.ascontiguousarray(self.output).reshape(-1)
        return found | (
            {} if self.leaves is None else {f"leaves.{n}": a for n, a in self.leaves.arrays().items()}
        )
