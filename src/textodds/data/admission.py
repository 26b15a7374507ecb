"""Raw rows become a batch: every value is checked, and rows that fail are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from textodds.data import values
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, TEXT, Batch, Texts, as_fields
from textodds.data.columns import ColumnRequest, Places
from textodds.data.label_sets import LabelSets, are_lists
from textodds.data.rejects import At, Origin, Rejects
from textodds.data.schema import GIVEN, Column
from textodds.data.values import Problems, Unreadable
from textodds.errors import NAMED, MissingColumn, nearest

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
    given: Raw | None = None  # as they came, where that is known to differ


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
    is_json: bool = False  # whether `raw` is the JSON object that a row is

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
    return admitted(part, request, rejects)[0]


def admitted(part: Part, request: ColumnRequest, rejects: Rejects) -> tuple[Batch | None, Collection[int]]:
    """As `admit`, and the positions of the bad rows."""
    problems: dict[int, tuple[str, str | None]] = {
        at: (reason, None) for at, reason in part.unreadable.items()
    }

    def note(bad: Problems, hint: str | None = None) -> None:
        for at, reason in bad.items():
            problems.setdefault(at, (reason, hint))

    columns: dict[str, Any] = {}
    labels = weights = None
    if len(part.unreadable) < part.length:
        places = request.places(part.origin.where, part.names, sparse=part.sparse)
        by_name = request.by_name
        for name, at in places.columns.items():
            read = [part.columns[place] for place in at] or [_absent(part, request)]
            column = by_name.get(name)
            columns[name], bad = _checked(column, [each.array for each in read], request.separator)
            for each in read:
                bad |= each.problems
            note(bad, _may_be_categories(column) if request.is_found else None)
        if (sets := request.label_sets) is not None:
            labels, bad = _set_names(part, request, sets, places)
            note(bad)
        elif beside := _beside(part, request, places.label, part.labels, wanted=request.reads_labels):
            request.label_types.see(beside.array if beside.given is None else beside.given)
            labels, bad = _checks(beside.array).labels_of(beside.array)
            note(bad | beside.problems)
        if beside := _beside(part, request, places.weight, part.weights, wanted=request.reads_weights):
            weights, bad = _checks(beside.array).weights_of(beside.array, may_be_strings=request.may_join)
            note(bad | beside.problems)
    for row in sorted(problems):
        reason, hint = problems[row]
        rejects.add(part.origin, part.at(row), reason, part.shown(row), hint=hint)
    if len(problems) == part.length:
        return None, problems
    batch = Batch(columns, labels, weights)
    if problems:
        batch = batch.take([row for row in range(part.length) if row not in problems])
    return batch, problems


def _set_names(
    part: Part, request: ColumnRequest, sets: LabelSets, places: Places
) -> tuple[list[str] | None, Problems]:
    """The sets of labels of the rows, by name; None where labels are not read."""
    if places.indicators:
        return sets.of_indicators([_python_list(part.columns[at]) for at in places.indicators])
    beside = _beside(part, request, places.label, part.labels, wanted=request.reads_labels)
    if beside is None:
        return None, {}
    given = _python_list(beside)
    if sets.separator is None:
        request.label_types.see([each for value in given if are_lists([value]) for each in value])
    names, bad = sets.of(given)
    return names, bad | beside.problems


def _python_list(values: Values) -> list[Any]:
    """Raw values as Python has them, as they came where that is known."""
    raw = values.array if values.given is None else values.given
    return raw if isinstance(raw, list) else [_checks(raw).as_python(value) for value in raw]


def _may_be_categories(column: Column | None) -> str | None:
    """What to do about a bad value in a column that seemed to be numbers."""
    if column is None or column.kind != "number" or column.why == GIVEN:
        return None
    name = column.name
    return (
        f"the first rows of `{name}` are numbers; to read it as categories, use "
        f"`--columns {name}=category` (columns={{{name!r}: 'category'}})"
    )


def admit_texts(
    texts: Raw,
    labels: Raw | None,
    weights: Raw | None,
    rejects: Rejects,
    origin: Origin,
    at: Callable[[int], At],
    sets: LabelSets | None = None,
) -> Batch | None:
    """The batch of the good rows among N texts and what is beside them; with ``sets`` labels are lists."""
    beside = [None if column is None else Values(column) for column in (labels, weights)]
    part = Part(origin, [TEXT], [Values(texts)], len(texts), at, labels=beside[0], weights=beside[1])
    request = ColumnRequest.without_names()
    request.label_sets = sets
    return admit(part, request, rejects)


def _checked(column: Column | None, arrays: list[Raw], separator: str) -> tuple[Any, Problems]:
    """A column of a table, or of texts, as it goes into a batch: joined where it is of several."""
    if column is None:
        checked = [_checks(array).texts_of(array) for array in arrays]
    else:
        from textodds.data import arrow

        checked = [arrow.read_as(column, array) for array in arrays]
    return checked[0] if len(checked) == 1 else _joined(checked, separator, is_blank_empty=column is not None)


def _joined(
    checked: list[tuple[Any, Problems]], separator: str, *, is_blank_empty: bool
) -> tuple[Texts, Problems]:
    """The texts of several columns in one, each row by itself; a null is empty, unless all of a row are."""
    nulls = [{at for at, reason in bad.items() if reason == values.NULL_TEXT} for _, bad in checked]
    problems = dict.fromkeys(set.intersection(*nulls), values.NULL_TEXT)
    for (_, bad), null in zip(checked, nulls, strict=True):
        problems |= {at: reason for at, reason in bad.items() if at not in null and at not in problems}
    columns = [texts for texts, _ in checked]
    if not is_blank_empty and all(isinstance(texts, list) for texts in columns):
        return as_fields(columns, separator), problems
    from textodds.data import arrow

    return arrow.joined(columns, separator, is_blank_empty=is_blank_empty), problems


def _absent(part: Part, request: ColumnRequest) -> Values:
    if request.is_of_texts:
        return Values([None] * part.length)
    import pyarrow as pa

    return Values(pa.nulls(part.length))


def _beside(
    part: Part, request: ColumnRequest, place: int | None, given: Values | None, *, wanted: bool
) -> Values | None:
    """The labels or weights of a part, if there are any or should be."""
    if place is not None:
        return part.columns[place]
    return _absent(part, request) if given is None and wanted else given


def _checks(column: Raw) -> ModuleType:
    """What checks such values."""
    if isinstance(column, list):
        return values
    from textodds.data import arrow

    return arrow


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
    if not request.may_join:
        yield from text_record_parts(rows, request, origin, [])
        return
    names: list[str] = []

    def find_names(records: Sequence[Mapping[Any, object]]) -> None:
        keys = [key for key in dict.fromkeys(chain.from_iterable(records)) if isinstance(key, str)]
        if keys or request.is_sparse:
            places = _positions(request, origin, keys, records, sparse=bool(names))
            names[:] = [keys[at] for at in places]

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
                yield Unreadable(_reason(item, "a dict is")), None, None, at, raw or _as_bytes(item)
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
            return _as_bytes(self._strange.get(at, row))

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


def _as_json(row: object) -> str:
    return json.dumps(row, ensure_ascii=False, default=_plain, skipkeys=True)


def _as_bytes(row: object) -> bytes:
    return _as_json(row).encode(errors="backslashreplace")


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
