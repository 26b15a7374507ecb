"""Which rows are held out, and in which order the others are learned from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def held_out(codes: Numbers, share: float, seed: int) -> tuple[Numbers, Numbers]:
    """Rows to learn from and rows that are held out, in their order; a ``share`` of every class.

    A class of n rows gives ``share`` n of them, rounded, but keeps one: what is never shown cannot be
    learned.

    >>> learned, held = held_out(np.array([0] * 10 + [1] * 5), 0.2, seed=0)
    >>> len(learned), np.bincount(np.array([0] * 10 + [1] * 5)[held]).tolist()
    (12, [2, 1])
    """
    random = np.random.default_rng(seed)
    held = np.zeros(len(codes), dtype=np.bool_)
    for k in range(int(codes.max(initial=-1)) + 1):
        own = random.permutation(np.flatnonzero(codes == k))
        held[own[: min(int(share * len(own) + 0.5), len(own) - 1)]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def nested(codes: Numbers, seed: Sequence[int]) -> Numbers:
    """An order of the rows every beginning of which has all classes, about as often as all rows do.

    One row of each class comes first, in any order; then row i of the n of a class, shuffled, stands at
    about i / n of the whole.

    >>> order = nested(np.array([0] * 90 + [1] * 10), [0])
    >>> [int((order[:n] >= 90).sum()) for n in (2, 20, 50, 100)]
    [1, 2, 5, 10]
    """
    random = np.random.default_rng(list(seed))
    place = np.empty(len(codes))
    for k in range(int(codes.max(initial=-1)) + 1):
        own = random.permutation(np.flatnonzero(codes == k))
        place[own] = (np.arange(len(own)) + random.random()) / max(len(own), 1)
        place[own[:1]] = -random.random()
    return np.argsort(place, kind="stable").astype(np.int64)


SMALLEST = 20
"""Rows that a learning curve begins with, or two of each class where these are more."""


def usual_sizes(n: int, n_classes: int) -> tuple[int, ...]:
    """Round sizes for a learning curve that are about evenly spaced on a logarithmic axis, n the last.

    >>> usual_sizes(4459, 2)
    (20, 50, 100, 200, 500, 1000, 2000, 4459)
    """
    least = max(SMALLEST, 2 * n_classes)
    steps = [step * 10**power for power in range(12) for step in (1, 2, 5)]
    return (*(size for size in steps if least <= size <= n / 1.25), n)
