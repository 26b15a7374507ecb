"""Which columns of a source are read, and as what: texts, labels, weights, the columns of a table."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textodds.data.batch import BETWEEN_FIELDS
from textodds.data.schema import GIVEN, Column, Schema, check_kind, refuse_twice
from textodds.errors import InputError, MissingColumn

if TYPE_CHECKING:
    from textodds.data.admission import Part

# In order of preference: a table with both `message` and `title` is about its messages.
TEXT_NAMES = (
    "text", "message", "body", "content", "document", "sentence", "review", "comment", "description", "title",
)  # fmt: skip
LABEL_NAMES = ("label", "labels", "class", "category", "target", "tag", "topic", "sentiment", "y")

JOIN = "+"  # between the names of columns whose texts are joined to one

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

    @property
    def all(self) -> list[int]:
        """The positions to read, those of the columns first."""
        columns = [at for each in self.columns.values() for at in each]
        return list(dict.fromkeys([*columns, *(at for at in (self.label, self.weight) if at is not None)]))


class ColumnRequest:
    """What is asked of a source: which columns, as what, and whether labels are.

    Without ``columns`` or a ``schema`` it is texts: one column, named or the first that is called as texts
    usually are; or several that are named, each a field of the text. With them it is a table.

    A weight is read only where one is named: no column is worth so much trouble as a `weight` that
    held kilograms. Without ``labelled`` a label too is read only where it is named: test files often
    carry a label column that is empty, and must not fail for it.

    Attributes
    ----------
    is_table : bool
        Whether rows go by kinds of columns, and a text that is missing is an empty one. Of a source of
        texts it is a bad row.
    separator : str
        What stands between the texts of several columns.
    is_found : bool
        Whether the schema was found from the source, rather than given.
    fields : dict
        Of texts, what each column of the last part is, for messages: text or label.
    """

    def __init__(
        self,
        text: Sequence[str] = (),
        label: str | None = None,
        weight: str | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        schema: Schema | None = None,
        like: Schema | None = None,
        labelled: bool = True,
        labels_beside: bool = False,
    ) -> None:
        for name, kind in (columns or {}).items():
            check_kind(name, kind)
        if schema is not None and columns:
            raise InputError(
                "`columns` does not apply: a schema says of what kind each column is",
                hint="leave out `--columns` (columns=), or train anew with it",
            )
        if schema is not None and not schema.used:
            raise InputError("the schema has no columns to read", hint="train anew, with columns= for some")
        self.is_table = columns is not None or schema is not None
        if self.is_table and labels_beside and label is not None:
            raise InputError(
                "`label` names a column, but labels are given beside the table",
                hint="leave out one of the two",
            )
        self._like = like or Schema(())
        self.is_found = schema is None
        self._schema = schema
        self._found: tuple[tuple[str, ...], str | None] | None = None  # columns of texts, and the label
        self.fields: dict[str, str] = {}
        self._texts = tuple(text)
        self.separator = BETWEEN_FIELDS if len(text) > 1 else "\n"
        self._label = label
        self._weight = weight
        self._kinds = dict(columns or {})
        self.labelled = labelled
        self._guesses_label = labelled and not (self.is_table and labels_beside)
        self._header: tuple[str, list[str]] = ("", [])  # what the first source of rows has, rows or not

    @property
    def schema(self) -> Schema | None:
        """The columns and the label, once they are known."""
        if self._schema is None and self._found is not None:
            names, label = self._found
            why = GIVEN if self._texts else BY_NAME
            self._schema = Schema(tuple(Column(name, "text", why) for name in names), label)
        return self._schema

    def have_no_names(self) -> None:
        """Note that the source was read, and has no columns with names."""
        if self._schema is None and self._found is None:
            self._found = (), None

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns of a table that is read by their kinds, once they are known."""
        return self._schema.used if self.is_table and self._schema is not None else ()

    @property
    def needs_rows(self) -> bool:
        """Whether the schema is to be found from the first rows."""
        return self.is_table and self._schema is None

    @property
    def reads_labels(self) -> bool:
        """Whether the labels are a column of the source."""
        return self._guesses_label or self._label is not None

    @property
    def reads_weights(self) -> bool:
        """Whether the weights are a column of the source."""
        return self._weight is not None

    @property
    def may_join(self) -> bool:
        """Whether a text may be joined from several columns."""
        names = self._texts or [column.name for column in self._like.columns]
        return len(self._texts) > 1 or any(JOIN in name for name in names)

    @property
    def is_tabular(self) -> bool:
        """Whether there must be columns: for the labels, or because one is named."""
        return self.is_table or self.labelled or bool(self._named())

    @classmethod
    def without_names(cls) -> ColumnRequest:
        """The request where texts have no name, and stand beside their labels and weights."""
        request = cls(labelled=False)
        request.have_no_names()
        return request

    def refuse_names(self, what: str) -> None:
        """Fail where a column is named but ``what`` has none, rather than ignore the name."""
        if self.is_table:
            raise InputError(
                f"{what} holds texts, not a table",
                hint="give a table: CSV, TSV, JSON lines, Parquet or a database",
            )
        for option, _ in self._named():
            raise InputError(
                f"`{option}` names a column, but {what} has no columns",
                hint=f"leave out `--{option}` ({option}=)",
            )

    def places(self, where: str, names: Sequence[str], *, sparse: bool = False) -> Places:
        """Where everything stands among ``names``; a column not there is an error unless rows are sparse.

        >>> ColumnRequest(label="kind").places("mail.csv", ["id", "Message", "kind"])
        Places(columns={'Message': (1,)}, label=2, weight=None)
        """
        if self.is_table:
            return self._places_by_kind(where, names, sparse=sparse)
        places = self._places_of_texts(where, names)
        self.fields = {names[at]: "text" for each in places.columns.values() for at in each}
        texts = tuple(self.fields) if len(self._texts) > 1 else tuple(places.columns)
        if places.label is not None:
            self.fields[names[places.label]] = "label"
        if self._found is None:
            self._found = texts, None if places.label is None else names[places.label]
        return places

    def positions(self, where: str, names: Sequence[str], *, sparse: bool = False) -> list[int]:
        """The columns to read among ``names``; of a table all, while its schema is not known."""
        if not self.needs_rows:
            places = self.places(where, names, sparse=sparse).all
            return sorted(places) if self.is_table else places
        if not sparse:
            refuse_twice(where, names)
            self._label_at(where, names, ())
            if not self._header[1]:
                self._header = where, list(names)
        return list(range(len(names)))

    def bulk(self, positions: list[int]) -> list[int]:
        """Those of the ``positions`` to read that a batch is measured by: the texts, or all of a table."""
        if self.is_table:
            return positions
        return positions[: len(positions) - self.reads_labels - self.reads_weights]

    def learn(self, parts: Sequence[Part]) -> None:
        """Find the schema of a table from ``parts``, its first rows."""
        where, listed = self._header
        names = list(dict.fromkeys([*listed, *(name for part in parts for name in part.names)]))
        if not names:
            self._schema = Schema(())
            return
        from textodds.data import kinds

        label = self._label_at(where, names, ())
        weight = self._weight_at(where, names, label)
        others = [name for at, name in enumerate(names) if at not in (label, weight)]
        given = self._given(where, names, label, weight)
        found = [given.get(name) or kinds.found(name, parts) for name in others]
        if parts and all(column.kind == "ignore" for column in found):
            listed_columns = ", ".join(f"`{column.name}` ({column.why})" for column in found) or "none"
            raise InputError(
                f"no column of {where} can be used; there are {listed_columns}",
                hint="say of what kind one is with `--columns NAME=category` (columns={'NAME': 'category'})",
            )
        self._schema = Schema(tuple(found), None if label is None else names[label])

    def array_names(self, width: int) -> list[str]:
        """Names for the columns of rows without names: numbers, or those of the schema in their order."""
        names = [str(at) for at in range(1, width + 1)]
        if self.schema is None:
            return names
        beside = {
            _named_at("the array", names, name, option)
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

    def _named(self) -> list[tuple[str, str]]:
        """Options that name a column, and the names."""
        beside = (("label", self._label), ("weight", self._weight))
        named = [(option, name) for option, name in beside if name is not None]
        return [*(("text", name) for name in self._texts), *named]

    def _places_of_texts(self, where: str, names: Sequence[str]) -> Places:
        found: dict[int, str] = {}  # what each column is named for
        texts: list[tuple[int, ...]] = []
        beside: dict[str, int] = {}
        for option, name in self._named():
            is_alone = option == "text" and len(self._texts) == 1
            parts = _names_joined(names, name) if is_alone else [name]
            places = tuple(_named_at(where, names, part, option) for part in parts)
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
            else:
                beside[option] = places[0]
        # What is named for one thing is not guessed for another.
        if not texts:
            texts = [self._text_as_before(names, found) or (_usual(where, names, TEXT_NAMES, "text", found),)]
        label = beside.get("label")
        if label is None and self._guesses_label and self._like.label is not None:
            label = position(names, self._like.label)
            label = None if label in (*found, *texts[0]) else label
        if label is None and self._guesses_label:
            label = _usual(where, names, LABEL_NAMES, "label", [*found, *texts[0]])
        joined = tuple(at for places in texts for at in places)
        return Places({JOIN.join(names[at] for at in joined): joined}, label, beside.get("weight"))

    def _text_as_before(self, names: Sequence[str], taken: Collection[int]) -> tuple[int, ...]:
        """Where the column of texts of an earlier source stands, or those it was joined from."""
        for column in self._like.columns:
            parts = [position(names, part) for part in _names_joined(names, column.name)]
            places = tuple(at for at in parts if at is not None and at not in taken)
            if len(places) == len(parts):
                return places
        return ()

    def _places_by_kind(self, where: str, names: Sequence[str], *, sparse: bool) -> Places:
        used = self.used
        if len(set(names)) < len(names):
            wanted = {column.name for column in used}
            refuse_twice(where, [name for name in names if name in wanted])
        by_name = {name: at for at, name in enumerate(names)}
        found: dict[str, tuple[int, ...]] = {
            column.name: (by_name[column.name],) for column in used if column.name in by_name
        }
        for column in used:
            if column.name not in found:
                parts = _names_joined(names, column.name) if column.kind == "text" else [column.name]
                near = [at for part in parts if (at := position(names, part)) is not None]
                if tuple(near) in found.values():  # a column of that very name is wanted too
                    near = []
                if sparse or len(near) == len(parts):
                    found[column.name] = tuple(near)
                else:
                    hint = "the model was trained with it, and cannot do without"
                    if self.is_found:
                        hint = "all files of one source have the columns of the first"
                    raise MissingColumn(where, column.name, names, None, hint=hint)
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
        return Places({column.name: found[column.name] for column in used}, label, weight)

    def _label_at(self, where: str, names: Sequence[str], taken: Iterable[int]) -> int | None:
        name = self._label
        if name is None and self._guesses_label and self.schema is not None:
            name = self.schema.label
        if name is not None:
            return _named_at(where, names, name, "label")
        if not self._guesses_label:
            return None
        weight = None if self._weight is None else position(names, self._weight)
        return _usual(where, names, LABEL_NAMES, "label", [*taken, *([] if weight is None else [weight])])

    def _weight_at(self, where: str, names: Sequence[str], label: int | None) -> int | None:
        if self._weight is None:
            return None
        at = _named_at(where, names, self._weight, "weight")
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
            given[names[at]] = Column(names[at], kind, GIVEN)
        return given


def position(columns: Sequence[str], name: str) -> int | None:
    """Where ``name`` stands among ``columns``, if need be in another case or with blanks around it."""
    if name in columns:
        return columns.index(name)
    plain, wanted = _plain(columns), name.strip().casefold()
    return plain.index(wanted) if wanted in plain else None


def _named_at(where: str, columns: Sequence[str], name: str, option: str) -> int:
    at = position(columns, name)
    if at is None:
        raise MissingColumn(where, name, columns, option)
    return at


def _names_joined(columns: Sequence[str], name: str) -> list[str]:
    """The names of the columns that ``name`` joins to one text: itself, where there is a column called so.

    >>> _names_joined(["subject", "body", "C++"], "subject+body"), _names_joined(["C++"], "C++")
    (['subject', 'body'], ['C++'])
    """
    if JOIN not in name or position(columns, name) is not None:
        return [name]
    return [part.strip() for part in name.split(JOIN)]


def _usual(
    where: str, columns: Sequence[str], names: Sequence[str], option: str, taken: Collection[int]
) -> int:
    """The position of the first of ``names`` that is there and not ``taken``, or `MissingColumn`."""
    plain = _plain(columns)
    for name in names:
        for at, column in enumerate(plain):
            if column == name and at not in taken:
                return at
    raise MissingColumn(where, option, columns, option)


def _plain(columns: Sequence[str]) -> list[str]:
    # `text, label` has a blank in front of `label` that nobody meant.
    return [column.strip().casefold() for column in columns]
