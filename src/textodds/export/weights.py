"""The full matrix of weights, which every format of others wants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textodds.errors import Unsupported
from textodds.linear import LinearModel

MOST_CELLS = 200_000_000
"""Entries of a full matrix of weights beyond which a model is not exported (1.6 GB)."""


def weights_and_bias(linear: LinearModel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (V, K) and bias (K,), prior included, of a model that other programs can hold."""
    V, K = linear.weights.shape
    if not V:
        raise Unsupported(
            "the model knows no word: there is nothing to export", hint="train it on texts that hold words"
        )
    if V * K > MOST_CELLS:
        raise Unsupported(
            f"{V:,} words and {K:,} classes need a matrix of {V * K * 8 / 1e9:.1f} GB, too large to export",
            hint="train with fewer words: `--max-features` (max_features), `--min-df` (min_df)",
        )
    return linear.weights.rows(np.arange(V)), linear.log_prior + linear.intercept
