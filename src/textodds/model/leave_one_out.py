r"""Exact leave-one-out: every document under the model of all others, in one pass.

Naive Bayes rests on counts, and counts subtract. So the model without a document costs no more than reading
the document: no folds, no refitting, no held-out set. From such scores come the choice of smoothing,
calibrated probabilities, an honest measure of quality, and the labels that look wrong.

Without a document, its class has one less, its words have their counts lowered, and words that are then in
fewer documents than ``min_df`` leave the vocabulary, in all classes. ``max_df`` and ``max_features`` are kept
as they were chosen with the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch
from textodds.errors import InputError, NoData, Unsupported
from textodds.learn.calibration import CELLS
from textodds.learn.conditionals import Bernoulli, Complement, Multinomial
from textodds.learn.conditionals.bernoulli import log_absent
from textodds.learn.forms.linear import LOG_ZERO, log, log_joint, log_prior, log_softmax
from textodds.learn.recipe import selected
from textodds.learn.solvers.objective import raw
from textodds.model.left_out_cells import MANY, Answers, CellAnswers
from textodds.model.text_model import TextModel
from textodds.stats.sample import UNIT

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.learn.registry import Prior
    from textodds.stats.tally import Counts, Tally

Floats = NDArray[np.float64]

CONDITIONALS = (Multinomial, Bernoulli, Complement)
"""Class-conditionals whose counts a kernel can leave a document out of."""

PIECE = 2000  # documents that are looked at together
AT_ONCE = 4  # times `CELLS` scores, where nothing else is made of them


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The counts of all documents, from which any one can be left out."""

    tally: Tally
    recipe: Recipe
    threads: int = 1

    def __post_init__(self) -> None:
        if (error := obstacle(self.recipe)) is not None:
            raise error

    @property
    def _conditional(self) -> Any:
        return self.recipe.learner.conditional

    @cached_property
    def documents(self) -> Floats:
        """Documents that hold each word, (V,)."""
        return self.counts.by_feature(self.counts.documents)

    @cached_property
    def totals(self) -> Floats:
        """Occurrences of words in each class, (K,)."""
        return self.counts.by_class(self.counts.occurrences)

    @cached_property
    def counts(self) -> Counts:
        """The counts of the words that the model uses."""
        return selected(self.tally, self.recipe.selection)[0]

    def scores(
        self, rows: object, codes: NDArray[np.int64], weights: Floats, alpha: float | None = None
    ) -> Floats:
        """Joint log-probabilities (N, K) of documents, each under the model of all others.

        ``rows`` are the counts of words (N, V), SciPy sparse; ``codes`` the classes, all of which are among
        those of the tally.
        """
        likelihood = self.log_likelihood(rows, codes, weights, alpha)
        weights = np.round(weights / UNIT) * UNIT  # as they were counted
        return log_joint(likelihood, self.log_prior(codes, weights))

    def log_likelihood(
        self, rows: object, codes: NDArray[np.int64], weights: Floats, alpha: float | None = None
    ) -> Floats:
        """The same without the prior, or scores where the model has none."""
        conditional, counts = self._conditional, self.counts
        alpha = float(conditional.alpha) if alpha is None else alpha
        weights = np.round(weights / UNIT) * UNIT  # as they were counted
        cells, totals, absent, name = self._of(conditional, codes, weights, alpha)
        found = _kernels.left_out(
            name,
            raw(rows),
            (counts.starts, counts.class_of, cells, self.documents, totals),
            (codes.astype(np.uint32), weights, self.least(weights)),
            alpha,
            LOG_ZERO,
            absent,
            self.threads,
        )
        return np.asarray(found)

    def least(self, weights: Floats) -> Floats:
        """In how many documents a word must be, without each document, to be in the vocabulary: (N,)."""
        least = self.recipe.selection.min_df
        limit: Floats = np.full(len(weights), float(least))
        if isinstance(least, float):
            limit = least * (self.tally.n_documents - weights)
        if self.recipe.selection.keeps_all:
            limit[:] = 0.0  # a word in less than one document, by weight, is one all the same
        return np.asarray(np.maximum(limit, UNIT / 2))

    def words(self, rows: Any, weights: Floats) -> Floats | None:
        """How many words of each document the model of all others knows, (N,).

        None where words that are absent count too: what is read is then the whole vocabulary, in every text.
        """
        conditional = self._conditional
        if isinstance(conditional, Bernoulli):
            return None
        weights = np.round(weights / UNIT) * UNIT
        presence = bool(getattr(conditional, "binary", False))
        return _kernels.left_out_words(raw(rows), self.documents, weights, self.least(weights), presence)

    def lost(self, rows: Any, weights: Floats) -> Floats:
        """How many words of each document are in too few others to be words without it, (N,)."""
        weights = np.round(weights / UNIT) * UNIT
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        gone = self.documents[rows.indices] - weights[row] < self.least(weights)[row]
        return np.bincount(row, rows.data * gone, rows.shape[0]).astype(np.float64, copy=False)

    def _of(
        self, conditional: Any, codes: NDArray[np.int64], weights: Floats, alpha: float
    ) -> tuple[Floats, Floats, tuple[Floats, Floats] | None, str]:
        """What is counted, its totals by class, what absent words add, and the name of the model."""
        counts = self.counts
        if isinstance(conditional, Bernoulli):
            absent = self.absent(0.0, alpha), self.absent_own(codes, weights, alpha)
            return counts.documents, counts.class_documents, absent, "bernoulli"
        if isinstance(conditional, Complement):
            return counts.occurrences, self.totals, None, "complement"
        assert isinstance(conditional, Multinomial)
        if conditional.binary:
            return counts.documents, counts.by_class(counts.documents), None, "binary"
        return counts.occurrences, self.totals, None, "multinomial"

    def absent(self, less: float, alpha: float | None = None) -> Floats:
        """``Σ_v log(1 - p_kv)`` by class, each of which has documents of so much ``less`` weight; (K,)."""
        alpha = float(self._conditional.alpha) if alpha is None else alpha
        counts, total = self.counts, np.maximum(self.counts.class_documents - less, 0.0)
        unseen = counts.n_features - counts.by_class(np.ones_like(counts.documents))
        cells = log_absent(counts.documents + alpha, total[counts.class_of] + 2 * alpha)
        return counts.by_class(cells) + unseen * log_absent(alpha + 0 * total, total + 2 * alpha)

    def absent_own(self, codes: NDArray[np.int64], weights: Floats, alpha: float | None = None) -> Floats:
        """The same of each document's class without its weight, (N,)."""
        own = np.empty(len(codes))
        for weight in _different(weights):
            rows = weights == weight
            own[rows] = self.absent(weight, alpha)[codes[rows]]
        return own

    def log_prior(self, codes: NDArray[np.int64], weights: Floats, prior: Prior | None = None) -> Floats:
        """The prior without each document, (N, K), the model's unless given; zero for one that has none."""
        if not self._conditional.is_likelihood:
            return np.zeros((len(codes), len(self.counts.classes)))
        prior = self.recipe.learner.prior if prior is None else prior
        classes, mass = self.counts.classes, self.counts.class_documents
        if prior == "data":
            total = np.maximum(mass.sum() - weights, UNIT)  # (N,)
            found = np.empty((len(codes), len(mass)))
            for each in _different(total):
                found[total == each] = log(mass / each)
            own = np.maximum(mass[codes] - weights, 0.0)
            found[np.arange(len(codes)), codes] = log(own / total)
            return found
        return np.tile(log_prior(prior, classes, mass), (len(codes), 1))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Documents, each under the model of all others.

    Attributes
    ----------
    classes : tuple of str
        The classes, sorted.
    truth : array (N,)
        The number of each document's own class.
    scores : array (N, K)
        Joint log-probabilities.
    log_posterior : array (N, K)
        ``log p(class | text)``, calibrated if the model is.
    rows : array (N,)
        Where each document stands in the data, from 0; those without weight are passed over.
    """

    classes: tuple[str, ...]
    truth: NDArray[np.int64]
    scores: Floats
    log_posterior: Floats
    rows: NDArray[np.int64]

    @property
    def accuracy(self) -> float:
        """Share of documents whose own class is the most probable."""
        return float((self.log_posterior.argmax(axis=1) == self.truth).mean())

    @property
    def log_loss(self) -> float:
        """Mean of ``-log p(own class | text)``."""
        return float(-self.own.mean())

    @property
    def own(self) -> Floats:
        """``log p(own class | text)``, (N,)."""
        return np.asarray(self.log_posterior[np.arange(len(self.truth)), self.truth])

    def suspects(self) -> NDArray[np.intp]:
        """The documents in order of how little their own label is believed."""
        return np.argsort(self.own, kind="stable")


@dataclass(frozen=True, eq=False)
class LeftOutAnswers:
    """Documents, each under the model of all others: of all classes only its own and the most probable.

    The number of each document's own class and of the answer, the logarithms of their probabilities, and
    where each document stands in the data, from 0, as in `LeftOut`; all (N,).
    """

    classes: tuple[str, ...]
    truth: NDArray[np.int64]
    answer: NDArray[np.int64]
    log_p_truth: Floats
    log_p_answer: Floats
    rows: NDArray[np.int64]

    @property
    def accuracy(self) -> float:
        """Share of documents whose own class is the most probable."""
        return float((self.answer == self.truth).mean())

    def suspects(self) -> NDArray[np.intp]:
        """The documents whose label is not the answer, in order of how little it is believed."""
        order = np.argsort(self.log_p_truth, kind="stable")
        return np.asarray(order[self.answer[order] != self.truth[order]])


def left_out(model: TextModel, batches: Iterable[Batch], without: LeaveOneOut | None = None) -> LeftOut:
    """Documents that a model has learned, each ``without`` its own counts, in one pass."""
    without = without or LeaveOneOut(model.tally, model.recipe, model.threads)
    pieces = [
        (some.rows, some.codes, *some.scores(model, without))
        for part in _left_out_parts(model, batches)
        for some in part.pieces(CELLS // len(model.classes_))
    ]
    if not pieces:
        raise NoData("there are no documents to leave out")
    rows, truth, joint, posterior = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return LeftOut(model.class_names, truth, joint, posterior, rows)


def left_out_answers(model: TextModel, batches: Iterable[Batch]) -> LeftOutAnswers:
    """The same, keeping two numbers of each document, however many classes there are.

    Documents of few words among very many classes are answered by their words; see `CellAnswers`.
    """
    without, found = LeaveOneOut(model.tally, model.recipe, model.threads), []
    few = CellAnswers(without, model.calibration) if len(model.classes_) >= MANY else None
    for part in _left_out_parts(model, batches):
        is_few = np.zeros(len(part.codes), np.bool_) if few is None else few.worth_it(part.read)
        answers = np.empty((3, len(part.codes)))
        if few is not None and is_few.any():
            some = part.of(np.flatnonzero(is_few))
            answers[:, is_few] = few.answers(some.read, some.codes, some.weights)
        for at in part.cut(np.flatnonzero(~is_few), AT_ONCE * CELLS // len(model.classes_)):
            answers[:, at] = part.of(at).answers(model, without)
        found.append((part.codes, answers[0].astype(np.int64), answers[1], answers[2], part.rows))
    if not found:
        raise NoData("there are no documents to leave out")
    parts: Any = (np.concatenate(each) for each in zip(*found, strict=True))
    return LeftOutAnswers(model.class_names, *parts)


@dataclass(frozen=True, eq=False)
class _Part:
    """Documents of a batch that have weight: where they stand, their classes, weights and words."""

    rows: NDArray[np.int64]  # (N,)
    codes: NDArray[np.int64]  # (N,)
    weights: Floats  # (N,)
    read: Any  # (N, V)

    def of(self, at: NDArray[np.intp]) -> _Part:
        """Some of them."""
        if len(at) == len(self.codes):
            return self
        return _Part(self.rows[at], self.codes[at], self.weights[at], self.read[at])

    def cut(self, at: NDArray[np.intp], size: int) -> Iterator[NDArray[np.intp]]:
        """Those of ``at`` in pieces of so many, of one at least."""
        size = min(PIECE, max(1, size))
        for start in range(0, len(at), size):
            yield at[start : start + size]

    def pieces(self, size: int) -> Iterator[_Part]:
        """All of it in pieces of so many; where no document has weight, one that is empty."""
        yield from map(self.of, self.cut(np.arange(len(self.codes)), size))
        if not len(self.codes):
            yield self

    def scores(self, model: TextModel, without: LeaveOneOut) -> tuple[Floats, Floats]:
        """Joint log-probabilities and log-posteriors, (N, K)."""
        joint = without.scores(self.read, self.codes, self.weights)
        found = joint
        if (calibration := model.calibration) is not None:
            words = without.words(self.read, self.weights)
            prior = without.log_prior(self.codes, self.weights)
            found = calibration.applied(joint - prior, words=words) + prior
        return joint, log_softmax(found)

    def answers(self, model: TextModel, without: LeaveOneOut) -> Answers:
        """The answers, with as few numbers at once as there can be."""
        found = without.log_likelihood(self.read, self.codes, self.weights)  # (N, K)
        if (calibration := model.calibration) is not None:
            found *= calibration.slopes.item(0)
            found += calibration.bias
            words = without.words(self.read, self.weights)
            if words is not None and np.any(calibration.rate):
                found += words[:, None] * np.atleast_1d(calibration.rate)
        found += without.log_prior(self.codes, self.weights)
        each, answer = np.arange(len(found)), found.argmax(axis=1)
        own, best = found[each, self.codes], found[each, answer]
        found -= best[:, None]
        log_total = np.log(np.exp(found, out=found).sum(axis=1))
        return answer, own - best - log_total, -log_total


def _left_out_parts(model: TextModel, batches: Iterable[Batch]) -> Iterator[_Part]:
    """The documents of batches that can be left out."""
    first, index = 0, numbers_of(model.class_names)
    for batch in batches:
        for part in batch.parts(PIECE):
            weights = np.ones(len(part)) if part.weights is None else part.weights
            here = np.flatnonzero(weights >= UNIT)
            rows = first + here
            first += len(part)
            if len(here) < len(part):
                part = part.take(here.tolist())
            codes = class_numbers(part.label_list(), index)
            weights = np.round(weights[here] / UNIT) * UNIT  # as they were counted
            yield _Part(rows, codes, weights, model.scorer.rows(part.texts))


def _different(values: Floats) -> list[float]:
    """The different values; nearly always there is one, which is found without sorting."""
    is_one = len(values) > 0 and bool((values == values[0]).all())
    return list((values[:1] if is_one else np.unique(values)).tolist())


def supports(recipe: Recipe) -> bool:
    """Whether documents can be left out of what a recipe makes."""
    return obstacle(recipe) is None


def obstacle(recipe: Recipe) -> Unsupported | None:
    """Why documents cannot be left out of what a recipe makes; None if they can."""
    conditional = recipe.learner.conditional
    is_rescaled = isinstance(conditional, Complement) and (conditional.norm or conditional.transform)
    if not isinstance(conditional, CONDITIONALS) or is_rescaled:
        return Unsupported(
            "leave-one-out needs a model of counts alone",
            hint="use multinomial, bernoulli, or complement without norm and transform",
        )
    if np.ndim(conditional.alpha):
        return Unsupported("leave-one-out takes one alpha for all words")
    if recipe.unknown != "ignore":
        return Unsupported(
            f"with unknown={recipe.unknown} a word that only one text has cannot be left out with it",
            hint="leave-one-out takes unknown='ignore'",
        )
    return None


def class_numbers(labels: list[str], classes: Sequence[str] | Mapping[str, int]) -> NDArray[np.int64]:
    """The number of each label's class, all of which must be there, among names or numbers by name."""
    index = classes if isinstance(classes, Mapping) else numbers_of(classes)
    for label in labels:
        if label not in index:
            raise InputError(
                f"there is no class `{label}`", hint="only documents that were learned can be left out"
            )
    return np.array([index[label] for label in labels], dtype=np.int64)


def numbers_of(classes: Sequence[str]) -> dict[str, int]:
    """The number of each class, by its name."""
    return {name: k for k, name in enumerate(classes)}
