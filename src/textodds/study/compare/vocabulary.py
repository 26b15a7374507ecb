"""Models over the size of their vocabulary: how many of the most telling words each needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textodds.data import Observer, ReadOptions
from textodds.errors import InputError
from textodds.judge.evaluation import Interval, wilson
from textodds.learn.arrays import Floats
from textodds.stats.tally import Counts, Tally
from textodds.study.compare.entry import candidates_for, must_do, rows_of_source
from textodds.study.compare.groups import grouped_rows, split_by
from textodds.study.compare.measurement import measured
from textodds.study.report.picture import DASHES, STYLES, Picture, drawing, empty_figure, head, short_name
from textodds.training.choose.candidates import Candidate
from textodds.training.choose.pool import Pool, split

MODELS = "multinomial:alpha=1, bernoulli:alpha=1"
"""What is compared unless something else is named, as McCallum and Nigam did."""


def mutual_information(counts: Counts) -> Floats:
    r"""What knowing whether a word is in a text tells of its class, in nats: (V,).

    .. math::
        I(C; W_v) = \sum_c \sum_{f \in \{0, 1\}} p(c, f) \log\frac{p(c, f)}{p(c)\, p(f)}

    over texts. References: McCallum and Nigam (1998), "A comparison of event models for naive Bayes text
    classification", section 2.3.

    >>> counts = Tally.of(["a b", "a", "b", "c"], ["x", "x", "y", "y"]).counts()
    >>> sorted(mutual_information(counts).round(4).tolist())  # of b, c and a
    [0.0, 0.2158, 0.6931]
    """
    n = counts.class_documents.sum()
    p_class = counts.class_documents / n  # (K,)
    present = np.zeros((counts.n_features, len(counts.classes)))
    present[counts.feature_of, counts.class_of] = counts.documents / n  # (V, K)
    p_word = present.sum(axis=1, keepdims=True)  # (V, 1)
    absent = np.maximum(p_class - present, 0.0)  # below zero by rounding only
    told = _relative(present, p_word * p_class) + _relative(absent, np.maximum(1 - p_word, 0.0) * p_class)
    return np.asarray(told.sum(axis=1))


def _relative(p: Floats, q: Floats) -> Floats:
    """``p log(p / q)``; zero where p is."""
    some = p > 0
    return np.where(some, p * np.log(np.where(some, p, 1.0) / np.where(some, q, 1.0)), 0.0)


@dataclass(frozen=True)
class VocabularyCurves:
    """Accuracy of models by the number of words that they know; made by `compare_vocabulary`.

    ``right`` are the held-out texts answered rightly, of ``n``, by model and by size; the last size is all
    words that there are, of the split that has the most.
    """

    source: str
    held_out: str
    n: int
    sizes: tuple[int, ...]
    right: Mapping[str, tuple[int, ...]]

    def accuracy(self, name: str) -> list[float]:
        """The accuracy of a model at each size."""
        return [right / self.n for right in self.right[name]]

    def interval(self, name: str) -> list[Interval]:
        """Their 95 % intervals."""
        return [wilson(right, self.n) for right in self.right[name]]

    def best(self, name: str) -> tuple[int, float]:
        """The size at which a model is most accurate, the smallest of equals, and the accuracy."""
        accuracy = self.accuracy(name)
        at = int(np.argmax(accuracy))
        return self.sizes[at], accuracy[at]

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data."""
        return {
            "source": self.source,
            "held_out": self.held_out,
            "n": self.n,
            "sizes": list(self.sizes),
            "models": [
                {
                    "name": name,
                    "accuracy": self.accuracy(name),
                    "accuracy_interval": self.interval(name),
                    "best_size": self.best(name)[0],
                    "best_accuracy": self.best(name)[1],
                }
                for name in self.right
            ],
        }

    def picture(self) -> Picture:
        """Accuracy over the number of words, on a logarithmic axis, with 95 % intervals."""
        with drawing():
            figure = empty_figure(8.0, 4.2)
            axes = figure.subplots()
            for look, dash, name in zip(STYLES, DASHES, self.right, strict=False):
                low, high = np.array(self.interval(name)).T
                axes.fill_between(self.sizes, low, high, color=look.colour, alpha=0.15, linewidth=0)
                line = {"color": look.line, "linestyle": dash, "marker": look.marker, "markersize": 5}
                axes.plot(self.sizes, self.accuracy(name), label=short_name(name, 40), linewidth=1.8, **line)  # type: ignore[arg-type]
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
            axes.set_xlabel("words of the vocabulary, by mutual information with the class")
            head(axes, "accuracy", f"{self.n:,} held-out texts", "bands are 95 % intervals")
            axes.legend(fontsize=9)
        return Picture(
            figure, f"Accuracy over the size of the vocabulary on {self.source}", (), self.as_dict()
        )


def compare_vocabulary(
    source: object,
    labels: object = None,
    *,
    models: object = None,
    sizes: Sequence[int] | None = None,
    group: str | Sequence[object] | None = None,
    held_out: float = 0.2,
    seed: int = 0,
    threads: int | None = None,
    observer: Observer | None = None,
    **options: object,
) -> VocabularyCurves:
    """Models of texts over the number of words that they know: the experiment of McCallum and Nigam (1998).

    Words are chosen by their mutual information with the class, in the texts that are learned from.

    Parameters
    ----------
    source, labels, held_out, seed, threads, observer, **options
        As in `textodds.compare`.
    models : str or list, optional
        As in `textodds.compare`; by default `MODELS`, the two event models.
        All of them take single words.
    sizes : sequence of int, optional
        Numbers of words; by default 10, 20, 50, … and all.
    group : str or sequence, optional
        Hold out each group once, as in `compare_groups`, rather than a share of every class.

    Examples
    --------
    >>> texts = ["free phone", "win a prize", "see you at six", "lunch at noon"] * 20
    >>> found = compare_vocabulary(texts, ["spam", "spam", "ham", "ham"] * 20, sizes=[1, 5])
    >>> found.sizes, found.accuracy("multinomial:alpha=1"), found.accuracy("bernoulli:alpha=1")
    ((1, 5, 11), [0.5, 1.0, 1.0], [1.0, 1.0, 1.0])

    Of one word a multinomial has nothing to say: all words that it knows are that one, in every class.
    """
    reading, observer = ReadOptions.of(options), observer or Observer()
    wanted, textbook = (MODELS, True) if models is None else (models, False)
    if group is None:
        pool, about = rows_of_source(source, labels, reading, wanted, {}, observer)
        candidates = candidates_for(pool, wanted, reading, textbook=textbook)
        if not 0 < held_out < 1:
            raise InputError(
                f"the share to hold out cannot be {held_out:g}", hint="give one between 0 and 1, such as 0.2"
            )
        splits = [split(pool.codes, held_out, seed)]
        told = f"{100 * held_out:g} % of every class, drawn with seed {seed}"
    else:
        pool, candidates, about, groups = grouped_rows(
            source, labels, group, wanted, reading, observer, textbook=textbook
        )
        splits = [split_by(groups, name) for name in sorted(set(groups))]
        told = f"each of {len(splits)} groups once"
    if not isinstance(pool, Pool):
        raise InputError(
            "a vocabulary is that of texts, and this is a table", hint="name the column: `--text COLUMN`"
        )
    parts = [(pool.at(learned), pool.at(held)) for learned, held in splits]
    for part in parts:
        must_do(*part)
    orders = [_by_information(learned) for learned, _ in parts]
    counts = _sizes(sizes, max(map(len, orders)))
    right = {each.name: np.zeros(len(counts), np.int64) for each in candidates}
    total, done = len(parts) * len(counts) * len(candidates), 0
    for (learned, held), order in zip(parts, orders, strict=True):
        for at, size in enumerate(counts):
            for each in candidates:
                observer.task(f"{each.name} with {size:,} words", done, total)
                right[each.name][at] += _right(each, order[:size], learned, held, threads)
                done += 1
    n = sum(len(held) for _, held in parts)
    found = {name: tuple(own.tolist()) for name, own in right.items()}
    return VocabularyCurves(about, told, n, counts, found)


def _by_information(pool: Pool) -> list[str]:
    """The words of a pool, the most telling first; of equals the first in the alphabet."""
    tally = Tally.of(pool.texts, pool.labels, pool.weights)
    words = tally.vocabulary.words()
    told = mutual_information(tally.counts())
    return [words[v] for v in sorted(range(len(words)), key=lambda v: (-told[v], words[v]))]


def _right(candidate: Candidate, words: list[str], learned: Pool, held: Pool, threads: int | None) -> int:
    """How many held-out texts a model that knows these words answers rightly."""
    own = {**candidate.words, "vocabulary": tuple(words), "ngrams": (1, 1)}
    found = measured(replace(candidate, words=own), learned, held, threads)
    if found.answers is None:
        raise InputError(f"{candidate.name} cannot be measured with {len(words):,} words: {found.reason}")
    return int(found.answers.right.sum())


def _sizes(sizes: Sequence[int] | None, most: int) -> tuple[int, ...]:
    """The sizes that are wanted, in order, and all words."""
    if sizes is None:
        sizes = [step * 10**power for power in range(1, 8) for step in (1, 2, 5)]
    elif any(size < 1 for size in sizes):
        raise InputError(f"a vocabulary cannot have {min(sizes)} words", hint="give sizes of 1 or more")
    return (*sorted({size for size in sizes if size < most}), most)
