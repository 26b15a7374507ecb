r"""How good a model of several labels is on labelled data, with intervals.

With :math:`Y_i` the labels of text i, :math:`G_i` those it is given, K labels and N texts:

.. math::
    \text{micro-F1} = \frac{2 \sum_i |Y_i \cap G_i|}{\sum_i |Y_i| + |G_i|}, \qquad
    \text{sample-F1} = \frac1N \sum_i \frac{2 |Y_i \cap G_i|}{|Y_i| + |G_i|}                 \tag{1}

and macro-F1 is the mean over labels of each label's own F1, of those that some text has or is given. A text
without labels that is given none is right: its F1 is 1. Labels that the model does not have cannot be given:
they count as missed in (1), and are left out of macro-F1, of the log-loss and of ranks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data.label_sets import is_set, labels_in
from textodds.errors import NoData
from textodds.judge.evaluation import (
    BINS,
    Interval,
    Reliability,
    Z,
    bin_means,
    bin_sums,
    calibration_error,
    wilson,
)
from textodds.judge.label_tree import levels_of, path
from textodds.judge.notebook import frame_of, paragraph, section, table
from textodds.judge.thresholds import Goal, chosen
from textodds.learn.arrays import Floats, Mask
from textodds.learn.held_out import FOLDS

if TYPE_CHECKING:
    import pandas

RESAMPLES, FEW_RESAMPLES, MANY = 200, 50, 500  # the fewer from so many labels on
AT = (1, 3, 5)  # precision among so many most probable labels

Measured = tuple[float, Interval]

TITLES = {
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "sample_f1": "sample-F1",
    "subset_accuracy": "subset accuracy (all labels right)",
    **{f"precision_at_{k}": f"precision at {k}" for k in AT},
    "average_precision": "label ranking average precision",
    "ranking_loss": "ranking loss",
    "log_loss": "log-loss a label",
}


@dataclass(frozen=True, repr=False)
class LabelEvaluation:
    """Measured quality of several labels a text; every interval is at 95 %.

    ``measures`` are by the names of `TITLES`, each with its interval; ``by_label`` has precision, recall, F1,
    the number of texts with each label and the number that was given it. ``unknown_labels`` are true labels
    that the model does not have.
    """

    n: int
    labels: tuple[str, ...]
    measures: dict[str, Measured]
    by_label: dict[str, dict[str, float]]
    labels_per_text: float
    given_per_text: float
    unknown_labels: dict[str, int] = field(default_factory=dict)
    by_level: dict[int, float] = field(default_factory=dict)  # micro-F1 of labels cut at each level
    reliability: Reliability = ()

    def __getattr__(self, name: str) -> float:
        measures = self.__dict__.get("measures", {})
        if name in measures:
            return float(measures[name][0])
        raise AttributeError(name)

    @property
    def calibration_error(self) -> float:
        """How far the probabilities of labels are from how often texts have them, over labels and texts."""
        return calibration_error(self.reliability)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: what `evaluate --json`, HTTP and the model file have."""
        plain: dict[str, Any] = {"n": self.n, "several_labels": True}
        for name, (value, interval) in self.measures.items():
            plain |= {name: value, f"{name}_interval": list(interval)}
        return plain | {
            "calibration_error": self.calibration_error,
            "labels_per_text": self.labels_per_text,
            "given_per_text": self.given_per_text,
            "unknown_labels": self.unknown_labels,
            "by_label": self.by_label,
            "by_level": {str(level): value for level, value in self.by_level.items()},
        }

    def warnings(self) -> list[str]:
        """What deserves doubt, in sentences."""
        found = []
        rare = sorted(label for label, row in self.by_label.items() if 0 < row["rows"] < 10)
        if rare:
            found.append(
                f"{len(rare)} label{'s have' if len(rare) > 1 else ' has'} fewer than ten texts here: "
                + ", ".join(rare[:5]) + (", …" if len(rare) > 5 else "")
            )  # fmt: skip
        never = sorted(label for label, row in self.by_label.items() if row["rows"] and not row["given"])
        if never:
            found.append(f"never given: {', '.join(never[:5])}" + (", …" if len(never) > 5 else ""))
        return found

    def notes(self) -> list[str]:
        """What is to be known of the texts, in sentences."""
        found = [f"labels a text: {self.labels_per_text:.2f}, given {self.given_per_text:.2f}"]
        if self.by_level:
            levels = ", ".join(f"{level}: {value:.4f}" for level, value in self.by_level.items())
            found.append(f"micro-F1 by level of labels: {levels}")
        if self.unknown_labels:
            names = ", ".join(sorted(self.unknown_labels)[:5])
            found.append(
                f"labels that the model does not have ({names}): {sum(self.unknown_labels.values()):,}, "
                "missed in micro- and sample-F1, left out of the others"
            )
        return found + [f"warning: {each}" for each in self.warnings()]

    def rows(self) -> list[tuple[str, float, Interval]]:
        """The measures, with what each is called."""
        return [(TITLES[name], *measured) for name, measured in self.measures.items()]

    def __repr__(self) -> str:
        lines = [f"<LabelEvaluation: {self.n:,} texts, {len(self.labels):,} labels>"]
        lines += [f"{name} {value:.4f} ({low:.4f} to {high:.4f})" for name, value, (low, high) in self.rows()]
        lines.append(f"calibration error {self.calibration_error:.4f}")
        return "\n".join(lines + self.notes())

    def _repr_html_(self) -> str:
        shown = [
            [name, f"{value:.4f}", f"{low:.4f} to {high:.4f}"] for name, value, (low, high) in self.rows()
        ]
        by_label = [
            [label, *(f"{row[key]:.3f}" for key in ("precision", "recall", "f1")), f"{row['rows']:,.0f}"]
            for label, row in sorted(self.by_label.items(), key=lambda item: -item[1]["rows"])
        ]
        return section(
            f"LabelEvaluation: {self.n:,} texts",
            table(("measure", "value", "95 % interval"), shown),
            table(("label", "precision", "recall", "F1", "texts"), by_label),
            *map(paragraph, self.notes()),
        )

    def to_frame(self) -> pandas.DataFrame:
        """Precision, recall, F1 and number of texts by label, as a frame of pandas."""
        return frame_of(({"label": label, **row} for label, row in self.by_label.items()), "label")


def evaluate_labels(
    scored: Iterable[tuple[Floats, Sequence[str]]], labels: Sequence[str], thresholds: Floats
) -> LabelEvaluation:
    """Measure probabilities (N, K) of batches with the names of their true sets, keeping only sums."""
    sums = _Sums(labels, thresholds)
    for p, names in scored:
        sums.add(p, names)
    return sums.finish()


def evaluate_held_labels(p: Floats, truth: Mask, labels: Sequence[str], goal: Goal) -> LabelEvaluation:
    """Measure probabilities of held-out texts and whether they have each label, (N, K).

    Thresholds are chosen for the goal on four fifths of the texts and measured on the rest, in turn, so that
    no text is measured by thresholds that it had a part in.

    Examples
    --------
    >>> truth = np.array([[True], [True], [False], [False]] * 10)
    >>> evaluate_held_labels(np.where(truth, 0.4, 0.1), truth, ["urgent"], Goal("f1")).micro_f1
    1.0
    """
    sums = _Sums(labels, np.full(len(labels), 0.5))
    for own in np.array_split(np.arange(len(p)), FOLDS):  # not at random: equal texts stand together
        others = np.delete(np.arange(len(p)), own)
        sums.thresholds = chosen(goal, p[others], truth[others])
        sums.add_known(p[own], truth[own], np.zeros(len(own)))
    return sums.finish()


class _Sums:
    def __init__(self, labels: Sequence[str], thresholds: Floats) -> None:
        self.labels, self.thresholds = tuple(labels), thresholds
        self.index = {name: k for k, name in enumerate(labels)}
        K = len(labels)
        self.n = 0
        self.unknown: Counter[str] = Counter()
        self.by_label = np.zeros((3, K))  # right, given, there
        self.means: dict[str, np.ndarray] = {}  # sum and sum of squares of a measure of each text
        R = RESAMPLES if K <= MANY else FEW_RESAMPLES
        self.drawn = np.zeros((R, 3, K))
        self.drawn_missed = np.zeros(R)
        self.bins = np.zeros((BINS, 3))
        self.random = np.random.default_rng(0)
        deepest = levels_of(labels)
        self.cuts = [_cut_at(labels, level) for level in range(1, deepest)]
        self.by_level = np.zeros((len(self.cuts), 2))  # shared labels, true and given ones

    def add(self, p: Floats, names: Sequence[str]) -> None:
        truth = np.zeros(p.shape, dtype=bool)
        missed = np.zeros(len(p))
        for row, name in enumerate(names):
            for label in labels_in(name) if is_set(name) else (name,):
                k = self.index.get(label)
                if k is None:
                    self.unknown[label] += 1
                    missed[row] += 1
                else:
                    truth[row, k] = True
        self.add_known(p, truth, missed)

    def add_known(self, p: Floats, truth: Mask, missed: Floats) -> None:
        given = p >= self.thresholds
        right = truth & given
        self.n += len(p)
        for at, each in enumerate((right, given, truth)):
            self.by_label[at] += each.sum(axis=0)
        self._per_text(p, truth, given, right, missed)
        weights = self.random.poisson(1.0, size=(len(self.drawn), len(p))).astype(np.float64)
        for at, each in enumerate((right, given, truth)):
            self.drawn[:, at] += weights @ each.astype(np.float64)
        self.drawn_missed += weights @ missed
        for at, cut in enumerate(self.cuts):
            true, answered = truth.astype(np.float64) @ cut > 0, given.astype(np.float64) @ cut > 0
            self.by_level[at] += (true & answered).sum(), true.sum() + answered.sum()
        self.bins += bin_sums(p.reshape(-1), truth.reshape(-1))

    def _per_text(self, p: Floats, truth: Mask, given: Mask, right: Mask, missed: Floats) -> None:
        hits, there = right.sum(axis=1), truth.sum(axis=1) + missed
        size = there + given.sum(axis=1)
        exact = (truth == given).all(axis=1) & (missed == 0)
        tiny = np.finfo(np.float64).tiny
        loss = -np.log(np.maximum(np.where(truth, p, 1.0 - p), tiny)).mean(axis=1)
        each = {
            "sample_f1": np.where(size > 0, 2.0 * hits / np.maximum(size, 1.0), 1.0),
            "subset_accuracy": exact.astype(np.float64),
            "log_loss": loss,
        } | _ranks(p, truth)
        for name, values in each.items():
            known = values[~np.isnan(values)]
            found = np.array([len(known), known.sum(), (known**2).sum()])
            self.means[name] = self.means.get(name, np.zeros(3)) + found

    def _levels(self, whole: float) -> dict[int, float]:
        found = {
            at + 1: 2.0 * shared / size if size else 0.0
            for at, (shared, size) in enumerate(self.by_level.tolist())
        }
        return {**found, len(found) + 1: whole} if found else {}

    def finish(self) -> LabelEvaluation:
        if not self.n:
            raise NoData("there are no texts to evaluate on")
        right, given, there = self.by_label
        missed = sum(self.unknown.values())
        measures: dict[str, Measured] = {
            "micro_f1": (_micro(self.by_label, missed), _middle(_micro(self.drawn, self.drawn_missed))),
            "macro_f1": (_macro(self.by_label), _middle(_macro(self.drawn))),
        }
        for name in TITLES:
            if name in self.means and self.means[name][0]:
                n, total, squares = self.means[name].tolist()
                mean = total / n
                half = Z * (max(squares / n - mean**2, 0.0) / n) ** 0.5
                most = math.inf if name == "log_loss" else 1.0
                measures[name] = (mean, (max(mean - half, 0.0), min(mean + half, most)))
        exact = round(self.means["subset_accuracy"][1])
        measures["subset_accuracy"] = (exact / self.n, wilson(exact, self.n))
        by_label = {
            label: {
                "precision": float(right[k] / given[k]) if given[k] else 0.0,
                "recall": float(right[k] / there[k]) if there[k] else 0.0,
                "f1": float(2 * right[k] / (given[k] + there[k])) if given[k] + there[k] else 0.0,
                "rows": float(there[k]),
                "given": float(given[k]),
            }
            for k, label in enumerate(self.labels)
        }
        return LabelEvaluation(
            self.n,
            self.labels,
            {name: measures[name] for name in TITLES if name in measures},
            by_label,
            float(there.sum() + missed) / self.n,
            float(given.sum()) / self.n,
            dict(sorted(self.unknown.items())),
            self._levels(measures["micro_f1"][0]),
            bin_means(self.bins),
        )


def _cut_at(labels: Sequence[str], level: int) -> Floats:
    """Which node of a level each label is at or below, (K, M); a label that ends above it is its own."""
    nodes = [path(label)[min(level, len(path(label))) - 1] for label in labels]
    names = sorted(set(nodes))
    found = np.zeros((len(labels), len(names)))
    found[np.arange(len(labels)), [names.index(node) for node in nodes]] = 1.0
    return found


def _ranks(p: Floats, truth: Mask) -> dict[str, Floats]:
    """Measures of the order of labels, (N,) each; NaN of a text that has no label, or all.

    Of equal probabilities the later label counts as more probable: a tie is no knowledge.
    """
    N, K = p.shape
    order = np.argsort(-p, axis=1, kind="stable")
    ranked = np.take_along_axis(truth, order, axis=1)
    hits = np.cumsum(ranked, axis=1)
    n = ranked.sum(axis=1)
    # Ranks as scikit-learn has them: of equal probabilities all have the last place of them.
    values = np.take_along_axis(p, order, axis=1)
    last = np.ones((N, K), dtype=bool)
    last[:, :-1] = values[:, :-1] > values[:, 1:]
    end = np.where(last, np.arange(K), K)
    end = np.minimum.accumulate(end[:, ::-1], axis=1)[:, ::-1]
    precision = np.take_along_axis(hits, end, axis=1) / (end + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        average = np.where((n > 0) & (n < K), (precision * ranked).sum(axis=1) / n, 1.0)
        # Pairs in the wrong order: a label that is not there at least as probable as one that is.
        above = (end + 1) - np.take_along_axis(hits, end, axis=1)
        wrong = (above * ranked).sum(axis=1) / (n * (K - n))
    loss = np.where((n > 0) & (n < K), wrong, 0.0)
    top = {f"precision_at_{k}": hits[:, min(k, K) - 1] / min(k, K) for k in AT if k <= K}
    return {**top, "average_precision": average, "ranking_loss": loss}


def _micro(sums: Any, missed: Any) -> Any:
    right, given, there = (sums[..., at, :].sum(axis=-1) for at in range(3))
    found = 2.0 * right / np.maximum(given + there + missed, 1.0)
    return float(found) if np.ndim(found) == 0 else found


def _macro(sums: Floats) -> Any:
    right, given, there = (sums[..., at, :] for at in range(3))
    some = (given + there) > 0
    each = np.where(some, 2.0 * right / np.maximum(given + there, 1e-12), 0.0)
    found = each.sum(axis=-1) / np.maximum(some.sum(axis=-1), 1)
    return float(found) if np.ndim(found) == 0 else found


def _middle(drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
