"""The Hessian of the objective as one matrix, for problems that are small enough."""

from __future__ import annotations

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.solvers.objective import Objective, Parameters


def dense_hessian(objective: Objective, probabilities: Floats) -> Floats:
    """The Hessian of F class by class, each class with its V weights and then its bias."""
    from scipy import sparse

    V, M = objective.shape
    s, p = objective.sample_weights, probabilities
    ones = np.ones((len(s), 1))
    if isinstance(objective.rows, np.ndarray):
        rows = np.hstack([objective.rows, ones])  # (N, V + 1)
    else:
        rows = sparse.hstack([sparse.csr_array(objective.rows), ones], format="csr")
    whole = np.empty((M, V + 1, M, V + 1))
    for k in range(M):
        for j in range(M):
            share = s * p[:, k] * ((k == j) - p[:, j])  # (N,)
            part = rows.T @ (rows * share[:, None])
            whole[k, :, j, :] = part if isinstance(part, np.ndarray) else part.toarray()
    square = whole.reshape(M * (V + 1), M * (V + 1))
    penalised = np.tile(np.arange(V + 1) < V, M)
    square[np.diag_indices_from(square)] += objective.penalty * penalised
    return square


def flat(parameters: Parameters) -> Floats:
    """As in `dense_hessian`, (M (V + 1),)."""
    return np.vstack([parameters.weights, parameters.bias]).T.reshape(-1)


def unflat(vector: Floats, like: Parameters) -> Parameters:
    """The way back from `flat`."""
    V, M = like.weights.shape
    both = vector.reshape(M, V + 1).T
    return Parameters(np.ascontiguousarray(both[:V]), both[V].copy())
