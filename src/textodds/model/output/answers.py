"""Answers as columns beside the rows they belong to: labels, probabilities, the most probable classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import frames
from textodds.data.labels import Label
from textodds.data.named_arrays import AnyArray
from textodds.errors import InputError
from textodds.learn.forms.linear import log_softmax
from textodds.model.output.label_columns import LabelColumns

if TYPE_CHECKING:
    from textodds.model.base import BaseModel

LABEL, PROBABILITY = "label", "probability"
# Rows times classes scored at once: 32 MB of scores, whatever the number of classes.
CELLS = 4 << 20

PREFIX = "predicted_"  # of an answer whose name is that of a column of the data

Floats = NDArray[np.float64]
Column = Sequence[Any] | AnyArray
Decide = Callable[[Floats], Iterable[tuple[str, float, Mapping[str, object]]]]
"""What else decides, of log-posteriors (N, K); fields have an ``action``, None for no answer, or more."""


@dataclass(frozen=True)
class AnswerColumns:
    """Which columns an answer has.

    ``label`` and ``probability`` of the most probable class come first; ``label`` is None where the
    probability is below ``threshold``. Then the ``top`` classes, ``label_1``, ``probability_1``, …, and with
    ``proba`` the probability of every class, ``p(CLASS)``, in the order of ``classes``.
    """

    classes: tuple[Label, ...]
    proba: bool = False
    top: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.top is not None and (not isinstance(self.top, int) or self.top < 1):
            raise InputError(f"`top` is {self.top!r}, not a whole number above 0", hint="write top=3")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise InputError(f"`threshold` is {self.threshold!r}, not a probability", hint="write 0.8")

    def of_scores(self, scores: Floats, decide: Decide | None = None) -> dict[str, Column]:
        """The columns of scores (N, K), whose softmax are the probabilities."""
        log_posterior = log_softmax(scores)
        p, names = np.exp(log_posterior), np.array(self.classes, dtype=object)
        rows, best = np.arange(len(p)), scores.argmax(axis=1)
        found: dict[str, Column] = {LABEL: names[best], PROBABILITY: p[rows, best]}
        if decide is not None:
            found |= _decided(decide(log_posterior), found)
        if self.threshold is not None:
            is_enough = np.asarray(found[PROBABILITY]) >= self.threshold
            found[LABEL] = [
                label if yes else None for label, yes in zip(found[LABEL], is_enough, strict=True)
            ]
        if self.top is not None:
            order = np.argsort(-p, axis=1, kind="stable")[:, : self.top]
            for rank, at in enumerate(order.T, start=1):
                found |= {f"{LABEL}_{rank}": names[at], f"{PROBABILITY}_{rank}": p[rows, at]}
        if self.proba:
            found |= {f"p({name})": p[:, k] for k, name in enumerate(self.classes)}
        return found


def _decided(
    answers: Iterable[tuple[str, float, Mapping[str, object]]], best: Mapping[str, Column]
) -> dict[str, Column]:
    """What was decided in the place of the most probable class; a set stands beside it."""
    rows = list(answers)
    fields = rows[0][2] if rows else {}
    found: dict[str, Column] = {name: [row[2][name] for row in rows] for name in fields if name != "action"}
    if "action" not in fields:
        return found
    return {LABEL: [row[2]["action"] for row in rows], PROBABILITY: [row[1] for row in rows], **found}


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """What columns of answers are called where the data have the columns ``taken``: none is overwritten.

    Names that differ by case alone count as the same, as they do in databases.

    >>> free_names(["label", "probability"], ["text", "Label"])
    {'label': 'predicted_label', 'probability': 'probability'}
    """
    used = {name.strip().casefold() for name in taken}
    found = {}
    for name in wanted:
        free, number = name, 1
        while free.casefold() in used:
            free = f"{PREFIX}{name}" if number == 1 else f"{PREFIX}{name}_{number}"
            number += 1
        used.add(free.casefold())
        found[name] = free
    return found


def spread(column: Column, good: Sequence[int] | None, length: int) -> Column:
    """A column of answers with None for the rows that have none."""
    if good is None:
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiu":
        wide: Any = np.full(length, np.nan)
        wide[list(good)] = column
        return np.asarray(wide)
    values: list[Any] = [None] * length
    for at, value in zip(good, column, strict=True):
        values[at] = value
    return values


def answered_frame(model: BaseModel[Any, Any], frame: Any, wanted: AnswerColumns, **reading: Any) -> Any:
    """A frame of the same kind, with the columns of the answers behind its own."""
    if not frames.is_frame(frame):
        raise InputError(
            f"expected a frame, got {frames.name_of(frame)}",
            hint="give a pandas or polars DataFrame, or an Arrow table; for texts use predict(texts)",
        )
    parts: list[dict[str, Column]] = []
    for rows in model.read(frame, **reading).with_rows():  # type: ignore[attr-defined]
        scores = np.zeros((0, len(model.classes_)))
        if rows.batch is not None:
            scores, _ = model.score_batch(rows.batch)
        columns = wanted.of_scores(scores)
        good = rows.good if rows.batch is not None else [] if len(rows) else None
        parts.append({name: spread(column, good, len(rows)) for name, column in columns.items()})
    if not parts:
        parts = [wanted.of_scores(np.zeros((0, len(model.classes_))))]
    joined = {name: _joined([part[name] for part in parts]) for name in parts[0]}
    names = free_names(joined, frames.table_of(frame).names)
    named = {names[name]: column for name, column in joined.items()}
    of_labels = {names[name] for name in joined if is_of_labels(name)}
    return _with_columns(frame, named, of_labels, LabelColumns(model.labels, model.class_names))


def _joined(columns: list[Column]) -> Column:
    if isinstance(columns[0], np.ndarray) and columns[0].dtype.kind == "f":
        return np.concatenate(columns)
    return [value for column in columns for value in column]


def is_of_labels(name: str) -> bool:
    """Whether the column of answers of that name holds labels."""
    return name == LABEL or name.startswith(f"{LABEL}_")


def _with_columns(
    frame: Any, answers: Mapping[str, Column], of_labels: Collection[str], labels: LabelColumns
) -> Any:
    library = frames.name_of(frame).partition(" ")[0]
    if library == "pandas":
        found = frame.copy(deep=False)
        for name, column in answers.items():
            found[name] = labels.pandas(column) if name in of_labels else _plain(column)
        return found
    if library == "polars":
        import polars as pl

        return frame.with_columns(
            labels.polars(name, column) if name in of_labels else pl.Series(name, column, nan_to_null=True)
            for name, column in answers.items()
        )
    import pyarrow as pa

    table = frame if isinstance(frame, (pa.Table, pa.RecordBatch)) else pa.record_batch(frame)
    for name, column in answers.items():
        array = labels.arrow(column) if name in of_labels else pa.array(column, from_pandas=True)
        table = table.append_column(name, array)
    return table


def _plain(column: Column) -> AnyArray:
    """A column as an array of NumPy; lists stay objects."""
    if not any(isinstance(value, list) for value in column[:1]):
        return np.asarray(column)
    found = np.empty(len(column), dtype=object)
    found[:] = column
    return found


def top_classes(classes: Sequence[Label], p: Floats, k: int) -> list[list[tuple[Label, float]]]:
    """The ``k`` most probable classes of each row of p (N, K), with their probabilities."""
    order = np.argsort(-p, axis=1, kind="stable")[:, :k]
    shares = np.take_along_axis(p, order, axis=1)
    return [
        [(classes[at], share) for at, share in zip(row, of_row, strict=True)]
        for row, of_row in zip(order.tolist(), shares.tolist(), strict=True)
    ]
