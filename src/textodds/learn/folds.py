"""Rows held out, to choose by."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from textodds.learn.arrays import Floats, Integers, Mask

FOLDS = 5


def held_out(codes: Integers, enough: int) -> Iterator[Mask]:
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


def tells_classes_apart(codes: Integers, weights: Floats, held: Mask) -> bool:
    """Whether two classes are left when a fold (N,) is held out, and one of them has rows in it."""
    left = np.bincount(codes[~held], weights[~held], int(codes.max(initial=0)) + 1) > 0
    return bool(np.count_nonzero(left) >= 2 and weights[held][left[codes[held]]].sum() > 0)
