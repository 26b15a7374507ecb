"""How probable texts and rows are to a model, and how surprising beside those of training."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.errors import LengthMismatch, NoData, Unsupported
from textodds.judge.novelty import Familiarity, Typical, log_coefficient
from textodds.learn.conditionals import Multinomial
from textodds.learn.forms.linear import log, log_joint
from textodds.learn.naive_bayes import CountLearner
from textodds.model.base import BaseModel
from textodds.model.basis import D, T
from textodds.model.one_state import of_one_state
from textodds.stats.distributions import log_gamma

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel
    from textodds.stats.sample import Example

Floats = NDArray[np.float64]
S = TypeVar("S")

FOLD = 5  # at most one in so many documents is forgotten at a time, so that the model stays what it is


@dataclass(frozen=True, eq=False)
class Surprise:
    """Of N texts or rows: length, surprise, log-density and number of unknown words, (N,) each."""

    length: Floats
    surprise: Floats
    log_density: Floats
    unknown: NDArray[np.int64]


class _Density(Protocol[S]):
    """A model as a distribution of what it reads; see `TextDensity`."""

    def log_joint(self, batch: Batch) -> Floats: ...
    def log_density(self, batch: Batch) -> Floats: ...
    def surprise(self, batch: Batch) -> Surprise: ...
    def sample(self, batches: Iterable[Batch]) -> list[S]: ...
    def batch_of(self, sample: Sequence[S]) -> Batch: ...
    def left_out(self, sample: Sequence[S]) -> Iterator[Surprise]: ...


class DensityModel(BaseModel[T, D], Generic[T, D, S]):
    """What a model says of how probable and how familiar a text or a row is."""

    @property
    @abstractmethod
    def density(self) -> _Density[S]:
        """The model as a distribution, if it is one."""

    @of_one_state
    def log_joint(self, data: object, labels: Sequence[str] | None = None) -> Floats:
        """``log p(x, class)`` with all constants: of every class (N, K), or of each row's label (N,).

        Of texts, x are the words the model knows: what Bayes' rule takes.
        """
        density = self.density
        parts = [density.log_joint(batch) for batch in self._batches(data)]
        joint = np.concatenate(parts) if parts else np.zeros((0, len(self.classes_)))
        if labels is None:
            return joint
        if len(labels) != len(joint):
            raise LengthMismatch(len(joint), len(labels))
        return np.asarray(joint[np.arange(len(joint)), [self.class_number(label) for label in labels]])

    @of_one_state
    def log_density(self, data: object) -> Floats:
        """``log p(x)`` with all constants, whatever the class: (N,).

        Of numbers that are Gaussian it is a density, of all else a probability. In a text, a word that the
        model does not know is as likely as one of the vocabulary that its class has never shown.
        """
        density = self.density
        parts = [density.log_density(batch) for batch in self._batches(data)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def familiarity(self, data: object) -> list[Familiarity]:
        """The novelty of each text or row; needs a model with ``typical`` texts or rows."""
        return self._familiarity(self._batches(data))

    def familiarity_of(self, batch: Batch) -> list[Familiarity]:
        """How like the texts or rows of training those of a batch are."""
        return self._familiarity([batch])

    @of_one_state
    def _familiarity(self, batches: Iterable[Batch]) -> list[Familiarity]:
        density = self.density
        rows: list[tuple[float, float, float, int]] = []
        if self.typical is None:
            raise Unsupported(
                f"the model has no typical {self.noun}s to compare with",
                hint="train with `--typical` (typical=True), or call learn_typical on "
                f"{self.noun}s of the kind",
            )
        for found in map(density.surprise, batches):
            p_values = self.typical.p_value(found.length, found.surprise)
            parts = (found.log_density, found.surprise, p_values, found.unknown)
            rows += zip(*(part.tolist() for part in parts), strict=True)
        return [Familiarity(*row) for row in rows]

    def learn_typical(
        self, source: object, labels: object = None, *, seen: bool = True, **reading: object
    ) -> None:
        """Keep how surprising typical texts or rows are, for `familiarity`.

        Up to 2,000 are drawn from ``source``. If the model has ``seen`` them in training, they are
        forgotten while it is asked about them, so that they are to it as new as those to come.
        """
        sample = self.density.sample(self.read(source, labels, labelled=seen, **reading))
        with self.replaced() as model:
            model.typical = model.typical_of(sample, seen=seen)

    def typical_of(self, sample: Sequence[S], *, seen: bool) -> Typical:
        """How surprising a sample is; if it was learned, with each part of it forgotten."""
        if not sample:
            raise NoData(f"there are no typical {self.noun}s to compare with")
        density = self.density
        found = list(density.left_out(sample)) if seen else [density.surprise(density.batch_of(sample))]
        if not found:
            raise NoData(
                f"too few {self.noun}s to tell typical ones from others",
                hint=f"train on more {self.noun}s, so that a fifth of them can be forgotten for a while",
            )
        lengths, surprises = zip(*((each.length, each.surprise) for each in found), strict=True)
        return Typical.of(np.concatenate(lengths), np.concatenate(surprises))


def forgettable_parts(sample: Sequence[S], n_documents: float) -> Iterator[list[S]]:
    """A sample of ``n_documents`` in parts so small that a model can forget one and stay what it is."""
    folds = min(len(sample), max(1, int(np.ceil(FOLD * len(sample) / max(n_documents, 1.0)))))
    order = np.random.default_rng(0).permutation(len(sample))  # documents may come class by class in turn
    for fold in range(folds):
        yield [sample[at] for at in order[fold::folds]]


@dataclass(frozen=True, eq=False)
class TextDensity:
    """A generative model of texts as a distribution of their words."""

    model: TextModel

    @property
    def is_drawn(self) -> bool:
        """Whether words are drawn one by one, rather than each there or not."""
        return isinstance(self.model.recipe.learner.conditional, Multinomial)

    def log_likelihood(self, batch: Batch) -> Floats:
        """``log p(words | class)`` with all constants, (N, K); of words the model knows."""
        linear = self.model.linear
        scores = self.model.score_batch(batch, calibrate=False)[0] - linear.log_prior
        if not self.is_drawn:
            return scores
        rows = self.model.scorer.rows(batch.texts)
        if linear.presence:
            rows.data[:] = 1.0
        return np.asarray(scores + log_coefficient(rows)[:, None])

    def log_joint(self, batch: Batch) -> Floats:
        """``log p(words, class)`` with all constants, before any calibration: (N, K)."""
        return log_joint(self.log_likelihood(batch), self.model.linear.log_prior)

    def log_density(self, batch: Batch) -> Floats:
        """``log p(words)`` with all constants, (N,); of all words, known or not."""
        return self.surprise(batch).log_density

    def surprise(self, batch: Batch) -> Surprise:
        r"""How surprising each text of a batch is.

        Where words are drawn, the surprise is :math:`-\tfrac1n \log p(x)` over all n words in their order.
        Where each is there or not it is :math:`\tfrac1n \log p(\emptyset) / p(x)`, the empty text being the
        measure, since :math:`p(x)` has a factor for every word that is not there. A word that the model does
        not know is as likely as one of the vocabulary that its class has never shown; without that, a text of
        such words would be certain.
        """
        scores, evidence = self.model.score_batch(batch, calibrate=False)
        known, terms = evidence.T.astype(np.float64)
        unknown = terms - known
        unseen = self._log_unknown(unknown)
        joint, scores = self.log_joint(batch) + unseen, scores + unseen
        if self.is_drawn:  # the places that unknown words, all being one, may have in the order
            joint = joint + (log_gamma(terms + 1) - log_gamma(known + 1) - log_gamma(unknown + 1))[:, None]
        density = np.logaddexp.reduce(joint, axis=1)
        n = np.maximum(terms, 1.0)
        surprise = -np.logaddexp.reduce(scores, axis=1) / n if self.is_drawn else self._by_word(density, n)
        return Surprise(n, surprise, density, unknown.astype(np.int64))

    def log_unknown(self, batch: Batch) -> Floats:
        """What words that the model does not know add to ``log p(words | class)``, (N, K)."""
        known, terms = self.model.score_batch(batch, calibrate=False)[1].T.astype(np.float64)
        return self._log_unknown(terms - known)

    def _log_unknown(self, unknown: Floats) -> Floats:
        """The same of so many words, (N,); nothing where the policy for unknown words says what they are."""
        if self.model.recipe.unknown != "ignore" or not unknown.any():
            return np.zeros((len(unknown), len(self.model.classes_)))
        return np.asarray(unknown[:, None] * self.log_unseen())

    def log_unseen(self, without: Floats | float = 0.0) -> Floats:
        """Logarithm of the probability of a word of the vocabulary that a class has never shown, (K,).

        Of a Bernoulli model also ``without`` so many of its documents, (N, K).
        """
        learner = self.model.recipe.learner
        smoothing = learner.smoothing if isinstance(learner, CountLearner) else 0.0
        alpha = float(np.mean(np.asarray(smoothing, dtype=np.float64)))
        counts = self.model.tally.counts()
        if self.is_drawn:
            total = counts.by_class(counts.occurrences) + alpha * len(self.model.vocabulary)
        else:
            total = np.maximum(counts.class_documents - without, 0.0) + 2.0 * alpha
        return log(np.array([alpha])) - log(total)

    def perplexity(self, batch: Batch) -> Floats:
        """``p(words)^(-1/n)``, the n words being in their order: (N,); 1 of a text without a word."""
        if not self.is_drawn:
            raise Unsupported(
                "only a multinomial model has a perplexity",
                hint="train with the learner multinomial, without binary",
            )
        return np.exp(self.surprise(batch).surprise)

    def sample(self, batches: Iterable[Batch]) -> list[Example]:
        """A fair sample of the texts that pass by."""
        from textodds.stats.sample import TYPICAL, HashSample

        sample = HashSample(TYPICAL)
        for batch in batches:
            sample.offer(batch)
        return sample.examples()[:TYPICAL]

    def batch_of(self, sample: Sequence[Example]) -> Batch:
        """A sample as one batch."""
        texts, labels, weights, _ = (list(column) for column in zip(*sample, strict=True))
        return Batch(texts, labels, np.array(weights))

    def left_out(self, sample: Sequence[Example]) -> Iterator[Surprise]:
        """How surprising a sample that was learned is to models that have forgotten it.

        Where every word of the vocabulary is there or not, the density rests on how many words and documents
        there are, and each text is left out alone: to a model without a fifth of the documents, which has
        fewer words to be without, all texts would be less surprising than new ones are to this model.
        Where words are drawn, the surprise of a word does not depend on that.
        """
        from textodds.model.leave_one_out import supports

        if not self.is_drawn and supports(self.model.recipe):
            yield self._left_out_alone(sample)
            return
        for part in forgettable_parts(sample, self.model.tally.n_documents):
            batch = self.batch_of(part)
            rest = self.model.tally - self.model.count([batch])
            if rest.classes and len(rest.vocabulary):
                yield TextDensity(self.model._of_counts(rest)).surprise(batch)

    def _left_out_alone(self, sample: Sequence[Example]) -> Surprise:
        """How surprising texts are, each to the Bernoulli model of all others, as often as they came."""
        from textodds.model.leave_one_out import LeaveOneOut, class_numbers
        from textodds.stats.sample import as_rows

        batch, without = self.batch_of(sample), LeaveOneOut(self.model.tally, self.model.recipe)
        assert batch.weights is not None
        codes = class_numbers(batch.label_list(), self.model.class_names)
        rows = self.model.scorer.rows(batch.texts)
        _, evidence = self.model.score_batch(batch, calibrate=False)
        known, terms = evidence.T.astype(np.float64)
        unknown = terms - known + without.lost(rows, batch.weights)
        own = (codes[:, None] == np.arange(len(self.model.classes_))) * batch.weights[:, None]  # (N, K)
        joint = without.scores(rows, codes, batch.weights) + unknown[:, None] * self.log_unseen(own)
        density = np.logaddexp.reduce(joint, axis=1)
        often = as_rows(list(sample))
        n = np.maximum(terms, 1.0)
        n, density, unknown = n[often], density[often], unknown[often]
        return Surprise(n, self._by_word(density, n), density, unknown.astype(np.int64))

    def _by_word(self, density: Floats, n: Floats) -> Floats:
        """By how much texts of n words are less likely than the empty one, in logarithms and by word."""
        linear = self.model.linear
        return np.asarray((np.logaddexp.reduce(linear.intercept + linear.log_prior) - density) / n)
