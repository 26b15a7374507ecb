"""``compare``: all models on the same data, side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.commands import argument, command, option
from textodds.cli.errors import STOPPED
from textodds.cli.options import (
    Value,
    above_zero,
    column_options,
    in_seconds,
    paths_of,
    reading_of,
    reading_options,
    running_options,
    share,
)
from textodds.cli.output import aligned, as_json, echo, faint, one_line, say, size, strong
from textodds.cli.progress import progress
from textodds.data import files
from textodds.errors import InputError
from textodds.learn.registry import names_of
from textodds.study.compare import compare as compared
from textodds.study.report.page import duration

if TYPE_CHECKING:
    from textodds.study.compare import Comparison


def sizes(text: str) -> tuple[int, ...]:
    """Numbers of rows, separated by commas.

    >>> sizes("100, 1000")
    (100, 1000)
    """
    return tuple(above_zero(part) for part in text.split(","))


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
    type=Value(in_seconds, "a time such as 60s or 5m"),
    metavar="TIME",
    help="Time they may take, such as 90s or 10m; each size comes once before any comes twice.  "
    "[default: twice that of the models of all rows, and 30s at least]",
)
@option("Learning curves", "--no-curves", is_flag=True, help="Leave them out.")
@reading_options(labelled=True)
@column_options(like=False)
@running_options(json="Print all of it as one JSON object on stdout.")
def compare(
    data: tuple[str, ...],
    html: str | None,
    keep: str | None,
    test: str | None,
    held_out: float | None,
    no_curves: bool,
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
    if no_curves and (options["sizes"] is not None or options["budget"] is not None):
        raise InputError("`--no-curves` leaves out what the other options are about", hint="leave it out")
    if html is not None:
        _must_be_writable(Path(html), [*data, *([test] if test else [])])
        from textodds.study.report.page import require_page

        require_page()
    names = ("models", "sizes", "repeats", "budget", "seed", "columns", "threads")
    how = {name: options[name] for name in names} | {"test": test, "keep": keep}
    if no_curves:
        how["sizes"] = ()
    with progress(quiet=quiet) as observer:
        found = compared(
            paths_of(data, options["query"]),
            held_out=0.2 if held_out is None else held_out,
            observer=observer,
            **how,
            **reading_of(options),
        )
    if found.is_stopped:
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
    if found.is_stopped and keep is not None:
        say(f"the same command goes on from {strong(keep)}", quiet=quiet)
    return STOPPED if found.is_stopped else 0


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
