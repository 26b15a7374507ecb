"""From counts to a model: smoothing and calibration learned by leaving out a sample of the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textodds.errors import InputError
from textodds.model.leave_one_out import lesson, supports
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.learn.recipe import Recipe
    from textodds.stats.sample import Example
    from textodds.stats.tally import Tally


def must_be_choosable(recipe: Recipe) -> None:
    """Refuse a smoothing that is to be chosen where documents cannot be left out."""
    if recipe.learner.is_smoothing_open and not supports(recipe):
        raise InputError(
            "the smoothing of this model cannot be chosen by leaving out one text at a time",
            hint="give a number, such as alpha=1.0",
        )


def model_of_counts(
    tally: Tally,
    recipe: Recipe,
    sample: list[Example],
    info: Mapping[str, object],
    *,
    calibrate: bool = True,
    threads: int,
) -> TextModel:
    """The model that a recipe makes of counts, ``sample`` being some of the texts that were counted.

    The smoothing is chosen if the recipe leaves it open, and probabilities are made right if
    ``calibrate``, both by what is said of texts of the sample that are left out.
    """
    model = TextModel.of_tally(tally, _with_alpha(recipe, 1.0), dict(info), threads=threads)
    if not calibrate and not recipe.learner.is_smoothing_open:
        return model
    learned = lesson(model, sample, choose=recipe.learner.is_smoothing_open)
    if learned is None:
        return model
    if recipe.learner.is_smoothing_open:
        model = TextModel.of_tally(tally, _with_alpha(recipe, learned.alpha), dict(info), threads=threads)
    if calibrate:
        model.calibration, model.held_out = learned.calibration, learned.held_out
        model.info["left_out"] = learned.about
    return model


def _with_alpha(recipe: Recipe, alpha: float) -> Recipe:
    """The recipe with this smoothing, if it was left open."""
    if not recipe.learner.is_smoothing_open:
        return recipe
    return replace(recipe, learner=replace(recipe.learner, alpha=alpha))  # type: ignore[type-var]
