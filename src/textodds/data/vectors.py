"""Columns of vectors: lists of numbers of one length, such as embeddings, in whatever form they come.

As in `arrow`, each function returns what goes into a batch and what is wrong with the values that cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data import values
from textodds.data.named_arrays import AnyArray
from textodds.data.schema import VECTOR_MOST
from textodds.data.values import Problems, Unusable

Floats = NDArray[np.float64]

MOSTLY = 0.9  # of the first lists must have one length, for others to be mistakes


def is_list(kind: pa.DataType) -> bool:
    """Whether ``kind`` is a type of lists of numbers, or of lists without an item that tells of what."""
    types = pa.types
    is_any = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not is_any and not str(kind).startswith(("list_view<", "large_list_view<")):
        return False
    item = kind.value_type
    return bool(types.is_integer(item) or types.is_floating(item) or types.is_null(item))


def of_matrix(matrix: AnyArray) -> pa.Array:
    """The rows of a matrix (N, D) as an Arrow array of lists."""
    numbers = pa.array(np.ascontiguousarray(matrix).reshape(-1))
    if not matrix.shape[1]:
        return pa.array([[]] * len(matrix), pa.list_(numbers.type))
    return pa.FixedSizeListArray.from_arrays(numbers, matrix.shape[1])


def of_objects(items: Sequence[Any], name: str) -> tuple[pa.Array, Problems]:
    """Python's lists, of which some are not of numbers alone, as an Arrow array of lists."""

    def numbers(item: object) -> list[float] | None:
        if item is None:
            return None
        try:
            found = np.asarray(item, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise Unusable(f"`{name}` is {values.cut(repr(item))}, not a list of numbers") from None
        if found.ndim != 1:
            raise Unusable(f"`{name}` has lists within the list")
        return found.tolist()  # type: ignore[no-any-return]

    listed, problems = values.each(items, numbers, None)
    return pa.array(listed, pa.list_(pa.float64())), problems


def of_strings(array: pa.Array, name: str) -> tuple[pa.Array, Problems]:
    """Written lists, as CSV has them, such as ``[0.1, -2]`` or ``[0.1 -2]``, as an Arrow array of lists."""

    def numbers(written: str | None) -> list[float] | None:
        text = "" if written is None else written.strip()
        if not text:
            return None
        try:
            inner = text[1:-1] if text[0] + text[-1] in ("[]", "()") else text
            return [float(part) for part in inner.replace(",", " ").split()]
        except ValueError:
            raise Unusable(f"`{name}` is `{values.cut(text)}`, not a list of numbers") from None

    listed, problems = values.each(array.to_pylist(), numbers, None)
    return pa.array(listed, pa.list_(pa.float64())), problems


def lengths_of(array: pa.Array) -> NDArray[np.int64]:
    """How many numbers each list has, -1 where there is none."""
    if pa.types.is_fixed_size_list(array.type):
        there = array.is_valid().to_numpy(zero_copy_only=False)
        return np.where(there, array.type.list_size, -1).astype(np.int64)
    lengths: NDArray[np.int64] = pc.fill_null(pc.list_value_length(array), -1).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)


def usual_size(array: pa.Array) -> tuple[int, bool]:
    """The length that most lists have, 0 where there are none; and whether others can be mistakes."""
    counts = Counter(length for length in lengths_of(array).tolist() if length >= 0)
    if not counts:
        return 0, False
    size, times = counts.most_common(1)[0]
    return min(size, VECTOR_MOST), size <= VECTOR_MOST and times >= MOSTLY * counts.total()


def matrix_of(array: pa.Array, name: str, size: int, largest: float) -> tuple[Floats, Problems]:
    """Arrow lists as the rows of a matrix (N, size), NaN where one is missing; numbers up to ``largest``."""
    lengths = lengths_of(array)
    problems = {
        int(at): f"`{name}` has {lengths[at]:,} number{'' if lengths[at] == 1 else 's'}, not {size:,}"
        for at in np.flatnonzero((lengths != size) & (lengths >= 0))
    }
    matrix = np.full((len(array), size), np.nan)
    good = np.flatnonzero(lengths == size)
    if not len(good):
        return matrix, problems
    chosen = array if len(good) == len(array) else array.take(pa.array(good))
    numbers = pc.cast(chosen.flatten(), pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    matrix[good] = numbers.reshape(len(good), size)
    wrong = ~(np.abs(matrix[good]) <= largest)  # NaN is neither
    for at in np.flatnonzero(wrong.any(axis=1)).tolist():
        place = int(wrong[at].argmax())
        value = float(matrix[good[at], place])
        what = "no number" if np.isnan(value) else f"{value:g}"
        problems[int(good[at])] = f"`{name}` has {what} at position {place + 1}"
        matrix[good[at]] = np.nan
    return matrix, problems
