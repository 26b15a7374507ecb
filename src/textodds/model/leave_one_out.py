r"""Exact leave-one-out: every document under the model of all others, in one pass.

Naive Bayes rests on counts, and counts subtract. So the model without a document costs no more than reading
the document: no folds, no refitting, no held-out set. From such scores come the choice of smoothing,
calibrated probabilities, an honest measure of quality, and the labels that look wrong.

Without a document, its class has one less, its words have their counts lowered, and words that are then in
fewer documents than ``min_df`` leave the vocabulary, in all classes. ``max_df`` and ``max_features`` are kept
as they were chosen with the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The counts of all documents, from which any one can be left out."""

    tally: Tally
    recipe: Recipe

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
        self, rows: Any, codes: NDArray[np.int64], weights: Floats, alpha: float | None = None
    ) -> Floats:
        """Joint log-probabilities (N, K) of documents, each under the model of all others.

        ``rows`` are the counts of words (N, V), SciPy sparse; ``codes`` the classes, all of which are among
        those of the tally.
        """
        conditional, counts = self._conditional, self.counts
        alpha = float(conditional.alpha) if alpha is None else alpha
        weights = np.round(weights / UNIT) * UNIT  # as they were counted
        cells, totals, absent, name = self._of(conditional, codes, weights, alpha)
        found = _kernels.left_out(
            name,
            raw(rows),
            (counts.starts, counts.class_of, cells, self.documents, totals),
            (codes.astype(np.uint32), weights, self._least(weights)),
            alpha,
            LOG_ZERO,
            absent,
        )
        return log_joint(found, self.log_prior(codes, weights))

    def _least(self, weights: Floats) -> Floats:
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
        lengths = np.diff(rows.indptr)
        row = np.repeat(np.arange(len(lengths)), lengths)
        known = self.documents[rows.indices] - weights[row] >= self._least(weights)[row]
        times = np.ones(len(row)) if getattr(conditional, "binary", False) else rows.data
        return np.asarray(np.bincount(row, known * times, len(lengths)), dtype=np.float64)

    def lost(self, rows: Any, weights: Floats) -> Floats:
        """How many words of each document are in too few others to be words without it, (N,)."""
        weights = np.round(weights / UNIT) * UNIT
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        gone = self.documents[rows.indices] - weights[row] < self._least(weights)[row]
        return np.bincount(row, rows.data * gone, rows.shape[0]).astype(np.float64, copy=False)

    def _of(
        self, conditional: Any, codes: NDArray[np.int64], weights: Floats, alpha: float
    ) -> tuple[Floats, Floats, tuple[Floats, Floats] | None, str]:
        """What is counted, its totals by class, what absent words add, and the name of the model."""
        counts = self.counts
        if isinstance(conditional, Bernoulli):
            absent = self._absent(codes, weights, alpha)
            return counts.documents, counts.class_documents, absent, "bernoulli"
        if isinstance(conditional, Complement):
            return counts.occurrences, self.totals, None, "complement"
        assert isinstance(conditional, Multinomial)
        if conditional.binary:
            return counts.documents, counts.by_class(counts.documents), None, "binary"
        return counts.occurrences, self.totals, None, "multinomial"

    def _absent(self, codes: NDArray[np.int64], weights: Floats, alpha: float) -> tuple[Floats, Floats]:
        """``Σ_v log(1 - p_kv)`` by class (K,), and of each document's class with so much less weight (N,)."""
        counts, n = self.counts, self.counts.class_documents
        unseen = counts.n_features - counts.by_class(np.ones_like(counts.documents))

        def summed(total: Floats) -> Floats:  # (K,) documents of each class
            cells = log_absent(counts.documents + alpha, total[counts.class_of] + 2 * alpha)
            return counts.by_class(cells) + unseen * log_absent(alpha + 0 * total, total + 2 * alpha)

        own = np.empty(len(codes))
        for weight in np.unique(weights):
            rows = weights == weight
            own[rows] = summed(np.maximum(n - weight, 0.0))[codes[rows]]
        return summed(n), own

    def log_prior(self, codes: NDArray[np.int64], weights: Floats, prior: Prior | None = None) -> Floats:
        """The prior without each document, (N, K), the model's unless given; zero for one that has none."""
        if not self._conditional.is_likelihood:
            return np.zeros((len(codes), len(self.counts.classes)))
        prior = self.recipe.learner.prior if prior is None else prior
        classes, mass = self.counts.classes, self.counts.class_documents
        if prior == "data":
            left = np.tile(mass, (len(codes), 1))
            left[np.arange(len(codes)), codes] -= weights
            return log(np.maximum(left, 0.0) / np.maximum(left.sum(axis=1, keepdims=True), UNIT))
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
        """The documents in order of how little their own label is believed."""
        return np.argsort(self.log_p_truth, kind="stable")


def left_out(model: TextModel, batches: Iterable[Batch], without: LeaveOneOut | None = None) -> LeftOut:
    """Documents that a model has learned, each ``without`` its own counts, in one pass."""
    pieces = list(_left_out_pieces(model, batches, without or LeaveOneOut(model.tally, model.recipe)))
    if not pieces:
        raise NoData("there are no documents to leave out")
    rows, truth, joint, posterior = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return LeftOut(model.class_names, truth, joint, posterior, rows)


def left_out_answers(model: TextModel, batches: Iterable[Batch]) -> LeftOutAnswers:
    """The same, keeping two numbers of each document, however many classes there are."""
    found = []
    for rows, truth, _, posterior in _left_out_pieces(model, batches, LeaveOneOut(model.tally, model.recipe)):
        each, answer = np.arange(len(truth)), posterior.argmax(axis=1)
        found.append((truth, answer, posterior[each, truth], posterior[each, answer], rows))
    if not found:
        raise NoData("there are no documents to leave out")
    parts: Any = (np.concatenate(each) for each in zip(*found, strict=True))
    return LeftOutAnswers(model.class_names, *parts)


def _left_out_pieces(
    model: TextModel, batches: Iterable[Batch], without: LeaveOneOut
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]]:
    """Rows, own classes, joint log-probabilities and log-posteriors of some documents at a time."""
    first = 0
    for batch in batches:
        for part in _pieces(batch, min(PIECE, max(1, CELLS // len(model.classes_)))):
            weights = np.ones(len(part)) if part.weights is None else part.weights
            here = np.flatnonzero(weights >= UNIT)
            rows = first + here
            first += len(part)
            if len(here) < len(part):
                part = part.take(here.tolist())
            codes = class_numbers(part.label_list(), model.class_names)
            read = model.scorer.rows(part.texts)
            joint = without.scores(read, codes, weights[here])
            found = joint
            if model.calibration is not None:
                words, prior = without.words(read, weights[here]), without.log_prior(codes, weights[here])
                found = model.calibration.applied(joint - prior, words=words) + prior
            yield rows, codes, joint, log_softmax(found)


def _pieces(batch: Batch, size: int) -> Iterator[Batch]:
    """A batch in pieces whose rows stay in the cache."""
    if len(batch) <= size:
        yield batch
        return
    for start in range(0, len(batch), size):
        yield batch.take(list(range(start, min(start + size, len(batch)))))


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


def class_numbers(labels: list[str], classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The number of each label's class, all of which must be there."""
    index = {name: k for k, name in enumerate(classes)}
    for label in labels:
        if label not in index:
            raise InputError(
                f"there is no class `{label}`", hint="only documents that were learned can be left out"
            )
    return np.array([index[label] for label in labels], dtype=np.int64)
