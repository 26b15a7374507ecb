"""Texts and vectors of a table in one linear model: which terms, and what each block is worth.

Softmax regression has one penalty for all weights. How much a block of features may contribute is then a
matter of how large its features are, which is chosen here: on held-out rows, as the penalty is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from textodds.data import Batch
from textodds.errors import InputError
from textodds.learn.arrays import Floats, Integers
from textodds.learn.design import Design, DesignMatrix, LabelledRows, Plain
from textodds.learn.recipe import Recipe
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.learn.softmax.regression import SoftmaxLearner, path_of
from textodds.model.tables.blocks import Block, Terms, Vectors
from textodds.model.tables.linear_table import labelled_rows
from textodds.model.tables.table_model import TableRecipe
from textodds.model.tables.table_tally import TableTally
from textodds.stats.rows import Rows
from textodds.text.settings import FEATURES
from textodds.training.choose.candidates import SHAPE, recipe_with

ROWS = 4000
"""Rows that choices are made by, at most: more hardly change what is chosen."""

HELD = 1000
"""Rows of them that are held out to compare by; of few rows, all in turn."""

STEP = 2.0
WIDEST = 5
"""Scales are tried by factors of two, up to 2^5 either way."""

BESIDE_VECTORS = -1
"""Where the search begins for texts beside vectors: at half the length of the vectors, which a few hundred
texts are not enough to improve on."""

CLEARLY = 1.0
"""Standard errors by which held-out rows must be more likely for a choice to be left for another."""

TRIED = ("characters", "pairs")
"""Features of texts beside other columns: words, pairs and runs of letters, or without the latter."""


def chosen_terms(first: Batch, name: str, words: Mapping[str, object]) -> tuple[str, Recipe]:
    """How a column of texts is cut where softmax regression weighs its terms: as given, or as does best."""
    learner = SoftmaxLearner()
    if any(option in words for option in SHAPE):
        return "terms", replace(recipe_with(learner, words), is_open=False)
    batch = Batch(first.columns[name], first.labels, first.weights)
    if len(batch) > ROWS:
        batch = batch.take(np.linspace(0, len(batch) - 1, ROWS).astype(np.int64))
    best, least = "", None
    for features in TRIED:
        recipe = replace(recipe_with(learner, {**FEATURES[features], **words}), is_open=False)
        try:
            design = DesignMatrix.of([batch], recipe, 1)
            losses = _losses(learner, design, design.labels)
        except InputError:  # of one class, say, which is told of where it matters
            losses = None
        if not best or is_clearly_less(losses, least):
            best, least, found = features, losses, recipe
    return best, found


def with_scales(recipe: TableRecipe, tally: TableTally, rows: Rows) -> TableRecipe:
    """The recipe with scales of its vectors and texts by which held-out rows are most likely."""
    learner = recipe.linear
    assert learner is not None
    scaled = [at for at, block in enumerate(recipe.blocks) if isinstance(block, (Vectors, Terms))]
    if not scaled or len(recipe.blocks) == 1 or learner.descent is not None:
        return recipe
    data, features = labelled_rows(recipe.blocks, tally, rows)
    data = _some(data)
    known: dict[tuple[int, ...], Floats | None] = {}

    def losses(exponents: Integers) -> Floats | None:
        key = tuple(exponents.tolist())
        if key not in known:
            scaled_rows = Plain(data.rows).rows(np.repeat(STEP**exponents, features.widths))
            known[key] = _losses(learner, Plain(scaled_rows), data)
        return known[key]

    has_vectors = any(isinstance(block, Vectors) for block in recipe.blocks)
    begun = [BESIDE_VECTORS * (has_vectors and isinstance(block, Terms)) for block in recipe.blocks]
    exponents = np.array(begun, dtype=np.int64)
    # One block after the other, against the rest; the first of all would only change what all are worth.
    for at in scaled[1:] if len(scaled) == len(recipe.blocks) else scaled:
        for step in (1, -1):
            moved = exponents.copy()
            moved[at] += step
            while abs(moved[at]) <= WIDEST and is_clearly_less(losses(moved), losses(exponents)):
                exponents = moved.copy()
                moved[at] += step
    blocks = _rescaled(recipe.blocks, exponents.tolist())
    told = {block.columns[0]: block.scale for block in blocks if isinstance(block, (Vectors, Terms))}
    choices = tuple(
        replace(each, conditional=f"{each.conditional} × {told[each.column]:g}")
        if each.column in told
        else each
        for each in recipe.choices
    )
    return replace(recipe, blocks=blocks, choices=choices)


def _some(data: LabelledRows) -> LabelledRows:
    """The rows that scales are chosen by: they are in the order of their hashes, the first as good as any."""
    if len(data.codes) <= ROWS:
        return data
    some = LabelledRows(data.rows[:ROWS], data.classes, data.codes[:ROWS], data.weights[:ROWS])
    return some if np.count_nonzero(some.class_weights()) > 1 else data


def _losses(learner: SoftmaxLearner, design: Design, data: LabelledRows) -> Floats | None:
    """The loss of each row that is held out, by its weight, (M,); None where none can be."""
    held = path_of(learner, design, data, enough=HELD).held
    return None if held is None else losses_of(held)


def losses_of(held: HeldOutScores) -> Floats:
    """The loss of each row that was held out, by its weight, (M,)."""
    own = -held.log_posterior[np.arange(len(held.codes)), held.codes]
    return np.where(held.weights > 0, held.weights * own, 0.0)


def is_clearly_less(losses: Floats | None, before: Floats | None) -> bool:
    """Whether losses of the same rows are less than before by more than chance."""
    if losses is None or before is None or len(losses) != len(before):
        return False
    gain = before - losses
    return bool(gain.sum() > CLEARLY * np.sqrt(gain @ gain))


def _rescaled(blocks: Sequence[Block], exponents: Sequence[int]) -> tuple[Block, ...]:
    return tuple(
        replace(block, scale=STEP**exponent) if isinstance(block, (Vectors, Terms)) else block
        for block, exponent in zip(blocks, exponents, strict=True)
    )
