"""Rows of numbers, made by a seeded generator: nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

V, K = 50, 5

Rows: TypeAlias = NDArray[np.float64]


def rows_of(N: int) -> tuple[Rows, NDArray[np.int64]]:
    """So many rows with their classes."""
    parts = list(batches_of(N))
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([codes for _, codes in parts])


def batches_of(N: int, size: int = 10_000) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
    """The same, a batch at a time."""
    draw = np.random.default_rng(0)
    means = 0.2 * draw.normal(size=(K, V))
    common = draw.normal(size=(V, V)) / np.sqrt(V)
    turns = [np.eye(V) + 0.5 * common + 0.15 * draw.normal(size=(V, V)) / np.sqrt(V) for _ in range(K)]
    for start in range(0, N, size):
        codes = draw.integers(0, K, min(size, N - start))
        rows = draw.normal(size=(len(codes), V))
        for k in range(K):
            rows[codes == k] = rows[codes == k] @ turns[k] + means[k]
        yield rows, codes
