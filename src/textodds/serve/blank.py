"""A model that has learned nothing yet: a recipe without a document, which labelling begins with."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from textodds.errors import Conflict
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe, recipe_of
from textodds.model.text_model import TextModel
from textodds.stats.corpus import Keeper
from textodds.stats.tally import Tally

if TYPE_CHECKING:
    from textodds.serve.rows import Model

SMOOTHING = 0.3  # of few texts better than 1; see docs/decisions/2026-11-18-from-nothing-to-a-model.md


class NothingLearned(Conflict):
    """A model is asked before it has learned anything."""

    code = "model.new"

    def __init__(self) -> None:
        super().__init__("the model has learned nothing yet", hint="label some texts first, on the page")


def blank_model(recipe: Recipe | None = None) -> TextModel:
    """A model without a class, which rests on no document.

    >>> model = blank_model()
    >>> model.class_names, model.basis.n_documents
    ((), 0.0)
    """
    recipe = recipe or recipe_of(MultinomialLearner(alpha=SMOOTHING))
    tally = Tally.count([], settings=recipe.settings, threads=1)
    none = np.zeros(0)
    form = LinearModel((), none, none, Weights.of_matrix(np.zeros((len(tally.vocabulary), 0))))
    model = TextModel(recipe, tally.vocabulary, form, tally, {"documents": 0.0}, threads=1)
    model.corpus = Keeper(recipe.settings, most=None).corpus()
    return model


def is_blank(model: Model) -> bool:
    """Whether a model has learned nothing."""
    return not model.class_names


def blank_digest(recipe: Recipe) -> str:
    """What stands for the hash of a file where there is none: that of the recipe."""
    plain = json.dumps({"new": recipe.as_dict()}, sort_keys=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()
