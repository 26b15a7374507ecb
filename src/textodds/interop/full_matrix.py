"""The full matrix of weights, which every format of others wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textodds.errors import Unsupported
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import MOST_CELLS, LinearModel
from textodds.model.multilabel.multilabel_model import MultiLabelModel

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel


def linear_form(model: TextModel | MultiLabelModel) -> LinearModel:
    """The linear form of a model, before calibration."""
    return model.form if isinstance(model, MultiLabelModel) else model.linear


def weights_and_bias(model: TextModel | MultiLabelModel) -> tuple[Floats, Floats]:
    """Weights (V, K) and bias (K,), prior and calibration included, of a model that others can hold."""
    linear = linear_form(model)
    V, K = linear.weights.shape
    if not V:
        raise Unsupported("the model has no words to export", hint="train it on texts that hold words")
    if V * K > MOST_CELLS:
        raise Unsupported(
            f"{V:,} words and {K:,} classes need a matrix of {V * K * 8 / 1e9:.1f} GB, too large to export",
            hint="train with fewer words: max_features, or a larger min_df",
        )
    if isinstance(model, MultiLabelModel):
        odds = model.odds
        assert odds is not None
        weights = linear.weights.rows(np.arange(V)) * odds.slopes
        return weights, odds.logits(linear.log_prior + linear.intercept)
    answers = model.calibrated_form
    return answers.weights.rows(np.arange(V)), answers.log_prior + answers.intercept
