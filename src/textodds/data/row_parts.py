"""Rows that come one by one, as Python has them, gathered into parts; only their shape is checked here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

from textodds.data.admission import Part, Parts, Values, as_bytes
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, TEXT
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import At, Origin
from textodds.data.values import Problems, Unreadable
from textodds.errors import NAMED, MissingColumn, nearest

# What a value takes in memory beside its bytes: a reference to it, and the head of the object.
OBJECT_BYTES = 32

# Text or other values, label, weight, where the row stands, and how it looked (None: as its values look).
Row: TypeAlias = tuple[object, object, object, At, bytes | None]


def text_parts(rows: Iterable[Row], origin: Origin, *, labelled: bool, weighted: bool) -> Parts:
    """Parts of rows that are texts."""
    request = ColumnRequest.without_names()

    def part(pending: list[Row]) -> Part:
        group = _Rows(pending, request, origin, labelled=labelled, weighted=weighted)
        return group.part([TEXT], [group.items])

    yield from map(part, chunked(rows))


def record_parts(rows: Iterable[Row], request: ColumnRequest, origin: Origin, **beside: bool) -> Parts:
    """Parts of rows that are mappings; their keys are the columns, and a key that a row lacks is null in it.

    The column of a text is one of the first row. Of a table, and of a text that is joined, a column is
    missing only if none of the rows that are read first has it. ``beside`` says whether labels and weights
    stand beside the rows: ``labelled``, ``weighted``.
    """
    if paths := request.paths:
        rows = _with_paths(rows, paths)
    if not (request.may_join or request.kept):
        yield from text_record_parts(rows, request, origin, [])
        return
    names: list[str] = []

    def find_names(records: Sequence[Mapping[Any, object]]) -> None:
        keys = [key for key in dict.fromkeys(chain.from_iterable(records)) if isinstance(key, str)]
        if keys or request.is_sparse:
            places = _positions(request, origin, keys, records, sparse=bool(names))
            names[:] = dict.fromkeys(keys[at] for at in [*places, *request.kept_among(keys)])

    def part(pending: list[Row]) -> Part:
        group = _Rows(pending, request, origin, **beside)
        group.check(lambda item: type(item) is dict or isinstance(item, Mapping), {}, "a dict is")
        if not names or request.is_sparse:
            find_names(group.items)
        columns = [[item.get(name) for item in group.items] for name in names]
        return group.part(list(names), columns, sparse=request.is_sparse)

    yield from map(part, chunked(rows))


def _positions(
    request: ColumnRequest,
    origin: Origin,
    keys: list[str],
    records: Sequence[Mapping[Any, object]],
    **how: bool,
) -> list[int]:
    """The columns to read among ``keys``; the error for one that is missing names fields within fields."""
    try:
        return request.positions(origin.where, keys, **how)
    except MissingColumn as error:
        within = (
            f"{key}.{field}"
            for record in records
            for key, value in record.items()
            if isinstance(value, Mapping)
            for field in value
        )
        if not (inner := list(islice(dict.fromkeys(within), NAMED))):
            raise
        meant = [name for name in inner if name.endswith(f".{error.wanted}")] or nearest(error.wanted, inner)
        hint = error.hint or ""
        if meant:
            hint += f"; did you mean `{meant[0]}`?"
        listed = ", ".join(f"`{name}`" for name in inner)
        raise MissingColumn.with_words(f"{error.problem}; within them {listed}", hint, error) from error


def _with_paths(rows: Iterable[Row], paths: Sequence[str]) -> Iterator[Row]:
    """The same rows, in which fields within fields can be found by their paths, unless a key is called so."""
    for item, *others in rows:
        if isinstance(item, Mapping):
            for path in paths:
                if path not in item and (value := _at(item, path)) is not _ABSENT:
                    item = {**item, path: value}
        yield item, *others  # type: ignore[misc]


_ABSENT = object()


def _at(item: object, path: str) -> object:
    """What a path of keys leads to; null where it leads through one."""
    for key in path.split("."):
        if item is None:
            return None
        if not isinstance(item, Mapping) or key not in item:
            return _ABSENT
        item = item[key]
    return item


def names_in(item: Mapping[Any, object], request: ColumnRequest, origin: Origin) -> list[str]:
    """The columns to read of rows of which the first is ``item``: text, label and weight."""
    keys = [key for key in item if isinstance(key, str)]
    return [keys[place] for place in _positions(request, origin, keys, [item])]


def roles(request: ColumnRequest, names: Sequence[str]) -> tuple[str, str, str]:
    """Which of the columns that are read are text, label and weight; the text, where one is not read."""
    text, *others = names
    return (
        text,
        others[0] if request.reads_labels else text,
        others[-1] if request.reads_weights else text,
    )


def text_record_parts(rows: Iterable[Row], request: ColumnRequest, origin: Origin, names: list[str]) -> Parts:
    """Parts of mappings of which one text is read: no more of a row is held than its text and label.

    Holding whole records costs twice as much, most of it for collecting garbage. ``names`` are the columns
    that are read, of which the text is the first; where there are none yet, those of the first row.
    """

    def fields() -> Iterator[Row]:
        text, label, weight = roles(request, names) if names else ("", "", "")
        for item, _, _, at, raw in rows:
            if type(item) is not dict and not isinstance(item, Mapping):
                yield Unreadable(_reason(item, "a dict is")), None, None, at, raw or as_bytes(item)
                continue
            if not names:
                names.extend(names_in(item, request, origin))
                text, label, weight = roles(request, names)
            yield item.get(text), item.get(label), item.get(weight), at, raw

    def part(pending: list[Row]) -> Part:
        group = _Rows(pending, request, origin)
        if not names:
            group.check(lambda item: False, None, "a dict is")
        beside = ((request.reads_labels, group.labels), (request.reads_weights, group.weights))
        columns = [group.items, *(column for is_read, column in beside if is_read)]
        return group.part(names, columns[: len(names)])

    yield from map(part, chunked(fields()))


def row_parts(
    rows: Iterable[Row], names: Sequence[str], request: ColumnRequest, origin: Origin, **beside: bool
) -> Parts:
    """Parts of rows that are sequences, with as many items as there are ``names``; else as `record_parts`."""
    width = len(names)
    chosen = request.with_kept(origin.where, names)

    def is_row(item: object) -> bool:
        return isinstance(item, (tuple, list)) and len(item) == width

    def part(pending: list[Row]) -> Part:
        group = _Rows(pending, request, origin, **beside)
        group.check(is_row, [None] * width, f"{width} items are")
        return group.part([names[at] for at in chosen], [[item[at] for item in group.items] for at in chosen])

    yield from map(part, chunked(rows))


class _Rows:
    """Rows that make up a part; ``pending`` is emptied, since it need not be held while they are counted."""

    def __init__(
        self,
        pending: list[Row],
        request: ColumnRequest,
        origin: Origin,
        *,
        labelled: bool = False,
        weighted: bool = False,
    ) -> None:
        columns: Iterator[list[Any]] = map(list, zip(*pending, strict=True))
        self.items, self.labels, self.weights, self._places, self._raws = columns
        pending.clear()
        self._request, self._origin = request, origin
        self._beside = {"label": self.labels} if labelled else {}
        self._beside |= {"weight": self.weights} if weighted else {}
        self._unreadable: Problems = {}
        self._strange: dict[int, object] = {}

    def check(self, is_row: Callable[[Any], bool], blank: object, expected: str) -> None:
        """Put a ``blank`` in the place of rows that cannot be read."""
        for at, item in enumerate(self.items):
            if not is_row(item):
                self._unreadable[at] = _reason(item, expected)
                self._strange[at] = item
        for at in self._strange:
            self.items[at] = blank

    def part(self, names: list[str], columns: list[list[Any]], *, sparse: bool = False) -> Part:
        """The part that the rows are, taken apart to columns."""
        shown = dict(zip(names, columns, strict=True)) | self._beside
        read = self._request.as_read
        beside = {name: Values(*read(column, name), column) for name, column in self._beside.items()}

        def raw(at: int) -> bytes:
            looked: bytes | None = self._raws[at]
            if looked is not None:
                return looked
            row = {name: column[at] for name, column in shown.items()}
            return as_bytes(self._strange.get(at, row))

        return Part(
            self._origin,
            names,
            [Values(*read(column, name), column) for name, column in zip(names, columns, strict=True)],
            len(self.items),
            self._places.__getitem__,
            raw,
            self._unreadable,
            sparse,
            beside.get("label"),
            beside.get("weight"),
        )


def batch_limits() -> tuple[int, int]:
    """The bytes and the rows at which a batch ends."""
    return BATCH_BYTES, BATCH_ROWS


def chunked(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Lists of ``rows``, cut so that memory stays bounded."""
    most_bytes, most_rows = batch_limits()
    pending: list[Row] = []
    size = 0
    for row in rows:
        pending.append(row)
        item, raw = row[0], row[4]
        if raw is not None:
            size += len(raw)
        elif isinstance(item, (str, bytes)):
            size += len(item)
        else:
            size += _size(item)
        if size >= most_bytes or len(pending) >= most_rows:
            yield pending
            pending, size = [], 0
    if pending:
        yield pending


def _size(item: object) -> int:
    """About the bytes of the values of a row of a table."""
    row: Collection[object] = ()
    if isinstance(item, (tuple, list)):
        row = item
    elif isinstance(item, (dict, Mapping)):
        row = item.values()
    size = OBJECT_BYTES * len(row)
    for value in row:
        if isinstance(value, (str, bytes)):
            size += len(value)
    return size


def _reason(item: object, expected: str) -> str:
    if isinstance(item, Unreadable):
        return item.reason
    shown = f"{len(item)} items" if isinstance(item, (tuple, list)) else f"a {type(item).__name__}"
    return f"{shown}, where {expected} expected"
