"""How good a model is on labelled data, with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.labels import folded, told
from textodds.errors import NoData
from textodds.judge.baseline import Baseline
from textodds.judge.notebook import frame_of, paragraph, section, table
from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.forms.linear import log_softmax
from textodds.learn.held_out import HeldOut
from textodds.stats.distributions import binomial_cdf

if TYPE_CHECKING:
    import pandas

    from textodds.judge.label_tree import LevelQuality

Interval = tuple[float, float]
Reliability = tuple[tuple[int, float, float], ...]  # rows, mean probability and accuracy, bin by bin
Z = 1.959963984540054  # the normal quantile of a 95 % interval
RESAMPLES = 1000
BINS = 15


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Measured quality; every interval is at 95 %. Labels are text, whatever they were in training.

    ``confusion`` counts rows by (true label, predicted label). ``unknown_labels`` are true labels
    the model does not have, with their rows: these count as wrong in accuracy and macro-F1, and are left
    out of the log-loss.
    """

    n: int
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    log_loss: float
    log_loss_interval: Interval
    confusion: dict[tuple[str, str], int]
    unknown_labels: dict[str, int] = field(default_factory=dict)
    no_evidence: int = 0  # rows without a known word
    reliability: Reliability = ()

    @property
    def calibration_error(self) -> float:
        """How far probabilities of answers are from how often they are right; see `calibration_error`."""
        return calibration_error(self.reliability)

    @property
    def labels(self) -> list[str]:
        """Every label that is true or predicted somewhere."""
        return sorted({label for pair in self.confusion for label in pair})

    @cached_property
    def baseline(self) -> Baseline:
        """What the largest class alone would get on these rows."""
        rows: Counter[str] = Counter()
        for (label, _), n in self.confusion.items():
            rows[label] += n
        return Baseline.of(rows.items())

    def warnings(self) -> list[str]:
        """Why the accuracy deserves doubt, in sentences: see `textodds.judge.baseline.Baseline`."""
        return self.baseline.warnings(self.accuracy) + self._misspelt()

    def _misspelt(self) -> list[str]:
        """A sentence on labels that the model has in another spelling, if there are any."""
        known = {folded(label) for label in self.labels if label not in self.unknown_labels}
        alike = {label: rows for label, rows in self.unknown_labels.items() if folded(label) in known}
        if not alike:
            return []
        n, named = sum(alike.values()), told({label: {label: rows} for label, rows in alike.items()})
        rows = "row has a label" if n == 1 else "rows have labels"
        return [
            f"{n:,} {rows} that the model has in another spelling: {named}; correct them, or train with "
            "`--clean-labels` (clean_labels=True)"
        ]

    def by_level(self, separator: str = "/") -> list[LevelQuality]:
        """Accuracy at each level of labels that are paths in a tree, such as ``sport/football``."""
        from textodds.judge.label_tree import by_level

        return by_level(self.confusion, separator)[0]

    def by_class(self) -> dict[str, dict[str, float]]:
        """Precision, recall, F1 and number of rows of each label."""
        truth, answered = dict.fromkeys(self.labels, 0), dict.fromkeys(self.labels, 0)
        for (label, answer), rows in self.confusion.items():
            truth[label] += rows
            answered[answer] += rows
        hits = {label: self.confusion.get((label, label), 0) for label in truth}
        return {
            label: {
                "precision": hits[label] / answered[label] if answered[label] else 0.0,
                "recall": hits[label] / truth[label] if truth[label] else 0.0,
                "f1": 2 * hits[label] / (truth[label] + answered[label]),
                "rows": truth[label],
            }
            for label in truth
        }

    @property
    def _measures(self) -> list[tuple[str, float, Interval]]:
        return [
            ("accuracy", self.accuracy, self.accuracy_interval),
            ("macro-F1", self.macro_f1, self.macro_f1_interval),
            ("log-loss", self.log_loss, self.log_loss_interval),
        ]

    def _notes(self) -> list[str]:
        """What is to be known of the rows, in sentences."""
        notes = []
        if unknown := sum(self.unknown_labels.values()):
            names = ", ".join(sorted(self.unknown_labels)[:5])
            notes.append(
                f"rows with labels that the model does not have ({names}): {unknown:,}, "
                "wrong in accuracy, left out of the log-loss"
            )
        if self.no_evidence:
            notes.append(f"rows without a known word: {self.no_evidence:,}")
        return notes + [f"warning: {each}" for each in self.warnings()]

    def __repr__(self) -> str:
        lines = [f"<Evaluation: {self.n:,} rows, {len(self.labels):,} labels>"]
        for name, value, (low, high) in self._measures:
            lines.append(f"  {name}  {value:.4f} ({low:.4f} to {high:.4f})")
            if name == "accuracy":
                lines.append(f"  accuracy of the largest class alone  {self.baseline.accuracy:.4f}")
        return "\n".join([*lines, *(f"  {note}" for note in self._notes())])

    def _repr_html_(self) -> str:
        measures = [
            [name, f"{value:.4f}", f"{low:.4f} to {high:.4f}"] for name, value, (low, high) in self._measures
        ]
        measures.insert(1, ["accuracy of the largest class alone", f"{self.baseline.accuracy:.4f}", ""])
        measures.append(["calibration error", f"{self.calibration_error:.4f}", ""])
        by_class = sorted(self.by_class().items(), key=lambda item: (-item[1]["rows"], item[0]))
        scores = [
            [label, *(f"{each[name]:.4f}" for name in ("precision", "recall", "f1")), f"{each['rows']:,.0f}"]
            for label, each in by_class
        ]
        wrong = sorted(
            ((pair, rows) for pair, rows in self.confusion.items() if pair[0] != pair[1]),
            key=lambda item: (-item[1], item[0]),
        )
        parts = [
            table(("measure", "value", "95 % interval"), measures),
            table(("label", "precision", "recall", "F1", "rows"), scores),
        ]
        if wrong:
            mistakes = [[*pair, f"{rows:,}"] for pair, rows in wrong]
            parts.append(table(("true label", "answered", "rows"), mistakes, left=2, most=8))
        return section(f"Evaluation: {self.n:,} rows", *parts, *map(paragraph, self._notes()))

    def to_frame(self) -> pandas.DataFrame:
        """A frame of pandas with a row for each label: precision, recall, F1 and rows."""
        measures = self.by_class().items()
        return frame_of(
            ({"label": label, **each, "rows": int(each["rows"])} for label, each in measures), "label"
        )

    def as_dict(self) -> dict[str, object]:
        """Plain data with plain keys, for JSON: the same from the command line, by HTTP and in a model file.

        What cannot be measured is None.
        """
        plain: dict[str, object] = {"n": self.n}
        for name in ("accuracy", "macro_f1", "log_loss"):
            ends = [finite(end) for end in getattr(self, f"{name}_interval")]
            plain |= {name: finite(getattr(self, name)), f"{name}_interval": ends}
        return plain | {
            "largest_class": self.baseline.as_dict(),
            "skewed": self.baseline.is_skewed,
            "warnings": self.warnings(),
            "by_class": self.by_class(),
            "confusion": [
                {"label": a, "predicted": b, "rows": rows} for (a, b), rows in sorted(self.confusion.items())
            ],
            "calibration_error": finite(self.calibration_error),
            "reliability": [
                {"rows": rows, "probability": said, "accuracy": right}
                for rows, said, right in self.reliability
            ],
            "unknown_labels": self.unknown_labels,
            "no_evidence": self.no_evidence,
        }


def numbers_of(labels: Iterable[str], classes: Sequence[str]) -> Integers:
    """The class number of each label, -1 for a label that is no class."""
    index = {name: k for k, name in enumerate(classes)}
    return np.array([index.get(label, -1) for label in labels], dtype=np.int64)


def finite(value: float) -> float | None:
    """A number that JSON has, or none."""
    return value if math.isfinite(value) else None


Scored = tuple[Sequence[str], Floats, NDArray[np.uint32]]
"""True labels (N,), log-posteriors (N, K), known and all terms (N, 2)."""


@dataclass
class EvaluationSums:
    """An evaluation in the making: sums over scored batches, which add up wherever they were taken."""

    classes: Sequence[str]
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    n: int = 0
    no_evidence: int = 0
    known: int = 0  # rows whose label the model has
    loss: float = 0.0
    squares: float = 0.0  # of losses
    bins: Floats = field(default_factory=lambda: np.zeros((BINS, 3)))  # as of `bin_sums`

    def add(self, labels: Sequence[str], log_posterior: Floats, evidence: NDArray[np.uint32]) -> None:
        """Measure one more batch; see `Scored`."""
        self.n += len(labels)
        self.no_evidence += int((evidence[:, 0] == 0).sum())
        predicted, truth = log_posterior.argmax(axis=1), numbers_of(labels, self.classes)
        self.bins += bin_sums(np.exp(log_posterior.max(axis=1)), predicted == truth)
        self.confusion.update(zip(labels, [self.classes[k] for k in predicted.tolist()], strict=True))
        rows = np.flatnonzero(truth >= 0)
        losses = -log_posterior[rows, truth[rows]]
        self.known += len(rows)
        self.loss += float(losses.sum())
        self.squares += float((losses**2).sum())

    def merge(self, other: EvaluationSums) -> None:
        """Take in the sums of other rows."""
        self.confusion.update(other.confusion)
        for name in ("n", "no_evidence", "known", "loss", "squares"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.bins = self.bins + other.bins

    def finish(self) -> Evaluation:
        """The evaluation of all rows."""
        if self.n == 0:
            raise NoData("there are no rows to evaluate on")
        n, known = self.n, self.known
        # Sorted, so that intervals do not depend on the order of rows.
        confusion = dict(sorted(self.confusion.items()))
        right = sum(rows for (label, answer), rows in confusion.items() if label == answer)
        mean = self.loss / known if known else math.nan
        spread = Z * math.sqrt(max(self.squares / known - mean**2, 0.0) / known) if known else math.nan
        unknown: Counter[str] = Counter()
        names = set(self.classes)
        for (label, _), rows in confusion.items():
            if label not in names:
                unknown[label] += rows
        return Evaluation(
            n,
            right / n,
            wilson(right, n),
            macro_f1(confusion, np.array([list(confusion.values())]))[0],
            _f1_interval(confusion, n),
            mean,
            (max(mean - spread, 0.0), mean + spread),
            confusion,
            dict(unknown),
            self.no_evidence,
            bin_means(self.bins),
        )


def evaluate(scored: Iterable[Scored], classes: Sequence[str]) -> Evaluation:
    """Measure scored batches, keeping only sums."""
    sums = EvaluationSums(classes)
    for batch in scored:
        sums.add(*batch)
    return sums.finish()


def held_out_measures(
    about: object, held_out: HeldOut | None, classes: Sequence[str]
) -> dict[str, Any] | None:
    """What a model file says ``about`` held-out rows, as an `Evaluation` says it of test data.

    Beside what is there: the macro-F1 and the largest class alone, where the answers are kept, and warnings.
    None if nothing was measured.
    """
    if not isinstance(about, Mapping) or not isinstance(about.get("accuracy"), float):
        if held_out is None or not len(held_out):
            return None
        loss = -np.log(np.maximum(held_out.p_truth, np.finfo(np.float64).tiny))
        about = {
            "n": len(held_out),
            "accuracy": float(held_out.right.mean()),
            "log_loss": float(loss.mean()),
        }
    if held_out is None or len(held_out) != about.get("n"):
        return dict(about)
    baseline = Baseline.of_held_out(held_out, classes)
    cells = Counter(zip(held_out.truth.tolist(), held_out.answer.tolist(), strict=True))
    confusion = {(classes[label], classes[answer]): rows for (label, answer), rows in sorted(cells.items())}
    return {
        **about,
        "macro_f1": macro_f1(confusion, np.array([list(confusion.values())]))[0],
        "largest_class": baseline.as_dict(),
        "skewed": baseline.is_skewed,
        "warnings": baseline.warnings(about["accuracy"]),
    }


def scored_batches(model: Any, batches: Iterable[Any], watch: Any = None) -> Iterable[Scored]:
    """Labels, log-posteriors and evidence of labelled batches; ``watch`` is called with the first two."""
    for batch in batches:
        scores, evidence = model.score_batch(batch)
        labels, log_posterior = batch.label_list(), log_softmax(scores)
        if watch is not None:
            watch(labels, log_posterior)
        yield labels, log_posterior, evidence


def reliability(said: Floats, right: Mask) -> Reliability:
    """Rows, mean probability and accuracy, bin by bin, of answers (N,), right or not (N,)."""
    return bin_means(bin_sums(said, right))


def bin_sums(said: Floats, right: Mask) -> Floats:
    """Rows, sum of probabilities and right answers of every bin, (BINS, 3)."""
    place = np.minimum((np.nan_to_num(said) * BINS).astype(np.intp), BINS - 1)
    columns = (np.ones(len(said)), said, right.astype(np.float64))
    return np.stack([np.bincount(place, values, BINS) for values in columns], axis=1)


def bin_means(bins: Floats) -> Reliability:
    """Rows, mean probability and accuracy of the bins that have rows."""
    return tuple((int(rows), said / rows, ok / rows) for rows, said, ok in bins.tolist() if rows)


def calibration_error(bins: Reliability) -> float:
    """Expected calibration error: how far probabilities of answers are from how often they are right.

    The mean over rows of the difference between the two, in 15 bins of probability (Naeini et al. 2015).
    """
    total = sum(rows for rows, _, _ in bins)
    away = sum(rows * abs(said - right) for rows, said, right in bins)
    return away / total if total else math.nan


def wilson(right: int, n: int) -> Interval:
    """Wilson's interval for a share: inside [0, 1] and honest near its ends.

    Examples
    --------
    >>> tuple(round(end, 3) for end in wilson(10, 10))
    (0.722, 1.0)
    """
    share, z2 = right / n, Z * Z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def macro_f1(confusion: dict[tuple[str, str], int], counts: NDArray[np.integer]) -> list[float]:
    """Macro-averaged F1 of resampled confusions: ``counts`` is (R, cells) in the order of the dict."""
    labels = sorted({label for pair in confusion for label in pair})
    index = {label: i for i, label in enumerate(labels)}
    truth = np.array([index[a] for a, _ in confusion])
    answer = np.array([index[b] for _, b in confusion])
    scores = []
    for row in counts:
        in_truth = np.bincount(truth, row, len(labels))
        answered = np.bincount(answer, row, len(labels))
        hits = np.bincount(truth, np.where(truth == answer, row, 0), len(labels))
        there = in_truth + answered > 0
        scores.append(float((2 * hits[there] / (in_truth + answered)[there]).mean()))
    return scores


def _f1_interval(confusion: dict[tuple[str, str], int], n: int) -> Interval:
    """Bootstrap: rows drawn again with replacement are a multinomial draw of the confusion."""
    share = np.array(list(confusion.values())) / n
    random = np.random.default_rng(0)
    scores: list[float] = []
    most = max(1, 10_000_000 // len(share))  # resamples at a time
    for start in range(0, RESAMPLES, most):
        scores += macro_f1(confusion, random.multinomial(n, share, size=min(most, RESAMPLES - start)))
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)


def mcnemar(first: int, second: int) -> float:
    """The exact two-sided p-value of so many rows that only the first, and only the second, had right.

    >>> round(mcnemar(1, 5), 6), mcnemar(3, 3)
    (0.21875, 1.0)
    """
    less = min(first, second)  # with halves on both sides the tails are alike
    return min(1.0, 2.0 * float(binomial_cdf(less, first + second, 0.5)))
