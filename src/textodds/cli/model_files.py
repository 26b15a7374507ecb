"""Model files as the command line names them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textodds.cli.output import say
from textodds.data import files
from textodds.data.compression import without_suffix
from textodds.data.written_file import file_name
from textodds.errors import ModelFileError
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.storage import file_lock

if TYPE_CHECKING:
    from textodds.model.file import AnyModel

SUFFIX = ".textodds"
ELSEWHERE = "choose a folder that exists and may be written to, with `{}`"


def default_path(data: Iterable[str]) -> Path:
    """The model of some data: its name with our suffix, in the current folder.

    >>> str(default_path(["in/mail.csv.gz"])), str(default_path(["a.csv", "b.csv"])), str(default_path(["-"]))
    ('mail.textodds', 'model.textodds', 'model.textodds')
    """
    paths = list(data)
    if len(paths) != 1 or paths[0] == files.STDIN or any(mark in paths[0] for mark in "*?["):
        return Path(f"model{SUFFIX}")
    given = Path(paths[0])  # a link is called as it is, not as what it leads to
    name = without_suffix((given.resolve() if given.name in ("", "..") else given).name)
    if files.format_of_name(name) or name.endswith((".txt", ".json")):
        name = Path(name).stem
    return Path(file_name(name or "model", SUFFIX))


def must_be_writable(path: Path, *, option: str = "-o") -> None:
    """Fail now, rather than after the work, where a file cannot be written."""
    cannot, elsewhere = f"cannot write `{path}`", ELSEWHERE.format(option)
    if path.is_dir():
        raise ModelFileError(f"{cannot}: it is a folder", hint=f"name a file in it with `{option}`")
    if path.exists() and not path.is_file():  # a device or a pipe, which is written to
        if not os.access(path, os.W_OK):
            raise ModelFileError(f"{cannot}: permission denied", hint=elsewhere)
        return
    if not path.parent.is_dir():
        raise ModelFileError(f"{cannot}: there is no folder `{path.parent}`", hint=elsewhere)
    if not os.access(path.parent, os.W_OK):
        raise ModelFileError(f"{cannot}: permission denied in `{path.parent}`", hint=elsewhere)


@contextmanager
def changing(path: Path, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """The file at ``path`` is ours to read and to replace while this lasts, after others that change it.

    What is given fails if something that takes no lock has changed it meanwhile.
    """
    waiting = partial(say, f"waiting: another process is changing {path}", quiet=quiet)
    with file_lock.changing(path, waiting) as must_be_unchanged:
        yield must_be_unchanged


def write(model: AnyModel, path: Path, *, counts: bool = True) -> int:
    """Save the model, whole or not at all; the bytes it takes."""
    from safetensors import SafetensorError

    try:
        model.save(path, counts=counts)
    except SafetensorError as error:  # a full disk, in its own words
        raise ModelFileError(
            f"cannot write `{path}`: {error}", hint=f"free some space, or {ELSEWHERE.format('-o')}"
        ) from error
    return path.stat().st_size


def plain(model: AnyModel, path: Path, written: int) -> dict[str, object]:
    """What a model file rests on, for JSON."""
    documents = model.class_documents
    several = {"several_labels": True} if is_multilabel(model) else {}
    return {
        "model": str(path),
        "bytes": written,
        "documents": model.n_texts if is_multilabel(model) else sum(documents.values()),
        **several,
        "classes": documents,
        "columns" if model.kind == "tables" else "words": model.extent[0],
    }
