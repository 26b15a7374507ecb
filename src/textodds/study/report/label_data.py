"""What a report of several labels a text shows beyond measures, gathered in the same pass over the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data import Batch
from textodds.data.batch import taken
from textodds.judge.label_evaluation import LabelEvaluation, evaluate_labels
from textodds.learn.arrays import Floats, Mask
from textodds.learn.multilabel.membership import Membership
from textodds.learn.multilabel.odds import sigmoid
from textodds.study.report.evaluation_data import DIGITS, Mistake
from textodds.study.report.ranking_curves import RankingCounts, RankingCurve

if TYPE_CHECKING:
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

CURVES = 100  # labels of which scores are counted; of more, none
DISTINCT = 20_000  # scores of a label that are kept apart
MISTAKES = 10  # labels given wrongly, and as many missed, that are shown


@dataclass(frozen=True, eq=False)
class LabelData:
    """What was gathered.

    ``of_label`` has the precision-recall curve of each label, empty where there are too many of them.
    ``instead`` counts texts by a label that was missed and one that was given wrongly, ``beside`` by a label
    that a text has and one that was given wrongly beside it. Mistakes are the surest first.
    """

    of_label: dict[str, RankingCurve]
    instead: Counter[tuple[str, str]]
    beside: Counter[tuple[str, str]]
    false: tuple[Mistake, ...]
    missed: tuple[Mistake, ...]


class LabelCollector:
    """Looks at scored texts as they pass, and keeps what a report needs of them."""

    def __init__(self, model: MultiLabelModel) -> None:
        self._labels = model.class_names
        assert model.thresholds is not None
        self._thresholds = model.thresholds
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.log(self._thresholds) - np.log1p(-self._thresholds)
        self._from = np.where(np.isfinite(odds), odds, 0.0)  # log-odds from which on a label is given
        drawn = len(self._labels) <= CURVES
        self._curves = [RankingCounts(DISTINCT) for _ in self._labels] if drawn else []
        self._instead: Counter[tuple[str, str]] = Counter()
        self._beside: Counter[tuple[str, str]] = Counter()
        self._false: list[tuple[float, int, Mistake]] = []
        self._missed: list[tuple[float, int, Mistake]] = []
        self._seen = 0

    def add(self, batch: Batch, logits: Floats) -> None:
        """Look at a batch with its true labels and the log-odds of each label (N, K)."""
        truth = truth_of(batch.label_list(), self._labels)
        given = sigmoid(logits) >= self._thresholds
        for k, ranking in enumerate(self._curves):
            ranking.add(np.round(logits[:, k], DIGITS), truth[:, k])
        false, missed = given & ~truth, truth & ~given
        for row in np.flatnonzero(false.any(axis=1)).tolist():
            wrong = np.flatnonzero(false[row]).tolist()
            self._pairs(self._instead, np.flatnonzero(missed[row]).tolist(), wrong)
            self._pairs(self._beside, np.flatnonzero(truth[row]).tolist(), wrong)
        margin = logits - self._from
        self._false = self._surest(self._false, batch, margin, logits, false)
        self._missed = self._surest(self._missed, batch, -margin, logits, missed)
        self._seen += len(logits)

    def _pairs(self, counts: Counter[tuple[str, str]], some: Sequence[int], wrong: Sequence[int]) -> None:
        counts.update((self._labels[a], self._labels[b]) for a in some for b in wrong)

    def _surest(
        self,
        kept: list[tuple[float, int, Mistake]],
        batch: Batch,
        sureness: Floats,
        logits: Floats,
        wrong: Mask,
    ) -> list[tuple[float, int, Mistake]]:
        """The surest of what is kept and of the wrong cells of a batch, one for each text and label."""
        rows, columns = np.nonzero(wrong)
        order = np.argsort(-sureness[rows, columns], kind="stable")[:MISTAKES]
        texts = taken(batch.texts, rows[order].tolist()) or ()
        for at, text in zip(order.tolist(), texts, strict=True):
            row, k = int(rows[at]), int(columns[at])
            name, p = self._labels[k], float(sigmoid(logits[row, k]))
            both = (name, f"not {name}")
            answer, label = both if p >= self._thresholds[k] else both[::-1]
            said = p if answer == name else 1.0 - p
            mistake = Mistake(self._seen + row + 1, label, answer, said, text)
            kept.append((float(sureness[row, k]), mistake.row, mistake))
        return sorted(kept, key=lambda each: (-each[0], each[1]))[:MISTAKES]

    def data(self) -> LabelData:
        """What was gathered so far."""
        curves = zip(self._labels, self._curves, strict=False)  # none, where labels are too many
        return LabelData(
            {label: ranking.curve() for label, ranking in curves},
            self._instead,
            self._beside,
            tuple(mistake for _, _, mistake in self._false),
            tuple(mistake for _, _, mistake in self._missed),
        )


def truth_of(names: Sequence[str], labels: tuple[str, ...]) -> Mask:
    r"""Whether texts have each label, (N, K), by the names of their sets; labels not known are left out.

    >>> truth_of(["\x1ea", "\x1e", "\x1eb\x1ec"], ("a", "b")).astype(int).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    sets = {name: code for code, name in enumerate(dict.fromkeys(names))}
    codes = np.array([sets[name] for name in names], dtype=np.int64)
    return Membership.of(list(sets), labels).matrix(codes)


def measured_labels(model: MultiLabelModel, batches: Iterable[Any]) -> tuple[LabelEvaluation, LabelData]:
    """The quality of a model on labelled batches, and what a report needs besides, in one pass."""
    model = model.now()
    collector = LabelCollector(model)

    def scored() -> Iterator[tuple[Floats, Sequence[str]]]:
        for batch in model.in_parts(batches):
            logits = model.score_batch(batch)[0]
            collector.add(batch, logits)
            yield sigmoid(logits), batch.label_list()

    assert model.thresholds is not None
    evaluation = evaluate_labels(scored(), model.class_names, model.thresholds)
    return evaluation, collector.data()
