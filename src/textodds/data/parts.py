"""Rows of a table on their way from a source: named columns of Arrow, nothing checked yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from textodds.data.admission import Row
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS
from textodds.data.rejects import At, Origin
from textodds.data.values import Problems, Unreadable

if TYPE_CHECKING:
    from textodds.data.sought import Sought

T = TypeVar("T")

# What a value takes in memory beside its bytes: a reference to it, and the head of the object.
OBJECT_BYTES = 32


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a column as an Arrow array, and what is wrong with those that did not fit in."""

    array: Any  # (N,)
    problems: Problems = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """N rows.

    ``at`` and ``raw`` say of a position where that row stands and what it looked like (None: as its
    values look). Rows in ``unreadable`` could not be taken apart. Where rows are ``sparse``, like
    those of JSON, a column that is absent is one without values. ``labels`` and ``weights`` are those
    that came beside the table.
    """

    origin: Origin
    names: Sequence[str]
    columns: Sequence[Values]
    length: int
    at: Callable[[int], At]
    raw: Callable[[int], bytes | None] = lambda position: None
    unreadable: Problems = field(default_factory=dict)
    sparse: bool = False
    labels: Values | None = None
    weights: Values | None = None

    @property
    def size(self) -> int:
        """Bytes that the values take in memory."""
        return sum(int(values.array.nbytes) for values in self.columns)


def record_parts(
    rows: Iterable[Row], sought: Sought, origin: Origin, *, labelled: bool = False, weighted: bool = False
) -> Iterator[Part]:
    """Parts of rows that are mappings; their keys are the columns, and a key that a row lacks is null in it.

    A column is missing only if none of the rows that are read first has it.
    """
    from textodds.data import cells

    is_first = True
    for pending in chunked(rows, _size):
        items, labels, weights, places, raws = (list(column) for column in zip(*pending, strict=True))
        unreadable = {}
        readable: list[Mapping[str, object]] = []
        for at, item in enumerate(items):
            if isinstance(item, Mapping):
                readable.append(item)
            else:
                unreadable[at] = reason_of(item, "a dict")
                readable.append({})
        keys = [key for key in dict.fromkeys(chain.from_iterable(readable)) if isinstance(key, str)]
        names = [keys[at] for at in sought.positions(origin.where, keys, sparse=not is_first)]
        is_first = False
        yield Part(
            origin,
            names,
            [cells.of_list([item.get(name) for item in readable], name) for name in names],
            len(items),
            places.__getitem__,
            partial(_shown, items, raws),
            unreadable,
            sparse=True,
            labels=cells.of_list(labels, "label") if labelled else None,
            weights=cells.of_list(weights, "weight") if weighted else None,
        )


def row_parts(
    rows: Iterable[Row],
    names: Sequence[str],
    sought: Sought,
    origin: Origin,
    *,
    labelled: bool = False,
    weighted: bool = False,
) -> Iterator[Part]:
    """Parts of rows that are sequences, with as many items as there are ``names``."""
    from textodds.data import cells

    chosen = sought.positions(origin.where, names)
    for pending in chunked(rows, _size):
        items, labels, weights, places, raws = (list(column) for column in zip(*pending, strict=True))
        unreadable = {}
        readable: list[Sequence[object]] = []
        for at, item in enumerate(items):
            if isinstance(item, (tuple, list)) and len(item) == len(names):
                readable.append(item)
            else:
                unreadable[at] = reason_of(item, f"{len(names)} items")
                readable.append([None] * len(names))
        yield Part(
            origin,
            [names[at] for at in chosen],
            [cells.of_list([item[at] for item in readable], names[at]) for at in chosen],
            len(items),
            places.__getitem__,
            partial(_shown, items, raws),
            unreadable,
            labels=cells.of_list(labels, "label") if labelled else None,
            weights=cells.of_list(weights, "weight") if weighted else None,
        )


def chunked(items: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Lists of ``items``, cut so that memory stays bounded."""
    pending: list[T] = []
    total = 0
    for item in items:
        pending.append(item)
        total += size(item)
        if total >= BATCH_BYTES or len(pending) >= BATCH_ROWS:
            yield pending
            pending, total = [], 0
    if pending:
        yield pending


def reason_of(item: object, expected: str) -> str:
    """Why ``item`` is not the row that was ``expected``."""
    if isinstance(item, Unreadable):
        return item.reason
    shown = f"{len(item)} items" if isinstance(item, (tuple, list)) else f"a {type(item).__name__}"
    return f"{shown}, where {expected} are expected" if expected[0].isdigit() else f"{shown}, where {expected} is expected"


def _size(row: Row) -> int:
    """Bytes of a row: of its line where there is one, else about those of its values."""
    item, raw = row[0], row[4]
    if raw is not None:
        return len(raw)
    values = item.values() if isinstance(item, Mapping) else item
    if not isinstance(values, (tuple, list, ValuesView)):
        return 0
    return sum(
        OBJECT_BYTES + (len(value) if isinstance(value, (str, bytes)) else 0) for value in values
    )


def _shown(items: Sequence[object], raws: Sequence[bytes | None], at: int) -> bytes:
    raw, item = raws[at], items[at]
    if raw is None:
        raw = json.dumps(item, ensure_ascii=False, default=_plain, skipkeys=True).encode(errors="backslashreplace")
    return raw


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
