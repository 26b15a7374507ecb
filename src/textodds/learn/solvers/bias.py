"""The best bias for given weights: a problem of M unknowns, without a pass over the rows."""

from __future__ import annotations

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.solvers.objective import Objective

CERTAIN = 40.0  # e^-40 < 1e-17: less than the rounding error of a probability near one
BALANCED = 1e-6  # errors of a class, as a share of its rows, at which Newton's method has arrived
ROUNDING = 1e-14
MAX_STEPS = 30
MAX_HALVINGS = 30
MAX_COOLINGS = 16


def best_bias(objective: Objective, scores: Floats, bias: Floats) -> Floats:
    r"""The bias (M,) that minimises F where ``scores = X W``, (N, M), are without it.

    Newton's method with a line search, from ``bias``, on

    .. math::
        L(b) = \sum_i s_i \left(\log\sum_k e^{z_{ik} + b_k} - z_{i y_i} - b_{y_i}\right)   \tag{1}

        \nabla L = \sum_i s_i (p_i - y_i), \qquad
        \nabla^2 L = \sum_i s_i \left(\operatorname{diag}(p_i) - p_i p_i^\top\right)       \tag{2}

    From a bias far away, or with scores in the hundreds, rows are certain of their class, (2) has
    hardly a curvature and Newton's method gets lost. It then begins at half the scores, where rows are
    in doubt: twice the best bias there is near the best bias here.

    A class without rows (or whose rows all weigh nothing) would have the bias minus infinity. It gets
    one at which its probability is at most e^-40 in every row: F is then within rounding of its
    infimum. If no row weighs anything every bias is as good, and ``bias`` is returned.
    """
    s = objective.sample_weights
    mass = np.asarray(np.bincount(objective.codes, s, objective.n_classes), dtype=np.float64)  # (K,)
    if not mass.any():
        return bias
    if np.count_nonzero(mass) > 1:
        bias = _cooled(objective, scores, bias, mass, MAX_COOLINGS)
    return _with_unseen(scores, bias, mass)


def _cooled(objective: Objective, scores: Floats, bias: Floats, mass: Floats, coolings: int) -> Floats:
    """The best bias, by way of half the scores if it is not found at once."""
    found, arrived = _newton(objective, scores, bias, mass)
    if arrived or not coolings:
        return found
    warm = 2.0 * _cooled(objective, scores / 2.0, bias / 2.0, mass, coolings - 1)
    return _newton(objective, scores, warm, mass)[0]


def _newton(objective: Objective, scores: Floats, bias: Floats, mass: Floats) -> tuple[Floats, bool]:
    """Where Newton's method ends, and whether that is the minimum."""
    s = objective.sample_weights  # (N,)
    bias = _with_unseen(scores, bias, mass)
    rows_of = mass if len(mass) > 2 else mass.min(keepdims=True)  # (M,)
    free = np.flatnonzero(rows_of)
    value = float(s @ objective.losses(scores + bias))
    for _ in range(MAX_STEPS):
        p = objective.probabilities(scores + bias)  # (N, M)
        slope = s @ (p - objective.targets)  # (2)
        bend = np.diag(s @ p) - p.T @ (p * s[:, None])  # (2)
        step = np.zeros_like(bias)
        step[free] = _solve(bend[np.ix_(free, free)], -slope[free])
        promised = -float(slope @ step)
        size = 1.0
        for _ in range(MAX_HALVINGS):
            reached = float(s @ objective.losses(scores + (bias + size * step)))
            if reached <= value * (1.0 + ROUNDING) - 1e-4 * size * promised:
                break
            size *= 0.5
        else:
            break
        bias, value = bias + size * step, reached
        if promised <= ROUNDING * value:
            break
    return bias, bool(np.all(np.abs(slope[free]) <= BALANCED * rows_of[free]))


def _solve(bend: Floats, target: Floats) -> Floats:
    """``bend⁻¹ target``, where ``bend`` may be singular.

    It is along ones with three or more classes, since all biases may rise together. The target has no
    part in that direction: curvature is added there, and the step has no part in it either.
    """
    largest = np.trace(bend) / len(bend)
    solvable = bend + np.diag(1e-12 * np.diag(bend) + 1e-14 * largest + 1e-300)
    if len(bend) > 1:
        solvable += largest
    return np.asarray(np.linalg.solve(solvable, target))


def _with_unseen(scores: Floats, bias: Floats, mass: Floats) -> Floats:
    """The bias with the classes that have no rows made all but impossible in every row."""
    seen = mass > 0.0  # (K,)
    if seen.all():
        return bias
    if len(mass) == 2:
        return np.asarray(CERTAIN - scores.min(axis=0) if seen[1] else -CERTAIN - scores.max(axis=0))
    best = (scores[:, seen] + bias[seen]).max(axis=1, keepdims=True)  # (N, 1)
    bias = bias.copy()
    bias[~seen] = (best - scores[:, ~seen]).min(axis=0) - CERTAIN
    return bias
