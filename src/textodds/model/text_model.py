"""TextModel: from raw text to a decision, and back to the counts it rests on."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch, Schema, Source, Texts, read
from textodds.data.batch import BETWEEN_FIELDS, as_fields
from textodds.errors import InputError, Unsupported, suggestion
from textodds.learn.forms.linear import LinearModel, Weights, log_prior
from textodds.learn.recipe import Recipe, fitted
from textodds.learn.registry import Prior
from textodds.model.base import Prediction
from textodds.model.explain import Explanation, ReadText, explain
from textodds.model.novelty import DensityModel, TextDensity
from textodds.model.words import ClassWords
from textodds.stats.sample import Example
from textodds.stats.tally import Tally, checked_threads
from textodds.text import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from textodds.judge.word_odds import SeparatingWord
    from textodds.learn.forms.equivalence import Hyperplane
    from textodds.learn.forms.quadratic import QuadraticModel
    from textodds.learn.softmax.odds_ratios import OddsRatio
    from textodds.model.leave_one_out import LeftOut

Floats = NDArray[np.float64]
Form: TypeAlias = "LinearModel | QuadraticModel"


class TextReading(DensityModel[Tally, Example]):
    """How a model reads texts: by the columns of training, several of them as the fields of one text."""

    recipe: Recipe

    @property
    def schema(self) -> Schema:
        """The columns that it was trained on, by name; none where its texts had no names."""
        known = self.info.get("columns")
        return Schema(()) if known is None else Schema.of_dict(known)

    def _combine(self, other: Self, sign: int) -> Self:
        model = super()._combine(other, sign)
        mine, theirs = self.schema, other.schema
        names = [[column.name for column in each.columns] for each in (mine, theirs)]
        if names[0] and names[0] == names[1] and mine.label == theirs.label:
            model.info["columns"] = mine.as_dict()
        return model

    def read(self, *data: object, labelled: bool = False, **reading: Any) -> Source:
        """A source of texts; takes what `textodds.read` takes, and by default the columns of training."""
        given, *beside = data
        fields, text = self.recipe.settings.fields, reading.get("text")
        if text is not None and max(len(fields), 1) != (1 if isinstance(text, str) else len(text)):
            raise InputError(
                f"the model reads {', '.join(fields) or 'one column'}, and other columns are named for it",
                hint="name as many columns, in the same order; or none, where they are called as in training",
            )
        if fields and text is None:
            has_labels = bool(beside) and beside[0] is not None
            if isinstance(given, list) and (has_labels or all(isinstance(text, str) for text in given)):
                given = [self.row_of(text) for text in given]
            else:
                reading = reading | {"text": list(fields)}
        return read(given, *beside, labelled=labelled, like=self.schema, **reading)

    def row_of(self, text: object) -> str:
        """One text as the model reads it: of several columns, which are given by name, a text of fields."""
        fields = self.recipe.settings.fields
        if fields and isinstance(text, Mapping):
            for name in text:
                if name not in fields:
                    raise InputError(f"there is no column `{name}`{suggestion(str(name), fields)}")
            return as_fields([[str(text.get(name) or "")] for name in fields])[0]
        if not isinstance(text, str):
            raise InputError(
                f"a text must be str, got {type(text).__name__}", hint="for several texts use predict(texts)"
            )
        if fields and text.count(BETWEEN_FIELDS) != len(fields) - 1:
            raise InputError(
                f"the model reads the columns {', '.join(fields)}, and a text came without them",
                hint=f"give them by name: {dict.fromkeys(fields, '…')}",
            )
        return text

    def _batches(self, texts: object) -> Iterable[Batch]:
        if isinstance(texts, str):
            raise InputError(
                "one text came where several are wanted", hint="write [text], or call model(text)"
            )
        if isinstance(texts, list) and self.recipe.settings.fields:
            texts = [self.row_of(text) for text in texts]
        if isinstance(texts, list):  # the usual case, without a detour
            return [Batch(texts, None, None)] if texts else []
        return self.read(texts)


class TextModel(TextReading):
    """A trained classifier of texts; made by `train`, `load`, or ``+``.

    What it has learned are counts (`tally`). Learning more, forgetting, merging and subtracting
    are exact: the model is always the one that training on the remaining documents would give.

    Attributes
    ----------
    classes_ : tuple of str
        The labels, sorted; labels are text. Column k of probabilities belongs to ``classes_[k]``.
    recipe : Recipe
        Every choice that was made.
    vocabulary : Vocabulary
        The words the model uses.
    form : LinearModel or QuadraticModel
        The fitted form; `linear`, if it is linear.
    scale : array (V,) or None
        What an occurrence of each word is worth (idf), where the recipe has a weighting.
    calibration : Calibration or None
        What makes probabilities of scores; found by leaving out one text at a time.
    held_out : HeldOut or None
        What the model said of texts it had not learned: a sample of those of training, each left out.
    document_ids : DocumentIds or None
        The ids of the texts that were learned with one.
    typical : Typical or None
        How surprising typical texts are, to compare with.
    info : dict
        What is known of the data.
    """

    kind, noun, rests_on = "texts", "text", "documents"
    _item_type, keeps_ids = (str, Mapping), True

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: Form,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        *,
        scale: Floats | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = checked_threads(threads)
        self.info, self._tally = info, tally
        self._install(recipe, vocabulary, form, scale)

    def _install(
        self, recipe: Recipe, vocabulary: Vocabulary, form: Form, scale: Floats | None = None
    ) -> None:
        self.scorer = TextScorer(recipe, vocabulary, form, scale)
        self.recipe, self.vocabulary, self.form, self.scale = recipe, vocabulary, form, scale
        self.classes_, self.extent = form.classes, (len(vocabulary), "word")

    @classmethod
    def of_tally(
        cls, tally: Tally, recipe: Recipe, info: dict[str, Any] | None = None, *, threads: int | None = None
    ) -> TextModel:
        """The model that a recipe makes of counts."""
        vocabulary, linear = fitted(tally, recipe)
        return cls(recipe, vocabulary, linear, tally, info or {}, threads=threads)

    def _install_counts(self, tally: Tally) -> None:
        self._install(self.recipe, *fitted(tally, self.recipe))
        self._tally = tally

    @property
    def linear(self) -> LinearModel:
        """The fitted form of a model that scores a text word by word."""
        if not isinstance(self.form, LinearModel):
            raise Unsupported(
                "quadratic discriminant analysis weighs words together, not one by one",
                hint="for words with weights of their own train with the learner lda",
            )
        return self.form

    @property
    def words(self) -> ClassWords:
        """The words of the classes: which speak for one, which decide between two."""
        return ClassWords(self)

    @property
    def density(self) -> TextDensity:
        """The model as a distribution of texts, if it is one."""
        if self.recipe.learner.entry.needs_documents or not self.form.is_posterior:
            raise Unsupported(
                "this model tells classes apart, and has no probability of a text",
                hint="train with the learner multinomial or bernoulli",
            )
        return TextDensity(self)

    def count(self, batches: Iterable[Batch]) -> Tally:
        """The counts of a stream of batches, by the settings of the model."""
        return Tally.count(batches, settings=self.recipe.settings, threads=self.threads)

    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | text), and known and all terms (N, 2), of a batch."""
        scores, evidence = self.scorer.score(batch.texts, self.threads)
        return self.calibrated(scores) if calibrate else scores, evidence

    def calibrated(self, scores: Floats) -> Floats:
        """Scores whose softmax is p(class | text), of joint log-probabilities (N, K)."""
        if self.calibration is None:
            return scores
        prior = self.form.log_prior
        return self.calibration.applied(scores - prior) + prior

    def __call__(self, text: str | Mapping[str, str]) -> Prediction:
        """The prediction for one text, or for a dict of its columns where the model has several."""
        row, known = self.scorer.one(self.row_of(text))  # of few numbers Python is quicker than NumPy
        if self.calibration is not None:
            prior = self.form.log_prior.tolist()
            plain = self.calibration.applied_to([score - p for score, p in zip(row, prior, strict=True)])
            row = [score + p for score, p in zip(plain, prior, strict=True)]
        most = max(row)
        shares = [math.exp(score - most) for score in row]
        total, best = sum(shares), row.index(most)
        classes = self.form.classes
        probabilities = {name: share / total for name, share in zip(classes, shares, strict=True)}
        return Prediction(classes[best], shares[best] / total, known, probabilities)

    def score(self, texts: object) -> tuple[Floats, NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2).

        ``texts`` is a list of str, or an Arrow, pandas or polars column of strings.
        """
        return self._scores(texts, calibrate=False)

    def rows(self, texts: object) -> Any:
        """The texts as SciPy sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        from scipy import sparse

        rows = [self.scorer.rows(batch.texts) for batch in self._batches(texts)]
        return sparse.vstack(rows or [sparse.csr_array((0, len(self.vocabulary)))], format="csr")

    def leave_one_out(
        self, texts: object, labels: object = None, weights: object = None, **reading: Any
    ) -> LeftOut:
        """Every text under the model of all others: exactly, in one pass. Takes what `train` takes as data.

        The texts must have been learned, under these labels and weights.
        """
        from textodds.model.leave_one_out import left_out

        return left_out(self, self.read(texts, labels, weights, labelled=True, **reading))

    def log_likelihood(self, texts: object) -> Floats:
        """``log p(words | class)`` with all constants, (N, K); of words the model knows."""
        parts = [self.density.log_likelihood(batch) for batch in self._batches(texts)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes_)))

    def perplexity(self, texts: object) -> Floats:
        """``p(words)^(-1/n)``, the n known words being in their order: (N,).

        So many equally likely words would surprise the model as much; 1 for a text without a known word.
        """
        parts = [self.density.perplexity(batch) for batch in self._batches(texts)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def explain(
        self,
        text: str | Mapping[str, str],
        label: str | None = None,
        rival: str | None = None,
        *,
        calibrate: bool = True,
    ) -> Explanation:
        """What each word of a text adds to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up. ``rival="others"`` stands for all other
        classes together, unless a class has that name. Without ``calibrate`` log-odds are as Bayes' rule
        has them, rather than those of the model's answer.
        """
        text = self.row_of(text)
        model = copy.copy(self)  # its parts are replaced by learning, never changed
        model.calibration = self.calibration if calibrate else None
        scores = model.calibrated(self.scorer.score([text], 1)[0])[0]
        chosen, other = self._sides(scores, label, rival)
        return explain(ReadText(text, model, chosen, None if rival is None else other), other, scores)

    def top_words(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """The words that speak most for a class: log-odds against the mean of the other classes."""
        return self.words.top(label, n)

    def hyperplane(self, label: str, rival: str, n: int | None = 20) -> Hyperplane:
        """Where the model is undecided between two classes: the words that decide, strongest first.

        ``n`` words at most; None for all. A word's weight is what one unit of it adds to the log-odds,
        a unit being one occurrence, or what the recipe's weighting makes of it.
        """
        return self.words.hyperplane(label, rival, n)

    def separating_words(
        self, label: str, rival: str, n: int | None = 20, *, prior: float | None = None
    ) -> list[SeparatingWord]:
        """The words that most separate two classes by their counts, with z-scores and 95 % intervals.

        ``n`` words at most; None for all. Log-odds above 0 speak for ``label``. Documents are counted
        where only a word's presence counts, else occurrences; ``prior`` is as in
        `textodds.judge.word_odds.separation`.
        """
        return self.words.separating(label, rival, n, prior=prior)

    def odds_ratios(
        self,
        label: str,
        rival: str,
        words: Sequence[str],
        source: object,
        labels: object = None,
        **reading: Any,
    ) -> tuple[OddsRatio, ...]:
        """By what factor words multiply the odds of a label against its rival, with standard errors.

        ``source`` is the data the model was trained on, which a softmax model does not keep.
        """
        return self.words.odds_ratios(
            label, rival, words, self.read(source, labels, labelled=True, **reading)
        )

    def must_be_counts(self) -> None:
        """Refuse a model that does not rest on counts alone."""
        learner = self.recipe.learner
        again = "train it again on the data wanted; or train multinomial, which learns and forgets"
        if learner.entry.needs_documents:
            raise Unsupported("this model rests on all of its documents at once, not on counts", hint=again)
        if not self.has_counts and not learner.entry.is_merged:
            raise Unsupported(
                "this model was learned from unlabelled texts too, whose classes it has guessed", hint=again
            )
        if learner.rereads:
            raise Unsupported(
                "a complement model of transformed documents depends on all of them at once",
                hint="train it again on the data wanted, or train with transform=False",
            )

    def _install_prior(self, prior: Prior) -> None:
        if not self.form.is_posterior:
            raise Unsupported("a complement model has no prior to change")
        documents = np.ones(len(self.classes_))
        if prior == "data":
            documents = np.array([self.class_documents[label] for label in self.classes_])
        recipe = self.recipe
        if not recipe.learner.entry.is_penalised:
            recipe = replace(recipe, learner=replace(recipe.learner, prior=prior))  # type: ignore[type-var]
        form = self.form.with_prior(log_prior(prior, self.classes_, documents))
        self._install(recipe, self.vocabulary, form, self.scale)


class TextScorer:
    """Scores texts by a fitted form of a vocabulary."""

    def __init__(
        self, recipe: Recipe, vocabulary: Vocabulary, form: Form, scale: Floats | None = None
    ) -> None:
        linear = form if isinstance(form, LinearModel) else _no_weights(len(vocabulary))
        weights = linear.weights
        sparse = (weights.starts, weights.class_of, weights.exceptions)
        unknown = None if recipe.unknown == "ignore" else int(vocabulary.find([UNKNOWN])[0])
        self.form, self.n_features = form, len(vocabulary)
        self.kernel = _kernels.Linear(
            recipe.settings.analyser,
            (vocabulary.keys, vocabulary.arena, vocabulary.directory),
            linear.log_prior + linear.intercept,
            weights.default,
            weights.slope,
            weights.base,
            None if weights.dense is None else weights.dense.reshape(-1),
            None if weights.dense is not None else sparse,  # type: ignore[arg-type]
            None if unknown is None or unknown < 0 else unknown,
            linear.presence,
            weights.replaces,
            None if scale is None else _weighting(recipe, scale),
        )

    def score(self, texts: Texts, threads: int) -> tuple[Floats, NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2)."""
        scores, evidence = self.kernel.score(texts, threads)
        if not isinstance(self.form, LinearModel):
            scores = self.form.scores(self.rows(texts))
        return scores, evidence

    def one(self, text: str) -> tuple[list[float], int]:
        """Joint log-probabilities (K,) of one text, and how many of its terms are known."""
        row, known = self.kernel.one(text)
        if not isinstance(self.form, LinearModel):
            row = self.form.scores(self.rows([text]))[0].tolist()
        return row, known

    def rows(self, texts: Texts) -> Any:
        """The texts as SciPy sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        from scipy import sparse

        starts, words, values, _ = self.kernel.rows(texts)
        return sparse.csr_array((values, words, starts), shape=(len(texts), self.n_features))

    def counts(self, texts: Texts) -> _kernels.RawRows:
        """How often each word of the vocabulary is in each text, as the kernels take it."""
        return self.kernel.rows(texts, False)[:3]


def _no_weights(V: int) -> LinearModel:
    """Stands in the kernel for a form that is not linear: only rows are asked of it."""
    return LinearModel(("",), np.zeros(1), np.zeros(1), Weights.of_matrix(np.zeros((V, 1))))


def _weighting(recipe: Recipe, scale: Floats) -> tuple[str, Floats, bool, int]:
    """What the kernel must know to weigh words."""
    weighting = recipe.weighting
    if weighting is None:
        raise InputError("there are scales of words, but no weighting that they belong to")
    return weighting.frequency, scale, weighting.unit, recipe.settings.blocks
