"""Rows of documents as compact blocks that Spark keeps, and what tasks make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.named_arrays import Arrays
from textodds.learn.arrays import Floats
from textodds.spark.models import loaded
from textodds.spark.tasks import RowErrors, admitted, part_of, partition_number
from textodds.spark.wire import packed

if TYPE_CHECKING:
    from textodds.spark.wire import Batches

PackedRows = tuple[NDArray[np.uint16], NDArray[np.float32]]

BLOCK = pa.schema([(name, pa.binary()) for name in ("stream", "factors", "costs")])
BLOCK_SPARK = "stream binary, factors binary, costs binary"

SIZE = 4 << 20
"""Bytes of a block, about."""


@dataclass(frozen=True, eq=False)
class How:
    """How blocks are read: what occurrences count, which words are of the second kind, how many there are.

    What a word is worth in all documents alike is not in the blocks: weights are multiplied by it on their
    way out, and gradients on their way back.
    """

    frequency: str
    second: NDArray[np.uint8]  # (V,), or none if there is one kind
    features: int

    @property
    def raw(self) -> tuple[str, NDArray[np.uint8], int]:
        """As the kernels take it."""
        return self.frequency, self.second, self.features


def blocks_of(batches: Batches) -> Iterator[tuple[PackedRows, Floats]]:
    """The packed rows of blocks, and their weights, which are all 1 if there are none; not copied."""
    for batch in batches:
        for row in range(batch.num_rows):
            stream, factors, costs = (batch.column(name)[row].as_buffer() for name in BLOCK.names)
            rows = np.frombuffer(stream, "<u2"), np.frombuffer(factors, "<f4")
            yield rows, np.frombuffer(costs, "<f8")


def make_blocks(
    batches: Batches, name: str, how: How, classes: dict[str, tuple[int, float]], bad_rows: str
) -> Batches:
    """Blocks of a partition: documents as words of the model that was sent under a name.

    ``classes`` has the number of each class, and the factor of its weights.
    """
    model = loaded(name)
    weighting, scale = model.recipe.weighting, model.scale
    assert weighting is not None
    assert scale is not None
    kinds = model.recipe.settings.blocks
    waiting: list[tuple[NDArray[np.uint16], NDArray[np.float32], Floats]] = []
    for batch in admitted(batches, RowErrors(bad_rows)):
        # A class that is not there has no weight.
        found = [classes.get(label, (0, 0.0)) for label in batch.label_list()]
        codes = np.array([code for code, _ in found], np.int32)
        costs = np.array([factor for _, factor in found])
        costs *= 1.0 if batch.weights is None else batch.weights
        worth = (weighting.frequency, scale, weighting.unit, kinds, how.second)
        waiting.append((*_kernels.pack_rows(model.scorer.counts(batch.texts), codes, *worth), costs))
        if sum(stream.nbytes for stream, _, _ in waiting) >= SIZE:
            yield _block(waiting)
            waiting = []
    if waiting:
        yield _block(waiting)


def _block(parts: list[tuple[NDArray[np.uint16], NDArray[np.float32], Floats]]) -> pa.RecordBatch:
    """Packed rows as a row of `BLOCK`."""
    stream, factors, costs = (np.concatenate(several) for several in zip(*parts, strict=True))
    if (costs == 1.0).all():
        costs = costs[:0]
    arrays = [pa.array([array.tobytes()], pa.binary()) for array in (stream, factors, costs)]
    return pa.RecordBatch.from_arrays(arrays, schema=BLOCK)


def total(batches: Batches, how: How, classes: int, cuts: int) -> Batches:
    """Sums over the rows of a partition that need no point, in cuts; see `solvers.lbfgs_sums.Totals`."""
    V, K = how.features, classes
    mass, columns, squares = np.zeros(K), np.zeros(V * K), np.zeros(V)
    for block, costs in blocks_of(batches):
        codes, starts, features, values = _kernels.unpack_rows(block, how.raw)
        each = costs if len(costs) else np.ones(len(codes))
        mass += np.bincount(codes, each, K)
        lengths = np.diff(starts)
        weighed = values * np.repeat(each, lengths)
        columns += np.bincount(features.astype(np.int64) * K + np.repeat(codes, lengths), weighed, V * K)
        squares += np.bincount(features, weighed * values, V)
    yield from _cut({"mass": mass}, {"columns": columns.reshape(V, K), "squares": squares}, cuts)


def slope(batches: Batches, how: How, weights: Floats, bias: Floats, cuts: int) -> Batches:
    """Sums over the rows of a partition at a point, in cuts: see `textodds.learn.solvers.lbfgs_sums.Sums`.

    ``weights`` are (V, M), ``bias`` is (M,).
    """
    gradient, bias_gradient = np.zeros_like(weights), np.zeros_like(bias)
    loss = np.zeros(2)  # and entropy
    for block, costs in blocks_of(batches):
        loss += _kernels.softmax_slope(block, how.raw, costs, weights, bias, gradient, bias_gradient)
    yield from _cut({"loss": loss, "bias": bias_gradient}, {"weights": gradient}, cuts)


def _cut(small: Arrays, large: Arrays, cuts: int) -> Batches:
    """Arrays as parts, the large ones cut by feature; small ones go with the first."""
    for part in range(cuts):
        pieces = {name: np.array_split(array, cuts)[part] for name, array in large.items()}
        arrays = {name: np.ascontiguousarray(piece) for name, piece in pieces.items()}
        yield part_of(part, packed({"task": partition_number()}, {**arrays, **(small if part == 0 else {})}))
