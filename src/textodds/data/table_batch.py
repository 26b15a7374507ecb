"""Rows of a table, checked: what a source of tables yields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.parts import Part, Values
from textodds.data.rejects import Rejects
from textodds.data.schema import BadNumber
from textodds.data.sought import Sought
from textodds.data.values import Problems
from textodds.errors import BadRow, NoData


@dataclass(frozen=True, slots=True)
class TableBatch:
    """N rows of a table, with N labels and N weights, each of the latter two optional.

    ``columns`` are by name and in the order of the schema, without those it ignores: numbers as float64,
    NaN where one is missing; categories as an Arrow array of utf8, null where one is missing; texts as an
    Arrow array of utf8 (large_utf8 beyond 2 GiB) without nulls. ``labels`` are Arrow strings, perhaps in
    a dictionary, none null or empty; ``weights`` are from 0 to 2^32. What was in memory already is not
    copied where it need not be: do not write to it.
    """

    columns: dict[str, Any]  # (N,) each
    labels: Any | None  # (N,)
    weights: NDArray[np.float64] | None  # (N,)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def label_list(self) -> list[str]:
        """The labels as a list."""
        if self.labels is None:
            raise NoData("there are rows but no labels")
        if isinstance(self.labels, list):
            return self.labels
        return [str(label) for label in self.labels.to_pylist()]


def admitted(part: Part, sought: Sought, rejects: Rejects) -> TableBatch | None:
    """The batch of the good rows of ``part``, or None where no row is good."""
    from textodds.data import arrow, cells

    assert sought.schema is not None
    places = sought.places(part.origin.where, part.names, sparse=part.sparse)
    absent = Values(cells.nulls(part.length))
    convert = {"number": cells.numbers_of, "category": cells.categories_of, "text": cells.texts_of}
    problems: Problems = {}
    numbers: dict[int, str] = {}  # rows that are bad for a number, and the column

    def noted(values: Values, bad: Problems, number: str | None = None) -> None:
        for at, reason in (bad | values.problems).items():
            if at not in problems:
                problems[at] = reason
                if number is not None:
                    numbers[at] = number

    noted(absent, part.unreadable)
    columns: dict[str, Any] = {}
    for column, place in zip(sought.schema.used, places.columns, strict=True):
        values = absent if place is None else part.columns[place]
        columns[column.name], bad = convert[column.kind](column.name, values.array)
        noted(values, bad, column.name if column.kind == "number" else None)
    labels = weights = None
    given = part.columns[places.label] if places.label is not None else part.labels
    if given is None and sought.reads_labels:
        given = absent
    if given is not None:
        labels, bad = cells.labels_of(given.array)
        noted(given, bad)
    given = part.columns[places.weight] if places.weight is not None else part.weights
    if given is None and sought.reads_weights:
        given = absent
    if given is not None:
        weights, bad = cells.weights_of(given.array)
        noted(given, bad)
    if problems:
        for at in sorted(problems):
            try:
                rejects.add(part.origin, part.at(at), problems[at], part.raw(at) or _as_json(part, at))
            except BadRow as error:
                if at in numbers and sought.is_found:
                    raise BadNumber(error, numbers[at], part.origin.unit) from None
                raise
        keep = np.ones(part.length, dtype=np.bool_)
        keep[list(problems)] = False
        columns = {
            name: values[keep] if isinstance(values, np.ndarray) else arrow.kept(values, keep)
            for name, values in columns.items()
        }
        labels = None if labels is None else arrow.kept(labels, keep)
        weights = None if weights is None else weights[keep]
    batch = TableBatch(columns, labels, weights)
    return batch if len(batch) else None


def _as_json(part: Part, at: int) -> str:
    from textodds.data import arrow

    row = {
        name: arrow.as_python(values.array[at]) for name, values in zip(part.names, part.columns, strict=True)
    }
    if part.labels is not None:
        row["label"] = arrow.as_python(part.labels.array[at])
    if part.weights is not None:
        row["weight"] = arrow.as_python(part.weights.array[at])
    shown = {
        name: value.decode(errors="backslashreplace") if isinstance(value, bytes) else value
        for name, value in row.items()
    }
    return json.dumps(shown, ensure_ascii=False, default=repr)
