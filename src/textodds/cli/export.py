"""``export``: write a model for other programs."""

from __future__ import annotations

from pathlib import Path

from textodds.cli import model_files
from textodds.cli.commands import command, option
from textodds.cli.options import model_argument, running_options
from textodds.cli.output import counted, size, tell
from textodds.errors import Unsupported
from textodds.interop.portable.targets import target_of
from textodds.model.file import load
from textodds.model.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

OUTPUT = "The file to write; its ending sets the format."
PICKLES = (".pkl", ".pickle", ".joblib")


@command(
    "export",
    examples=[
        "textodds export mail.textodds -o mail.onnx",
        "textodds export mail.textodds -o mail.html",
        "textodds export mail.textodds -o mail.py",
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
@running_options(json="Print what was written as one JSON object.", threads=False)
def export(model: str, output: str, as_json_: bool, quiet: bool) -> None:
    """Export a model to another format.

    `*.html` is a page that runs the model without a server or network: a box to type in, the answer, and why.
    `*.py` predicts with Python's standard library alone; `*.c` is one file of C99 without dependencies.
    `*.onnx` maps word counts (input `rows`, in the order of the words in the file's metadata) to
    `label` (of several labels a text to `labels`, 1 where one is given) and `probabilities`; it does not
    include tokenisation, and needs `pip install 'textodds[onnx]'`.
    """
    path = Path(output)
    _must_not_be_pickle(path, model)
    target = target_of(path)
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


def _must_not_be_pickle(path: Path, model: str) -> None:
    """Refuse a format that is not written here, and say where it is."""
    if path.suffix in PICKLES:
        raise Unsupported(
            f"`{path}` would be a pickle, which can run code when opened: textodds does not write pickles",
            hint="for scikit-learn, in Python: `from textodds import to_sklearn`, "
            f"then `joblib.dump(to_sklearn(textodds.load({model!r})), {str(path)!r})`",
        )
