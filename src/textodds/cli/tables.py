"""Tables on the command line: how their columns are read, and what was chosen for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textodds.cli.commands import F, option, together
from textodds.cli.options import Value, paths_of, reading_of
from textodds.cli.output import aligned, faint, one_line
from textodds.errors import InputError

if TYPE_CHECKING:
    from textodds.data import TableSource
    from textodds.model.table_model import TableModel


def columns(text: str) -> dict[str, str]:
    """What columns are, as they stand on the command line.

    >>> columns("age=number, zip code=category")
    {'age': 'number', 'zip code': 'category'}
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, kind = part.rpartition("=")
        if not equals or not name.strip() or not kind.strip() or name.strip() in found:
            raise ValueError
        found[name.strip()] = kind.strip()
    return found


def column_options(*, like: bool = True) -> Callable[[F], F]:
    """``--columns`` and, where models are merged, ``--like``."""
    kinds = "number, gaussian, bins, category, text, ignore"
    named = option(
        "Data",
        "--columns",
        type=Value(columns, "`age=number,city=category,id=ignore`"),
        metavar="NAME=WHAT,…",
        help=f"{kinds}.  [default: by type]",
    )
    model = option("Data", "--like", metavar="MODEL", help="Take the columns of a table as this model did.")
    return together(named, *([model] if like else []))


def rows_for(
    model: TableModel, data: Sequence[str], options: dict[str, Any], *, labelled: bool
) -> TableSource:
    """The source of rows for a model, its columns read as in training."""
    from textodds.data import read_table

    paths = paths_of(data, options.get("query"))
    return read_table(paths, schema=model.schema, labelled=labelled, **reading_of(options))


def said_row(model: TableModel, text: str) -> dict[str, Any]:
    """A row that stands on the command line as a JSON object."""
    try:
        row = json.loads(text)
    except json.JSONDecodeError:
        row = None
    if not isinstance(row, dict):
        first = next((column.name for column in model.schema.used), "age")
        raise InputError(
            f"`{one_line(text)}` is no row of a table",
            hint=f"write a JSON object: --say '{{\"{first}\": …}}'",
        )
    return model.row_of(row)


def choice_lines(model: TableModel) -> list[str]:
    """A table of what was chosen for each column."""
    rows = [[faint("column"), faint("taken for"), faint("because")]]
    rows += [
        [one_line(choice.column), choice.conditional, faint(choice.why)] for choice in model.recipe.choices
    ]
    return aligned(rows, left=3)
