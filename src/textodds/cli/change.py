"""What `learn` and `forget` share: labelled texts are counted, and added to a model or taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.cli import model_files, tables
from textodds.cli.command import F, argument, option, together
from textodds.cli.output import as_json, counted, echo, say, weight
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import opened, reading_options, refuse_reading, source_for
from textodds.data import Batch
from textodds.errors import BadRow, InputError, LengthMismatch, MissingColumn, Unsupported
from textodds.model.file import load

if TYPE_CHECKING:
    from textodds.stats.document_ids import DocumentIds


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
            "Texts",
            "--document-id",
            "document_ids",
            multiple=True,
            metavar="ID",
            help="The id of the text given with `--say`; once for each. See `--id`.",
        ),
        option(
            "Data",
            "--id",
            "id_column",
            metavar="COLUMN",
            help="Column of ids: a text whose id was learned before is not learned again, and one whose id "
            "is not there is not forgotten.",
        ),
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
    by_id = ById.of(changed, data, said, options, sign)
    if said or label is not None:
        rows, tally = _said(changed, said, label, data, options, by_id)
        model_files.must_be_writable(path)
    else:
        source = source_for(changed, data, options, labelled=True)
        model_files.must_be_writable(path, data)
        with watched(source, "learning" if sign > 0 else "forgetting", quiet=quiet) as watch:
            tally = changed.count(by_id.taken(watch.batches()) if by_id else watch.batches())
        rows = by_id.rows if by_id else watch.rows
    measured = changed.info.get("quality")  # of the model as it was
    if rows or not by_id:
        changed.change(tally, sign)
    else:
        measured = None
    left_out = 0
    if by_id:
        changed.document_ids, left_out = by_id.finish(), by_id.left_out
    written = model_files.write(changed, path)
    if json:
        told = {**model_files.plain(changed, path, written), "rows": rows}
        echo(as_json({**told, "left_out": left_out} if by_id else told))
        return
    if left_out:
        why = "was learned before" if sign > 0 else "is not there"
        say(f"left out {counted(left_out, 'row')} whose id {why}", quiet=quiet)
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
    model: Any,
    said: tuple[str, ...],
    label: str | None,
    data: tuple[str, ...],
    options: dict[str, Any],
    by_id: ById | None,
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
    batch = Batch(list(said), labels, None)
    if by_id is None:
        return len(said), model.count([batch])
    tally = model.count(by_id.taken([batch]))
    return by_id.rows, tally


class ById:
    """Lets pass the rows whose ids are new to a ledger, or known to it, and keeps the ledger up to date."""

    def __init__(self, document_ids: DocumentIds, ids: Sequence[str], sign: int) -> None:
        self._ledger, self._ids, self._sign = document_ids, ids, sign
        self._at = self.rows = 0

    @classmethod
    def of(
        cls, model: Any, data: tuple[str, ...], said: tuple[str, ...], options: dict[str, Any], sign: int
    ) -> ById | None:
        """What the options ask for; None where they name no ids."""
        column, given = options.get("id_column"), options.get("document_ids") or ()
        if column is None and not given:
            return None
        if model.is_table:
            raise Unsupported("ids are kept of texts, not of rows of tables", hint="leave them out")
        if (column is not None) is bool(said) or len(given) != len(said):
            raise InputError(
                f"there are {len(said)} texts and {len(given)} ids on the command line"
                if said or given
                else "`--id` names a column of data, and there is no data",
                hint="`--id COLUMN` goes with data; `--say TEXT --document-id ID`, as many of each, without",
            )
        ids = list(given) if column is None else _column(data, column, options)
        return cls(model.ledger_for(sign), ids, sign)

    def taken(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The rows that are to be learned, or forgotten."""
        for batch in batches:
            ids = self._ids[self._at : self._at + len(batch)]
            self._at += len(batch)
            labels = batch.label_list()
            self._ledger, taken = self._ledger.changed(ids, labels, self._sign)
            rows = np.flatnonzero(taken).tolist()
            self.rows += len(rows)
            if rows:
                texts = _listed(batch.texts)
                weights = None if batch.weights is None else batch.weights[rows]
                yield Batch([texts[i] for i in rows], [labels[i] for i in rows], weights)

    @property
    def left_out(self) -> int:
        """Rows that did not pass."""
        return self._at - self.rows

    def finish(self) -> DocumentIds:
        """The ledger after all rows."""
        if self._at != len(self._ids):
            raise LengthMismatch(self._at, len(self._ids), "ids")
        return self._ledger


def _column(data: tuple[str, ...], column: str, options: dict[str, Any]) -> list[str]:
    """The ids in a column of data, which is read for them alone."""
    if options.get("bad_rows") == "skip":
        raise InputError(
            "`--id` pairs ids with texts row by row, and rows that are skipped would part them",
            hint="leave out `--bad-rows skip`, and correct the rows",
        )
    # As labels, which may be numbers in the data and are text here, and of which none is empty.
    source = opened(data, {**options, "label": column, "weight": None})
    if not source.replayable:
        raise InputError(
            f"{source.description} can be read but once, and `--id` needs it twice", hint="put it in a file"
        )
    try:
        return [name for batch in source for name in batch.label_list()]
    except MissingColumn as error:
        raise InputError(error.problem, hint="name the column of ids with `--id COLUMN`") from error
    except BadRow as error:
        problem = f"{error.where}, line {error.line}: {error.reason.replace('label', 'id')}"
        raise InputError(problem, hint="every row needs a text, a label and an id") from error


def _listed(texts: Any) -> list[str]:
    if isinstance(texts, list):
        return texts
    return list(texts.to_list() if hasattr(texts, "to_list") else texts.to_pylist())
