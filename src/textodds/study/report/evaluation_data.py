"""What a report shows beyond measures, gathered in the same pass over the data, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.batch import taken
from textodds.judge.evaluation import Evaluation, EvaluationSums, scored_batches
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import normalise
from textodds.model.text_model import TextModel
from textodds.study.report.picture import MOST
from textodds.study.report.ranking_curves import RankingCounts, RankingCurve

if TYPE_CHECKING:
    from textodds.model.tables.table_model import TableModel

Watcher = Callable[[Sequence[str], Floats], None]
"""Looks at true labels (N,) and log-posteriors (N, K) as they pass."""

DIGITS = 9
"""Decimals of log-odds: what differs beyond is how a sum was rounded, of the same words in another order."""

MISTAKES = 20  # wrong answers that are kept, those of which the model was surest


@dataclass(frozen=True)
class Mistake:
    """A row that was answered wrongly: a text, or a dict of the columns of a table."""

    row: int  # as read, from 1
    label: str
    answer: str
    probability: float  # of the answer
    given: Any


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """What was gathered.

    ``of_class`` has a curve for each class against all others, by the log-odds of the class; it is empty
    where there are more classes than can be told apart in a picture. ``of_answers`` has right answers as
    its positive rows, by the log-odds of the answer.
    """

    of_class: dict[str, RankingCurve]
    of_answers: RankingCurve
    mistakes: tuple[Mistake, ...]  # the surest first


class EvaluationCollector:
    """Looks at scored rows as they pass, and keeps what a report needs of them."""

    def __init__(self, model: TextModel | TableModel, *, mistakes: int = MISTAKES) -> None:
        self._model, self._classes, self._most = model, model.class_names, mistakes
        is_drawn = 1 < len(self._classes) <= MOST
        self._of_class = [RankingCounts() for _ in self._classes] if is_drawn else []
        self._of_answers = RankingCounts()
        self._mistakes: list[tuple[float, int, Mistake]] = []  # sureness, row
        self._seen = 0

    def add(self, batch: Batch, labels: Sequence[str], log_posterior: Floats) -> None:
        """Look at a batch with its true labels and log-posteriors (N, K)."""
        if not len(labels):
            return
        truth = np.array(labels, dtype=object)
        for k, ranking in enumerate(self._of_class):
            odds = log_odds(log_posterior, np.full(len(truth), k))
            ranking.add(np.round(odds, DIGITS), truth == self._classes[k])
        answer = log_posterior.argmax(axis=1)
        sureness = log_odds(log_posterior, answer)
        right = truth == np.array(self._classes, dtype=object)[answer]
        self._of_answers.add(np.round(sureness, DIGITS), right)
        self._keep(batch, labels, answer, sureness, np.flatnonzero(~right))
        self._seen += len(labels)

    def _keep(
        self, batch: Batch, labels: Sequence[str], answer: NDArray[np.intp], sureness: Floats, wrong: Any
    ) -> None:
        """Keep the surest of the wrong rows, if they are surer than those that are kept."""
        if len(self._mistakes) == self._most:
            wrong = wrong[sureness[wrong] > self._mistakes[-1][0]]
        surest = wrong[np.argsort(-sureness[wrong], kind="stable")[: self._most]].tolist()
        if not surest:
            return
        for i, given in zip(surest, rows_as_given(self._model, batch, surest), strict=True):
            probability = float(1.0 / (1.0 + np.exp(-sureness[i])))
            row = self._seen + i + 1
            mistake = Mistake(row, labels[i], self._classes[answer[i]], probability, given)
            self._mistakes.append((float(sureness[i]), row, mistake))
        ordered = sorted(self._mistakes, key=lambda kept: (-kept[0], kept[1]))
        self._mistakes = ordered[: self._most]

    def data(self) -> EvaluationData:
        """What was gathered so far."""
        curves = zip(self._classes, self._of_class, strict=False)  # none, where classes are too many
        return EvaluationData(
            {label: ranking.curve() for label, ranking in curves},
            self._of_answers.curve(),
            tuple(mistake for _, _, mistake in self._mistakes),
        )


def measured(
    model: TextModel | TableModel, batches: Iterable[Any], watcher: Watcher | None = None
) -> tuple[Evaluation, EvaluationData]:
    """The quality of a model on labelled batches, and what a report needs besides, in one pass."""
    collector, sums = EvaluationCollector(model), EvaluationSums(model.class_names)
    for batch in batches:
        for labels, log_posterior, evidence in scored_batches(model, [batch], watcher):
            collector.add(batch, labels, log_posterior)
            sums.add(labels, log_posterior, evidence)
    return sums.finish(), collector.data()


def log_odds(log_posterior: Floats, of: NDArray[np.intp]) -> Floats:
    r"""Log-odds of class ``of[i]`` against all others in each row, (N,).

    In the order of the probabilities, but told apart where these are all 1 to the last digit:
    :math:`\log p_k - \log \sum_{j \ne k} p_j`.

    >>> log_odds(np.log([[0.5, 0.25, 0.25]]), np.array([1])).round(4).tolist()  # 1 to 3
    [-1.0986]
    """
    rows = np.arange(len(of))
    others = log_posterior.copy()
    others[rows, of] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):  # no other class is possible: infinite odds
        rest = normalise(others)[1]
        return np.asarray(log_posterior[rows, of] - np.where(np.isnan(rest), -np.inf, rest))


def rows_as_given(model: TextModel | TableModel, batch: Batch, rows: list[int]) -> list[Any]:
    """Texts of a batch, or rows of a table as dicts, with None for what is missing."""
    if isinstance(model, TextModel):
        return list(taken(batch.texts, rows) or ())

    def plain(value: Any) -> object:
        if isinstance(value, np.generic):
            return None if np.isnan(value) else float(value)
        return value.as_py()

    return [{name: plain(values[i]) for name, values in batch.columns.items()} for i in rows]
