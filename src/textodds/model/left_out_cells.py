r"""Exact leave-one-out among very many classes, at the cost of the words that documents hold.

A document says something of its own only about its own class and about those that share a word with it. All
other classes are alike but for a few numbers: how much was counted in them, and their prior. So these are
scored once for each such kind of class and each kind of document (its length, the words that leave the
vocabulary with it, its weight), and

.. math::
    p(k \mid x) = \frac{e^{s_k}}{\sum_{j \in \text{shared}} e^{s_j} + \sum_g m_g\, e^{s_g}}

with the number :math:`m_g` of classes of kind g that share no word with x. The same numbers as
`LeaveOneOut.scores`, but for rounding, and no row has K of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.calibration import CELLS, Calibration
from textodds.learn.conditionals import Bernoulli, Complement
from textodds.learn.forms.linear import log, log_prior
from textodds.stats.sample import UNIT

if TYPE_CHECKING:
    from textodds.model.leave_one_out import LeaveOneOut

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MANY = 500  # classes from which on they are not scored one by one
WORTH = 16  # times as many classes as cells of a document's words, for these to be the cheaper way

Answers = tuple[Integers, Floats, Floats]
"""The most probable class of each document, and log-probabilities of its own and of that one; all (N,)."""


@dataclass(frozen=True, eq=False)
class _Documents:
    """Some documents to leave out, word by word, and what leaves the vocabulary with them."""

    codes: Integers  # (N,)
    weights: Floats  # (N,)
    row: Integers  # (n,) document of each of their words
    word: Integers  # (n,)
    times: Floats  # (n,)
    kept: NDArray[np.bool_]  # (n,) whether it is a word without the document

    def __len__(self) -> int:
        return len(self.codes)

    def summed(self, values: Floats) -> Floats:
        """Sums over the words (n,) of each document, (N,)."""
        return np.bincount(self.row, values, len(self)).astype(np.float64, copy=False)

    @cached_property
    def length(self) -> Floats:
        """Occurrences of words that stay, (N,)."""
        return self.summed(self.kept * self.times)

    @cached_property
    def stays(self) -> Floats:
        """How many words stay, (N,)."""
        return self.summed(self.kept.astype(np.float64))

    @cached_property
    def gone(self) -> Floats:
        """How many words leave the vocabulary, (N,)."""
        return self.summed((~self.kept).astype(np.float64))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Documents and the classes that share a word with them, and the cells of these words."""

    row: Integers  # (P,) ascending
    k: Integers  # (P,) ascending within a row
    is_own: NDArray[np.bool_]  # (P,) whether k is the class of the document
    pair_of: Integers  # (C,) by cell
    at: Integers  # (C,) which of the documents' words
    count: Floats  # (C,) what the class counts of it

    @classmethod
    def of(cls, some: _Documents, starts: Any, class_of: Any, counts: Floats) -> _Pairs:
        first = starts[some.word].astype(np.int64)
        n = starts[some.word + 1].astype(np.int64) - first
        at = np.repeat(np.arange(len(n)), n)
        cell = np.arange(len(at)) + np.repeat(first - (np.cumsum(n) - n), n)
        K = int(class_of.max(initial=0)) + 1 if len(class_of) else 1
        K = max(K, int(some.codes.max(initial=0)) + 1)
        keys = some.row[at] * K + class_of[cell]
        own = np.arange(len(some)) * K + some.codes  # which is among them though it shared no word
        places, pair_of = np.unique(np.concatenate([keys, own]), return_inverse=True)
        row, k = np.divmod(places, K)
        return cls(row, k, some.codes[row] == k, pair_of[: len(keys)], at, counts[cell])

    def summed(self, values: Floats) -> Floats:
        """Sums over the cells (C,) of each pair, (P,)."""
        return np.bincount(self.pair_of, values, len(self.row)).astype(np.float64, copy=False)


class _Kind:
    """How classes that share no word with a document are scored, and those that share some."""

    def __init__(self, without: LeaveOneOut) -> None:
        self.without, self.counts = without, without.counts
        conditional: Any = without.recipe.learner.conditional
        self.conditional, self.alpha, self.V = conditional, float(conditional.alpha), self.counts.n_features
        self.log_alpha = log(np.array(self.alpha)).item()

    @cached_property
    def cells(self) -> Floats:
        """What is counted in each cell."""
        return self.counts.occurrences

    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        """Numbers (K,) by which classes without a word of a document differ."""
        raise NotImplementedError

    def by_document(self, some: _Documents) -> tuple[Floats, ...]:
        """Numbers (N,) by which documents differ to such classes, but for a summand of all classes."""
        raise NotImplementedError

    def apart(self, document: tuple[Floats, ...], of_class: tuple[Floats, ...]) -> Floats:
        """The scores of such classes, of numbers that broadcast."""
        raise NotImplementedError

    def shared(self, some: _Documents, pairs: _Pairs) -> Floats:
        """The scores (P,) of pairs that share a word, or are a document and its own class."""
        raise NotImplementedError


class _Multinomial(_Kind):
    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        return (self.counts.by_class(self.cells),)

    @cached_property
    def cells(self) -> Floats:
        return self.counts.documents if self.conditional.binary else self.counts.occurrences

    def by_document(self, some: _Documents) -> tuple[Floats, ...]:
        return some.length, self.V - some.gone

    def apart(self, document: tuple[Floats, ...], of_class: tuple[Floats, ...]) -> Floats:
        (length, vocabulary), (total,) = document, of_class
        left = np.maximum(total, 0.0) + self.alpha * vocabulary
        return np.asarray(length * (self.log_alpha - log(left)))

    def shared(self, some: _Documents, pairs: _Pairs) -> Floats:
        times, kept, own = some.times[pairs.at], some.kept[pairs.at], pairs.is_own[pairs.pair_of]
        less = np.where(own, some.weights[some.row[pairs.at]] * times, 0.0)
        count = np.maximum(pairs.count - less, 0.0)
        seen = pairs.summed(kept * times * (log(count + self.alpha) - self.log_alpha))
        total = self.by_class[0][pairs.k] - pairs.summed(~kept * pairs.count)
        total -= np.where(pairs.is_own, (some.weights * some.length)[pairs.row], 0.0)
        document = tuple(each[pairs.row] for each in self.by_document(some))
        return seen + self.apart(document, (total,))


class _Bernoulli(_Kind):
    @cached_property
    def cells(self) -> Floats:
        return self.counts.documents

    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        # Rounded, as sums of the same numbers in another order are not the same.
        return self.counts.class_documents, np.array([float(f"{x:.13g}") for x in self.without.absent(0.0)])

    def _there(self, count: Floats | float, total: Floats) -> Floats:
        return np.asarray(log(np.maximum(count, 0.0) + self.alpha) - log(total + 2 * self.alpha))

    def _not(self, count: Floats | float, total: Floats) -> Floats:
        return np.asarray(log(np.maximum(total - count + self.alpha, 0.0)) - log(total + 2 * self.alpha))

    def by_document(self, some: _Documents) -> tuple[Floats, ...]:
        return some.stays, some.gone

    def apart(self, document: tuple[Floats, ...], of_class: tuple[Floats, ...]) -> Floats:
        (stays, gone), (total, absent) = document, of_class
        there, without = self._there(0.0, total), self._not(0.0, total)
        return np.asarray(absent + stays * (there - without) - gone * without)

    def shared(self, some: _Documents, pairs: _Pairs) -> Floats:
        kept, own = some.kept[pairs.at], pairs.is_own[pairs.pair_of]
        weight = np.where(own, some.weights[some.row[pairs.at]], 0.0)
        n, missing = self.by_class[0], self.by_class[1][pairs.k]
        total = n[pairs.k] - np.where(pairs.is_own, some.weights[pairs.row], 0.0)
        missing[pairs.is_own] = self.without.absent_own(some.codes, some.weights)
        of_cell = total[pairs.pair_of]
        seen = self._not(0.0, of_cell) - self._not(pairs.count, of_cell)
        seen += kept * (self._there(pairs.count - weight, of_cell) - self._there(0.0, of_cell))
        document = tuple(each[pairs.row] for each in self.by_document(some))
        return pairs.summed(seen) + self.apart(document, (total, missing))


class _Complement(_Kind):
    @cached_property
    def _all(self) -> Floats:
        return self.counts.by_feature(self.counts.occurrences)

    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        totals = self.counts.by_class(self.counts.occurrences)
        return (float(totals.sum()) - totals,)

    def by_document(self, some: _Documents) -> tuple[Floats, ...]:
        lost = some.summed(~some.kept * self._all[some.word]) + some.weights * some.length
        return some.length, self.V - some.gone, lost

    def apart(self, document: tuple[Floats, ...], of_class: tuple[Floats, ...]) -> Floats:
        (length, vocabulary, lost), (others,) = document, of_class
        return np.asarray(length * log(np.maximum(others - lost, 0.0) + self.alpha * vocabulary))

    def shared(self, some: _Documents, pairs: _Pairs) -> Floats:
        """Scores less ``-Σ x log(all - x + α)``, which a class without a word of the document has."""
        times, kept, own = some.times[pairs.at], some.kept[pairs.at], pairs.is_own[pairs.pair_of]
        everywhere = self._all[some.word]
        without = some.weights[some.row] * some.times
        apart = log(np.maximum(everywhere - without, 0.0) + self.alpha)  # (n,)
        left = everywhere[pairs.at] - pairs.count - np.where(own, 0.0, without[pairs.at])
        present = log(np.maximum(left, 0.0) + self.alpha)
        seen = pairs.summed(-(kept * times) * (present - apart[pairs.at]))
        # In its own class no word has the document among the others, whether the class counts it or not.
        of_own = some.summed(-(some.kept * some.times) * (log(everywhere + self.alpha) - apart))
        counted = kept * times * (log(everywhere[pairs.at] + self.alpha) - apart[pairs.at])
        seen += np.where(pairs.is_own, of_own[pairs.row] + pairs.summed(counted), 0.0)
        others = self.by_class[0][pairs.k] + pairs.summed(~kept * pairs.count)
        length, vocabulary, lost = (each[pairs.row] for each in self.by_document(some))
        lost = lost - np.where(pairs.is_own, (some.weights * some.length)[pairs.row], 0.0)
        return seen + self.apart((length, vocabulary, lost), (others,))


class CellAnswers:
    """The answers of a model of very many classes to documents that are left out of it."""

    def __init__(self, without: LeaveOneOut, calibration: Calibration | None) -> None:
        self.without, self.counts = without, without.counts
        conditional = without.recipe.learner.conditional
        self.is_present = isinstance(conditional, Bernoulli) or getattr(conditional, "binary", False)
        self.is_complement = isinstance(conditional, Complement)
        kinds = {Bernoulli: _Bernoulli, Complement: _Complement}
        self.kind = kinds.get(type(conditional), _Multinomial)(without)
        self.grows = not isinstance(conditional, Bernoulli)  # whether biases grow with words
        self.cells = np.diff(self.counts.starts).astype(np.int64)  # (V,)
        K = len(self.counts.classes)
        found = Calibration.none() if calibration is None else calibration
        self.slope = float(found.slopes[0])
        self.bias, self.rate = (np.broadcast_to(np.asarray(each), K) for each in (found.bias, found.rate))
        self._group()

    def _group(self) -> None:
        """Find the kinds of classes: those that differ in nothing but the words they hold."""
        K, mass = len(self.counts.classes), self.counts.class_documents
        prior = self.without.recipe.learner.prior
        self.is_of_data = prior == "data" and not self.is_complement
        if self.is_complement:
            self.prior = np.zeros(K)
        else:
            self.prior = mass if self.is_of_data else log_prior(prior, self.counts.classes, mass)
        table = np.column_stack([*self.kind.by_class, self.prior, self.bias, self.rate])  # (K, …)
        groups, group_of = np.unique(table, axis=0, return_inverse=True)
        self.group_of = group_of.reshape(-1)
        *of_class, self.group_prior, self.group_bias, self.group_rate = groups.T
        self.of_group: tuple[Floats, ...] = tuple(of_class)
        self.members = np.argsort(self.group_of, kind="stable")  # (K,) by kind, then by number
        self.sizes = np.bincount(self.group_of)  # (G,)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.rank = np.empty(K, dtype=np.int64)  # of each class in its kind
        self.rank[self.members] = np.arange(K) - np.repeat(self.first, self.sizes)

    def worth_it(self, rows: Any) -> NDArray[np.bool_]:
        """Which documents (N,) are cheaper to answer this way; the same for a document in any company."""
        K, n = len(self.counts.classes), np.diff(rows.indptr)
        row = np.repeat(np.arange(len(n)), n)
        cells = np.bincount(row, self.cells[rows.indices], len(n))
        return np.asarray(WORTH * (cells + len(self.sizes)) < K)

    def answers(self, rows: Any, codes: Integers, weights: Floats) -> Answers:
        """The answers to documents (N, V) of known classes, each without itself."""
        cells = np.concatenate([[0], np.cumsum(self.cells[rows.indices])])[rows.indptr]
        found = [
            self._answers(rows, first, last, codes[first:last], weights[first:last])
            for first, last in _stretches(np.diff(cells) + len(self.sizes))
        ]
        answer, own, best = (np.concatenate(each) for each in zip(*found, strict=True))
        return answer, own, best

    def _answers(self, rows: object, first: int, last: int, codes: Integers, weights: Floats) -> Answers:
        some = self._documents(rows, first, last, codes, weights)
        pairs = _Pairs.of(some, self.counts.starts, self.counts.class_of, self.kind.cells)
        N, G = len(some), len(self.sizes)
        total = np.maximum(self.counts.class_documents.sum() - some.weights, UNIT)  # (N,)
        n = some.length if self.grows else np.zeros(N)
        score = self.slope * self.kind.shared(some, pairs) + self.bias[pairs.k]
        score += n[pairs.row] * self.rate[pairs.k] + self._prior_of_pairs(some, pairs, total)
        # Kinds of documents by kinds of classes, (U, G).
        keys = np.column_stack([*self.kind.by_document(some), total, n])
        unique, kind_of = np.unique(keys, axis=0, return_inverse=True)
        kind_of = kind_of.reshape(-1)
        *document, by, length = (each[:, None] for each in unique.T)
        apart = self.slope * self.kind.apart(tuple(document), self.of_group) + self.group_bias
        apart = apart + length * self.group_rate
        apart += log(self.group_prior / by) if self.is_of_data else self.group_prior
        # Of each document, how many classes of a kind share no word with it, and the first of these.
        place = pairs.row * G + self.group_of[pairs.k]
        left = self.sizes - np.bincount(place, minlength=N * G).reshape(N, G)
        order = np.argsort(place, kind="stable")  # classes ascend within a kind
        starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=N * G))])[:-1]
        is_next = self.rank[pairs.k][order] == np.arange(len(order)) - starts[place[order]]
        taken = np.bincount(place[order], is_next, N * G).reshape(N, G).astype(np.int64)
        here = np.where(left > 0, apart[kind_of], -np.inf)  # (N, G)
        most_apart = here.max(axis=1)
        begins = np.searchsorted(pairs.row, np.arange(N))
        most_shared = np.maximum.reduceat(score, begins)
        most = np.maximum(most_apart, most_shared)
        mass = (left * np.exp(here - most[:, None])).sum(axis=1)
        mass += np.bincount(pairs.row, np.exp(score - most[pairs.row]), N)
        log_total = most + np.log(mass)
        K = len(self.group_of)
        of_pairs = np.where(score == most[pairs.row], pairs.k, K)
        candidates = self.members[self.first + np.minimum(taken, self.sizes - 1)]  # (N, G)
        of_groups = np.where(here == most[:, None], candidates, K).min(axis=1)
        answer = np.minimum(np.minimum.reduceat(of_pairs, begins), of_groups)
        return answer, score[pairs.is_own] - log_total, most - log_total

    def _prior_of_pairs(self, some: _Documents, pairs: _Pairs, total: Floats) -> Floats:
        prior = self.prior[pairs.k]
        if not self.is_of_data:
            return prior
        left = np.maximum(prior - np.where(pairs.is_own, some.weights[pairs.row], 0.0), 0.0)
        return log(left / total[pairs.row])

    def _documents(self, rows: Any, first: int, last: int, codes: Integers, weights: Floats) -> _Documents:
        begin, end = int(rows.indptr[first]), int(rows.indptr[last])
        word = rows.indices[begin:end].astype(np.int64)
        row = np.repeat(np.arange(last - first), np.diff(rows.indptr[first : last + 1]))
        weights = np.round(weights / UNIT) * UNIT  # as they were counted
        times = np.ones(len(word)) if self.is_present else rows.data[begin:end].astype(np.float64)
        kept = self.without.documents[word] - weights[row] >= self.without.least(weights)[row]
        return _Documents(codes, weights, row, word, times, kept)


def _stretches(cost: Integers) -> Iterator[tuple[int, int]]:
    """Documents in stretches that cost no more together than is held at once, of one at least."""
    first, spent = 0, 0
    for at, each in enumerate(cost.tolist()):
        if at > first and spent + each > CELLS:
            yield first, at
            first, spent = at, 0
        spent += each
    yield first, len(cost)
