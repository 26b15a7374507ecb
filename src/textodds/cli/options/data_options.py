"""The data that a command line names: its options, and the source they open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.command import F, option, together
from textodds.cli.options.option_types import OneOf
from textodds.data import Batch, Source, read
from textodds.data.formats import FORMATS
from textodds.errors import BadFile, InputError

if TYPE_CHECKING:
    from textodds.model.file import Model

SECTION = "Data"

# Rows times classes scored at once: 32 MB of scores, whatever the number of classes.
CELLS = 4 << 20

DEFAULTS: dict[str, Any] = {
    "text": None,
    "label": None,
    "weight": None,
    "format": None,
    "query": None,
    "no_quoting": False,
    "no_header": False,
    "bad_rows": "stop",
    "rejects": None,
}


def reading_options(*, labelled: bool, weighted: bool = False) -> Callable[[F], F]:
    """The options for reading data."""
    bad, formats = OneOf(["stop", "skip"]), OneOf(FORMATS)
    label = option(SECTION, "--label", metavar="COLUMN", help="Column of the labels.  [default: by its name]")
    weight = option(SECTION, "--weight", metavar="COLUMN", help="Column of weights: 2 counts a row twice.")
    return together(
        option(SECTION, "--text", metavar="COLUMN", help="Column of the texts.  [default: by its name]"),
        *([label] if labelled else []),
        *([weight] if weighted else []),
        option(SECTION, "--format", type=formats, metavar="FORMAT", help=f"{', '.join(FORMATS)}."),
        option(SECTION, "--query", metavar="SQL", help="Read this query to the database DATA, or to DuckDB."),
        option(SECTION, "--no-quoting", is_flag=True, help='In CSV and TSV, " is an ordinary character.'),
        option(SECTION, "--no-header", is_flag=True, help="CSV and TSV have no header; columns are 1, 2, …"),
        option(SECTION, "--bad-rows", type=bad, default="stop", help="What to do at a bad row."),
        option(
            SECTION, "--rejects", metavar="FILE", help="For skipped rows.  [default: DATA.rejected.jsonl]"
        ),
    )


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options for reading data as the library takes them."""
    chosen = {**DEFAULTS, **{name: value for name, value in options.items() if name in DEFAULTS}}
    return {
        **{name: chosen[name] for name in ("text", "label", "weight", "format", "query", "bad_rows")},
        "quoting": not chosen["no_quoting"],
        "header": not chosen["no_header"],
        "rejects_path": chosen["rejects"],
    }


def paths_of(data: Sequence[str], query: str | None) -> Any:
    """The files in ``data``, as the library takes them."""
    if not data and query is None:
        raise InputError("there is no data", hint="name a file, a pattern, a folder, or `-` for stdin")
    if not all(data):
        raise InputError("the name of a file is empty", hint="is a variable of the shell not set?")
    return None if not data else data[0] if len(data) == 1 else [Path(path) for path in data]


def opened(data: Sequence[str], options: dict[str, Any], *, labelled: bool = True) -> Source:
    """The source of the files in ``data``, read as the ``options`` say."""
    return read(paths_of(data, options.get("query")), labelled=labelled, **reading_of(options))


def source_for(model: Model, data: Sequence[str], options: dict[str, Any], *, labelled: bool) -> Any:
    """The source of what a model reads: texts, or rows of its table."""
    if model.is_table:
        from textodds.cli.tables import rows_for

        return rows_for(model, data, options, labelled=labelled)  # type: ignore[arg-type]
    return opened_or_said(data, options, labelled=labelled)


def opened_or_said(data: Sequence[str], options: dict[str, Any], *, labelled: bool = True) -> Source:
    """The source, where a text may have been given by mistake for the name of a file."""
    try:
        return opened(data, options, labelled=labelled)
    except BadFile as error:
        if error.problem.startswith("no file at") and (
            taken := next((path for path in data if " " in path), None)
        ):
            label = " --label-is LABEL" if labelled else ""
            raise BadFile(
                error.problem, hint=f'for a text rather than a file: --say "{taken}"{label}'
            ) from error
        raise


def refuse_reading(options: dict[str, Any]) -> None:
    """Fail for an option that is about data where the texts stand on the command line."""
    for name, usual in DEFAULTS.items():
        if options.get(name, usual) != usual:
            raise InputError(
                f"`--{name.replace('_', '-')}` is about data, but the text is given with `--say`",
                hint="leave out one of the two",
            )


def portions(batches: Iterable[Any], classes: int) -> Iterator[Any]:
    """The same rows in batches small enough to be scored for so many classes."""
    most = max(1, CELLS // classes)
    for batch in batches:
        if len(batch) <= most or not isinstance(batch, Batch):
            yield batch
            continue
        texts, labels = _as_list(batch.texts), _as_list(batch.labels)
        for start in range(0, len(batch), most):
            part = slice(start, start + most)
            yield Batch(
                texts[part] if texts is not None else [],
                None if labels is None else labels[part],
                None if batch.weights is None else batch.weights[part],
            )


def _as_list(column: Any) -> list[str] | None:
    if column is None or isinstance(column, list):
        return column
    return list(column.to_list() if hasattr(column, "to_list") else column.to_pylist())
