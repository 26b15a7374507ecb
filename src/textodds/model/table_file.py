"""The file of a table model: its recipe and its statistics, from which it is made again when opened."""

from __future__ import annotations

import os
import warnings
from typing import Any

from textodds.errors import ModelFileError, Shrunk
from textodds.judge.novelty import Typical
from textodds.learn.forms.linear import check_prior
from textodds.learn.held_out import HeldOut
from textodds.model import file as model_file
from textodds.model.table_model import TableModel, TableRecipe
from textodds.model.table_tally import TableTally


def save(path: str | os.PathLike[str], model: TableModel) -> None:
    """Write a model file; a crash leaves the old file or the new one."""
    header = {
        "format": model_file.FORMAT,
        "form": "table",
        "classes": list(model.classes_),
        "recipe": model.recipe.as_dict(),
        "info": model.info,
    }
    arrays: model_file.Arrays = {}
    for at, (block, statistic) in enumerate(zip(model.recipe.blocks, model.tally.parts, strict=True)):
        counted: model_file.Arrays = block.arrays(statistic)  # type: ignore[arg-type]
        arrays |= {f"{at}.{name}": array for name, array in counted.items()}
    for prefix, part in (("typical", model.typical), ("honest", model.held_out)):
        if part is not None:
            arrays |= {f"{prefix}.{name}": array for name, array in part.arrays().items()}
    model_file.write(path, header, arrays)


def of_contents(header: dict[str, Any], arrays: model_file.Arrays) -> TableModel:
    """The table model that the header and the arrays of a file hold, checked."""
    classes = model_file.names_of(header["classes"])
    recipe = TableRecipe.of_dict(header["recipe"])
    check_prior(recipe.prior)

    def part(prefix: str) -> model_file.Arrays:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    parts = tuple(block.of_arrays(part(f"{at}."), classes) for at, block in enumerate(recipe.blocks))
    if any(each.classes != classes for each in parts):
        raise ModelFileError("its parts have different classes")
    typical = Typical.of_arrays(part("typical.")) if "typical.surprise" in arrays else None
    held_out = HeldOut.of_arrays(part("honest."), len(classes)) if "honest.truth" in arrays else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Shrunk)  # said when it was trained
        return TableModel(recipe, TableTally(parts), dict(header["info"]), typical, held_out)
