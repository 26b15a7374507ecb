r"""Exact leave-one-out: every document under the model of all others, in one pass.

Naive Bayes rests on counts, and counts subtract. So the model without a document costs no more than reading
the document: no folds, no refitting, no held-out set. From such scores come the choice of smoothing,
calibrated probabilities, an honest measure of quality, and the labels that look wrong.

Without a document, its class has one less, its words have their counts lowered, and words that are then in
fewer documents than ``min_df`` leave the vocabulary, in all classes. ``max_df`` and ``max_features`` are kept
as they were chosen with the document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch
from textodds.errors import InputError, NoData, Unsupported
from textodds.learn.calibration import CELLS, Calibration, few_enough, log_loss
from textodds.learn.conditionals import Bernoulli, Complement, Multinomial
from textodds.learn.conditionals.bernoulli import log_absent
from textodds.learn.forms.linear import LOG_ZERO, log, log_joint, log_prior, log_softmax
from textodds.learn.held_out import FEWEST, HeldOut
from textodds.learn.recipe import selected
from textodds.learn.solvers.objective import raw
from textodds.model.text_model import TextModel
from textodds.stats.sample import UNIT, Example, as_rows

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.learn.registry import Prior
    from textodds.stats.tally import Counts, Tally

Floats = NDArray[np.float64]

CONDITIONALS = (Multinomial, Bernoulli, Complement)
"""Class-conditionals whose counts a kernel can leave a document out of."""

PIECE = 2000  # documents that are looked at together
MANY = 30  # classes beyond which smoothing is chosen with a temperature alone, not with a bias for each
STEP = 1.2  # by which a slope is raised while that makes more answers right
MOST_STEPS = 10
MOST_LOSS = 1.05  # times the least loss, which such a slope may cost
ALPHAS = (1e-5, 100.0)  # smoothings that are tried lie between these


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The counts of all documents, from which any one can be left out."""

    tally: Tally
    recipe: Recipe

    def __post_init__(self) -> None:
        if (error := _obstacle(self.recipe)) is not None:
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


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a sample of documents says, each left out: smoothing, calibration, and how good the model is."""

    alpha: float
    calibration: Calibration
    held_out: HeldOut
    about: dict[str, Any]


def lesson(
    model: TextModel, sample: list[Example], *, choose: bool = False, near: float | None = None
) -> Lesson | str:
    """What a sample of the documents of a model teaches; in words why nothing, if it does not.

    With ``choose`` the smoothing is chosen too, sought from that which it is to be ``near``; otherwise it is
    the model's.
    """
    if len(model.classes_) < 2:
        return "there is only one class"
    if (error := _obstacle(model.recipe)) is not None:
        return error.problem
    if not choose and model.recipe.learner.conditional.alpha == 0:  # type: ignore[union-attr]
        return "with alpha=0 a word rules out every class that it was not seen in, however it is weighed"
    without = LeaveOneOut(model.tally, model.recipe)
    mass = dict(zip(without.counts.classes, without.counts.class_documents, strict=True))
    # The only text of a class cannot be left out: nothing would be known of the class.
    sample = [row for row in sample if UNIT <= row.weight < mass.get(row.label, 0.0)]
    sample = few_enough(sample, len(model.classes_))
    as_often = as_rows(sample)
    if len(as_often) < FEWEST:
        return f"that takes {FEWEST} texts, and {len(as_often)} can be left out"
    codes = class_numbers([row.label for row in sample], model.class_names)
    each = np.array([row.weight for row in sample])  # what is left out: one row, however many are like it
    weights = each * np.array([row.rows for row in sample])
    rows = model.rows([row.text for row in sample])
    data = without.log_prior(codes, each, "data")  # whatever the model's own: texts come as they did then
    words = without.words(rows, each)

    def at(alpha: float, *, biases: bool = True) -> tuple[float, Calibration, Floats]:
        scores = without.scores(rows, codes, each, alpha)
        scores = scores - without.log_prior(codes, each)
        start = np.array([_slope(scores + data)])
        found = Calibration.of_parts(
            scores[None], codes, weights, offset=data, start=start, biases=biases, words=words
        )
        return log_loss(found.applied(scores, words=words) + data, codes, weights), found, scores

    learner: Any = model.recipe.learner
    few = len(model.classes_) <= MANY  # a bias for each of many costs more than leaving texts out
    if choose:
        alpha = _best_alpha(lambda a: at(a, biases=few)[0], 1.0 if near is None else near)
    else:
        alpha = float(learner.conditional.alpha)
    loss, calibration, scores = at(alpha)
    posterior = log_softmax(calibration.applied(scores, words=words) + data)
    before = (scores + data).argmax(axis=1) == codes
    for _ in range(MOST_STEPS):
        steeper = _steeper(calibration, scores, codes, weights, data, words)
        answers = log_softmax(steeper.applied(scores, words=words) + data)
        right, next_right = (each.argmax(axis=1) == codes for each in (posterior, answers))
        gains = surely_more(next_right, right) or surely_more(before, right)
        if not gains or log_loss(answers, codes, weights) > MOST_LOSS * loss:
            break
        calibration, posterior = steeper, answers
    after, truth = posterior[as_often], codes[as_often]
    about = calibration.told((scores + data)[as_often], after, truth, each[as_often])
    return Lesson(alpha, calibration, HeldOut.of(after, truth), about)


def _steeper(
    calibration: Calibration,
    scores: Floats,
    codes: NDArray[np.int64],
    weights: Floats,
    data: Floats,
    words: Floats | None,
) -> Calibration:
    """The calibration whose slope is larger by a step, with the biases that then cost least.

    Where texts are long, likelihoods are far too sure and their slope is small; a prior beside them that is
    left as it is then outweighs them in short texts.
    """
    slopes = STEP * calibration.slopes
    if not np.ndim(calibration.bias) and not np.ndim(calibration.rate):  # of very many classes none has one
        return replace(calibration, slopes=slopes)
    nothing = np.zeros((0, *scores.shape))
    found = Calibration.of_parts(nothing, codes, weights, offset=slopes[0] * scores + data, words=words)
    return replace(found, slopes=slopes)


def surely_more(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> bool:
    """Whether more are right in the first answers than in the second, by two standard errors.

    >>> surely_more(np.array([True] * 9), np.array([False] * 9)), surely_more(np.ones(3) > 0, np.ones(3) > 0)
    (True, False)
    """
    won, lost = np.count_nonzero(first & ~second), np.count_nonzero(second & ~first)
    return bool(won - lost > 2.0 * np.sqrt(won + lost))


def supports(recipe: Recipe) -> bool:
    """Whether documents can be left out of what a recipe makes."""
    return _obstacle(recipe) is None


def _obstacle(recipe: Recipe) -> Unsupported | None:
    """Why documents cannot be left out of what a recipe makes; None if they can."""
    conditional = recipe.learner.conditional
    is_rescaled = isinstance(conditional, Complement) and (conditional.norm or conditional.transform)
    if not isinstance(conditional, CONDITIONALS) or is_rescaled:
        return Unsupported(
            "leaving out one document at a time takes counts, which this model does not rest on alone",
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


def _slope(scores: Floats) -> float:
    """Where the search for a slope begins: scores of texts have the size of their length."""
    ordered = np.sort(scores, axis=1)
    return min(1.0, 2.0 / max(float(np.median(ordered[:, -1] - ordered[:, -2])), 1e-3))


def _half_decades() -> list[float]:
    """What smoothing is chosen from."""
    sides = []
    for step in (10**-0.5, 10**0.5):
        side = [1.0]
        while ALPHAS[0] < side[-1] * step < ALPHAS[1]:
            side.append(side[-1] * step)
        sides.append(side)
    return [*reversed(sides[0][1:]), *sides[1]]


def _best_alpha(loss: Callable[[float], float], near: float) -> float:
    """The smoothing of least loss: by half decades while it falls, then between the best and those beside.

    Where the loss has one minimum it is the same, from whichever smoothing it is sought.
    """
    grid = _half_decades()
    start = min(range(len(grid)), key=lambda i: abs(math.log(grid[i] / near)))
    points = {grid[start]: loss(grid[start])}
    for side in (reversed(grid[:start]), grid[start + 1 :]):
        for alpha in side:
            points[alpha] = loss(alpha)
            if points[alpha] > min(points.values()):
                break
    found = sorted(points)
    at = min(range(len(found)), key=lambda i: points[found[i]])
    if at in (0, len(found) - 1):
        return found[at]
    left, low, right = (points[alpha] for alpha in found[at - 1 : at + 2])
    bend = left - 2 * low + right
    shift = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return float(found[at] * 10 ** (0.5 * min(max(shift, -0.5), 0.5)))


def class_numbers(labels: list[str], classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The number of each label's class, all of which must be there."""
    index = {name: k for k, name in enumerate(classes)}
    for label in labels:
        if label not in index:
            raise InputError(
                f"there is no class `{label}`", hint="only documents that were learned can be left out"
            )
    return np.array([index[label] for label in labels], dtype=np.int64)
