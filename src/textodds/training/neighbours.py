"""Training by a prior that unlabelled texts or given vectors inform; see `textodds.learn.word_vectors`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textodds.data import Batch, Observer, Source
from textodds.data.files import named
from textodds.learn.arrays import Floats
from textodds.learn.design import LabelledRows, Plain
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.recipe import Recipe
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.regression import PenalisedLearner, SoftmaxLearner, path_of
from textodds.learn.word_vectors import Neighbours
from textodds.model.fit import calibrate_held_out
from textodds.model.text_model import TextModel
from textodds.stats.compressed_rows import CompressedRows
from textodds.stats.documents import Documents
from textodds.stats.tally import checked_threads
from textodds.text import Vocabulary
from textodds.text.settings import FEATURES
from textodds.training.choose.candidates import SHAPE, recipe_with
from textodds.training.given_vectors import GivenVectors, is_word, must_be_of_words, words_of
from textodds.training.plan import Plan, nothing_in
from textodds.training.table_scales import is_clearly_less, losses_of

NO_LABEL = ""
"""Stands for the label of an unlabelled text; no label is empty."""

STRENGTHS = (1.0, 2.0, 0.5, 0.0)
"""Of the prior, the first unless another is clearly better on held-out texts: at 1 what a text says by its
neighbours is as long as what it says itself."""

USUAL = "characters"
"""Features where none are named: words, pairs, and runs of letters, of which words alone have neighbours."""

MOST_TERMS = 300_000
"""Terms that are kept at most: the most frequent."""


def unlabelled_batches(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Texts without labels, as those that have none are marked."""
    for batch in batches:
        yield Batch(batch.texts, [NO_LABEL] * len(batch), batch.weights)


def recipe_of_neighbours(learner: PenalisedLearner, words: Mapping[str, object]) -> Recipe:
    """The recipe of softmax regression with neighbours."""
    shape = {} if any(name in words for name in SHAPE) else FEATURES[USUAL]
    recipe = recipe_with(learner, {"max_features": MOST_TERMS, **shape, **words})
    return replace(recipe, is_open=False)


@dataclass(frozen=True, eq=False)
class NeighbourFit:
    """Labelled texts with neighbours that all texts or a file make known, and the strength chosen."""

    recipe: Recipe
    documents: Documents
    scale: Floats  # (V,) idf
    data: LabelledRows  # labelled texts, (N, V)
    neighbours: Neighbours
    strength: float
    held: HeldOutScores | None
    tried: tuple[tuple[float, float], ...]  # strength, held-out loss
    unseen: GivenVectors | None = None  # words of a file that no text has

    @classmethod
    def of(
        cls, labelled: Sequence[Batch], unlabelled: Iterable[Batch], recipe: Recipe, threads: int
    ) -> NeighbourFit:
        """Find neighbours in all texts, and choose the strength of the prior on labelled ones."""
        learner, weighting = recipe.learner, recipe.weighting
        assert isinstance(learner, SoftmaxLearner)
        assert weighting is not None
        both = [*labelled, *unlabelled_batches(unlabelled)]
        texts = Documents.gather(both, settings=recipe.settings, selection=recipe.selection, threads=threads)
        scale = texts.idf(weighting)
        rows = texts.rows(weighting, scale)
        neighbours = Neighbours.of(rows, _are_words(texts.vocabulary))
        classes, codes = texts.classes, texts.codes
        if NO_LABEL in classes:  # the first of them in order
            classes, codes = classes[1:], codes - 1
        own = np.flatnonzero(codes >= 0)
        weights = np.ones(len(own)) if texts.weights is None else texts.weights[own]
        data = LabelledRows(rows[own], classes, codes[own], weights).with_two_classes()
        strength, held, tried = _chosen(learner, data, neighbours)
        return cls(recipe, texts, scale, data, neighbours, strength, held, tried)

    @classmethod
    def of_file(cls, labelled: Sequence[Batch], path: str, recipe: Recipe, threads: int) -> NeighbourFit:
        """Take neighbours from a file of word vectors, and choose the strength of the prior."""
        learner, weighting = recipe.learner, recipe.weighting
        assert isinstance(learner, SoftmaxLearner)
        assert weighting is not None
        must_be_of_words(recipe.settings)
        texts = Documents.gather(
            labelled, settings=recipe.settings, selection=recipe.selection, threads=threads
        )
        words = words_of(texts)
        given = GivenVectors.of(path, recipe.settings, words)
        also = np.zeros(len(texts.gathered.documents()), np.bool_)
        also[[words[word] for word in given.words if word in words]] = True
        texts.select(recipe.selection, also)
        scale = texts.idf(weighting)
        rows = texts.rows(weighting, scale)
        at = texts.vocabulary.find(given.words)  # (W,)
        own, new = np.flatnonzero(at >= 0), np.flatnonzero(at < 0)
        places = np.full(len(texts.vocabulary), -1, np.int64)
        places[at[own]] = np.arange(len(own))
        neighbours = Neighbours.given(rows, places, given.matrix[own].astype(np.float64))
        weights = np.ones(len(texts)) if texts.weights is None else texts.weights
        data = LabelledRows(rows, texts.classes, texts.codes, weights).with_two_classes()
        unseen = GivenVectors([given.words[i] for i in new.tolist()], given.matrix[new])
        strength, held, tried = _chosen(learner, data, neighbours)
        return cls(recipe, texts, scale, data, neighbours, strength, held, tried, unseen)

    def _with_unseen(self, wide: LinearModel, form: LinearModel) -> tuple[Vocabulary, LinearModel, Floats]:
        """Vocabulary, form and idf with the words that only the file has; without strength, without them."""
        vocabulary, weighting = self.documents.vocabulary, self.recipe.weighting
        if self.unseen is None or not self.strength or not self.unseen.words:
            return vocabulary, form, self.scale
        assert weighting is not None
        new = self.unseen
        more = self.neighbours.weights_of(wide, self.strength, new.matrix.astype(np.float64))
        every, order = Vocabulary.of_words([*vocabulary.words(), *new.words])
        weights = np.vstack([form.weights.rows(np.arange(len(vocabulary))), more])[order]
        idf = weighting.idf_of(np.zeros(len(new.words)), self.documents.n_documents)
        scale = np.concatenate([self.scale, idf])[order]
        return every, replace(form, weights=Weights.of_matrix(weights)), scale

    def model(self, info: dict[str, Any], threads: int, *, calibrate: bool) -> TextModel:
        """The model, folded into one weight a term."""
        learner: Any = self.recipe.learner
        rows = self.neighbours.rows(_compressed(self.data), self.strength)
        fit = learner.fit_design(Plain(rows), replace(self.data, rows=rows))
        form = self.neighbours.folded(fit.model, self.strength)
        recipe = replace(self.recipe, learner=learner.settled(fit.C))
        mass = self.data.class_weights().tolist()
        terms, form, scale = self._with_unseen(fit.model, form)
        vectors = {"size": int(self.neighbours.vectors.shape[1]), "words": len(self.neighbours.vectors)}
        if self.unseen is not None:
            vectors["new"] = len(terms) - len(self.documents.vocabulary)
        about = {
            **info,
            "class_documents": dict(zip(self.data.classes, mass, strict=True)),
            "fit": fit.report(),
            "neighbours": {
                **vectors,
                "strength": self.strength,
                "tried": [list(each) for each in self.tried],
            },
        }
        model = TextModel(recipe, terms, form, None, about, scale=scale, threads=threads)
        if calibrate and self.held is not None:
            calibrate_held_out(model, self.held)
        return model


def _compressed(data: LabelledRows) -> CompressedRows:
    assert isinstance(data.rows, CompressedRows)
    return data.rows


def _are_words(vocabulary: Vocabulary) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which terms are single words, rather than pairs or runs of letters."""
    words = vocabulary.words()
    return np.fromiter(map(is_word, words), np.bool_, len(words))


def _chosen(
    learner: SoftmaxLearner, data: LabelledRows, neighbours: Neighbours
) -> tuple[float, HeldOutScores | None, tuple[tuple[float, float], ...]]:
    """The strength by which held-out texts are most likely, what is said of them, and all losses."""
    best, least, kept = STRENGTHS[0], None, None
    tried = []
    for strength in STRENGTHS:
        rows = neighbours.rows(_compressed(data), strength)
        path = path_of(learner, Plain(rows), replace(data, rows=rows), enough=len(data.codes))
        if path.held is None:
            return best, None, ()
        losses = losses_of(path.held)
        tried.append((strength, float(path.held.log_loss)))
        if least is None or is_clearly_less(losses, least):
            best, least, kept = strength, losses, path.held
    return best, kept, tuple(tried)


def train_vectors_on(data: Source, path: str, plan: Plan, observer: Observer | None = None) -> TextModel:
    """A model of texts whose words know their neighbours by the vectors of a file.

    Its weights rest on the file too, which it does not keep: it cannot learn more or forget.
    """
    threads = checked_threads(plan.threads)
    own = list((observer or Observer()).watched(data, data.ahead(), "learning"))
    if not any(len(batch) and (batch.weights is None or batch.weights.any()) for batch in own):
        raise nothing_in(data)
    learner = plan.learner or SoftmaxLearner()
    assert isinstance(learner, SoftmaxLearner)
    fit = NeighbourFit.of_file(own, path, recipe_of_neighbours(learner, plan.words), threads)
    info = {"source": data.description, "rejected": data.rejects.count}
    model = fit.model(info, threads, calibrate=plan.calibrate)
    model.info["neighbours"]["source"] = named(path).name
    model.info["documents"] = float(
        sum(len(each) if each.weights is None else each.weights.sum() for each in own)
    )
    return model
