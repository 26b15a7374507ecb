"""What softmax regression minimises: value, gradient, curvature, best bias, and the proof of an optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from textodds import _kernels
from textodds.learn.arrays import Floats, Integers, Matrix, SparseRows
from textodds.stats.compressed_rows import CompressedRows, TransposedRows

MANY_CLASSES = 8  # from so many classes on our kernel (`product`) scores sparse rows faster than SciPy does
CERTAIN = 40.0  # e^-40 < 1e-17: less than the rounding error of a probability near one
BALANCED = 1e-6  # errors of a class, as a share of its rows, at which Newton's method has arrived
ROUNDING = 1e-14
HESSIAN_CELLS = 1 << 20  # cells of the rows that are made dense at once
MAX_STEPS = 30
MAX_HALVINGS = 30
MAX_COOLINGS = 16

Curve = tuple[tuple[int, float], ...]


def raw(matrix: SparseRows) -> _kernels.RawRows:
    """A CSR matrix as the kernels take it."""
    return (
        np.asarray(matrix.indptr, dtype=np.int64),
        np.asarray(matrix.indices, dtype=np.int32),
        np.asarray(matrix.data, dtype=np.float64),
    )


def product(matrix: Matrix, dense: Floats) -> Floats:
    """``matrix @ dense`` of a sparse or dense matrix; by our kernel where that is faster."""
    if isinstance(matrix, (np.ndarray, CompressedRows, TransposedRows)) or dense.shape[1] == 1:
        return np.asarray(matrix @ dense)
    return _kernels.row_scores(raw(matrix), np.ascontiguousarray(dense), np.zeros(dense.shape[1]))


@dataclass(frozen=True, eq=False)
class Parameters:
    """Weights (V, M) and biases (M,); M is K, or 1 for two classes (see `Objective`)."""

    weights: Floats  # (V, M)
    bias: Floats  # (M,)

    def __add__(self, other: Parameters) -> Parameters:
        return Parameters(self.weights + other.weights, self.bias + other.bias)

    def __mul__(self, factor: float) -> Parameters:
        return Parameters(self.weights * factor, self.bias * factor)

    def dot(self, other: Parameters) -> float:
        """The inner product."""
        return float(np.vdot(self.weights, other.weights) + np.vdot(self.bias, other.bias))

    def norm(self) -> float:
        """The Euclidean length."""
        return float(np.sqrt(self.dot(self)))

    def flat(self) -> Floats:
        """Class by class, each with its V weights and then its bias: (M (V + 1),)."""
        return np.vstack([self.weights, self.bias]).T.reshape(-1)

    def of_flat(self, vector: Floats) -> Parameters:
        """The way back from `flat`, to parameters of this shape."""
        V, M = self.weights.shape
        both = vector.reshape(M, V + 1).T
        return Parameters(np.ascontiguousarray(both[:V]), both[V].copy())


@dataclass(frozen=True, eq=False)
class Objective:
    r"""What softmax regression minimises.

    Model
    -----
    With rows :math:`x_i` of weight :math:`s_i` and class :math:`y_i`, scores
    :math:`z_{ik} = w_k^\top x_i + b_k` and :math:`p_i = \operatorname{softmax}(z_i)`,

    .. math::
        F(W, b) = \sum_i s_i \left(\log\sum_k e^{z_{ik}} - z_{i y_i}\right)
                  + \frac{\lambda}{2} \lVert W - W_0 \rVert^2                        \tag{1}

        \frac{\partial F}{\partial w_k} = \sum_i s_i (p_{ik} - [y_i = k])\, x_i
                  + \lambda (w_k - w_{0k})                                           \tag{2}

    The bias is not penalised, unless ``penalise_bias`` adds :math:`\frac{\lambda}{2}\lVert b \rVert^2`: it is
    then the weight of a feature that is 1 in every row. Two classes have one column, the log-odds of class
    1 against class 0, whose softmax is the logistic function: (1) is then logistic regression, as everyone
    knows it.

    References
    ----------
    Seed lecture 03: Theorem 3.1 (the gradient), Corollary 3.1 (that of the bias), Theorem 3.2
    (convexity).
    """

    rows: Matrix  # (N, V)
    codes: Integers  # (N,) y: the class of each row, 0 to K - 1
    sample_weights: Floats  # (N,) s
    n_classes: int  # K, at least 2
    penalty: float  # λ, zero or more
    centre: Floats | None = None  # (V, M) W_0, zero by default: the mean of the Gaussian prior of the penalty
    penalise_bias: bool = False  # whether the bias has that prior too, with mean zero

    @property
    def shape(self) -> tuple[int, int]:
        """(V, M): the shape of the weights."""
        return self.rows.shape[1], 1 if self.n_classes == 2 else self.n_classes

    def zero(self) -> Parameters:
        """Where optimisation starts: the prior mean, or zero."""
        V, M = self.shape
        weights = np.zeros((V, M)) if self.centre is None else self.centre.copy()
        return Parameters(weights, np.zeros(M))

    @property
    def bias_penalty(self) -> float:
        """λ if it holds the bias too, else zero."""
        return self.penalty if self.penalise_bias else 0.0

    def with_penalty(self, penalty: float) -> Objective:
        """The same data under another penalty."""
        return replace(self, penalty=penalty)

    @cached_property
    def targets(self) -> Floats:
        """One where a row has the class, (N, M)."""
        if self.n_classes == 2:
            return self.codes[:, None].astype(np.float64)
        return np.asarray(self.codes[:, None] == np.arange(self.n_classes), dtype=np.float64)

    @cached_property
    def columns(self) -> Matrix:
        """The transposed rows, (V, N)."""
        return self.rows.T.tocsr() if hasattr(self.rows, "tocsr") else self.rows.T

    def squares(self) -> Matrix:
        """Every entry of `columns` squared; a sparse matrix shares its indices with them."""
        columns, rows = self.columns, self.rows
        if isinstance(columns, np.ndarray):
            return columns**2
        if isinstance(rows, CompressedRows):
            return CompressedRows((rows.data**2, rows.indices, rows.indptr), rows.shape).T
        return type(columns)((columns.data**2, columns.indices, columns.indptr), shape=columns.shape)

    def scores(self, at: Parameters) -> Floats:
        """``z``, (N, M)."""
        return product(self.rows, at.weights) + at.bias

    def softmax(self, scores: Floats, bias: Floats | None = None) -> tuple[Floats, Floats]:
        """``log Σ exp(z) - z_y`` of each row, (N,), and ``p``, (N, M); ``z`` is ``scores`` plus ``bias``."""
        added = np.zeros(scores.shape[1]) if bias is None else np.ascontiguousarray(bias)
        return _kernels.softmax(np.ascontiguousarray(scores), added, self.codes)

    def losses(self, scores: Floats) -> Floats:
        """``log Σ exp(z) - z_y`` of each row, (N,)."""
        return self.softmax(scores)[0]

    def probabilities(self, scores: Floats) -> Floats:
        """``p``, (N, M), of these or any other rows; for two classes, of class 1."""
        any_class = np.zeros(len(scores), dtype=np.int64)
        return _kernels.softmax(np.ascontiguousarray(scores), np.zeros(scores.shape[1]), any_class)[1]

    def away(self, at: Parameters) -> Floats:
        """``W - W_0``, (V, M)."""
        return at.weights if self.centre is None else at.weights - self.centre

    def value(self, at: Parameters, scores: Floats | None = None) -> float:
        """(1); ``scores`` if they are known."""
        scores = self.scores(at) if scores is None else scores
        away = self.away(at)
        square = float(np.vdot(away, away)) if self.penalty else 0.0
        held = self.penalty * square + self.bias_penalty * float(at.bias @ at.bias)
        return float(self.sample_weights @ self.losses(scores)) + 0.5 * held

    def value_and_gradient(self, at: Parameters) -> tuple[float, Parameters]:
        """(1) and (2)."""
        scores = self.scores(at)
        return self.value(at, scores), self.gradient(at, self.probabilities(scores))

    def gradient(self, at: Parameters, probabilities: Floats) -> Parameters:
        """(2) where the probabilities (N, M) are known: one pass over the columns."""
        error = (probabilities - self.targets) * self.sample_weights[:, None]  # (N, M)
        slope = product(self.columns, error)
        if self.penalty:
            slope += self.penalty * self.away(at)
        return Parameters(slope, error.sum(axis=0) + self.bias_penalty * at.bias)

    def curvature(self, probabilities: Floats, along: Parameters, damping: float = 0.0) -> Parameters:
        """The Hessian at a point with these ``probabilities``, plus ``damping`` I, times a direction."""
        turned = product(self.rows, along.weights) + along.bias  # (N, M)
        if self.n_classes == 2:
            turned *= probabilities * (1.0 - probabilities)
        else:
            turned = probabilities * (turned - (probabilities * turned).sum(axis=1, keepdims=True))
        turned *= self.sample_weights[:, None]
        bent = Parameters(product(self.columns, turned), turned.sum(axis=0))
        if self.penalty:
            bent.weights[...] += self.penalty * along.weights
            bent.bias[...] += self.bias_penalty * along.bias
        if damping:
            bent.weights[...] += damping * along.weights
            bent.bias[...] += damping * along.bias
        return bent

    def hessian_diagonal(self, probabilities: Floats, squares: Matrix) -> Parameters:
        """``Σ_i s_i p_ik (1 - p_ik) x_iv² + λ``, and the same of the bias; ``squares`` is (V, N)."""
        spread = probabilities * (1.0 - probabilities) * self.sample_weights[:, None]  # (N, M)
        return Parameters(product(squares, spread) + self.penalty, spread.sum(axis=0) + self.bias_penalty)

    def hessian(self, probabilities: Floats) -> Floats:
        """The Hessian as one matrix, for small problems, in the order of `Parameters.flat`."""
        V, M = self.shape
        whole = np.zeros((M, V + 1, M, V + 1))
        step = max(1, HESSIAN_CELLS // (V + 1))  # so many rows at a time are made dense
        for first in range(0, len(self.codes), step):
            part = slice(first, first + step)
            s, p, rows = self.sample_weights[part], probabilities[part], self.rows[part]
            rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
            rows = np.hstack([rows, np.ones((len(s), 1))])  # (n, V + 1)
            for k in range(M):
                for j in range(M):
                    share = s * p[:, k] * ((k == j) - p[:, j])  # (n,)
                    whole[k, :, j, :] += rows.T @ (rows * share[:, None])
        square = whole.reshape(M * (V + 1), M * (V + 1))
        square[np.diag_indices_from(square)] += np.tile(
            np.append(np.full(V, self.penalty), self.bias_penalty), M
        )
        return square


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

    A penalty of the bias adds :math:`\frac{\lambda}{2}\lVert b \rVert^2` to (1), and to (2)
    :math:`\lambda b` and :math:`\lambda I`.

    Without it a class without rows (or whose rows all weigh nothing) would have the bias minus infinity.
    It gets one at which its probability is at most e^-40 in every row: F is then within rounding of its
    infimum. If no row weighs anything every bias is as good, and ``bias`` is returned.
    """
    s = objective.sample_weights
    mass = np.asarray(np.bincount(objective.codes, s, objective.n_classes), dtype=np.float64)  # (K,)
    if objective.bias_penalty:
        return _cooled(objective, scores, bias, mass, MAX_COOLINGS)
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
    s, penalty = objective.sample_weights, objective.bias_penalty  # (N,)
    if penalty:
        rows_of = np.full(len(bias), mass.sum() + penalty)  # (M,); none is without a best bias
    else:
        bias = _with_unseen(scores, bias, mass)
        rows_of = mass if len(mass) > 2 else mass.min(keepdims=True)  # (M,)
    free = np.flatnonzero(rows_of)

    def at(bias: Floats) -> tuple[float, Floats]:
        """(1), and the probabilities, (N, M)."""
        losses, p = objective.softmax(scores, bias)
        loss = float(s @ losses)
        return (loss + 0.5 * penalty * float(bias @ bias) if penalty else loss), p  # a free bias may be vast

    def slope_at(bias: Floats, p: Floats) -> Floats:
        return np.asarray(s @ (p - objective.targets) + penalty * bias)  # (2)

    def is_balanced(slope: Floats) -> bool:
        return bool(np.all(np.abs(slope[free]) <= BALANCED * rows_of[free]))

    value, p = at(bias)
    for _ in range(MAX_STEPS):
        slope = slope_at(bias, p)
        bend = np.diag(s @ p + penalty) - p.T @ (p * s[:, None])  # (2)
        step = np.zeros_like(bias)
        step[free] = _solve(bend[np.ix_(free, free)], -slope[free])
        promised = -float(slope @ step)
        size = 1.0
        for _ in range(MAX_HALVINGS):
            reached, there = at(bias + size * step)
            if reached <= value * (1.0 + ROUNDING) - 1e-4 * size * promised:
                break
            size *= 0.5
        else:
            break
        bias, value, p = bias + size * step, reached, there
        if promised <= ROUNDING * value:
            if not is_balanced(slope):  # before the last step; a class of few rows hardly shows in the value
                slope = slope_at(bias, p)
            break
    return bias, is_balanced(slope)


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

    def report(self, C: float) -> dict[str, object]:
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
    because with the best bias the errors of each class sum to zero (to -λb, where the bias is penalised).

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
