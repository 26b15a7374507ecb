"""Which columns of a source are read, and as what: texts, labels, weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textodds.data.batch import BETWEEN_FIELDS, TEXT
from textodds.data.column_names import JOIN, named_at, names_joined, position, usual
from textodds.data.label_sets import LabelSets
from textodds.data.labels import LabelTypes
from textodds.data.schema import GIVEN, Column, Schema, lacking, refuse_twice
from textodds.errors import InputError

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
        return list(dict.fromkeys([*positions, *self.kept_among(names)]))

    def kept_among(self, names: Sequence[str]) -> list[int]:
        """Where the named columns stand that are kept, as far as they are among ``names``."""
        return [at for name in self.kept or () if (at := position(names, name)) is not None]

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
