"""Tables as streams of batches: columns of numbers, categories and texts, with their labels."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data.batch import BATCH_BYTES, BATCH_ROWS
from textodds.data.parts import Part, Values
from textodds.data.progress import Progress
from textodds.data.rejects import Rejects
from textodds.data.schema import BadNumber, Schema
from textodds.data.source import Stream
from textodds.data.sought import Sought
from textodds.data.values import Problems
from textodds.errors import BadRow, NoData

# Kinds are found from this much at most: a batch, for rows as long as they usually are.
LOOK_BYTES = 4 * BATCH_BYTES


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


class TableSource(Stream[TableBatch]):
    """An iterable of batches of a table; made by `read_table`."""

    def __init__(
        self,
        sought: Sought,
        description: str,
        parts: Callable[[Rejects, Progress], Iterator[Part]],
        rejects: Rejects,
        *,
        replayable: bool = True,
        size: int | None = None,
    ) -> None:
        super().__init__(description, self._admitted, rejects, replayable=replayable, size=size)
        self._sought = sought
        self._parts = parts
        self._begun: Iterator[Part] | None = None  # the pass in which the schema was found

    @property
    def schema(self) -> Schema:
        """The columns and their kinds: as given, or found from the first rows when first asked for."""
        if self._sought.schema is None:
            self._begin()
            try:
                self._begun = self._looked(self._parts(self.rejects, self._progress))
            except BaseException:
                self.rejects.close()
                raise
        assert self._sought.schema is not None
        return self._sought.schema

    def __iter__(self) -> Iterator[TableBatch]:
        begun, self._begun = self._begun, None  # rows that were looked at are not read again, nor lost
        if begun is None:
            return super().__iter__()
        return self._pass(self._checked(begun))

    def _admitted(self, rejects: Rejects, progress: Progress) -> Iterator[TableBatch]:
        parts = self._parts(rejects, progress)
        return self._checked(parts)

    def _checked(self, parts: Iterator[Part]) -> Iterator[TableBatch]:
        if self._sought.schema is None:
            parts = self._looked(parts)
        for part in parts:
            batch = _admitted(part, self._sought, self.rejects)
            if batch is not None:
                yield batch

    def _looked(self, parts: Iterator[Part]) -> Iterator[Part]:
        """The same ``parts``, of which so many are taken that the schema can be found."""
        taken: list[Part] = []
        rows = size = 0
        for part in parts:
            taken.append(part)
            if part.origin != taken[0].origin and part.names != taken[0].names:
                break
            rows += part.length
            size += part.size
            if rows >= BATCH_ROWS or size >= LOOK_BYTES:
                break
        alike = [each for each in taken if each.origin == taken[0].origin or each.names == taken[0].names]
        self._sought.learn(alike)
        return _resumed(taken, parts)


def _resumed(taken: list[Part], parts: Iterator[Part]) -> Iterator[Part]:
    taken.reverse()
    while taken:  # popped, so that no part is held longer than it takes
        yield taken.pop()
    yield from parts


def _admitted(part: Part, sought: Sought, rejects: Rejects) -> TableBatch | None:
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
