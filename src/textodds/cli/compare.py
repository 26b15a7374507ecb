"""``compare``: all models on the same data, side by side."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli import tables
from textodds.cli.command import argument, command, option
from textodds.cli.errors import STOPPED
from textodds.cli.option_types import Value, above_zero, share
from textodds.cli.output import aligned, as_json, echo, faint, one_line, say, size, strong
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import opened, reading_options
from textodds.data import files, read_table
from textodds.errors import InputError, MissingColumn
from textodds.learn.registry import names_of
from textodds.study.compare import prepared
from textodds.study.compare.contenders import are_of_tables, candidates
from textodds.study.compare.reading import opened_table, table_rows
from textodds.study.compare.rows import TableRows, TextRows
from textodds.study.report.comparison_page import duration
from textodds.training.train import may_be_table

if TYPE_CHECKING:
    from textodds.study.compare import Comparison
    from textodds.study.compare.laboratory import Tell
    from textodds.study.compare.rows import Rows


def sizes(text: str) -> tuple[int, ...]:
    """Numbers of rows, separated by commas.

    >>> sizes("100, 1000")
    (100, 1000)
    """
    return tuple(above_zero(part) for part in text.split(","))


def seconds(text: str) -> float:
    """A time in seconds.

    >>> seconds("90"), seconds("90s"), seconds("5m"), seconds("1.5h")
    (90.0, 90.0, 300.0, 5400.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower())
    if found is None:
        raise ValueError
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


@command(
    "compare",
    examples=[
        "textodds compare mail.csv --html mail.html",
        "textodds compare mail.csv --test held_out.csv --keep mail.jsonl",
        "textodds compare mail.csv --models multinomial,softmax:ngrams=1",
        "textodds compare people.csv --label income --json",
    ],
)
@argument(
    "data", "Files, patterns, a folder with a sub-folder per class, a database, or - for stdin.", nargs=-1
)
@option("Output", "--html", metavar="FILE", help="Write all of it to one page, with pictures.")
@option(
    "Output",
    "--keep",
    metavar="FILE",
    help="Keep every measurement in this file as it comes, and go on from those that are in it.",
)
@option(
    "What is compared",
    "--models",
    metavar="NAME,…",
    help=f"Learners, each perhaps with settings: softmax:ngrams=1-2:C=10.  [default: of texts "
    f"{', '.join(names_of(texts=True))}; of tables {', '.join(names_of(tables=True))}]",
)
@option(
    "What is compared",
    "--test",
    metavar="DATA",
    help="Measure on this data; otherwise on a share of DATA that is held out.",
)
@option(
    "What is compared",
    "--held-out",
    type=Value(share, "a number from 0 to 1"),
    metavar="SHARE",
    help="Share of every class that is held out.  [default: 0.2]",
)
@option(
    "What is compared",
    "--seed",
    type=Value(int, "a whole number"),
    default=0,
    metavar="SEED",
    help="Seed of what is held out, and of the order in which learning curves take rows.",
)
@option(
    "Learning curves",
    "--sizes",
    type=Value(sizes, "whole numbers such as 100,1000,10000"),
    metavar="N,…",
    help="Numbers of rows to learn from.  [default: 20, 50, 100, … and all]",
)
@option(
    "Learning curves",
    "--repeats",
    type=Value(above_zero, "a whole number above 0"),
    default=5,
    metavar="N",
    help="How often rows are drawn anew for each size.",
)
@option(
    "Learning curves",
    "--budget",
    type=Value(seconds, "a time such as 60s or 5m"),
    metavar="TIME",
    help="Time they may take, such as 90s or 10m; each size comes once before any comes twice.  "
    "[default: twice that of the models of all rows, and 30s at least]",
)
@option("Learning curves", "--no-curves", is_flag=True, help="Leave them out.")
@reading_options(labelled=True)
@option(
    "Data",
    "--columns",
    type=Value(tables.columns, "`age=number,city=category,id=ignore`"),
    metavar="NAME=WHAT,…",
    help="What columns of a table are: number, gaussian, bins (intervals), category, text or ignore.",
)
@running_options(json="Print all of it as one JSON object on stdout.")
def compare(
    data: tuple[str, ...],
    html: str | None,
    keep: str | None,
    models: str | None,
    test: str | None,
    held_out: float | None,
    no_curves: bool,
    seed: int,
    repeats: int,
    sizes: tuple[int, ...] | None = None,
    budget: float | None = None,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> int:
    """Measure all models on the same data, side by side.

    Accuracy, log-loss and calibration with 95 % intervals, time and size of every model, whether one is
    really better than another, and how fast they learn. The data is read into memory. Stopped with
    Ctrl-C, it tells what it has found so far.
    """
    if test is not None and held_out is not None:
        raise InputError("`--test` is held out already", hint="leave out `--held-out`")
    if no_curves and (sizes is not None or budget is not None):
        raise InputError("`--no-curves` leaves out what the other options are about", hint="leave it out")
    if html is not None:
        _must_be_writable(Path(html), [*data, *([test] if test else [])])
        from textodds.study.report.picture import require_matplotlib

        require_matplotlib()
    if models is not None:
        candidates(models, of_tables=are_of_tables(models))  # refuses before all is read what there is not
    rows, source = _read(data, models, options, quiet=quiet)
    asked, told = None, ""
    if test is not None:
        asked, told = _read_like(rows, test, options, quiet=quiet)
    work = prepared(
        rows,
        asked,
        source=source,
        test_source=told,
        models=models,
        share=0.2 if held_out is None else held_out,
        sizes=() if no_curves else sizes,
        repeats=repeats,
        budget=budget,
        seed=seed,
        threads=threads,
        keep=keep,
    )
    stopped = False
    try:
        with _progress(quiet=quiet) as tell:
            work.run(tell)
    except KeyboardInterrupt:
        stopped = True
    found = work.comparison()
    if stopped and not found.rows:
        raise KeyboardInterrupt
    if stopped:
        say("stopped: what follows is what was found so far", quiet=quiet)
    if html is not None:
        found.html(html)
    if as_json_:
        echo(as_json(found.as_dict()))
    else:
        for line in _lines(found):
            echo(line)
    if html is not None:
        say(f"wrote {strong(html)}", quiet=quiet)
    if stopped and keep is not None:
        say(f"the same command goes on from {strong(keep)}", quiet=quiet)
    return STOPPED if stopped else 0


def _must_be_writable(path: Path, data: Sequence[str]) -> None:
    """Fail now, rather than after the work, where the page cannot be written or would replace data."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(
            f"cannot write the page `{path}`",
            hint="name a file in a folder that exists and may be written to",
        )
    if path.exists():
        for given in data:
            if given != files.STDIN and any(path.samefile(each) for each in files.found(given)):
                raise InputError(f"the page would replace `{path}`, which is data", hint="name another file")


def _read(
    data: tuple[str, ...], models: str | None, options: dict[str, Any], *, quiet: bool
) -> tuple[Rows, str]:
    """The rows of the data, and what it is: texts or, where there is no column of texts, a table."""
    if not options["columns"] and not are_of_tables(models):
        source = opened(data, options)
        try:
            with watched(source, "reading", quiet=quiet) as watch:
                return TextRows.of(watch.batches()), source.description
        except MissingColumn as error:
            if options["text"] is not None or not may_be_table(error, None, source):
                if source.description == "stdin" and error.wanted == "text":
                    models = ",".join(names_of(tables=True))
                    hint = f"{error.hint}; or say that it is a table: `--models {models}`"
                    raise InputError(error.problem, hint=hint) from error
                raise
    reading = tables.reading_of(options)
    found = opened_table(tables.paths_of(data, options), None, columns=options["columns"], **reading)
    with watched(found, "reading", quiet=quiet) as watch:
        return table_rows(found, options["columns"], watch), found.description


def _read_like(rows: Rows, test: str, options: dict[str, Any], *, quiet: bool) -> tuple[Rows, str]:
    """The rows to measure on, and what they are."""
    options = {**options, "query": None, "rejects": None}
    if isinstance(rows, TableRows):
        found = read_table(tables.paths_of([test], options), schema=rows.schema, **tables.reading_of(options))
        with watched(found, "reading", quiet=quiet) as watch:
            return table_rows(found, rows.said, watch), found.description
    source = opened([test], options)
    with watched(source, "reading", quiet=quiet) as watch:
        return TextRows.of(watch.batches()), source.description


@contextlib.contextmanager
def _progress(*, quiet: bool) -> Iterator[Tell]:
    """What tells on a terminal which model is at work, by a bar that vanishes; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total, refresh=True)

        yield tell


def _lines(found: Comparison) -> Iterator[str]:
    setting = found.setting
    yield f"{strong(one_line(setting.source))}: {one_line(setting.sentence())}"
    yield ""
    yield from _table(found)
    for row in found.rows:
        for note in row.notes:
            yield faint(f"  {row.name}: {one_line(note)}")
    for measure in ("accuracy", "log_loss"):
        tests = [each for each in found.tests if each.measure == measure]
        if tests:
            yield ""
        for each in tests:
            yield f"  {each.sentence(setting.noun)}"
    if found.overtakings:
        yield ""
        for overtaking in found.overtakings:
            yield f"  {overtaking.sentence(setting.noun)}"
    if found.missing:
        yield ""
        for missing in found.missing:
            yield faint(f"  {missing}")


def _table(found: Comparison) -> Iterator[str]:
    head = ("model", "accuracy", "", "macro-F1", "log-loss", "off by", "train", "predict 1,000", "file")
    rows = [[faint(name) for name in head]]
    for row in found.rows:
        quality = row.evaluation
        low, high = quality.accuracy_interval
        rows.append(
            [
                row.name,
                strong(f"{quality.accuracy:.4f}"),
                faint(f"{low:.4f} to {high:.4f}"),
                f"{quality.macro_f1:.4f}",
                f"{quality.log_loss:.4f}" if math.isfinite(quality.log_loss) else "–",
                f"{quality.calibration_error:.4f}",
                duration(row.training.wall),
                duration(row.predicting_thousand.wall),
                size(row.bytes),
            ]
        )
    if found.rows:
        yield from aligned(rows, gap=2)
        yield faint(
            "  ranges are 95 % intervals; off by: calibration error; train and predict: seconds of the clock"
        )
    for name, reason in found.refused.items():
        yield f"  {name}: {one_line(reason)}"
