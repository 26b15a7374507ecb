"""The file of a table model: its recipe and its statistics, from which it is made again when opened."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from textodds import store
from textodds.density import Typical
from textodds.errors import ModelFileError, Shrunk
from textodds.honest import Honest
from textodds.linear import check_prior
from textodds.tables.model import TableModel, TableRecipe
from textodds.tables.tally import TableTally


def save(path: str | os.PathLike[str], model: TableModel) -> None:
    """Write a model file; a crash leaves the old file or the new one."""
    header = {
        "format": store.FORMAT,
        "form": "table",
        "classes": list(model.classes_),
        "recipe": model.recipe.as_dict(),
        "info": model.info,
    }
    arrays: store.Arrays = {}
    for at, (block, part) in enumerate(zip(model.recipe.blocks, model.tally.parts, strict=True)):
        found: Any = block.arrays(part)  # type: ignore[arg-type]
        arrays |= {f"{at}.{name}": array for name, array in found.items()}
    if model.typical is not None:
        arrays |= {f"typical.{name}": array for name, array in model.typical.arrays().items()}
    if model.honest is not None:
        arrays |= {f"honest.{name}": array for name, array in model.honest.arrays().items()}
    store.write(path, header, arrays)


def load(path: str | os.PathLike[str]) -> TableModel:
    """The table model in a file."""
    return store.guarded(path, _load)


def _load(path: Path) -> TableModel:
    header, arrays = store.contents(path)
    if header.get("form") != "table":
        raise ModelFileError("it is a model of texts, not of tables")
    classes = store.names_of(header["classes"])
    recipe = TableRecipe.of_dict(header["recipe"])
    check_prior(recipe.prior)

    def part(prefix: str) -> store.Arrays:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    parts = tuple(block.of_arrays(part(f"{at}."), classes) for at, block in enumerate(recipe.blocks))
    if any(each.classes != classes for each in parts):
        raise ModelFileError("its parts have different classes")
    typical = Typical.of_arrays(part("typical.")) if "typical.surprise" in arrays else None
    honest = Honest.of_arrays(part("honest."), len(classes)) if "honest.truth" in arrays else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Shrunk)  # said when it was trained
        return TableModel(recipe, TableTally(parts), dict(header["info"]), typical, honest)
