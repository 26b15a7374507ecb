"""Training on labelled and unlabelled texts together: by EM, by neighbours of words, or what does best.

The mathematics is in `textodds.learn.em` and `textodds.learn.word_vectors`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textodds.data import Batch, Observer, Source
from textodds.errors import InputError, NoData, NotConverged, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.arrays import Floats, Integers
from textodds.learn.calibration import Calibration
from textodds.learn.em import SemiSupervisedLearner, fit_rows
from textodds.learn.held_out import FEWEST, held_out, tells_classes_apart
from textodds.learn.recipe import Recipe
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.fit import calibrate_held_out
from textodds.model.text_model import TextModel
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.documents import Documents
from textodds.stats.tally import checked_threads
from textodds.text import Weighting
from textodds.training.choose.candidates import recipe_with
from textodds.training.neighbours import NO_LABEL, NeighbourFit, recipe_of_neighbours, unlabelled_batches
from textodds.training.plan import Plan

WEIGHTS = (1.0, 0.1)
"""Of unlabelled texts in EM, where it is chosen: others than those of the classes drown a few labels."""

FEW = 20  # held-out texts that one factor of all evidence can be found by


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A way to learn from both kinds of text: what it says of held-out ones, and the model that it makes."""

    name: str
    held: HeldOutScores | None
    model: Callable[[], TextModel]


def train_unlabelled_on(
    labelled: Source, unlabelled: Source, plan: Plan, observer: Observer | None = None
) -> TextModel:
    """A model trained on labelled and unlabelled texts, by a named learner or the best on held-out texts.

    By EM it rests on all of the texts together, so that it cannot learn more, forget or be merged.
    """
    threads = checked_threads(plan.threads)
    own = list((observer or Observer()).watched(labelled, labelled.ahead(), "learning"))
    learner = plan.learner
    reads = not (isinstance(learner, SemiSupervisedLearner) and learner.weight == 0)
    others = list(unlabelled) if reads else []
    info = {"source": labelled.description, "rejected": labelled.rejects.count}
    if not any(len(batch) and (batch.weights is None or batch.weights.any()) for batch in own):
        raise NoData(f"{labelled.description} has no row to learn from", hint="give labelled texts too")
    fields: list[_Candidate] = []
    if not isinstance(learner, SoftmaxLearner):
        recipe = plan.recipe() if learner is not None else recipe_with(SemiSupervisedLearner(), plan.words)
        fields += _by_em(own, others, recipe, info, threads, choose=learner is None)
    if learner is None or isinstance(learner, SoftmaxLearner):
        found = _by_neighbours(own, others, learner or SoftmaxLearner(), plan, info, threads)
        fields += [] if found is None else [found]
    known = [each for each in fields if each.held is not None]
    best = min(known, key=lambda each: each.held.log_loss) if known else fields[0]  # type: ignore[union-attr]
    model = best.model()
    about = {"source": unlabelled.description, "documents": _mass(others), "by": best.name}
    tried = [[each.name, each.held.log_loss] for each in known if each.held is not None]
    model.info["unlabelled"] = {**about, **model.info.get("unlabelled", {}), "tried": tried}
    model.info["documents"] = _mass(own)
    return model


def _mass(batches: Iterable[Batch]) -> float:
    return float(sum(len(each) if each.weights is None else each.weights.sum() for each in batches))


def _by_neighbours(
    own: Sequence[Batch],
    others: Sequence[Batch],
    learner: SoftmaxLearner,
    plan: Plan,
    info: dict[str, Any],
    threads: int,
) -> _Candidate | None:
    """Softmax regression whose prior the unlabelled texts inform; None where there are no two classes."""
    recipe = replace(recipe_of_neighbours(learner, plan.words), calibrate=plan.calibrate)
    try:
        fit = NeighbourFit.of(own, others, recipe, threads)
    except InputError:
        if plan.learner is not None:
            raise
        return None
    name = "softmax regression with neighbours of words"
    held = None if fit.held is None else _calibrated(fit.held)
    return _Candidate(name, held, lambda: fit.model(info, threads, documents=plan.documents))


def _by_em(
    own: Sequence[Batch],
    others: Sequence[Batch],
    recipe: Recipe,
    info: dict[str, Any],
    threads: int,
    *,
    choose: bool,
) -> list[_Candidate]:
    """Naive Bayes by EM: as it is named or, to ``choose``, with several weights of unlabelled texts."""
    texts = _EmTexts.of(own, others, recipe, threads)
    learner: Any = recipe.learner
    found = []
    for weight in WEIGHTS if choose else (learner.weight,):
        named = replace(recipe, learner=replace(learner, weight=weight))
        held = texts.held(named.learner) if choose else None
        name = f"naive Bayes by EM, unlabelled texts weighing {weight:g}"
        make = _maker(texts, named, held, info, threads)
        found.append(_Candidate(name, held, make))
    return found


def _maker(
    texts: _EmTexts, recipe: Recipe, held: HeldOutScores | None, info: dict[str, Any], threads: int
) -> Callable[[], TextModel]:
    return lambda: texts.model(recipe, held, info, threads)


@dataclass(frozen=True, eq=False)
class _EmTexts:
    """Labelled and unlabelled texts as counts of words."""

    documents: Documents
    rows: CompressedRows  # (N, V)
    codes: Integers  # (N,) -1 of unlabelled texts
    classes: tuple[str, ...]

    @classmethod
    def of(cls, own: Sequence[Batch], others: Sequence[Batch], recipe: Recipe, threads: int) -> _EmTexts:
        if recipe.unknown != "ignore":
            raise Unsupported("unlabelled texts leave no word unknown", hint="use unknown='ignore'")
        both = [*own, *unlabelled_batches(others)]
        texts = Documents.gather(both, settings=recipe.settings, selection=recipe.selection, threads=threads)
        classes, codes = texts.classes, texts.codes
        if NO_LABEL in classes:  # the first of them in order
            classes, codes = classes[1:], codes - 1
        rows = texts.rows(Weighting("count", idf=False, unit=False), np.ones(len(texts.vocabulary)))
        return cls(texts, rows, codes, classes)

    @property
    def weights(self) -> Floats:
        """Of all texts, (N,)."""
        given = self.documents.weights
        return np.ones(len(self.codes)) if given is None else given

    def held(self, learner: Any) -> HeldOutScores | None:
        """What is said of labelled texts that are held out, by a factor of all evidence; None of too few."""
        known = np.flatnonzero(self.codes >= 0)
        codes, weights = self.codes[known], self.weights[known]
        parts = []
        for held in held_out(codes, len(codes)):
            if not tells_classes_apart(codes, weights, held):
                continue
            out = known[held]
            rest = np.setdiff1d(np.arange(len(self.codes)), out)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConverged)
                fit = fit_rows(learner, self.rows[rest], self.codes[rest], self.classes, self.weights[rest])
            form = naive_bayes.fit(learner, fit.counts)
            parts.append((form.scores(self.rows[out]), self.codes[out], self.weights[out]))  # type: ignore[arg-type]
        if not parts:
            return None
        scores, codes, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return _calibrated(HeldOutScores(scores, codes, weights))

    def model(
        self, recipe: Recipe, held: HeldOutScores | None, info: dict[str, Any], threads: int
    ) -> TextModel:
        """The model of a recipe; calibrated by held-out texts, if there are any."""
        learner: Any = recipe.learner
        fit = fit_rows(learner, self.rows, self.codes, self.classes, self.documents.weights)
        form = naive_bayes.fit(learner, fit.counts)
        mass = fit.counts.class_documents.tolist()
        about = {**info, "class_documents": dict(zip(self.classes, mass, strict=True))}
        about["unlabelled"] = fit.report()
        model = TextModel(recipe, self.documents.vocabulary, form, None, about, threads=threads)
        if held is not None and len(held.codes) >= FEWEST:
            calibrate_held_out(model, replace(held, slope=1.0))
        elif held is not None and len(held.codes) >= FEW:
            prior = form.log_prior
            parts = (held.scores - prior)[None]
            model.calibration = Calibration.of_parts(
                parts, held.codes, held.weights, offset=prior, biases=False
            )
        return model


def _calibrated(held: HeldOutScores) -> HeldOutScores:
    """Held-out scores with the slope by which they are most likely, by which candidates are compared."""
    found = Calibration.of_parts(held.scores[None], held.codes, held.weights, biases=False)
    return replace(held, slope=float(found.slopes.item(0)))
