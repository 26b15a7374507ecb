"""``plot``: draw classifiers of columns of numbers; `plot_curves` has the other pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Unpack

import click
import numpy as np
from numpy.typing import NDArray

from textodds.cli import model_files
from textodds.cli.commands import Command, CommandGroup, F, argument, option, together
from textodds.cli.options import (
    Reading,
    bad_rows_option,
    format_option,
    label_option,
    paths_of,
    reading_of,
    running_options,
)
from textodds.cli.output import counted, faint, one_line, say, size, strong, table, tell
from textodds.cli.progress import watched
from textodds.data import Column, Schema, read
from textodds.errors import InputError, NoData, suggestion
from textodds.study.report import Picture, boundaries, densities
from textodds.study.report.gaussian_fits import LabelledPoints
from textodds.study.report.picture import picture_format, require_matplotlib

FORMATS = ("csv", "tsv", "jsonl", "parquet", "database")
PANELS = 12  # columns that are drawn where none are named


class PictureOptions(Reading):
    """How data is read, and what is said."""

    as_json_: bool
    quiet: bool


class Pictures(Command, CommandGroup):
    """A command that is followed by the kind of picture."""

    noun = "picture"
    example = ": `textodds plot boundaries DATA`"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The kinds of pictures, then the options."""
        with formatter.section("Pictures"):
            formatter.write_dl([(name, each.get_short_help_str(60)) for name, each in self.commands.items()])
        super().format_options(ctx, formatter)


@click.group(
    "plot",
    cls=Pictures,
    subcommand_metavar="PICTURE [ARGS]...",
    examples=[
        "textodds plot boundaries people.csv",
        "textodds plot densities people.csv -o people.png",
        "textodds plot logistic people.csv",
    ],
)
def plot() -> None:
    """Plot classifiers, likelihoods and gradient descent.

    Needs `pip install 'textodds[plot]'`.
    """


def _picture_options(picture: str, *columns: Callable[[F], F]) -> Callable[[F], F]:
    """The options of a picture, among them those that name its columns."""
    output = f"*.svg or *.png; otherwise DATA-{picture}.svg in this folder."
    return together(
        argument("data", "Files or patterns of tables, a database, or - for stdin.", nargs=-1),
        option("Output", "-o", "--output", metavar="FILE", writes="picture", help=output),
        label_option(),
        format_option(FORMATS),
        bad_rows_option(),
        *columns,
        running_options(json="Print what was drawn as JSON on stdout.", threads=False),
    )


def _column_option(*names: str, about: str, multiple: bool = False) -> Callable[[F], F]:
    return option("Columns", *names, metavar="COLUMN", help=about, multiple=multiple)


@plot.command(
    "boundaries",
    cls=Command,
    short_help="Decision regions of QDA, LDA, naive Bayes and logistic regression.",
    examples=[
        "textodds plot boundaries people.csv",
        "textodds plot boundaries iris.csv --x petal_length --y petal_width -o iris.png",
    ],
)
@_picture_options(
    "boundaries",
    _column_option("--x", about="Column of the x axis.  [default: the first numeric one]"),
    _column_option("--y", about="Column of the y axis.  [default: the next numeric one]"),
)
def boundaries_command(
    data: tuple[str, ...],
    output: str | None,
    x: str | None,
    y: str | None,
    **options: Unpack[PictureOptions],
) -> None:
    """Draw the decision regions of four classifiers side by side.

    QDA, LDA, Gaussian naive Bayes and logistic regression are fitted to the same two columns of numbers by
    maximum likelihood, and drawn with their boundaries; the first three, which model the numbers of each
    class, also with its ellipses at 1 and 2 standard deviations.
    """
    path = _checked_path(data, output, "boundaries")
    points = _table(data, options, partial(_two_columns, x=x, y=y, quiet=options["quiet"]))
    picture = boundaries(points.rows, points.labels, (points.names[0], points.names[1]))
    rows = [[name, f"{right:.1%}"] for name, right in picture.about["accuracy"].items()]
    _finish(picture, path, points.source, ("model", "right"), rows, options)


@plot.command(
    "densities",
    cls=Command,
    short_help="Histograms of each class with fitted normal curves.",
    examples=[
        "textodds plot densities people.csv",
        "textodds plot densities people.csv --column height --column weight",
    ],
)
@_picture_options(
    "densities",
    _column_option(
        "--column",
        "wanted",
        multiple=True,
        about=f"A numeric column; may be repeated.  [default: the first {PANELS}]",
    ),
)
def densities_command(
    data: tuple[str, ...], output: str | None, wanted: tuple[str, ...], **options: Unpack[PictureOptions]
) -> None:
    """Draw histograms of each class with fitted normal curves.

    One panel for each column, with the decision points of a Gaussian classifier of that column alone.
    """
    path = _checked_path(data, output, "densities")
    points = _table(data, options, partial(_many_columns, wanted=wanted, quiet=options["quiet"]))
    drawn = list(range(len(points.names))) if wanted else _drawable(points, quiet=options["quiet"])
    names, numbers = [points.names[v] for v in drawn], points.rows[:, drawn]
    picture = densities(numbers, points.labels, names)
    rows = []
    for v, name in enumerate(names):
        column = picture.about["columns"][name]
        low, high = np.nanmin(numbers[:, v]), np.nanmax(numbers[:, v])
        within = [point for point in column["decisions"] if low <= point["at"] <= high]
        crossings = [f"{p['at']:.4g} ({one_line(p['before'])} | {one_line(p['after'])})" for p in within]
        rows.append([one_line(name), f"{column['accuracy']:.1%}", ", ".join(crossings)])
    _finish(picture, path, points.source, ("column", "right", "decides at"), rows, options)


def _two_columns(where: str, schema: Schema, *, x: str | None, y: str | None, quiet: bool) -> list[str]:
    """The columns that ``--x`` and ``--y`` name, or the first columns of numbers in their place."""
    named = [_known(where, schema, name, option) for name, option in ((x, "--x"), (y, "--y")) if name]
    if x and x == y:
        raise InputError(f"`--x` and `--y` are both `{x}`", hint="name two different columns")
    numbers = [name for name in schema.names("number") if name not in named]
    if len(named) + len(numbers) < 2:
        has = "".join(f"only `{one_line(name)}`" for name in [*named, *numbers]) or "none"
        raise InputError(
            f"two numeric columns are needed, and {where} has {has}",
            hint="name others with `--x` and `--y`, or draw a single one with `textodds plot densities`",
        )
    first = x or numbers.pop(0)
    second = y or numbers.pop(0)
    if not (x and y):
        axes = f"{one_line(first)} (x) and {one_line(second)} (y)"
        say(f"drawing {axes}; others: `--x` and `--y`", quiet=quiet)
    return [first, second]


def _many_columns(where: str, schema: Schema, *, wanted: tuple[str, ...], quiet: bool) -> list[str]:
    """The columns that are wanted, or the first columns of numbers."""
    if wanted:
        return list(dict.fromkeys(_known(where, schema, name, "--column") for name in wanted))
    numbers = schema.names("number")
    if not numbers:
        raise InputError(
            f"{where} has no numeric column", hint="name one with `--column`, to read it as numbers"
        )
    if len(numbers) > PANELS:
        first = f"drawing the first {PANELS} of {len(numbers)} columns of numbers"
        say(f"{first}; others: `--column`", quiet=quiet)
    return numbers[:PANELS]


def _checked_path(data: Sequence[str], output: str | None, what: str) -> Path:
    """Where the picture goes; fails before any work for what could not be drawn or written."""
    require_matplotlib()
    if not all(data) or not data:
        raise InputError("there is no data", hint="name a file, a pattern, or `-` for stdin")
    stem = model_files.default_path(data).stem
    name = what if stem == "model" else f"{stem}-{what}"
    path = Path(f"{name}.svg" if output is None else output)
    picture_format(path)
    model_files.must_be_writable(path)
    return path


def _known(where: str, schema: Schema, name: str, option: str) -> str:
    """The name of a column that there is and that is not the label."""
    names = [column.name for column in schema.columns]
    if name == schema.label:
        raise InputError(f"`{name}` is the column of the labels", hint=f"name another with `{option}`")
    if name not in names:
        listed = ", ".join(f"`{one_line(each)}`" for each in names)
        raise InputError(
            f"{where} has no column `{name}`{suggestion(name, names)}", hint=f"its columns are {listed}"
        )
    return name


class NumberTable(NamedTuple):
    """Columns of numbers with labels."""

    names: list[str]  # (V,)
    rows: NDArray[np.float64]  # (N, V)
    labels: list[str]  # (N,)
    source: str  # what was read


def _table(
    data: Sequence[str], options: PictureOptions, choose: Callable[[str, Schema], list[str]]
) -> NumberTable:
    """The columns that ``choose`` takes of the data."""
    files, reading = paths_of(data, None), reading_of(options)
    source = read(files, columns={}, **reading)
    schema = source.schema
    names = choose(source.description, schema)
    if source.size is not None:  # files: read again, but only what is drawn
        source.rejects.close()
        drawn = Schema(tuple(Column(name, "number", "drawn") for name in names), schema.label)
        source = read(files, schema=drawn, **reading | {"label": schema.label})
    elif strange := [name for name in names if name not in schema.names("number")]:
        raise InputError(
            f"column `{strange[0]}` of {source.description} does not look numeric",
            hint="write the data to a file: a named column of a file is read as numbers",
        )
    parts: list[NDArray[np.float64]] = []
    labels: list[str] = []
    with watched(source, "reading", quiet=options["quiet"]) as batches:
        for batch in batches:
            parts.append(np.column_stack([batch.columns[name] for name in names]))
            labels += batch.label_list()
    if not parts:
        raise NoData(f"{source.description} has no rows")
    return NumberTable(names, np.concatenate(parts), labels, source.description)


def _drawable(points: NumberTable, *, quiet: bool) -> list[int]:
    """The columns that can be drawn; says why others cannot, and fails if none can."""
    drawn: list[int] = []
    for v, name in enumerate(points.names):
        try:
            LabelledPoints.of(points.rows[:, v], points.labels, [name])
            drawn.append(v)
        except InputError as error:
            if not drawn and v == len(points.names) - 1:
                raise
            say(f"left out: {one_line(error.problem)}", quiet=quiet)
    return drawn


def _finish(
    picture: Picture,
    path: Path,
    where: str,
    names: Sequence[str],
    rows: list[list[str]],
    options: PictureOptions,
) -> None:
    """Write the picture, and say what is in it."""
    picture.save(path)
    written = path.stat().st_size
    about = {"picture": str(path), "bytes": written, **picture.about, "notes": list(picture.notes)}
    drawn = f"{counted(picture.about['rows'], 'row')} of {where}"
    lines = [
        f"fitted {strong(drawn)} in {counted(len(picture.about['classes']), 'class')}",
        *(faint(f"  {one_line(note)}") for note in picture.notes),
        "",
        *table(names, rows, left=len(names)),
        faint("  accuracy on the training rows"),
        "",
        f"wrote {strong(str(path))}: {size(written)}",
    ]
    tell(about, lines, json=options["as_json_"], quiet=options["quiet"])
