"""Raw rows become a batch: every value is checked, and rows that fail are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from textodds.data import values
from textodds.data.batch import TEXT, Batch, Texts, as_fields
from textodds.data.columns import ColumnRequest, Places
from textodds.data.label_sets import LISTS, LabelSets
from textodds.data.rejects import At, Origin, Rejects
from textodds.data.schema import GIVEN, Column
from textodds.data.values import Problems

if TYPE_CHECKING:
    import pyarrow as pa

# The raw values of one column: a list of Python objects, or an Arrow array of any type.
Raw: TypeAlias = "list[Any] | pa.Array"


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
        return as_json(
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
        request.label_types.see([each for value in given if isinstance(value, LISTS) for each in value])
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


def as_json(row: object) -> str:
    """A row as JSON, whatever its values are."""
    return json.dumps(row, ensure_ascii=False, default=_plain, skipkeys=True)


def as_bytes(row: object) -> bytes:
    """A row as JSON in bytes."""
    return as_json(row).encode(errors="backslashreplace")


def _plain(value: object) -> object:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else repr(value)
