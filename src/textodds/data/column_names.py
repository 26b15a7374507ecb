"""Where a column stands among the names of a header."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from textodds.errors import MissingColumn

JOIN = "+"  # between the names of columns whose texts are joined to one


def position(columns: Sequence[str], name: str) -> int | None:
    """Where ``name`` stands among ``columns``, if need be in another case or with blanks around it."""
    if name in columns:
        return columns.index(name)
    plain, wanted = _plain(columns), name.strip().casefold()
    return plain.index(wanted) if wanted in plain else None


def named_at(where: str, columns: Sequence[str], name: str, option: str) -> int:
    """Where ``name`` stands among ``columns``, or `MissingColumn`."""
    at = position(columns, name)
    if at is None:
        raise MissingColumn(where, name, columns, option)
    return at


def names_joined(columns: Sequence[str], name: str) -> list[str]:
    """The names of the columns that ``name`` joins to one text: itself, where there is a column called so.

    >>> names_joined(["subject", "body", "C++"], "subject+body"), names_joined(["C++"], "C++")
    (['subject', 'body'], ['C++'])
    """
    if JOIN not in name or position(columns, name) is not None:
        return [name]
    return [part.strip() for part in name.split(JOIN)]


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
