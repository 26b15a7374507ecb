r"""The type of the labels a source has, how a label is named within a model, and labels that look alike.

Within a model every label is text, its name: 3 and 3.0 are ``3``, True is ``true``. What type it had is kept
beside the names (`LabelType`), so that answers have it again.

>>> LabelType("integer").values(("1", "2")), LabelType("boolean").values(("false", "true"))
((1, 2), (False, True))
>>> spellings({"billing": 40, "Billing ": 2, "sales": 7})
{'billing': {'billing': 40, 'Billing ': 2}}
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from textodds.data.named_arrays import AnyArray
from textodds.data.values import Unreadable, Unusable, is_null, label_of
from textodds.errors import InputError

T = TypeVar("T")
Label: TypeAlias = str | int | float | bool
"""A label as it was given in training: of Python's own types."""

TEXT, INTEGER, BOOLEAN, NUMBER = "text", "integer", "boolean", "number"
KINDS = (TEXT, INTEGER, BOOLEAN, NUMBER)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

MOST_CATEGORIES = 10_000
"""Categories that are remembered; a column of more is text that was stored so."""

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class LabelType:
    """Of what type labels were in training, and whether labels that look alike are one.

    ``kind`` is one of `KINDS`; ``dtype`` the type of NumPy that integers had. Of a categorical column
    ``categories`` are the names of all categories in their order, used or not.
    """

    kind: str = TEXT
    dtype: str = "int64"
    clean: bool = False
    categories: tuple[str, ...] | None = None
    ordered: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for the header of a file."""
        plain: dict[str, Any] = {"kind": self.kind, "dtype": self.dtype, "clean": self.clean}
        if self.categories is not None:
            plain |= {"categories": list(self.categories), "ordered": self.ordered}
        return plain

    @classmethod
    def of_dict(cls, plain: object) -> LabelType:
        """The type that `as_dict` made plain data of; text, where a file of before says nothing."""
        if plain is None:
            return cls()
        usual = {"kind", "dtype", "clean"}
        if not isinstance(plain, dict) or plain.keys() not in (usual, usual | {"categories", "ordered"}):
            raise InputError("header field `labels` is damaged")
        if (
            plain["kind"] not in KINDS
            or plain["dtype"] not in INTEGERS
            or not isinstance(plain["clean"], bool)
        ):
            raise InputError("header field `labels` names an unknown type of labels")
        found = cls(plain["kind"], plain["dtype"], plain["clean"])
        if "categories" not in plain:
            return found
        names, ordered = plain["categories"], plain["ordered"]
        is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not is_list or len(set(names)) < len(names) or not isinstance(ordered, bool):
            raise InputError("header field `labels` has damaged categories")
        return replace(found, categories=tuple(names), ordered=ordered)

    def value(self, name: str) -> Label:
        """The label of that name, as it was given; a name that is none of this type stays text."""
        try:
            if self.kind == INTEGER:
                return int(name)
            if self.kind == NUMBER:
                return float(name)
        except ValueError:
            return name
        return _BOOLEANS.get(name, name) if self.kind == BOOLEAN else name

    def values(self, names: Sequence[str]) -> tuple[Label, ...]:
        """The labels of some names."""
        return tuple(names) if self.kind == TEXT else tuple(map(self.value, names))

    def all_categories(self, names: Iterable[str]) -> tuple[Label, ...] | None:
        """All categories as labels, later ones among ``names`` behind; None if there are none."""
        if self.categories is None:
            return None
        return self.values(tuple(dict.fromkeys((*self.categories, *names))))

    def array(self, names: Sequence[str]) -> AnyArray:
        """The labels of some names, (K,), in an array of their own type; text is Python's."""
        labels = self.values(names)
        dtype = {INTEGER: self.dtype, BOOLEAN: "bool", NUMBER: "float64"}.get(self.kind, "object")
        if dtype != "object" and not any(isinstance(label, str) for label in labels):
            try:
                return np.array(labels, dtype=dtype)
            except OverflowError:  # learned later, and beyond the type of those before
                pass
        found = np.empty(len(labels), dtype=object)  # NumPy's own text would lose a final NUL
        found[:] = labels
        return found

    def fits(self, name: str) -> bool:
        """Whether there can be a label of that name."""
        return self.kind == TEXT or not isinstance(self.value(name), str)

    def must_fit(self, names: Iterable[str]) -> None:
        """Refuse names that no label of this type has."""
        for name in names:
            if not self.fits(name):
                kind = {BOOLEAN: "true or false", INTEGER: "whole numbers", NUMBER: "numbers"}[self.kind]
                raise InputError(
                    f"the labels of the model are {kind}, and `{name}` is not",
                    hint="give a label of that type; or train a model whose labels are text",
                )

    def together_with(self, other: LabelType, names: Iterable[str]) -> LabelType:
        """The type of labels of which some had this type and some another, in whichever order they came."""
        kinds = {self.kind, other.kind} - {TEXT}
        kind = NUMBER if kinds == {INTEGER, NUMBER} else kinds.pop() if len(kinds) == 1 else TEXT
        dtypes = {each.dtype for each in (self, other) if each.kind == INTEGER}
        dtype = dtypes.pop() if len(dtypes) == 1 and kind == INTEGER else "int64"
        found = LabelType(kind, dtype, self.clean and other.clean)
        if (self.categories, self.ordered) == (other.categories, other.ordered):
            found = replace(found, categories=self.categories, ordered=self.ordered)
        return found if all(map(found.fits, names)) else LabelType(clean=found.clean)

    def spelled_with(
        self, names: tuple[str, ...], other: LabelType, others: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of two models' labels, in which ``True`` of a CSV file and of a frame are the same.

        Where one model has truth values and the other nothing else either, they are ``true`` and ``false``;
        otherwise they are spelled as in the model of text. Names stay in their order.

        >>> LabelType().spelled_with(("False", "True"), LabelType("boolean"), ("true",))
        (('false', 'true'), ('true',))
        >>> LabelType().spelled_with(("?", "True"), LabelType("boolean"), ("false", "true"))
        (('?', 'True'), ('False', 'True'))
        """
        if self.kind == BOOLEAN and other.kind == TEXT:
            theirs, mine = other.spelled_with(others, self, names)
            return mine, theirs
        if self.kind != TEXT or other.kind != BOOLEAN:
            return names, others
        lower = tuple(name.lower() for name in names)
        if all(name in _BOOLEANS for name in lower) and len(set(lower)) == len(lower):
            return lower, others
        for style in (str.lower, str.capitalize, str.upper):
            if any(style(name) in names for name in others):
                return names, tuple(map(style, others))
        return names, others

    def resolved(self, name: str, known: Collection[str]) -> str:
        """The name among those ``known`` of a label that is written ``name``; itself, if there is none.

        ``True`` of a CSV file is ``true`` of a frame, ``1.0`` is ``1`` where labels are numbers.
        """
        if name in known:
            return name
        if name.lower() in _BOOLEANS:
            for spelling in (name.lower(), name.capitalize(), name.upper()):
                if spelling in known:
                    return spelling
        if self.kind in (INTEGER, NUMBER):
            try:
                written = label_of(float(name))
            except (ValueError, OverflowError, Unusable):
                written = name
            if written in known or (self.kind == INTEGER and self.fits(written)):
                return written
        if self.clean:
            look = folded(name)
            return next((each for each in known if folded(each) == look), name)
        return name


class LabelTypes:
    """The types of the labels that have passed; where they ``must_be_one``, several are refused."""

    def __init__(self) -> None:
        self.must_be_one = False
        self._first: dict[str, object] = {}  # of each kind, one label
        self._dtypes: set[str] = set()
        self._categories: dict[str, None] | None = {}  # None once some labels have none
        self._ordered = True

    @property
    def found(self) -> LabelType:
        """The type of the labels that have passed."""
        kinds = set(self._first)
        if len(kinds) != 1:
            return LabelType(NUMBER if kinds == {INTEGER, NUMBER} else TEXT)
        dtype = next(iter(self._dtypes)) if len(self._dtypes) == 1 else "int64"
        found = LabelType(kinds.pop(), dtype)
        if not self._categories:
            return found
        return replace(found, categories=tuple(self._categories), ordered=self._ordered)

    def see(self, raw: object) -> None:
        """Note what a list, a NumPy array or an Arrow array of labels holds."""
        for kind, example in (_of_list(raw) if isinstance(raw, list) else _of_array(raw)).items():
            self._first.setdefault(kind, example)
            if kind == INTEGER:
                dtype = str(getattr(example, "dtype", getattr(raw, "dtype", getattr(raw, "type", ""))))
                self._dtypes.add(dtype if dtype in INTEGERS else "int64")
        self._see_categories(raw)
        if self.must_be_one and len(self._first) > 1 and self._first.keys() != {INTEGER, NUMBER}:
            one, other = list(self._first.values())[:2]
            raise InputError(
                f"labels are of mixed types: {one!r} ({type(one).__name__}) and "
                f"{other!r} ({type(other).__name__})",
                hint="make them all text, all numbers, or all true and false",
            )

    def _see_categories(self, raw: Any) -> None:
        """Note the categories of an Arrow array that has some: the last batch may have others."""
        if self._categories is None or not len(raw):
            return
        entries = getattr(raw, "dictionary", None)
        if entries is None or len(entries) + len(self._categories) > MOST_CATEGORIES:
            self._categories = None
            return
        for entry in entries:
            with contextlib.suppress(Unusable):
                self._categories[label_of(_python(entry))] = None
        self._ordered = self._ordered and raw.type.ordered


def _of_list(values: list[Any]) -> dict[str, object]:
    """The kinds of labels in a list, each with the first of it."""
    types = set(map(type, values))
    if types <= {str}:
        return {TEXT: values[0]} if values else {}
    kinds = {each: _kind(each) for each in types}
    found: dict[str, object] = {}
    wanted = {kind for kind in kinds.values() if kind is not None}
    for value in values:
        kind = kinds[type(value)]
        if kind is not None and kind not in found and not is_null(value) and value not in ("", b""):
            found[kind] = value
            if len(found) == len(wanted):
                break
    return found


def _kind(type_: type) -> str | None:
    """The kind of labels that values of a type are; None where they are none."""
    if issubclass(type_, (bool, np.bool_)):
        return BOOLEAN
    if issubclass(type_, (int, np.integer)):
        return INTEGER
    if issubclass(type_, (float, np.floating)):
        return NUMBER
    if type_ is type(None) or issubclass(type_, Unreadable):
        return None
    return TEXT


def _of_array(array: Any) -> dict[str, object]:
    """The kind of labels in an array of one type, with one of them."""
    if isinstance(array, np.ndarray):
        kind = {"b": BOOLEAN, "i": INTEGER, "u": INTEGER, "f": NUMBER}.get(array.dtype.kind, TEXT)
        values = array[~np.isnan(array)] if kind == NUMBER else array
        return {kind: values[0].item()} if len(values) else {}
    import pyarrow as pa

    if array.null_count == len(array):
        return {}
    type_, first = array.type, next(scalar for scalar in array if scalar.is_valid)
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    kind = TEXT
    if pa.types.is_boolean(type_):
        kind = BOOLEAN
    elif pa.types.is_integer(type_):
        kind = INTEGER
    elif pa.types.is_floating(type_):
        kind = NUMBER
    return {kind: _python(first)}


def _python(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:  # which is said of its row
        return error.object


def plain_label(label: str) -> str:
    """What one sees of a label: in normal form C, without spaces around it."""
    return unicodedata.normalize("NFC", label).strip()


def folded(label: str) -> str:
    """A label without what people take no notice of: case, spaces, and how accents are encoded.

    >>> folded(" Billing  Dept") == folded("BILLING dept")
    True
    """
    return unicodedata.normalize("NFC", " ".join(plain_label(label).casefold().split()))


def by_name(given: Mapping[Any, T]) -> dict[str, T]:
    """What is given by label, of whatever type, by the names of the labels.

    >>> by_name({True: 0.9, False: 0.1})
    {'true': 0.9, 'false': 0.1}
    """
    try:
        return {label_of(label): value for label, value in given.items()}
    except Unusable as error:
        raise InputError(str(error), hint="a label is text, a number, or true or false") from error


def told(groups: Mapping[str, Mapping[str, float]], most: int = 5) -> str:
    """Labels that look alike, as one says them.

    >>> told({"billing": {"billing": 40, "BILLING": 2}})
    "'billing' (40), 'BILLING' (2)"
    """
    shown = [
        ", ".join(f"{label!a} ({count:,.0f})" for label, count in list(group.items())[:most])
        for group in list(groups.values())[:most]
    ]
    return "; ".join(shown) + (f"; and {len(groups) - most:,} more" if len(groups) > most else "")


def spellings(counts: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Labels that look alike, with their counts, by the one that is the most frequent."""
    groups: dict[str, dict[str, float]] = {}
    for label, count in counts.items():
        groups.setdefault(folded(label), {})[label] = count
    found = {}
    for group in groups.values():
        if len(group) > 1:
            ranked = dict(sorted(group.items(), key=lambda item: (-item[1], item[0])))
            found[next(iter(ranked))] = ranked
    return found
