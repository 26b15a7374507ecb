"""Which columns of a source are read, and as what: texts, labels, weights, the columns of a table."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textodds.data.batch import BETWEEN_FIELDS, TEXT
from textodds.data.column_names import JOIN, named_at, names_joined, position, usual
from textodds.data.label_sets import LabelSets
from textodds.data.labels import LabelTypes
from textodds.data.schema import GIVEN, Column, Schema, check_kind, lacking, refuse_twice
from textodds.errors import InputError, MissingColumn

if TYPE_CHECKING:
    from textodds.data.admission import Part, Raw
    from textodds.data.values import Problems

# In order of preference: a table with both `message` and `title` is about its messages.
TEXT_NAMES = (
    "text", "message", "body", "content", "document", "sentence", "review", "comment", "description", "title",
)  # fmt: skip
LABEL_NAMES = ("label", "labels", "class", "category", "target", "tag", "topic", "sentiment", "y")

BY_NAME = "by its name"  # why a column is the text, where the user did not say so


@dataclass(frozen=True, slots=True)
class Places:
    """Where the wanted columns stand.

    ``columns`` are by the name they have in a batch: a text may be joined from several, and a column that is
    not there has no place.
    """

    columns: dict[str, tuple[int, ...]]
    label: int | None
    weight: int | None
    indicators: tuple[int, ...] = ()  # of labels, where a row may have several

    @property
    def all(self) -> list[int]:
        """The positions to read, those of the columns first."""
        columns = [at for each in self.columns.values() for at in each]
        beside = (at for at in (self.label, self.weight) if at is not None)
        return list(dict.fromkeys([*columns, *self.indicators, *beside]))


class ColumnRequest:
    """What is asked of a source: texts, and whether they have labels; `TableRequest` asks for a table.

    The text is one column, named or the first that is called as texts usually are; or several that are named,
    each a field of the text.

    A weight is read only where one is named: no column is worth so much trouble as a `weight` that
    held kilograms. Without ``labelled`` a label too is read only where it is named: test files often
    carry a label column that is empty, and must not fail for it.

    Attributes
    ----------
    schema : Schema or None
        The columns and the label, once they are known.
    separator : str
        What stands between the texts of several columns.
    label_types : LabelTypes
        Of what type the labels are that have passed.
    fields : dict
        Of texts, what each column of the last part is, for messages: text or label.
    """

    is_of_texts = True
    is_found = True  # whether the schema is found from the source, rather than given
    is_sparse = False  # whether a row that lacks a column has a null in it

    def __init__(
        self,
        text: Sequence[str] = (),
        label: str | None = None,
        weight: str | None = None,
        *,
        label_sets: LabelSets | None = None,
        like: Schema | None = None,
        labelled: bool = True,
    ) -> None:
        self._like = like or Schema(())
        self.schema: Schema | None = None
        self.label_types = LabelTypes()
        self.fields: dict[str, str] = {}
        self._texts = tuple(text)
        self.separator = BETWEEN_FIELDS if len(text) > 1 else "\n"
        self._label = label
        self.label_sets = label_sets
        self.weight = weight
        self.labelled = labelled
        self._guesses_label = labelled
        self.names: Sequence[str] = ()  # all columns of what was opened first, read or not
        self.keeps_rows = False  # whether columns are read to be written beside the answers
        self.kept: Sequence[str] | None = None  # which of them; None for all

    def keep(self, rows: bool | Sequence[str]) -> None:
        """Read all columns, or the named ones, beside those that are wanted; or these alone."""
        self.keeps_rows = rows is not False
        self.kept = None if isinstance(rows, bool) else rows

    @property
    def needs_rows(self) -> bool:
        """Whether the schema is to be found from the first rows; that of texts is known from the names."""
        return False

    def have_no_names(self) -> None:
        """Note that the source was read, and has no columns with names."""
        if self.schema is None:
            self.schema = Schema(())

    @property
    def reads_labels(self) -> bool:
        """Whether the labels are a column of the source."""
        return self._guesses_label or self._label is not None or bool(self.indicators)

    @property
    def indicators(self) -> tuple[str, ...]:
        """The names of the columns that say of one label each whether a row has it."""
        return () if self.label_sets is None else self.label_sets.columns

    @property
    def reads_weights(self) -> bool:
        """Whether the weights are a column of the source."""
        return self.weight is not None

    @property
    def may_join(self) -> bool:
        """Whether more columns may be read than one of texts, with its label and weight."""
        names = self._texts or [column.name for column in self._like.columns]
        return len(self._texts) > 1 or bool(self.indicators) or any(JOIN in name for name in names)

    @property
    def paths(self) -> list[str]:
        """Names with a dot that are asked for: fields within fields, unless a column is called so.

        >>> ColumnRequest(["ticket.subject+ticket.body"], "kind").paths
        ['ticket.subject', 'ticket.body']
        """
        columns = [*self._like.columns, *(() if self.schema is None else self.schema.columns)]
        names = [name for _, name in self._named()] + [column.name for column in columns]
        names += [schema.label for schema in (self._like, self.schema) if schema is not None and schema.label]
        parts = (part.strip() for name in names for part in (name, *name.split(JOIN)))
        return [name for name in dict.fromkeys(parts) if "." in name and JOIN not in name]

    @property
    def is_tabular(self) -> bool:
        """Whether there must be columns: for the labels, or because one is named."""
        return self.labelled or bool(self._named())

    @classmethod
    def without_names(cls, *beside: str | None) -> ColumnRequest:
        """The request for texts without a name; ``beside`` are the columns of label and weight, if any."""
        request = cls([TEXT], *beside, labelled=False)
        request.have_no_names()
        return request

    def refuse_names(self, what: str) -> None:
        """Fail where a column is named but ``what`` has none, rather than ignore the name."""
        for option, _ in self._named():
            raise InputError(
                f"`{option}` names a column, but {what} has no columns",
                hint=f"leave out `--{option}` ({option}=)",
            )

    @property
    def by_name(self) -> dict[str, Column]:
        """The columns of a table that are read, once they are known; texts need no kind."""
        return {}

    def places(self, where: str, names: Sequence[str], *, sparse: bool = False) -> Places:
        """Where everything stands among ``names``; a column not there is an error unless rows are sparse.

        >>> ColumnRequest(label="kind").places("mail.csv", ["id", "Message", "kind"])
        Places(columns={'Message': (1,)}, label=2, weight=None, indicators=())
        """
        places = self._places(where, names)
        self.names = self.names or tuple(names)
        if len(set(names)) < len(names):
            read = {names[at] for at in places.all}
            refuse_twice(where, [name for name in names if name in read])
        self.fields = {names[at]: "text" for each in places.columns.values() for at in each}
        texts = tuple(self.fields) if len(self._texts) > 1 else tuple(places.columns)
        label = None if places.label is None else names[places.label]
        if label is not None:
            self.fields[label] = "label"
        self.fields |= {names[at]: "label" for at in places.indicators}
        if self.schema is None:
            why = GIVEN if self._texts else BY_NAME
            self.schema = Schema(tuple(Column(name, "text", why) for name in texts), label)
        return places

    def positions(self, where: str, names: Sequence[str], *, sparse: bool = False) -> list[int]:
        """The columns to read among ``names``; of a table all, while its schema is not known."""
        return self.places(where, names, sparse=sparse).all

    def with_kept(self, where: str, names: Sequence[str]) -> list[int]:
        """The columns to read among ``names``: as `positions`, and those of rows that are kept."""
        positions = self.positions(where, names)
        self.names = self.names or tuple(names)
        if self.keeps_rows and self.kept is None:
            return list(range(len(names)))
        beside = [names.index(name) for name in self.kept or () if name in names]
        return list(dict.fromkeys([*positions, *beside]))

    def bulk(self, positions: list[int]) -> list[int]:
        """Those of the ``positions`` to read that a batch is measured by: the texts, or all of a table."""
        n_labels = len(self.indicators) or self.reads_labels
        beside = 0 if self.keeps_rows else n_labels + self.reads_weights
        return positions[: len(positions) - beside]

    def is_one_text(self, positions: list[int]) -> bool:
        """Whether the ``positions`` to read are one column of texts, with its one label and weight."""
        return len(self.bulk(positions)) == 1 and self.label_sets is None

    def as_read(self, column: Raw, name: str) -> tuple[Raw, Problems]:
        """The values of a column as they are checked, and what is wrong with those that do not fit in.

        Lists of texts stay lists, so that no Arrow is needed for them.
        """
        return (column.tolist() if isinstance(column, np.ndarray) else column), {}

    def learn(self, parts: Sequence[Part]) -> None:
        """Find the schema from ``parts``, the first rows, where it needs them."""

    @property
    def wanted(self) -> list[str]:
        """The names of the columns of texts, as far as they are known before any data is opened."""
        names = [*self._texts] or [column.name for column in self._like.columns]
        return [part.strip() for name in names for part in name.split(JOIN)]

    def _named(self) -> list[tuple[str, str]]:
        """Options that name a column, and the names."""
        beside = (("label", self._label), ("weight", self.weight))
        named = [(option, name) for option, name in beside if name is not None]
        named += [("label", name) for name in self.indicators]
        return [*(("text", name) for name in self._texts), *named]

    def _places(self, where: str, names: Sequence[str]) -> Places:
        found: dict[int, str] = {}  # what each column is named for
        texts: list[tuple[int, ...]] = []
        beside: dict[str, int] = {}
        indicators: list[int] = []
        for option, name in self._named():
            is_alone = option == "text" and len(self._texts) == 1
            parts = names_joined(names, name) if is_alone else [name]
            places = tuple(named_at(where, names, part, option) for part in parts)
            for at in places:
                if at in found:
                    raise InputError(
                        f"{found[at]} and {option} are both column `{names[at]}` of {where}"
                        if found[at] != option
                        else f"column `{names[at]}` of {where} is named twice as {option}",
                        hint="name a column of its own for each",
                    )
                found[at] = option
            if option == "text":
                texts.append(places)
            elif option == "label" and self.indicators:
                indicators.append(places[0])
            else:
                beside[option] = places[0]
        # What is named for one thing is not guessed for another.
        if not texts:
            before = self._text_as_before(where, names, found)
            texts = [before or (usual(where, names, TEXT_NAMES, "text", found),)]
        label = beside.get("label")
        guesses = self._guesses_label and not indicators
        if label is None and guesses and self._like.label is not None:
            label = position(names, self._like.label)
            if label is None:
                raise lacking(where, self._like.label, names, "label", LABEL_NAMES)
            label = None if label in (*found, *texts[0]) else label
        if label is None and guesses:
            label = usual(where, names, LABEL_NAMES, "label", [*found, *texts[0]])
        joined = tuple(at for places in texts for at in places)
        text = {JOIN.join(names[at] for at in joined): joined}
        return Places(text, label, beside.get("weight"), tuple(indicators))

    def _text_as_before(self, where: str, names: Sequence[str], taken: Collection[int]) -> tuple[int, ...]:
        """Where the column of texts of an earlier source stands, or those it was joined from."""
        for column in self._like.columns:
            parts = {part: position(names, part) for part in names_joined(names, column.name)}
            for part, at in parts.items():
                if at is None:
                    raise lacking(where, part, names, "text", TEXT_NAMES)
            places = tuple(at for at in parts.values() if at is not None and at not in taken)
            if len(places) == len(parts):
                return places
        return ()


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
