"""The answers of ``predict`` in a file, each behind the columns of its row."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.cli import model_files
from textodds.cli.options import CELLS
from textodds.cli.output import counted, one_line, say, strong
from textodds.cli.progress import progress
from textodds.data import prefetched
from textodds.data.files import STDIN
from textodds.data.written_file import replacing
from textodds.learn.arrays import Floats
from textodds.model.answers import AnswerColumns, free_names, is_of_labels, spread
from textodds.model.several_labels import is_multilabel
from textodds.model.text_updates import TextUpdates

if TYPE_CHECKING:
    from textodds.data import Source
    from textodds.data.kept_rows import KeptRows
    from textodds.data.row_file import RowFile
    from textodds.model.answers import Decide
    from textodds.model.file import AnyModel

NAMED = 5  # rows without a known word that are named
SET = "set"
FAMILIARITY = ("log_density", "surprise", "p_value")


class UnknownTexts:
    """Counts the texts of which the model knows no word, or the rows without a value."""

    def __init__(self, model: AnyModel) -> None:
        self._is_of_texts = isinstance(model, TextUpdates)
        self.rows = self.count = 0
        self._first: list[int] = []

    def see(self, evidence: NDArray[np.uint32], good: Any = None, length: int | None = None) -> None:
        """Look at the known and all terms (N, 2) of the next rows, or of the ``good`` ones among them."""
        for at in np.flatnonzero(evidence[:, 0] == 0).tolist():
            self.count += 1
            if len(self._first) < NAMED:
                self._first.append(self.rows + 1 + (at if good is None else good[at]))
        self.rows += len(evidence) if length is None else length

    def say(self, *, quiet: bool) -> None:
        """Say how many there were, and which came first."""
        if not self.count:
            return
        numbers = ", ".join(f"{row:,}" for row in self._first) + (
            "" if self.count == len(self._first) else ", …"
        )
        verb = "has" if self.count == 1 else "have"
        if self._is_of_texts:
            what = f"{counted(self.count, 'text')} {verb} no word in the model's vocabulary"
        else:
            what = f"{counted(self.count, 'row')} {verb} no value in any column of the model"
        say(f"{what} (row {numbers}): answered by the prior", quiet=quiet)


class Answered:
    """Answers rows as they come, and counts what is to be said at the end."""

    def __init__(
        self, model: AnyModel, wanted: AnswerColumns, decide: Decide | None, *, familiarity: bool
    ) -> None:
        from textodds.model.label_columns import LabelColumns

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

    def say(self, where: str | None, *, quiet: bool) -> None:
        """Say what was written, and what deserves doubt."""
        for name, free in self.names.items():
            if name != free:
                say(f"the data already have a column {name}: the answer is in {one_line(free)}", quiet=quiet)
        if self.unread:
            said = counted(self.unread, "row")
            say(
                f"{said} could not be read, and {'has' if self.unread == 1 else 'have'} no answer",
                quiet=quiet,
            )
        self.unknown.say(quiet=quiet)
        if where is not None:
            say(f"wrote {strong(where)}: {counted(self.rows, 'row')}", quiet=quiet)


def _names(rows: KeptRows) -> list[str]:
    """The columns of some rows; of JSON lines, all of their keys."""
    if rows.lines is None:
        return list(rows.names)
    return list({name: None for line in rows.lines for name in json.loads(line)})


def write_answers(source: Source, output: str, answered: Answered, *, quiet: bool) -> None:
    """Write the rows of a source with their answers to a file, whole or not at all, or to stdout (``-``)."""
    is_stdout = output == STDIN
    if not is_stdout:
        from textodds.data.row_file import format_of_answers

        format_of_answers(output)
        model_files.must_be_writable(Path(output))
    bar = not is_stdout or not sys.stdout.isatty()
    with progress(quiet=quiet, bar=bar) as observer, _opened(output, source) as file:
        rows = source.with_rows()
        ahead = prefetched(rows) if source.size is not None or source.is_stdin else rows
        for part in observer.watched(source, ahead, "answering"):
            answered.write(part, file)
            if is_stdout:
                sys.stdout.flush()
        if not answered.names:
            answered.name(answered.none(), source.names)
        file.finish(source.names, list(answered.names.values()))
    answered.say(None if is_stdout else output, quiet=quiet)


@contextlib.contextmanager
def _opened(output: str, source: Source) -> Iterator[RowFile]:
    from textodds.data.row_file import FORMATS, row_file, row_stream

    if output == STDIN:
        known = None if source.dialect is None else source.dialect.format
        yield row_stream(sys.stdout, known if known in FORMATS[:3] else FORMATS[0], source.dialect)
        return
    with replacing(output) as temporary, row_file(temporary, output, source.dialect) as file:
        yield file
