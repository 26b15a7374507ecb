"""Rows of a table on their way from a source: named columns of Arrow, nothing checked yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from textodds.data.admission import Row, chunked
from textodds.data.rejects import At, Origin
from textodds.data.values import Problems, Unreadable

if TYPE_CHECKING:
    from textodds.data.sought import Sought


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a column as an Arrow array, and what is wrong with those that did not fit in.

    Where texts are read, Python objects remain a list.
    """

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

    def __len__(self) -> int:
        return self.length

    @property
    def size(self) -> int:
        """Bytes that the values take in memory."""
        return sum(int(values.array.nbytes) for values in self.columns)


Parts: TypeAlias = Generator[Part, None, None]


def record_parts(rows: Iterable[Row], sought: Sought, origin: Origin, **beside: bool) -> Parts:
    """Parts of rows that are mappings; their keys are the columns, and a key that a row lacks is null in it.

    A column is missing only if none of the rows that are read first has it. ``beside`` says whether labels
    and weights stand beside the rows: ``labelled``, ``weighted``.
    """
    is_first = True
    for pending in chunked(rows):
        rows_of = _Pending(pending, lambda item: isinstance(item, Mapping), {}, "a dict is")
        keys = [key for key in dict.fromkeys(chain.from_iterable(rows_of.readable)) if isinstance(key, str)]
        names = [keys[at] for at in sought.positions(origin.where, keys, sparse=not is_first)]
        is_first = False
        columns = [[item.get(name) for item in rows_of.readable] for name in names]
        yield rows_of.part(origin, names, columns, sparse=True, **beside)


def row_parts(
    rows: Iterable[Row], names: Sequence[str], sought: Sought, origin: Origin, **beside: bool
) -> Parts:
    """Parts of rows that are sequences, with as many items as there are ``names``; else as `record_parts`."""
    width = len(names)
    chosen = sought.positions(origin.where, names)
    for pending in chunked(rows):
        rows_of = _Pending(
            pending,
            lambda item: isinstance(item, (tuple, list)) and len(item) == width,
            [None] * width,
            f"{width} items are",
        )
        columns = [[item[at] for item in rows_of.readable] for at in chosen]
        yield rows_of.part(origin, [names[at] for at in chosen], columns, **beside)


class _Pending:
    """Rows that make up a part, those that cannot be read replaced by one without values."""

    def __init__(
        self, pending: list[Row], can_be_read: Callable[[object], bool], blank: object, expected: str
    ) -> None:
        self._items, self._labels, self._weights, self._places, self._raws = (
            list(column) for column in zip(*pending, strict=True)
        )
        self._unreadable = {
            at: _reason(item, expected) for at, item in enumerate(self._items) if not can_be_read(item)
        }
        self.readable: list[Any] = [
            blank if at in self._unreadable else item for at, item in enumerate(self._items)
        ]

    def part(
        self,
        origin: Origin,
        names: list[str],
        columns: list[list[Any]],
        *,
        sparse: bool = False,
        labelled: bool = False,
        weighted: bool = False,
    ) -> Part:
        from textodds.data import cells

        labels = cells.of_list(self._labels, "label") if labelled else None
        weights = cells.of_list(self._weights, "weight") if weighted else None
        shown = dict(zip(names, columns, strict=True))
        if labelled:
            shown["label"] = self._labels
        if weighted:
            shown["weight"] = self._weights
        return Part(
            origin,
            names,
            [cells.of_list(column, name) for name, column in zip(names, columns, strict=True)],
            len(self._items),
            self._places.__getitem__,
            partial(self._shown, shown),
            self._unreadable,
            sparse,
            labels,
            weights,
        )

    def _shown(self, columns: dict[str, list[Any]], at: int) -> bytes:
        raw: bytes | None = self._raws[at]
        if raw is not None:
            return raw
        is_readable = at not in self._unreadable
        row = {name: column[at] for name, column in columns.items()} if is_readable else self._items[at]
        return as_json(row).encode(errors="backslashreplace")


def as_json(row: object) -> str:
    """``row`` as it is shown among the rejected."""
    return json.dumps(row, ensure_ascii=False, default=_plain, skipkeys=True)


def _reason(item: object, expected: str) -> str:
    if isinstance(item, Unreadable):
        return item.reason
    shown = f"{len(item)} items" if isinstance(item, (tuple, list)) else f"a {type(item).__name__}"
    return f"{shown}, where {expected} expected"


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
