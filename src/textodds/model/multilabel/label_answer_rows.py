"""Rows of data with lists of labels behind their columns, where a text may have several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import InputError, one_line
from textodds.learn.arrays import Floats
from textodds.model.multilabel.label_answers import LABELS, LabelAnswerColumns
from textodds.model.output.answer_rows import AnswerRows
from textodds.model.output.answers import AnswerColumns

if TYPE_CHECKING:
    from textodds.data.row_file import RowFile
    from textodds.judge.thresholds import Goal
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.output.answers import Decide

USUAL = "|"


def separator_of(model: MultiLabelModel) -> str:
    """What stands between labels that are written in one field: as in training, or a bar."""
    reading = model.info.get("reading")
    known = reading.get("label_separator") if isinstance(reading, dict) else None
    return known if isinstance(known, str) and known else USUAL


def with_decision(model: MultiLabelModel, threshold: float | None, goal: Goal | None) -> MultiLabelModel:
    """The model with the thresholds that ``--threshold`` or ``--goal`` ask for."""
    if threshold is not None and goal is not None:
        raise InputError("`--threshold` and `--goal` cannot be combined", hint="leave out one of the two")
    if threshold is not None:
        return model.with_thresholds(threshold)
    return model if goal is None else model.with_goal(goal)


class JoinedLabels:
    """Writes several labels in one field; a separator within a label stands behind a backslash."""

    def __init__(self, model: MultiLabelModel) -> None:
        self.separator = separator_of(model)
        self.names = [self._name(name) for name in model.class_names]
        self._of_value = dict(zip(model.classes_, self.names, strict=True))

    def _name(self, name: str) -> str:
        return one_line(name).replace(self.separator, f"\\{self.separator}")

    def joined(self, labels: Sequence[Any]) -> str:
        """Some labels, of the type they had in training."""
        return self.separator.join(self._of_value[label] for label in labels)


class LabelAnswerRows(AnswerRows):
    """Answers rows as they come, with a column of lists of labels."""

    def __init__(self, model: MultiLabelModel, wanted: LabelAnswerColumns) -> None:
        super().__init__(model, AnswerColumns(()), None, familiarity=False)
        self._of_labels, self._joined = wanted, JoinedLabels(model)

    def _of_scores(self, scores: Floats, decide: Decide | None) -> dict[str, Any]:
        return self._of_labels.of_scores(scores)

    def _typed(self, name: str, column: Any, file: RowFile) -> Any:
        """A column in the types that a file has: lists of labels, or labels in one field."""
        if name != LABELS and not name.startswith("label_"):
            return column
        if file.format == "parquet":
            return self._arrow(name, column)
        if file.format == "jsonl":
            return list(column)
        if name == LABELS:
            return [None if labels is None else self._joined.joined(labels) for labels in column]
        names = dict(zip(self._model.classes_, self._model.class_names, strict=True))
        return [None if label is None else names[label] for label in column]

    def _arrow(self, name: str, column: Any) -> Any:
        import pyarrow as pa

        if name != LABELS:
            return self._labels.arrow(list(column))
        flat = self._labels.arrow([label for labels in column for label in labels or ()])
        sizes = [None if labels is None else len(labels) for labels in column]
        ends = np.concatenate([[0], np.cumsum([n or 0 for n in sizes])]).tolist()
        starts = [None if n is None else end for n, end in zip(sizes, ends, strict=False)]
        return pa.ListArray.from_arrays(pa.array([*starts, ends[-1]], pa.int32()), flat)
