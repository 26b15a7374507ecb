"""``compare``: all models on the same data, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from textodds.cli import model_files
from textodds.cli.commands import STOPPED, argument, command, option
from textodds.cli.options import (
    COUNT,
    SHARE,
    TIME,
    OneOf,
    Reading,
    Value,
    column_options,
    learner_names,
    paths_of,
    reading_options,
    running_options,
    textbook_option,
)
from textodds.cli.output import faint, one_line, say, show, size, strong, table, warning
from textodds.cli.overwrite import themselves
from textodds.cli.progress import progress
from textodds.errors import InputError
from textodds.judge.baseline import ALONE
from textodds.learn.registry import AUTO, names_of
from textodds.study.compare import compare as compared
from textodds.study.report.page import duration

if TYPE_CHECKING:
    from textodds.study.compare import Comparison


def sizes(text: str) -> tuple[int, ...]:
    """Numbers of rows, separated by commas.

    >>> sizes("100, 1000")
    (100, 1000)
    """
    found = tuple(int(part) for part in text.split(","))
    if min(found) < 1:
        raise ValueError
    return found


COMPARED, CURVES = "What is compared", "Learning curves"
SIZES = Value(sizes, "whole numbers such as 100,1000,10000")

KEEP = "Write every measurement to this file, and reuse those that it has."
MODELS = (
    "Learners, each perhaps with settings: softmax:ngrams=1-2:C=10.  [default: of texts "
    f"{', '.join(names_of(texts=True))}, and auto, the selection of train; "
    f"of tables {', '.join(names_of(tables=True))}]"
)
TEST = "Measure on this data; otherwise on a share of DATA that is held out."
HELD_OUT = "Share of every class that is held out.  [default: 0.2]"
SEED = "Random seed of the held-out share and of the learning curves."
SIZES_HELP = "Training sizes of the learning curves.  [default: 20, 50, 100, … and all]"
REPEATS = "Repetitions for each size."
BUDGET = (
    "Time limit of the learning curves, such as 90s or 10m.  "
    "[default: twice that of the models of all rows, and 30s at least]"
)
GROUP = "Hold out each value of this column once, and learn from all others."
OVER = "Vary the number of words, by --sizes, rather than compare all models."
PICTURE = "Draw accuracy over the vocabulary: *.svg or *.png."


class CompareOptions(Reading):
    """What is compared and how, in the words of `textodds.compare`."""

    models: str | None
    seed: int
    sizes: tuple[int, ...] | None
    repeats: int
    budget: float | None
    columns: dict[str, str] | None
    textbook: bool
    threads: int | None


@command(
    "compare",
    examples=[
        "textodds compare mail.csv --html mail.html",
        "textodds compare mail.csv --test held_out.csv --keep mail.jsonl",
        "textodds compare mail.csv --models multinomial,softmax:ngrams=1",
        "textodds compare people.csv --label income --json",
        "textodds compare pages.csv --group university --models multinomial",
        "textodds compare mail.csv --over vocabulary --picture words.svg",
    ],
)
@argument(
    "data", "Files, patterns, a folder with a sub-folder per class, a database, or - for stdin.", nargs=-1
)
@option("Output", "--html", metavar="FILE", writes="page", help="Write an HTML report, with figures.")
@option("Output", "--keep", metavar="FILE", writes="file of measurements", help=KEEP)
@option(COMPARED, "--models", metavar="NAME,…", shell_complete=learner_names, help=MODELS)
@textbook_option(COMPARED)
@option(COMPARED, "--test", metavar="DATA", reads=themselves, help=TEST)
@option(COMPARED, "--group", metavar="COLUMN", help=GROUP)
@option(COMPARED, "--over", type=OneOf(["vocabulary"]), metavar="vocabulary", help=OVER)
@option("Output", "--picture", metavar="FILE", writes="picture", help=PICTURE)
@option(COMPARED, "--held-out", type=SHARE, metavar="SHARE", help=HELD_OUT)
@option(COMPARED, "--seed", type=Value(int, "a whole number"), default=0, metavar="SEED", help=SEED)
@option(CURVES, "--sizes", type=SIZES, metavar="N,…", help=SIZES_HELP)
@option(CURVES, "--repeats", type=COUNT, default=5, metavar="N", help=REPEATS)
@option(CURVES, "--budget", type=TIME, metavar="TIME", help=BUDGET)
@option(CURVES, "--no-curves", is_flag=True, help="Leave them out.")
@reading_options(labelled=True)
@column_options(like=False)
@running_options(json="Print everything as one JSON object on stdout.")
def compare(
    data: tuple[str, ...],
    html: str | None,
    keep: str | None,
    test: str | None,
    held_out: float | None,
    group: str | None,
    over: str | None,
    picture: str | None,
    no_curves: bool,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Unpack[CompareOptions],
) -> int:
    """Compare models on the same data.

    Prints accuracy, log-loss and calibration with 95 % intervals, time and size of every model, paired
    significance tests, and learning curves. Reads the data into memory. Ctrl-C stops it and prints the
    results so far.
    """
    if test is not None and held_out is not None:
        raise InputError("`--test` is held out already", hint="leave out `--held-out`")
    if no_curves and (options["sizes"] is not None or options["budget"] is not None):
        raise InputError(
            "`--no-curves` cannot be combined with options of learning curves", hint="leave it out"
        )
    if group is not None or over is not None or picture is not None:
        from textodds.cli.protocols import compare_by

        if test is not None or html is not None or keep is not None or options["budget"] is not None:
            raise InputError(
                "`--group` and `--over` cannot be combined with `--test`, `--html`, `--keep` or `--budget`",
                hint="leave out one of the two",
            )
        return compare_by(data, group, over, picture, held_out, options, json=as_json_, quiet=quiet)
    if html is not None:
        model_files.must_be_writable(Path(html), option="--html")
        from textodds.study.report.page import require_page

        require_page()
    if no_curves:
        options["sizes"] = ()
    with progress(quiet=quiet) as observer:
        found = compared(
            paths_of(data, options["query"]),
            test=test,
            keep=keep,
            held_out=0.2 if held_out is None else held_out,
            observer=observer,
            **options,
        )
    if found.is_stopped:
        say("stopped: results so far", quiet=quiet)
    if html is not None:
        found.html(html)
    show(found.as_dict() if as_json_ else None, _lines(found), json=as_json_)
    if html is not None:
        say(f"wrote {strong(html)}", quiet=quiet)
    if found.is_stopped and keep is not None:
        say(f"run the same command again to continue from {strong(keep)}", quiet=quiet)
    return STOPPED if found.is_stopped else 0


def _lines(found: Comparison) -> Iterator[str]:
    setting = found.setting
    yield f"{strong(one_line(setting.source))}: {one_line(setting.sentence())}"
    yield ""
    yield from _table(found)
    yield from (f"  {warning(each)}" for each in found.warnings())
    for row in found.rows:
        for note in row.notes:
            yield faint(f"  {row.name}: {one_line(note)}")
    for measure in ("accuracy", "log_loss"):
        yield from _paragraph(t.sentence(setting.noun) for t in found.tests if t.measure == measure)
    yield from _paragraph(overtaking.sentence(setting.noun) for overtaking in found.overtakings)
    yield from map(faint, _paragraph(found.missing))


def _paragraph(sentences: Iterable[object]) -> Iterator[str]:
    """Sentences below an empty line, if there are any."""
    for number, sentence in enumerate(sentences):
        yield from [""] * (number == 0)
        yield f"  {sentence}"


def _table(found: Comparison) -> Iterator[str]:
    head = (
        "model",
        "accuracy",
        "",
        "macro-F1",
        "log-loss",
        "off by",
        "train",
        "predict 1,000",
        "file",
        "parameters",
    )
    rows = []
    for row in found.rows:
        quality = row.evaluation
        low, high = quality.accuracy_interval
        rows.append(
            [
                one_line(row.title),
                strong(f"{quality.accuracy:.4f}"),
                faint(f"{low:.4f} to {high:.4f}"),
                f"{quality.macro_f1:.4f}",
                f"{quality.log_loss:.4f}" if math.isfinite(quality.log_loss) else "–",
                f"{quality.calibration_error:.4f}",
                duration(row.training.wall),
                duration(row.predicting_thousand.wall),
                size(row.bytes),
                f"{row.parameters:,}" if row.parameters else "–",
            ]
        )
    if found.baseline is not None:
        rows.append([ALONE, f"{found.baseline.accuracy:.4f}", *[""] * 8])
        yield from table(head, rows, gap=2)
        yield faint(
            "  ranges are 95 % intervals; off by: calibration error; train and predict: wall-clock seconds"
        )
    if any(row.name == AUTO for row in found.rows):
        yield faint("  auto: what `train` chooses from the same rows; its time includes model selection")
    for name, reason in found.refused.items():
        yield f"  {name}: {one_line(reason)}"
