"""``export``: write a model for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from textodds.cli import model_files
from textodds.cli.commands import command, option
from textodds.cli.options import model_argument, running_options
from textodds.cli.output import counted, size, tell
from textodds.cli.overwrite import themselves
from textodds.errors import InputError, Unsupported
from textodds.interop.portable.targets import target_of
from textodds.model.file import load
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

OUTPUT = "The file to write; its ending sets the format."
DATABASE = "The database that an SQL file is for: duckdb, sqlite or postgres."
COMPACT = "Write a small model file that answers and explains, and cannot learn."
ON = "With `--compact`: compare its answers on these texts.  [default: on the model's own documents]"
PICKLES = (".pkl", ".pickle", ".joblib")


@command(
    "export",
    examples=[
        "textodds export mail.textodds -o mail.onnx",
        "textodds export mail.textodds -o mail.html",
        "textodds export mail.textodds -o mail.py",
        "textodds export mail.textodds --sql sqlite -o mail.sql",
        "textodds export mail.textodds -o small.textodds --compact --on new.csv",
    ],
)
@model_argument()
@option(
    "Output",
    *("-o", "--output"),
    required=True,
    metavar="FILE",
    writes="exported file",
    help=OUTPUT,
)
@option(
    "Output", "--sql", metavar="DATABASE", type=click.Choice(["duckdb", "sqlite", "postgres"]), help=DATABASE
)
@option("Output", "--compact", is_flag=True, help=COMPACT)
@option("Output", "--on", metavar="DATA", reads=themselves, help=ON)
@running_options(json="Print what was written as one JSON object.", threads=False)
def export(
    model: str, output: str, sql: str | None, compact: bool, on: str | None, as_json_: bool, quiet: bool
) -> None:
    """Export a model to another format.

    `*.html` is a page that runs the model without a server or network: a box to type in, the answer, and why.
    `*.py` predicts with Python's standard library alone; `*.c` is one file of C99 without dependencies.
    `*.sql` makes tables and views that score a table of texts, in the database of `--sql`.
    `*.onnx` maps word counts (input `rows`, in the order of the words in the file's metadata) to
    `label` (of several labels a text to `labels`, 1 where one is given) and `probabilities`; it does not
    include tokenisation, and needs `pip install 'textodds[onnx]'`.

    With `--compact` it is a model file again, a tenth of the size or less: weights have one or two bytes,
    and counts and documents are left out, so that the model answers and explains but cannot learn.
    """
    path = Path(output)
    if compact and sql is not None:
        raise InputError("`--sql` and `--compact` are two formats", hint="leave one of them out")
    if compact:
        _export_compact(model, path, on, json=as_json_, quiet=quiet)
        return
    if on is not None:
        raise InputError("`--on` is for `--compact`, whose answers it compares", hint="leave out `--on`")
    _must_not_be_pickle(path, model)
    target = target_of(path, sql)
    opened = load(model)
    if not isinstance(opened, TextModel | MultiLabelModel):
        raise Unsupported("models of tables cannot be exported", hint="export a model of texts")
    model_files.must_be_writable(path)
    target.write(opened, path)
    written, words = path.stat().st_size, len(opened.vocabulary)
    file = {"model": model, "output": str(path), "format": target.name, "bytes": written}
    about = {**file, "classes": opened.class_names, "words": words}
    classes = counted(len(opened.classes_), "class")
    takes = f"counts of {counted(words, 'word')}" if target.takes == "counts" else "texts"
    span = f"from {takes} to probabilities of {classes}"
    tell(about, [f"wrote {path}: {span}, {size(written)}"], json=as_json_, quiet=quiet)


def _export_compact(model: str, path: Path, on: str | None, *, json: bool, quiet: bool) -> None:
    """Write a compact model file, and say how its answers differ from those of the model."""
    from textodds.model.storage.compact import agreement, save_compact

    if path.suffix != model_files.SUFFIX:
        raise InputError(
            f"a compact model is a model file, and `{path}` is not named like one",
            hint=f"name it `*{model_files.SUFFIX}`",
        )
    opened = load(model)
    if not isinstance(opened, TextModel | MultiLabelModel):
        raise Unsupported("models of tables cannot be made compact", hint="give a model of texts")
    model_files.must_be_writable(path)
    save_compact(path, opened)
    small, before, written = load(path), Path(model).stat().st_size, path.stat().st_size
    assert isinstance(small, TextModel | MultiLabelModel)
    about = {
        "model": model,
        "output": str(path),
        "format": "textodds",
        "bytes": written,
        "bytes_before": before,
    }
    lines = [
        f"wrote {path}: {size(written)}, {size(before)} before; it answers and explains, and cannot learn"
    ]
    corpus = None if on is not None else opened.corpus
    if on is None and corpus is None:
        lines.append("its answers were not compared: name texts with `--on DATA`")
    else:
        batches = corpus.batches() if corpus is not None else opened.read(on)
        found = agreement(opened, small, batches)
        of_what = "documents of the model" if on is None else "texts"
        lines.append(
            f"{found.same:,} of {found.texts:,} {of_what} have the same answer as before; "
            f"probabilities differ by at most {found.largest:.2g}"
        )
        about |= {"texts": found.texts, "same": found.same, "largest_difference": found.largest}
    tell(about, lines, json=json, quiet=quiet)


def _must_not_be_pickle(path: Path, model: str) -> None:
    """Refuse a format that is not written here, and say where it is."""
    if path.suffix in PICKLES:
        raise Unsupported(
            f"`{path}` would be a pickle, which can run code when opened: textodds does not write pickles",
            hint="for scikit-learn, in Python: `from textodds import to_sklearn`, "
            f"then `joblib.dump(to_sklearn(textodds.load({model!r})), {str(path)!r})`",
        )
