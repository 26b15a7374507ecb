r"""Several labels a row: how they are read, and how a set of them is named within a model.

Within a model a set of labels is one text, its name: each label behind a record separator (U+001E), sorted,
once each. So what is counted by class is counted by set, and adds and subtracts as ever; a label's own
counts are sums over the sets that have it.

>>> name_of(["toxic", "angry", "toxic"])
'\x1eangry\x1etoxic'
>>> labels_in('\x1eangry\x1etoxic'), labels_in(name_of([]))
(('angry', 'toxic'), ())
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data import files
from textodds.data.batch import Batch
from textodds.data.values import Problems, Unusable, is_null, label_of, written
from textodds.errors import InputError

if TYPE_CHECKING:
    from textodds.data.admission import Part
    from textodds.data.columns import ColumnRequest
    from textodds.data.files import File

MARK = "\x1e"
SEPARATORS = ("|", ";", ",")

LISTS = (list, tuple, set, frozenset, np.ndarray)
"""What a row with several labels has for a value."""

_YES = frozenset({"1", "true", "yes", "y", "x", "t"})
_NO = frozenset({"0", "false", "no", "n", "", "f"})


def name_of(labels: Iterable[str]) -> str:
    """The name of a set of labels."""
    return MARK + MARK.join(sorted(set(labels)))


def labels_in(name: str) -> tuple[str, ...]:
    """The labels of the set of that name, sorted."""
    return tuple(name[1:].split(MARK)) if len(name) > 1 else ()


def is_set(name: str) -> bool:
    """Whether it is the name of a set, rather than a label."""
    return name.startswith(MARK)


def shown_name(name: str) -> str:
    """A label or a set of them, as people read it.

    >>> shown_name("spam"), shown_name(name_of(["urgent", "billing"])), shown_name(name_of([]))
    ('spam', 'billing, urgent', 'no label')
    """
    return (", ".join(labels_in(name)) or "no label") if is_set(name) else name


def labels_of_sets(names: Iterable[str]) -> tuple[str, ...]:
    """All labels of some sets, sorted."""
    return tuple(sorted(set("".join(names).split(MARK)) - {""}))  # each label has a mark before it


def are_lists(column: object) -> bool:
    """Whether the labels of a column, a list or an Arrow array, are lists: several a row."""
    if isinstance(column, list):
        first = next((value for value in column if not is_null_or_list_free(value)), None)
        return isinstance(first, LISTS)
    kind = str(getattr(column, "type", ""))
    return kind.startswith(("list", "large_list", "fixed_size_list"))


def is_null_or_list_free(value: object) -> bool:
    """Whether a value says nothing about how labels come."""
    return not isinstance(value, np.ndarray) and is_null(value)


class LabelSets:
    """How the labels of a source are read, where a row may have several; and what was met on the way.

    ``separator`` stands between labels that are written in one field; ``columns`` are indicators, one a
    label. Without either they come as lists. A null or an empty field is a row without a label.
    """

    def __init__(self, separator: str | None = None, columns: Sequence[str] = ()) -> None:
        self.separator, self.columns = separator, tuple(columns)
        self.rows = self.several = self.repeated = self.blank = 0
        self._known: dict[str | tuple[str, ...], tuple[str, int, bool, bool]] = {}

    def begin(self) -> None:
        """Start a new pass."""
        self.rows = self.several = self.repeated = self.blank = 0

    @property
    def notes(self) -> list[str]:
        """What was read otherwise than it was written, and whether the separator was of no use."""
        found = self.row_notes
        if self.rows and not self.several and self.separator is not None:
            found.append(f"no row has the separator {self.separator!r} between labels: each has one at most")
        return found

    @property
    def row_notes(self) -> list[str]:
        """What was read otherwise than it was written."""
        found = []
        if self.repeated:
            found.append(f"{_rows(self.repeated)} a label twice: it counts once")
        if self.blank:
            found.append(f"{_rows(self.blank)} an empty label beside others: it is left out")
        return found

    def of(self, values: Sequence[object]) -> tuple[list[str], Problems]:
        r"""The names of the sets that some values are, and what is wrong with those that are none.

        >>> LabelSets("|").of(["a|b", "", "b"])
        (['\x1ea\x1eb', '\x1e', '\x1eb'], {})
        >>> LabelSets().of([["b", "a"], [], None, ["a", "a"]])[0]
        ['\x1ea\x1eb', '\x1e', '\x1e', '\x1ea']
        """
        names, problems = [], {}
        for at, value in enumerate(values):
            try:
                names.append(self._one(value))
            except Unusable as error:
                names.append(MARK)
                problems[at] = str(error)
        return names, problems

    def of_indicators(self, columns: Sequence[Sequence[object]]) -> tuple[list[str], Problems]:
        """The names of the sets that indicators, a column for each of `columns`, say."""
        names, problems = [], {}
        for at, row in enumerate(zip(*columns, strict=True)):
            try:
                there = [
                    label for label, value in zip(self.columns, row, strict=True) if _is_there(label, value)
                ]
            except Unusable as error:
                names.append(MARK)
                problems[at] = str(error)
                continue
            self.rows += 1
            self.several += len(there) > 1
            names.append(name_of(there))
        return names, problems

    def _one(self, value: object) -> str:
        if isinstance(value, str):
            name, n, repeats, blanks = self._known.get(value) or self._learn(value)
        elif isinstance(value, LISTS):
            texts = tuple(value) if set(map(type, value)) == {str} else None
            name, n, repeats, blanks = (texts and self._known.get(texts)) or self._learn_list(value, texts)
        elif is_null(value):
            name, n, repeats, blanks = MARK, 0, False, False
        else:
            name, n, repeats, blanks = _counted([label_of(value)], 0)
        self.rows += 1
        self.several += n > 1
        self.repeated += repeats
        self.blank += blanks
        return name

    def _learn(self, text: str) -> tuple[str, int, bool, bool]:
        """What a field says; it is remembered, since most fields come again."""
        parts = [part.strip() for part in text.split(self.separator)] if self.separator else [text]
        labels = [label_of(part) for part in parts if part]
        empty = len(parts) - len(labels) if len(parts) > 1 else 0
        return self._remember(text, _counted(labels, empty))

    def _learn_list(self, value: Any, texts: tuple[str, ...] | None) -> tuple[str, int, bool, bool]:
        """What a list says; of ``texts`` it is remembered."""
        labels = [label_of(each) for each in value if not is_null(each)]
        found = _counted(labels, len(value) - len(labels))
        return found if texts is None else self._remember(texts, found)

    def _remember(
        self, given: str | tuple[str, ...], found: tuple[str, int, bool, bool]
    ) -> tuple[str, int, bool, bool]:
        if len(self._known) < 1 << 16:
            self._known[given] = found
        return found


def _counted(labels: Collection[str], blanks: int) -> tuple[str, int, bool, bool]:
    for label in labels:
        if MARK in label:
            raise Unusable("a label has a record separator (U+001E) in it")
        if not label.strip():
            raise Unusable("a label is blank")
    unique = set(labels)
    return name_of(unique), len(unique), len(unique) < len(labels), blanks > 0


def _is_there(label: str, value: object) -> bool:
    shown = written(value, f"column `{label}`")
    plain = "" if shown is None else shown.strip().lower()
    if plain in _YES:
        return True
    if plain in _NO:
        return False
    raise Unusable(
        f"column `{label}` has `{shown}`, where 1 says that the label is there and 0 that it is not"
    )


def _rows(n: int) -> str:
    return f"{n:,} rows have" if n != 1 else "1 row has"


def likely_separator(labels: Collection[str]) -> str | None:
    """What seems to stand between several labels in one, all of whose parts are labels too; None if nothing.

    >>> likely_separator({"anger", "joy", "fear", "anger|joy", "fear|joy"})
    '|'
    >>> likely_separator({"R&D", "Food, drink", "Food"}) is None
    True
    """
    for separator in SEPARATORS:
        several = [label for label in labels if separator in label]
        known = [all(part.strip() in labels for part in label.split(separator)) for label in several]
        if len(several) > 1 and sum(known) >= 0.8 * len(known):
            return separator
    return None


def checked_separator(separator: str | None) -> None:
    """Refuse what cannot stand between labels."""
    if separator is not None and (not isinstance(separator, str) or not separator.strip(" ")):
        raise InputError(
            f"`label_separator` is {separator!r}, which cannot stand between labels",
            hint="give the characters between labels, such as `|`, `;` or `,`",
        )


def look(request: ColumnRequest, part: Part | Batch) -> None:
    """Find out from the first rows whether a row may have several labels: lists say so."""
    if request.label_sets is not None or isinstance(part, Batch) or not part.length:
        return
    values = part.labels
    if values is None and request.reads_labels and len(part.unreadable) < part.length:
        at = request.places(part.origin.where, part.names, sparse=part.sparse).label
        values = None if at is None else part.columns[at]
    if values is not None and are_lists(values.array if values.given is None else values.given):
        request.label_sets = LabelSets()


def are_on_a_line(request: ColumnRequest, file: File) -> bool:
    """Whether the lines of a fastText file may have several labels: the first ones do, or it was said."""
    if request.label_sets is None and not file.is_pipe and files.has_two_labels(files.head(file.path)):
        request.label_sets = LabelSets()
    return request.label_sets is not None
