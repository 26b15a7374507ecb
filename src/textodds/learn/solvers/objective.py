"""The penalised negative log-likelihood of softmax regression: value, gradient, curvature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from textodds import _kernels
from textodds.learn.arrays import Floats, Integers

MANY_CLASSES = 8
"""From so many classes on our kernel (`product`) scores sparse rows faster than SciPy does."""


def raw(matrix: Any) -> _kernels.RawRows:
    """A CSR matrix as the kernels take it."""
    return (
        np.asarray(matrix.indptr, dtype=np.int64),
        np.asarray(matrix.indices, dtype=np.int32),
        np.asarray(matrix.data, dtype=np.float64),
    )


def product(matrix: Any, dense: Floats) -> Floats:
    """``matrix @ dense`` of a sparse or dense matrix; by our kernel where that is faster."""
    if isinstance(matrix, np.ndarray) or dense.shape[1] == 1:
        return np.asarray(matrix @ dense)
    return _kernels.row_scores(raw(matrix), np.ascontiguousarray(dense), np.zeros(dense.shape[1]))


@dataclass(frozen=True, eq=False)
class Parameters:
    """Weights (V, M) and biases (M,); M is K, or 1 for two classes (see `Objective`)."""

    weights: Floats  # (V, M)
    bias: Floats  # (M,)

    def __add__(self, other: Parameters) -> Parameters:
        return Parameters(self.weights + other.weights, self.bias + other.bias)

    def __sub__(self, other: Parameters) -> Parameters:
        return Parameters(self.weights - other.weights, self.bias - other.bias)

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

    The bias is not penalised. Two classes have one column, the log-odds of class 1 against class 0,
    whose softmax is the logistic function: (1) is then logistic regression, as everyone knows it.

    References
    ----------
    Seed lecture 03: Theorem 3.1 (the gradient), Corollary 3.1 (that of the bias), Theorem 3.2
    (convexity).
    """

    rows: Any  # (N, V) SciPy CSR, or dense
    codes: Integers  # (N,) y: the class of each row, 0 to K - 1
    sample_weights: Floats  # (N,) s
    n_classes: int  # K, at least 2
    penalty: float  # λ, zero or more
    centre: Floats | None = None  # (V, M) W_0, zero by default: the mean of the Gaussian prior of the penalty

    @property
    def shape(self) -> tuple[int, int]:
        """(V, M): the shape of the weights."""
        return self.rows.shape[1], 1 if self.n_classes == 2 else self.n_classes

    def zero(self) -> Parameters:
        """Where optimisation starts: the prior mean, or zero."""
        V, M = self.shape
        weights = np.zeros((V, M)) if self.centre is None else self.centre.copy()
        return Parameters(weights, np.zeros(M))

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
    def columns(self) -> Any:
        """The transposed rows, (V, N)."""
        return self.rows.T if isinstance(self.rows, np.ndarray) else self.rows.T.tocsr()

    def scores(self, at: Parameters) -> Floats:
        """``z``, (N, M)."""
        return product(self.rows, at.weights) + at.bias

    def losses(self, scores: Floats) -> Floats:
        """``log Σ exp(z) - z_y`` of each row, (N,)."""
        if self.n_classes == 2:
            z = np.where(self.codes == 1, scores[:, 0], -scores[:, 0])
            return np.logaddexp(0.0, -z)
        top = scores.max(axis=1)
        own = scores[np.arange(len(scores)), self.codes]
        return np.asarray(np.log(np.exp(scores - top[:, None]).sum(axis=1)) + (top - own))

    def probabilities(self, scores: Floats) -> Floats:
        """``p``, (N, M); for two classes, of class 1."""
        if self.n_classes == 2:
            return np.asarray(0.5 * (1.0 + np.tanh(0.5 * scores)))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(shares)

    def away(self, at: Parameters) -> Floats:
        """``W - W_0``, (V, M)."""
        return at.weights if self.centre is None else at.weights - self.centre

    def value(self, at: Parameters, scores: Floats | None = None) -> float:
        """(1); ``scores`` if they are known."""
        scores = self.scores(at) if scores is None else scores
        away = self.away(at)
        return float(self.sample_weights @ self.losses(scores)) + 0.5 * self.penalty * float(
            np.vdot(away, away)
        )

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
        return Parameters(slope, error.sum(axis=0))

    def curvature(self, probabilities: Floats, along: Parameters) -> Parameters:
        """The Hessian at a point with these ``probabilities``, times a direction."""
        turned = product(self.rows, along.weights) + along.bias  # (N, M)
        if self.n_classes == 2:
            turned *= probabilities * (1.0 - probabilities)
        else:
            turned = probabilities * (turned - (probabilities * turned).sum(axis=1, keepdims=True))
        turned *= self.sample_weights[:, None]
        bent = product(self.columns, turned)
        if self.penalty:
            bent += self.penalty * along.weights
        return Parameters(bent, turned.sum(axis=0))

    def hessian(self, probabilities: Floats) -> Floats:
        """The Hessian as one matrix, for small problems, in the order of `Parameters.flat`."""
        from scipy import sparse

        V, M = self.shape
        s, p = self.sample_weights, probabilities
        ones = np.ones((len(s), 1))
        if isinstance(self.rows, np.ndarray):
            rows = np.hstack([self.rows, ones])  # (N, V + 1)
        else:
            rows = sparse.hstack([sparse.csr_array(self.rows), ones], format="csr")
        whole = np.empty((M, V + 1, M, V + 1))
        for k in range(M):
            for j in range(M):
                share = s * p[:, k] * ((k == j) - p[:, j])  # (N,)
                part = rows.T @ (rows * share[:, None])
                whole[k, :, j, :] = part if isinstance(part, np.ndarray) else part.toarray()
        square = whole.reshape(M * (V + 1), M * (V + 1))
        penalised = np.tile(np.arange(V + 1) < V, M)
        square[np.diag_indices_from(square)] += self.penalty * penalised
        return square
