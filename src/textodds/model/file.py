"""Opening a model file: its header is read once, and says which kind of model it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from textodds.model import text_file
from textodds.model.container import contents, guarded
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.model.table_model import TableModel

    Model: TypeAlias = TextModel | TableModel


def load(path: str | os.PathLike[str], *, threads: int | None = None) -> Model:
    """The model in a file: a `TextModel`, or a `TableModel`.

    Costs milliseconds, whatever the size of the model: the header is read, and the rest is mapped.
    """

    def model(path: Path) -> Model:
        header, arrays = contents(path)
        if header.get("form", "linear") == "table":
            from textodds.model import table_file

            opened: Model = table_file.of_contents(header, arrays)
        else:
            opened = text_file.of_contents(path, header, arrays, threads=threads)
        opened.file_format = header["format"]
        return opened

    return guarded(path, model)


def load_texts(path: str | os.PathLike[str], *, threads: int | None = None) -> TextModel:
    """The model of texts in a file; one of tables is refused."""
    return guarded(path, lambda path: text_file.of_contents(path, *contents(path), threads=threads))
