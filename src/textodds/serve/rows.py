"""Rows in the place of texts: of which models, how they are checked, and how the journal keeps them.

A model of a table and a model of several columns of texts read rows, columns by name. What a value may be and
when one is missing is decided where tables are read (`textodds.data`); a row is kept in the journal as JSON,
without missing values, so that two rows are the same if their texts are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, NamedTuple, TypeAlias

from textodds.data import Batch
from textodds.errors import BadRow, InputError, TextoddsError, suggestion
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.tables.table_model import TableModel
from textodds.model.text_model import TextModel

OneLabelModel: TypeAlias = TextModel | TableModel
Model: TypeAlias = OneLabelModel | MultiLabelModel
Kind = Literal["number", "vector", "category", "text"]

LISTED = 50  # categories of a column that are told
EXACT = 1 << 53  # below which a float that is a whole number is written as one
MISSING = "a column that is left out, or null, is a missing value"


class ColumnFacts(NamedTuple):
    """A column that a model reads; of few categories also which, of vectors how many numbers they have."""

    name: str
    kind: Kind
    categories: list[str] | None
    size: int | None = None


def reads_rows(model: Model) -> bool:
    """Whether a model reads rows of columns by name, rather than one text."""
    return isinstance(model, TableModel) or bool(model.recipe.settings.fields)


def names_of(model: Model) -> list[str]:
    """The columns that a model reads, by name; none, if it reads one text."""
    if isinstance(model, TableModel):
        return [column.name for column in model.schema.used]
    return list(model.recipe.settings.fields)


def columns_of(model: Model) -> list[ColumnFacts]:
    """What is known of the columns that a model reads."""
    if not isinstance(model, TableModel):
        return [ColumnFacts(name, "text", None) for name in names_of(model)]
    known: dict[str, Sequence[str]] = {}
    for block, part in zip(model.recipe.blocks, model.tally.parts, strict=True):
        if block.kind in ("categories", "cells"):
            known |= zip(part.columns, part.categories, strict=True)  # type: ignore[union-attr]
    found = []
    for column in model.schema.used:
        listed = known.get(column.name, ())
        kind: Any = column.kind
        categories = list(listed) if 0 < len(listed) <= LISTED else None
        found.append(ColumnFacts(column.name, kind, categories, column.size))
    return found


def words_of(model: Model) -> int:
    """The words of a model of texts; of a table none."""
    return 0 if isinstance(model, TableModel) else len(model.vocabulary)


def checked(model: Model, row: Mapping[str, object], where: str = "row") -> dict[str, Any]:
    """A row without its missing values, whose columns are those of the model; reading it checks the rest."""
    names, ignored, vectors = names_of(model), set[str](), set[str]()
    hint = f"the columns are {', '.join(names)}; {MISSING}"
    if isinstance(model, TableModel):
        ignored = {column.name for column in model.schema.columns} - set(names)
        vectors = set(model.schema.names("vector"))
        if model.schema.label is not None and model.schema.label in row:
            raise InputError(
                f"`{where}`: `{model.schema.label}` is the label", hint="leave it out of the row"
            )
    for name, value in row.items():
        if name not in names and name not in ignored:
            near = next((f"; did you mean `{each}`?" for each in names if each.lower() == name.lower()), None)
            near = near or suggestion(name, names)
            raise InputError(f"`{where}`: there is no column `{name}`{near}", hint=hint)
        is_text = not isinstance(model, TableModel)
        kinds: Any = str | None if is_text else str | float | int | None  # a bool is an int
        if not (isinstance(value, list | None) if name in vectors else isinstance(value, kinds)):
            wanted = "a text" if is_text else "a number, a text, true or false"
            wanted = "a list of numbers" if name in vectors else wanted
            problem = f"`{where}`: column `{name}` must be {wanted}, or null; got {json.dumps(value)[:60]}"
            raise InputError(problem, hint=hint)
    if not any(name in row for name in names):
        raise InputError(f"`{where}` has none of the columns of the model", hint=hint)
    return {name: _plain(value) for name, value in row.items() if value is not None}


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < EXACT else value


def written(row: Mapping[str, object]) -> str:
    """A checked row, as the journal keeps it."""
    return json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def kept_row(text: str) -> dict[str, Any]:
    """The row that the journal keeps as a text."""
    found: dict[str, Any] = json.loads(text)
    return found


def item_of(model: Model, row: Mapping[str, object], where: str = "row") -> Any:
    """A row as the model takes it: of a table a dict, of several columns of texts a text of fields."""
    given = checked(model, row, where)
    return model.row_of(given)


@contextmanager
def reading(wheres: Sequence[str]) -> Iterator[None]:
    """Where a row cannot be read, say which, by the names that rows have where they come from."""
    try:
        yield
    except BadRow as error:
        where = wheres[(error.line or 1) - 1]
        refused = InputError(f"`{where}`: {error.reason}", hint=f"correct the value; {MISSING}")
        refused.code = error.code
        raise refused from error


def batches_of(model: Model, texts: Sequence[str], labels: list[str], names: Sequence[str]) -> list[Batch]:
    """Documents of the journal, as the model reads them: columns that it does not have are left out."""
    if not texts:
        return []
    if not reads_rows(model):
        return [Batch(list(texts), labels, None)]
    columns = names_of(model)
    rows = [{name: row.get(name) for name in columns} for row in map(kept_row, texts)]
    if not isinstance(model, TableModel):
        return [Batch([model.row_of(row) for row in rows], labels, None)]
    with reading([f"document {name}" for name in names]):
        return list(model.read(rows, labels, labelled=True))


def warm_up(model: Model) -> None:
    """Answer a row of a table once: what that imports takes seconds on a busy machine."""
    if isinstance(model, TableModel):
        with suppress(TextoddsError):
            model.explain(example(model))


def length_of(row: Mapping[str, object]) -> int:
    """The characters of the texts of a row."""
    return sum(len(value) for value in row.values() if isinstance(value, str))


def example(model: Model) -> dict[str, object]:
    """A row of the model, for who wants to see one."""
    usual: dict[str, object] = {"number": 1, "category": "a", "text": "win a free phone now"}
    row: dict[str, object] = {}
    for each in columns_of(model):
        usual["vector"] = [0.5] * (each.size or 0)
        row[each.name] = each.categories[0] if each.categories else usual[each.kind]
    return row
