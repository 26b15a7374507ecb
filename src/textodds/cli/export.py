"""``export``: write a model for other programs."""

from __future__ import annotations

from pathlib import Path

from textodds.cli import model_files
from textodds.cli.commands import command, option
from textodds.cli.options import model_argument, running_options
from textodds.cli.output import counted, size, tell
from textodds.errors import InputError, Unsupported
from textodds.interop.to_onnx import to_onnx
from textodds.model.file import load
from textodds.model.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

OUTPUT = "The file to write; its ending sets the format."
PICKLES = (".pkl", ".pickle", ".joblib")


@command("export", examples=["textodds export mail.textodds -o mail.onnx"])
@model_argument()
@option("Output", "-o", "--output", required=True, metavar="FILE.onnx", writes="ONNX file", help=OUTPUT)
@running_options(json="Print what was written as one JSON object.", threads=False)
def export(model: str, output: str, as_json_: bool, quiet: bool) -> None:
    """Export a model to another format.

    An ONNX file maps word counts (input `rows`, in the order of the words in the file's metadata) to
    `label` (of several labels a text to `labels`, 1 where one is given) and `probabilities`; it does not
    include tokenisation.
    Needs `pip install 'textodds[onnx]'`.
    """
    path = Path(output)
    _must_be_onnx(path, model)
    opened = load(model)
    if not isinstance(opened, TextModel | MultiLabelModel):
        raise Unsupported("models of tables cannot be exported", hint="export a model of texts")
    model_files.must_be_writable(path)
    to_onnx(opened, path)
    written, words = path.stat().st_size, len(opened.vocabulary)
    file = {"model": model, "output": str(path), "format": "onnx", "bytes": written}
    about = {**file, "classes": opened.class_names, "words": words}
    classes = counted(len(opened.classes_), "class")
    span = f"from counts of {counted(words, 'word')} to probabilities of {classes}"
    tell(about, [f"wrote {path}: {span}, {size(written)}"], json=as_json_, quiet=quiet)


def _must_be_onnx(path: Path, model: str) -> None:
    """Refuse formats that are not written here, and say where they are."""
    if path.suffix in PICKLES:
        raise Unsupported(
            f"`{path}` would be a pickle, which can run code when opened: textodds does not write pickles",
            hint="for scikit-learn, in Python: `from textodds import to_sklearn`, "
            f"then `joblib.dump(to_sklearn(textodds.load({model!r})), {str(path)!r})`",
        )
    if path.suffix != ".onnx":
        raise InputError(f"cannot export to `{path}`: unknown format", hint="name it `*.onnx`, for ONNX")
