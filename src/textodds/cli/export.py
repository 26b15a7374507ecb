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
from textodds.model.text_model import TextModel

OUTPUT = "The file to write; its ending says the format."
PICKLES = (".pkl", ".pickle", ".joblib")


@command("export", examples=["textodds export mail.textodds -o mail.onnx"])
@model_argument()
@option("Output", "-o", "--output", required=True, metavar="FILE.onnx", writes="ONNX file", help=OUTPUT)
@running_options(json="Print what was written as one JSON object.", threads=False)
def export(model: str, output: str, as_json_: bool, quiet: bool) -> None:
    """Write a model for other programs.

    An ONNX file holds the model from counts of words (input `rows`, with the words in the order that
    the file's metadata names) to `label` and `probabilities`; cutting texts into words stays outside.
    Needs `pip install 'textodds[onnx]'`.
    """
    path = Path(output)
    _must_be_onnx(path, model)
    opened = load(model)
    if not isinstance(opened, TextModel):
        raise Unsupported("models of tables are not exported", hint="models of texts are")
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
            f"`{path}` would be a pickle, which can run any code when it is opened: textodds writes none",
            hint="for scikit-learn, in Python: `from textodds import to_sklearn`, "
            f"then `joblib.dump(to_sklearn(textodds.load({model!r})), {str(path)!r})`",
        )
    if path.suffix != ".onnx":
        raise InputError(
            f"`{path}` does not end as a format that can be written", hint="name it `*.onnx`, for ONNX"
        )
