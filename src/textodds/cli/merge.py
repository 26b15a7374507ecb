"""``merge``: make one model of several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textodds.cli import model_files, summaries
from textodds.cli.commands import argument, command, option
from textodds.cli.options import running_options
from textodds.cli.output import size, tell
from textodds.cli.overwrite import themselves
from textodds.errors import InputError
from textodds.model.file import load

OVER_ONE = {"writes": "model", "may_replace": ("models_", "subtract")}
SUBTRACT = "Subtract this model's documents; may be repeated."


@command(
    "merge",
    examples=[
        "textodds merge january.textodds february.textodds -o winter.textodds",
        "textodds merge year.textodds --subtract january.textodds -o rest.textodds",
    ],
)
@argument(
    "models_", "Model files, trained with the same options.", nargs=-1, required=True, metavar="MODEL..."
)
@option("Output", "-o", "--output", required=True, metavar="OUT", help="The model file to write.", **OVER_ONE)
@option("Models", "--subtract", multiple=True, metavar="MODEL", reads=themselves, help=SUBTRACT)
@running_options(json="Print the numbers of documents, classes and features as JSON on stdout.")
def merge(
    models_: tuple[str, ...],
    output: str,
    subtract: tuple[str, ...],
    threads: int | None,
    as_json_: bool,
    quiet: bool,
) -> None:
    """Merge models into one.

    The result is the model that training on all their documents would give, for naive Bayes to the last
    bit; with --subtract, on all their documents but those.
    """
    if len(models_) + len(subtract) < 2:
        raise InputError("`merge` needs at least two models", hint="name another, or use `--subtract`")
    path = Path(output)
    model_files.must_be_writable(path)
    with model_files.changing(path, quiet=quiet) as must_be_unchanged:
        merged: Any = load(models_[0], threads=threads, check=True)
        for name, sign in [*((name, 1) for name in models_[1:]), *((name, -1) for name in subtract)]:
            merged = _combined(merged, name, sign, threads)
        must_be_unchanged()
        written = model_files.write(merged, path)
    said = f"wrote {path}: {summaries.extent(merged)}, {size(written)}"
    tell(model_files.plain(merged, path, written), [said], json=as_json_, quiet=quiet)


def _combined(merged: Any, name: str, sign: int, threads: int | None) -> Any:
    other = load(name, threads=threads, check=True)
    if other.kind != merged.kind:
        raise InputError(f"`{name}` cannot be merged: one is a model of texts, the other of tables")
    try:
        return merged + other if sign > 0 else merged - other
    except InputError as error:
        verb = "added" if sign > 0 else "subtracted"
        raise type(error)(f"`{name}` cannot be {verb}: {error.problem}", hint=error.hint) from error
