"""Texts that a command takes, alike in all that take any: with ``--say``, in data, or on standard input."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from textodds.cli.commands import F, argument, option, together
from textodds.cli.options import Reading, refuse_reading, source_for
from textodds.cli.output import one_line, warn
from textodds.cli.progress import watched
from textodds.data import Batch
from textodds.data.batch import taken
from textodds.data.files import STDIN
from textodds.data.label_sets import name_of
from textodds.errors import InputError
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.text_updates import TextUpdates

if TYPE_CHECKING:
    from textodds.model.file import AnyModel

DATA = "Files, patterns, a folder or a database; by default -, stdin: "
LINES = "one text a line, or a table whose first line has the model's columns."
LABELLED = "labelled rows or, with `--label-is`, one text a line."
BOTH = '--say "win a free phone" --label-is spam'


class TextOptions(Reading):
    """The texts that a command is given, and how data is read."""

    data: tuple[str, ...]
    texts: tuple[str, ...]


def text_options(verb: str, *, labelled: bool = False) -> Callable[[F], F]:
    """``DATA`` and ``--say``, with the ``verb`` in their help; ``--label-is``, where texts have labels."""
    label = "The label of all texts of `--say` or DATA; of several, again for another."
    what = f"{verb} this text (of a table, a row as JSON) instead of DATA; may be repeated."
    return together(
        argument("data", DATA + (LABELLED if labelled else LINES), nargs=-1),
        option("Texts", "--say", "texts", multiple=True, metavar="TEXT", help=what),
        *([option("Texts", "--label-is", multiple=True, metavar="LABEL", help=label)] if labelled else []),
    )


@contextlib.contextmanager
def batches_given(
    model: AnyModel,
    options: TextOptions,
    doing: str,
    *,
    quiet: bool,
    labelled: bool = False,
    label: str | None = None,
    of_data: Sequence[str] = (),
) -> Iterator[Iterable[Batch]]:
    """Batches of the texts that a command is given; all with one ``label``, if any, else as data have them.

    The label is a name that the model has for it, see `named_label`.

    ``of_data`` names options of the command that are about data, beside those for reading it.
    """
    if options["texts"]:
        yield literal_batches(model, options, label, of_data)
        return
    source = source_given(model, options, labelled=labelled and label is None)
    with watched(source, doing, quiet=quiet, bar=labelled or not sys.stdout.isatty()) as batches:
        yield batches if label is None else _labelled(batches, label)
    warn_of_labels(source, options)


def warn_of_labels(source: Any, options: Reading) -> None:
    """Say which labels of rows with several were read otherwise than they were written."""
    notes = source.label_notes if options.get("label_separator") else source.label_row_notes
    for note in notes:
        warn(note)


def named_label(model: AnyModel, labels: Sequence[str], texts: Sequence[str]) -> str | None:
    """What a model calls the labels that ``--label-is`` gives, of several a set; None without any."""
    if not labels:
        return None
    if is_multilabel(model):  # of which an empty one is none
        return name_of(model.class_name(label) for label in labels if label.strip())
    if len(labels) > 1:
        raise InputError(
            f"`--label-is` is given {len(labels)} times, and the model gives one label a text",
            hint="name one label",
        )
    if not labels[0].strip():
        said = "`--say` needs `--label-is LABEL`" if texts else "`--label-is` is empty"
        raise InputError(said, hint=f"{'write both' if texts else 'name the label'}: {BOTH}")
    return model.class_name(labels[0])


def _labelled(batches: Iterable[Batch], label: str) -> Iterator[Batch]:
    for batch in batches:
        yield Batch(batch.columns, [label] * len(batch), batch.weights)


def source_given(
    model: AnyModel, options: TextOptions, *, labelled: bool = False, keep_rows: bool | list[str] = False
) -> Any:
    """The source of DATA, or of stdin where none is named."""
    data: Sequence[str] = options["data"]
    if not data and options.get("query") is None:
        if labelled and sys.stdin is not None and sys.stdin.isatty():
            raise no_data()
        data = (STDIN,)
    return source_for(model, data, options, labelled=labelled, keep_rows=keep_rows)


def no_data() -> InputError:
    """Neither texts nor data are given, and nothing comes from stdin."""
    hint = f"name a file, a pattern, a folder, or `-` for stdin; or give a text: {BOTH}"
    return InputError("there is no data", hint=hint)


def literal_batches(
    model: AnyModel, options: TextOptions, label: str | None = None, of_data: Sequence[str] = ()
) -> Iterable[Batch]:
    """Batches of the texts that ``--say`` gives, all of one label if any; of several columns, as JSON."""
    if options["data"]:
        raise InputError("`--say` cannot be combined with DATA", hint="leave out one of the two")
    refuse_reading("the text is given with `--say`", of_data)
    texts = options["texts"]
    labels = None if label is None else [label] * len(texts)
    given = [said(model, text) for text in texts]
    if isinstance(model, TextUpdates):
        return [Batch(given, labels, None)]
    batches: Iterable[Batch] = model.read(given, labels, labelled=label is not None)
    return batches


def rows_of(model: AnyModel, batches: Iterable[Batch]) -> Iterator[Any]:
    """Texts or rows one by one, each as a model takes one."""
    for batch in batches:
        for at in range(len(batch)):
            one = batch.take([at])
            if isinstance(model, TextUpdates):
                yield taken(one.texts, [0])[0]  # type: ignore[index]
            else:
                yield {name: _value(column) for name, column in one.columns.items()}


def _value(column: Any) -> object:
    """The one value of a column; None where it is missing."""
    (value,) = column.tolist() if hasattr(column, "tolist") else list(column)
    first = value[0] if isinstance(value, list) else value  # a vector is missing altogether, or not at all
    return None if isinstance(first, float) and math.isnan(first) else value


def said(model: AnyModel, text: str) -> Any:
    """What stands on the command line, as a model reads it: a text or, of several columns, a JSON object."""
    names: Sequence[str]
    if isinstance(model, TextUpdates):
        names = model.recipe.settings.fields
        problem = f"the model reads the columns {', '.join(names)}, and `{one_line(text)}` came without them"
    else:
        names = [column.name for column in model.schema.used]
        problem = f"`{one_line(text)}` is not a row of a table"
    if not names:
        return text
    try:
        row = json.loads(text)
    except json.JSONDecodeError:
        row = None
    if not isinstance(row, dict):
        raise InputError(problem, hint=f"write a JSON object: --say '{{\"{names[0]}\": …}}'")
    return model.row_of(row)
