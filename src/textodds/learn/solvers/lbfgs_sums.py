"""L-BFGS where the rows are elsewhere: only sums over them come back, one pass at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.solvers.objective import Outcome, Parameters

MEMORY = 30  # steps that the curvature is learned from

DOUBT = 0.1
"""Share of its largest variance that a probability has on average near the optimum: few are in doubt."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over all rows at a point: of losses, of entropies of probabilities, and of errors."""

    loss: float
    entropy: float
    weights: Floats  # (V, M): Σ s_i x_i (p_i - y_i)ᵀ
    bias: Floats  # (M,): Σ s_i (p_i - y_i)


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over all rows that no point is needed for."""

    mass: Floats  # (K,): weight of the rows of each class
    columns: Floats  # (V, K): Σ s_i x_i y_iᵀ
    squares: Floats  # (V,): Σ s_i x_i²


SUFFICIENT = 1e-4  # share of the decrease that the slope promises with which a step is content


class _Proven(Exception):
    """The gap is small enough."""


@dataclass(eq=False)
class SumSolver:
    r"""Softmax regression by L-BFGS from sums over rows.

    Model
    -----
    F of `Objective`, whose sums are asked for a point at a time. Variables are scaled by the root of an
    estimate of their curvature, :math:`\lambda + c \sum_i s_i x_{iv}^2`, so that frequent words and rare
    ones move alike.

    Each pass also proves how far the optimum may still be. Every choice of probabilities :math:`q_i` whose
    errors sum to zero in each class bounds it from below,

    .. math::
        F^* \ge \sum_i s_i H(q_i) + \langle W_0, G \rangle - \frac{\lVert G \rVert^2}{2 \lambda},
        \qquad G = \sum_i s_i x_i (q_i - y_i)^\top                                         \tag{1}

    The model's own p are such a choice, if they are mixed with one distribution u for all rows,
    :math:`q_i = (1 - \varepsilon) p_i + \varepsilon u`, with

    .. math::
        u_k = \frac{Y_k - (1 - \varepsilon) P_k}{\varepsilon n}, \qquad
        \varepsilon = \max_k \left(1 - Y_k / P_k\right)                                    \tag{2}

    where :math:`Y_k` and :math:`P_k` are the weight of class k and the sum of its probabilities. Entropy is
    concave, :math:`H(q) \ge (1 - \varepsilon) H(p) + \varepsilon H(u)`, so that (1) needs no pass of its own.

    References
    ----------
    Liu and Nocedal (1989), *On the limited memory BFGS method for large scale optimization*; Agarwal,
    Chapelle, Dudík, Langford (2014), *A reliable effective terascale linear learning system*,
    JMLR 15, for gradients that a cluster adds up.
    """

    at: Callable[[Parameters], Sums]
    totals: Totals
    penalty: float
    centre: Floats | None = None  # (V, M)
    watch: Callable[[int, float], object] | None = None

    def __post_init__(self) -> None:
        self.steps, self.value, self.bound = 0, np.inf, -np.inf
        self.best: Parameters | None = None
        self.curve: list[tuple[int, float]] = []

    @property
    def gap(self) -> float:
        """The best value so far is proven to be above the optimum by no more than this share of it."""
        return max(self.value - self.bound, 0.0) / self.value if self.value > 0 else np.inf

    def solve(self, *, tolerance: float, max_steps: int, start: Parameters | None = None) -> Outcome:
        """The optimum to a proven relative gap, or the best point of so many passes."""
        V, K, n = len(self.totals.squares), len(self.totals.mass), float(self.totals.mass.sum())
        M = 1 if K == 2 else K
        doubt = DOUBT * (1 / K) * (1 - 1 / K)
        unit = np.sqrt(self.penalty + doubt * self.totals.squares)[:, None]  # (V, 1)
        bias_unit = np.sqrt(doubt * n)

        def scaled(at: Parameters) -> Floats:
            return np.concatenate([(at.weights * unit).reshape(-1), at.bias * bias_unit])

        def asked(x: Floats) -> tuple[float, Floats]:
            value, slope = self._take(Parameters(x[: V * M].reshape(V, M) / unit, x[V * M :] / bias_unit))
            if self.gap <= tolerance or self.steps >= max_steps:
                raise _Proven
            return value, np.concatenate([(slope.weights / unit).reshape(-1), slope.bias / bias_unit])

        if start is None:
            start = Parameters(np.zeros((V, M)) if self.centre is None else self.centre, np.zeros(M))
        with contextlib.suppress(_Proven):
            descend_by_memory(asked, scaled(start))
        assert self.best is not None
        done = self.gap <= tolerance
        return Outcome(self.best, self.value, self.gap, None, self.steps, done, "l-bfgs", tuple(self.curve))

    def _take(self, point: Parameters) -> tuple[float, Parameters]:
        """F and its gradient at a point, which may be the best so far, or prove more than any before."""
        sums = self.at(point)
        away = point.weights if self.centre is None else point.weights - self.centre
        value = sums.loss + 0.5 * self.penalty * float(np.vdot(away, away))
        self.steps += 1
        self.curve.append((self.steps, value))
        self.bound = max(self.bound, self._lower(sums))
        if value < self.value:
            self.value, self.best = value, point
        if self.watch is not None:
            self.watch(self.steps, self.gap)
        return value, Parameters(sums.weights + self.penalty * away, sums.bias)

    def _lower(self, sums: Sums) -> float:
        """(1) by (2)."""
        Y, n = self.totals.mass, float(self.totals.mass.sum())
        P = Y + (np.concatenate([-sums.bias, sums.bias]) if len(Y) == 2 else sums.bias)
        epsilon = float(np.max(1 - Y / np.maximum(P, 1e-300)))
        entropy, G = sums.entropy, sums.weights
        if epsilon > 0:
            u = np.maximum(Y - (1 - epsilon) * P, 0.0)
            u /= u.sum()
            columns = self.totals.columns
            everywhere = columns.sum(axis=1, keepdims=True) * u  # Σ s_i x_i uᵀ, (V, K)
            away = (everywhere - columns)[:, 1:] if len(Y) == 2 else everywhere - columns
            G = (1 - epsilon) * G + epsilon * away
            entropy = (1 - epsilon) * entropy - epsilon * n * float(u @ np.log(np.maximum(u, 1e-300)))
        pull = 0.0 if self.centre is None else float(np.vdot(self.centre, G))
        return entropy + pull - float(np.vdot(G, G)) / (2 * self.penalty)


def descend_by_memory(at: Callable[[Floats], tuple[float, Floats]], x: Floats) -> None:
    """L-BFGS from a point until no step lowers the value; ``at`` may end it sooner by raising.

    SciPy's solver, which also keeps to bounds, takes a third of a second for a step of 10^5 variables with
    this memory; here it is a few passes over the vectors that it has.
    """
    value, slope = at(x)
    steps: list[tuple[Floats, Floats, float]] = []  # of x, of the slope, and one over their product
    while True:
        direction = _towards(slope, steps)
        along = float(slope @ direction)
        if not along < 0.0:
            return
        size = 1.0 if steps else min(1.0, 1.0 / float(np.sqrt(slope @ slope)))
        while True:
            there, new = at(x + size * direction)
            if there <= value + SUFFICIENT * size * along:
                break
            # The parabola through what is known, kept within a tenth and a half.
            bend = 2.0 * (there - value - size * along)
            shorter = -along * size * size / bend if bend > 0.0 else 0.5 * size
            size = min(max(shorter, 0.1 * size), 0.5 * size)
            if size * abs(along) <= 1e-15 * abs(value):
                return
        change, turn = size * direction, new - slope
        product = float(change @ turn)
        if product > 0.0:
            steps = [*steps[1 - MEMORY :], (change, turn, 1.0 / product)]
        x, value, slope = x + change, there, new


def _towards(slope: Floats, steps: list[tuple[Floats, Floats, float]]) -> Floats:
    """The direction in which the curvature that steps have shown expects the lowest point."""
    direction = -slope
    shares = []
    for change, turn, inverse in reversed(steps):
        share = inverse * float(change @ direction)
        shares.append(share)
        direction = direction - share * turn
    if steps:
        _, turn, inverse = steps[-1]
        direction = direction / (inverse * float(turn @ turn))
    for (change, turn, inverse), share in zip(steps, reversed(shares), strict=True):
        direction = direction + (share - inverse * float(turn @ direction)) * change
    return direction
