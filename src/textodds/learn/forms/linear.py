r"""Bayes' rule, and the linear form almost every model ends as: ``b_k + Σ_v x_v w_kv``, one score per class.

.. math::
    p(x, k) = \pi_k\, p(x \mid k)                                                   \tag{1}

.. math::
    p(k \mid x) = \frac{p(x, k)}{p(x)}, \qquad p(x) = \sum_k p(x, k)                \tag{2}

Every generative model, whatever its class-conditional, is scored by (1) and answers by (2), in logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds.data.labels import by_name
from textodds.errors import InputError, suggestion
from textodds.learn.arrays import Floats

LOG_ZERO = -(2.0**22)
"""Stands for the logarithm of zero.

Below the sum of real log-odds of some hundred thousand words, so what is impossible gets
probability 0.0; yet finite, so sums never become NaN, and small enough to leave the digits of what
it is added to. Where every class is impossible, the one that would need the fewest impossible words
wins: the limit of smoothing that goes to zero.
"""

MOST_CELLS = 200_000_000  # entries of a full matrix of words by classes beyond which it is refused (1.6 GB)
DENSE_CLASSES = 8  # up to so many classes weights are stored as a full matrix


def log(values: Floats) -> Floats:
    """Natural logarithm with `LOG_ZERO` for zero."""
    logs = np.full(np.shape(values), LOG_ZERO)
    np.log(values, out=logs, where=values > 0)
    return logs


def log_softmax(scores: Floats) -> Floats:
    """``scores - log Σ exp(scores)`` along the last axis, in double, without overflow."""
    shifted = np.asarray(scores - scores.max(axis=-1, keepdims=True))
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))  # in place: there may be many classes
    return shifted


def log_joint(log_likelihood: Floats, log_prior: Floats) -> Floats:
    """``log p(x, k)``, (N, K), from ``log p(x | k)`` (N, K) and ``log π`` (K,), or one by row (N, K)."""
    return np.asarray(log_likelihood + log_prior)  # (1)


def normalise(joint: Floats) -> tuple[Floats, Floats]:
    """``p(k | x)``, (N, K), and ``log p(x)``, (N,), from ``log p(x, k)`` (N, K).

    Examples
    --------
    >>> share, evidence = normalise(log_joint(np.log([[0.2, 0.1]]), np.log([0.75, 0.25])))
    >>> share.round(3), np.exp(evidence).round(3)
    (array([[0.857, 0.143]]), array([0.175]))
    """
    most = joint.max(axis=1, keepdims=True)
    share = np.exp(joint - most)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, (most + np.log(total))[:, 0]  # (2)


@dataclass(frozen=True, eq=False)
class Weights:
    """V × K weights as a default per class plus exceptions.

    ``w_vk = default_k + slope_k base_v + exception_vk``. For naive Bayes the weight of a word never
    seen in class k is the same for all such words (up to a factor of the word's own, ``base``), so
    only the pairs that were seen are stored: 10,000 classes cost what they contain. With few
    classes, or many exceptions, the full matrix is smaller and faster: then ``dense`` holds it and
    all else is zero. Where the default is `LOG_ZERO`, exceptions stand in its place instead of
    being added to it (``replaces``): a sum would lose their last digits.
    """

    default: Floats  # (K,)
    slope: Floats  # (K,) or (0,)
    base: Floats  # (V,) or (0,)
    dense: Floats | None = None  # (V, K)
    starts: NDArray[np.uint64] | None = None  # (V + 1,)
    class_of: NDArray[np.uint32] | None = None  # (C,)
    exceptions: Floats | None = None  # (C,)

    @property
    def replaces(self) -> bool:
        """Whether an exception stands in the place of the default; see above."""
        return bool(np.any(self.default < LOG_ZERO / 2))

    @classmethod
    def of_matrix(cls, dense: Floats) -> Weights:
        """Weights that are a full matrix (V, K)."""
        nothing = np.zeros(0)
        return cls(np.zeros(dense.shape[1]), nothing, nothing, dense=np.ascontiguousarray(dense))

    @classmethod
    def of_cells(
        cls,
        default: Floats,
        starts: NDArray[np.uint64],
        class_of: NDArray[np.uint32],
        cells: Floats,
        *,
        slope: Floats | None = None,
        base: Floats | None = None,
    ) -> Weights:
        """Weights that are ``cells`` where a cell is, ``default_k + slope_k base_v`` elsewhere."""
        K, V = len(default), len(starts) - 1
        feature_of = np.repeat(np.arange(V), np.diff(starts).astype(np.intp))
        # A word that is impossible by its own base leaves no digits to store the difference in.
        lost = base is not None and np.any(base < LOG_ZERO / 2)
        if K <= DENSE_CLASSES or len(cells) * 2 > K * V or lost:
            dense = np.tile(default, (V, 1))
            if slope is not None and base is not None:
                dense += np.outer(base, slope)
            dense[feature_of, class_of] = cells
            return cls.of_matrix(dense)
        weights = cls(default, np.zeros(0), np.zeros(0), None, starts, class_of, cells)
        if slope is not None and base is not None:
            cells = cells - slope[class_of] * base[feature_of]
            weights = replace(weights, slope=slope, base=base)
        return replace(weights, exceptions=cells if weights.replaces else cells - default[class_of])

    @property
    def shape(self) -> tuple[int, int]:
        """(V, K)."""
        V = len(self.dense) if self.dense is not None else len(self.starts) - 1  # type: ignore[arg-type]
        return V, len(self.default)

    def scaled(self, factor: float, shift: Floats | float = 0.0) -> Weights:
        """``factor w_vk + shift_k`` in the place of every weight; a ``factor`` of 1 copies nothing large."""
        default = factor * self.default + shift
        if factor == 1.0 and not self.replaces:
            return replace(self, default=default)
        dense = None if self.dense is None else factor * self.dense
        exceptions = None if self.exceptions is None else factor * self.exceptions
        if exceptions is not None and self.replaces:
            exceptions += np.broadcast_to(shift, default.shape)[self.class_of]
            if not np.any(default < LOG_ZERO / 2):  # what was impossible has a number like others now
                exceptions -= default[self.class_of]
        return replace(self, default=default, slope=factor * self.slope, dense=dense, exceptions=exceptions)

    def rows(self, features: NDArray[np.integer]) -> Floats:
        """The weights of some features, (len(features), K)."""
        if self.dense is not None:
            return np.asarray(self.dense[features] + self.default)
        assert self.starts is not None
        assert self.class_of is not None
        assert self.exceptions is not None
        out = np.tile(self.default, (len(features), 1))
        first = self.starts[features].astype(np.intp)
        lengths = self.starts[np.asarray(features) + 1].astype(np.intp) - first
        row = np.repeat(np.arange(len(features)), lengths)
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        cells = first[row] + within
        k = self.class_of[cells]
        out[row, k] = self.exceptions[cells] + (0.0 if self.replaces else self.default[k])
        if len(self.base):
            out += np.outer(self.base[features], self.slope)
        return out

    def of_classes(self, features: NDArray[np.integer], classes: Sequence[int]) -> Floats:
        """The weights of some features in R classes, (n, R): columns of `rows`."""
        if self.dense is None:
            return self.rows(features)[:, classes]
        return np.asarray(self.dense[features[:, None], classes] + self.default[classes])

    def columns(self, features: NDArray[np.integer], classes: Sequence[int]) -> tuple[Floats, Floats]:
        """The weights of some features in R classes, (n, R), and their sums over all classes, (n,).

        Of sparse weights, by their cells alone: many classes cost what they contain.
        """
        if self.dense is not None:
            rows = self.rows(features)
            return rows[:, classes], rows.sum(axis=1)
        assert self.starts is not None
        assert self.class_of is not None
        assert self.exceptions is not None
        first = self.starts[features].astype(np.intp)
        lengths = self.starts[np.asarray(features) + 1].astype(np.intp) - first
        row = np.repeat(np.arange(len(features)), lengths)
        cells = np.arange(len(row)) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
        k, added = self.class_of[cells], self.exceptions[cells]
        if self.replaces:
            added = added - self.default[k]
        own = np.tile(self.default[classes], (len(features), 1))
        sums = self.default.sum() + np.bincount(row, added, len(features))
        if len(self.base):
            own += np.outer(self.base[features], self.slope[classes])
            sums += self.base[features] * self.slope.sum()
        for column, wanted in enumerate(classes):
            here = k == wanted
            own[row[here], column] += added[here]
        return own, sums


class LazyWeights(Weights):
    """A full matrix of a known shape that is made when someone looks at it."""

    def __init__(self, shape: tuple[int, int], make: Callable[[], Floats]) -> None:
        nothing = np.zeros(0)
        self.__dict__.update(default=np.zeros(shape[1]), slope=nothing, base=nothing, size=shape, make=make)

    @property
    def shape(self) -> tuple[int, int]:
        """(V, K)."""
        V, K = self.__dict__["size"]
        return V, K

    @cached_property
    def dense(self) -> Floats:
        """The matrix (V, K)."""
        return np.ascontiguousarray(self.__dict__["make"]())

    def scaled(self, factor: float, shift: Floats | float = 0.0) -> Weights:
        """As of the same weights that are made."""
        return Weights.of_matrix(self.dense).scaled(factor, shift)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores ``log_prior_k + intercept_k + Σ_v x_v w_vk``, one column per class.

    Multinomial, Bernoulli and complement naive Bayes end here (linear discriminant analysis and
    softmax regression too), so that storing, scoring and explaining are written once.
    """

    classes: tuple[str, ...]  # (K,)
    log_prior: Floats  # (K,)
    intercept: Floats  # (K,)
    weights: Weights  # (V, K)
    presence: bool = False  # a feature counts once however often it occurs
    is_posterior: bool = True  # whether normalised scores are probabilities under the model

    @property
    def n_features(self) -> int:
        """V."""
        return self.weights.shape[0]

    def scores(self, rows: Floats) -> Floats:
        """Joint log-probability (or score) of each row (N, V), dense or sparse, and class: (N, K)."""
        V, _ = self.weights.shape
        if rows.ndim != 2 or rows.shape[1] != V:
            raise InputError(f"rows have shape {rows.shape}, the model has {V} features")
        if self.presence:
            rows = (rows > 0).astype(np.float64)
        return log_joint(rows @ self.weights.rows(np.arange(V)) + self.intercept, self.log_prior)

    def log_posterior(self, rows: Floats) -> Floats:
        """``log p(class | row)``, (N, K)."""
        return log_softmax(self.scores(rows))

    def with_prior(self, log_prior: Floats) -> LinearModel:
        """The same model under another prior over the classes."""
        return replace(self, log_prior=log_prior)


def check_prior(prior: str | dict[str, float]) -> None:
    """Refuse what can be no prior, whatever the classes."""
    if isinstance(prior, str) and prior in ("data", "uniform"):
        return
    if not isinstance(prior, dict):
        raise InputError(
            f"unknown prior {prior!r}{suggestion(str(prior), ('data', 'uniform'))}",
            hint="`data`, `uniform`, or a probability for each class",
        )
    total = float(sum(prior.values()))
    if not all(share >= 0 for share in prior.values()) or not abs(total - 1) < 1e-6:
        raise InputError(
            f"the prior sums to {total:g}", hint="give each class a share of zero or more, 1 in all"
        )


def log_prior(prior: str | dict[str, float], classes: Sequence[str], class_documents: Floats) -> Floats:
    """Logarithms of the prior: ``data``, ``uniform``, or given by class; (K,).

    Examples
    --------
    >>> np.exp(log_prior({"ham": 0.98, "spam": 0.02}, ("ham", "spam"), np.array([5.0, 5.0]))).round(2)
    array([0.98, 0.02])
    """
    if prior == "uniform":
        return np.full(len(classes), -np.log(len(classes)))
    if prior == "data":
        return log(class_documents / class_documents.sum())
    check_prior(prior)
    assert isinstance(prior, dict)
    prior = by_name(prior)
    wrong = set(prior).symmetric_difference(classes)
    if wrong:
        raise InputError(
            f"the prior names {', '.join(sorted(prior))}; the classes are {', '.join(classes)}",
            hint="give a probability for each class and no other",
        )
    given = np.array([prior[name] for name in classes], dtype=np.float64)
    return log(given / given.sum())
