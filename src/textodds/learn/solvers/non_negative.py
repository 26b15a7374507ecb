"""Least squares whose solution has no part below zero."""

from __future__ import annotations

import numpy as np

from textodds.learn.arrays import Floats

STEPS = 3  # at most, in passes over all unknowns


def non_negative(A: Floats, b: Floats) -> Floats:
    r"""The :math:`x \ge 0`, (K,), at which :math:`\lVert A x - b \rVert` is least, for A (N, K) of full rank.

    An active set: unknowns are let go from zero one by one, the one with the steepest gradient first, and
    the others solved for; those that would fall below zero go back to it.

    References
    ----------
    Lawson and Hanson (1974), *Solving Least Squares Problems*, algorithm NNLS (23.10).

    Examples
    --------
    >>> non_negative(np.eye(2), np.array([3.0, -1.0]))
    array([3., 0.])
    """
    K = A.shape[1]
    x, free = np.zeros(K), np.zeros(K, dtype=bool)
    enough = 1e-12 * max(float(np.abs(A.T @ b).max(initial=0.0)), 1e-300)
    for _ in range(STEPS * K):
        slope = A.T @ (b - A @ x)
        slope[free] = -np.inf
        if free.all() or slope.max() <= enough:
            break
        free[int(slope.argmax())] = True
        while True:
            aim = np.zeros(K)
            aim[free] = np.linalg.lstsq(A[:, free], b, rcond=None)[0]
            below = free & (aim <= 0.0)
            if not below.any():
                x = aim
                break
            x += (aim - x) * float(np.min(x[below] / (x[below] - aim[below])))
            free &= x > 0.0
            free[below & (x <= 1e-15 * np.abs(x).max())] = False  # the one that stopped it, rounded
            x[~free] = 0.0
    return x
