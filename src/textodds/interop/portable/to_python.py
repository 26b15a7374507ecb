"""A model as one Python file of the standard library."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from textodds.data.written_file import replacing
from textodds.interop.portable.plain_model import as_json, plain_model
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

MOST_WEIGHTS = 5_000_000
_PLACE = 'DATA = "{}"\n'
_LINE = 4000  # characters of data a line


def to_python(model: TextModel | MultiLabelModel, path: str | os.PathLike[str]) -> None:
    """Write a model as a Python file that predicts with the standard library alone.

    ``predict(text)`` of it gives the label and all probabilities; run as a program it answers for its
    arguments, or for the lines of its input. Answers are those of the model, probabilities to 1e-9.
    """
    plain = plain_model(model, "a Python file", MOST_WEIGHTS, Path(path).stem)
    written = as_json(plain)
    lines = [repr(written[at : at + _LINE]) for at in range(0, len(written), _LINE)]
    data = "DATA = (  # fmt: skip\n    " + "\n    ".join(lines) + "\n)\n"
    with replacing(path) as temporary:
        temporary.write_text(runtime("predict.py").replace(_PLACE, data, 1), encoding="utf-8")


def runtime(name: str) -> str:
    """A file of `runtime/`, as it is."""
    return (files("textodds.interop.portable") / "runtime" / name).read_text(encoding="utf-8")
