"""Which column holds the text, which the label, which the weight."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textodds.errors import InputError, MissingColumn

# In order of preference: a table with both `message` and `title` is about its messages.
TEXT_NAMES = (
    "text", "message", "body", "content", "document", "sentence", "review", "comment", "description", "title",
)  # fmt: skip
LABEL_NAMES = ("label", "labels", "class", "category", "target", "tag", "topic", "sentiment", "y")


@dataclass(frozen=True, slots=True)
class Found:
    """Positions of the columns to read."""

    text: int
    label: int | None
    weight: int | None


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The columns asked for, by name or, where ``None``, by what such columns are usually called.

    A weight is read only where one is named: no column is worth so much trouble as a `weight` that
    held kilograms. Without ``labelled`` a label too is read only where it is named: test files often
    carry a label column that is empty, and must not fail for it.
    """

    text: str | None = None
    label: str | None = None
    weight: str | None = None
    labelled: bool = True

    @property
    def reads_labels(self) -> bool:
        """Whether batches will have labels."""
        return self.labelled or self.label is not None

    @property
    def is_tabular(self) -> bool:
        """Whether there must be columns: for the labels, or because one is named."""
        return self.labelled or bool(self._named)

    @property
    def _named(self) -> dict[str, str]:
        given = {"text": self.text, "label": self.label, "weight": self.weight}
        return {option: name for option, name in given.items() if name is not None}

    def find(self, where: str, columns: Sequence[str]) -> Found:
        """Positions of the wanted among ``columns``; `MissingColumn` lists what is there.

        >>> ColumnNames(label="kind").find("mail.csv", ["id", "Message", "kind"])
        Found(text=1, label=2, weight=None)
        """
        found: dict[str, int] = {}
        for option, name in self._named.items():
            at = named(where, columns, name, option)
            for other, position in found.items():
                if position == at:
                    raise InputError(
                        f"{other} and {option} are both column `{columns[at]}` of {where}",
                        hint="name a column of its own for each",
                    )
            found[option] = at
        # What is named for one thing is not guessed for another.
        if "text" not in found:
            found["text"] = usual(where, columns, TEXT_NAMES, "text", found.values())
        if "label" not in found and self.labelled:
            found["label"] = usual(where, columns, LABEL_NAMES, "label", found.values())
        return Found(found["text"], found.get("label"), found.get("weight"))

    def positions(self, where: str, columns: Sequence[str]) -> list[int]:
        """The columns to read among ``columns``, that of the texts first."""
        found = self.find(where, columns)
        return [at for at in (found.text, found.label, found.weight) if at is not None]

    def bulk(self, columns: list[str]) -> list[str]:
        """Those of the ``columns`` to read that a batch is measured by: the texts."""
        return columns[:1]

    def refuse_names(self, what: str) -> None:
        """Fail where a column is named but ``what`` has none, rather than ignore the name."""
        for option in self._named:
            raise InputError(
                f"`{option}` names a column, but {what} has no columns",
                hint=f"leave out `--{option}` ({option}=)",
            )


def position(columns: Sequence[str], name: str) -> int | None:
    """Where ``name`` stands among ``columns``, if need be in another case or with blanks around it."""
    if name in columns:
        return columns.index(name)
    plain, sought = _plain(columns), name.strip().casefold()
    return plain.index(sought) if sought in plain else None


def named(where: str, columns: Sequence[str], name: str, option: str) -> int:
    """The position of the column that ``option`` names, or `MissingColumn`."""
    at = position(columns, name)
    if at is None:
        raise MissingColumn(where, name, columns, option)
    return at


def usual(
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
