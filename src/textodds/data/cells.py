"""The values of a table by kind: Arrow arrays of any type as numbers, categories or texts.

Each function takes the name of a column and its values, and returns what goes into a batch and what is
wrong with the values that cannot, by position, as those of `values` do.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data import arrow, values
from textodds.data.values import Problems, Unusable
from textodds.errors import InputError

Array: TypeAlias = Any  # pyarrow has no types of its own

# Strings that stand for no value, in whatever source: a table means the same in CSV and in a frame.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")

NUMBER_MOST = 1e100  # squares and their sums stay finite

# What Arrow too reads as a number, but for infinity and NaN.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,15}))\.0+", re.ASCII)
_BOOLEANS = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}


def of_list(items: list[Any], name: str) -> tuple[Array, Problems]:
    """The column of Python objects as an Arrow array: of their type, or as strings if they have several."""
    types = set(map(type, items)) - {type(None)}
    # Arrow would take True for 1.0 beside numbers, and bytes for text beside text.
    if len(types) == 1 or not types & {bool, np.bool_, bytes}:
        try:
            return pa.array(items, from_pandas=True), {}
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            pass  # of several types, of one that is not Arrow's, or not to be written in UTF-8
    written, problems = values.each(items, lambda item: values.written(item, _column(name)), None)
    return pa.array(written, pa.large_string()), problems


def numbers_of(name: str, array: Array) -> tuple[NDArray[np.float64], Problems]:
    """``array`` as numbers, NaN where one is missing."""
    array = plain(array)
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = _compact(array)
        numbers, problems = numbers_of(name, array.dictionary)
        return np.append(numbers, np.nan)[arrow.entries_of(array)], arrow.spread(array, problems)
    if arrow.is_string(kind):
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


def texts_of(name: str, array: Array) -> tuple[Array, Problems]:
    """``array`` as utf8 as it stands, or as large_utf8 beyond 2 GiB; empty where a text is missing."""
    array = plain(array)
    if arrow.is_string(array.type):
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


def joined_texts(name: str, arrays: list[Array]) -> tuple[Array, Problems]:
    """The texts of several columns, a newline between them; empty where all are missing."""
    problems: Problems = {}
    columns = []
    for array in arrays:
        texts, bad = texts_of(name, array)
        columns.append(texts)
        problems = bad | problems
    joined = pc.binary_join_element_wise(*columns, "\n")
    is_empty = pc.equal(pc.binary_length(joined), len(columns) - 1)
    return pc.if_else(is_empty, "", joined), problems


def weights_of(array: Array) -> tuple[NDArray[np.float64], Problems]:
    """``array`` as weights; strings too, because those of CSV are."""
    array = plain(array)
    if not arrow.is_string(array.type):
        return arrow.weights_of(array)
    weights, problems = _parsed("weight", array)
    for at in np.flatnonzero(~((weights >= 0) & (weights <= values.WEIGHT_MOST))):
        value = arrow.as_python(array[int(at)])
        problems[int(at)] = values.NULL_WEIGHT if value is None else values.not_a_weight(value)
    return weights, problems


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
        arrow.is_string(array.storage.type) or pa.types.is_dictionary(array.storage.type)
    ):
        array = array.storage
    if str(array.type) == "string_view":  # for which most functions are missing, in pyarrow 26
        return pc.cast(array, pa.large_string())
    return array


def sound(name: str, array: Array) -> tuple[Array, Problems]:
    """The strings of ``array``, null where they are not the UTF-8 they claim to be."""
    problems = arrow.not_utf8(array, _column(name))
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


def is_number(kind: Array) -> bool:
    """Whether ``kind`` is a type of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def unreadable(name: str, kind: Array, what: str) -> InputError:
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
    return np.array([*distinct, np.nan])[arrow.entries_of(encoded)], problems | arrow.spread(encoded, bad)


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
    if arrow.is_string(kind):
        array, problems = sound(name, array)
    if pa.types.is_dictionary(kind):
        array = _compact(array)
    else:
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise unreadable(name, kind, "text") from None

    def entry(value: object) -> str | None:
        written = values.written(arrow.as_python(value), _column(name))
        return None if written is None else convert(written)

    entries, bad = values.each(array.dictionary, entry, None)
    return pa.array(entries, pa.string()).take(array.indices), problems | arrow.spread(array, bad)


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
