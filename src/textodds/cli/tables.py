"""Tables on the command line: how their columns are read, and what was chosen for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.output import aligned, faint, one_line
from textodds.cli.source import DEFAULTS
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


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options for reading data, as `read_table` takes them."""
    chosen = {**DEFAULTS, **{name: value for name, value in options.items() if name in DEFAULTS}}
    if chosen["text"] is not None:
        raise InputError(
            "`--text` names the one column of texts, but all columns of a table are read",
            hint="leave it out, or say what the column is: `--columns NAME=text`",
        )
    return {
        "label": chosen["label"],
        "weight": chosen["weight"],
        "format": chosen["format"],
        "query": chosen["query"],
        "quoting": not chosen["no_quoting"],
        "header": not chosen["no_header"],
        "bad_rows": chosen["bad_rows"],
        "rejects_path": chosen["rejects"],
    }


def paths_of(data: Sequence[str], options: dict[str, Any]) -> Any:
    """The files in ``data``, as `read_table` takes them."""
    if not data and options.get("query") is None:
        raise InputError("there is no data", hint="name a file, a pattern, a database, or `-` for stdin")
    return None if not data else data[0] if len(data) == 1 else [Path(path) for path in data]


def rows_for(
    model: TableModel, data: Sequence[str], options: dict[str, Any], *, labelled: bool
) -> TableSource:
    """The source of rows for a model, its columns read as in training."""
    from textodds.data import read_table

    reading = reading_of(options)
    return read_table(paths_of(data, options), schema=model.schema, labelled=labelled, **reading)


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
