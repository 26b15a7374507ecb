"""What an optimiser hands back, and the proof of how good it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.solvers.bias import best_bias
from textodds.learn.solvers.objective import Objective, Parameters, product

Curve = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where an optimiser stopped."""

    parameters: Parameters
    value: float  # F there
    gap: float | None  # F - F* is proven to be at most this share of F; None without a penalty
    gradient_norm: float | None  # of F, the bias included; None where the gap was proven without it
    steps: int
    converged: bool
    method: str
    curve: Curve  # (step, F)

    def report(self, C: float) -> dict[str, Any]:
        """What is worth keeping of it, and of the strength C of the penalty, as plain data."""
        return {
            "C": "inf" if math.isinf(C) else C,  # JSON has no infinity
            "method": self.method,
            "steps": self.steps,
            "objective": self.value,
            "gap": self.gap,
            "gradient_norm": self.gradient_norm,
            "converged": self.converged,
        }


def certified_gap(objective: Objective, value: float, slope: Floats) -> float | None:
    r"""A bound on ``(F - F*) / F`` from the gradient of the weights; None without a penalty.

    Where the bias is the best for its weights, ``G(W) = min_b F(W, b)`` has the gradient ``∇_W F``
    and, like F in its weights, curvature of at least λ in every direction. A parabola of that
    curvature lies below G, and its lowest point bounds the minimum:

    .. math::
        F^* \ge F(W, b) - \frac{\lVert \nabla_W F(W, b) \rVert^2}{2 \lambda}        \tag{1}

    This is also the duality gap at the dual point that the probabilities are: that point is feasible
    because with the best bias the errors of each class sum to zero.

    References
    ----------
    Boyd and Vandenberghe (2004), *Convex Optimization*, eq. 9.9 is (1).
    """
    if not objective.penalty:
        return None
    bound = float(np.vdot(slope, slope)) / (2.0 * objective.penalty)  # (1)
    if not bound:
        return 0.0
    return bound / value if value > 0.0 else float("inf")


def proven_gap(objective: Objective, at: Parameters) -> float | None:
    """The bound on ``(F - F*) / F`` at any point: what a better bias would gain, and (1) from there.

    Costs a pass over the rows and one over the columns.
    """
    if not objective.penalty:
        return None
    scores = product(objective.rows, at.weights)  # (N, M)
    better = Parameters(at.weights, best_bias(objective, scores, at.bias))
    value, slope = objective.value_and_gradient(better)
    gap = certified_gap(objective, value, slope.weights)
    assert gap is not None
    here = objective.value(at, scores + at.bias)
    return max(0.0, here - value + gap * value) / here if here > 0.0 else gap
