"""Softmax regression that learns as texts pass: one pass, bounded memory, new words and classes."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds import _kernels
from textodds.data import Batch, Observer, Source, read
from textodds.data.batch import joined_rows
from textodds.errors import InOrder, InputError, NoData
from textodds.learn.forms.linear import LinearModel, Weights, log
from textodds.learn.recipe import Recipe, must_be_trainable
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.model.text_model import TextModel
from textodds.stats.tally import checked_threads
from textodds.text import Selection, TextSettings, Vocabulary, Weighting

HASH_BITS = 22
RATE = 0.5
BUFFER = 20_000  # texts among which `train_stream` shuffles
IN_ORDER = 0.1  # texts come class by class if labels change so much less often than in a random order


class SoftmaxStream:
    r"""Softmax regression by stochastic gradient descent over a stream.

    Model
    -----
    `SoftmaxLearner` without a penalty, fitted by one step for each text in the order in which they
    come. Feature v moves by

    .. math::
        w_v \leftarrow w_v - \frac{\eta}{\sqrt{G_v}}\, x_v (p - y), \qquad
        G_v = \sum x_v^2 \lVert p - y \rVert^2                                       \tag{1}

    where the sum goes over the texts so far: AdaGrad. Passing over the data but once is what keeps it
    from overfitting. The result depends on the order of the texts, and not on how they are cut into
    batches.

    Parameters
    ----------
    settings : TextSettings, optional
        Default: words and pairs of words, hashed into 2^22 buckets, which bounds memory whatever
        comes. Without ``hash_bits`` words keep their names, and memory grows with them.
    frequency : str, default "log"
        See `Weighting`. Rows have length 1; there is no idf, which would need a pass of its own.
    rate : float, default 0.5
        :math:`\eta` in (1).

    Attributes
    ----------
    classes_ : tuple of str
        The labels so far, sorted.
    n_texts : float
        The weight of the texts so far.
    curve : list of (float, float)
        After each batch: the texts so far, and the mean log-loss of the batch *before* it was learned,
        which is an honest estimate.

    References
    ----------
    Lecture 03, Remark 3.3 (stochastic gradient descent); Duchi, Hazan, Singer (2011), *Adaptive
    subgradient methods*, JMLR 12, is (1) with one sum for all classes of a feature.

    Examples
    --------
    >>> stream = SoftmaxStream()
    >>> stream = stream.partial_fit(["free phone", "see you at six"] * 9, ["spam", "ham"] * 9)
    >>> stream = stream.partial_fit(["train at platform nine"] * 9, ["travel"] * 9)  # a class nobody has seen
    >>> stream.model()("a free phone").label
    'spam'
    """

    def __init__(
        self,
        settings: TextSettings | None = None,
        *,
        frequency: str = "log",
        rate: float = RATE,
    ) -> None:
        self.settings = settings or TextSettings(ngrams=(1, 2), hash_bits=HASH_BITS)
        must_be_trainable(self.settings)
        self.weighting = Weighting(frequency, idf=False)
        if not rate > 0:
            raise InputError(f"rate must be above 0, got {rate!r}", hint="0.5 serves well")
        if self.settings.count_unknown:
            raise InputError("a stream cannot count unknown words", hint="use unknown='ignore'")
        self.rate = rate
        self.n_texts = 0.0
        self.curve: list[tuple[float, float]] = []
        self._names: list[str] = []  # in order of arrival
        self._mass = np.zeros(0)  # (K,)
        bits = self.settings.hash_bits
        self._gatherer = _kernels.Gatherer(self.settings.analyser, 1) if bits is None else None
        features = 0 if bits is None else 1 << bits
        self._weights = np.zeros((features, 0), np.float32)  # (V, K)
        self._history = np.zeros(features, np.float32)  # (V,)
        self._bias, self._bias_history = np.zeros(0), np.zeros(1)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels so far, sorted."""
        return tuple(sorted(self._names))

    def partial_fit(
        self, texts: object, labels: Sequence[object], weights: ArrayLike | None = None
    ) -> SoftmaxStream:
        """Learn some texts; takes what `train` takes as data in memory."""
        return self.learn(read(texts, labels, weights))

    def learn(self, batches: Iterable[Batch]) -> SoftmaxStream:
        """Learn a stream of batches."""
        for batch in batches:
            self._learn(batch)
        return self

    def _learn(self, batch: Batch) -> None:
        labels = batch.label_list()
        if not labels:
            return
        costs = np.ones(len(labels)) if batch.weights is None else np.ascontiguousarray(batch.weights)
        rows = self._rows(batch)
        self._grow(int(rows[1].max()) + 1 if len(rows[1]) else 0)
        total = 0.0
        # A class that is new begins with its first text: nobody could have believed in it before.
        for first, last in itertools.pairwise(self._cuts(labels, costs)):
            codes = self._coded(labels[first:last], costs[first:last])
            total += _kernels.descend_pass(
                _part(rows, first, last),
                codes,
                costs[first:last],
                self._weights,
                self._history,
                self._bias,
                self._bias_history,
                self.rate,
            )
            self._mass += np.bincount(codes, costs[first:last], len(self._names))
        self.n_texts += float(costs.sum())
        if costs.any():
            self.curve.append((self.n_texts, total / float(costs.sum())))

    def _cuts(self, labels: list[str], costs: NDArray[np.float64]) -> list[int]:
        """Where a batch is cut: before each text that brings a new class, after the first."""
        known = set(self._names)
        cuts = [0]
        for row, label in enumerate(labels):
            if label not in known and costs[row] > 0:
                if known and row:
                    cuts.append(row)
                known.add(label)
        return [*dict.fromkeys(cuts), len(labels)] if known else [0]

    def _rows(self, batch: Batch) -> _kernels.RawRows:
        frequency, unit = self.weighting.frequency, self.weighting.unit
        if self._gatherer is None:
            return _kernels.bucket_rows(self.settings.analyser, batch.texts, frequency, unit)
        self._gatherer.add(batch.texts)
        return self._gatherer.take_rows(frequency, unit, self.settings.blocks)

    def _coded(self, labels: list[str], costs: NDArray[np.float64]) -> NDArray[np.int64]:
        """Class numbers in order of arrival; a new class gets a new column."""
        index = {name: k for k, name in enumerate(self._names)}
        for label, cost in zip(labels, costs.tolist(), strict=True):
            if cost > 0:
                index.setdefault(label, len(index))
        new = len(index) - len(self._names)
        if new:
            self._names = list(index)
            self._weights = np.hstack([self._weights, np.zeros((len(self._weights), new), np.float32)])
            self._bias = np.append(self._bias, np.zeros(new))
            self._mass = np.append(self._mass, np.zeros(new))
        # A text that weighs nothing teaches nothing, whatever its class.
        return np.fromiter((index.get(label, 0) for label in labels), np.int64, count=len(labels))

    def _grow(self, features: int) -> None:
        """Make room for so many features, and for half as many more, so that growing stays cheap."""
        if features > len(self._history):
            more = max(features, len(self._history) * 3 // 2) - len(self._history)
            self._weights = np.vstack([self._weights, np.zeros((more, self._weights.shape[1]), np.float32)])
            self._history = np.append(self._history, np.zeros(more, np.float32))

    def model(self) -> TextModel:
        """The model of what has passed so far; the stream can go on."""
        if np.count_nonzero(self._mass) < 2:
            raise NoData("texts of two classes or more must have passed", hint="a model tells classes apart")
        vocabulary, numbers = self._vocabulary()
        order = np.argsort(np.array(self._names, dtype=object), kind="stable")
        names = tuple(self._names[k] for k in order)
        weights = self._weights[numbers][:, order].astype(np.float64)
        bias = self._bias[order] - self._bias.mean()
        weights -= weights.mean(axis=1, keepdims=True)
        prior = log(self._mass[order] / self._mass.sum())
        linear = LinearModel(names, prior, bias - prior, Weights.of_matrix(weights))
        recipe = Recipe(self.settings, Selection(), "ignore", SoftmaxLearner(C=float("inf")), self.weighting)
        info: dict[str, Any] = {
            "documents": self.n_texts,
            "class_documents": dict(zip(names, self._mass[order].tolist(), strict=True)),
            "fit": {"method": "stream", "rate": self.rate, "batches": len(self.curve)},
        }
        if self.curve:
            info["fit"]["log_loss_before_learning"] = float(
                np.average(
                    [loss for _, loss in self.curve], weights=np.diff([0.0, *(n for n, _ in self.curve)])
                )
            )
        return TextModel(recipe, vocabulary, linear, None, info, scale=np.ones(len(vocabulary)))

    def _vocabulary(self) -> tuple[Vocabulary, NDArray[np.int64]]:
        """The words that have been seen, and their rows of the weights."""
        if self._gatherer is not None:
            keys, arena, numbers = self._gatherer.vocabulary()
            history = np.append(self._history, np.zeros(1, np.float32))
            kept = history[np.minimum(numbers, len(self._history))] > 0  # words that occur in n-grams only
            return Vocabulary(keys, arena).select(np.flatnonzero(kept)), numbers[kept].astype(np.int64)
        bits = self.settings.hash_bits
        assert bits is not None
        numbers = np.flatnonzero(self._history).astype(np.uint32)
        empty = np.zeros(0, np.uint8)
        return Vocabulary(_kernels.bucket_keys(numbers, bits), empty), numbers.astype(np.int64)


def _part(rows: _kernels.RawRows, first: int, last: int) -> _kernels.RawRows:
    """Some rows, one after the other."""
    starts, features, values = rows
    cells = slice(int(starts[first]), int(starts[last]))
    return starts[first : last + 1] - starts[first], features[cells], values[cells]


def shuffled(batches: Iterable[Batch], size: int = BUFFER, seed: int = 0) -> Iterator[Batch]:
    """The rows of batches in an order that is random among ``size`` of them, however they are cut.

    Whenever so many are held a random half of them goes on, so that a row may go far beyond its own block.
    """
    random, held, n = np.random.default_rng(seed), [], 0
    for batch in batches:
        start = 0
        while start < len(batch):
            part = batch.take(range(start, min(start + size - n, len(batch))))
            held.append(part)
            start, n = start + len(part), n + len(part)
            if n == size:
                order, whole = random.permutation(n), joined_rows(held)
                yield whole.take(order[: n // 2])
                held, n = [whole.take(order[n // 2 :])], n - n // 2
    if n:
        yield joined_rows(held).take(random.permutation(n))


class _Order:
    """How often the label changes from one text to the next."""

    def __init__(self) -> None:
        self.rows, self.changes = 0, 0
        self._last: str | None = None
        self._seen: Counter[str] = Counter()

    def noted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, looked at as they pass."""
        for batch in batches:
            labels = batch.label_list()
            before = labels[:1] if self._last is None else [self._last]
            self.changes += sum(a != b for a, b in itertools.pairwise([*before, *labels]))
            self._last = labels[-1] if labels else self._last
            self._seen.update(labels)
            self.rows += len(labels)
            yield batch

    @property
    def is_by_class(self) -> bool:
        """Whether the label changes far less often than it would in a random order."""
        usual = self.rows - sum(count**2 for count in self._seen.values()) / max(self.rows, 1)
        return self.changes < IN_ORDER * usual

    def warning(self) -> str:
        """What to say of it."""
        return (
            f"the texts come class by class: the label changes {self.changes:,} times in {self.rows:,} texts"
            f", and {BUFFER:,} are shuffled at a time; the model favours what came last, and how good it is "
            "cannot be said; shuffle the data"
        )


def train_stream(
    data: Source, recipe: Recipe, threads: int | None = None, observer: Observer | None = None
) -> TextModel:
    """A softmax model learned in one pass, in memory that does not grow with the data.

    Texts are shuffled among `BUFFER`, since one step a text learns what came last best.
    """
    if recipe.learner != SoftmaxLearner():
        raise InputError(
            "a stream is learned by softmax regression, one step a text",
            hint="use `--learner softmax`, without a penalty or class weights",
        )
    if recipe.selection.max_features is not None or recipe.selection.max_df != 1.0:
        raise InputError("a stream cannot select words by frequency", hint="leave them all in")
    assert recipe.weighting is not None
    if not recipe.weighting.unit:
        raise InputError("a stream has rows of length 1", hint="leave `unit_length=no` out")
    settings = recipe.settings
    if settings.hash_bits is None and settings.vocabulary is None:
        settings = replace(settings, hash_bits=HASH_BITS)
    stream, order = SoftmaxStream(settings, frequency=recipe.weighting.frequency), _Order()
    batches = (observer or Observer()).watched(data, data.ahead(), "learning")
    model = stream.learn(shuffled(order.noted(batches))).model()
    if order.is_by_class and order.rows > BUFFER:
        # What was said of each text before it was learned had only to be the class of the one before it.
        del model.info["fit"]["log_loss_before_learning"]
        warnings.warn(order.warning(), InOrder, stacklevel=6)  # where `train` is called
    model.threads = checked_threads(threads)
    model.info |= {"source": data.description, "rejected": data.rejects.count}
    return model
