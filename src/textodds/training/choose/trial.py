"""One candidate on one sample: learned from most of it, asked about the rest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.design import DesignMatrix
from textodds.learn.forms.linear import LOG_ZERO, log_softmax
from textodds.learn.held_out import FOLDS, held_out, tells_classes_apart
from textodds.learn.registry import name_of
from textodds.learn.softmax.penalty import HeldOutScores, Path
from textodds.learn.softmax.regression import path_of
from textodds.stats.tally import Tally
from textodds.training.from_counts import model_of_counts

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.training.choose.candidates import Candidate
    from textodds.training.choose.pool import Pool

Floats = NDArray[np.float64]

LESSON, LESSON_SIZE, LEAST = 2000, 1 << 20, 250
"""Texts by which counts choose their smoothing and their temperature, or fewer of so many characters."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What a candidate said of texts it had not learned.

    Attributes
    ----------
    candidate : Candidate
        What was tried.
    n : int
        Texts of the sample, those held out included.
    classes : tuple of str
        The labels of the sample, by whose number scores and classes go.
    held : HeldOutScores
        Scores of the held-out texts; all candidates on a sample have the same ones in the same order.
    recipe : Recipe
        The candidate's, with what was chosen on the way.
    seconds : float
        By the clock.
    work : float
        Times that the sample was learned from, over its folds.
    fixed : float
        Seconds of these that more texts would not add to.
    cells : int
        Words of texts that were held in memory, each counted once a text.
    """

    candidate: Candidate
    n: int
    classes: tuple[str, ...]
    held: HeldOutScores
    recipe: Recipe
    seconds: float
    work: float
    fixed: float = 0.0
    cells: int = 0

    @cached_property
    def losses(self) -> Floats:
        """``-log p(own class | text)`` of each held-out text, (M,)."""
        posterior = log_softmax(self.held.scores)
        return np.asarray(-posterior[np.arange(len(self.held.codes)), self.held.codes])

    @cached_property
    def log_loss(self) -> float:
        """The mean of it, by weight."""
        return float(np.average(self.losses, weights=self.held.weights))

    @property
    def accuracy(self) -> float:
        """Share of held-out texts whose own class is the most probable."""
        right = self.held.scores.argmax(axis=1) == self.held.codes
        return float(np.average(right, weights=self.held.weights))

    def behind(self, other: Trial) -> tuple[float, float]:
        """By how much its loss is above that of another on the same texts, and the standard error of that."""
        weights = self.held.weights / self.held.weights.sum()
        difference = self.losses - other.losses
        mean = float(weights @ difference)
        return mean, float(np.sqrt(np.sum((weights * (difference - mean)) ** 2)))


class Trials:
    """Trials on samples of a pool; features that several candidates share are found once."""

    def __init__(self, pool: Pool, threads: int, *, calibrate: bool = True) -> None:
        self.pool, self.threads, self.calibrate = pool, threads, calibrate
        self._last: tuple[Any, DesignMatrix] | None = None
        self._cells = 0
        self._near: dict[str, float] = {}  # where the last search for a penalty ended, by learner

    def together(
        self, those: Sequence[Candidate], n: int, enough: int, at: Sequence[Trial | None]
    ) -> list[Trial]:
        """Candidates of the same features, at the same time; see `of`."""
        if len(those) < 2 or self.threads < 2:
            return [self.of(one, n, enough, known) for one, known in zip(those, at, strict=True)]
        if those[0].recipe.learner.entry.needs_documents:
            sample = self.pool.head(n)
            self._gathered(self._of_sample(those[0].recipe, sample), sample)  # once for all
        with ThreadPoolExecutor(self.threads) as workers:
            return list(workers.map(lambda one, known: self.of(one, n, enough, known), those, at))

    def of(self, candidate: Candidate, n: int, enough: int, at: Trial | None = None) -> Trial:
        """A candidate on the first n texts, ``enough`` of which are held out, a part at a time.

        The penalty is that which another trial found ``at``, or it is sought.
        """
        began = time.perf_counter()
        sample = self.pool.head(n)
        recipe = self._of_sample(candidate.recipe, sample)
        cells, fixed = 0, 0.0
        if not recipe.learner.entry.needs_documents:
            held, fixed = self._from_counts(recipe, sample, enough)
        else:
            known = None if at is None else getattr(at.recipe.learner, "C", None)
            path = self._path(recipe, sample, enough, known)
            learner: Any = recipe.learner
            if learner.C is None and learner.alpha is None:
                recipe = replace(recipe, learner=replace(learner, C=path.C))
            assert path.held is not None
            held, cells = path.held, self._cells
        work = min(FOLDS, -(-enough * FOLDS // len(sample))) * (1 - 1 / FOLDS)
        recipe = replace(recipe, selection=candidate.recipe.selection)
        seconds = time.perf_counter() - began
        return Trial(candidate, n, sample.classes, held, recipe, seconds, work, fixed, cells)

    def _of_sample(self, recipe: Recipe, sample: Pool) -> Recipe:
        """A recipe whose numbers of documents are those for a sample of all texts."""
        return replace(recipe, selection=recipe.selection.of_part(len(sample) / self.pool.total))

    def _path(self, recipe: Recipe, sample: Pool, enough: int, known: float | None) -> Path:
        gathered = self._gathered(recipe, sample)
        learner: Any = recipe.learner
        name = name_of(learner)
        if known is not None and learner.C is None and learner.alpha is None:
            learner = replace(learner, C=known)
        near = self._near.get(name)  # other features want about the same
        how: dict[str, Any] = {"enough": enough, "near": near, "threads": self.threads}
        path = path_of(learner, gathered, gathered.labelled, **how)
        self._near[name] = path.C
        return path

    def _gathered(self, recipe: Recipe, sample: Pool) -> DesignMatrix:
        key = (recipe.settings, recipe.selection, len(sample))
        if self._last is None or self._last[0] != key:
            self._last = None  # so that there are never two in memory
            self._last = key, DesignMatrix.of([sample.batch()], recipe, self.threads)
            self._cells = int(self._last[1].documents.documents.sum())
        return DesignMatrix(recipe, self._last[1].documents)

    def _from_counts(self, recipe: Recipe, sample: Pool, enough: int) -> tuple[HeldOutScores, float]:
        """What counts say of held-out texts, and the seconds of it that went into a lesson of fixed size."""
        parts, fixed = [], 0.0
        few = max(min(LESSON, int(LESSON_SIZE / max(sample.mean_size, 1.0))), LEAST)
        for out in held_out(sample.codes, enough):
            kept, asked = np.flatnonzero(~out), np.flatnonzero(out)
            if not tells_classes_apart(sample.codes, sample.weights, out):
                continue
            tally = Tally.count([sample.batch(kept)], settings=recipe.settings, threads=self.threads)
            lesson = list(sample.examples(kept[:few]))
            part = replace(recipe, selection=recipe.selection.of_part(1 - 1 / FOLDS))
            how: dict[str, Any] = {"calibrate": self.calibrate, "threads": self.threads}
            began = time.perf_counter()
            model = model_of_counts(tally, part, lesson, {}, **how)
            fixed += time.perf_counter() - began
            found, _ = model.score_batch(sample.batch(asked))
            scores = np.full((len(asked), len(sample.classes)), LOG_ZERO)
            columns = [sample.classes.index(name) for name in model.classes_]
            scores[:, columns] = found
            codes = sample.codes[asked]
            # What is held out altogether says nothing, here as for softmax.
            weights = np.where(np.isin(codes, columns), sample.weights[asked], 0.0)
            parts.append((scores, codes, weights))
        return HeldOutScores(*(np.concatenate(each) for each in zip(*parts, strict=True))), fixed
