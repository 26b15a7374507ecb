"""Rows of a table as they pass: what is there of them, a sample of them, several batches in one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import TableBatch
from textodds.density import Reservoir

Floats = NDArray[np.float64]


def columns_there(batch: TableBatch) -> Floats:
    """How many columns of each row have a value, (N,); an empty text has none."""
    there = np.zeros(len(batch))
    for values in batch.columns.values():
        if isinstance(values, np.ndarray):
            there += ~np.isnan(values)
        else:
            import pyarrow.compute as pc

            there += np.asarray(pc.fill_null(pc.greater(pc.binary_length(values), 0), False))
    return there


def offer(sample: Reservoir, batch: TableBatch) -> None:
    """Let a sample take its share of the rows of a batch that weigh something."""
    if batch.weights is not None and not (batch.weights >= 2.0**-30).all():
        batch = rows_of(batch, np.flatnonzero(batch.weights >= 2.0**-30))
    if places := sample.places(len(batch)):
        taken = rows_of(batch, np.array([i for i, _ in places]))
        for number, (_, place) in enumerate(places):
            sample.put(place, (taken, number))


def gathered(sample: list[tuple[TableBatch, int]]) -> TableBatch:
    """The rows of a sample in one batch."""
    groups: dict[int, tuple[TableBatch, list[int]]] = {}
    for batch, number in sample:
        groups.setdefault(id(batch), (batch, []))[1].append(number)
    return joined_rows([rows_of(batch, np.array(numbers)) for batch, numbers in groups.values()])


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
