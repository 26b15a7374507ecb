"""``audit``: find labels that look wrong."""

from __future__ import annotations

from dataclasses import asdict
from typing import Unpack

from textodds.cli.commands import argument, command
from textodds.cli.options import (
    Reading,
    learner_option,
    learners_and_settings,
    opened,
    paths_of,
    reading_options,
    running_options,
    textbook_option,
    top_option,
)
from textodds.cli.output import as_json, counted, echo, one_line, say, shortened, table
from textodds.cli.progress import progress
from textodds.study.audit import audit as audited
from textodds.study.audit import repeat_cells


def _has_several(data: tuple[str, ...], options: AuditOptions) -> bool:
    """Whether rows of the data have several labels: so it was said, or the first of them have lists."""
    once: AuditOptions = {**options, "rejects_path": None}
    source = opened(data, once)
    return source.replayable and not source.is_stdin and source.has_label_sets


class AuditOptions(Reading):
    """How data is read, and what learns from it."""

    learner: str | None
    textbook: bool


@command(
    "audit",
    examples=["textodds audit mail.csv", "textodds audit mail.csv --top 500 --json > suspects.jsonl"],
    section=("Learners, and their settings", learners_and_settings),
)
@argument("data", "Labelled data: files, patterns, a folder, or a database.", nargs=-1)
@top_option(20, "Rows to show, the most suspicious first.")
@reading_options(labelled=True, weighted=True)
@learner_option("multinomial; of several labels auto")
@textbook_option()
@running_options(
    json="A JSON object a line: suspects (row, label, suggested, …), then repeats (rows, labels, …)."
)
def audit(
    data: tuple[str, ...],
    top: int,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Unpack[AuditOptions],
) -> None:
    """Find labels that look wrong.

    Compares each label with the prediction of a model of all other texts (exact leave-one-out), and lists
    those that differ. Then lists duplicates and near-duplicates, those with different labels first. Rows
    are counted from 1, without the header and skipped rows. Of several labels a text, lists labels that
    look missing and labels that look wrong, by models of the other texts.
    """
    paths = paths_of(data, options["query"])
    if _has_several(data, options):
        from textodds.cli.several_labels import suspects

        with progress(quiet=quiet) as observer:
            several = suspects.audited(paths, observer, most=top, threads=threads, **options)
        suspects.show_suspects(several, json=as_json_, quiet=quiet)
        return
    with progress(quiet=quiet) as observer:
        found = audited(paths, most=top, threads=threads, observer=observer, **options)
    if as_json_:
        for suspect in found.suspects:
            echo(as_json(asdict(suspect)))
        for repeat in found.repeats.groups[:top]:
            echo(as_json(asdict(repeat)))
        return
    N = len(found.left_out.truth)
    say(
        f"{counted(N, 'row')} of {observer.source.description}, each left out: "
        f"{found.left_out.accuracy:.1%} agree with the prediction from the others, "
        f"{found.disagreements:,} do not",
        quiet=quiet,
    )
    rows = []
    for suspect in found.suspects:
        labels = [one_line(suspect.label), one_line(suspect.suggested)]
        rows.append([str(suspect.row), *labels, f"{suspect.p_label:.2g}", shortened(suspect.text)])
    for line in table(("row", "label", "expected", "p(label)", "text"), rows, left=5) if rows else ():
        echo(line)
    if not found.repeats.groups:
        return
    echo("")
    say(found.repeats.sentence(), quiet=quiet)
    cells = [repeat_cells(each) for each in found.repeats.groups[:top]]
    again = [[numbers, one_line(labels), alike, shortened(text)] for numbers, labels, alike, text in cells]
    for line in table(("rows", "labels", "alike", "text"), again, left=4):
        echo(line)
