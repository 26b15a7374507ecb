"""What may be a text, a label or a weight, among Arrow arrays: `values`, without a Python call per row."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data import values
from textodds.data.batch import BETWEEN_FIELDS
from textodds.data.values import Problems
from textodds.errors import InputError

Array: TypeAlias = Any  # pyarrow has no types of its own


def texts_of(array: Array) -> tuple[Array, Problems]:
    """``array`` as texts."""
    array = _strings(array)
    if _is_indirect(array):
        return _by_entries(array, texts_of, values.NULL_TEXT)
    if not is_string(array.type):
        raise InputError(
            f"the text column holds {array.type}, not text",
            hint="name another column with `--text COLUMN` (text='COLUMN')",
        )
    return array, not_utf8(array, "text") | _where(array.is_null(), values.NULL_TEXT)


def labels_of(array: Array) -> tuple[Array, Problems]:
    """``array`` as labels."""
    array = _strings(array)
    if _is_indirect(array):
        return _by_entries(array, labels_of, values.EMPTY_LABEL)
    kind = array.type
    if is_string(kind):
        empty = _where(pc.equal(array, pa.scalar("", kind)), values.EMPTY_LABEL)
        return array, not_utf8(array, "label") | _where(array.is_null(), values.EMPTY_LABEL) | empty
    try:
        encoded = array.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"the label column holds {kind}, not text or numbers",
            hint="name another column with `--label COLUMN` (label='COLUMN')",
        ) from None
    names, problems = values.labels_of(encoded.dictionary.to_pylist())
    labels = pa.DictionaryArray.from_arrays(encoded.indices, pa.array(names, pa.string()))
    return labels, spread(labels, problems | {-1: values.EMPTY_LABEL})


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
        is_string(array.storage.type) or is_bytes(array.storage.type)
    ):
        array = array.storage  # JSON, say; but the numbers behind a period are not what it means
    if is_bytes(array.type):
        # Unchecked, because the check of strings names the row, and the cast does not.
        unchecked = pc.CastOptions(pa.large_string(), allow_invalid_utf8=True)
        return pc.cast(pc.cast(array, pa.large_binary()), options=unchecked)
    return array


def is_string(kind: Array) -> bool:
    """Whether ``kind`` is a type of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def is_bytes(kind: Array) -> bool:
    """Whether ``kind`` is a type of bytes of any length."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or str(kind) == "binary_view")


def _is_indirect(array: Array) -> bool:
    return bool(pa.types.is_null(array.type) or pa.types.is_dictionary(array.type))


def _by_entries(array: Array, check: Any, null: str) -> tuple[Array, Problems]:
    """What ``check`` says of a dictionary, or of nothing but nulls, each of which is bad for ``null``."""
    if pa.types.is_null(array.type):
        return pa.array([""] * len(array)), dict.fromkeys(range(len(array)), null)
    entries = array.dictionary
    checked, problems = check(entries)
    if pa.types.is_dictionary(checked.type):  # numbers, which were encoded once more
        checked = checked.dictionary_decode()
    if checked is not entries:
        array = pa.DictionaryArray.from_arrays(array.indices, checked)
    return array, spread(array, problems | {-1: null})


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


def _where(mask: Array, reason: str) -> Problems:
    if not mask.true_count:
        return {}
    return dict.fromkeys(np.flatnonzero(pc.fill_null(mask, False)).tolist(), reason)


def entries_of(array: Array) -> NDArray[np.int64]:
    """The entry of the dictionary that each value is, -1 for null."""
    entries: NDArray[np.int64] = pc.fill_null(array.indices.cast(pa.int64()), -1).to_numpy(
        zero_copy_only=False
    )
    return entries


def spread(array: Array, problems: Problems) -> Problems:
    """Problems of the entries of a dictionary, as those of the rows that refer to them."""
    if not problems:
        return {}
    entries = entries_of(array)
    return {int(at): problems[int(entries[at])] for at in np.flatnonzero(np.isin(entries, list(problems)))}


def strings(array: Array) -> list[str]:
    """The texts of a column, empty where it is null; what is not UTF-8 was noted before, and is left out."""
    return [(text or b"").decode(errors="replace") for text in pc.cast(array, pa.large_binary()).to_pylist()]


def joined(columns: list[Array], separator: str) -> Array:
    """The texts of several columns in one, the ``separator`` between them; nulls are empty."""
    plain = [pc.fill_null(pc.cast(column, pa.large_string()), "") for column in columns]
    if separator == BETWEEN_FIELDS:
        plain = [pc.replace_substring(column, separator, " ") for column in plain]
    return pc.binary_join_element_wise(*plain, pa.scalar(separator, pa.large_string()))
