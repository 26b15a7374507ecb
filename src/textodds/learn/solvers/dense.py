"""Softmax regression of dense rows: a quasi-Newton method that begins with the curvature of the rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Outcome, Parameters, best_bias, certified_gap

MEMORY = 12  # steps that are remembered
MAX_STEPS = 150
MAX_HALVINGS = 30
LARGE = 1 << 21  # products of rows, features and classes from which on it is worth its while
FEW = 1 << 14  # up to so many Newton's method takes as little time, and is exact
LONG = 10  # rows for each feature from which on it is worth its while below `LARGE`
LOOKED_AT = 4  # rows, for each feature, that the curvature is estimated from
NEAR = 0.25  # the share of the tolerance at which the best bias is sought, and the gap proven
ROUNDING = 1e-14

Watch = Callable[[Outcome], object]


def is_large_and_dense(objective: Objective) -> bool:
    """Whether the method is for it: dense rows, many of them, and a penalty of the weights alone."""
    V, M = objective.shape
    is_dense = isinstance(objective.rows, np.ndarray)
    held = objective.penalty > 0 and not objective.penalise_bias
    N = len(objective.codes)
    return is_dense and held and (N * V * M >= LARGE or (N >= LONG * V and N * V * M > FEW))


def quasi_newton(
    objective: Objective,
    start: Parameters,
    *,
    tolerance: float = 1e-4,
    max_steps: int = MAX_STEPS,
    watch: Watch | None = None,
) -> Outcome:
    r"""The minimum of F, to a proven relative error of ``tolerance``.

    Method
    ------
    L-BFGS, whose first guess of the curvature is that of the rows themselves: with shares :math:`\pi_k` of
    the classes and rows :math:`x_i` that end in a one,

    .. math::
        H_k \approx \pi_k (1 - \pi_k) \Bigl(\sum_i s_i x_i x_i^\top + \frac{\lambda}{c} I\Bigr), \qquad
        c = \frac1K \sum_k \pi_k (1 - \pi_k)                                         \tag{1}

    estimated from some of the rows and inverted once. Scores are linear in the parameters, so a shorter step
    costs no pass over the rows: a step takes one product with them and one with their transpose. Where it has
    not arrived, Newton's method goes on.

    References
    ----------
    Nocedal and Wright (2006), *Numerical Optimization*, algorithm 7.4. Böhning (1992), *Multinomial
    logistic regression algorithm*, for (1), which he proves to be a bound at equal shares.
    """
    run = _Run(objective, start)
    curve: list[tuple[int, float]] = []
    for step in range(max_steps + 1):
        gap = certified_gap(objective, run.value, run.slope[:, :-1])
        assert gap is not None
        if gap <= NEAR * tolerance or (gap <= tolerance and run.is_balanced()):
            gap = run.with_best_bias()
        curve.append((step, run.value))
        norm = float(np.linalg.norm(run.slope))
        outcome = Outcome(run.parameters, run.value, gap, norm, step, False, "quasi-newton", tuple(curve))
        if gap <= tolerance and run.is_best_bias:
            outcome = replace(outcome, converged=True)
        if watch is not None:
            watch(outcome)
        if outcome.converged:
            return outcome
        if step == max_steps or not run.advance():
            break
    told = None
    if watch is not None:
        tell = watch
        told = lambda each: tell(replace(each, steps=step + each.steps))  # noqa: E731
    end = newton(objective, run.parameters, tolerance=tolerance, watch=told)
    curve += [(step + number, value) for number, value in end.curve]
    return replace(end, steps=step + end.steps, method="quasi-newton, newton", curve=tuple(curve))


class _Run:
    """Where the method stands: parameters (M, V + 1), the bias last, with their scores (M, N) and slope."""

    def __init__(self, objective: Objective, start: Parameters) -> None:
        self.objective = objective
        self.at = np.vstack([start.weights, start.bias]).T.copy()  # (M, V + 1)
        self.targets = np.ascontiguousarray(objective.targets.T)  # (M, N)
        self.plain = start.weights.T @ objective.rows.T  # (M, N): scores without the bias
        self.inverse, self.shares = _curvature(objective)
        self.steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
        self.bend = 1.0  # of the last step, in terms of (1)
        self.is_best_bias = False
        bias = best_bias(objective, self.plain.T, start.bias)
        self.at[:, -1] = bias
        self.value, self.p = self._value(self.at, self.plain)
        self.slope = self._slope()

    @property
    def parameters(self) -> Parameters:
        return Parameters(np.ascontiguousarray(self.at[:, :-1].T), self.at[:, -1].copy())

    def _value(self, at: Floats, plain: Floats) -> tuple[float, Floats]:
        """F, and the probabilities, (M, N)."""
        objective = self.objective
        scores = plain + at[:, -1:]
        if objective.n_classes == 2:
            z = scores[0]
            own = np.where(objective.codes == 1, z, -z)
            tail = np.exp(-np.abs(z))
            losses = np.log1p(tail) - np.minimum(own, 0.0)
            p = (np.where(z >= 0.0, 1.0, tail) / (1.0 + tail))[None, :]
        else:
            scores -= scores.max(axis=0)
            own = scores[objective.codes, np.arange(scores.shape[1])]
            p = np.exp(scores, out=scores)
            total = p.sum(axis=0)
            losses = np.log(total) - own
            p /= total
        away = at[:, :-1] if objective.centre is None else at[:, :-1] - objective.centre.T
        return float(objective.sample_weights @ losses) + 0.5 * objective.penalty * float(
            np.vdot(away, away)
        ), p

    def _slope(self) -> Floats:
        """The gradient, (M, V + 1)."""
        objective = self.objective
        error = (self.p - self.targets) * objective.sample_weights  # (M, N)
        away = self.at[:, :-1] if objective.centre is None else self.at[:, :-1] - objective.centre.T
        slope = error @ objective.rows
        slope += objective.penalty * away
        return np.hstack([slope, error.sum(axis=1, keepdims=True)])

    def is_balanced(self) -> bool:
        """Whether the bias is so near its best that the gap would hardly change."""
        return float(np.abs(self.slope[:, -1]).max()) <= 1e-4 * float(self.objective.sample_weights.sum())

    def with_best_bias(self) -> float:
        """The proven gap, at the best bias of the weights."""
        self.at[:, -1] = best_bias(self.objective, self.plain.T, self.at[:, -1])
        self.value, self.p = self._value(self.at, self.plain)
        self.slope = self._slope()
        self.is_best_bias = True
        gap = certified_gap(self.objective, self.value, self.slope[:, :-1])
        assert gap is not None
        return gap

    def _inverse_times(self, vector: Floats) -> Floats:
        """(1)⁻¹ times a vector."""
        return np.asarray((vector / self.shares[:, None]) @ self.inverse)

    def _direction(self) -> Floats:
        """Minus the estimated inverse Hessian times the slope (algorithm 7.4)."""
        left, factors = self.slope.copy(), []
        for moved, turned, product in reversed(self.steps):
            factor = float(np.vdot(moved, left)) / product
            left -= factor * turned
            factors.append(factor)
        found = self._inverse_times(left) / self.bend
        for (moved, turned, product), factor in zip(self.steps, reversed(factors), strict=True):
            found += (factor - float(np.vdot(turned, found)) / product) * moved
        return -found

    def advance(self) -> bool:
        """Take a step; False where none lowers F."""
        direction = self._direction()
        turned = direction[:, :-1] @ self.objective.rows.T  # (M, N)
        promised = -float(np.vdot(self.slope, direction))
        if not promised > 0.0:
            return False
        size = 1.0
        for _ in range(MAX_HALVINGS):
            at = self.at + size * direction
            plain = self.plain + size * turned
            value, p = self._value(at, plain)
            if value <= self.value * (1.0 + ROUNDING) - 1e-4 * size * promised:
                break
            # The parabola through both values and the slope, not too far from half.
            size *= min(max(promised * size / (2.0 * (value - self.value + promised * size)), 0.1), 0.5)
        else:
            return False
        before = self.slope
        self.at, self.plain, self.value, self.p = at, plain, value, p
        self.slope, self.is_best_bias = self._slope(), False
        moved, change = size * direction, self.slope - before
        product = float(np.vdot(moved, change))
        if product > 1e-300:
            self.steps.append((moved, change, product))
            self.bend = float(np.vdot(change, self._inverse_times(change))) / product
        return True


def _curvature(objective: Objective) -> tuple[Floats, Floats]:
    """The inverse of the bracket in (1), (V + 1, V + 1), and what stands before it, (M,)."""
    V, M = objective.shape
    s, N = objective.sample_weights, len(objective.codes)
    total = float(s.sum()) or 1.0
    shares = np.bincount(objective.codes, s, objective.n_classes) / total
    spread = np.maximum(shares * (1.0 - shares), 1e-3 / objective.n_classes)  # (K,)
    apart = max(1, N // max(LOOKED_AT * V, 2000))
    rows, weights = objective.rows[::apart], s[::apart]
    share = total / (float(weights.sum()) or 1.0)
    bracket = np.empty((V + 1, V + 1))
    bracket[:V, :V] = (rows * weights[:, None]).T @ rows * share
    bracket[:V, V] = bracket[V, :V] = (weights @ rows) * share
    bracket[V, V] = total
    bracket[np.arange(V), np.arange(V)] += (
        objective.penalty / float(spread.mean()) + 1e-9 * np.trace(bracket) / V
    )
    return np.asarray(np.linalg.inv(bracket), dtype=np.float64), spread[1:] if M == 1 else spread
