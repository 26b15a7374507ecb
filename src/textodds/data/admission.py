"""Raw rows become a batch: every value is checked, and rows that fail are rejected."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from textodds.data import values
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, Batch
from textodds.data.rejects import At, Origin, Rejects
from textodds.data.values import Problems

if TYPE_CHECKING:
    from textodds.data.columns import ColumnNames
    from textodds.data.parts import Parts

# The raw values of one column: a list of Python objects, or an Arrow array of any type.
Column: TypeAlias = Any

# Text or other values, label, weight, where the row stands, and how it looked (None: as its values look).
Row: TypeAlias = tuple[object, object, object, At, bytes | None]

# What a value takes in memory beside its bytes: a reference to it, and the head of the object.
OBJECT_BYTES = 32


def admit(
    texts: Column,
    labels: Column | None,
    weights: Column | None,
    rejects: Rejects,
    origin: Origin,
    at: Callable[[int], At],
    raw: Callable[[int], bytes | None] = lambda position: None,
) -> Batch | None:
    """The batch of the good rows among N raw ones, or None where no row is good.

    ``at`` and ``raw`` say of a position where that row stands and what it looked like.
    """
    problems: Problems = {}
    good_labels = good_weights = None
    # The text is checked last, so that of several things wrong with a row the text is named.
    if weights is not None:
        good_weights, bad = _checks(weights).weights_of(weights)
        problems.update(bad)
    if labels is not None:
        good_labels, bad = _checks(labels).labels_of(labels)
        problems.update(bad)
    good_texts, bad = _checks(texts).texts_of(texts)
    problems.update(bad)
    if problems:
        for position in sorted(problems):
            looked = raw(position)
            row = _as_json(position, text=texts, label=labels, weight=weights) if looked is None else looked
            rejects.add(origin, at(position), problems[position], row)
        keep = np.ones(len(texts), dtype=np.bool_)
        keep[list(problems)] = False
        good_texts = _checks(good_texts).kept(good_texts, keep)
        good_labels = None if good_labels is None else _checks(good_labels).kept(good_labels, keep)
        good_weights = None if good_weights is None else good_weights[keep]
    return Batch(good_texts, good_labels, good_weights) if len(good_texts) else None


def admit_parts(parts: Parts, wanted: ColumnNames, rejects: Rejects) -> Iterator[Batch]:
    """Batches of the good rows of ``parts``."""
    with contextlib.closing(parts):
        for part in parts:
            found = wanted.find(part.origin.where, part.names)
            labels = part.labels if found.label is None else part.columns[found.label]
            weights = part.weights if found.weight is None else part.columns[found.weight]
            batch = admit(
                part.columns[found.text].array,
                None if labels is None else labels.array,
                None if weights is None else weights.array,
                rejects,
                part.origin,
                part.at,
            )
            if batch is not None:
                yield batch


def gathered(
    rows: Iterable[Row], rejects: Rejects, origin: Origin, *, labelled: bool, weighted: bool
) -> Iterator[Batch]:
    """Batches of a stream of rows."""

    def batch(pending: list[Row]) -> Batch | None:
        texts, labels, weights, places, raws = (list(column) for column in zip(*pending, strict=True))
        return admit(
            texts,
            labels if labelled else None,
            weights if weighted else None,
            rejects,
            origin,
            places.__getitem__,
            raws.__getitem__,
        )

    for pending in chunked(rows):
        admitted = batch(pending)
        pending.clear()  # while a batch is counted, its rows need not be held
        if admitted is not None:
            yield admitted


def chunked(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Lists of ``rows``, cut so that memory stays bounded."""
    pending: list[Row] = []
    size = 0
    for row in rows:
        pending.append(row)
        item, raw = row[0], row[4]
        if raw is not None:
            size += len(raw)
        elif isinstance(item, (str, bytes)):
            size += len(item)
        else:
            size += _size(item)
        if size >= BATCH_BYTES or len(pending) >= BATCH_ROWS:
            yield pending
            pending, size = [], 0
    if pending:
        yield pending


def _size(item: object) -> int:
    """About the bytes of the values of a row of a table."""
    values = item.values() if isinstance(item, Mapping) else item
    if not isinstance(values, (tuple, list, ValuesView)):
        return 0
    return sum(OBJECT_BYTES + (len(value) if isinstance(value, (str, bytes)) else 0) for value in values)


def _checks(column: Column) -> ModuleType:
    if isinstance(column, list):
        return values
    from textodds.data import arrow

    return arrow


def _as_json(position: int, **columns: Column | None) -> str:
    return json.dumps(
        {name: _shown(column, position) for name, column in columns.items() if column is not None},
        ensure_ascii=False,
        default=repr,
    )


def _shown(column: Column, position: int) -> object:
    value = _checks(column).as_python(column[position])
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value
