"""Training on texts that may have several labels each: which learner and features, then the model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textodds.data import Batch, Observer, Source
from textodds.errors import InputError, LabelsRead
from textodds.judge.thresholds import Goal
from textodds.learn.design import DesignMatrix
from textodds.learn.multilabel.membership import Membership
from textodds.learn.multilabel.odds import LabelOdds, label_loss
from textodds.learn.recipe import Recipe
from textodds.learn.registry import LEARNERS, resolved
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.multilabel.label_fit import (
    ENOUGH_TO_CHOOSE,
    HeldScores,
    LabelledSets,
    best_alpha,
    choose_c,
    fit_labels,
    folds_of,
    held_by_counts,
    must_learn_labels,
    named_learners,
)
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.stats.corpus import MOST, Corpus
from textodds.stats.tally import Tally
from textodds.text.settings import FEATURES
from textodds.training.choose.candidates import SHAPE, recipe_with
from textodds.training.choose.race import BUDGET
from textodds.training.plan import Plan, nothing_in, why_not_kept

CANDIDATES = tuple((entry.name, kind) for entry in LEARNERS.values() for kind in entry.label_features)
"""What is tried where nothing is named, the cheap ones first."""

SAMPLE = 16_384  # texts that candidates are tried on
FEWEST = 100  # below which nothing is chosen
USUAL = ("softmax", "pairs")  # of fewer
WORTH = 0.995  # share of the loss that a dearer candidate must get below
CELL = 1e-9  # seconds that an ordinary core takes for a non-zero and a label, in one pass
EPOCHS = 40  # passes over the rows of a training with its folds and the choice of C


@dataclass(frozen=True)
class Tried:
    """A candidate, and what it lost on held-out texts; None if it was not tried, and why."""

    name: str
    recipe: Recipe
    loss: float | None
    why: str = ""

    def report(self, chosen: Recipe) -> dict[str, object]:
        """Plain data, for the model file."""
        more: dict[str, object] = {"why": self.why} if self.why else {}
        more |= {"chosen": True} if self.recipe is chosen else {}
        return {"name": self.name, "log_loss": self.loss, **more}


def train_labels_on(data: Source, plan: Plan, goal: Goal, observer: Observer) -> MultiLabelModel:
    """A model of several labels, trained on an opened source of texts."""
    batches = list(observer.watched(data, data.ahead(), "learning"))
    for note in data.label_notes:
        warnings.warn(note, LabelsRead, stacklevel=5)
    if not batches:
        raise nothing_in(data)
    settled, tried = _settled(batches, plan, observer)
    recipe = replace(settled, calibrate=plan.calibrate)
    corpus = Corpus.of(batches, recipe.settings)
    if not len(corpus):
        raise nothing_in(data)
    if plan.textbook:
        goal = Goal("half")
    model = fit_labels(corpus, recipe, {}, goal=goal, threads=plan.threads, observer=observer)
    sizes = Membership.of(corpus.classes).sizes
    first = {
        "source": data.description,
        "documents": None,
        "rejected": data.rejects.count,
        "labels_per_text": float(corpus.weights @ sizes[corpus.codes] / corpus.weights.sum()),
    }
    model.info = first | model.info
    if not plan.documents or corpus.size > MOST:
        model.corpus = None
        if plan.documents:
            model.info["not_kept"] = why_not_kept(False)
    if tried:
        model.info["tried"] = [each.report(settled) for each in tried]
    if plan.textbook:
        model.info["textbook"] = True
    return model


def _settled(batches: list[Batch], plan: Plan, observer: Observer) -> tuple[Recipe, list[Tried]]:
    """The recipe, chosen on held-out texts where learner or features are left open."""
    named = plan.learner
    if plan.pins is None and named is not None:
        recipe = plan.recipe()
        must_learn_labels(recipe)
        if not recipe.is_open:
            return recipe, []
    learners = [named] if named is not None else list(plan.pins.learners if plan.pins else ())
    features = list(plan.pins.features if plan.pins else ())
    shaped = any(name in plan.words for name in SHAPE)
    options = []
    for name, kind in CANDIDATES:
        if learners:
            mine = [each for each in map(resolved, learners) if each.entry.name == name]
        else:
            mine = [resolved(name)]
        wanted = kind in features if features else True
        options += [(each, kind) for each in mine if wanted]
    unknown = [each for each in map(resolved, learners) if not each.entry.label_features]
    if unknown:
        must_learn_labels(recipe_with(unknown[0], {}))
    if features and not options:
        options = [(each, kind) for each in (map(resolved, learners or USUAL[:1])) for kind in features]
    shapes: list[tuple[str, Recipe]] = []
    for learner, kind in options:
        words = {**({} if shaped else FEATURES[kind]), **plan.words}
        recipe = replace(recipe_with(learner, words), is_open=False)
        name = learner.entry.name if shaped else f"{learner.entry.name}, {kind}"
        if name not in [each for each, _ in shapes]:
            shapes.append((name, recipe))
    if not shapes:
        raise InputError("nothing is left to choose from", hint=f"name {named_learners()}")
    if len(shapes) == 1:
        return shapes[0][1], []
    n = sum(map(len, batches))
    if n < FEWEST:
        usual = next((recipe for name, recipe in shapes if name == ", ".join(USUAL)), shapes[-1][1])
        return usual, []
    return _best(shapes, batches, n, plan, observer)


def _best(
    shapes: list[tuple[str, Recipe]], batches: list[Batch], n: int, plan: Plan, observer: Observer
) -> tuple[Recipe, list[Tried]]:
    budget = BUDGET if plan.budget is None else plan.budget
    sample = list(_sampled(batches, n))
    tried: list[Tried] = []
    for number, (name, recipe) in enumerate(shapes, start=1):
        corpus = Corpus.of(sample, recipe.settings)
        observer.candidate(name, len(corpus), number, len(shapes))
        tried.append(_try(name, recipe, corpus, n, budget, plan.threads))
    done = [each for each in tried if each.loss is not None]
    if not done:
        raise InputError(
            "no candidate can be trained within the budget", hint="give more: `--budget 10min` (budget=600)"
        )
    best = done[0]
    for each in done[1:]:
        assert each.loss is not None
        assert best.loss is not None
        if each.loss < WORTH * best.loss:
            best = each
    return best.recipe, tried


def _try(name: str, recipe: Recipe, corpus: Corpus, n: int, budget: float, threads: int) -> Tried:
    """What a candidate loses on held-out texts of a sample, calibrated."""
    labels = Membership.of(corpus.classes).labels
    if not isinstance(recipe.learner, SoftmaxLearner):
        tally = Tally.count(corpus.batches(), settings=corpus.reread, threads=threads)
        settled = recipe
        if recipe.learner.is_smoothing_open:
            settled = recipe.with_smoothing(best_alpha(corpus, tally, recipe, threads), chosen=True)
        held = held_by_counts(corpus, tally, settled, labels, threads, ENOUGH_TO_CHOOSE)
        return Tried(name, recipe, _loss(held))
    design = DesignMatrix.of(corpus.batches(), replace(recipe, settings=corpus.reread), threads)
    seconds = CELL * EPOCHS * len(design.rows(None).data) * len(labels) * n / len(corpus)
    if seconds > budget:
        return Tried(
            name, recipe, None, f"about {seconds:,.0f} s of an ordinary core, and {budget:,.0f} may be used"
        )
    rows = LabelledSets.of(design, corpus)
    held_out = folds_of(corpus, len(labels), ENOUGH_TO_CHOOSE)
    folds = [fold for held in held_out if (fold := rows.fold(held)) is not None]
    learner: Any = recipe.learner
    if learner.C is None and learner.alpha is None:
        C, best = choose_c(folds, threads)
        recipe = replace(recipe, learner=replace(learner, C=C))
        return Tried(name, recipe, _loss(best))
    from textodds.learn.softmax.regression import as_c

    C = as_c(learner.C, learner.alpha, float(rows.weights.sum())) or 1.0
    return Tried(name, recipe, _loss(HeldScores.of(fold.held(C, threads) for fold in folds)))


def _loss(held: HeldScores | None) -> float:
    if held is None:
        return float("inf")
    odds = LabelOdds.of(held.scores, held.truth, held.weights)
    return label_loss(odds.logits(held.scores), held.truth, held.weights)


def _sampled(batches: list[Batch], n: int) -> Iterable[Batch]:
    """As many texts as candidates are tried on, evenly spread."""
    if n <= SAMPLE:
        yield from batches
        return
    chosen = np.random.default_rng(0).permutation(n)[:SAMPLE]
    chosen.sort()
    first = 0
    for batch in batches:
        here = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, first + len(batch))] - first
        first += len(batch)
        if len(here):
            yield batch.take(here)
