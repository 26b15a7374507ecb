"""What may be a text, a label or a weight, among Python objects.

Each check returns the values as they go into a batch, and what is wrong with those that cannot,
by position: ``{position: reason}``. A position with a problem holds a placeholder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels

Problems: TypeAlias = dict[int, str]
T = TypeVar("T")

WEIGHT_MOST = 2.0**32  # so that the sums of the tally stay exact; the kernels hold to it too

NULL_TEXT = "text is null"
EMPTY_LABEL = "label is empty"
NULL_WEIGHT = "weight is null"


class Unusable(Exception):  # not an error a user meets: it becomes the reason of a bad row
    """A value cannot go into a batch; says why."""


class Unreadable:
    """Stands in the place of a row, or of a value, that could not even be taken apart."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


def texts_of(values: list[Any]) -> tuple[list[str], Problems]:
    """``values`` as texts.

    >>> texts_of(["a", None, 3])
    (['a', '', ''], {1: 'text is null', 2: 'text is 3 (int), not text'})
    """
    if _kernels.are_texts(values):
        return values, {}
    return each(values, text_of, "")


def labels_of(values: list[Any]) -> tuple[list[str], Problems]:
    """``values`` as labels.

    >>> labels_of([3, True, 3.0, 0.5, "", float("nan")])
    (['3', 'true', '3', '0.5', '', ''], {4: 'label is empty', 5: 'label is empty'})
    """
    if _kernels.are_texts(values) and "" not in values:
        return values, {}
    return each(values, label_of, "")


def weights_of(values: list[Any], *, may_be_strings: bool = False) -> tuple[NDArray[np.float64], Problems]:
    """``values`` as weights; a string of Python's is never a number, whatever ``may_be_strings`` says."""
    weights, problems = each(values, weight_of, 0.0)
    return np.array(weights, dtype=np.float64), problems


def as_python(value: object) -> object:
    """``value`` itself, where `arrow` has to unwrap one."""
    return value


def text_of(value: object) -> str:
    """``value`` as a text, or `Unusable`. An empty text is a document like any other."""
    if isinstance(value, str):
        return _encodable(str(value), "text")
    if isinstance(value, bytes):
        return _decoded(value, "text")
    if isinstance(value, Unreadable):
        raise Unusable(value.reason)
    if is_null(value):
        raise Unusable(NULL_TEXT)
    raise Unusable(f"text is {_shown(value)}, not text")


def label_of(value: object) -> str:
    """``value`` as a label, or `Unusable`. Numbers become text as one would write them by hand."""
    label = written(value, "label")
    if not label:
        raise Unusable(EMPTY_LABEL)
    return label


def written(value: object, what: str) -> str | None:
    """``value`` as one would write it by hand, None where it is null; `Unusable` calls it ``what``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return _encodable(str(value), what)
    if isinstance(value, bytes):
        return _decoded(value, what)
    if is_null(value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return _digits(value, what)
    if isinstance(value, date):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        whole = value.is_finite() and value == value.to_integral_value()
        return _digits(int(value), what) if whole else str(value)
    raise Unusable(f"{what} is {_shown(value)}, not text or a number")


def weight_of(value: object) -> float:
    """``value`` as a weight, or `Unusable`. A number in quotes is not a number."""
    if value is None:
        raise Unusable(NULL_WEIGHT)
    if isinstance(value, (Real, Decimal)) and not isinstance(value, bool):
        try:
            weight = float(value)
        except (OverflowError, ValueError):  # too large for a float, or a signalling NaN
            weight = value = math.inf
        if 0 <= weight <= WEIGHT_MOST:
            return weight
    raise Unusable(not_a_weight(value))


def not_a_weight(value: object) -> str:
    """The reason for something that cannot be a weight."""
    return f"weight is `{cut(str(value))}`; it must be a number from 0 to 2^32"


def is_null(value: object) -> bool:
    """Whether ``value`` stands for nothing: None, NaN, or the missing values of pandas."""
    # By name, because pandas itself may not be there to be asked.
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, Decimal) and value.is_nan())
        or type(value).__name__ in {"NAType", "NaTType"}
    )


def not_utf8(what: str, error: UnicodeDecodeError) -> str:
    """The reason for bytes that are not UTF-8, with their offset in the field."""
    return f"invalid UTF-8 at byte {error.start} of the {what}"


def each(values: Iterable[Any], convert: Callable[[Any], T], placeholder: T) -> tuple[list[T], Problems]:
    """The ``values`` after ``convert``, and the reasons of those for which it raises `Unusable`."""
    converted, problems = [], {}
    for at, value in enumerate(values):
        try:
            converted.append(convert(value))
        except Unusable as unusable:
            converted.append(placeholder)
            problems[at] = str(unusable)
    return converted, problems


def _encodable(text: str, what: str) -> str:
    # JSON's "\ud800" and file names on Unix give strings that no encoding can write.
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        half = ord(text[error.start])
        raise Unusable(
            f"{what} has half a surrogate pair (U+{half:04X}) at character {error.start}"
        ) from None
    return text


def _digits(number: int, what: str) -> str:
    try:
        return str(number)
    except ValueError:  # Python refuses to write out thousands of digits
        raise Unusable(f"{what} is a number of {number.bit_length():,} bits") from None


def _decoded(value: bytes, what: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise Unusable(not_utf8(what, error)) from None


def _shown(value: object) -> str:
    return f"{cut(repr(value))} ({type(value).__name__})"


def cut(shown: str, most: int = 40) -> str:
    """``shown``, shortened if it is longer than ``most`` characters."""
    return shown if len(shown) <= most else f"{shown[:most]}…"
