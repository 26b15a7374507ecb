"""What the columns of a table are: their names, and how each is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textodds.data.values import cut
from textodds.errors import InputError, MissingColumn, suggestion

KINDS = ("number", "vector", "category", "text", "ignore")

VECTOR_MOST = 65_536  # numbers of a vector; the embeddings of this decade have some thousands

GIVEN = "given"  # why a column is of its kind, where the user said so


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its kind, and a short reason for the kind.

    A column of vectors has a ``size``, which is how many numbers each of them has.
    """

    name: str
    kind: str  # one of KINDS
    why: str
    size: int | None = None

    def __post_init__(self) -> None:
        for field in ("name", "kind", "why"):
            _check_text(f"the {field} of a column", getattr(self, field))
        check_kind(self.name, self.kind)
        is_size = type(self.size) is int and 0 < self.size <= VECTOR_MOST
        if is_size != (self.kind == "vector") or not (is_size or self.size is None):
            raise InputError(
                f"column `{self.name}` of kind {self.kind} cannot have the size {_shown(self.size)}",
                hint=f"vectors, and they alone, have a size, from 1 to {VECTOR_MOST:,}",
            )

    def as_dict(self) -> dict[str, Any]:
        """The column as plain data, for JSON."""
        size = {} if self.size is None else {"size": self.size}
        return {"name": self.name, "kind": self.kind, "why": self.why, **size}


@dataclass(frozen=True)
class Schema:
    """The columns of a table in the order of their source, and the name of its labels.

    The columns of the labels and of the weights are not among ``columns``.
    """

    columns: tuple[Column, ...]
    label: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple) or not all(isinstance(each, Column) for each in self.columns):
            raise TypeError(f"the columns of a schema are a tuple of `Column`, not {self.columns!r:.80}")
        if self.label is not None:
            _check_text("the label of a schema", self.label)
        names = [column.name for column in self.columns]
        refuse_twice("a schema", names)
        if self.label in names:
            raise InputError(f"`{self.label}` is the label of a schema, and one of its columns too")

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that are not ignored: those of every batch."""
        return tuple(column for column in self.columns if column.kind != "ignore")

    def names(self, kind: str) -> list[str]:
        """The names of the columns of a ``kind``.

        >>> Schema((Column("age", "number", "given"), Column("id", "ignore", "given"))).names("number")
        ['age']
        """
        if kind not in KINDS:
            raise _unknown_kind("a column", kind)
        return [column.name for column in self.columns if column.kind == kind]

    def as_dict(self) -> dict[str, Any]:
        """The schema as plain data, for JSON; `of_dict` reads it."""
        return {
            "label": self.label,
            "columns": [each.as_dict() for each in self.columns],
        }

    @classmethod
    def of_dict(cls, data: object) -> Schema:
        """The schema that `as_dict` wrote; anything else is an error, wherever it comes from.

        >>> Schema.of_dict(Schema((Column("age", "number", "given"),), "kind").as_dict()).label
        'kind'
        """
        fields = _fields("a schema", data, ("label", "columns"))
        columns = fields["columns"]
        if not isinstance(columns, list):
            raise InputError(f"the columns of a schema are {_shown(columns)}, not a list")
        read = [_column_fields(f"column {at} of a schema", each) for at, each in enumerate(columns, start=1)]
        return cls(tuple(Column(**each) for each in read), fields["label"])


def check_kind(name: str, kind: object) -> None:
    """Fail if ``kind`` is none of `KINDS`."""
    if kind not in KINDS:
        raise _unknown_kind(f"column `{name}`", kind)


def refuse_twice(where: str, names: Sequence[str]) -> None:
    """Fail if two of ``names`` are the same: only one could be meant."""
    if len(set(names)) == len(names):
        return
    seen: set[str] = set()
    twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    raise InputError(
        f"{where} has two columns named `{twice}`" if twice else f"{where} has two columns without a name",
        hint="give each column a name of its own",
    )


def lacking(
    where: str, name: str, columns: Sequence[str], option: str, usual: Sequence[str]
) -> MissingColumn:
    """The error for a column of training that other data lack: another is not guessed."""
    likely = [column for column in columns if column.strip().casefold() in usual]
    hint = f"the model was trained with it; name the column to read: `--{option} {(likely or ['COLUMN'])[0]}`"
    return MissingColumn(where, name, columns, None, hint=f"{hint} ({option}=)")


def _unknown_kind(what: str, kind: object) -> InputError:
    return InputError(
        f"{what} is to be read as {_shown(kind)}, which is not a kind of column"
        + (suggestion(kind, KINDS) if isinstance(kind, str) else ""),
        hint=f"the kinds are {', '.join(KINDS)}",
    )


def _fields(what: str, data: object, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(f"{what} is {_shown(data)}, not an object")
    if set(data) != set(names):
        raise InputError(f"{what} has the fields {_shown(sorted(map(str, data)))}, not {', '.join(names)}")
    return {name: data[name] for name in names}


def _column_fields(what: str, data: object) -> dict[str, Any]:
    is_vector = isinstance(data, Mapping) and data.get("kind") == "vector"
    return _fields(what, data, ("name", "kind", "why", *(("size",) if is_vector else ())))


def _check_text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what} is {_shown(value)}, not text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} has half a surrogate pair: {_shown(value)}") from None


def _shown(value: object) -> str:
    return f"`{cut(repr(value), 60)}`"
