"""What a model can be written as, by the ending of the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from textodds.errors import InputError
from textodds.interop.portable.to_c import to_c
from textodds.interop.portable.to_page import to_page
from textodds.interop.portable.to_python import to_python
from textodds.interop.portable.to_sql import DIALECTS, to_sql
from textodds.interop.to_onnx import to_onnx
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

TextModels = TextModel | MultiLabelModel
Path_ = str | os.PathLike[str]


class Target(NamedTuple):
    """A format: its name, from what to what a file of it goes, and what writes one."""

    name: str
    takes: str
    write: Callable[[TextModels, Path_], object]


TARGETS = {
    ".onnx": Target("onnx", "counts", to_onnx),
    ".html": Target("page", "texts", to_page),
    ".py": Target("python", "texts", to_python),
    ".c": Target("c", "texts", to_c),
}


def target_of(path: Path, database: str | None = None) -> Target:
    """The format that a file's ending stands for; of SQL, that of a ``database``."""
    if path.suffix == ".sql" and database is not None:
        return Target("sql", "texts", partial(to_sql, database=database))
    if path.suffix == ".sql":
        raise InputError(
            f"cannot export to `{path}`: databases differ", hint=f"name yours: --sql {', '.join(DIALECTS)}"
        )
    if database is not None:
        raise InputError(f"`--sql` writes SQL, and `{path}` is another format", hint="name the file `*.sql`")
    if path.suffix not in TARGETS:
        raise InputError(
            f"cannot export to `{path}`: unknown format",
            hint="name it `*.onnx` for ONNX, `*.html` for a page that runs the model, "
            "`*.py` for Python without textodds, `*.c` for C, `*.sql` for a database",
        )
    return TARGETS[path.suffix]
