"""TextModel: from raw text to a decision, and back to the counts it rests on."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.labels import Label
from textodds.errors import Unsupported
from textodds.learn.forms.linear import LinearModel, log_prior
from textodds.learn.recipe import Recipe, fitted, why_no_density
from textodds.learn.registry import Prior
from textodds.model.novelty import TextDensity
from textodds.model.one_state import of_one_state
from textodds.model.prediction import Prediction
from textodds.model.scorer import TextScorer
from textodds.model.text_updates import TextUpdates
from textodds.stats.tally import Tally

if TYPE_CHECKING:
    from textodds.judge.word_odds import SeparatingWord
    from textodds.learn.forms.equivalence import Hyperplane
    from textodds.learn.forms.low_rank import FactoredModel
    from textodds.learn.forms.quadratic import QuadraticModel
    from textodds.learn.softmax.odds_ratios import OddsRatio
    from textodds.model.explain import Explanation
    from textodds.model.leave_one_out import LeftOut
    from textodds.model.words import ClassWords

Floats = NDArray[np.float64]
Form: TypeAlias = "LinearModel | QuadraticModel | FactoredModel"


class TextModel(TextUpdates):
    """A trained classifier of texts; made by `train`, `load`, or ``+``.

    It stands on documents (`corpus`), and on counts of them (`tally`) where it is one of counts. Learning
    more, forgetting, merging and subtracting are exact: the model is always the one that training on the
    remaining documents would give, its calibration included. Without its documents, only its counts are.

    Attributes
    ----------
    classes_ : tuple
        The labels, of the type they had in training, sorted as text. Column k of probabilities belongs to
        ``classes_[k]``.
    class_names : tuple of str
        The same as text, as files, the command line and the service have them.
    recipe : Recipe
        Every choice that was made.
    vocabulary : Vocabulary
        The words the model uses.
    form : LinearModel, QuadraticModel or FactoredModel
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

    @classmethod
    def of_tally(
        cls, tally: Tally, recipe: Recipe, info: dict[str, Any] | None = None, *, threads: int | None = None
    ) -> TextModel:
        """The model that a recipe makes of counts."""
        vocabulary, linear = fitted(tally, recipe)
        return cls(recipe, vocabulary, linear, tally, info or {}, threads=threads)

    @property
    def linear(self) -> LinearModel:
        """The fitted form of a model that scores a text word by word."""
        if not isinstance(self.form, LinearModel):
            if self.recipe.learner.entry.name == "softmax":
                raise Unsupported(
                    "the scores of this model are not linear in its words, which have no weights",
                    hint="`explain` says what the words of one text add",
                )
            raise Unsupported(
                f"{self.recipe.learner.entry.title} has no weights of single words",
                hint="for words with weights of their own train with the learner lda",
            )
        return self.form

    @property
    @of_one_state
    def words(self) -> ClassWords:
        """The words of the classes: evidence for one, and between two."""
        from textodds.model.words import ClassWords

        return ClassWords(self)

    @property
    @of_one_state
    def density(self) -> TextDensity:
        """The model as a distribution of texts, if it is one."""
        if self.recipe.learner.entry.needs_documents or not self.form.is_posterior:
            raise Unsupported(
                "a discriminative model has no probability of a text",
                hint="train with the learner multinomial or bernoulli",
            )
        if (error := why_no_density(self.recipe)) is not None:
            raise error
        return TextDensity(self)

    @of_one_state
    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | text), and known and all terms (N, 2), of a batch."""
        if not calibrate:
            return self.scorer.score(batch.texts, self.threads)
        scores, evidence = self._answering.score(batch.texts, self.threads)
        prior = self.form.log_prior
        if self.calibration is not None:
            scores = self.calibration.applied(scores - prior) + prior
        if self.has_prior_without_words:
            scores[evidence[:, 0] == 0] = prior
        return scores, evidence

    @property
    def has_prior_without_words(self) -> bool:
        """Whether a text without a known word has the class prior, and not the intercept alone.

        A calibrated softmax model has it: no word is no evidence. Naive Bayes of counts has it by Bayes'
        rule; in a Bernoulli model, and to a Gaussian, the absence of words is evidence. Uncalibrated answers
        are those of the formula.
        """
        recipe = self.recipe
        return recipe.calibrate and recipe.learner.entry.is_penalised and self.form.is_posterior

    @property
    def without_evidence(self) -> str:  # type: ignore[override]
        """What answers a text without a known word."""
        entry, form = self.recipe.learner.entry, self.form
        if not form.is_posterior or (entry.is_penalised and not self.recipe.calibrate):
            return "the intercept"
        is_gaussian = entry.needs_documents and not entry.is_penalised
        is_absence = is_gaussian or (isinstance(form, LinearModel) and form.presence)
        return "the absence of all words" if is_absence else "the prior"

    @property
    def _answering(self) -> TextScorer:
        """The scorer of answers: of a calibrated model each word has its share of the biases beside it."""
        calibration, form = self.calibration, self.form
        if calibration is None or not np.any(calibration.rate) or not isinstance(form, LinearModel):
            return self.scorer
        known = self.__dict__.get("_known_answering")
        if known is None or known[0] is not calibration or known[1] is not self.scorer:
            scorer = self.scorer.shifted(calibration.rate / calibration.slopes[0])  # sloped when scored
            known = self.__dict__["_known_answering"] = (calibration, self.scorer, scorer)
        return cast("TextScorer", known[2])

    @property
    @of_one_state
    def calibrated_form(self) -> LinearModel:
        """The linear form of the model's answers, calibration included.

        Its scores are those whose softmax `predict_proba` gives. `linear` has those of Bayes' rule.
        """
        return self.linear if self.calibration is None else self.calibration.of_form(self.linear)

    @of_one_state
    def answer(self, text: str | Mapping[str, str]) -> Prediction[str]:
        """The prediction for one text, with labels as text, whatever they were in training."""
        row, known = self._answering.one(self.row_of(text))  # of few numbers Python is quicker than NumPy
        if not known and self.has_prior_without_words:
            row = self.form.log_prior.tolist()
        elif self.calibration is not None:
            prior = self.form.log_prior.tolist()
            plain = self.calibration.applied_to([score - p for score, p in zip(row, prior, strict=True)])
            row = [score + p for score, p in zip(plain, prior, strict=True)]
        most = max(row)
        shares = [math.exp(score - most) for score in row]
        total, best = sum(shares), row.index(most)
        classes = self.form.classes
        probabilities = {name: share / total for name, share in zip(classes, shares, strict=True)}
        return Prediction(classes[best], shares[best] / total, known, probabilities)

    def score(self, texts: object, *, calibrate: bool = False) -> tuple[Floats, NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2).

        ``texts`` is a list of str, or an Arrow, pandas or polars column of strings. With ``calibrate`` the
        scores are those of the model's answers, whose softmax is `predict_proba`.
        """
        return self._scores(texts, calibrate=calibrate)

    @of_one_state
    def leave_one_out(
        self, texts: object, labels: object = None, weights: object = None, **reading: object
    ) -> LeftOut:
        """Every text under the model of all others: exactly, in one pass. Takes what `train` takes as data.

        The texts must have been learned, under these labels and weights.
        """
        from textodds.model.leave_one_out import left_out

        return left_out(self, self.read(texts, labels, weights, labelled=True, **reading))

    @of_one_state
    def log_likelihood(self, texts: object) -> Floats:
        """``log p(words | class)`` with all constants, (N, K); of words the model knows."""
        parts = [self.density.log_likelihood(batch) for batch in self._batches(texts)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes_)))

    @of_one_state
    def perplexity(self, texts: object) -> Floats:
        """``p(words)^(-1/n)``, the n words being in their order: (N,).

        So many equally likely words would surprise the model as much. A word the model does not know is as
        likely as one of the vocabulary that its class has never shown; a text without a word has 1.
        """
        parts = [self.density.perplexity(batch) for batch in self._batches(texts)]
        return np.concatenate(parts) if parts else np.zeros(0)

    @of_one_state
    def explain(
        self,
        text: str | Mapping[str, str],
        label: Label | None = None,
        rival: Label | None = None,
        *,
        calibrate: bool = True,
    ) -> Explanation:
        """The contribution of each word to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up. ``rival="others"`` stands for all other
        classes together, unless a class has that name. Without ``calibrate`` log-odds are as Bayes' rule
        has them, rather than those of the model's answer.
        """
        text = self.row_of(text)
        model = copy.copy(self)  # its parts are replaced by learning, never changed
        if not calibrate:
            model.calibration, model.recipe = None, replace(self.recipe, calibrate=False)
        scores = model.score_batch(Batch([text]), calibrate=True)[0][0]
        chosen, other = self._sides(scores, label, rival)
        from textodds.model.explain import ReadText, explain

        return explain(ReadText(text, model, chosen, None if rival is None else other), other, scores)

    def top_words(self, label: Label, n: int = 10) -> list[tuple[str, float]]:
        """The words with the most evidence for a class: log-odds against the mean of the other classes.

        They are those of the model's answers, as in `explain` and `hyperplane`: what one use of a word adds,
        or one unit of what the recipe's weighting makes of it.
        """
        return self.words.top(self.class_name(label), n)

    def hyperplane(self, label: Label, rival: Label, n: int | None = 20) -> Hyperplane:
        """The decision boundary between two classes: its words, strongest first.

        ``n`` words at most; None for all. A word's weight is what one unit of it adds to the log-odds,
        a unit being one occurrence, or what the recipe's weighting makes of it.
        """
        return self.words.hyperplane(self.class_name(label), self.class_name(rival), n)

    def separating_words(
        self, label: Label, rival: Label, n: int | None = 20, *, prior: float | None = None
    ) -> list[SeparatingWord]:
        """The words that most separate two classes by their counts, with z-scores and 95 % intervals.

        ``n`` words at most; None for all. Log-odds ratios above 0 speak for ``label``. They are those of the
        counts; what the model goes by is in `hyperplane`. Documents are counted where only a word's presence
        counts, else occurrences; ``prior`` is as in `textodds.judge.word_odds.separation`.
        """
        return self.words.separating(self.class_name(label), self.class_name(rival), n, prior=prior)

    def odds_ratios(
        self,
        label: Label,
        rival: Label,
        words: Sequence[str],
        source: object,
        labels: object = None,
        **reading: object,
    ) -> tuple[OddsRatio, ...]:
        """The odds ratios of words for a label against its rival, with standard errors.

        ``source`` is the data the model was trained on, which a softmax model does not keep.
        """
        data = self.read(source, labels, labelled=True, **reading)
        return self.words.odds_ratios(self.class_name(label), self.class_name(rival), words, data)

    def _install_prior(self, prior: Prior) -> None:
        if not self.form.is_posterior:
            raise Unsupported("a complement model has no prior to change")
        documents = np.ones(len(self.classes_))
        if prior == "data":
            documents = np.array([self.class_documents[label] for label in self.class_names])
        recipe = self.recipe
        if recipe.learner.entry.is_penalised:  # which has no prior among its settings
            self.info = {**self.info, "prior": prior}
        else:
            recipe = replace(recipe, learner=replace(recipe.learner, prior=prior))  # type: ignore[type-var]
        form = self.form.with_prior(log_prior(prior, self.class_names, documents))
        self._install(recipe, self.vocabulary, form, self.scale)
