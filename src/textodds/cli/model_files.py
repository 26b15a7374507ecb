"""Model files as the command line names them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.output import without_nan
from textodds.data import files
from textodds.errors import InputError, ModelFileError

if TYPE_CHECKING:
    from textodds.judge.evaluation import Evaluation
    from textodds.model.file import Model

SUFFIX = ".textodds"
ELSEWHERE = "choose a folder that exists and may be written to, with `-o`"


def default_path(data: Iterable[str]) -> Path:
    """The model of some data: its name with our suffix, in the current folder.

    >>> str(default_path(["in/mail.csv.gz"])), str(default_path(["a.csv", "b.csv"])), str(default_path(["-"]))
    ('mail.textodds', 'model.textodds', 'model.textodds')
    """
    paths = list(data)
    if len(paths) != 1 or paths[0] == files.STDIN or any(mark in paths[0] for mark in "*?["):
        return Path(f"model{SUFFIX}")
    given = Path(paths[0])  # a link is called as it is, not as what it leads to
    name = (given.resolve() if given.name in ("", "..") else given).name.removesuffix(".gz")
    if files.format_of_name(name) or name.endswith((".txt", ".json")):
        name = Path(name).stem
    return Path((name or "model") + SUFFIX)


def must_be_writable(path: Path, data: Iterable[str] = ()) -> None:
    """Fail now, rather than after the work, where a model cannot be written or would replace its data."""
    if path.is_dir():
        raise ModelFileError(
            f"cannot write `{path}`: it is a folder", hint=f"name a file in it: `-o {path / 'x'}{SUFFIX}`"
        )
    if not path.parent.is_dir():
        raise ModelFileError(f"cannot write `{path}`: there is no folder `{path.parent}`", hint=ELSEWHERE)
    if not os.access(path.parent, os.W_OK):
        raise ModelFileError(f"cannot write `{path}`: permission denied in `{path.parent}`", hint=ELSEWHERE)
    if path.exists():
        for given in data:
            if given != files.STDIN and any(path.samefile(found) for found in files.found(given)):
                raise InputError(
                    f"the model would replace `{path}`, which is data", hint="name another file with `-o`"
                )


def write(model: Model, path: Path, *, counts: bool = True) -> int:
    """Save the model, whole or not at all; the bytes it takes."""
    from safetensors import SafetensorError

    try:
        if model.is_table:
            model.save(path)
        else:
            model.save(path, counts=counts)  # type: ignore[call-arg]
    except SafetensorError as error:  # a full disk, in its own words
        raise ModelFileError(
            f"cannot write `{path}`: {error}", hint=f"free some space, or {ELSEWHERE}"
        ) from error
    return path.stat().st_size


def plain(model: Model, path: Path, written: int) -> dict[str, Any]:
    """What a model file rests on, for JSON."""
    return {
        "model": str(path),
        "bytes": written,
        "documents": sum(model.class_documents.values()),
        "classes": model.class_documents,
        f"{model.extent[1]}s": model.extent[0],
    }


def quality_of(evaluation: Evaluation, source: str) -> dict[str, Any]:
    """What a model keeps of how well it did."""
    kept = (
        "n",
        "accuracy",
        "accuracy_interval",
        "macro_f1",
        "macro_f1_interval",
        "log_loss",
        "log_loss_interval",
    )
    return {"source": source, **{name: without_nan(getattr(evaluation, name)) for name in kept}}
