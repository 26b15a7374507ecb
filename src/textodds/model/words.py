"""The words of the classes: which speak for one, which decide between two, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError, NoData, Unsupported
from textodds.learn.calibration import Calibration
from textodds.learn.forms.equivalence import Hyperplane, Start
from textodds.learn.forms.linear import LinearModel
from textodds.learn.recipe import selected
from textodds.stats.compressed_rows import CompressedRows, stacked

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.judge.word_odds import SeparatingWord
    from textodds.learn.softmax.odds_ratios import OddsRatio
    from textodds.model.text_model import TextModel
    from textodds.text import Vocabulary

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

CELLS = 1 << 22  # weights that are looked at together: never a full matrix of a large model


def largest(sizes: Callable[[Numbers], Floats], V: int, n: int, block: int) -> list[Numbers]:
    """The numbers of the n of V words that are largest by each column of ``sizes``, of equals the first.

    ``sizes`` takes the numbers of a block of words and gives (block, R).

    >>> largest(lambda numbers: (numbers % 3).astype(float)[:, None], 7, 3, block=2)
    [array([2, 5, 1])]
    """
    best: list[tuple[Numbers, Floats]] = []
    for start in range(0, max(V, 1), block):
        numbers = np.arange(start, min(start + block, V))
        columns = sizes(numbers).T
        best = best or [(numbers[:0], np.zeros(0))] * len(columns)
        best = [_first(n, numbers, column, *own) for column, own in zip(columns, best, strict=True)]
    return [numbers for numbers, _ in best]


def _first(
    n: int, numbers: Numbers, sizes: Floats, before: Numbers, sizes_before: Floats
) -> tuple[Numbers, Floats]:
    """The n largest of those before and the new ones, the largest first."""
    numbers, sizes = np.concatenate([before, numbers]), np.concatenate([sizes_before, sizes])
    descending = -sizes
    if 0 < n < len(sizes):
        some = np.flatnonzero(~(descending > np.partition(descending, n - 1)[n - 1]))  # as large as the n-th
        numbers, sizes, descending = numbers[some], sizes[some], descending[some]
    order = np.argsort(descending, kind="stable")[:n]
    return numbers[order], sizes[order]


class WordInClass(TypedDict):
    """A word in a class: how often it is there, its weight, and its log-odds against the other classes."""

    count: float | None  # None where the model was saved without counts
    weight: float  # before calibration: of naive Bayes, the log-probability of the word
    log_odds: float  # after calibration, as in explanations


class WordWeights(TypedDict):
    """A word as the model spells it, whether it knows it, and what it is in each class."""

    word: str
    known: bool
    by_class: dict[str, WordInClass]


class ClassWords:
    """The words of a model of texts, class by class: its features, where those are not words.

    Log-odds are those of the model's answers, calibration included: what one use of a word adds, as in an
    explanation; of a model that weighs words, what one unit of weight adds (`per`), of which a text has some
    part.
    """

    def __init__(self, model: TextModel) -> None:
        self._model = model

    @property
    def per(self) -> str:
        """What log-odds are of: one ``use`` of a word, or one ``unit`` of what the weighting makes of it."""
        return "use" if self._model.scale is None else "unit"

    @property
    def _calibration(self) -> Calibration:
        return self._model.calibration or Calibration.none()

    def top(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """The words with the most evidence for a class: log-odds against the mean of the other classes."""
        return self.top_of([label], n)[label]

    def top_of(self, labels: Sequence[str], n: int = 10) -> dict[str, list[tuple[str, float]]]:
        """What `top` says of each label, with the weights read once for all of them."""
        model = self._model
        wanted, K = [model.class_number(label) for label in labels], len(model.classes_)
        if K < 2 or not len(model.vocabulary) or not isinstance(model.form, LinearModel):
            return {label: [] for label in labels}
        weights = model.form.weights
        slope, rate = self._calibration.slopes.item(0), np.broadcast_to(self._calibration.rate, K)
        shift = rate[wanted] - (rate.sum() - rate[wanted]) / (K - 1)  # of every word alike, (labels,)

        def odds(numbers: Numbers) -> Floats:  # (B, labels)
            own, sums = weights.columns(numbers, wanted)
            return np.asarray(slope * (own - (sums[:, None] - own) / (K - 1)) + shift)

        columns = K if weights.dense is not None else len(wanted)
        best = largest(odds, len(model.vocabulary), n, max(1, CELLS // (4 * max(columns, 1))))
        return {
            label: self._named(numbers, odds(numbers)[:, at])
            for at, (label, numbers) in enumerate(zip(labels, best, strict=True))
        }

    def hyperplane(self, label: str, rival: str, n: int | None = 20) -> Hyperplane:
        """The decision boundary between two classes: its words, strongest first."""
        a, b = self._pair(label, rival)
        linear, V = self._model.linear, len(self._model.vocabulary)
        calibration = self._calibration
        slope = float(calibration.slopes[0])
        absent = slope * linear.intercept if linear.presence and linear.intercept.any() else None
        intercept = linear.intercept if absent is None else np.zeros(len(linear.classes))
        added = np.asarray(calibration.bias + (slope - 1.0) * intercept)

        def against(by_class: Floats) -> float:
            return float(by_class[a] - by_class[b])

        def odds(numbers: Numbers) -> Floats:  # (B, 1)
            rows = calibration.of_weights(linear.weights.rows(numbers))
            return np.asarray(rows[:, [a]] - rows[:, [b]])

        block = max(1, CELLS // len(linear.classes))
        (best,) = largest(lambda numbers: np.abs(odds(numbers)), V, V if n is None else n, block)
        words = tuple(self._named(best, odds(best)[:, 0]))
        start = Start(
            against(linear.log_prior),
            against(intercept),
            against(added) if added.any() else None,
            None if absent is None else against(absent),
        )
        bias = against(linear.log_prior + calibration.applied(linear.intercept))
        return Hyperplane(label, rival, bias, words, start)

    def separating(
        self, label: str, rival: str, n: int | None = 20, *, prior: float | None = None
    ) -> list[SeparatingWord]:
        """The words that most separate two classes by their counts, with z-scores and 95 % intervals."""
        from textodds.judge.word_odds import separating_words, separation

        a, b = self._pair(label, rival)
        counts, vocabulary = selected(self._model.tally, self._model.recipe.selection)
        ratios = separation(counts, a, b, prior=prior, documents=self._model.linear.presence)
        return separating_words(ratios, vocabulary, n)

    def odds_ratios(
        self, label: str, rival: str, words: Sequence[str], batches: Iterable[Batch]
    ) -> tuple[OddsRatio, ...]:
        """By what factor words multiply the odds of a label against its rival, by the data of training."""
        from textodds.learn.softmax.class_weights import class_factors
        from textodds.learn.softmax.odds_ratios import odds_ratios
        from textodds.learn.softmax.regression import PenalisedLearner, parameters_of
        from textodds.learn.solvers.objective import Objective

        model, learner = self._model, self._model.recipe.learner
        if not isinstance(learner, PenalisedLearner) or "C" not in model.info.get("fit", {}):
            raise Unsupported(
                "standard errors are known of softmax regression at its optimum",
                hint="train with the learner `softmax`; `hyperplane` has the odds ratios of any model",
            )
        if learner.naive_bayes:
            raise Unsupported(
                "standard errors are not known of weights that naive Bayes is pooled with",
                hint="name softmax: `--learner softmax` (learner=); `hyperplane` has its odds ratios",
            )
        a, b = model.class_number(label), model.class_number(rival)
        numbers = model.vocabulary.find(list(words))
        if (numbers < 0).any():
            missing = words[int(np.flatnonzero(numbers < 0)[0])]
            raise InputError(f"`{missing}` is not among the words of the model")
        C = float(model.info["fit"]["C"])
        rows, codes, weights = self._design(batches)
        mass = np.bincount(codes, weights, len(model.classes_)).astype(np.float64, copy=False)
        factors = class_factors(learner.class_weight, model.class_names, mass)
        objective = Objective(
            rows,
            codes,
            weights * factors[codes],
            len(mass),
            1.0 / C,
            penalise_bias=learner.penalise_bias,
        )
        return odds_ratios(objective, parameters_of(model.linear), numbers, list(words), a, b)

    def _design(self, batches: Iterable[Batch]) -> tuple[CompressedRows, NDArray[np.int64], Floats]:
        """Rows, class numbers and weights of labelled data."""
        codes: list[int] = []
        weights, rows = [], []
        for batch in batches:
            codes += [self._model.class_number(label) for label in batch.label_list()]
            weights.append(np.ones(len(batch)) if batch.weights is None else batch.weights)
            rows.append(self._model.scorer.rows(batch.texts))
        if not rows:
            raise NoData("there are no rows to look at")
        return (
            stacked(rows, len(self._model.vocabulary)),
            np.array(codes, dtype=np.int64),
            np.concatenate(weights),
        )

    def weights(self, given: str) -> WordWeights:
        """Count, weight and log-odds against the mean of the other classes of a word in each class.

        A word that the model does not have as ``given`` is looked for as the model spells it: without
        capitals, or as a hash bucket.
        """
        model, word = self._model, given
        if _number(model.vocabulary, word) < 0 and len(terms := model.recipe.settings.terms(given)) == 1:
            word = terms[0]
        number, K = _number(model.vocabulary, word), len(model.classes_)
        known = number >= 0
        weights = model.linear.weights.rows(np.array([number]))[0] if known else np.full(K, np.nan)  # (K,)
        calibrated = self._calibration.of_weights(weights)
        odds = calibrated - (calibrated.sum() - calibrated) / max(K - 1, 1)
        counts = self._occurrences(word) if model.has_counts else [None] * K
        by_class: dict[str, WordInClass] = {
            label: {"count": count, "weight": float(w), "log_odds": float(o)}
            for label, count, w, o in zip(model.class_names, counts, weights, odds, strict=True)
        }
        return {"word": word, "known": known, "by_class": by_class}

    def _occurrences(self, word: str) -> list[float]:
        tally = self._model.tally
        by_class = np.zeros(len(tally.classes))
        number = _number(tally.vocabulary, word)
        if number >= 0:
            cells = slice(int(tally.starts[number]), int(tally.starts[number + 1]))
            by_class[tally.class_of[cells]] = tally.occurrences[cells] / 2**tally.fraction
        return by_class.tolist()

    def _named(self, numbers: Numbers, odds: Floats) -> list[tuple[str, float]]:
        return list(zip(self._model.vocabulary.words(numbers), odds.tolist(), strict=True))

    def _pair(self, label: str, rival: str) -> tuple[int, int]:
        a, b = self._model.class_number(label), self._model.class_number(rival)
        if a == b:
            raise InputError(f"`{label}` cannot be its own rival", hint="name another class")
        return a, b


def _number(vocabulary: Vocabulary, word: str) -> int:
    """The number of a word, -1 if it has none."""
    number = int(vocabulary.find([word])[0])
    if number < 0 and word.startswith("#"):  # `find` does not know a hash bucket by its name
        names = vocabulary.words()
        return names.index(word) if word in names else -1
    return number
