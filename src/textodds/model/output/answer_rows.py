"""Rows of data with the answers of a model behind their columns, written as they come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.arrays import Floats
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.output.answers import CELLS, AnswerColumns, free_names, is_of_labels, spread
from textodds.model.output.label_columns import LabelColumns
from textodds.model.text_updates import TextUpdates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textodds.data import Source
    from textodds.data.kept_rows import KeptRows
    from textodds.data.row_file import RowFile
    from textodds.model.file import AnyModel
    from textodds.model.output.answers import Decide

NAMED = 5  # rows without a known word that are named
SET = "set"
FAMILIARITY = ("log_density", "surprise", "p_value")


class UnknownTexts:
    """Counts the texts of which the model knows no word, or the rows without a value."""

    def __init__(self, model: AnyModel) -> None:
        self.is_of_texts, self.answered_by = isinstance(model, TextUpdates), model.without_evidence
        self.rows = self.count = 0
        self.first: list[int] = []

    def see(self, evidence: NDArray[np.uint32], good: Any = None, length: int | None = None) -> None:
        """Look at the known and all terms (N, 2) of the next rows, or of the ``good`` ones among them."""
        for at in np.flatnonzero(evidence[:, 0] == 0).tolist():
            self.count += 1
            if len(self.first) < NAMED:
                self.first.append(self.rows + 1 + (at if good is None else good[at]))
        self.rows += len(evidence) if length is None else length


class AnswerRows:
    """Answers rows as they come, and counts what is to be said at the end."""

    def __init__(
        self, model: AnyModel, wanted: AnswerColumns, decide: Decide | None, *, familiarity: bool
    ) -> None:
        self._model, self._wanted, self._decide = model, wanted, decide
        self._familiarity = familiarity
        self._labels = LabelColumns(model.labels, model.class_names)
        self.unknown = UnknownTexts(model)
        self.names: dict[str, str] = {}  # of the columns of answers, in the file
        self.rows = self.unread = 0

    def write(self, rows: KeptRows, file: RowFile) -> None:
        """Write rows with their answers."""
        for part in rows.portions(max(1, CELLS // len(self._model.classes_))):
            columns = self._columns(part)
            if not self.names:
                self.name(columns, _names(rows))
            good = part.good if part.batch is not None else [] if len(part) else None
            self.rows += len(part)
            self.unread += 0 if good is None else len(part) - len(good)
            named = {self.names[name]: spread(each, good, len(part)) for name, each in columns.items()}
            typed = {self.names[name]: self._typed(name, named[self.names[name]], file) for name in columns}
            file.write(part, typed)

    def _typed(self, name: str, column: Any, file: RowFile) -> Any:
        """A column, whose labels are of the type they had in training where a file has such types."""
        if file.format not in ("jsonl", "parquet"):
            return column
        if name == SET:
            return [None if names is None else self._labels.typed(names) for names in column]
        if not is_of_labels(name):
            return column
        labels = self._labels.typed(column)
        return self._labels.arrow(labels) if file.format == "parquet" else labels

    def name(self, columns: Any, taken: Any) -> None:
        """Choose the names of the columns of answers, where the data have the columns ``taken``."""
        self.names = free_names(columns, taken)

    def _columns(self, part: KeptRows) -> dict[str, Any]:
        if part.batch is None:
            self.unknown.rows += len(part)
            return self.none()
        scores, evidence = self._model.score_batch(part.batch)
        self.unknown.see(evidence, part.good, len(part))
        columns = self._of_scores(scores, self._decide)
        if self._familiarity:
            assert not is_multilabel(self._model)
            found = self._model.familiarity_of(part.batch)
            columns |= {name: np.array([getattr(each, name) for each in found]) for name in FAMILIARITY}
        return columns

    def _of_scores(self, scores: Floats, decide: Decide | None) -> dict[str, Any]:
        return dict(self._wanted.of_scores(scores, decide))

    def none(self) -> dict[str, Any]:
        """The columns of no rows."""
        columns = self._of_scores(np.zeros((0, len(self._model.classes_))), None)
        if self._decide is not None:  # a row says what else it gives
            some = self._of_scores(np.zeros((1, len(self._model.classes_))), self._decide)
            columns = {name: each[:0] for name, each in some.items()}
        return columns | ({name: np.zeros(0) for name in FAMILIARITY} if self._familiarity else {})


def _names(rows: KeptRows) -> list[str]:
    """The columns of some rows; of JSON lines, all of their keys."""
    if rows.lines is None:
        return list(rows.names)
    return list({name: None for line in rows.lines for name in json.loads(line)})


def write_rows(source: Source, rows: Iterable[KeptRows], file: RowFile, answered: AnswerRows) -> None:
    """Write all rows of a source with their answers, and end the file."""
    for part in rows:
        answered.write(part, file)
    if not answered.names:
        answered.name(answered.none(), source.kept_names)
    file.finish(list(answered.names.values()))
