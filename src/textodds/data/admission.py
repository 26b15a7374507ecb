"""Raw rows become a batch: every value is checked, and rows that fail are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds.data import values
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, BETWEEN_FIELDS, TEXT, Batch, Texts, as_fields
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import At, Origin, Rejects
from textodds.data.schema import GIVEN
from textodds.data.values import Problems, Unreadable
from textodds.errors import BadRow

if TYPE_CHECKING:
    import pyarrow as pa

# What a value takes in memory beside its bytes: a reference to it, and the head of the object.
OBJECT_BYTES = 32

# The raw values of one column: a list of Python objects, or an Arrow array of any type.
Raw: TypeAlias = "list[Any] | pa.Array"

# Text or other values, label, weight, where the row stands, and how it looked (None: as its values look).
Row: TypeAlias = tuple[object, object, object, At, bytes | None]


@dataclass(frozen=True, slots=True)
class Values:
    """The raw values of a column, and what is wrong with those that did not fit in."""

    array: Raw  # (N,)
    problems: Problems = field(default_factory=dict)

    @classmethod
    def of(cls, column: Raw, name: str, request: ColumnRequest) -> Values:
        """The values of a column; those of a table are Arrow's, texts may remain a list."""
        if not (request.is_table and isinstance(column, list)):
            return cls(column)
        from textodds.data import arrow

        return cls(*arrow.of_list(column, name))


@dataclass(frozen=True, slots=True)
class Part:
    """N rows on their way from a source: named columns, nothing checked yet.

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
        """Bytes that the values of a table take in memory."""
        return sum(column.array.nbytes for column in self.columns)  # type: ignore[union-attr]

    def shown(self, position: int) -> bytes | str:
        """A row as it is kept among the rejected."""
        looked = self.raw(position)
        if looked is not None:
            return looked
        columns = [
            *zip(self.names, self.columns, strict=True),
            ("label", self.labels),
            ("weight", self.weights),
        ]
        return _as_json(
            {
                name: _checks(column.array).as_python(column.array[position])
                for name, column in columns
                if column is not None
            }
        )


# What readers yield: a batch where the kernel has checked the rows already.
Parts: TypeAlias = Generator[Part | Batch, None, None]


def admit(part: Part, request: ColumnRequest, rejects: Rejects) -> Batch | None:
    """The batch of the good rows of ``part``, or None where no row is good."""
    found = _Problems(part.unreadable)
    columns: dict[str, Any] = {}
    labels = weights = None
    if len(part.unreadable) < part.length:
        places = request.places(part.origin.where, part.names, sparse=part.sparse)
        given = {column.name: column for column in request.used}
        for name, at in places.columns.items():
            read = [part.columns[place] for place in at] or [_absent(part)]
            column = given.get(name)
            kind = "text" if column is None else column.kind
            columns[name], bad = _checked(name, kind, [each.array for each in read], request)
            for each in read:
                bad |= each.problems
            seemed = kind == "number" and request.is_found and column is not None and column.why != GIVEN
            found.add(bad, number=name if seemed else None)
        if beside := _beside(part, places.label, part.labels, wanted=request.reads_labels):
            labels, bad = _checks(beside.array).labels_of(beside.array)
            found.add(bad | beside.problems)
        if beside := _beside(part, places.weight, part.weights, wanted=request.reads_weights):
            weights, bad = _checks(beside.array).weights_of(
                beside.array, may_be_strings=request.is_table or request.may_join
            )
            found.add(bad | beside.problems)
    if found.reasons:
        found.reject(part, rejects)
        keep = np.ones(part.length, dtype=np.bool_)
        keep[list(found.reasons)] = False
        columns = {name: _kept(column, keep) for name, column in columns.items()}
        labels = None if labels is None else _kept(labels, keep)
        weights = None if weights is None else weights[keep]
    return Batch(columns, labels, weights) if len(found.reasons) < part.length else None


def admit_texts(
    texts: Raw,
    labels: Raw | None,
    weights: Raw | None,
    rejects: Rejects,
    origin: Origin,
    at: Callable[[int], At],
) -> Batch | None:
    """The batch of the good rows among N texts with what stands beside them; as `admit`."""
    beside = [None if column is None else Values(column) for column in (labels, weights)]
    part = Part(origin, [TEXT], [Values(texts)], len(texts), at, labels=beside[0], weights=beside[1])
    return admit(part, ColumnRequest.without_names(), rejects)


def _checked(name: str, kind: str, arrays: list[Raw], request: ColumnRequest) -> tuple[Any, Problems]:
    """A column as it goes into a batch, joined from several where the request says so."""
    if not request.is_table:
        is_one, read_one = len(arrays) == 1, _checks(arrays[0]).texts_of
        return read_one(arrays[0]) if is_one else _joined_texts(arrays, request.separator)
    from textodds.data import arrow

    if kind == "text":
        return arrow.table_texts_of(name, arrays[0]) if len(arrays) == 1 else arrow.joined_texts(name, arrays)
    return (arrow.numbers_of if kind == "number" else arrow.categories_of)(name, arrays[0])


def _joined_texts(columns: list[Raw], separator: str) -> tuple[Texts, Problems]:
    """The texts of several columns in one, each row by itself; a null is empty, unless all of a row are."""
    texts: list[Raw] = []
    problems: Problems = {}
    null: set[int] | None = None
    for column in columns:
        checked, bad = _checks(column).texts_of(column)
        nulls = {at for at, reason in bad.items() if reason == values.NULL_TEXT}
        null = nulls if null is None else null & nulls
        problems = {at: reason for at, reason in bad.items() if at not in nulls} | problems
        texts.append(checked)
    problems = dict.fromkeys(null or (), values.NULL_TEXT) | problems
    if not any(isinstance(column, list) for column in texts):
        from textodds.data import arrow

        return arrow.joined(texts, separator), problems
    columns = [_as_strings(column) for column in texts]
    if separator == BETWEEN_FIELDS:
        return as_fields(columns), problems
    return [separator.join(row) for row in zip(*columns, strict=True)], problems


def _as_strings(column: Raw) -> list[str]:
    if isinstance(column, list):
        return column
    from textodds.data import arrow

    return arrow.strings(column)


def _kept(column: Any, keep: NDArray[np.bool_]) -> Any:
    return column[keep] if isinstance(column, np.ndarray) else _checks(column).kept(column, keep)


def _absent(part: Part) -> Values:
    import pyarrow as pa

    return Values(pa.nulls(part.length))


def _beside(part: Part, place: int | None, given: Values | None, *, wanted: bool) -> Values | None:
    """The labels or weights of a part, if there are any or should be."""
    if place is not None:
        return part.columns[place]
    return _absent(part) if given is None and wanted else given


def _checks(column: Raw) -> ModuleType:
    """What checks such values."""
    if isinstance(column, list):
        return values
    from textodds.data import arrow

    return arrow


class _Problems:
    """What is wrong with the rows of a part: of several things, the first that is noted."""

    def __init__(self, unreadable: Problems) -> None:
        self.reasons = dict(unreadable)
        self._numbers: dict[int, str] = {}  # rows that are bad for a column which seemed to be numbers

    def add(self, problems: Problems, number: str | None = None) -> None:
        for at, reason in problems.items():
            if at not in self.reasons:
                self.reasons[at] = reason
                if number is not None:
                    self._numbers[at] = number

    def reject(self, part: Part, rejects: Rejects) -> None:
        for at in sorted(self.reasons):
            try:
                rejects.add(part.origin, part.at(at), self.reasons[at], part.shown(at))
            except BadRow as error:
                if at in self._numbers:
                    name = self._numbers[at]
                    hint = (
                        f"the first rows of `{name}` are numbers; to read it as categories, use "
                        f"`--columns {name}=category` (columns={{{name!r}: 'category'}})"
                    )
                    raise BadRow(error.where, error.line, error.reason, part.origin.unit, hint=hint) from None
                raise


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
    if not (request.is_table or request.may_join):
        yield from _text_record_parts(rows, request, origin)
        return
    names: list[str] = []

    def part(pending: list[Row]) -> Part:
        group = _Rows(pending, request, origin, **beside)
        group.check(lambda item: isinstance(item, Mapping), {}, "a dict is")
        if not names or request.is_table:
            keys = [key for key in dict.fromkeys(chain.from_iterable(group.items)) if isinstance(key, str)]
            if keys or request.is_table:
                places = request.positions(origin.where, keys, sparse=bool(names))
                names[:] = [keys[at] for at in places]
        columns = [[item.get(name) for item in group.items] for name in names]
        return group.part(list(names), columns, sparse=request.is_table)

    yield from map(part, chunked(rows))


def _text_record_parts(rows: Iterable[Row], request: ColumnRequest, origin: Origin) -> Parts:
    """Parts of mappings of which one text is read: no more of a row is held than its text and label."""
    names: list[str] = []

    def fields() -> Iterator[Row]:
        text = label = weight = ""
        for item, _, _, at, raw in rows:
            if type(item) is not dict and not isinstance(item, Mapping):
                yield Unreadable(_reason(item, "a dict is")), None, None, at, raw or _as_bytes(item)
                continue
            if not names:
                keys = [key for key in item if isinstance(key, str)]
                names.extend(keys[place] for place in request.positions(origin.where, keys))
                text, *others = names
                label = others[0] if request.reads_labels else text
                weight = others[-1] if request.reads_weights else text
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
    chosen = request.positions(origin.where, names)

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
        self._labels = self.labels if labelled else None
        self._weights = self.weights if weighted else None
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
        of = partial(Values.of, request=self._request)
        shown = dict(zip(names, columns, strict=True))
        if self._labels is not None:
            shown["label"] = self._labels
        if self._weights is not None:
            shown["weight"] = self._weights

        def raw(at: int) -> bytes:
            looked: bytes | None = self._raws[at]
            if looked is not None:
                return looked
            row = {name: column[at] for name, column in shown.items()}
            return _as_bytes(self._strange.get(at, row))

        return Part(
            self._origin,
            names,
            [of(column, name) for name, column in zip(names, columns, strict=True)],
            len(self.items),
            self._places.__getitem__,
            raw,
            self._unreadable,
            sparse,
            None if self._labels is None else of(self._labels, "label"),
            None if self._weights is None else of(self._weights, "weight"),
        )


def chunked(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Lists of ``rows``, cut so that memory stays bounded."""
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
        if size >= BATCH_BYTES or len(pending) >= BATCH_ROWS:
            yield pending
            pending, size = [], 0
    if pending:
        yield pending


def _size(item: object) -> int:
    """About the bytes of the values of a row of a table."""
    row = item.values() if isinstance(item, (dict, Mapping)) else item
    if not isinstance(row, (tuple, list, ValuesView)):
        return 0
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


def _as_json(row: object) -> str:
    return json.dumps(row, ensure_ascii=False, default=_plain, skipkeys=True)


def _as_bytes(row: object) -> bytes:
    return _as_json(row).encode(errors="backslashreplace")


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
