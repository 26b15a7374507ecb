"""``plot``: draw Gaussian classifiers of columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
from numpy.typing import NDArray

from textodds.cli import model_files
from textodds.cli.command import Command, F, argument, option, together
from textodds.cli.option_types import OneOf
from textodds.cli.output import aligned, as_json, counted, echo, faint, one_line, say, size, strong
from textodds.cli.progress import watched
from textodds.data import Column, Schema, TableSource, read_table
from textodds.errors import InputError, NoData, suggestion
from textodds.study.report import Picture, boundaries, densities
from textodds.study.report.picture import picture_format, require_matplotlib
from textodds.study.report.points import LabelledPoints

FORMATS = ("csv", "tsv", "jsonl", "parquet", "database")

PANELS = 12  # columns that are drawn where none are named

Floats = NDArray[np.float64]


class Pictures(Command, click.Group):
    """A command that is followed by the kind of picture."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The kinds of pictures, then the options."""
        with formatter.section("Pictures"):
            formatter.write_dl([(name, each.get_short_help_str(60)) for name, each in self.commands.items()])
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The picture that is asked for, and what is left for it."""
        name, *rest = args
        if name not in self.commands and not ctx.resilient_parsing:
            raise InputError(
                f"there is no picture `{name}`{suggestion(name, self.commands)}",
                hint=f"the pictures are {' and '.join(self.commands)}: `textodds plot boundaries DATA`",
            )
        return name, self.commands.get(name), rest


@click.group(
    "plot",
    cls=Pictures,
    subcommand_metavar="PICTURE [ARGS]...",
    examples=[
        "textodds plot boundaries people.csv",
        "textodds plot densities people.csv -o people.png",
    ],
)
def plot() -> None:
    """Draw Gaussian classifiers of columns of numbers.

    Quadratic and linear discriminant analysis and Gaussian naive Bayes, as in books. Needs
    `pip install 'textodds[plot]'`.
    """


def _shared_options(default: str) -> Callable[[F], F]:
    """The options of every picture."""
    return together(
        argument("data", "Files or patterns of tables, a database, or - for stdin.", nargs=-1),
        option(
            "Output",
            "-o",
            "--output",
            metavar="FILE",
            help=f"*.svg or *.png; otherwise DATA-{default}.svg in this folder.",
        ),
        option(
            "Data", "--label", metavar="COLUMN", help="Column of the labels, found by its name if not given."
        ),
        option(
            "Data",
            "--format",
            "format_",
            type=OneOf(FORMATS),
            metavar="FORMAT",
            help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; found by name or content if not given.",
        ),
        option(
            "Data",
            "--bad-rows",
            type=OneOf(["stop", "skip"]),
            default="stop",
            help="Stop at the first row that cannot be read, or skip such rows and keep them in a file.",
        ),
    )


def _running_options() -> Callable[[F], F]:
    return together(
        option("Running", "--json", "as_json_", is_flag=True, help="Print what was drawn as JSON on stdout."),
        option("Running", "--quiet", is_flag=True, help="Say nothing but warnings and errors."),
    )


@plot.command(
    "boundaries",
    cls=Command,
    short_help="Decision regions of QDA, LDA and Gaussian naive Bayes.",
    examples=[
        "textodds plot boundaries people.csv",
        "textodds plot boundaries iris.csv --x petal_length --y petal_width -o iris.png",
    ],
)
@_shared_options("boundaries")
@option(
    "Columns", "--x", metavar="COLUMN", help="Numbers to the right; otherwise the first column of numbers."
)
@option("Columns", "--y", metavar="COLUMN", help="Numbers upwards; otherwise the next column of numbers.")
@_running_options()
def boundaries_command(
    data: tuple[str, ...],
    output: str | None,
    x: str | None,
    y: str | None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> None:
    """Draw the decision regions of QDA, LDA and Gaussian naive Bayes side by side.

    Each is fitted to the same two columns of numbers, without shrinkage, and drawn with its boundaries and
    with the ellipses of each class at 1 and 2 standard deviations.
    """
    path = _checked_path(data, output, "boundaries")

    def chosen(where: str, schema: Schema) -> list[str]:
        named = [_known(where, schema, name, option) for name, option in ((x, "--x"), (y, "--y")) if name]
        if x and x == y:
            raise InputError(f"`--x` and `--y` are both `{x}`", hint="name two different columns")
        numbers = [name for name in schema.names("number") if name not in named]
        if len(named) + len(numbers) < 2:
            has = "".join(f"only `{one_line(name)}`" for name in [*named, *numbers]) or "none"
            raise InputError(
                f"two columns of numbers are needed, and {where} has {has}",
                hint="name others with `--x` and `--y`, or draw a single one with `textodds plot densities`",
            )
        first = named.pop(0) if x else numbers.pop(0)
        second = named.pop(0) if y else numbers.pop(0)
        if not (x and y):
            say(
                f"drawing {one_line(first)} (x) and {one_line(second)} (y); others: `--x` and `--y`",
                quiet=quiet,
            )
        return [first, second]

    names, rows, labels, where = _table(data, options, chosen, quiet=quiet)
    picture = boundaries(rows, labels, (names[0], names[1]))
    lines = [[name, f"{right:.1%}"] for name, right in picture.about["accuracy"].items()]
    _finish(picture, path, where, [["model", "right"], *lines], as_json_=as_json_, quiet=quiet)


@plot.command(
    "densities",
    cls=Command,
    short_help="Numbers of each class, and the normal curves fitted.",
    examples=[
        "textodds plot densities people.csv",
        "textodds plot densities people.csv --column height --column weight",
    ],
)
@_shared_options("densities")
@option(
    "Columns",
    "--column",
    "wanted",
    metavar="COLUMN",
    multiple=True,
    help=f"A column of numbers, any number of times; otherwise the first {PANELS}.",
)
@_running_options()
def densities_command(
    data: tuple[str, ...],
    output: str | None,
    wanted: tuple[str, ...],
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> None:
    """Draw the numbers of each class, and the normal curves fitted to them.

    One panel for each column, with the points at which a Gaussian classifier of that column alone
    changes its mind.
    """
    path = _checked_path(data, output, "densities")

    def chosen(where: str, schema: Schema) -> list[str]:
        if wanted:
            return list(dict.fromkeys(_known(where, schema, name, "--column") for name in wanted))
        numbers = schema.names("number")
        if not numbers:
            raise InputError(
                f"{where} has no column of numbers", hint="name one with `--column`, to read it as numbers"
            )
        if len(numbers) > PANELS:
            first = f"drawing the first {PANELS} of {len(numbers)} columns of numbers"
            say(f"{first}; others: `--column`", quiet=quiet)
        return numbers[:PANELS]

    names, rows, labels, where = _table(data, options, chosen, quiet=quiet)
    if not wanted:
        drawn = _drawable(names, rows, labels, quiet=quiet)
        names, rows = [names[v] for v in drawn], rows[:, drawn]
    picture = densities(rows, labels, names)
    lines = []
    for v, name in enumerate(names):
        column = picture.about["columns"][name]
        low, high = np.nanmin(rows[:, v]), np.nanmax(rows[:, v])
        within = [point for point in column["decisions"] if low <= point["at"] <= high]
        points = [f"{p['at']:.4g} ({one_line(p['before'])} | {one_line(p['after'])})" for p in within]
        lines.append([one_line(name), f"{column['accuracy']:.1%}", ", ".join(points)])
    header = ["column", "right", "decides at"]
    _finish(picture, path, where, [header, *lines], as_json_=as_json_, quiet=quiet)


def _checked_path(data: Sequence[str], output: str | None, what: str) -> Path:
    """Where the picture goes; fails before any work for what could not be drawn or written."""
    require_matplotlib()
    if not all(data) or not data:
        raise InputError("there is no data", hint="name a file, a pattern, or `-` for stdin")
    stem = model_files.default_path(data).stem
    path = (
        Path(output) if output is not None else Path(f"{what if stem == 'model' else f'{stem}-{what}'}.svg")
    )
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


def _table(
    data: Sequence[str],
    options: dict[str, Any],
    chosen: Callable[[str, Schema], list[str]],
    *,
    quiet: bool,
) -> tuple[list[str], Floats, list[str], str]:
    """Names of the columns that are drawn, their numbers (N, V), the labels, and what was read."""

    def opened(schema: Schema | None = None) -> TableSource:
        return read_table(
            data[0] if len(data) == 1 else [Path(path) for path in data],
            label=options["label"] if schema is None else schema.label,
            schema=schema,
            format=options["format_"],
            bad_rows=options["bad_rows"],
        )

    source = opened()
    found = source.schema
    names = chosen(source.description, found)
    if source.size is not None:  # files: read again, but only what is drawn
        source.rejects.close()
        source = opened(Schema(tuple(Column(name, "number", "drawn") for name in names), found.label))
    elif strange := [name for name in names if name not in found.names("number")]:
        raise InputError(
            f"column `{strange[0]}` of {source.description} does not seem to be numbers",
            hint="put the data into a file, from which it can be read as numbers all the same",
        )
    parts, labels = [], []
    with watched(cast(Any, source), "reading", quiet=quiet) as watch:
        for batch in cast(Any, watch.batches()):
            parts.append(np.column_stack([batch.columns[name] for name in names]))
            labels += batch.label_list()
    if not parts:
        raise NoData(f"{source.description} has no rows")
    return names, np.concatenate(parts), labels, source.description


def _drawable(names: list[str], rows: Floats, labels: list[str], *, quiet: bool) -> list[int]:
    """The columns that can be drawn; says why others cannot, and fails if none can."""
    drawn: list[int] = []
    for v, name in enumerate(names):
        try:
            LabelledPoints.of(rows[:, v], labels, [name])
            drawn.append(v)
        except InputError as error:
            if not drawn and v == len(names) - 1:
                raise
            say(f"left out: {one_line(error.problem)}", quiet=quiet)
    return drawn


def _finish(
    picture: Picture, path: Path, where: str, rows: list[list[str]], *, as_json_: bool, quiet: bool
) -> None:
    """Write the picture, and say what is in it."""
    picture.save(path)
    written = path.stat().st_size
    if as_json_:
        about = {"picture": str(path), "bytes": written, **picture.about, "notes": list(picture.notes)}
        echo(as_json(about))
        return
    if quiet:
        return
    drawn = f"{counted(picture.about['rows'], 'row')} of {where}"
    say(f"fitted {strong(drawn)} in {counted(len(picture.about['classes']), 'class')}")
    for note in picture.notes:
        say(faint(f"  {one_line(note)}"))
    say()
    for line in aligned([[faint(cell) for cell in rows[0]], *rows[1:]], left=len(rows[0])):
        say(line)
    say(faint("  right on these rows, which they were fitted to"))
    say()
    say(f"wrote {strong(str(path))}: {size(written)}")
