"""The full matrix of weights, which every format of others wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textodds.errors import Unsupported
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import MOST_CELLS

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel


def weights_and_bias(model: TextModel) -> tuple[Floats, Floats]:
    """Weights (V, K) and bias (K,), prior and calibration included, of a model that others can hold."""
    linear = model.linear
    V, K = linear.weights.shape
    if not V:
        raise Unsupported("the model has no words to export", hint="train it on texts that hold words")
    if V * K > MOST_CELLS:
        raise Unsupported(
            f"{V:,} words and {K:,} classes need a matrix of {V * K * 8 / 1e9:.1f} GB, too large to export",
            hint="train with fewer words: max_features, or a larger min_df",
        )
    answers = model.calibrated_form
    return answers.weights.rows(np.arange(V)), answers.log_prior + answers.intercept
