"""From a recipe and documents with sets of labels to a model: in training, and after every change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data import Observer
from textodds.errors import InputError, NoData, Unsupported
from textodds.judge.thresholds import Goal, chosen
from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.design import DesignMatrix, checked_weights
from textodds.learn.forms.linear import MOST_CELLS, LinearModel, Weights
from textodds.learn.held_out import FEWEST, FOLDS
from textodds.learn.multilabel import counts as label_counts
from textodds.learn.multilabel.logistic import LabelFit, LabelProblem, solve
from textodds.learn.multilabel.membership import Membership, some_rows
from textodds.learn.multilabel.odds import LabelOdds, label_loss
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import words_to_learn
from textodds.learn.registry import LEARNERS
from textodds.learn.softmax.regression import SoftmaxLearner, as_c
from textodds.model.multilabel.label_prediction import HeldLabels
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.scorer import TextScorer
from textodds.stats.tally import Tally

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.stats.corpus import Corpus
    from textodds.text import Vocabulary

ENOUGH = 8000  # held-out texts after which another fold would hardly change a threshold
ENOUGH_TO_CHOOSE = 3000  # the same for a choice between candidates
HELD_CELLS = 4_000_000  # texts times labels that are held at once
ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01)
FIRST_C, C_STEP = 3.0, math.sqrt(10.0)
C_RANGE = (0.01, 1000.0)
ROUGH, ROUGH_EPOCHS = 1e-2, 6  # of what is held out: another C changes the loss by far more


def must_learn_labels(recipe: Recipe) -> None:
    """Refuse a recipe that several labels a text do not have."""
    learner = recipe.learner
    if isinstance(learner, SoftmaxLearner) and learner.descent is None:
        if learner.class_weight is not None or learner.penalise_bias or learner.naive_bayes:
            raise Unsupported(
                "`class_weight`, `penalise_bias` and `naive_bayes` are for one label a text",
                hint="leave them out; for costs use `--goal cost=1:5` (goal=)",
            )
        return
    if not isinstance(learner, MultinomialLearner):
        raise Unsupported(
            f"{learner.entry.name} is for one label a text",
            hint=f"several labels are learned by {named_learners()}",
        )
    if learner.prior != "data" or recipe.unknown != "ignore":
        raise Unsupported("another prior, and `unknown`, are for one label a text", hint="leave them out")


def named_learners() -> str:
    """The learners of several labels, as one says them."""
    return " and ".join(entry.name for entry in LEARNERS.values() if entry.label_features)


def form_of(tally: Tally, recipe: Recipe) -> tuple[Vocabulary, LinearModel]:
    """The words and the log-odds of labels that naive Bayes makes of counts by set."""
    counts, vocabulary = words_to_learn(tally, recipe.selection)
    assert isinstance(recipe.learner, MultinomialLearner)
    return vocabulary, label_counts.fit(recipe.learner, counts, Membership.of(counts.classes))


def fit_labels(
    corpus: Corpus,
    recipe: Recipe,
    info: Mapping[str, object],
    *,
    goal: Goal,
    tally: Tally | None = None,
    start: MultiLabelModel | None = None,
    threads: int,
    observer: Observer | None = None,
) -> MultiLabelModel:
    """The model that a recipe makes of documents; what is left open in it is chosen on held-out ones."""
    must_learn_labels(recipe)
    if not Membership.of(corpus.classes).labels:
        raise NoData("no text has a label", hint="at least one must, for something to be learned")
    if isinstance(recipe.learner, SoftmaxLearner):
        return _logistic(corpus, recipe, info, goal, start, threads, observer or Observer())
    if tally is None:
        tally = Tally.count(corpus.batches(), settings=corpus.reread, threads=threads)
    if recipe.learner.is_smoothing_open:
        recipe = recipe.with_smoothing(best_alpha(corpus, tally, recipe, threads), chosen=True)
    model = MultiLabelModel(recipe, *form_of(tally, recipe), tally, dict(info), threads=threads)
    model.goal, model.corpus = goal, corpus
    model.info["documents"] = tally.n_documents
    calibrate(model, held_by_counts(corpus, tally, recipe, model.class_names, threads))
    return model


@dataclass(frozen=True, eq=False)
class HeldScores:
    """What was said of held-out texts: scores, whether they have each label, (N, K), and weights."""

    scores: Floats
    truth: Mask
    weights: Floats

    @classmethod
    def of(cls, parts: Iterable[tuple[Floats, Mask, Floats]]) -> HeldScores | None:
        """Of several folds together; None without any."""
        found = list(parts)
        return cls(*(np.concatenate(each) for each in zip(*found, strict=True))) if found else None


def calibrate(model: MultiLabelModel, held: HeldScores | None) -> None:
    """Calibrate each label, and choose the thresholds of the goal, by what was said of held-out texts."""
    K = len(model.class_names)
    model.odds, model.held_labels = LabelOdds.none(K), None
    model.thresholds = (
        np.full(K, 0.5)
        if model.goal.kind != "cost"
        else chosen(model.goal, np.zeros((0, K)), np.zeros((0, K), bool))
    )
    if held is None or len(held.scores) < FEWEST:
        n = 0 if held is None else len(held.scores)
        model.info["uncalibrated"] = f"that takes {FEWEST} texts, and {n} were held out"
        return
    model.info.pop("uncalibrated", None)
    if model.recipe.calibrate:
        model.odds = LabelOdds.of(held.scores, held.truth, held.weights)
    p = model.odds.probabilities(held.scores)
    model.held_labels = HeldLabels.of(p, held.truth)
    model.thresholds = chosen(model.goal, p, held.truth)
    model.info["left_out"] = {
        "n": len(p),
        "folds": True,
        "log_loss": label_loss(model.odds.logits(held.scores), held.truth, held.weights),
        "log_loss_before": label_loss(held.scores, held.truth, held.weights),
    }


def folds_of(corpus: Corpus, K: int, enough: int | None = ENOUGH) -> Iterator[Integers]:
    """The documents that are held out, fold by fold: by their hashes, so that equal texts stay together.

    About ``enough`` of them, and no more than can be held at once; with None all, each in one fold.
    """
    n = len(corpus)
    if n < FEWEST:
        return
    fold_of = (corpus.hashes % np.uint64(FOLDS)).astype(np.int64)
    most = FOLDS if enough is None else min(FOLDS, max(1, math.ceil(enough * FOLDS / n)))
    each = n if enough is None else max(FEWEST, HELD_CELLS // max(K, 1) // most)
    for fold in range(most):
        held = np.flatnonzero(fold_of == fold)
        if 0 < len(held) < n:
            yield held[:each]


def held_by_counts(
    corpus: Corpus,
    tally: Tally,
    recipe: Recipe,
    labels: tuple[str, ...],
    threads: int,
    enough: int = ENOUGH,
) -> HeldScores | None:
    """What naive Bayes says of documents whose fold was taken from its counts."""
    folds = folds_of(corpus, len(labels), enough)
    return HeldScores.of(part for _, part in _left_counts(corpus, tally, recipe, labels, threads, folds))


def _left_counts(
    corpus: Corpus,
    tally: Tally,
    recipe: Recipe,
    labels: tuple[str, ...],
    threads: int,
    folds: Iterable[Integers],
) -> Iterator[tuple[Integers, tuple[Floats, Mask, Floats]]]:
    """The documents of each fold, with scores, truth and weights."""
    reread = replace(recipe, settings=corpus.reread)
    sets = Membership.of(corpus.classes, labels)
    for held in folds:
        own = corpus.at(held)
        left = tally - Tally.count(own.batches(), settings=corpus.reread, threads=threads)
        if not left.classes:
            continue
        vocabulary, form = form_of(left, recipe)
        scores = TextScorer(reread, vocabulary, form).score(own.texts(), threads)[0]
        at = {name: k for k, name in enumerate(form.classes)}
        full = np.full(
            (len(held), len(labels)), float(label_counts.log_odds(np.zeros(1), left.n_documents)[0])
        )
        known = [k for k, name in enumerate(labels) if name in at]
        full[:, known] = scores[:, [at[labels[k]] for k in known]]
        yield held, (full, sets.matrix(corpus.codes[held]), corpus.weights[held])


def out_of_fold(model: MultiLabelModel) -> Iterator[tuple[Integers, Floats, Mask]]:
    """Of every document of a model, its probabilities by the model of other folds, fold by fold.

    Documents are numbers in ``model.corpus``; probabilities and whether they have each label are (N, K).
    """
    corpus, odds, recipe = model.corpus, model.odds, model.recipe
    assert corpus is not None
    assert odds is not None
    folds = folds_of(corpus, len(model.class_names), None)
    if not isinstance(recipe.learner, SoftmaxLearner):
        left = _left_counts(corpus, model.tally, recipe, model.class_names, model.threads, folds)
        for held, (scores, truth, _) in left:
            yield held, odds.probabilities(scores), truth
        return
    design = DesignMatrix.of(corpus.batches(), replace(recipe, settings=corpus.reread), model.threads)
    rows, C = LabelledSets.of(design, corpus), recipe.learner.C
    assert C is not None  # that of a trained model is settled
    for held in folds:
        if (fold := rows.fold(held)) is not None:
            scores, truth, _ = fold.held(C, model.threads)
            yield held, odds.probabilities(scores), truth


def best_alpha(corpus: Corpus, tally: Tally, recipe: Recipe, threads: int) -> float:
    """The smoothing whose calibrated log-odds of held-out documents lose the least; 1 of few documents."""
    labels = Membership.of(tally.classes).labels
    losses: dict[float, float] = {}
    for alpha in ALPHAS:
        settled = recipe.with_smoothing(alpha, chosen=True)
        held = held_by_counts(corpus, tally, settled, labels, threads, ENOUGH_TO_CHOOSE)
        if held is None:
            return 1.0
        odds = LabelOdds.of(held.scores, held.truth, held.weights)
        losses[alpha] = label_loss(odds.logits(held.scores), held.truth, held.weights)
        if losses[alpha] > min(losses.values()):
            break
    return min(losses, key=lambda alpha: losses[alpha])


def _logistic(
    corpus: Corpus,
    recipe: Recipe,
    info: Mapping[str, object],
    goal: Goal,
    start: MultiLabelModel | None,
    threads: int,
    observer: Observer,
) -> MultiLabelModel:
    """Logistic regression of every label, solved to the tolerance of the learner."""
    reread = replace(recipe, settings=corpus.reread)
    design = DesignMatrix.of(corpus.batches(), reread, threads)
    learner: Any = recipe.learner
    rows = LabelledSets.of(design, corpus)
    C = as_c(learner.C, learner.alpha, float(rows.weights.sum()))
    if C is not None and math.isinf(C):
        raise InputError("several labels need a penalty", hint="give a finite C")
    folds = [
        fold for held in folds_of(corpus, len(rows.sets.labels)) if (fold := rows.fold(held)) is not None
    ]
    held = None
    if C is None:
        C, held = choose_c(folds, threads, observer.penalty)
    else:
        held = HeldScores.of(fold.held(C, threads) for fold in folds)
    begin = None if start is None else rows.begin(start)
    fit = solve(rows.problem(None), C, tolerance=learner.tolerance, start=begin, threads=threads)
    recipe = replace(recipe, learner=learner.settled(C))
    K = len(rows.sets.labels)
    prior = label_counts.log_odds(rows.with_label(), float(rows.weights.sum()))
    form = LinearModel(rows.sets.labels, prior, fit.bias - prior, Weights.of_matrix(fit.weights))
    about = {
        **info,
        "documents": design.documents.n_documents,
        "fit": {"C": C, "gap": float(fit.gaps.max(initial=0.0)), "epochs": fit.epochs, "labels": K},
    }
    model = MultiLabelModel(
        recipe, design.documents.vocabulary, form, None, about, scale=design.scale(None), threads=threads
    )
    model.goal, model.corpus = goal, corpus
    calibrate(model, held)
    return model


@dataclass(frozen=True, eq=False)
class LabelledSets:
    """The rows of documents with sets of labels."""

    design: DesignMatrix
    sets: Membership
    codes: Integers  # (N,) the set of each document
    weights: Floats  # (N,)

    @classmethod
    def of(cls, design: DesignMatrix, corpus: Corpus) -> LabelledSets:
        """Of a design, whose documents are those of the corpus in their order."""
        sets = Membership.of(design.documents.classes)
        V, K = len(design.documents.vocabulary), len(sets.labels)
        if V * K > MOST_CELLS:
            raise Unsupported(
                f"logistic regression of {K:,} labels by {V:,} features has {V * K:,} weights",
                hint="use the learner multinomial, which stores what it has seen; or `max_features`",
            )
        weights = checked_weights(design.documents.weights, len(design.documents))
        return cls(design, sets, design.documents.codes, weights)

    def with_label(self) -> Floats:
        """Weight of the documents with each label, (K,)."""
        return self.sets.totals(
            np.bincount(self.codes, self.weights, len(self.sets.sizes)).astype(np.float64)
        )

    def problem(self, factor: Floats | None) -> LabelProblem:
        """All rows, each word times its factor."""
        rows: Any = self.design.rows(factor)
        return LabelProblem(rows, self.sets.rows(self.codes), len(self.sets.labels), self.weights)

    def fold(self, held: Integers) -> _Fold | None:
        """Some documents held out; words are those of the others. None where no label would be left."""
        left = np.ones(len(self.codes), dtype=bool)
        left[held] = False
        whole = self.problem(self.design.known(np.where(left, self.weights, 0.0)))
        kept = np.flatnonzero(left)
        labels = some_rows(whole.labels, kept)
        if not len(labels[1]):
            return None
        some = LabelProblem(whole.rows[kept], labels, whole.n_labels, self.weights[kept])
        return _Fold(some, whole.rows[held], self.sets.matrix(self.codes[held]), self.weights[held])

    def begin(self, start: MultiLabelModel) -> LabelFit | None:
        """The weights of a model, as a beginning; new words and labels have none."""
        V, K = len(self.design.documents.vocabulary), len(self.sets.labels)
        if not len(start.vocabulary) or start.form.n_features != len(start.vocabulary):
            return None
        place = start.vocabulary.find(self.design.documents.vocabulary.words())
        old = {name: k for k, name in enumerate(start.class_names)}
        mine = [k for k, name in enumerate(self.sets.labels) if name in old]
        theirs = [old[self.sets.labels[k]] for k in mine]
        weights, bias = np.zeros((V, K)), np.zeros(K)
        found = start.form.weights.rows(np.maximum(place, 0)) * (place >= 0)[:, None]
        weights[:, mine] = found[:, theirs]
        bias[mine] = (start.form.intercept + start.form.log_prior)[theirs]
        return LabelFit(weights, bias, np.zeros(K), 0)


@dataclass(eq=False)
class _Fold:
    """Rows to learn from, and rows that are held out."""

    problem: LabelProblem
    rows: Any
    truth: Mask
    weights: Floats
    last: LabelFit | None = None

    def held(self, C: float, threads: int) -> tuple[Floats, Mask, Floats]:
        """What is said of the held-out rows at C, solved roughly from where the last C ended."""
        self.last = solve(
            self.problem, C, tolerance=ROUGH, rough=ROUGH_EPOCHS, start=self.last, threads=threads
        )
        return self.last.scores(self.rows), self.truth, self.weights


def choose_c(
    folds: list[_Fold], threads: int, watch: Callable[[float, float], object] | None = None
) -> tuple[float, HeldScores | None]:
    """The C of least held-out loss, found by steps from a usual one, and what was said at the best."""
    if not folds:
        return FIRST_C, None
    losses: dict[float, float] = {}
    best: HeldScores | None = None

    def loss(C: float) -> float:
        nonlocal best
        held = HeldScores.of(fold.held(C, threads) for fold in folds)
        assert held is not None
        losses[C] = label_loss(held.scores, held.truth, held.weights)
        if losses[C] <= min(losses.values()):
            best = held
        if watch is not None:
            watch(C, losses[C])
        return losses[C]

    loss(FIRST_C)
    for factor in (C_STEP, 1.0 / C_STEP):
        C = FIRST_C
        while C_RANGE[0] <= C * factor <= C_RANGE[1] and min(losses, key=losses.__getitem__) == C:
            C *= factor
            loss(C)
    return _lowest(sorted(losses.items())), best


def _lowest(points: list[tuple[float, float]]) -> float:
    """Where a parabola through the best point and its neighbours, over log C, is lowest, to two digits."""
    at = min(range(len(points)), key=lambda i: points[i][1])
    C, low = points[at]
    if 0 < at < len(points) - 1:
        left, right = points[at - 1][1], points[at + 1][1]
        bend = left - 2.0 * low + right
        C *= C_STEP ** min(max(0.5 * (left - right) / bend if bend > 0 else 0.0, -0.5), 0.5)
    return float(f"{C:.2g}")
