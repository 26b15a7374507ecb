"""Options that several commands share, what words they take, and what the library makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click
from click.core import ParameterSource

from textodds.cli.commands import F, argument, option, together
from textodds.cli.overwrite import in_learner, in_query, themselves
from textodds.data import READ_OPTIONS, Batch, Source, read
from textodds.data.files import FORMATS
from textodds.errors import BadFile, InputError, suggestion
from textodds.learn.recipe import OF_WEIGHTING, prior
from textodds.learn.registry import AUTO, LEARNERS, names_of
from textodds.model.output.answers import CELLS
from textodds.stats.tally import MOST_THREADS
from textodds.text import Selection, TextSettings, Weighting

if TYPE_CHECKING:
    from textodds.data import Source
    from textodds.judge.thresholds import Goal
    from textodds.model.file import AnyModel

N = TypeVar("N", int, float)


class Value(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """What a function makes of a word; where that is a ValueError, ``wanted`` says what to write."""

    name = "value"

    def __init__(self, read: Callable[[str], object], wanted: str) -> None:
        self._read, self._wanted = read, wanted

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """The value."""
        if not isinstance(value, str):  # a default
            return value
        try:
            return self._read(value)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{_option(param)} cannot be `{value}`", hint=f"write {self._wanted}") from error


class OneOf(click.Choice):  # type: ignore[type-arg]
    """One of some words; a near miss is named."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """The word, if it is one of them."""
        if value not in self.choices:
            raise InputError(
                f"{_option(param)} cannot be `{value}`{suggestion(value, self.choices)}",
                hint=f"write one of {', '.join(self.choices)}",
            )
        return value


class SomeOf(OneOf):
    """One or several of some words, between commas: a string if it is one, otherwise a tuple."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """The word or words, if they are among them."""
        words = [super(SomeOf, self).convert(word.strip(), param, ctx) for word in value.split(",")]
        if len(words) > 1 and ("auto" in words or len(set(words)) < len(words)):
            raise InputError(
                f"{_option(param)} cannot be `{value}`", hint="write each once; or auto, which is any of them"
            )
        return words[0] if len(words) == 1 else tuple(words)


def _option(param: click.Parameter | None) -> str:
    return "it" if param is None else f"`{max(param.opts, key=len)}`"


def number(kind: Callable[[str], N], wanted: str, is_right: Callable[[N], bool]) -> Value:
    """A number of a kind that ``is_right`` accepts."""

    def read(text: str) -> N:
        if not is_right(value := kind(text)):
            raise ValueError
        return value

    return Value(read, wanted)


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
    if (size := int(float(match[1]) * (1024 if match[3] else 1000) ** power)) < 1:
        raise ValueError
    return size


PRIOR = Value(partial(prior, mark=","), "`data`, `uniform`, or every class once: `spam=0.02,ham=0.98`")
COUNT = number(int, "a whole number above 0", lambda n: n > 0)
THREADS = number(int, f"a whole number from 1 to {MOST_THREADS:,}", lambda n: 1 <= n <= MOST_THREADS)
SHARE = number(float, "a number from 0 to 1", lambda x: 0 <= x <= 1)
TIME = Value(in_seconds, "a time such as 60s, 2min or 0")

GOAL = Value(
    lambda text: _goal(text),
    "f1 (micro- and macro-F1 together), micro-f1, macro-f1, precision=0.9, recall=0.9, "
    "cost=1:5 (a false alarm against a miss), or half",
)


class Reading(TypedDict, total=False):
    """How data is read, as the library takes it: see `textodds.read`."""

    text: str | tuple[str, ...] | None
    label: str | tuple[str, ...] | None
    label_separator: str | None
    weight: str | None
    format: str | None
    query: str | None
    quoting: bool | None
    header: bool | None
    encoding: str | None
    sheet: str | None
    bad_rows: str
    rejects_path: str | None


def switch_off(section: str, name: str, about: str) -> Callable[[F], F]:
    """An option ``--no-NAME``, with which ``name`` is False."""
    off = {"is_flag": True, "flag_value": False, "default": True, "show_default": False}
    return option(section, f"--no-{name}", name, help=about, **off)


def reading_options(*, labelled: bool, weighted: bool = False) -> Callable[[F], F]:
    """The options for reading data."""
    text = "Texts; again, or subject+body.  [default: by name]"
    weight = option("Data", "--weight", metavar="COLUMN", help="Column of weights: 2 counts a row twice.")
    query = "Run this query on the database DATA, or DuckDB."
    rejects = "Write skipped rows here.  [default: nowhere]"
    return together(
        option("Data", "--text", metavar="COLUMN", multiple=True, callback=_one_or_several, help=text),
        *([label_options()] if labelled else []),
        *([weight] if weighted else []),
        format_option(FORMATS),
        option("Data", "--query", metavar="SQL", reads=in_query, help=query),
        _form_option("quoting", '" quotes fields of CSV and TSV, or is plain text.'),
        _form_option("header", "First line of CSV and TSV has column names."),
        option(
            "Data",
            "--encoding",
            metavar="NAME",
            help="Such as cp1252.  [default: the model's, or utf-8]",
        ),
        option("Data", "--sheet", metavar="NAME", help="Sheet of an Excel file.  [default: the first]"),
        bad_rows_option(),
        option(
            "Data", "--rejects", "rejects_path", metavar="FILE", writes="file of rejected rows", help=rejects
        ),
    )


def _form_option(name: str, about: str) -> Callable[[F], F]:
    """``--NAME/--no-NAME``; where neither is given, as the data of the model's training, or yes."""
    return option("Data", f"--{name}/--no-{name}", name, default=None, help=about)


def _one_or_several(
    context: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> str | tuple[str, ...] | None:
    return given if len(given) > 1 else next(iter(given), None)


def label_option() -> Callable[[F], F]:
    """``--label``, of one column."""
    return option("Data", "--label", metavar="COLUMN", help="Column of the labels.  [default: by its name]")


def label_options() -> Callable[[F], F]:
    """``--label``, of one column or several, and ``--label-separator``."""
    label = "Labels; again for 0/1 columns.  [default: by name]"
    separator = "Stands between several labels of a row: | or ;."
    return together(
        option("Data", "--label", metavar="COLUMN", multiple=True, callback=_one_or_several, help=label),
        option("Data", "--label-separator", metavar="TEXT", help=separator),
    )


def goal_option(section: str, about: str) -> Callable[[F], F]:
    """``--goal``."""
    return option(section, "--goal", type=GOAL, metavar="GOAL", help=about)


def _goal(text: str) -> Goal:
    from textodds.judge.thresholds import Goal

    return Goal.of(text)


def format_option(formats: Sequence[str]) -> Callable[[F], F]:
    """``--format``, which is one of these."""
    return option("Data", "--format", type=OneOf(formats), metavar="FORMAT", help=f"{', '.join(formats)}.")


def bad_rows_option() -> Callable[[F], F]:
    """``--bad-rows``."""
    what = OneOf(["stop", "skip"])
    return option("Data", "--bad-rows", type=what, default="stop", help="Stop at a bad row, or skip it.")


def reading_of(options: Reading) -> Reading:
    """Of the options of a command those for reading data."""
    return {name: value for name, value in options.items() if name in READ_OPTIONS}  # type: ignore[return-value]


def paths_of(data: Sequence[str], query: str | None) -> str | list[Path] | None:
    """The files in ``data``, as the library takes them."""
    if not data and query is None:
        raise InputError("there is no data", hint="name a file, a pattern, a folder, or `-` for stdin")
    if not all(data):
        raise InputError("a file name is empty", hint="check that the shell variable in the command is set")
    return None if not data else data[0] if len(data) == 1 else [Path(path) for path in data]


def opened(data: Sequence[str], options: Reading, *, labelled: bool = True) -> Source:
    """The source of the files in ``data``, read as the ``options`` say."""
    return read(paths_of(data, options.get("query")), labelled=labelled, **reading_of(options))


def source_for(
    model: AnyModel,
    data: Sequence[str],
    options: Reading,
    *,
    labelled: bool,
    keep_rows: bool | list[str] = False,
) -> Any:
    """The source of what a model reads: texts, or rows of its table; its columns are those of training."""
    given, how = paths_of(data, options.get("query")), reading_of(options)
    try:
        return model.read(given, labelled=labelled, keep_rows=keep_rows, **how)
    except BadFile as error:
        hint = _said_instead(data, error)
        raise error if hint is None else BadFile(error.problem, hint=hint) from error


def _said_instead(data: Sequence[str], error: BadFile) -> str | None:
    """What to write for a text that was given by mistake for the name of a file, where texts are taken."""
    context = click.get_current_context()
    if "texts" not in context.params or not error.problem.startswith("no file at"):
        return None
    is_near = "did you mean" in (error.hint or "")
    words = (path for path in data if " " in path or not (is_near or {".", "/"} & set(path)))
    taken = next(words, None)
    label = " --label-is LABEL" if "label_is" in context.params else ""
    return None if taken is None else f'for a text rather than a file: --say "{taken}"{label}'


def refuse_reading(instead: str, others: Sequence[str] = ()) -> None:
    """Fail for an option for reading data, or one of the ``others`` about data, where there is none."""
    context = click.get_current_context()
    for each in context.command.params:
        given = each.name and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE
        if given and each.name in (*READ_OPTIONS, *others):
            raise InputError(
                f"`{max(each.opts, key=len)}` is about data, but {instead}",
                hint="leave out one of the two",
            )


def portions(batches: Iterable[Batch], classes: int) -> Iterator[Batch]:
    """The same rows in batches small enough to be scored for so many classes."""
    most = max(1, CELLS // classes)
    for batch in batches:
        if len(batch) <= most:
            yield batch
            continue
        for start in range(0, len(batch), most):
            yield batch.take(range(start, min(start + most, len(batch))))


IN_PYTHON = ("descent", "calibrate", "count_unknown", "fields")
"""Settings that the command line has elsewhere, or not at all."""


def learner_option(default: str) -> Callable[[F], F]:
    """``--learner``, as `textodds.learn.recipe` reads it."""
    about = f"Such as softmax or softmax:C=10:ngrams=1-2; see below.  [default: {default}]"
    return option(
        "Learner", "--learner", metavar="NAME", reads=in_learner, shell_complete=learner_names, help=about
    )


def learner_names(context: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Learners that begin so, behind those between commas that are there."""
    from click.shell_completion import CompletionItem

    before, comma, word = incomplete.rpartition(",")
    titles = {AUTO: "the best on held-out texts"} | {name: LEARNERS[name].title for name in names_of()}
    found = [(name, title) for name, title in titles.items() if name.startswith(word)]
    return [CompletionItem(before + comma + name, help=title) for name, title in found]


def textbook_option(group: str = "Learner") -> Callable[[F], F]:
    """``--textbook``."""
    return option(group, "--textbook", is_flag=True, help="Do not tune or calibrate: alpha is 1.")


def learners_and_settings() -> Iterator[tuple[str, str]]:
    """Each learner with its settings and their usual values, and those of texts."""
    yield AUTO, f"the best on held-out texts of {', '.join(names_of(choice=True))}"
    for name in names_of():
        entry = LEARNERS[name]
        of = {(False, True): ", of tables", (True, True): ", also of tables"}
        settings = " ".join(_usual(entry.load(), chosen=entry.textbook))
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
        if field in weighting:  # a mean is of models from elsewhere
            yield f"{weighting[field]}={value}"


def _usual(kind: type, chosen: Container[str] = ()) -> Iterator[str]:
    """The settings that are fields of a class, with their usual values, as they are written.

    Those that are ``chosen`` unless a value is given are ``auto``.
    """
    for each in fields(kind):
        if each.name not in IN_PYTHON:
            value: object = each.default
            if isinstance(value, bool):
                value = "yes" if value else "no"
            elif isinstance(value, tuple):
                value = "-".join(map(str, value))
            elif value in (None, ""):
                value = AUTO if each.name in chosen else "none"
            yield f"{each.name}={value}"


def model_argument() -> Callable[[F], F]:
    """``MODEL``."""
    return argument("model", "A model file made by `train`.")


def top_option(default: int, about: str) -> Callable[[F], F]:
    """``--top``."""
    return option("What to show", "--top", type=COUNT, metavar="N", default=default, help=about)


def running_options(*, json: str, threads: bool = True, quiet: bool = True) -> Callable[[F], F]:
    """``--threads``, ``--json`` (which prints what ``json`` says) and ``--quiet``."""
    several = "Threads to use.  [default: TEXTODDS_THREADS, or one per core]"
    silent = option("Running", "--quiet", is_flag=True, help="Print only warnings and errors.")
    return together(
        *([option("Running", "--threads", type=THREADS, metavar="N", help=several)] if threads else []),
        option("Running", "--json", "as_json_", is_flag=True, help=json),
        *([silent] if quiet else []),
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
    kinds = "number, gaussian, bins, category, text, ignore.  [default: by type]"
    value = Value(columns, "`age=number,city=category,id=ignore`")
    named = option("Data", "--columns", type=value, metavar="NAME=WHAT,…", help=kinds)
    again = "Repeat its selection; of tables, take its columns."
    model = option("Data", "--like", metavar="MODEL", reads=themselves, help=again)
    return together(named, *([model] if like else []))
