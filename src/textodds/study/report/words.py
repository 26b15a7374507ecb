"""The words that speak most for each class, all classes in one pass over the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textodds.learn.forms.linear import LinearModel

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel

CELLS = 1 << 22
"""Weights that are looked at together."""


def top_words(model: TextModel, labels: Sequence[str], n: int) -> dict[str, list[tuple[str, float]]]:
    """What `TextModel.top_words` says of each label, with the weights read once for all of them.

    Log-odds are against the mean of the other classes. Nothing where a model has no weights of words.
    """
    K, V = len(model.classes_), len(model.vocabulary)
    if K < 2 or not V or not isinstance(model.form, LinearModel):
        return {}
    wanted = [model.classes_.index(label) for label in labels]
    best: list[list[tuple[float, int]]] = [[] for _ in labels]
    step = max(1, CELLS // K)
    for start in range(0, V, step):
        rows = model.linear.weights.rows(np.arange(start, min(start + step, V)))
        total = rows.sum(axis=1)
        for at, k in enumerate(wanted):
            odds = rows[:, k] - (total - rows[:, k]) / (K - 1)
            near = np.argsort(-odds, kind="stable")[:n] if len(odds) <= n else _highest(odds, n)
            best[at] = sorted(best[at] + [(-float(odds[i]), start + int(i)) for i in near])[:n]
    return {
        label: [
            (word, -odds)
            for word, (odds, _) in zip(
                model.vocabulary.words(np.array([number for _, number in found])), found, strict=True
            )
        ]
        for label, found in zip(labels, best, strict=True)
    }


def _highest(odds: np.ndarray[tuple[int], np.dtype[np.float64]], n: int) -> list[int]:
    """The places of the n highest, and of all that are as high as the last of them, in order of place."""
    least = np.partition(odds, len(odds) - n)[len(odds) - n]
    return np.flatnonzero(odds >= least).tolist()
