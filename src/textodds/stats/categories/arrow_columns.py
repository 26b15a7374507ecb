"""Whatever holds a column, as a list of its entries and the place of each row's in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data.values import is_null
from textodds.errors import InputError


def entries(values: object) -> tuple[list[str | None], NDArray[np.int64]]:
    """The entries of a column as text, and which of them each row has, (N,), -1 for none.

    An entry may be there twice, be None, or have no row.
    """
    array = _arrow(values)
    if pa.types.is_null(array.type):
        return [], np.full(len(array), -1)
    encoded = _encode(array)
    indices = pc.fill_null(pc.cast(encoded.indices, pa.int64()), -1).to_numpy(zero_copy_only=False)
    return _names(encoded.dictionary, indices), indices


def _arrow(values: object) -> pa.Array | pa.ChunkedArray:
    """``values`` as an Arrow array, in one piece or several."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        array = values
    elif (
        isinstance(values, (str, bytes)) or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) != 1
    ):
        raise InputError(f"a column holds one value for each row, got {repr(values)[:40]}")
    elif hasattr(values, "__arrow_c_stream__") and not hasattr(values, "iloc"):
        array = pa.chunked_array(values)
    else:
        values = values if hasattr(values, "__len__") else list(values)
        try:
            array = pa.array(values, from_pandas=True)  # NaN is null
        except (pa.ArrowException, OverflowError, UnicodeEncodeError, ValueError, TypeError) as error:
            raise _unreadable(values, error) from None
    if isinstance(array.type, pa.BaseExtensionType):
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        array = pa.chunked_array([chunk.storage for chunk in chunks], array.type.storage_type)
    return array


def _encode(array: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """``array`` as one dictionary array, of text or of numbers."""
    is_plain = not pa.types.is_dictionary(array.type)
    kind = array.type if is_plain else array.type.value_type
    if is_plain and str(kind) in {"binary", "large_binary", "string_view", "binary_view"}:
        kind = pa.large_string()
        try:
            array = pc.cast(array, kind)
        except pa.ArrowInvalid as error:
            raise InputError(f"a column holds bytes that are not UTF-8: {error}") from None
    text = str(kind) in {"string", "large_string", "string_view"}
    if not (text or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind)):
        raise InputError(
            f"a column holds {kind}, which are not categories",
            hint="make them text, whole numbers or truth values",
        )
    if is_plain:
        array = array.dictionary_encode()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # of no chunks at all
            array = pa.array([], array.type)
    return array


def _names(dictionary: pa.Array, indices: NDArray[np.int64]) -> list[str | None]:
    """The entries of a dictionary as text; None for those that are missing values."""
    if pa.types.is_integer(dictionary.type) or pa.types.is_boolean(dictionary.type):
        dictionary = pc.cast(dictionary, pa.string())
    if not pa.types.is_floating(dictionary.type):
        try:
            names: list[str | None] = dictionary.to_pylist()
        except UnicodeDecodeError as error:
            raise InputError(f"a column holds text that is not UTF-8: {error}") from None
        return names
    values = dictionary.to_numpy(zero_copy_only=False).astype(np.float64)  # null is NaN
    broken = np.isinf(values) | (~np.isnan(values) & (values != np.floor(values)))
    rows = np.flatnonzero(np.append(broken, False)[indices])
    if len(rows):
        raise InputError(
            f"row {rows[0]} has {values[indices[rows[0]]]:g}; numbers as categories are whole",
            hint="cut them into ranges, or write them as text if each is a category",
        )
    return [
        None if np.isnan(value) or bad else str(int(value)) for value, bad in zip(values, broken, strict=True)
    ]


def _unreadable(values: Iterable[Any], error: Exception) -> InputError:
    """The error for Python objects that are not a column of one kind, with the first row that shows it."""
    first: dict[str, int] = {}
    for row, value in enumerate(values):
        kind = _kind(value)
        if kind == "a missing value":
            continue
        first.setdefault(kind, row)
        if kind == "text" and isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError as half:
                return InputError(f"row {row} has half a surrogate pair at character {half.start}")
        if kind == "a number" and not -(2**63) <= value < 2**63:
            return InputError(f"row {row} has a number beyond 64 bits", hint="write such numbers as text")
        if len(first) > 1:
            (one, i), (other, j) = first.items()
            return InputError(
                f"a column is of mixed types: row {i} has {one}, row {j} has {other}",
                hint="make them all text, or all numbers",
            )
    return InputError(f"a column cannot be read: {error}", hint="make it text, or whole numbers")


def _kind(value: object) -> str:
    if is_null(value):
        return "a missing value"
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "a truth value"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return "a number"
    return f"a {type(value).__name__}"
