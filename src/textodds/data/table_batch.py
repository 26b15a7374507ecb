"""Rows of a table, checked: what a source of tables yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.batch import label_list
from textodds.data.parts import Part, Values, as_json
from textodds.data.rejects import Rejects
from textodds.data.schema import GIVEN
from textodds.data.sought import Sought
from textodds.data.values import Problems
from textodds.errors import BadRow


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
        return label_list(self.labels, "rows")


def admitted(part: Part, sought: Sought, rejects: Rejects) -> TableBatch | None:
    """The batch of the good rows of ``part``, or None where no row is good."""
    import pyarrow as pa

    from textodds.data import arrow, cells

    assert sought.schema is not None
    places = sought.places(part.origin.where, part.names, sparse=part.sparse)
    absent = Values(pa.nulls(part.length))
    convert = {"number": cells.numbers_of, "category": cells.categories_of, "text": cells.texts_of}
    found = _Problems(part.unreadable)
    columns: dict[str, Any] = {}
    for column, place in zip(sought.schema.used, places.columns, strict=True):
        values = absent if place is None else part.columns[place]
        columns[column.name], bad = convert[column.kind](column.name, values.array)
        seemed = column.kind == "number" and sought.is_found and column.why != GIVEN
        found.add(bad | values.problems, number=column.name if seemed else None)

    def beside(place: int | None, given: Values | None, check: Any, *, wanted: bool) -> Any:
        values = given if place is None else part.columns[place]
        if values is None and not wanted:
            return None
        values = values or absent
        checked, bad = check(values.array)
        found.add(bad | values.problems)
        return checked

    labels = beside(places.label, part.labels, arrow.labels_of, wanted=sought.reads_labels)
    weights = beside(places.weight, part.weights, cells.weights_of, wanted=sought.reads_weights)
    if found.reasons:
        found.reject(part, rejects)
        keep = np.ones(part.length, dtype=np.bool_)
        keep[list(found.reasons)] = False
        columns = {
            name: values[keep] if isinstance(values, np.ndarray) else arrow.kept(values, keep)
            for name, values in columns.items()
        }
        labels = None if labels is None else arrow.kept(labels, keep)
        weights = None if weights is None else weights[keep]
    batch = TableBatch(columns, labels, weights)
    return batch if len(batch) else None


class _Problems:
    """What is wrong with the rows of a part: of several things, the first that is noted."""

    def __init__(self, unreadable: Problems) -> None:
        self.reasons = dict(unreadable)
        self._numbers: dict[int, str] = {}  # rows that are bad for a column which seemed to be numbers

    def add(self, problems: Problems, number: str | None = None) -> None:
        for at, reason in problems.items():
            if at not in self.reasons:
                self.reasons[at] = reason
                if number is not None:
                    self._numbers[at] = number

    def reject(self, part: Part, rejects: Rejects) -> None:
        for at in sorted(self.reasons):
            try:
                rejects.add(part.origin, part.at(at), self.reasons[at], part.raw(at) or _as_json(part, at))
            except BadRow as error:
                if at in self._numbers:
                    name = self._numbers[at]
                    hint = (
                        f"the first rows of `{name}` are numbers; to read it as categories, use "
                        f"`--columns {name}=category` (columns={{{name!r}: 'category'}})"
                    )
                    raise BadRow(error.where, error.line, error.reason, part.origin.unit, hint=hint) from None
                raise


def _as_json(part: Part, at: int) -> str:
    from textodds.data import arrow

    row = {
        name: arrow.as_python(values.array[at]) for name, values in zip(part.names, part.columns, strict=True)
    }
    if part.labels is not None:
        row["label"] = arrow.as_python(part.labels.array[at])
    if part.weights is not None:
        row["weight"] = arrow.as_python(part.weights.array[at])
    return as_json(row)


def columns_there(batch: TableBatch) -> NDArray[np.float64]:
    """How many columns of each row have a value, (N,); an empty text has none."""
    there = np.zeros(len(batch))
    for values in batch.columns.values():
        if isinstance(values, np.ndarray):
            there += ~np.isnan(values)
        else:
            import pyarrow.compute as pc

            there += np.asarray(pc.fill_null(pc.greater(pc.binary_length(values), 0), False))
    return there


def rows_of(batch: TableBatch, rows: NDArray[np.integer]) -> TableBatch:
    """Some rows of a batch."""
    columns = {
        name: values[rows] if isinstance(values, np.ndarray) else values.take(rows)
        for name, values in batch.columns.items()
    }
    labels: Any = None
    if batch.labels is not None:
        names = batch.label_list()
        labels = [names[i] for i in rows]
    return TableBatch(columns, labels, None if batch.weights is None else batch.weights[rows])


def joined_rows(batches: list[TableBatch]) -> TableBatch:
    """The rows of several batches in one."""
    import pyarrow as pa

    def column(name: str) -> Any:
        parts = [batch.columns[name] for batch in batches]
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else pa.concat_arrays(parts)

    labels: Any = None
    if batches[0].labels is not None:
        labels = [label for batch in batches for label in batch.label_list()]
    weights = None
    if batches[0].weights is not None:
        weights = np.concatenate([batch.weights for batch in batches if batch.weights is not None])
    return TableBatch({name: column(name) for name in batches[0].columns}, labels, weights)


def gathered(sample: list[tuple[TableBatch, int]]) -> TableBatch:
    """The rows of a sample in one batch."""
    groups: dict[int, tuple[TableBatch, list[int]]] = {}
    for batch, number in sample:
        groups.setdefault(id(batch), (batch, []))[1].append(number)
    return joined_rows([rows_of(batch, np.array(numbers)) for batch, numbers in groups.values()])
