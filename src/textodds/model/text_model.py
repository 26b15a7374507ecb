"""TextModel: from raw text to a decision, and back to the counts it rests on."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds import _kernels
from textodds.data import Batch, Texts, read
from textodds.errors import InputError, NoData, Unsupported
from textodds.judge.evaluation import Evaluation, evaluate, scored_batches
from textodds.learn.conditionals import Multinomial
from textodds.learn.forms.equivalence import Hyperplane
from textodds.learn.forms.linear import LinearModel, Weights, log_joint, log_prior, log_softmax
from textodds.learn.recipe import Recipe, fitted, selected
from textodds.learn.registry import Prior
from textodds.model.base import class_number, largest, of_labels
from textodds.model.explain import OTHERS, Explanation, ReadText, explain
from textodds.stats.tally import Additive, Tally, checked_threads
from textodds.text import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from textodds.judge.novelty import Familiarity, Typical
    from textodds.judge.word_odds import SeparatingWord
    from textodds.learn.calibration import Calibration
    from textodds.learn.forms.quadratic import QuadraticModel
    from textodds.learn.held_out import HeldOut
    from textodds.learn.softmax.odds_ratios import OddsRatio
    from textodds.model.leave_one_out import LeftOut
    from textodds.stats.document_ids import DocumentIds

Strings: TypeAlias = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of one text.

    ``evidence`` is the number of terms the model knows: 0 means that it answers without having read
    a word it knows (with the prior, unless unknown or absent words count in this model).
    """

    label: str
    probability: float
    evidence: int
    probabilities: dict[str, float]


class TextModel(Additive):
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
    ledger : DocumentIds or None
        The ids of the texts that were learned with one.
    typical : Typical or None
        How surprising typical texts are, to compare with.
    info : dict
        What is known of the data.
    """

    is_table = False
    file_format: int | None = None  # of the file that it was read from

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: LinearModel | QuadraticModel,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        *,
        scale: NDArray[np.float64] | None = None,
        typical: Typical | None = None,
        calibration: Calibration | None = None,
        held_out: HeldOut | None = None,
        document_ids: DocumentIds | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = checked_threads(threads)
        self.typical, self.calibration = typical, calibration
        self.held_out, self.document_ids = held_out, document_ids
        self._install(recipe, vocabulary, form, tally, info, scale)

    def _install(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: LinearModel | QuadraticModel,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        scale: NDArray[np.float64] | None = None,
    ) -> None:
        linear = form if isinstance(form, LinearModel) else _no_weights(len(vocabulary))
        weights = linear.weights
        sparse = (weights.starts, weights.class_of, weights.exceptions)
        unknown = None if recipe.unknown == "ignore" else int(vocabulary.find([UNKNOWN])[0])
        kernel = _kernels.Linear(
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
        self.scale = scale
        self.recipe, self.vocabulary, self.form, self.info = recipe, vocabulary, form, info
        self._kernel, self._tally = kernel, tally

    @classmethod
    def of_tally(
        cls, tally: Tally, recipe: Recipe, info: dict[str, Any] | None = None, *, threads: int | None = None
    ) -> TextModel:
        """The model that a recipe makes of counts."""
        vocabulary, linear = fitted(tally, recipe)
        return cls(recipe, vocabulary, linear, tally, info or {}, threads=threads)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return self.form.classes

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
    def extent(self) -> tuple[int, str]:
        """How many features the model has, and what they are."""
        return len(self.vocabulary), "word"

    def count(self, batches: Iterable[Batch]) -> Tally:
        """The counts of a stream of batches, by the settings of the model."""
        return Tally.count(batches, settings=self.recipe.settings, threads=self.threads)

    def score_batch(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | text), and known and all terms (N, 2), of a batch."""
        scores, evidence = self._scored(batch.texts, self.threads)
        return self.calibrated(scores), evidence

    def calibrated(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores whose softmax is p(class | text), of joint log-probabilities (N, K)."""
        if self.calibration is None:
            return scores
        prior = self.form.log_prior
        return self.calibration.applied(scores - prior) + prior

    def _scored(self, texts: Texts, threads: int) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        scores, evidence = self._kernel.score(texts, threads)
        if not isinstance(self.form, LinearModel):
            scores = self.form.scores(self._rows(texts))
        return scores, evidence

    @property
    def tally(self) -> Tally:
        """The counts the model rests on."""
        if self._tally is None:
            self.must_be_counts()
            raise Unsupported(
                "this model was saved without its counts",
                hint="train it again, without `--no-counts`, to learn, forget or merge",
            )
        if not isinstance(self._tally, Tally):
            self._tally = self._tally()
        return self._tally

    def __repr__(self) -> str:
        return f"<TextModel: {len(self.classes_)} classes, {len(self.vocabulary):,} words>"

    def __call__(self, text: str) -> Prediction:
        """The prediction for one text."""
        if not isinstance(text, str):
            raise InputError(
                f"a text must be str, got {type(text).__name__}", hint="for several texts use predict(texts)"
            )
        row, known = self._kernel.one(text)  # of few numbers Python is quicker than NumPy
        if not isinstance(self.form, LinearModel):
            row = self.form.scores(self._rows([text]))[0].tolist()
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

    def score(self, texts: Any) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Joint log-probabilities (N, K), and known and all terms of each text (N, 2).

        ``texts`` is a list of str, or an Arrow, pandas or polars column of strings.
        """
        parts = [self._scored(batch.texts, self.threads) for batch in _texts(texts)]
        if not parts:
            return np.zeros((0, len(self.classes_))), np.zeros((0, 2), np.uint32)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def predict(self, texts: Any) -> NDArray[np.object_]:
        """The most probable label of each text, (N,)."""
        names = np.array(self.classes_, dtype=object)  # NumPy's own text would lose a final NUL
        return np.asarray(names[self.calibrated(self.score(texts)[0]).argmax(axis=1)])

    def predict_log_proba(self, texts: Any, *, calibrate: bool = True) -> NDArray[np.float64]:
        """``log p(class | text)``, (N, K); without ``calibrate`` as Bayes' rule has it."""
        scores = self.score(texts)[0]
        return log_softmax(self.calibrated(scores) if calibrate else scores)

    def predict_proba(self, texts: Any, *, calibrate: bool = True) -> NDArray[np.float64]:
        """``p(class | text)``, (N, K), rows summing to one; without ``calibrate`` as Bayes' rule has it."""
        return np.exp(self.predict_log_proba(texts, calibrate=calibrate))

    def leave_one_out(self, texts: Any, labels: Any = None, weights: Any = None, **reading: Any) -> LeftOut:
        """Every text under the model of all others: exactly, in one pass. Takes what `train` takes as data.

        The texts must have been learned, under these labels and weights.
        """
        from textodds.model.leave_one_out import left_out

        return left_out(self, read(texts, labels, weights, **reading))

    def log_likelihood(self, texts: Any) -> NDArray[np.float64]:
        """``log p(words | class)`` with all constants, (N, K); of words the model knows."""
        from textodds.judge.novelty import log_coefficient

        linear = self._generative()
        scores = self.score(texts)[0] - linear.log_prior
        if not self.is_drawn:
            return scores
        rows = self.rows(texts)
        if linear.presence:
            rows.data[:] = 1.0
        return np.asarray(scores + log_coefficient(rows)[:, None])

    def log_joint(self, texts: Any, labels: Sequence[str] | None = None) -> NDArray[np.float64]:
        """``log p(words, class)`` with all constants: of every class (N, K), or of each text's label (N,)."""
        joint = log_joint(self.log_likelihood(texts), self._generative().log_prior)
        return joint if labels is None else of_labels(joint, labels, self.classes_)

    def log_density(self, texts: Any) -> NDArray[np.float64]:
        """``log p(words)`` with all constants, whatever the class: (N,)."""
        return np.asarray(np.logaddexp.reduce(self.log_joint(texts), axis=1))

    def perplexity(self, texts: Any) -> NDArray[np.float64]:
        """``p(words)^(-1/n)``, the n known words being in their order: (N,).

        So many equally likely words would surprise the model as much; 1 for a text without a known word.
        """
        if self._generative().presence or not self.is_drawn:
            raise Unsupported(
                "only a model that draws words one by one has a perplexity",
                hint="train with the learner multinomial, without binary",
            )
        scores, evidence = self.score(texts)
        n = evidence[:, 0].astype(np.float64)
        mean = np.logaddexp.reduce(scores, axis=1) / np.maximum(n, 1.0)
        return np.where(n > 0, np.exp(-mean), 1.0)

    def familiarity(self, texts: Any) -> list[Familiarity]:
        """How like the texts of training each text is; needs ``typical`` ones to compare with."""
        from textodds.judge.novelty import Familiarity
        from textodds.model.novelty import surprises

        self._generative()
        if self.typical is None:
            raise Unsupported(
                "the model has no typical texts to compare with",
                hint="train with `--typical` (typical=True), or call learn_typical on texts of the kind",
            )
        length, surprise, unknown = surprises(self, texts)
        p_values = self.typical.p_value(length, surprise)
        parts = (self.log_density(texts), surprise, p_values, unknown)
        return [Familiarity(*row) for row in zip(*(part.tolist() for part in parts), strict=True)]

    def familiarity_of(self, batch: Batch) -> list[Familiarity]:
        """How like the texts of training those of a batch are."""
        return self.familiarity(batch.texts)

    def learn_typical(self, source: Any, labels: Any = None, *, seen: bool = True, **reading: Any) -> None:
        """Keep how surprising typical texts are, for `familiarity`.

        Up to 2,000 texts are drawn from ``source``. If the model has ``seen`` them in training, they are
        forgotten while it is asked about them, so that they are to it as new as those to come.
        """
        from textodds.model.novelty import typical_texts
        from textodds.stats.sample import TYPICAL, HashSample

        sample = HashSample(TYPICAL)
        for batch in read(source, labels, labelled=seen, **reading):
            sample.offer(batch)
        self.typical = typical_texts(self, sample.examples()[:TYPICAL], seen=seen)

    def without(self, tally: Tally) -> TextModel | None:
        """The model without some documents; None if it had no others."""
        rest = self.tally - tally
        if not rest.classes or not len(rest.vocabulary):
            return None
        return TextModel.of_tally(rest, self.recipe, threads=self.threads)

    @property
    def is_drawn(self) -> bool:
        """Whether words are drawn one by one, rather than each there or not."""
        return isinstance(self.recipe.learner.conditional, Multinomial)

    def _generative(self) -> LinearModel:
        """The form of a model that is a distribution of texts."""
        if self.recipe.learner.entry.needs_documents or not self.form.is_posterior:
            raise Unsupported(
                "this model tells classes apart, and has no probability of a text",
                hint="train with the learner multinomial or bernoulli",
            )
        return self.linear

    def evaluate(self, source: Any, labels: Any = None, **reading: Any) -> Evaluation:
        """Measured quality on labelled data; takes what `train` takes as data."""
        return self.evaluate_batches(read(source, labels, **reading))

    def evaluate_batches(self, batches: Iterable[Batch]) -> Evaluation:
        """Measured quality on a stream of batches."""
        return evaluate(scored_batches(self, batches), self.classes_)

    def explain(
        self, text: str, label: str | None = None, rival: str | None = None, *, calibrate: bool = True
    ) -> Explanation:
        """What each word of a text adds to the log-odds of ``label`` against ``rival``.

        By default the predicted label against the runner-up. ``rival="others"`` stands for all other
        classes together, unless a class has that name. Without ``calibrate`` log-odds are as Bayes' rule
        has them, rather than those of the model's answer.
        """
        if len(self.classes_) < 2:
            raise Unsupported("a model with one class has no odds to explain")
        model = copy.copy(self)  # its parts are replaced by learning, never changed
        model.calibration = self.calibration if calibrate else None
        scores = model.calibrated(self._scored([text], 1)[0])[0]
        best = int(scores.argmax())
        chosen = best if label is None else self._class(label)
        other: int | None
        if rival is None:
            order = np.argsort(-scores, kind="stable").tolist()
            other = best if chosen != best else next(k for k in order if k != best)
        else:
            other = None if rival == OTHERS and OTHERS not in self.classes_ else self._class(rival)
        if chosen == other:
            asked = f"`{rival}` is the answer" if label is None else f"`{label}` cannot be its own rival"
            raise InputError(asked, hint="name another class, or none")
        reading = ReadText(text, model, chosen, None if rival is None else other)
        return explain(reading, other, scores)

    def _class(self, label: str) -> int:
        return class_number(label, self.classes_)

    def _pair(self, label: str, rival: str) -> tuple[int, int]:
        a, b = self._class(label), self._class(rival)
        if a == b:
            raise InputError(f"`{label}` cannot be its own rival", hint="name another class")
        return a, b

    def top_words(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """The words that speak most for a class: log-odds against the mean of the other classes."""
        k, K = self._class(label), len(self.classes_)
        if K < 2 or not len(self.vocabulary) or not isinstance(self.form, LinearModel):
            return []

        def odds(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
            rows = self.linear.weights.rows(numbers)
            return np.asarray(rows[:, k] - (rows.sum(axis=1) - rows[:, k]) / (K - 1))

        best = largest(odds, len(self.vocabulary), n)
        return list(zip(self.vocabulary.words(best), odds(best).tolist(), strict=True))

    def hyperplane(self, label: str, rival: str, n: int | None = 20) -> Hyperplane:
        """Where the model is undecided between two classes: the words that decide, strongest first.

        ``n`` words at most; None for all. A word's weight is what one unit of it adds to the log-odds,
        a unit being one occurrence, or what the recipe's weighting makes of it.
        """
        a, b = self._pair(label, rival)
        start, V = self.linear.log_prior + self.linear.intercept, len(self.vocabulary)

        def odds(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
            rows = self.linear.weights.rows(numbers)
            return np.asarray(rows[:, a] - rows[:, b])

        best = largest(lambda numbers: np.abs(odds(numbers)), V, V if n is None else n)
        pairs = zip(self.vocabulary.words(best), odds(best).tolist(), strict=True)
        return Hyperplane(label, rival, float(start[a] - start[b]), tuple(pairs))

    def separating_words(
        self, label: str, rival: str, n: int | None = 20, *, prior: float | None = None
    ) -> list[SeparatingWord]:
        """The words that most separate two classes by their counts, with z-scores and 95 % intervals.

        ``n`` words at most; None for all. Log-odds above 0 speak for ``label``. Documents are counted
        where only a word's presence counts, else occurrences; ``prior`` is as in
        `textodds.judge.word_odds.separation`.
        """
        from textodds.judge.word_odds import separating_words, separation, strongest

        a, b = self._pair(label, rival)
        counts, vocabulary = selected(self.tally, self.recipe.selection)
        ratios = separation(counts, a, b, prior=prior, documents=self.linear.presence)
        numbers = strongest(ratios, n)
        return separating_words(ratios, numbers, vocabulary.words(numbers))

    def odds_ratios(
        self, label: str, rival: str, words: Sequence[str], source: Any, labels: Any = None, **reading: Any
    ) -> tuple[OddsRatio, ...]:
        """By what factor words multiply the odds of a label against its rival, with standard errors.

        ``source`` is the data the model was trained on, which a softmax model does not keep.
        """
        from textodds.learn.softmax.odds_ratios import odds_ratios
        from textodds.learn.softmax.regression import parameters_of
        from textodds.learn.solvers.objective import Objective

        if not self.recipe.learner.entry.is_penalised or "C" not in self.info.get("fit", {}):
            raise Unsupported(
                "standard errors are known of softmax regression at its optimum",
                hint="train with the learner `softmax`; `hyperplane` has the odds ratios of any model",
            )
        a, b = self._class(label), self._class(rival)
        numbers = self.vocabulary.find(list(words))
        if (numbers < 0).any():
            missing = words[int(np.flatnonzero(numbers < 0)[0])]
            raise InputError(f"`{missing}` is not among the words of the model")
        codes, weights, rows = self._design(read(source, labels, **reading))
        C = float(self.info["fit"]["C"])
        objective = Objective(rows, codes, weights, len(self.classes_), 1.0 / C)
        return odds_ratios(objective, parameters_of(self.linear), numbers, list(words), a, b)

    def _design(self, batches: Iterable[Batch]) -> tuple[NDArray[np.int64], NDArray[np.float64], Any]:
        """Class numbers, weights and rows of labelled data."""
        from scipy import sparse

        codes: list[int] = []
        weights, rows = [], []
        for batch in batches:
            codes += [self._class(label) for label in batch.label_list()]
            weights.append(np.ones(len(batch)) if batch.weights is None else batch.weights)
            rows.append(self.rows_of(batch))
        if not rows:
            raise NoData("there are no rows to look at")
        return np.array(codes, dtype=np.int64), np.concatenate(weights), sparse.vstack(rows, format="csr")

    def learn(
        self, texts: Strings, labels: Strings, weights: ArrayLike | None = None, *, ids: Strings | None = None
    ) -> int:
        """Learn more documents: afterwards the model is as if trained on them too. How many were new.

        With ``ids``, documents whose id was learned before are left out; `InputError`, and nothing is
        changed, if one was learned under another label.
        """
        return self._change(texts, labels, weights, ids, 1)

    def forget(
        self, texts: Strings, labels: Strings, weights: ArrayLike | None = None, *, ids: Strings | None = None
    ) -> int:
        """Forget documents: afterwards the model is as if it had never seen them. How many it had.

        Raises `NegativeCount`, and changes nothing, if they were not learned before; with ``ids``,
        documents whose id is not there are left out.
        """
        return self._change(texts, labels, weights, ids, -1)

    def _change(self, texts: Any, labels: Any, weights: Any, ids: Any, sign: int) -> int:
        if isinstance(texts, str):
            texts, labels, ids = [texts], [labels], None if ids is None else [ids]
        if isinstance(labels, str):
            labels = [labels] * len(texts)
        batches = list(read(list(texts), list(labels), weights))  # labels of any type become text there
        if ids is None:
            self.change(self.count(batches), sign)
            return sum(map(len, batches))
        names = [label for batch in batches for label in batch.label_list()]
        document_ids, taken = self.ledger_for(sign).changed(list(ids), names, sign)
        if taken.any():
            rows = np.flatnonzero(taken).tolist()
            mass = None if weights is None else np.asarray(weights, dtype=np.float64)[rows]
            chosen = Batch([texts[i] for i in rows], [names[i] for i in rows], mass)
            self.change(self.count([chosen]), sign)
            self.document_ids = document_ids
        return int(taken.sum())

    def ledger_for(self, sign: int) -> DocumentIds:
        """The ledger to learn (``sign`` 1) or to forget (-1) by."""
        from textodds.stats.document_ids import DocumentIds

        if self.document_ids is None and sign < 0:
            raise Unsupported(
                "the model has learned no text by an id, and cannot forget by one",
                hint="forget the texts without ids; or learn with ids from the start",
            )
        return self.document_ids or DocumentIds.none()

    def change(self, tally: Tally, sign: int) -> None:
        """Add counts (``sign`` 1) or take them away (-1); on an error nothing is changed."""
        self.must_be_counts()
        changed = self.tally + tally if sign > 0 else self.tally - tally
        if not changed.classes:
            raise InputError("that would forget every document", hint="delete the model instead")
        vocabulary, linear = fitted(changed, self.recipe)
        info = {**self.info, "documents": changed.n_documents}
        for part in ("quality", "fingerprint", "left_out"):
            info.pop(part, None)  # it was that of another model
        if linear.classes != self.classes_:
            if self.calibration is not None:
                self.calibration = self.calibration.of_classes(self.classes_, linear.classes)
            self.held_out = None
        self._install(self.recipe, vocabulary, linear, changed, info)

    def must_be_counts(self) -> None:
        """Refuse a model that does not rest on counts alone."""
        if self.recipe.learner.entry.needs_documents:
            raise Unsupported(
                "this model rests on all of its documents at once, not on counts",
                hint="train it again on the data wanted; or train multinomial, which learns and forgets",
            )
        if self._tally is None and not self.recipe.learner.entry.is_merged:
            raise Unsupported(
                "this model was learned from unlabelled texts too, whose classes it has guessed",
                hint="train it again on the data wanted; or train multinomial, which learns and forgets",
            )
        if self.recipe.learner.rereads:
            raise Unsupported(
                "a complement model of transformed documents depends on all of them at once",
                hint="train it again on the data wanted, or train with transform=False",
            )

    def _combine(self, other: TextModel, sign: int) -> TextModel:
        self.must_be_counts()
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        differing = [part for part in mine if mine[part] != theirs[part]]
        if differing:
            raise InputError(
                f"the models were made differently: {', '.join(differing)}",
                hint="train both with the same options",
            )
        tally = self.tally + other.tally if sign > 0 else self.tally - other.tally
        if not tally.classes:
            raise InputError("nothing would be left of the model")
        model = TextModel.of_tally(tally, self.recipe, {"documents": tally.n_documents}, threads=self.threads)
        if self.calibration is not None and other.calibration is not None:
            shares = (self.tally.n_documents, other.tally.n_documents if sign > 0 else 0.0)
            parts = [self.calibration, other.calibration]
            classes = (self.classes_, other.classes_)
            parts = [part.of_classes(own, model.classes_) for part, own in zip(parts, classes, strict=True)]
            model.calibration = type(self.calibration).between(parts, shares)
        if self.document_ids is not None or other.document_ids is not None:
            first, second = self.ledger_for(1), other.ledger_for(1)
            model.document_ids = first + second if sign > 0 else first - second
        return model

    def with_prior(self, prior: Prior) -> TextModel:
        """The same model under another prior: ``uniform``, ``data``, or by class."""
        if not self.form.is_posterior:
            raise Unsupported("a complement model has no prior to change")
        documents = np.ones(len(self.classes_))
        if prior == "data":
            documents = np.array([self.class_documents[label] for label in self.classes_])
        form = self.form.with_prior(log_prior(prior, self.classes_, documents))
        recipe = self.recipe
        if not recipe.learner.entry.is_penalised:
            recipe = replace(recipe, learner=replace(recipe.learner, prior=prior))  # type: ignore[type-var]
        model = copy.copy(self)
        model.held_out = None  # of other answers
        model._install(recipe, self.vocabulary, form, self._tally, self.info, self.scale)
        return model

    @property
    def class_documents(self) -> dict[str, float]:
        """Documents, or their total weight, of each class in training."""
        if self._tally is None and isinstance(known := self.info.get("class_documents"), dict):
            return {label: float(known.get(label, 0.0)) for label in self.classes_}
        return dict(zip(self.classes_, self.tally.counts().class_documents.tolist(), strict=True))

    def save(self, path: str | os.PathLike[str], *, counts: bool = True) -> None:
        """Write the model to a file.

        Without ``counts`` the file is smaller and holds no word that the model does not use, but
        cannot learn, forget or be merged.
        """
        from textodds.model.text_file import save

        save(path, self, self.tally if counts and self._tally is not None else None)

    def rows(self, texts: Any) -> Any:
        """The texts as SciPy sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        from scipy import sparse

        nothing = sparse.csr_array((0, len(self.vocabulary)))
        return sparse.vstack([self.rows_of(batch) for batch in _texts(texts)] or [nothing], format="csr")

    def rows_of(self, batch: Batch) -> Any:
        """A batch as SciPy sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        return self._rows(batch.texts)

    def counts_of(self, batch: Batch) -> _kernels.RawRows:
        """How often each word of the vocabulary is in each text of a batch, as the kernels take it."""
        return self._kernel.rows(batch.texts, False)[:3]

    def _rows(self, texts: Texts) -> Any:
        from scipy import sparse

        starts, words, values, _ = self._kernel.rows(texts)
        return sparse.csr_array((values, words, starts), shape=(len(texts), len(self.vocabulary)))


def _no_weights(V: int) -> LinearModel:
    """Stands in the kernel for a form that is not linear: only rows are asked of it."""
    return LinearModel(("",), np.zeros(1), np.zeros(1), Weights.of_matrix(np.zeros((V, 1))))


def _weighting(recipe: Recipe, scale: NDArray[np.float64]) -> tuple[str, NDArray[np.float64], bool, int]:
    """What the kernel must know to weigh words."""
    weighting = recipe.weighting
    if weighting is None:
        raise InputError("there are scales of words, but no weighting that they belong to")
    return weighting.frequency, scale, weighting.unit, recipe.settings.blocks


def _texts(texts: Any) -> Iterable[Batch]:
    if isinstance(texts, str):
        raise InputError("one text came where several are wanted", hint="write [text], or call model(text)")
    if isinstance(texts, list):  # the usual case, without a detour
        return [Batch(texts, None, None)] if texts else []
    return read(texts, labelled=False)
