"""What may be a text, a label, a weight, a number or a category, among Arrow arrays.

As `values`, without a Python call per row: each function returns what goes into a batch and what is wrong
with the values that cannot, by position. Those of a table take the name of a column too.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data import values, vectors
from textodds.data.batch import BETWEEN_FIELDS
from textodds.data.schema import Column
from textodds.data.values import Problems, Unusable
from textodds.errors import InputError

Array: TypeAlias = pa.Array

# Strings that stand for no value, in whatever source: a table means the same in CSV and in a frame.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")

NUMBER_MOST = 1e100  # squares and their sums stay finite

# What Arrow too reads as a number, but for infinity and NaN.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,15}))\.0+", re.ASCII)
_BOOLEANS = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}


def texts_of(array: Array) -> tuple[Array, Problems]:
    """``array`` as the texts of a source of texts, of which none is null."""
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


def weights_of(array: Array, *, may_be_strings: bool) -> tuple[NDArray[np.float64], Problems]:
    """``array`` as weights; those of CSV are strings."""
    array = plain(array) if may_be_strings else array
    kind = array.type
    problems: Problems = {}
    if may_be_strings and is_string(kind):
        weights, problems = _parsed("weight", array)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        # Beyond 2^53 whole numbers are rounded, as float() would.
        weights = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    else:
        return values.weights_of(array.to_pylist())
    for at in np.flatnonzero(~((weights >= 0) & (weights <= values.WEIGHT_MOST))).tolist():
        value = as_python(array[at])
        problems[at] = values.NULL_WEIGHT if value is None else values.not_a_weight(value)
    return weights, problems


def as_python(scalar: pa.Scalar) -> object:
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


def is_string(kind: pa.DataType) -> bool:
    """Whether ``kind`` is a type of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def is_bytes(kind: pa.DataType) -> bool:
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


def of_objects(items: Any, name: str) -> tuple[Array, Problems]:
    """A column as an Arrow array: of the type its values have, or as strings if they have several."""
    if isinstance(items, pa.Array):
        return items, {}
    if isinstance(items, np.ndarray):
        if not items.dtype.isnative or items.dtype.itemsize > 8:  # which Arrow does not take
            items = items.astype(np.float64 if items.dtype.kind == "f" else items.dtype.newbyteorder("="))
        return (pa.array(items) if items.ndim == 1 else vectors.of_matrix(items)), {}
    types = set(map(type, items)) - {type(None)}
    # Arrow would take True for 1.0 beside numbers, and bytes for text beside text.
    if len(types) == 1 or not types & {bool, np.bool_, bytes}:
        try:
            return pa.array(items, from_pandas=True), {}
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            pass  # of several types, of one that is not Arrow's, or not to be written in UTF-8
    if 2 * sum(isinstance(item, (list, tuple, np.ndarray)) for item in items) > len(items):
        return vectors.of_objects(items, name)
    written, problems = values.each(items, lambda item: values.written(item, _column(name)), None)
    return pa.array(written, pa.large_string()), problems


def read_as(column: Column, array: Array) -> tuple[Any, Problems]:
    """``array`` as the values of a column of a table, by its kind."""
    if column.kind == "vector":
        assert column.size is not None
        return vectors_of(column.name, array, column.size)
    kinds = {"number": numbers_of, "category": categories_of, "text": table_texts_of}
    return kinds[column.kind](column.name, array)


def vectors_of(name: str, array: Array, size: int) -> tuple[NDArray[np.float64], Problems]:
    """``array`` as vectors (N, size), NaN where one is missing."""
    lists, problems = lists_of(name, array)
    matrix, bad = vectors.matrix_of(lists, name, size, NUMBER_MOST)
    return matrix, bad | problems


def lists_of(name: str, array: Array) -> tuple[Array, Problems]:
    """``array`` as lists of numbers, be they written ones."""
    problems: Problems = {}
    array = plain(array)
    if isinstance(array, pa.ExtensionArray):  # the tensors of other libraries, say
        array = array.storage
    if is_string(array.type):
        array, problems = sound(name, array)
        array, bad = vectors.of_strings(array, name)
        problems |= bad
    elif pa.types.is_null(array.type):
        array = array.cast(pa.list_(pa.float64()))
    if not vectors.is_list(array.type):
        raise unreadable(name, array.type, "vectors")
    return array, problems


def numbers_of(name: str, array: Array) -> tuple[NDArray[np.float64], Problems]:
    """``array`` as numbers, NaN where one is missing."""
    array = plain(array)
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = _compact(array)
        numbers, problems = numbers_of(name, array.dictionary)
        return np.append(numbers, np.nan)[entries_of(array)], spread(array, problems)
    if is_string(kind):
        return _parsed(name, array)
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan), {}
    if not (is_number(kind) or pa.types.is_boolean(kind)):
        raise unreadable(name, kind, "numbers")
    # Beyond 2^53 whole numbers are rounded, as float() would.
    numbers = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    problems = {
        int(at): _too_large(name, float(numbers[at])) for at in np.flatnonzero(np.abs(numbers) > NUMBER_MOST)
    }
    return numbers, problems


def categories_of(name: str, array: Array) -> tuple[Array, Problems]:
    """``array`` as utf8, without blanks around the values, null where one is missing."""
    return _written(name, array, as_category)


def table_texts_of(name: str, array: Array) -> tuple[Array, Problems]:
    """``array`` as the texts of a table: utf8, or large_utf8 beyond 2 GiB; empty where one is missing."""
    array = plain(array)
    if is_string(array.type):
        array, problems = sound(name, array)
    else:
        array, problems = _written(name, array, lambda written: written)
    if array.null_count:
        array = pc.fill_null(array, "")
    if not pa.types.is_string(array.type):
        try:
            array = pc.cast(array, pa.string())
        except pa.ArrowInvalid:  # offsets of 32 bits do not reach that far
            array = pc.cast(array, pa.large_string())
    return array, problems


def as_category(written: str) -> str | None:
    """A string as a category: the same for a value whether it was typed or written, None if missing.

    >>> as_category(" red "), as_category("3.0"), as_category("True"), as_category("?")
    ('red', '3', 'true', None)
    """
    written = written.strip()
    if written in MISSING:
        return None
    whole = _WHOLE.fullmatch(written)
    return str(int(whole[1])) if whole else _BOOLEANS.get(written, written)


def plain(array: Array) -> Array:
    """``array`` without a wrapping that does not matter, strings among them as utf8 or large_utf8."""
    if isinstance(array, pa.ExtensionArray) and (
        is_string(array.storage.type) or pa.types.is_dictionary(array.storage.type)
    ):
        array = array.storage
    if str(array.type) == "string_view":  # for which most functions are missing, in pyarrow 26
        return pc.cast(array, pa.large_string())
    return array


def sound(name: str, array: Array) -> tuple[Array, Problems]:
    """The strings of ``array``, null where they are not the UTF-8 they claim to be."""
    problems = not_utf8(array, _column(name))
    if problems:
        keep = np.ones(len(array), dtype=np.bool_)
        keep[list(problems)] = False
        array = pc.if_else(pa.array(keep), array, pa.scalar(None, array.type))
    return array, problems


def stripped(array: Array) -> Array:
    """The strings of ``array`` without blanks around them, null where they stand for no value."""
    array = pc.utf8_trim_whitespace(array)
    missing = pc.is_in(array, value_set=pa.array(MISSING, array.type))
    return pc.if_else(missing, pa.scalar(None, array.type), array)


def is_number(kind: pa.DataType) -> bool:
    """Whether ``kind`` is a type of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def unreadable(name: str, kind: pa.DataType, what: str) -> InputError:
    """The error for a column of a type that cannot be read as it should."""
    return InputError(
        f"column `{name}` holds {kind}, which cannot be read as {what}",
        hint=f"leave it out with `--columns {name}=ignore` (columns={{{name!r}: 'ignore'}})",
    )


def _parsed(name: str, array: Array) -> tuple[NDArray[np.float64], Problems]:
    array, problems = sound(name, array)
    present = stripped(array)
    try:
        numbers = pc.cast(present, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        numbers = None
    if numbers is not None:
        # Arrow reads `inf` and `NAN` too, and makes `1e999` infinite.
        doubtful = ~(np.abs(numbers) <= NUMBER_MOST) & present.is_valid().to_numpy(zero_copy_only=False)
        if not doubtful.any():
            return numbers, problems
    encoded = present.dictionary_encode()
    distinct, bad = values.each(
        encoded.dictionary.to_pylist(), lambda written: _number(name, written), np.nan
    )
    return np.array([*distinct, np.nan])[entries_of(encoded)], problems | spread(encoded, bad)


def _number(name: str, written: str) -> float:
    if _INFINITE.fullmatch(written):
        raise Unusable(f"`{name}` is infinite")
    if not _NUMBER.fullmatch(written):
        raise Unusable(f"`{name}` is `{values.cut(written)}`, not a number")
    number = float(written)
    if abs(number) > NUMBER_MOST:
        raise Unusable(_too_large(name, number))
    return number


def _too_large(name: str, number: float) -> str:
    if np.isinf(number):
        return f"`{name}` is infinite"
    return f"`{name}` is {number:g}; numbers go up to {NUMBER_MOST:g} in size"


def _written(name: str, array: Array, convert: Any) -> tuple[Array, Problems]:
    """``array`` as utf8, each different value written once and converted once."""
    array = plain(array)
    problems: Problems = {}
    kind = array.type
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.string()), {}
    if is_string(kind):
        array, problems = sound(name, array)
    if pa.types.is_dictionary(kind):
        array = _compact(array)
    else:
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise unreadable(name, kind, "text") from None

    def entry(value: object) -> str | None:
        written = values.written(as_python(value), _column(name))
        return None if written is None else convert(written)

    entries, bad = values.each(array.dictionary, entry, None)
    return pa.array(entries, pa.string()).take(array.indices), problems | spread(array, bad)


def _compact(array: Array) -> Array:
    """A dictionary array whose dictionary is not much larger than itself, as that of a slice can be."""
    if len(array.dictionary) <= 2 * len(array) + 16:
        return array
    entries = pc.unique(array.indices)
    return pa.DictionaryArray.from_arrays(
        pc.index_in(array.indices, value_set=entries.drop_null()), array.dictionary.take(entries.drop_null())
    )


def _column(name: str) -> str:
    return f"column `{name}`"


def joined(columns: list[Any], separator: str, *, is_blank_empty: bool) -> Array:
    """The texts of several columns in one, the ``separator`` between them; nulls are empty.

    Where all are empty, so is the text of a table, which then has no value: ``is_blank_empty``.
    """
    arrays = [pa.array(each) if isinstance(each, list) else each for each in columns]
    plain = [pc.fill_null(pc.cast(array, pa.large_string()), "") for array in arrays]
    if separator == BETWEEN_FIELDS:
        plain = [pc.replace_substring(column, separator, " ") for column in plain]
    texts = pc.binary_join_element_wise(*plain, pa.scalar(separator, pa.large_string()))
    if not is_blank_empty:
        return texts
    is_blank = pc.equal(pc.binary_length(texts), len(separator) * (len(columns) - 1))
    return pc.if_else(is_blank, pa.scalar("", texts.type), texts)
