"""Which columns of a table are read, each of a kind, with the label and the weight of its rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textodds.data.column_names import named_at, names_joined, position, usual
from textodds.data.columns import LABEL_NAMES, ColumnRequest, Places
from textodds.data.schema import GIVEN, Column, Schema, check_kind, refuse_twice
from textodds.errors import InputError, MissingColumn

if TYPE_CHECKING:
    from textodds.data.admission import Part, Raw
    from textodds.data.values import Problems


class TableRequest(ColumnRequest):
    """What is asked of a source: the columns of a table, each of a kind, with labels or without.

    A text that is missing is an empty one, where in a source of texts it is a bad row. ``columns`` gives the
    kinds of some, ``schema`` those of all that are read; ``labels_beside`` says that labels are no column.
    """

    is_of_texts = False
    is_sparse = True
    may_join = is_tabular = True

    def __init__(
        self,
        label: str | None = None,
        weight: str | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        schema: Schema | None = None,
        labelled: bool = True,
        labels_beside: bool = False,
    ) -> None:
        for name, kind in (columns or {}).items():
            check_kind(name, kind)
        if schema is not None and columns:
            raise InputError(
                "`columns` does not apply: a schema says of what kind each column is",
                hint="leave out `--columns` (columns=), or train again with it",
            )
        if schema is not None and not schema.used:
            raise InputError("the schema has no columns to read", hint="train again, with columns= for some")
        if labels_beside and label is not None:
            raise InputError(
                "`label` names a column, but labels are given beside the table",
                hint="leave out one of the two",
            )
        super().__init__((), label, weight, labelled=labelled)
        self.schema = schema
        self.is_found = schema is None
        self._kinds = dict(columns or {})
        self._guesses_label = labelled and not labels_beside
        self._header: tuple[str, list[str]] = ("", [])  # what the first source of rows has, rows or not

    @property
    def needs_rows(self) -> bool:
        """Whether the schema is to be found from the first rows, since it is not given."""
        return self.schema is None

    def _named(self) -> list[tuple[str, str]]:
        return [*super()._named(), *(("columns", name) for name in self._kinds)]

    def refuse_names(self, what: str) -> None:
        """Fail: ``what`` has no columns."""
        raise InputError(
            f"{what} holds texts, not a table",
            hint="give a table: CSV, TSV, JSON lines, Parquet or a database",
        )

    @property
    def by_name(self) -> dict[str, Column]:
        """The columns that are read, once they are known."""
        return {} if self.schema is None else {column.name: column for column in self.schema.used}

    def positions(self, where: str, names: Sequence[str], *, sparse: bool = False) -> list[int]:
        """The columns to read among ``names``; all, while the schema is not known."""
        if not self.needs_rows:
            return sorted(self.places(where, names, sparse=sparse).all)
        if not sparse:
            refuse_twice(where, names)
            self._label_at(where, names, ())
            if not self._header[1]:
                self._header = where, list(names)
        ignored = {position(names, name) for name, kind in self._kinds.items() if kind == "ignore"}
        return [at for at in range(len(names)) if at not in ignored]

    def bulk(self, positions: list[int]) -> list[int]:
        """All of the ``positions``."""
        return positions

    def is_one_text(self, positions: list[int]) -> bool:
        """False: the rows go by the kinds of their columns."""
        return False

    def as_read(self, column: Raw, name: str) -> tuple[Raw, Problems]:
        """The values as an Arrow array, whose type tells of what kind they may be."""
        from textodds.data import arrow

        return arrow.of_objects(column, name)

    def learn(self, parts: Sequence[Part]) -> None:
        """Find the schema from ``parts``, the first rows."""
        where, listed = self._header
        names = list(dict.fromkeys([*listed, *(name for part in parts for name in part.names)]))
        if not names:
            self.schema = Schema(())
            return
        from textodds.data import kinds

        label = self._label_at(where, names, ())
        weight = self._weight_at(where, names, label)
        others = [name for at, name in enumerate(names) if at not in (label, weight)]
        given = self._given(where, names, label, weight)
        vectors = {names[at] for name, kind in self._kinds.items() if kind == "vector"
                   if (at := position(names, name)) is not None}  # fmt: skip
        found = [given.get(name) or kinds.found(name, parts, vector=name in vectors) for name in others]
        if parts and all(column.kind == "ignore" for column in found):
            listed_columns = ", ".join(f"`{column.name}` ({column.why})" for column in found) or "none"
            raise InputError(
                f"no column of {where} can be used; there are {listed_columns}",
                hint="say of what kind one is with `--columns NAME=category` (columns={'NAME': 'category'})",
            )
        self.schema = Schema(tuple(found), None if label is None else names[label])

    def array_names(self, width: int) -> list[str]:
        """Names for the columns of rows without names: numbers, or those of the schema in their order."""
        names = [str(at) for at in range(1, width + 1)]
        if self.schema is None:
            return names
        beside = {
            named_at("the array", names, name, option)
            for name, option in ((self._label, "label"), (self.weight, "weight"))
            if name is not None
        }
        others = [at for at in range(width) if at not in beside]
        if len(others) != len(self.schema.columns):
            raise InputError(
                f"rows have {len(others)} columns, the model {len(self.schema.columns)}",
                hint="give the columns of the model in its order, or a table with names",
            )
        for at, column in zip(others, self.schema.columns, strict=True):
            names[at] = column.name
        return names

    def places(self, where: str, names: Sequence[str], *, sparse: bool = False) -> Places:
        """Where everything stands among ``names``."""
        used = self.by_name
        if len(set(names)) < len(names):
            refuse_twice(where, [name for name in names if name in used])
        place_of = {name: at for at, name in enumerate(names)}
        found: dict[str, tuple[int, ...]] = {name: (place_of[name],) for name in used if name in place_of}
        for name, column in used.items():
            if name not in found:
                parts = names_joined(names, name) if column.kind == "text" else [name]
                near = [at for part in parts if (at := position(names, part)) is not None]
                if tuple(near) in found.values():  # a column of that very name is wanted too
                    near = []
                if sparse or len(near) == len(parts):
                    found[name] = tuple(near)
                else:
                    hint = "the model was trained with it, and cannot do without"
                    if self.is_found:
                        hint = "all files of one source have the columns of the first"
                    raise MissingColumn(where, name, names, None, hint=hint)
        taken = {at for each in found.values() for at in each}
        label = weight = None
        allowed = contextlib.suppress(MissingColumn) if sparse else contextlib.nullcontext()
        with allowed:
            label = self._label_at(where, names, taken)
        with allowed:
            weight = self._weight_at(where, names, label)
        for place, what in ((label, "label"), (weight, "weight")):
            if not sparse and place is not None and place in taken:
                raise InputError(
                    f"column `{names[place]}` of {where} is one of the model's, and cannot be the {what} too",
                    hint=f"name another column with `--{what} COLUMN` ({what}='COLUMN')",
                )
        return Places({name: found[name] for name in used}, label, weight)

    def _label_at(self, where: str, names: Sequence[str], taken: Iterable[int]) -> int | None:
        name = self._label
        if name is None and self._guesses_label and self.schema is not None:
            name = self.schema.label
        if name is not None:
            return named_at(where, names, name, "label")
        if not self._guesses_label:
            return None
        weight = None if self.weight is None else position(names, self.weight)
        return usual(where, names, LABEL_NAMES, "label", [*taken, *([] if weight is None else [weight])])

    def _weight_at(self, where: str, names: Sequence[str], label: int | None) -> int | None:
        if self.weight is None:
            return None
        at = named_at(where, names, self.weight, "weight")
        if at == label:
            raise InputError(
                f"label and weight are both column `{names[at]}` of {where}",
                hint="name a column of its own for each",
            )
        return at

    def _given(
        self, where: str, names: Sequence[str], label: int | None, weight: int | None
    ) -> dict[str, Column]:
        given: dict[str, Column] = {}
        for name, kind in self._kinds.items():
            at = position(names, name)
            if at is None:
                hint = "name one of these in `--columns` (columns=)"
                raise MissingColumn(where, name, names, None, hint=hint)
            for other, what in ((label, "label"), (weight, "weight")):
                if at == other:
                    raise InputError(
                        f"column `{names[at]}` of {where} is the {what}, and has no kind",
                        hint=f"leave it out of `--columns` (columns=), or name another {what}",
                    )
            if kind != "vector":  # how many numbers it has is found
                given[names[at]] = Column(names[at], kind, GIVEN)
        return given
