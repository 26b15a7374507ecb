"""The kind of a column, by its type or by what its first rows hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textodds.data import arrow, vectors
from textodds.data.batch import BATCH_ROWS
from textodds.data.schema import GIVEN, Column

if TYPE_CHECKING:
    from textodds.data.admission import Part

# A text has more words than this on average, and most texts are different.
TEXT_WORDS = 4.0
TEXT_DIFFERENT = 0.5

# What is different in nearly every row names the row, and tells nothing about others.
ID_ROWS = 20
ID_DIFFERENT = 0.95

# Scripts without blanks between words: each character counts as one.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+"

# So many values tell already that a column is none of numbers.
FEW = 64

NO_VALUES = "no values"


def found(name: str, parts: Sequence[Part], *, vector: bool = False) -> Column:
    """The column ``name`` of a kind that suits its values in ``parts``, the first rows of a source.

    With ``vector`` it is known to be one of vectors, whose size is found.
    """
    arrays, rows = [], 0
    for part in parts:
        if name in part.names and rows < BATCH_ROWS:
            first = part.columns[part.names.index(name)].array[: BATCH_ROWS - rows]
            arrays.append(arrow.plain(first))
        rows += part.length
    array = _joined(name, arrays)
    kind = array.type
    if not len(array) or array.null_count == len(array):
        return Column(name, "ignore", NO_VALUES)
    if vector or vectors.is_list(kind):
        return _of_vectors(name, array, is_given=vector)
    if pa.types.is_boolean(kind):
        return Column(name, "category", "true or false")
    if pa.types.is_dictionary(kind):
        categories, _ = arrow.categories_of(name, array)
        return _category(name, categories)
    if arrow.is_number(kind):
        return _of_numbers(name, arrow.numbers_of(name, array)[0])
    if arrow.is_string(kind):
        return _of_strings(name, arrow.sound(name, array)[0])
    return Column(name, "ignore", f"{_called(kind)} are not used")


def _of_vectors(name: str, array: pa.Array, *, is_given: bool) -> Column:
    size, is_one = vectors.usual_size(arrow.lists_of(name, array)[0])
    if not size:
        return Column(name, "ignore", NO_VALUES)
    if not is_one and not is_given:
        return Column(name, "ignore", "lists of different lengths")
    return Column(name, "vector", GIVEN if is_given else f"vectors of {size:,} numbers", size)


def _of_numbers(name: str, numbers: NDArray[np.float64]) -> Column:
    different = np.unique(numbers[~np.isnan(numbers)])
    if not len(different):
        return Column(name, "ignore", NO_VALUES)
    if len(different) <= 2 and np.isfinite(different).all() and (different == np.rint(different)).all():
        return Column(name, "category", "two values" if len(different) == 2 else "one value")
    return Column(name, "number", f"numbers, {len(different):,} different")


def _of_strings(name: str, array: pa.Array) -> Column:
    present = arrow.stripped(array).drop_null()
    if not len(present):
        return Column(name, "ignore", NO_VALUES)
    if pc.all(pc.match_substring_regex(present, r"^\[[-+.,\deE\s]*\]$")).as_py():
        return _of_vectors(name, present, is_given=False)
    _, problems = arrow.numbers_of(name, present.slice(0, FEW))
    if not problems:  # not every word is looked at as a number
        numbers, problems = arrow.numbers_of(name, present)
    if not problems:
        return _of_numbers(name, numbers)
    different = pc.count_distinct(present).as_py()
    words = pc.mean(pc.count_substring_regex(present, _WORD)).as_py()
    if words > TEXT_WORDS and different > TEXT_DIFFERENT * len(present):
        return Column(name, "text", f"{words:.0f} words on average")
    if len(present) >= ID_ROWS and different >= ID_DIFFERENT * len(present):
        nearly = "" if different == len(present) else "nearly "
        return Column(name, "ignore", f"a different value in {nearly}every row")
    return _category(name, arrow.categories_of(name, present)[0])


def _category(name: str, categories: pa.Array) -> Column:
    different = pc.count_distinct(categories).as_py()
    if not different:
        return Column(name, "ignore", NO_VALUES)
    return Column(name, "category", f"{different:,} different value{'' if different == 1 else 's'}")


def _joined(name: str, arrays: list[pa.Array]) -> pa.Array:
    """``arrays`` as one; as strings where their types differ, as those of JSON can."""
    arrays = [array for array in arrays if not pa.types.is_null(array.type)]
    if not arrays:
        return pa.nulls(0)
    if len(arrays) == 1:
        return arrays[0]
    types = {array.type for array in arrays}
    try:
        if len(types) == 1 and not pa.types.is_dictionary(arrays[0].type):
            return pa.concat_arrays(arrays)
        if all(map(arrow.is_number, types)):
            return pa.concat_arrays([pa.array(arrow.numbers_of(name, array)[0]) for array in arrays])
        return pa.concat_arrays([arrow.categories_of(name, array)[0] for array in arrays])
    except (pa.ArrowException, ValueError):  # lists beside numbers, say
        return arrays[0]


def _called(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    if types.is_time(kind) or types.is_duration(kind) or types.is_interval(kind):
        return "times"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return "bytes"
    if types.is_struct(kind) or types.is_map(kind) or types.is_nested(kind):
        return "lists and objects"
    return f"values of type {kind}"
