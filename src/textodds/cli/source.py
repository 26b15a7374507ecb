"""The data that a command line names: its options, and the source they open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.command import F, option, together
from textodds.cli.option_types import OneOf
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
    label = option(
        SECTION, "--label", metavar="COLUMN", help="Column of the labels, found by its name if not given."
    )
    weight = option(SECTION, "--weight", metavar="COLUMN", help="Column of weights: 2 counts a row twice.")
    return together(
        option(
            SECTION, "--text", metavar="COLUMN", help="Column of the texts, found by its name if not given."
        ),
        *([label] if labelled else []),
        *([weight] if weighted else []),
        option(
            SECTION,
            "--format",
            type=OneOf(FORMATS),
            metavar="FORMAT",
            help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; found by name or content if not given.",
        ),
        option(
            SECTION,
            "--query",
            metavar="SQL",
            help="Read the rows of a query to the database DATA, or to DuckDB.",
        ),
        option(
            SECTION, "--no-quoting", is_flag=True, help='In CSV and TSV, " is a character like any other.'
        ),
        option(
            SECTION,
            "--no-header",
            is_flag=True,
            help="In CSV and TSV, the first line is data; columns are 1, 2, …",
        ),
        option(
            SECTION,
            "--bad-rows",
            type=OneOf(["stop", "skip"]),
            default="stop",
            help="Stop at the first row that cannot be read, or skip such rows and keep them in a file.",
        ),
        option(
            SECTION,
            "--rejects",
            metavar="FILE",
            help="The file for skipped rows; otherwise DATA.rejected.jsonl in the current folder.",
        ),
    )


def opened(data: Sequence[str], options: dict[str, Any], *, labelled: bool = True) -> Source:
    """The source of the files in ``data``, read as the ``options`` say."""
    chosen = {**DEFAULTS, **{name: value for name, value in options.items() if name in DEFAULTS}}
    if not data and chosen["query"] is None:
        raise InputError("there is no data", hint="name a file, a pattern, a folder, or `-` for stdin")
    if not all(data):
        raise InputError("the name of a file is empty", hint="is a variable of the shell not set?")
    return read(
        None if not data else data[0] if len(data) == 1 else [Path(path) for path in data],
        text=chosen["text"],
        label=chosen["label"],
        weight=chosen["weight"],
        format=chosen["format"],
        query=chosen["query"],
        quoting=not chosen["no_quoting"],
        header=not chosen["no_header"],
        labelled=labelled,
        bad_rows=chosen["bad_rows"],
        rejects_path=chosen["rejects"],
    )


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
