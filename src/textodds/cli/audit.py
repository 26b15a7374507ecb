"""``audit``: find labels that look wrong."""

from __future__ import annotations

from typing import Any

from textodds.cli.commands import argument, command, option
from textodds.cli.options import (
    Value,
    above_zero,
    learner_option,
    learners_and_settings,
    paths_of,
    reading_of,
    reading_options,
    running_options,
)
from textodds.cli.output import aligned, as_json, counted, echo, faint, one_line, say
from textodds.cli.progress import progress
from textodds.study.audit import audit as audited

SHOWN = 60  # characters of a text


@command(
    "audit",
    examples=["textodds audit mail.csv", "textodds audit mail.csv --top 500 --json > suspects.jsonl"],
    section=("Learners, and their settings", learners_and_settings),
)
@argument("data", "Labelled data: files, patterns, a folder, or a database.", nargs=-1)
@option(
    "What to show",
    "--top",
    type=Value(above_zero, "a whole number above 0"),
    metavar="N",
    default=20,
    help="Rows to show, the most suspicious first.",
)
@reading_options(labelled=True, weighted=True)
@learner_option("multinomial:alpha=auto")
@running_options(json="One JSON object a line for each suspect: row, label, suggested, p_label, text.")
def audit(
    data: tuple[str, ...],
    top: int,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> None:
    """Find labels that look wrong.

    Learns from the data and leaves out each text in turn, exactly: a label that the others do not
    believe is suspicious. Rows are counted from 1, without the header and without skipped ones.
    """
    with progress(quiet=quiet) as observer:
        how = {"learner": options["learner"], "most": top, "threads": threads, "observer": observer}
        found = audited(paths_of(data, options["query"]), **how, **reading_of(options))
    if as_json_:
        for suspect in found.suspects:
            names = ("row", "label", "suggested", "p_label", "p_suggested", "text")
            echo(as_json({name: getattr(suspect, name) for name in names}))
        return
    N = len(found.left_out.truth)
    say(
        f"{counted(N, 'row')} of {observer.source.description}, each left out: "
        f"{found.left_out.accuracy:.1%} have the label that the others expect, "
        f"{found.disagreements:,} have not",
        quiet=quiet,
    )
    rows = [[faint(name) for name in ("row", "label", "expected", "p(label)", "text")]]
    for suspect in found.suspects:
        shown = one_line(suspect.text)
        shown = shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…"
        rows.append(
            [
                str(suspect.row),
                one_line(suspect.label),
                one_line(suspect.suggested),
                f"{suspect.p_label:.2g}",
                shown,
            ]
        )
    for line in aligned(rows, left=5):
        echo(line)
