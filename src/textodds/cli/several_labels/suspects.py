"""What ``audit`` finds where a text may have several labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from textodds.cli.output import as_json, counted, echo, one_line, say, shortened, table
from textodds.study.label_audit import LabelAudit, LabelSuspect, audit_labels
from textodds.training.train import train

if TYPE_CHECKING:
    from textodds.cli.progress import Progress


def audited(
    source: object, observer: Progress, *, most: int, threads: int | None, **options: Any
) -> LabelAudit:
    """A model of the data, trained as `train` does, and what it finds in its own documents."""
    model: Any = train(source, threads=threads, observer=observer, **options)
    reading = {"label": options.get("label"), "label_separator": options.get("label_separator")}
    names = ("text", "format", "query", "quoting", "header", "encoding", "sheet", "bad_rows")
    reading |= {name: options[name] for name in names if options.get(name) is not None}
    return audit_labels(model, model.read(source, labelled=True, **reading), most=most)


def show_suspects(found: LabelAudit, *, json: bool, quiet: bool) -> None:
    """Print what was found: two tables, or a JSON object a line."""
    if json:
        for suspect in found.suspects:
            echo(as_json(asdict(suspect)))
        return
    say(found.sentence(), quiet=quiet)
    for title, suspects in (("looks missing", found.missing), ("looks wrong", found.wrong)):
        if suspects:
            echo("")
            echo(
                f"{counted(len(suspects), 'label')} that {'look' if len(suspects) > 1 else 'looks'} "
                f"{title.removeprefix('looks ')}, the most suspicious first"
            )
            for line in _table(suspects):
                echo(line)


def _table(suspects: Sequence[LabelSuspect]) -> list[str]:
    rows = [
        [
            "–" if each.row is None else str(each.row),
            one_line(each.label),
            f"{each.probability:.2g}",
            one_line(", ".join(each.labels)) or "none",
            shortened(each.text),
        ]
        for each in suspects
    ]
    return table(("row", "label", "p(label)", "labels of the text", "text"), rows, left=5)
