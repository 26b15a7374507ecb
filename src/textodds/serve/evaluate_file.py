"""Measures a model on a file, as a program: `python -m textodds.serve.evaluate_file MODEL FILE COLUMNS`."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from textodds.errors import BadRow, InputError, MissingColumn, NoData, TextoddsError, Unsupported
from textodds.model.file import load
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.tables.table_model import TableModel
from textodds.serve.rows import Model
from textodds.serve.sent_file import SENT, Told, begin, tell, unnamed

PAGE = Path("report.html")


def measures(model: Model, file: str, columns: dict[str, str | None]) -> dict[str, Any]:
    """The measures, as plain data; the report is written beside the file, if it can be drawn."""
    from textodds.study.report.evaluation_data import measured
    from textodds.study.report.evaluation_page import evaluation_page

    named: dict[str, Any] = {name: column for name, column in columns.items() if column is not None}
    if isinstance(model, TableModel) and "text" in named:
        raise InputError(
            "the model reads a table, whose columns go by their names", hint="leave `text` out of the query"
        )
    model.info.get("reading", {}).pop("encoding", None)  # what is sent is in UTF-8, as everything here
    if isinstance(model, MultiLabelModel):
        from textodds.study.report.label_data import measured_labels
        from textodds.study.report.label_page import label_page

        found, gathered = measured_labels(model, model.read(Path(file), labelled=True, **named))
        with contextlib.suppress(Unsupported):  # matplotlib is not installed
            drawn = label_page(model, found, gathered, called="the model", data="the file")
            PAGE.write_text(drawn, encoding="utf-8")
        return found.as_dict()
    if "label_separator" in named:
        raise InputError("the model gives one label", hint="leave `label_separator` out of the query")
    evaluation, data = measured(model, model.read(Path(file), labelled=True, **named))
    with contextlib.suppress(Unsupported):  # matplotlib is not installed
        page = evaluation_page(model, evaluation, data, called="the model", data="the file")
        PAGE.write_text(page, encoding="utf-8")
    return evaluation.as_dict()


def _hint(error: TextoddsError) -> str | None:
    """What to do about an error, for who sends files: hints about options of commands are of no use there."""
    if isinstance(error, MissingColumn):
        return "name the columns in the query: /v1/evaluate?text=COLUMN&label=COLUMN"
    if isinstance(error, BadRow):
        return "correct the row"
    if error.hint is not None and "--encoding" in error.hint:
        return "send it in UTF-8"
    return None if error.hint is None or "--" in error.hint else error.hint


def _problem(error: TextoddsError, file: str) -> Told:
    """What went wrong."""
    hint = _hint(error)
    problem = f"{SENT} has no rows to evaluate on" if isinstance(error, NoData) else error.problem
    return {
        "problem": unnamed(problem, file),
        "hint": None if hint is None else hint.replace(file, "FILE"),
        "code": error.code,
    }


def main(model: str, file: str, columns: str) -> None:
    """Print the measures, or what went wrong, as one line of JSON; end with the service."""
    begin()
    loaded = load(model)
    tell(lambda: measures(loaded, file, json.loads(columns)), lambda error: _problem(error, file))


if __name__ == "__main__":
    main(*sys.argv[1:])
