r"""What a few documents change in a model at once, at the cost of what they contain.

Tables of weights are changed by rows (`textodds._kernels.Table`), and every version of them stays as it was:
who reads one is not disturbed. Arrays of a whole model are made when someone asks for them.

Of counts the change is exact, bit for bit. A model that is fitted to all of its documents at once moves as
far as one document alone would move it: with :math:`q = C \lVert x \rVert^2` its scores :math:`s` of a
learned document :math:`(x, y)` become the :math:`s'` where

.. math:: \tfrac{1}{2q} \lVert s' - s \rVert^2 + \log\sum_k e^{s'_k} - s'_y                  \tag{1}

is least, by :math:`\Delta W = C\, (e_y - p')\, x^\top` with :math:`p' = \operatorname{softmax}(s')`: the
step of dual coordinate ascent for one document. No weight moves by more than :math:`C |x_v|`. Forgetting
takes away what the document holds by (1), :math:`C\, (e_y - p)\, x^\top` at the weights that are, and so
undoes learning. The full solution comes later.

References
----------
Yu, Huang and Lin (2011), *Dual coordinate descent methods for logistic regression and maximum entropy
models*, section 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.learn.forms.linear import (
    DENSE_CLASSES,
    LazyWeights,
    LinearModel,
    Weights,
    log,
    log_prior,
    log_softmax,
)
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe, fitted, is_of_documents
from textodds.model.scorer import RowChanges, TextScorer
from textodds.stats.tally import Tally
from textodds.text import Vocabulary
from textodds.text.vocabulary import LazyVocabulary, inserted

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.learn.arrays import Floats
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.text_model import TextModel
    from textodds.model.text_updates import Form

USUAL = 4.0  # the most that (1) may move a score where the recipe has no C, or one without bound
STEPS = 50  # of Newton's method, at most


class QuickForm(ABC):
    """The form of a model, and how a few documents change it; it is never changed itself."""

    vocabulary: Vocabulary
    form: Form

    @property
    def changes(self) -> RowChanges | None:
        """What is scored by, where only rows of weights have changed; None: by all of the form."""
        return None

    @abstractmethod
    def changed(self, gone: Batch, fresh: Batch) -> QuickForm | None:
        """The form without some documents and with others; None if that takes all counts, or documents."""


def quick_form(model: TextModel) -> QuickForm:
    """The form of a model, ready to be changed."""
    recipe, form = model.recipe, model.form
    if is_of_documents(recipe):
        if isinstance(form, LinearModel) and form.weights.dense is not None:
            return QuickLinear.of(model, form, form.weights.dense)
        return Unmoved(model.vocabulary, form)
    plain = recipe.selection.keeps_all and recipe.unknown == "ignore" and recipe.settings.hash_bits is None
    learner = recipe.learner
    few = len(model.classes_) <= DENSE_CLASSES
    if plain and few and isinstance(learner, MultinomialLearner) and np.ndim(learner.smoothing) == 0:
        return QuickMultinomial.of(model)
    return Recounted(recipe, model.tally, model.vocabulary, form)


@dataclass(frozen=True, eq=False)
class Unmoved(QuickForm):
    """A form that changes with the full solution only: classes are Gaussians that no one document moves."""

    vocabulary: Vocabulary
    form: Form

    def changed(self, gone: Batch, fresh: Batch) -> Unmoved:
        """The same."""
        return self


@dataclass(frozen=True, eq=False)
class Recounted(QuickForm):
    """A form that is made anew of all counts, by ``fit``."""

    recipe: Recipe
    tally: Tally
    vocabulary: Vocabulary
    form: Form
    fit: Callable[[Tally, Recipe], tuple[Vocabulary, Form]] = fitted

    def changed(self, gone: Batch, fresh: Batch) -> Recounted:
        """The form of the counts without some documents and with others."""
        settings, tally = self.recipe.settings, self.tally
        if len(gone):
            tally = tally - Tally.count([gone], settings=settings, threads=1)
        if len(fresh):
            tally = tally + Tally.count([fresh], settings=settings, threads=1)
        return Recounted(self.recipe, tally, *self.fit(tally, self.recipe), self.fit)


@dataclass(frozen=True, eq=False)
class NewWords:
    """Words that have come to a vocabulary, with rows behind its own in the order they came."""

    words: Vocabulary
    rows: NDArray[np.uint32]  # (new,) of each of the words
    places: NDArray[np.uint32]  # (new,) by row, before which word of the vocabulary it stands
    ranks: NDArray[np.uint32]  # (new,) by row, its number among the words

    @classmethod
    def none(cls, vocabulary: Vocabulary) -> Self:
        """No new words."""
        nothing = np.zeros(0, dtype=np.uint32)
        return cls(vocabulary.select(np.zeros(0, dtype=np.int64)), nothing, nothing, nothing)

    def grown(self, vocabulary: Vocabulary, more: Vocabulary) -> NewWords:
        """With words that neither these nor the vocabulary have."""
        words, places = self.words.grown(more)
        behind = (len(vocabulary) + len(self.rows) + np.arange(len(more))).astype(np.uint32)
        rows = inserted(self.rows, places, behind)
        ranks = np.empty_like(rows)
        ranks[rows - len(vocabulary)] = np.arange(len(rows))
        at = np.concatenate([self.places, vocabulary.places(more).astype(np.uint32)])
        return NewWords(words, rows, at, ranks)

    def find(self, names: list[str]) -> NDArray[np.int64]:
        """The row of each word, -1 where it is not one of these."""
        found = self.words.find(names)
        return np.where(found >= 0, np.append(self.rows, 0)[found], -1) if len(self.rows) else found


@dataclass(frozen=True, eq=False)
class QuickMultinomial(QuickForm):
    """Multinomial naive Bayes of a few classes, whose counts and their logarithms stand in full tables.

    The row of a word that no document has any more is not a number, until one has it again.
    """

    recipe: Recipe
    kernel: _kernels.Linear  # of the model that it began as
    base: Vocabulary  # of that model
    new: NewWords
    size: int  # words that some document has
    classes: tuple[str, ...]  # (K,)
    class_documents: Floats  # (K,)
    totals: Floats  # (K,) of the counts
    counts: _kernels.Table  # (V + new words, K)
    logs: _kernels.Table  # (V + new words, K) of the counts with their smoothing

    @classmethod
    def of(cls, model: TextModel) -> Self:
        """The tables of a model."""
        tally, learner = model.tally, model.recipe.learner
        assert isinstance(learner, MultinomialLearner)
        table, K = _table(tally, tally.classes, learner.binary), len(tally.classes)
        logs = log(table + float(learner.smoothing))  # type: ignore[arg-type]
        words = model.vocabulary
        return cls(
            model.recipe,
            model.scorer.kernel,
            words,
            NewWords.none(words),
            len(words),
            tally.classes,
            tally.class_rows,
            table.sum(axis=0),
            _kernels.Table(table.reshape(-1), K),
            _kernels.Table(logs.reshape(-1), K),
        )

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """The words that some document has."""
        return LazyVocabulary(self.size, lambda: self._whole[0])

    @cached_property
    def form(self) -> LinearModel:  # type: ignore[override]
        """The form that `textodds.learn.naive_bayes.fit` makes of the same counts."""
        learner, K = self._learner, len(self.classes)
        prior = log_prior(learner.prior, self.classes, self.class_documents)
        weights = LazyWeights((self.size, K), lambda: self._whole[1] - self._log_totals)
        return LinearModel(self.classes, prior, np.zeros(K), weights, presence=learner.binary)

    @property
    def changes(self) -> RowChanges:
        """The same weights, word by word."""
        form, new = self.form, self.new
        words = (new.words.keys, new.words.arena, new.words.directory)
        more = (words, new.rows, new.places, new.ranks)
        intercept = form.log_prior + form.intercept
        return RowChanges(self.kernel, intercept, form.intercept, self.logs, self._log_totals, more)

    @cached_property
    def _log_totals(self) -> Floats:
        return log(self.totals + _times(self._alpha, self.size))  # (K,)

    @cached_property
    def _whole(self) -> tuple[Vocabulary, Floats]:
        """The vocabulary in its order, and the logarithms of its words, (V, K)."""
        words, places = self.base.grown(self.new.words)
        old = self.logs.rows(np.arange(len(self.base)))
        logs = inserted(old, places, self.logs.rows(self.new.rows.astype(np.int64)))
        kept = np.flatnonzero(~np.isnan(logs[:, 0]))
        return (words, logs) if len(kept) == len(logs) else (words.select(kept), logs[kept])

    @property
    def _learner(self) -> MultinomialLearner:
        assert isinstance(self.recipe.learner, MultinomialLearner)
        return self.recipe.learner

    @property
    def _alpha(self) -> float:
        return float(self._learner.smoothing)  # type: ignore[arg-type]

    def changed(self, gone: Batch, fresh: Batch) -> QuickMultinomial | None:
        """The tables without some documents and with others; None if classes come or go."""
        if not {*gone.label_list(), *fresh.label_list()} <= {*self.classes}:
            return None
        after: QuickMultinomial | None = self
        for batch, sign in ((fresh, 1.0), (gone, -1.0)):
            if len(batch) and after is not None:
                after = after._with(Tally.count([batch], settings=self.recipe.settings, threads=1), sign)
        return None if after is None or (after.class_documents <= 0).any() else after

    def _with(self, tally: Tally, sign: float) -> QuickMultinomial | None:
        """The tables with the counts of some documents; None if some are then below nothing."""
        rows, new = self._rows(tally.vocabulary)
        change = sign * _table(tally, self.classes, self._learner.binary)
        before, known = np.zeros_like(change), rows < len(self.counts)
        before[known] = self.counts.rows(rows[known])
        counts = before + change
        if (counts < 0).any():
            return None
        is_left = counts.any(axis=1)
        logs = log(counts + self._alpha)
        logs[~is_left] = np.nan
        documents = self.class_documents.copy()
        documents[[self.classes.index(name) for name in tally.classes]] += sign * tally.class_rows
        return replace(
            self,
            new=new,
            size=self.size + int(is_left.sum()) - int(before.any(axis=1).sum()),
            class_documents=documents,
            totals=self.totals + change.sum(axis=0),
            counts=self.counts.changed(rows, counts),
            logs=self.logs.changed(rows, logs),
        )

    def _rows(self, words: Vocabulary) -> tuple[NDArray[np.int64], NewWords]:
        """The row of each word; those that have none get one."""
        names = words.words()
        rows, new = self.kernel.find(names), self.new
        if len(absent := np.flatnonzero(rows < 0)):
            rows[absent] = new.find([names[i] for i in absent.tolist()])
        if len(absent := np.flatnonzero(rows < 0)):
            rows[absent] = len(self.counts) + np.arange(len(absent))
            new = new.grown(self.base, words.select(absent))
        return rows, new


@lru_cache(maxsize=16)
def _times(alpha: float, n: int) -> float:
    """``n`` times alpha, added up as `numpy` does where each word has an alpha of its own."""
    return float(np.broadcast_to(alpha, n).sum())


def _table(tally: Tally, classes: tuple[str, ...], binary: bool) -> Floats:
    """Occurrences of words, or documents with them, by classes that may be more than its own; (V, K)."""
    counts = tally.counts().binary() if binary else tally.counts()
    own = np.array([classes.index(name) for name in counts.classes], dtype=np.intp)
    table = np.zeros((counts.n_features, len(classes)))
    table[counts.feature_of, own[counts.class_of]] = counts.occurrences
    return table


@dataclass(frozen=True, eq=False)
class QuickLinear(QuickForm):
    """A linear form that was fitted to all of its documents; new words wait for the full solution."""

    scorer: TextScorer  # of the model that it began as
    vocabulary: Vocabulary
    begun: LinearModel  # whose weights may be others by now
    table: _kernels.Table  # (V, K) the weights
    C: float | None  # of (1); None where it is not known
    documents: float  # that it was fitted to
    is_changed: bool = False

    @classmethod
    def of(cls, model: TextModel | MultiLabelModel, form: LinearModel, weights: Floats) -> Self:
        """The weights of a model."""
        documents = model.info.get("documents")
        n = float(documents) if isinstance(documents, int | float) else 1.0
        C = getattr(model.recipe.learner, "C", None)
        alpha = getattr(model.recipe.learner, "alpha", None)
        if C is None and model.recipe.learner.entry.is_penalised and alpha:
            C = 1.0 / (alpha * n)
        table = _kernels.Table(weights.reshape(-1), weights.shape[1])
        return cls(model.scorer, model.vocabulary, form, table, C, n)

    @cached_property
    def form(self) -> LinearModel:  # type: ignore[override]
        """The form with the weights as they are now."""
        if not self.is_changed:
            return self.begun
        return replace(self.begun, weights=LazyWeights(self.begun.weights.shape, lambda: self.weights))

    @property
    def weights(self) -> Floats:
        """All weights (V, K)."""
        return self.table.rows(np.arange(len(self.table)))

    @property
    def changes(self) -> RowChanges | None:
        """The same weights, word by word; None where classes are other than those of the kernel."""
        form = self.begun
        if form.classes != self.scorer.form.classes:
            return None
        nothing = np.zeros(len(form.classes))
        return RowChanges(
            self.scorer.kernel, form.log_prior + form.intercept, form.weights.default, self.table, nothing
        )

    def changed(self, gone: Batch, fresh: Batch) -> QuickLinear:
        """The weights after one step for each document; classes that are new have weights then too."""
        after = self._with_classes(fresh.label_list())
        for batch, sign in ((gone, -1.0), (fresh, 1.0)):
            if len(batch):
                after = replace(after, table=after._moved(batch, sign), is_changed=True)
        return after

    def _with_classes(self, labels: list[str]) -> QuickLinear:
        """The same with classes that have no document yet: between the others, as rare as one document."""
        form, new = self.begun, sorted({*labels}.difference(self.begun.classes))
        if not new:
            return self
        classes = tuple(sorted({*form.classes, *new}))
        own = [classes.index(name) for name in form.classes]
        prior = np.full(len(classes), -np.log(self.documents + 1.0))
        intercept = np.full(len(classes), np.logaddexp.reduce(form.log_prior + form.intercept))
        prior[own], intercept[own] = form.log_prior, form.intercept
        before = self.weights
        weights = np.tile(before.mean(axis=1, keepdims=True), len(classes))
        weights[:, own] = before
        form = LinearModel(classes, prior, intercept, Weights.of_matrix(weights), presence=form.presence)
        scorer = self.scorer.of_form(form)
        table = _kernels.Table(weights.reshape(-1), len(classes))
        return replace(self, scorer=scorer, begun=form, table=table, is_changed=True)

    def _moved(self, batch: Batch, sign: float) -> _kernels.Table:
        """The weights after one step of (1) for each document of a batch."""
        form, table = self.begun, self.table
        starts, numbers, values, _ = self.scorer.kernel.rows(batch.texts)  # without SciPy, which takes long
        prior = form.log_prior + form.intercept
        for i, label in enumerate(batch.label_list()):
            part = slice(*starts[i : i + 2].tolist())
            words, x = numbers[part].astype(np.int64), values[part]
            if form.presence:
                x = (x > 0).astype(np.float64)
            size = float(x @ x)
            if not size or label not in form.classes:
                continue
            k, weights = form.classes.index(label), table.rows(words)
            scores = prior + x @ weights
            C = min(USUAL / size if self.C is None else self.C, 1e3 * USUAL / size)
            C = C / 2 if len(form.classes) == 2 else C  # two classes share one vector of weights
            towards = -np.exp(log_softmax(_moved(scores, k, C * size) if sign > 0 else scores))
            towards[k] += 1.0
            table = table.changed(words, weights + sign * C * np.outer(x, towards))
        return table


def _moved(scores: Floats, k: int, q: float) -> Floats:
    """The scores at which (1) is least, by Newton's method with steps that are halved until it falls.

    Examples
    --------
    >>> s = _moved(np.zeros(2), 1, 2.0)
    >>> s.round(3), (2.0 * (np.array([0, 1]) - np.exp(log_softmax(s)))).round(3)
    (array([-0.521,  0.521]), array([-0.521,  0.521]))
    """
    target = np.zeros(len(scores))
    target[k] = 1.0

    def value(at: Floats) -> tuple[float, Floats]:
        logs = log_softmax(at)
        return float(((at - scores) ** 2).sum() / (2 * q) - logs[k]), np.exp(logs)

    at = scores
    before, p = value(at)
    for _ in range(STEPS):
        slope = (at - scores) / q + p - target
        if np.abs(slope).max() < 1e-9:
            break
        # The Hessian is diag(1/q + p) - p p', which Sherman and Morrison invert.
        scaled, own = slope / (1.0 / q + p), p / (1.0 / q + p)
        step = scaled + own * ((p @ scaled) / (own / q).sum())
        after, p = value(at - step)
        while after > before and np.abs(step).max() > 1e-12:
            step = step / 2
            after, p = value(at - step)
        at, before = at - step, after
    return at
