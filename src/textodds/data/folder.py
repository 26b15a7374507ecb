"""A folder with a sub-folder per class: every file below a sub-folder is one document of that class."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from textodds.data import files
from textodds.data.admission import Parts
from textodds.data.files import BOM
from textodds.data.rejects import Origin
from textodds.data.row_parts import Row, text_parts
from textodds.data.source import Position
from textodds.data.values import Unreadable
from textodds.errors import BadFile


def parts(folder: str, progress: Position, *, labelled: bool, encoding: str | None = None) -> Parts:
    """Parts of the documents below ``folder``, in the sorted order of their paths.

    Without ``labelled`` every file below it is a document, wherever it lies. Names that begin with a
    dot are passed over, and folders that are links are not entered.
    """
    if labelled and not any(entry.is_dir() for entry in entries(folder)):
        raise BadFile(
            f"`{folder}` has no sub-folders, of which there should be one per class",
            hint=f"to read the files in it, give a pattern such as `{Path(folder) / '*.csv'}`",
        )
    rows = _rows(folder, progress, labelled=labelled, encoding=encoding)
    yield from text_parts(rows, Origin(folder), labelled=labelled, weighted=False)


def size(folder: str) -> int:
    """Bytes of all documents below ``folder``."""
    return sum(Path(path).stat().st_size for path in documents(folder))


def _rows(folder: str, progress: Position, *, labelled: bool, encoding: str | None) -> Iterator[Row]:
    for path in documents(folder):
        with files.trouble(files.named(path)), files.opened(path, encoding) as (stream, position):
            document = stream.read().removeprefix(BOM)
            progress.finish(position())
        label, _, rest = os.path.relpath(path, folder).partition(os.sep)
        if labelled and not rest:
            outside = Unreadable("is outside the class folders")
            yield outside, None, None, path, document
        else:
            yield document, label, None, path, document


def documents(folder: str) -> Iterator[str]:
    """Paths of the files below ``folder``, sorted."""
    for entry in entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from documents(entry.path)
        elif entry.is_file():
            yield entry.path


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, by name, but for names that begin with a dot."""
    with files.trouble(files.named(folder)), os.scandir(folder) as entries:
        return sorted(
            (entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name
        )
