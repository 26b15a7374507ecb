"""What may be a text, a label or a weight, among Arrow arrays: `values`, without a Python call per row."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data import values
from textodds.data.values import Problems
from textodds.errors import InputError

Array: TypeAlias = Any  # pyarrow has no types of its own


def texts_of(array: Array) -> tuple[Array, Problems]:
    """``array`` as texts."""
    array = _strings(array)
    kind = array.type
    if pa.types.is_null(kind):
        return pa.array([""] * len(array)), dict.fromkeys(range(len(array)), values.NULL_TEXT)
    if pa.types.is_dictionary(kind):
        entries = array.dictionary
        checked, problems = texts_of(entries)
        if checked is not entries:
            array = pa.DictionaryArray.from_arrays(array.indices, checked)
        return array, _spread(array, problems, values.NULL_TEXT)
    if not _is_string(kind):
        raise InputError(
            f"the text column holds {kind}, not text",
            hint="name another column with `--text COLUMN` (text='COLUMN')",
        )
    return array, not_utf8(array, "text") | _nulls(array, values.NULL_TEXT)


def labels_of(array: Array) -> tuple[Array, Problems]:
    """``array`` as labels."""
    array = _strings(array)
    kind = array.type
    if pa.types.is_null(kind):
        return pa.array([""] * len(array)), dict.fromkeys(range(len(array)), values.EMPTY_LABEL)
    if pa.types.is_dictionary(kind):
        entries = array.dictionary
        checked, problems = labels_of(entries)
        if pa.types.is_dictionary(checked.type):  # numbers, which were encoded once more
            checked = checked.dictionary_decode()
        if checked is not entries:
            array = pa.DictionaryArray.from_arrays(array.indices, checked)
        return array, _spread(array, problems, values.EMPTY_LABEL)
    if _is_string(kind):
        problems = not_utf8(array, "label") | _nulls(array, values.EMPTY_LABEL)
        for at in np.flatnonzero(_mask(pc.equal(array, pa.scalar("", kind)))):
            problems[int(at)] = values.EMPTY_LABEL
        return array, problems
    try:
        encoded = array.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"the label column holds {kind}, not text or numbers",
            hint="name another column with `--label COLUMN` (label='COLUMN')",
        ) from None
    names, problems = values.labels_of(encoded.dictionary.to_pylist())
    labels = pa.DictionaryArray.from_arrays(encoded.indices, pa.array(names, pa.string()))
    return labels, _spread(labels, problems, values.EMPTY_LABEL)


def weights_of(array: Array) -> tuple[NDArray[np.float64], Problems]:
    """``array`` as weights."""
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return values.weights_of(array.to_pylist())
    # Beyond 2^53 whole numbers are rounded, as float() would.
    weights = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    problems = {}
    for at in np.flatnonzero(~((weights >= 0) & (weights <= values.WEIGHT_MOST))):
        try:
            values.weight_of(array[int(at)].as_py())
        except values.Unusable as unusable:
            problems[int(at)] = str(unusable)
    return weights, problems


def kept(array: Array, keep: NDArray[np.bool_]) -> Array | list[str]:
    """The rows of ``array`` where ``keep``."""
    try:
        return array.filter(pa.array(keep))
    except pa.ArrowNotImplementedError:  # utf8_view, in pyarrow 26
        return [array[int(at)].as_py() for at in np.flatnonzero(keep)]


def as_python(scalar: Array) -> object:
    """The value of ``scalar``, as bytes where it is not the UTF-8 it claims to be."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return error.object


def _strings(array: Array) -> Array:
    """``array`` without a wrapping that does not matter, and bytes as strings."""
    if isinstance(array, pa.ExtensionArray) and (
        _is_string(array.storage.type) or _is_bytes(array.storage.type)
    ):
        array = array.storage  # JSON, say; but the numbers behind a period are not what it means
    if _is_bytes(array.type):
        # Unchecked, because the check of strings names the row, and the cast does not.
        unchecked = pc.CastOptions(pa.large_string(), allow_invalid_utf8=True)
        return pc.cast(pc.cast(array, pa.large_binary()), options=unchecked)
    return array


def _is_string(kind: Array) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind, "string"))


def _is_bytes(kind: Array) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or _is_view(kind, "binary"))


def _is_view(kind: Array, of: str) -> bool:
    return str(kind) == f"{of}_view"


def _nulls(array: Array, reason: str) -> Problems:
    if not array.null_count:
        return {}
    return {int(at): reason for at in np.flatnonzero(_mask(array.is_null()))}


def not_utf8(array: Array, what: str) -> Problems:
    """The strings of ``array`` that are not UTF-8, each with the byte at which that shows."""
    # Producers promise UTF-8; Parquet files written by others do not always keep the promise.
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return {}
    problems = {}
    for at in range(len(array)):
        try:
            array[at].as_py()
        except UnicodeDecodeError as error:
            problems[at] = values.not_utf8(what, error)
    return problems


def _mask(array: Array) -> NDArray[np.bool_]:
    filled: NDArray[np.bool_] = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return filled


def _spread(array: Array, problems: Problems, null: str) -> Problems:
    """Problems of the entries of a dictionary, as those of the rows that refer to them."""
    entries: NDArray[np.int64] = pc.fill_null(array.indices.cast(pa.int64()), -1).to_numpy(
        zero_copy_only=False
    )
    problems = {**problems, -1: null}
    return {int(at): problems[int(entries[at])] for at in np.flatnonzero(np.isin(entries, list(problems)))}
