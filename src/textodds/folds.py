"""Rows held out, to choose by."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FOLDS = 5


def held_out(codes: NDArray[np.int64], enough: int) -> Iterator[NDArray[np.bool_]]:
    """Which rows (N,) are held out, fold by fold: each fold as even by class as it can be.

    As many folds as it takes to hold out ``enough`` rows: one of much data, all of little; the same ones
    every time.
    """
    n = len(codes)
    order = np.lexsort((np.random.default_rng(0).random(n), codes))
    fold_of = np.empty(n, dtype=np.int64)
    fold_of[order] = np.arange(n) % FOLDS
    for fold in range(min(FOLDS, math.ceil(enough * FOLDS / n))):
        held = fold_of == fold
        if held.any():
            yield held
