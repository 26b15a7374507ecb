"""Which columns of a table are read, and as what: as a schema says, or as the first rows show."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from textodds.data import columns
from textodds.data.batch import BATCH_ROWS
from textodds.data.columns import ColumnNames
from textodds.data.parts import Part
from textodds.data.schema import GIVEN, Column, Schema, check_kind, refuse_twice
from textodds.errors import InputError, MissingColumn


@dataclass(frozen=True, slots=True)
class Places:
    """Where the used columns of the schema, the labels and the weights stand; None for one not there."""

    columns: list[int | None]
    label: int | None
    weight: int | None

    @property
    def all(self) -> list[int]:
        """The positions to read, in the order of the source."""
        return sorted({at for at in (*self.columns, self.label, self.weight) if at is not None})


class Sought:
    """What is asked of a table.

    Attributes
    ----------
    schema : Schema or None
        The schema, once it is known.
    is_found : bool
        Whether the schema was found from the rows, rather than given.
    """

    is_tabular = True

    def __init__(
        self,
        label: str | None,
        weight: str | None,
        kinds: Mapping[str, str] | None,
        schema: Schema | None,
        *,
        labelled: bool,
        labels_beside: bool,
    ) -> None:
        for name, kind in (kinds or {}).items():
            check_kind(name, kind)
        if schema is not None and kinds:
            raise InputError(
                "`kinds` does not apply: a schema says of what kind each column is",
                hint="leave out `--columns` (columns=, or kinds= of read_table), or train anew with it",
            )
        if schema is not None and not schema.used:
            raise InputError("the schema has no columns to read", hint="train anew, with kinds= for some")
        if labels_beside and label is not None:
            raise InputError(
                "`label` names a column, but labels are given beside the table",
                hint="leave out one of the two",
            )
        self.schema = schema
        self.is_found = schema is None
        self._label = label
        self._weight = weight
        self._kinds = dict(kinds or {})
        self._guesses_label = labelled and not labels_beside
        self._listed: tuple[str, list[str]] = ("", [])  # what the first source of rows has, rows or not

    def positions(self, where: str, names: Sequence[str], *, sparse: bool = False) -> list[int]:
        """The columns to read among ``names``: those of the schema, or all while it is not known."""
        if self.schema is not None:
            return self.places(where, names, sparse=sparse).all
        if not sparse:
            refuse_twice(where, names)
            self._label_at(where, names, ())
            if not self._listed[1]:
                self._listed = where, list(names)
        return list(range(len(names)))

    def refuse_names(self, what: str) -> None:
        """Fail, because ``what`` has texts and no columns."""
        raise InputError(
            f"{what} holds texts, not a table",
            hint="give a table: CSV, TSV, JSON lines, Parquet or a database",
        )

    def bulk(self, columns: list[str]) -> list[str]:
        """Those of the ``columns`` to read that a batch is measured by: all."""
        return columns

    def places(self, where: str, names: Sequence[str], *, sparse: bool = False) -> Places:
        """Where everything stands among ``names``; a column not there is an error unless rows are sparse."""
        assert self.schema is not None
        used = self.schema.used
        if len(set(names)) < len(names):
            sought = {column.name for column in used}
            refuse_twice(where, [name for name in names if name in sought])
        by_name = {name: at for at, name in enumerate(names)}
        found = [by_name.get(column.name) for column in used]
        for at, column in enumerate(used):
            if found[at] is None:
                near = columns.position(names, column.name)
                if near is not None and near not in found:
                    found[at] = near
                elif not sparse:
                    hint = "the model was trained with it, and cannot do without"
                    if self.is_found:
                        hint = "all files of one source have the columns of the first"
                    raise MissingColumn(where, column.name, names, None, hint=hint)
        taken = [at for at in found if at is not None]
        label = weight = None
        allowed = contextlib.suppress(MissingColumn) if sparse else contextlib.nullcontext()
        with allowed:
            label = self._label_at(where, names, taken)
        with allowed:
            weight = self._weight_at(where, names, label)
        for place, what in ((label, "label"), (weight, "weight")):
            if not sparse and place is not None and place in found:
                raise InputError(
                    f"column `{names[place]}` of {where} is one of the model's, and cannot be the {what} too",
                    hint=f"name another column with `--{what} COLUMN` ({what}='COLUMN')",
                )
        return Places(found, label, weight)

    @property
    def reads_labels(self) -> bool:
        """Whether the labels are a column of the table."""
        return self._guesses_label or self._label is not None

    @property
    def reads_weights(self) -> bool:
        """Whether the weights are a column of the table."""
        return self._weight is not None

    @property
    def _label_name(self) -> str | None:
        if self._label is not None:
            return self._label
        return self.schema.label if self._guesses_label and self.schema is not None else None

    def _label_at(self, where: str, names: Sequence[str], taken: Sequence[int]) -> int | None:
        name = self._label_name
        if name is not None:
            return columns.named(where, names, name, "label")
        if not self._guesses_label:
            return None
        weight = None if self._weight is None else columns.position(names, self._weight)
        return columns.usual(
            where, names, columns.LABEL_NAMES, "label", [*taken, *([] if weight is None else [weight])]
        )

    def _weight_at(self, where: str, names: Sequence[str], label: int | None) -> int | None:
        if self._weight is None:
            return None
        at = columns.named(where, names, self._weight, "weight")
        if at == label:
            raise InputError(
                f"label and weight are both column `{names[at]}` of {where}",
                hint="name a column of its own for each",
            )
        return at

    def learn(self, parts: Sequence[Part]) -> None:
        """Find the schema from ``parts``, the first rows of a source."""
        where, listed = self._listed
        names = list(dict.fromkeys([*listed, *(name for part in parts for name in part.names)]))
        if not names:
            self.schema = Schema((), None)
            return
        label = self._label_at(where, names, ())
        weight = self._weight_at(where, names, label)
        others = [name for at, name in enumerate(names) if at not in (label, weight)]
        given = self._given(where, names, label, weight)
        found = [given.get(name) or _found(name, parts) for name in others]
        if parts and all(column.kind == "ignore" for column in found):
            listed_columns = ", ".join(f"`{column.name}` ({column.why})" for column in found) or "none"
            raise InputError(
                f"no column of {where} can be used; there are {listed_columns}",
                hint="say of what kind one is with `--columns NAME=category` (columns={'NAME': 'category'})",
            )
        self.schema = Schema(tuple(found), None if label is None else names[label])

    def _given(
        self, where: str, names: Sequence[str], label: int | None, weight: int | None
    ) -> dict[str, Column]:
        given: dict[str, Column] = {}
        for name, kind in self._kinds.items():
            at = columns.position(names, name)
            if at is None:
                hint = "name one of these in `--columns` (columns=, or kinds= of read_table)"
                raise MissingColumn(where, name, names, None, hint=hint)
            for other, what in ((label, "label"), (weight, "weight")):
                if at == other:
                    raise InputError(
                        f"column `{names[at]}` of {where} is the {what}, and has no kind",
                        hint=f"leave it out of `--columns` (columns=), or name another {what}",
                    )
            given[names[at]] = Column(names[at], kind, GIVEN)
        return given

    def array_names(self, width: int) -> list[str]:
        """Names for the columns of rows without names: numbers, or those of the schema in their order."""
        names = [str(at) for at in range(1, width + 1)]
        if self.schema is None:
            return names
        beside = {
            columns.named("the array", names, name, option)
            for name, option in ((self._label, "label"), (self._weight, "weight"))
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


# What is asked of a source: a text, a label and a weight, or the columns of a table.
ColumnRequest: TypeAlias = ColumnNames | Sought


def _found(name: str, parts: Sequence[Part]) -> Column:
    from textodds.data import kinds

    arrays, rows = [], 0
    for part in parts:
        if name in part.names and rows < BATCH_ROWS:
            arrays.append(part.columns[part.names.index(name)].array.slice(0, BATCH_ROWS - rows))
        rows += part.length
    return kinds.found(name, arrays)
