"""``journal``: check, export or repair the corrections of a service."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from textodds.cli.commands import argument, command, option
from textodds.cli.options import OneOf, running_options
from textodds.cli.output import as_json, counted, echo, say, tell
from textodds.errors import InputError, ModelFileError

ACTION = "`check`, `export` or `repair`."
OUTPUT = "With `repair`: the journal to write."


@command(
    "journal",
    examples=[
        "textodds journal check mail.textodds.journal",
        "textodds journal export mail.textodds.journal > corrections.jsonl",
        "textodds journal repair mail.textodds.journal -o mended.journal",
    ],
)
@argument("action", ACTION, type=OneOf(["check", "export", "repair"]))
@argument("file", "The journal; stop its service first.")
@option("Output", "-o", "--output", metavar="FILE", writes="journal", help=OUTPUT)
@running_options(json="Print what was found as one JSON object.", threads=False)
def journal(action: str, file: str, output: str | None, as_json_: bool, quiet: bool) -> None:
    """Check, export or repair a service's journal of corrections.

    `check` verifies that a journal is intact. `export` prints its readable entries as JSON lines;
    corrections of rows have `row` instead of `text`, those of several labels `labels` instead of `label`.
    `repair` writes the readable entries to another
    journal: replace the damaged one with it, and start the service with `--accept-loss`.
    """
    path = Path(file)
    if not path.is_file():
        raise ModelFileError(f"no journal at `{path}`")
    if (output is None) == (action == "repair"):
        raise InputError("`-o` is for `repair` only", hint="see `textodds journal --help`")
    if action == "check":
        _check(path, json=as_json_, quiet=quiet)
    elif output is None:
        _export(path, quiet=quiet)
    else:
        _repair(path, Path(output), json=as_json_, quiet=quiet)


def _check(path: Path, *, json: bool, quiet: bool) -> None:
    from textodds.serve.records.journal import Journal

    with closing(Journal(path)) as opened:
        entries, standing = opened.last, opened.standing()
    about = {"journal": str(path), "entries": entries, "standing": standing}
    learned = counted(standing, "document")
    tell(
        about,
        [f"{path} is whole: {counted(entries, 'correction')}, {learned} learned"],
        json=json,
        quiet=quiet,
    )


def _export(path: Path, *, quiet: bool) -> None:
    from textodds.data.label_sets import labels_in
    from textodds.serve.records.salvage import salvage
    from textodds.serve.rows import kept_row

    found = salvage(path)
    for entry in found.entries:
        plain: dict[str, object] = {**entry._asdict(), "sign": "learned" if entry.sign > 0 else "forgotten"}
        if found.kind.sets:
            plain["labels"] = list(labels_in(str(plain.pop("label"))))
        if found.kind.rows:
            text = plain.pop("text")
            plain["row"] = None if text is None else kept_row(str(text))
        echo(as_json(plain))
    if missing := _missing(found.lost, (), has_lost_log=found.has_lost_log):
        say(missing, quiet=False)


def _repair(path: Path, output: Path, *, json: bool, quiet: bool) -> None:
    from textodds.serve.records.salvage import repair

    found = repair(path, output)
    entries, acts = len(found.entries), len(found.acts)
    about = {"output": str(output), "entries": entries, "lost": found.lost}
    labelling = {"acts": acts, "lost_acts": found.lost_acts} if acts or found.lost_acts else {}
    told = f", {counted(acts, 'act')} of labelling" if labelling else ""
    lines = [f"wrote {output}: {counted(entries, 'correction')}{told}"]
    if missing := _missing(found.lost, found.lost_acts, has_lost_log=found.has_lost_log):
        lines.append(missing)
    tell({**about, **labelling, "has_lost_log": found.has_lost_log}, lines, json=json, quiet=quiet)


def _missing(lost: Sequence[int], lost_acts: Sequence[int], *, has_lost_log: bool) -> str:
    """What could not be read."""
    parts = []
    for numbers, noun in ((lost, "correction"), (lost_acts, "act")):
        if numbers:
            some = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
            parts.append(f"lost {counted(len(numbers), noun)}: {some}")
    if has_lost_log:
        parts.append("the write-ahead log is damaged; entries at the end may be missing")
    return "; ".join(parts)
