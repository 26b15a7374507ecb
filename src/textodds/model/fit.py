"""From a recipe and counts, or documents, to a model: in training, and whenever what it rests on changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data import Batch, Observer
from textodds.errors import Separable
from textodds.learn import naive_bayes
from textodds.learn.arrays import Floats
from textodds.learn.calibration import Calibration, is_worth_it
from textodds.learn.conditionals.complement import transformed
from textodds.learn.design import DesignMatrix, Plain
from textodds.learn.forms.linear import LinearModel, Weights, log_softmax
from textodds.learn.held_out import FEWEST, FEWEST_TO_CHOOSE, HeldOut
from textodds.learn.naive_bayes import ComplementLearner, MultinomialLearner
from textodds.learn.recipe import selected
from textodds.learn.softmax.regression import held_scores
from textodds.model.leave_one_out import supports
from textodds.model.lesson import LeftOutSample, Lesson, lesson, rounded
from textodds.model.text_model import TextModel
from textodds.stats.corpus import Corpus
from textodds.stats.sample import TYPICAL
from textodds.stats.tally import MEMORY, Tally

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.learn.softmax.penalty import HeldOutScores
    from textodds.learn.word_prior import WordPrior
    from textodds.model.basis import Basis
    from textodds.stats.sample import Example
    from textodds.stats.tally import Counts
    from textodds.text import Vocabulary


FEW = 300
"""Held-out texts below which a temperature is always taken. Biases, one for each class, must then be worth it
beside the temperature; of more texts both must be, together."""

TRUST, EXPECTED = 0.5, 1.25
"""What each of fewer held-out texts counts, as the model was chosen by them and the parts that it was learned
from overlap; and the slope that the prior is about. Both were found on parts of training files."""


def calibrate_held_out(model: TextModel, held: HeldOutScores) -> None:
    """Calibrate a model by what was said of texts that were held out to choose its penalty."""
    some = held.weights > 0
    n = int(np.count_nonzero(some))
    if n < FEWEST_TO_CHOOSE:
        model.info["uncalibrated"] = f"that takes {FEWEST_TO_CHOOSE} texts, and {n} were held out"
        return
    scores, codes, weights = held.scores[some], held.codes[some], held.weights[some]
    prior = model.form.log_prior
    empty = np.zeros(n, np.bool_)
    if held.empty is not None and model.has_prior_without_words:
        empty = held.empty[some]
    read = np.where(empty, 0.0, weights)  # what is answered by the prior says nothing of words

    def answered(by: Calibration) -> Floats:
        return log_softmax(np.where(empty[:, None], prior, by.applied(scores - prior) + prior))

    found = Calibration.none()
    parts, start = (scores - prior)[None], None
    if len(codes) < FEW:
        read, start = TRUST * read, np.array([EXPECTED])
        found = Calibration.of_parts(parts, codes, read, offset=prior, start=start, biases=False)
    posterior = answered(found)
    biased = Calibration.of_parts(parts, codes, read, offset=prior, start=start)
    answers = answered(biased)
    if is_worth_it(posterior, answers, codes, weights):
        found, posterior = biased, answers
    if found.slopes[0] != 1.0:
        model.calibration = found
    if len(codes) >= FEWEST:  # of fewer nothing is promised
        model.held_out = HeldOut.of(posterior, codes)
    model.info["left_out"] = {**found.told(scores, posterior, codes, weights), "folds": True}


def fit_counts(
    tally: Tally, recipe: Recipe, sample: list[Example], info: Mapping[str, object], *, threads: int
) -> TextModel:
    """The model that a recipe makes of counts, ``sample`` being some of the texts that were counted.

    The smoothing is chosen if the recipe leaves it open, and probabilities are calibrated if it says so, both
    by what is said of texts of the sample that are left out. A smoothing that cannot be chosen is 1.
    """
    is_open = recipe.learner.is_smoothing_open
    if is_open:
        recipe = recipe.with_smoothing(1.0, chosen=supports(recipe))
    model = TextModel.of_tally(tally, recipe, dict(info), threads=threads)
    if not recipe.calibrate and not is_open:
        return model
    left_out = LeftOutSample.of(model, sample)
    if is_open and isinstance(left_out, LeftOutSample):
        recipe = recipe.with_smoothing(left_out.best_alpha(), chosen=True)
        model = TextModel.of_tally(tally, recipe, dict(info), threads=threads)
    if recipe.calibrate:
        _take_lesson(model, lesson(model, left_out))
    return model


def chosen_again(basis: Basis[Tally, Corpus], recipe: Recipe) -> Recipe:
    """The recipe with the smoothing that training on the documents of a basis would choose."""
    assert basis.tally is not None
    assert basis.corpus is not None
    reread = replace(recipe, settings=basis.corpus.reread)
    left_out = LeftOutSample.of(TextModel.of_tally(basis.tally, reread), basis.corpus.sample())
    return recipe.with_smoothing(1.0 if isinstance(left_out, str) else left_out.best_alpha(), chosen=True)


def between(*parts: tuple[Tally, Recipe]) -> Recipe:
    """The recipe of models without documents whose smoothing was chosen: by their shares, in logarithms.

    The order of the models does not matter.
    """
    n = np.array([tally.n_documents for tally, _ in parts])
    logs = np.log([float(recipe.learner.alpha) for _, recipe in parts])  # type: ignore[attr-defined]
    alpha = rounded(float(np.exp((n * logs).sum() / n.sum())))
    return parts[0][1].with_smoothing(alpha, chosen=True)


def _take_lesson(model: TextModel, learned: Lesson | str) -> None:
    """Calibrate a model, or have it say why it is not."""
    if isinstance(learned, str):
        model.info["uncalibrated"] = learned
        return
    model.calibration, model.held_out = learned.calibration, learned.held_out
    model.info["left_out"] = learned.about


def follow(model: TextModel) -> TextModel:
    """A model of counts whose documents have changed, with all that follows from them found again."""
    corpus = model.corpus
    assert corpus is not None
    had_typical = model.__dict__.get("_typical") is not None
    found = model.rereading()
    found.info, found.typical, found.calibration, found.held_out = {}, None, None, None
    if had_typical:
        found.typical = found.typical_of(corpus.sample()[:TYPICAL], seen=True)
    if model.recipe.calibrate:
        _take_lesson(found, lesson(found, LeftOutSample.of(found, corpus.sample())))
    return found


def fit_corpus(
    corpus: Corpus,
    recipe: Recipe,
    info: Mapping[str, object],
    *,
    start: TextModel | None = None,
    threads: int,
    memory: int = MEMORY,
    observer: Observer | None = None,
) -> TextModel:
    """The model that a recipe makes of documents that it needs all at once, begun where another stands.

    Documents are learned from in the order of their hashes, so that the model depends on nothing else.
    """
    if isinstance(recipe.learner, ComplementLearner):
        recipe = recipe.with_smoothing(1.0)
        return _transformed(corpus, recipe, info, threads, memory)
    if recipe.neighbours is not None:
        return _with_neighbours(corpus, recipe, recipe.neighbours, info, threads, observer)
    reread = replace(recipe, settings=corpus.reread)
    design = DesignMatrix.of(corpus.batches(), reread, threads)
    learner: Any = recipe.learner
    rows = design.labels if learner.entry.is_penalised else design.labelled
    own: dict[str, Any] = {"calibrate": recipe.calibrate}  # discriminants calibrate themselves
    if learner.entry.is_penalised:
        own = {"start": _begun(start, design, rows.classes)}
    try:
        fit = learner.fit_design(design, rows, observer=observer, **own)
    except Separable as error:  # it knows numbers where readers want words
        numbers = np.array([int(name[1:]) for name in error.strongest], dtype=np.int64)
        named = design.documents.vocabulary.words(numbers)
        raise Separable(error.complete, error.direction, named) from error
    if learner.entry.is_penalised:
        recipe = replace(recipe, learner=learner.settled(fit.C))  # what was chosen is part of the recipe
    mass = np.bincount(rows.codes, rows.weights, len(rows.classes))
    about = {
        **info,
        "documents": design.documents.n_documents,
        "class_documents": dict(zip(rows.classes, mass.tolist(), strict=True)),
        "fit": fit.report(),
    }
    vocabulary, scale = design.documents.vocabulary, design.scale(fit.factor)
    model = TextModel(recipe, vocabulary, fit.model, None, about, scale=scale, threads=threads)
    model.corpus = corpus
    if recipe.calibrate:
        model.held_out = getattr(fit, "held_out", None)
        if (
            learner.entry.is_penalised
            and (held := held_scores(learner.settled(fit.C), design, rows)) is not None
        ):
            calibrate_held_out(model, held)
    return model


def _with_neighbours(
    corpus: Corpus,
    recipe: Recipe,
    prior: WordPrior,
    info: Mapping[str, object],
    threads: int,
    observer: Observer | None,
) -> TextModel:
    """Softmax regression whose words know their neighbours, folded into one weight a term."""
    from textodds.learn.word_prior import WordDesign

    learner: Any = recipe.learner
    known, reread = prior.known, replace(recipe, settings=corpus.reread)
    design = WordDesign.of(corpus.batches(), reread, known, threads)
    data = design.data(prior.strength)
    fit = learner.fit_design(Plain(data.rows), data, observer=observer)
    terms, form, scale = design.folded(fit.model, prior.strength, recipe)
    recipe = replace(recipe, learner=learner.settled(fit.C))
    own = len(design.documents.vocabulary)
    about = {
        **info,
        "documents": design.documents.n_documents,
        "class_documents": dict(zip(data.classes, data.class_weights().tolist(), strict=True)),
        "fit": fit.report(),
        "neighbours": {
            "size": design.neighbours.vectors.shape[1],
            "words": len(design.neighbours.vectors),
            "new": len(terms) - own,
            "strength": prior.strength,
        },
    }
    model = TextModel(recipe, terms, form, None, about, scale=scale, threads=threads)
    model.corpus = corpus
    if recipe.calibrate and (held := held_scores(learner.settled(fit.C), Plain(data.rows), data)) is not None:
        calibrate_held_out(model, held)
    return model


def _begun(start: TextModel | None, design: DesignMatrix, classes: tuple[str, ...]) -> LinearModel | None:
    """The weights of a model of the same classes, as a beginning for other documents; new words have none."""
    if start is None or start.class_names != classes or not isinstance(start.form, LinearModel):
        return None
    old, new = start.vocabulary, design.documents.vocabulary
    if np.array_equal(old.keys, new.keys) and np.array_equal(old.arena, new.arena):
        return start.form
    if not len(old):  # it knew no word
        return None
    place = old.find(new.words())
    weights = start.form.weights.rows(np.maximum(place, 0)) * (place >= 0)[:, None]
    return replace(start.form, weights=Weights.of_matrix(weights))


def _transformed(
    corpus: Corpus, recipe: Recipe, info: Mapping[str, object], threads: int, memory: int
) -> TextModel:
    """Complement naive Bayes of transformed documents, which takes a second pass over them."""
    reread = replace(recipe, settings=corpus.reread)
    tally = Tally.count(corpus.batches(), settings=corpus.reread, threads=threads, memory=memory)
    counts, vocabulary = selected(tally, recipe.selection)
    again = _transformed_counts(corpus.batches(), counts, vocabulary, reread)
    form = naive_bayes.fit(recipe.learner, again)  # type: ignore[arg-type]
    model = TextModel(
        recipe, vocabulary, form, tally, {**info, "documents": tally.n_documents}, threads=threads
    )
    model.corpus = corpus
    return model


def _transformed_counts(
    batches: Iterable[Batch], counts: Counts, vocabulary: Vocabulary, recipe: Recipe
) -> Counts:
    """Class sums of transformed documents, by a second pass over the data."""
    K = len(counts.classes)
    plain = TextModel(recipe, vocabulary, naive_bayes.fit(MultinomialLearner(), counts), None, {})
    index = {name: k for k, name in enumerate(counts.classes)}
    df, n = counts.by_feature(counts.documents), float(counts.class_documents.sum())
    sums = np.zeros(len(counts.class_of))
    places = counts.feature_of.astype(np.int64) * K + counts.class_of
    for batch in batches:
        labels = batch.label_list()
        weight = np.ones(len(labels)) if batch.weights is None else batch.weights
        rows = transformed(plain.scorer.rows(batch.texts), df, n)
        lengths = np.diff(rows.indptr)
        codes = np.array([index.get(label, 0) for label in labels], dtype=np.int64)
        wanted = rows.indices.astype(np.int64) * K + np.repeat(codes, lengths)
        cell = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        counted = places[cell] == wanted  # a document without weight, or a pruned word, has no cell
        values = rows.data * np.repeat(weight, lengths)
        sums += np.bincount(cell[counted], values[counted], len(sums))
    return replace(counts, occurrences=sums)
