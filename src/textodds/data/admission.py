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
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, BETWEEN_FIELDS, TEXT, Batch, Texts
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import At, Origin, Rejects
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
        from textodds.data import cells

        return cls(*cells.of_list(column, name))


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
        for name, at in places.columns.items():
            read = [part.columns[place] for place in at] or [_absent(part)]
            columns[name], bad = _checked(name, read, request)
            for each in read:
                bad |= each.problems
            found.add(bad, number=name if request.takes_for_number(name) else None)
        if given := _beside(part, places.label, part.labels, wanted=request.reads_labels):
            labels, bad = _checks(given.array).labels_of(given.array)
            found.add(bad | given.problems)
        if given := _beside(part, places.weight, part.weights, wanted=request.reads_weights):
            are_strings = request.is_table or max(map(len, places.columns.values())) > 1  # those of CSV are
            weights, bad = _checks(given.array, cells=are_strings).weights_of(given.array)
            found.add(bad | given.problems)
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


def _checked(name: str, read: list[Values], request: ColumnRequest) -> tuple[Any, Problems]:
    """A column as it goes into a batch, joined from several where the request says so."""
    arrays = [each.array for each in read]
    if not request.is_table:
        is_one, read_one = len(arrays) == 1, _checks(arrays[0]).texts_of
        return read_one(arrays[0]) if is_one else _joined_texts(arrays, request.separator)
    from textodds.data import cells

    kind = request.kind_of(name)
    if kind == "text":
        return cells.texts_of(name, arrays[0]) if len(arrays) == 1 else cells.joined_texts(name, arrays)
    return (cells.numbers_of if kind == "number" else cells.categories_of)(name, arrays[0])


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
    if separator == BETWEEN_FIELDS:
        texts = [[text.replace(separator, " ") for text in _as_strings(column)] for column in texts]
    return [separator.join(row) for row in zip(*map(_as_strings, texts), strict=True)], problems


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


def _checks(column: Raw, *, cells: bool = False) -> ModuleType:
    """What checks such values."""
    if isinstance(column, list):
        return values
    from textodds.data import arrow
    from textodds.data import cells as of_tables

    return of_tables if cells else arrow


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
    for pending in chunked(rows):
        group = _Rows(pending, request, origin, labelled=labelled, weighted=weighted)
        yield group.part([TEXT], [group.items])


def record_parts(rows: Iterable[Row], request: ColumnRequest, origin: Origin, **beside: bool) -> Parts:
    """Parts of rows that are mappings; their keys are the columns, and a key that a row lacks is null in it.

    The columns of texts are those of the first row. Of a table a column is missing only if none of the rows
    that are read first has it. ``beside`` says whether labels and weights stand beside the rows:
    ``labelled``, ``weighted``.
    """
    names: list[str] | None = None
    for pending in chunked(rows):
        group = _Rows(pending, request, origin, **beside)
        group.check(lambda item: isinstance(item, (dict, Mapping)), {}, "a dict is")
        if names is None or request.is_table:
            first = group.items if request.is_table else [item for item in group.items if item][:1]
            if first:
                keys = [key for key in dict.fromkeys(chain.from_iterable(first)) if isinstance(key, str)]
                places = request.positions(origin.where, keys, sparse=names is not None)
                names = [keys[at] for at in places]
        columns = [[item.get(name) for item in group.items] for name in names or ()]
        yield group.part(names or [], columns, sparse=request.is_table)


def row_parts(
    rows: Iterable[Row], names: Sequence[str], request: ColumnRequest, origin: Origin, **beside: bool
) -> Parts:
    """Parts of rows that are sequences, with as many items as there are ``names``; else as `record_parts`."""
    width = len(names)
    chosen = request.positions(origin.where, names)
    for pending in chunked(rows):
        group = _Rows(pending, request, origin, **beside)
        group.check(
            lambda item: isinstance(item, (tuple, list)) and len(item) == width,
            [None] * width,
            f"{width} items are",
        )
        yield group.part([names[at] for at in chosen], [[item[at] for item in group.items] for at in chosen])


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
        self.items, labels, weights, self._places, self._raws = columns
        pending.clear()
        self._request, self._origin = request, origin
        self._labels = labels if labelled else None
        self._weights = weights if weighted else None
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
            return _as_json(self._strange.get(at, row)).encode(errors="backslashreplace")

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


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
