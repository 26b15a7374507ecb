"""``learn`` and ``forget``: labelled texts are counted, and added to a model or taken away, exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

from textodds.cli import model_files, summaries
from textodds.cli.commands import F, argument, command, option, together
from textodds.cli.options import (
    Reading,
    opened,
    reading_of,
    reading_options,
    running_options,
)
from textodds.cli.output import counted, tell
from textodds.cli.texts import BOTH, TextOptions, batches_given, named_label, no_data, text_options
from textodds.data.files import STDIN
from textodds.errors import BadRow, InputError, MissingColumn
from textodds.model.file import load
from textodds.model.id_filter import IdFilter

_AS_IDS: Reading = {"label_separator": None, "weight": None}
ADD = "Of several labels: give the learned text of `--say` this label too."
REMOVE = "Of several labels: take this label from the learned text of `--say`."
NEW_CLASS = "Add labels that the model does not have as new classes."


class ChangeOptions(TextOptions):
    """What ``learn`` and ``forget`` take."""

    model: str
    label_is: tuple[str, ...]
    add_label: tuple[str, ...]
    remove_label: tuple[str, ...]
    document_ids: tuple[str, ...]
    id_column: str | None
    new_class: bool
    output: str | None
    threads: int | None
    as_json_: bool
    quiet: bool


def _options(verb: str) -> Callable[[F], F]:
    """Arguments and options, with the ``verb`` in their help."""
    said_id = "The id of the text given with `--say`; once for each. See `--id`."
    id_column = (
        "Column of ids: texts with a known id are not learned again, and texts with an unknown id "
        "are not forgotten."
    )
    output = "Write the changed model here instead of to MODEL."
    return together(
        argument("model", "A model file made by `train`, which is changed in place."),
        text_options(verb, labelled=True),
        option("Texts", "--document-id", "document_ids", multiple=True, metavar="ID", help=said_id),
        option("Data", "--id", "id_column", metavar="COLUMN", help=id_column),
        option(
            "Output", "-o", "--output", metavar="OTHER", writes="model", may_replace=["model"], help=output
        ),
        reading_options(labelled=True, weighted=True),
        running_options(json="Print the numbers of documents, classes and features as JSON on stdout."),
    )


@command(
    "learn",
    examples=[
        "textodds learn mail.textodds more.csv",
        f"textodds learn mail.textodds {BOTH}",
        'textodds learn tickets.textodds --say "my parcel is late" --add-label urgent',
    ],
)
@option("Data", "--new-class", is_flag=True, help=NEW_CLASS)
@option("Texts", "--add-label", multiple=True, metavar="LABEL", help=ADD)
@option("Texts", "--remove-label", multiple=True, metavar="LABEL", help=REMOVE)
@_options("Learn")
def learn(**options: Unpack[ChangeOptions]) -> None:
    """Learn more labelled texts.

    `--label-is` labels texts that have no label of their own, in DATA, on stdin or from `--say`.
    The result is the model that training on these texts too would give: for naive Bayes to the last
    bit, for softmax regression to the solver's tolerance. A label that the model does not have is an
    error, and nothing is changed, unless `--new-class` is given. Of several labels a text, `--label-is`
    is given once for each (empty for none), and `--add-label` and `--remove-label` change the labels
    of a text that was learned.
    """
    _change(1, options)


@command(
    "forget",
    examples=["textodds forget mail.textodds withdrawn.csv", f"textodds forget mail.textodds {BOTH}"],
)
@_options("Forget")
def forget(**options: Unpack[ChangeOptions]) -> None:
    """Forget labelled texts.

    `--label-is` labels texts that have no label of their own, in DATA, on stdin or from `--say`.
    The result is the model that training without these texts would give: for naive Bayes to the last
    bit, for softmax regression to the solver's tolerance. If they were not learned, nothing is changed
    and the exit status is 2.
    """
    _change(-1, options)


def _change(sign: int, options: ChangeOptions) -> None:
    """Add (``sign`` 1) or take away (-1) the texts, and write the model whole or not at all."""
    path = Path(options["model"] if options["output"] is None else options["output"])
    with model_files.changing(path, quiet=options["quiet"]) as must_be_unchanged:
        changed: Any = load(options["model"], threads=options["threads"], check=True)
        _ = changed.basis  # a model that has none is told of before the data is read
        if options.get("add_label") or options.get("remove_label"):
            _relabel(changed, path, options, must_be_unchanged)
            return
        id_filter = _id_filter(changed, sign, options)
        basis = _basis(changed, path, sign, id_filter, options)
        if sign > 0:
            changed.check_classes(basis.classes, new=options["new_class"])
        is_changed = bool(id_filter.rows) or not id_filter.has_ids
        had_quality = changed.info.get("quality") is not None
        if is_changed:
            changed.change(basis, sign)
        if id_filter.has_ids:
            changed.document_ids = id_filter.finish()
        must_be_unchanged()
        written = model_files.write(changed, path)
    about = {**model_files.plain(changed, path, written), "rows": id_filter.rows}
    about |= {"left_out": id_filter.left_out} if id_filter.has_ids else {}
    verb = f"{'learned' if sign > 0 else 'forgot'} {counted(id_filter.rows, 'row')}"
    lines = [f"{verb}: {path} now has {summaries.extent(changed)}"]
    if id_filter.left_out:
        why = "was learned before" if sign > 0 else "is not there"
        lines.insert(0, f"left out {counted(id_filter.left_out, 'row')} whose id {why}")
    if is_changed and had_quality:
        lines.append("dropped the stored quality, which was measured before the change")
    tell(about, lines, json=options["as_json_"], quiet=options["quiet"])


def _relabel(model: Any, path: Path, options: ChangeOptions, must_be_unchanged: Callable[[], None]) -> None:
    """Change labels of texts that were learned, and write the model whole or not at all."""
    from textodds.cli.several_labels.changes import relabel

    model_files.must_be_writable(path)
    lines = relabel(model, options["texts"], options)
    must_be_unchanged()
    written = model_files.write(model, path)
    about = {**model_files.plain(model, path, written), "rows": len(options["texts"])}
    lines.append(f"{path} now has {summaries.extent(model)}")
    tell(about, lines, json=options["as_json_"], quiet=options["quiet"])


def _basis(model: Any, path: Path, sign: int, id_filter: IdFilter, options: ChangeOptions) -> Any:
    """What the model would rest on had it learned just the texts that pass."""
    label = named_label(model, options["label_is"], options["texts"])
    if options["texts"] and label is None:
        raise InputError("`--say` needs `--label-is LABEL`", hint=f"write both: {BOTH}")
    for name in ("label", "label_separator"):
        if label is not None and options.get(name) is not None:
            raise InputError(
                f"`--{name.replace('_', '-')}` and `--label-is` cannot be combined",
                hint="leave out one of the two",
            )
    doing = "learning" if sign > 0 else "forgetting"
    model_files.must_be_writable(path)
    with batches_given(model, options, doing, quiet=options["quiet"], labelled=True, label=label) as batches:
        basis = model.basis_of(id_filter.passing(batches))
    is_named = options["texts"] or options["data"] or options.get("query") is not None
    if not is_named and not id_filter.rows + id_filter.left_out:
        raise no_data()
    return basis


def _id_filter(model: Any, sign: int, options: ChangeOptions) -> IdFilter:
    """The filter by the ids that the options name."""
    column, ids, texts = options["id_column"], list(options["document_ids"]), options["texts"]
    if column is None and not ids:
        return IdFilter(None, (), sign)
    ledger = model.ledger_for(sign)
    if (column is not None) is bool(texts) or len(ids) != len(texts):
        raise InputError(
            f"there are {len(texts)} texts and {len(ids)} ids on the command line"
            if texts or ids
            else "`--id` names a column of data, and there is no data",
            hint="`--id COLUMN` goes with data; `--say TEXT --document-id ID`, as many of each, without",
        )
    if column is not None:
        ids = _column(column, options)
    return IdFilter(ledger, ids, sign)


def _column(column: str, options: ChangeOptions) -> list[str]:
    """The ids in a column of data, which is read for them alone."""
    if options["bad_rows"] == "skip":
        raise InputError(
            "`--id` cannot be combined with `--bad-rows skip`: skipped rows would shift the ids",
            hint="leave out `--bad-rows skip`, and fix the rows",
        )
    # As labels, which may be numbers in the data and are text here, and of which none is empty.
    source = opened(options["data"] or (STDIN,), reading_of(options) | _AS_IDS | {"label": column})
    if not source.replayable or source.is_stdin:
        raise InputError(
            f"{source.description} can be read only once, and `--id` reads it twice", hint="put it in a file"
        )
    try:
        return [name for batch in source for name in batch.label_list()]
    except MissingColumn as error:
        raise InputError(error.problem, hint="name the column of ids with `--id COLUMN`") from error
    except BadRow as error:
        problem = f"{error.where}, line {error.line}: {error.reason.replace('label', 'id')}"
        raise InputError(problem, hint="every row needs a text, a label and an id") from error
