"""The file of a table model: its recipe and its statistics, from which it is made again when opened."""

from __future__ import annotations

import os
import warnings
from typing import Any

from textodds.errors import ModelFileError, Shrunk
from textodds.judge.novelty import Typical
from textodds.learn.forms.linear import check_prior
from textodds.learn.held_out import HeldOut
from textodds.model.container import FORMAT, Arrays, names_of, part_of, write
from textodds.model.table_model import TableModel, TableRecipe
from textodds.model.table_tally import TableTally


def save(path: str | os.PathLike[str], model: TableModel) -> None:
    """Write a model file; a crash leaves the old file or the new one."""
    header = {
        "format": FORMAT,
        "form": "table",
        "classes": list(model.classes_),
        "recipe": model.recipe.as_dict(),
        "info": model.info,
    }
    arrays: Arrays = {}
    for at, (block, statistic) in enumerate(zip(model.recipe.blocks, model.tally.parts, strict=True)):
        counted: Arrays = block.arrays(statistic)  # type: ignore[arg-type]
        arrays |= {f"{at}.{name}": array for name, array in counted.items()}
    for prefix, part in (("typical", model.typical), ("honest", model.held_out)):
        if part is not None:
            arrays |= {f"{prefix}.{name}": array for name, array in part.arrays().items()}
    write(path, header, arrays)


def of_contents(header: dict[str, Any], arrays: Arrays) -> TableModel:
    """The table model that the header and the arrays of a file hold, checked."""
    classes = names_of(header["classes"])
    recipe = TableRecipe.of_dict(header["recipe"])
    check_prior(recipe.prior)
    parts = tuple(
        block.of_arrays(part_of(arrays, f"{at}."), classes) for at, block in enumerate(recipe.blocks)
    )
    if any(each.classes != classes for each in parts):
        raise ModelFileError("its parts have different classes")
    has_typical, has_held_out = "typical.surprise" in arrays, "honest.truth" in arrays
    typical = Typical.of_arrays(part_of(arrays, "typical.")) if has_typical else None
    held_out = HeldOut.of_arrays(part_of(arrays, "honest."), len(classes)) if has_held_out else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Shrunk)  # said when it was trained
        return TableModel(recipe, TableTally(parts), dict(header["info"]), typical, held_out)
