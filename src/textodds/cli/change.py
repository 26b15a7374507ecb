"""What `learn` and `forget` share: labelled texts are counted, and added to a model or taken away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textodds.cli import models, tables
from textodds.cli.command import F, argument, option, together
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import reading_options, refuse_reading, source_for
from textodds.cli.talk import as_json, counted, echo, say, weight
from textodds.data import Batch
from textodds.errors import InputError
from textodds.opening import load


def change_options(verb: str) -> Callable[[F], F]:
    """Arguments and options, with the ``verb`` in their help."""
    return together(
        argument("model", "A model file made by `train`, which is changed in place."),
        argument("data", "Labelled data: files, patterns, a folder, a database, or - for stdin.", nargs=-1),
        option(
            "Texts",
            "--say",
            multiple=True,
            metavar="TEXT",
            help=f"{verb} this text instead; may be repeated.",
        ),
        option("Texts", "--label-is", metavar="LABEL", help="The label of the texts given with `--say`."),
        option(
            "Output",
            "-o",
            "--output",
            metavar="OTHER",
            help="Write the changed model here, and leave MODEL as it is.",
        ),
        reading_options(labelled=True, weighted=True),
        running_options(json="Print what the model now rests on as JSON on stdout."),
    )


def change(
    sign: int,
    model: str,
    data: tuple[str, ...],
    said: tuple[str, ...],
    label: str | None,
    output: str | None,
    options: dict[str, Any],
    *,
    threads: int | None,
    json: bool,
    quiet: bool,
) -> None:
    """Add (``sign`` 1) or take away (-1) the texts, and write the model whole or not at all."""
    path = Path(model if output is None else output)
    changed: Any = load(model, threads=threads)
    changed.must_be_counts()
    _ = changed.tally  # a model without counts is told of before the data is read
    if said or label is not None:
        rows, tally = _said(changed, said, label, data, options)
        models.must_be_writable(path)
    else:
        source = source_for(changed, data, options, labelled=True)
        models.must_be_writable(path, data)
        with watched(source, "learning" if sign > 0 else "forgetting", quiet=quiet) as watch:
            tally = changed.count(watch.batches())
        rows = watch.rows
    measured = changed.info.get("quality")  # of the model as it was
    changed.change(tally, sign)
    written = models.write(changed, path)
    if json:
        echo(as_json({**models.plain(changed, path, written), "rows": rows}))
        return
    say(
        f"{'learned' if sign > 0 else 'forgot'} {counted(rows, 'row')}: {path} now rests on "
        f"{weight(changed.tally.n_documents)} {'rows' if changed.is_table else 'documents'} in "
        f"{counted(len(changed.classes_), 'class')}, "
        f"{counted(*changed.extent)}",
        quiet=quiet,
    )
    if measured is not None:
        say("its measured quality was that of the model before, and is no longer kept", quiet=quiet)


def _said(
    model: Any, said: tuple[str, ...], label: str | None, data: tuple[str, ...], options: dict[str, Any]
) -> tuple[int, Any]:
    if data:
        raise InputError("texts are given both in data and with `--say`", hint="leave out one of the two")
    if not said or not label:
        missing, there = ("--say TEXT", "--label-is") if not said else ("--label-is LABEL", "--say")
        raise InputError(
            f"`{there}` needs `{missing}`", hint='write both: --say "win a free phone" --label-is spam'
        )
    refuse_reading(options)
    labels = [label] * len(said)
    if model.is_table:
        rows: Any = [tables.said_row(model, row) for row in said]
        return len(said), model.count(model.read(rows, labels, labelled=True))
    return len(said), model.count([Batch(list(said), labels, None)])
