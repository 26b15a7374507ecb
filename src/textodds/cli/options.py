"""Options that several commands share, what words they take, and what the library makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from textodds.cli.commands import F, argument, option, together
from textodds.cli.output import one_line
from textodds.data import Batch, Source, read
from textodds.data.files import FORMATS
from textodds.errors import BadFile, InputError, suggestion
from textodds.learn.registry import AUTO, LEARNERS, names_of
from textodds.learn.spelling import OF_WEIGHTING
from textodds.text import Selection, TextSettings, Weighting
from textodds.text.features import FEATURES

if TYPE_CHECKING:
    from textodds.model.file import Model
    from textodds.model.table_model import TableModel


class Value(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """What a function makes of a word; where that is a ValueError, ``wanted`` says what to write."""

    name = "value"

    def __init__(self, read: Callable[[str], Any], wanted: str) -> None:
        self._read, self._wanted = read, wanted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value."""
        if not isinstance(value, str):  # a default
            return value
        try:
            return self._read(value)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{_option(param)} cannot be `{value}`", hint=f"write {self._wanted}") from error


class OneOf(click.Choice):  # type: ignore[type-arg]
    """One of some words; a near miss is named."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, if it is one of them."""
        if value not in self.choices:
            raise InputError(
                f"{_option(param)} cannot be `{value}`{suggestion(value, self.choices)}",
                hint=f"write one of {', '.join(self.choices)}",
            )
        return value


class SomeOf(OneOf):
    """One or several of some words, between commas: a string if it is one, otherwise a tuple."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word or words, if they are among them."""
        words = [super(SomeOf, self).convert(word.strip(), param, ctx) for word in value.split(",")]
        if len(words) > 1 and ("auto" in words or len(set(words)) < len(words)):
            raise InputError(
                f"{_option(param)} cannot be `{value}`", hint="write each once; or auto, which is any of them"
            )
        return words[0] if len(words) == 1 else tuple(words)


def _option(param: click.Parameter | None) -> str:
    return "it" if param is None else f"`{max(param.opts, key=len)}`"


def above_zero(text: str) -> int:
    """A whole number of at least 1."""
    if (n := int(text)) < 1:
        raise ValueError
    return n


def share(text: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= (x := float(text)) <= 1:
        raise ValueError
    return x


def in_seconds(text: str) -> float:
    """A time in seconds.

    >>> [in_seconds(text) for text in ("60s", "2 min", "1.5h", "90", "500ms")]
    [60.0, 120.0, 5400.0, 90.0, 0.5]
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|m|min|h|)", text.strip().lower())
    if match is None:
        raise ValueError
    unit = {"ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}.get(match[2], 1.0)
    return float(match[1]) * unit


def in_bytes(text: str) -> int:
    """A size in bytes.

    >>> [in_bytes(text) for text in ("2GiB", "500MB", "1.5 kB", "4096")]
    [2147483648, 500000000, 1500, 4096]
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if match is None:
        raise ValueError
    power = " kmgt".index(match[2] or " ")
    return above_zero(str(int(float(match[1]) * (1024 if match[3] else 1000) ** power)))


def prior(text: str) -> str | dict[str, float]:
    """``data``, ``uniform``, or a probability for each class.

    >>> prior("spam=0.02,ham=0.98")
    {'spam': 0.02, 'ham': 0.98}
    """
    if text in ("data", "uniform"):
        return text
    if text.lstrip().startswith("{"):  # the way for labels with a comma in them
        return {label: float(share) for label, share in json.loads(text).items()}
    pairs = [part.rpartition("=") for part in text.split(",")]
    given = {label.strip(): float(share) for label, _, share in pairs}
    if len(given) < len(pairs):  # a class that is named twice
        raise ValueError
    return given


PRIOR = Value(prior, "`data`, `uniform`, or every class once: `spam=0.02,ham=0.98`")


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
    label = option("Data", "--label", metavar="COLUMN", help="Column of the labels.  [default: by its name]")
    weight = option("Data", "--weight", metavar="COLUMN", help="Column of weights: 2 counts a row twice.")
    return together(
        option("Data", "--text", metavar="COLUMN", help="Column of the texts.  [default: by its name]"),
        *([label] if labelled else []),
        *([weight] if weighted else []),
        option("Data", "--format", type=formats, metavar="FORMAT", help=f"{', '.join(FORMATS)}."),
        option("Data", "--query", metavar="SQL", help="Read this query to the database DATA, or to DuckDB."),
        option("Data", "--no-quoting", is_flag=True, help='In CSV and TSV, " is an ordinary character.'),
        option("Data", "--no-header", is_flag=True, help="CSV and TSV have no header; columns are 1, 2, …"),
        option("Data", "--bad-rows", type=bad, default="stop", help="What to do at a bad row."),
        option("Data", "--rejects", metavar="FILE", help="For skipped rows.  [default: DATA.rejected.jsonl]"),
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
        if len(batch) <= most:
            yield batch
            continue
        for start in range(0, len(batch), most):
            yield batch.take(range(start, min(start + most, len(batch))))


IN_PYTHON = ("descent", "calibrate", "count_unknown")
"""Settings that the command line has elsewhere, or not at all."""


def learner_option(default: str) -> Callable[[F], F]:
    """``--learner``, as `textodds.learn.spelling` reads it."""
    about = f"Such as softmax or softmax:C=10:ngrams=1-2; see below.  [default: {default}]"
    return option("Learner", "--learner", metavar="NAME", help=about)


def choice_options() -> Callable[[F], F]:
    """``--features`` and ``--budget``."""
    return together(
        option(
            "Learner",
            "--features",
            type=SomeOf([AUTO, *FEATURES]),
            metavar="NAME",
            help=f"{', '.join(FEATURES)}; or several.",
        ),
        option(
            "Learner",
            "--budget",
            type=Value(in_seconds, "a time such as 60s, 2min or 0"),
            metavar="TIME",
            help="Time that choosing and learning may take.  [default: 60s]",
        ),
    )


def learners_and_settings() -> Iterator[tuple[str, str]]:
    """Each learner with its settings and their usual values, and those of texts."""
    yield AUTO, f"the best on held-out texts of {', '.join(names_of(choice=True))}"
    for name in names_of():
        entry = LEARNERS[name]
        of = {(False, True): ", of tables", (True, True): ", of texts or tables"}
        settings = " ".join(_usual(entry.load()))
        yield name, f"{entry.title}{of.get((entry.is_of_texts, entry.is_of_tables), '')}: {settings}"
    yield "texts", f"with any learner of texts: {' '.join(_of_texts())}"


def _of_texts() -> Iterator[str]:
    """The settings of texts, with their usual values."""
    yield from _usual(TextSettings)
    yield from _usual(Selection)
    yield from ("unknown=ignore", "sklearn=no")
    weighting = {field: setting for setting, field in OF_WEIGHTING.items()}
    for one in _usual(Weighting):
        field, _, value = one.partition("=")
        yield f"{weighting[field]}={value}"


def _usual(kind: type) -> Iterator[str]:
    """The settings that are fields of a class, with their usual values, as they are written."""
    for each in fields(kind):
        if each.name not in IN_PYTHON:
            value: Any = each.default
            if isinstance(value, bool):
                value = "yes" if value else "no"
            elif isinstance(value, tuple):
                value = "-".join(map(str, value))
            yield f"{each.name}={'none' if value in (None, '') else value}"


COUNT = Value(above_zero, "a whole number above 0")


def model_argument() -> Callable[[F], F]:
    """``MODEL``."""
    return argument("model", "A model file made by `train`.")


def top_option(default: int, about: str) -> Callable[[F], F]:
    """``--top``."""
    return option("What to show", "--top", type=COUNT, metavar="N", default=default, help=about)


def say_option(about: str) -> Callable[[F], F]:
    """``--say``."""
    return option("Texts", "--say", "texts", multiple=True, metavar="TEXT", help=about)


def literal_batches(
    model: Model, texts: Sequence[str], data: Sequence[str], options: dict[str, Any], label: str | None = None
) -> Iterable[Any]:
    """Batches of the texts that ``--say`` gives (rows as JSON for a table), all of one label if any."""
    if data:
        raise InputError("texts are given both in data and with `--say`", hint="leave out one of the two")
    refuse_reading(options)
    labels = None if label is None else [label] * len(texts)
    if model.is_table:
        rows = [said_row(model, text) for text in texts]  # type: ignore[arg-type]
        return model.read(rows, labels, labelled=label is not None)  # type: ignore[union-attr]
    return [Batch(list(texts), labels, None)]


def running_options(*, json: str) -> Callable[[F], F]:
    """``--threads``, ``--json`` (which prints what ``json`` says) and ``--quiet``."""
    return together(
        option(
            "Running",
            "--threads",
            type=Value(above_zero, "a whole number above 0"),
            metavar="N",
            help="Threads to use.  [default: TEXTODDS_THREADS, or one per core]",
        ),
        option("Running", "--json", "as_json_", is_flag=True, help=json),
        option("Running", "--quiet", is_flag=True, help="Say nothing but warnings and errors."),
    )


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


def rows_for(model: TableModel, data: Sequence[str], options: dict[str, Any], *, labelled: bool) -> Source:
    """The source of rows for a model, its columns read as in training."""
    paths = paths_of(data, options.get("query"))
    return read(paths, schema=model.schema, labelled=labelled, **reading_of(options))


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
