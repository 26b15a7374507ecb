"""Options and arguments that people type by mistake, and what they mean by them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from textodds.errors import InputError

MEANINGS = {
    "--label": "target y class classes category labels-column label-column label-col",
    "--text": "x input message content column text-column text-col texts",
    "--output": "out o output-file model-file save save-to model-out",
    "--learner": "model algorithm algo classifier method estimator learner-name",
    "--format": "type filetype file-type input-format",
    "--encoding": "charset enc codec",
    "--query": "sql",
    "--sheet": "sheet-name worksheet",
    "--bad-rows": "on-error on-bad-lines skip-errors ignore-errors errors skip",
    "--rejects": "rejected bad-rows-file",
    "--threads": "jobs n-jobs workers num-threads cores j",
    "--quiet": "silent q",
    "--test": "test-data validation valid eval-data",
    "--proba": "probabilities probability probs prob",
    "--say": "sentence string",
    "--budget": "timeout max-time time-limit",
    "--weight": "weights sample-weight",
    "--no-header": "headerless noheader",
}
"""Options, and the words that people type for them."""

SEPARATOR = "the separator (`,` `;` tab `|`) is detected; `--format tsv` takes tabs only"
SEED = "leave it out: nothing is random, and the same data give the same model"
SPLIT = "leave it out: texts are held out to measure by, or name others with `--test DATA`"
BY_ITSELF = {
    **dict.fromkeys(("sep", "separator", "delimiter", "delim", "field-separator"), SEPARATOR),
    "data": "data are named without an option: `textodds COMMAND … DATA`",
    "file": "files are named without an option: `textodds COMMAND … DATA`",
    **dict.fromkeys(("verbose", "v"), "leave it out: output is verbose unless `--quiet`"),
    **dict.fromkeys(("seed", "random-state", "random-seed"), SEED),
    **dict.fromkeys(("test-size", "split", "test-split"), SPLIT),
}
"""Options that there need not be, and why."""

FORMATS = {
    **dict.fromkeys(("page", "html"), "-o FILE.html"),
    **dict.fromkeys(("python", "py"), "-o FILE.py"),
    "c": "-o FILE.c",
    "onnx": "-o FILE.onnx",
    **dict.fromkeys(("format", "to", "type"), "-o FILE.html, .py, .c, .onnx or .sql"),
    "duckdb": "--sql duckdb -o FILE.sql",
    "sqlite": "--sql sqlite -o FILE.sql",
    **dict.fromkeys(("postgres", "postgresql"), "--sql postgres -o FILE.sql"),
}
"""Formats that people name by an option of `export`, and how they are named."""


def meaning_of(option: str, known: Sequence[str]) -> str | None:
    """What to write for an option that there is not, if it is one that people know from elsewhere.

    >>> meaning_of("--target", ["--text", "--label"]), meaning_of("--target", ["--text"])
    ('it is called `--label`', None)
    """
    name = option.lstrip("-").replace("_", "-").casefold()
    if name in ("x", "y") and not option.startswith("--"):  # which could be anything
        return None
    for called, words in MEANINGS.items():
        if called in known and name in words.split():
            return f"it is called `{called}`"
    if "--compact" in known and name in FORMATS:
        return f"the ending of the file sets the format: `{FORMATS[name]}`"
    takes_data = {"--format", "--text"} & set(known)
    return BY_ITSELF.get(name) if takes_data else None


def must_not_be_swapped(context: click.Context) -> None:
    """Fail where data stand in the place of the model, and a model in that of the data."""
    model = context.params.get("model")
    others = context.params.get("data")
    if not isinstance(model, str) or not others:
        return
    if _is_model(model) or sum(map(_is_model, others)) != 1:
        return
    meant = next(other for other in others if _is_model(other))
    given = [model, *(other for other in others if other != meant)]
    is_text = "texts" in context.params and len(given) == 1 and " " in model and not os.path.exists(model)  # noqa: PTH110
    rest = ["--say", model] if is_text else given
    line = shlex.join([*context.command_path.split(), meant, *rest])
    raise InputError(
        f"the first argument is the model, and `{model}` is not one", hint=f"did you mean `{line}`?"
    )


def _is_model(path: str) -> bool:
    """Whether a path is that of a model file, by how it begins or, where there is none, by its name."""
    from textodds.data.files import MODEL_MAGIC  # which NumPy comes with: the help must not wait for it

    try:
        with Path(path).open("rb") as file:
            start = file.read(4 + len(MODEL_MAGIC))
    except (OSError, ValueError):
        return os.path.splitext(path)[1].lower() == ".textodds"  # noqa: PTH122 (a text may be no path)
    return start[4:] == MODEL_MAGIC
