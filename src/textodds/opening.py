"""Opening a model file, whatever kind of model it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from textodds import store
from textodds.model import load as load_texts

if TYPE_CHECKING:
    from textodds.model import TextModel
    from textodds.tables import TableModel

    Model: TypeAlias = TextModel | TableModel


def load(path: str | os.PathLike[str], *, threads: int | None = None) -> Model:
    """The model in a file: a `TextModel`, or a `TableModel`."""
    if store.guarded(path, _form) == "table":
        from textodds.tables.store import load as load_rows

        return load_rows(path)
    return load_texts(path, threads=threads)


def _form(path: Path) -> str:
    return str(store.contents(path)[0].get("form", "linear"))
