"""Training by a prior that unlabelled texts or given vectors inform; see `textodds.learn.word_vectors`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textodds.data import Batch, Observer, Source
from textodds.data.files import named
from textodds.learn.design import Plain
from textodds.learn.recipe import Recipe
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.regression import PenalisedLearner, SoftmaxLearner, path_of
from textodds.learn.word_prior import MOST as MOST_VECTORS
from textodds.learn.word_prior import KnownWords, WordDesign, WordPrior
from textodds.model.fit import fit_corpus
from textodds.model.text_model import TextModel
from textodds.stats.corpus import MOST as MOST_DOCUMENTS
from textodds.stats.corpus import Corpus
from textodds.stats.tally import checked_threads
from textodds.text.settings import FEATURES
from textodds.training.choose.candidates import SHAPE, recipe_with
from textodds.training.given_vectors import GivenVectors, must_be_of_words, no_word_of
from textodds.training.plan import Plan, nothing_in, why_not_kept
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
    """Labelled texts whose words know their neighbours, and the strength of the prior that was chosen."""

    recipe: Recipe  # with the prior
    corpus: Corpus
    held: HeldOutScores | None
    tried: tuple[tuple[float, float], ...]  # strength, held-out loss

    @classmethod
    def of(
        cls, labelled: Sequence[Batch], unlabelled: Iterable[Batch], recipe: Recipe, threads: int
    ) -> NeighbourFit:
        """Find neighbours in unlabelled texts, and choose the strength of the prior on labelled ones."""
        known = KnownWords.of_texts(unlabelled_batches(unlabelled), recipe, threads)
        return cls._chosen(labelled, known, recipe, threads)

    @classmethod
    def of_file(cls, labelled: Sequence[Batch], path: str, recipe: Recipe, threads: int) -> NeighbourFit:
        """Take neighbours from a file of word vectors, and choose the strength of the prior."""
        must_be_of_words(recipe.settings)
        given = GivenVectors.of(path, recipe.settings)
        known = KnownWords.of_vectors(given.words, given.matrix)
        return cls._chosen(labelled, known, recipe, threads, path)

    @classmethod
    def _chosen(
        cls, labelled: Sequence[Batch], known: KnownWords, recipe: Recipe, threads: int, path: str = ""
    ) -> NeighbourFit:
        learner = recipe.learner
        assert isinstance(learner, SoftmaxLearner)
        corpus = Corpus.of(labelled, recipe.settings)
        design = WordDesign.of(corpus.batches(), replace(recipe, settings=corpus.reread), known, threads)
        if path and not len(design.neighbours.vectors):
            raise no_word_of(path)
        strength, held, tried = _strength(learner, design)
        prior = WordPrior.of(known if strength else known.without_vectors, strength)
        return cls(replace(recipe, neighbours=prior), corpus, held, tried)

    @property
    def strength(self) -> float:
        """Of the prior."""
        assert self.recipe.neighbours is not None
        return self.recipe.neighbours.strength

    def model(self, info: dict[str, Any], threads: int, *, documents: bool) -> TextModel:
        """The model, folded into one weight a term; with its documents, if wanted and not too large."""
        model = fit_corpus(self.corpus, self.recipe, info, threads=threads)
        model.info["neighbours"]["tried"] = [list(each) for each in self.tried]
        prior = self.recipe.neighbours
        assert prior is not None
        if not documents:
            model.corpus = None
        elif self.corpus.size > MOST_DOCUMENTS:
            model.corpus, model.info["not_kept"] = None, why_not_kept(False)
        elif prior.known.bytes > MOST_VECTORS:
            model.corpus = None
            model.info["not_kept"] = f"their word vectors take more than {MOST_VECTORS >> 20} MB"
        return model


def _strength(
    learner: SoftmaxLearner, design: WordDesign
) -> tuple[float, HeldOutScores | None, tuple[tuple[float, float], ...]]:
    """The strength by which held-out texts are most likely, what is said of them, and all losses."""
    best, least, kept = STRENGTHS[0], None, None
    tried = []
    for strength in STRENGTHS:
        data = design.data(strength)
        path = path_of(learner, Plain(data.rows), data, enough=len(data.codes))
        if path.held is None:
            return best, None, ()
        losses = losses_of(path.held)
        tried.append((strength, float(path.held.log_loss)))
        if least is None or is_clearly_less(losses, least):
            best, least, kept = strength, losses, path.held
    return best, kept, tuple(tried)


def train_vectors_on(data: Source, path: str, plan: Plan, observer: Observer | None = None) -> TextModel:
    """A model of texts whose words know their neighbours by the vectors of a file."""
    threads = checked_threads(plan.threads)
    own = list((observer or Observer()).watched(data, data.ahead(), "learning"))
    if not any(len(batch) and (batch.weights is None or batch.weights.any()) for batch in own):
        raise nothing_in(data)
    learner = plan.learner or SoftmaxLearner()
    assert isinstance(learner, SoftmaxLearner)
    recipe = replace(recipe_of_neighbours(learner, plan.words), calibrate=plan.calibrate)
    fit = NeighbourFit.of_file(own, path, recipe, threads)
    info = {"source": data.description, "rejected": data.rejects.count}
    model = fit.model(info, threads, documents=plan.documents)
    model.info["neighbours"]["source"] = named(path).name
    return model
