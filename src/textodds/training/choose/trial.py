"""What a model says of rows that it has not learned, and trials of candidates on parts of a sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds.errors import NoData
from textodds.learn.arrays import Floats, Integers
from textodds.learn.design import DesignMatrix
from textodds.learn.forms.linear import LOG_ZERO
from textodds.learn.held_out import FOLDS, held_out, mean_by_row, n_folds, tells_classes_apart
from textodds.learn.registry import name_of
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.pool_choice import pool_of
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner, path_of
from textodds.model.fit import fit_counts
from textodds.stats.tally import Tally

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.text import Selection, TextSettings
    from textodds.training.choose.candidates import Candidate
    from textodds.training.choose.pool import Pool


LESSON, LESSON_SIZE, LEAST = 1000, 1 << 19, 250
"""Texts by which counts choose their smoothing and their temperature, or fewer of so many characters."""

TERM, GATHER, VISIT, COLUMN = 40e-9, 80e-9, 8e-9, 1e-9
"""Seconds that an ordinary core takes to count an occurrence of a term; to gather a term of a text for its
row; to visit that in a pass of the solver, and for each column of weights.

Work is reckoned by these, never by the clock: a busy machine is slower, and chooses the same."""

TIMES = 3
"""How often few texts are divided into folds: one division of 64 texts decides by chance what the next would
not."""

LESSON_BEGUN, LESSON_TERM, SEARCH = 0.015, 30e-9, 2.5
"""Seconds that a lesson takes, and for every occurrence of a term in it, beside its columns; and how many
times that, where the smoothing is sought."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model said of N rows that it had not learned.

    ``loss`` is ``-log p(label | row)``, NaN where the model has no such label, which is always wrong.
    """

    right: NDArray[np.bool_]  # (N,)
    loss: Floats  # (N,)
    weights: Floats | None = None  # (N,)

    @classmethod
    def of(cls, log_posterior: Floats, codes: Integers, weights: Floats | None = None) -> Answers:
        """What log-posteriors (N, K) say of rows of known classes (N,); -1 is a class that there is not."""
        own = -log_posterior[np.arange(len(codes)), codes]
        return cls(log_posterior.argmax(axis=1) == codes, np.where(codes >= 0, own, np.nan), weights)

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Those of several parts of the rows, in their order; without weights.

        Losses have single precision: what differs beyond is how a sum was rounded.
        """
        right = np.concatenate([np.zeros(0, np.bool_), *(part.right for part in parts)])
        loss = np.concatenate([np.zeros(0), *(part.loss for part in parts)])
        return cls(right, loss.astype(np.float32).astype(np.float64))

    def at(self, rows: Integers) -> Answers:
        """Those on some of the rows."""
        return Answers(
            self.right[rows], self.loss[rows], None if self.weights is None else self.weights[rows]
        )

    @property
    def accuracy(self) -> float:
        """Share of right answers, by weight."""
        return float(np.average(self.right, weights=self.weights))

    @property
    def error(self) -> float:
        """Share of wrong answers, by weight."""
        return 1.0 - self.accuracy

    @cached_property
    def log_loss(self) -> float:
        """Mean loss, by weight, of the rows whose label the model has."""
        known = self.at(np.flatnonzero(~np.isnan(self.loss)))
        return float(np.average(known.loss, weights=known.weights)) if len(known.loss) else math.nan

    def behind(self, other: Answers) -> tuple[float, float]:
        """By how much its loss is above that of another on the same rows, and the standard error of that.

        The paired difference of losses, over the rows whose label both models have.
        """
        difference = np.subtract(self.loss, other.loss, dtype=np.float64)
        known = np.flatnonzero(~np.isnan(difference))
        if not len(known):
            return math.nan, math.nan
        weights = np.ones(len(known)) if self.weights is None else self.weights[known]
        weights, difference = weights / weights.sum(), difference[known]
        mean = float(weights @ difference)
        return mean, float(np.sqrt(np.sum((weights * (difference - mean)) ** 2)))


@dataclass(frozen=True, eq=False)
class Trial:
    """What a candidate said of texts it had not learned.

    All candidates on a sample have the same held-out texts, in the same order.
    """

    candidate: Candidate
    n: int  # texts of the sample, those held out included
    classes: tuple[str, ...]  # the labels of the sample, by whose number scores and classes go
    held: HeldOutScores
    recipe: Recipe  # the candidate's, with what was chosen on the way
    seconds: float  # that an ordinary core takes for it, by the work that it was
    work: float  # times that the sample was learned from, over its folds
    fixed: float = 0.0  # seconds of these that more texts would not add to
    cells: int = 0  # words of texts that were held in memory, each counted once a text

    @cached_property
    def answers(self) -> Answers:
        """What was said of each held-out text."""
        return Answers.of(self.held.log_posterior, self.held.codes, self.held.weights)

    @property
    def log_loss(self) -> float:
        """Mean held-out loss, by weight."""
        return self.answers.log_loss


class Trials:
    """Trials on samples of a pool; features that several candidates share are found once."""

    def __init__(self, pool: Pool, threads: int, *, calibrate: bool = True) -> None:
        self.pool, self.threads, self.calibrate = pool, threads, calibrate
        self._last: tuple[tuple[TextSettings, Selection, int], DesignMatrix] | None = None
        self._cells = 0
        self._found: dict[str, float] = {}  # the first penalty that was found, by learner

    def together(self, those: Sequence[Candidate], n: int, enough: int) -> list[Trial]:
        """Candidates of the same features, at the same time, but for those that no term is left to; see `of`.

        The limits of document frequency may leave nothing of the sample, or of a fold.
        """

        def attempt(one: Candidate) -> Trial | None:
            try:
                return self.of(one, n, enough)
            except NoData:
                return None

        if len(those) > 1 and self.threads > 1:
            if those[0].recipe.learner.entry.needs_documents:
                sample = self.pool.head(n)
                self._gathered(self._of_sample(those[0].recipe, sample), sample)  # once for all
            with ThreadPoolExecutor(self.threads) as workers:
                found = list(workers.map(attempt, those))
        else:
            found = list(map(attempt, those))
        trials = [trial for trial in found if trial is not None]
        for trial in trials:  # now, not on the way: whoever ended first must not lead the others
            C = getattr(trial.recipe.learner, "C", None)
            if C is not None:
                self._found.setdefault(name_of(trial.recipe.learner), C)
        return trials

    def of(self, candidate: Candidate, n: int, enough: int) -> Trial:
        """A candidate on the first n texts, ``enough`` of which are held out, a part at a time.

        The penalty is that which was found with the first features: calibrated scores want about the same.
        Where they are not calibrated, it is sought each time.
        """
        sample = self.pool.head(n)
        recipe = self._of_sample(candidate.recipe, sample)
        cells, fixed = 0, 0.0
        if not recipe.learner.entry.needs_documents:
            held, seconds, fixed = self._from_counts(recipe, sample, enough)
        else:
            learner = recipe.learner
            assert isinstance(learner, (SoftmaxLearner, NBSoftmaxLearner))
            is_open = learner.C is None and learner.alpha is None
            if is_open and self.calibrate:
                learner = replace(learner, C=self._found.get(name_of(learner)))
            design = self._gathered(recipe, sample)
            path = path_of(
                learner,
                design,
                design.labels,
                enough=enough,
                times=TIMES,
                calibrated=self.calibrate,
                threads=self.threads,
            )
            if is_open:
                recipe = replace(recipe, learner=replace(learner, C=path.C))
            assert path.held is not None
            held, cells = path.held, self._cells
            columns = len(sample.classes) if len(sample.classes) > 2 else 1
            seconds = cells * (GATHER + path.passes * (VISIT + COLUMN * columns))
        work = n_folds(len(sample), enough, TIMES) * (1 - 1 / FOLDS)
        recipe = replace(recipe, selection=candidate.recipe.selection)
        return Trial(candidate, n, sample.classes, held, recipe, seconds, work, fixed, cells)

    def pooled(self, trial: Trial, enough: int) -> Trial | None:
        """A trial pooled with naive Bayes of the same features; None if that is no better for certain."""
        learner, sample = trial.recipe.learner, self.pool.head(trial.n)
        assert isinstance(learner, (SoftmaxLearner, NBSoftmaxLearner))
        design = self._gathered(self._of_sample(trial.recipe, sample), sample)
        found = pool_of(learner, design, design.labels, trial.held, enough=enough, times=TIMES)
        if not found.is_better:
            return None
        recipe = replace(trial.recipe, learner=replace(learner, naive_bayes=found.share))
        candidate = replace(trial.candidate, name=f"{trial.candidate.name}, with naive Bayes")
        return replace(trial, candidate=candidate, recipe=recipe, held=found.held)

    def _of_sample(self, recipe: Recipe, sample: Pool) -> Recipe:
        """A recipe whose numbers of documents are those for a sample of all texts."""
        return replace(recipe, selection=recipe.selection.of_part(len(sample) / self.pool.total))

    def _gathered(self, recipe: Recipe, sample: Pool) -> DesignMatrix:
        key = (recipe.settings, recipe.selection, len(sample))
        if self._last is None or self._last[0] != key:
            self._last = None  # so that there are never two in memory
            self._last = key, DesignMatrix.of([sample.batch], recipe, self.threads)
            self._cells = int(self._last[1].documents.documents.sum())
        return DesignMatrix(recipe, self._last[1].documents)

    def _from_counts(self, recipe: Recipe, sample: Pool, enough: int) -> tuple[HeldOutScores, float, float]:
        """What counts say of held-out texts; its seconds, and those of a lesson of fixed size among them."""
        parts, seconds, fixed = [], 0.0, 0.0
        searches = recipe.learner.is_smoothing_open  # in the first part; the others have what it found
        few = max(min(LESSON, int(LESSON_SIZE / max(sample.mean_size, 1.0))), LEAST)
        for out in held_out(sample.codes, enough, TIMES):
            if not tells_classes_apart(sample.codes, sample.weights, out):
                continue
            rows = np.flatnonzero(out)
            kept, asked = sample.at(np.flatnonzero(~out)), sample.at(rows)
            tally = Tally.count([kept.batch], settings=recipe.settings, threads=self.threads)
            selection = recipe.selection.of_part(1 - 1 / FOLDS)
            part = replace(recipe, selection=selection, calibrate=self.calibrate)
            lesson = kept.head(few).examples()
            model = fit_counts(tally, part, lesson, {}, threads=self.threads)
            passes = SEARCH if searches else 1.0
            if searches:
                recipe, searches = replace(recipe, learner=model.recipe.learner), False
            terms = float(tally.counts().occurrences.sum() / kept.weights.mean())
            share = len(lesson) / len(kept)
            own = LESSON_BEGUN + passes * terms * share * (LESSON_TERM + COLUMN * len(tally.classes))
            seconds, fixed = seconds + TERM * terms + own, fixed + own
            scores = np.full((len(asked), len(sample.classes)), LOG_ZERO)
            columns = [sample.classes.index(name) for name in model.class_names]
            scores[:, columns] = model.score_batch(asked.batch)[0]
            codes = sample.codes[out]
            # What is held out altogether says nothing, here as for softmax.
            parts.append((rows, scores, codes, np.where(np.isin(codes, columns), asked.weights, 0.0)))
        rows, scores, codes, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        first, scores, weights = mean_by_row(rows, scores, weights)
        return HeldOutScores(scores, codes[first], weights), seconds, fixed
