"""What words add in a quadratic model, where each is weighed by those beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textodds.learn.forms.quadratic import LowRank, QuadraticModel, restricted

Floats = NDArray[np.float64]


def shares(form: QuadraticModel, features: NDArray[np.integer], values: Floats) -> Floats:
    r"""What each word of a row adds to the score of each class, (n, K), before the temperature.

    A score is :math:`c_k + \sum_j x_j (A_k(\mu_k - x/2))_j`, with the inverse covariance :math:`A_k`:
    what word j adds is its value times a weight that depends on the words beside it. The shares add up
    exactly to the change from x = 0, but taking a word away changes those of the others. With
    :math:`A = I/\tau - B D B^\top`, :math:`D = \mathrm{diag}(1/\tau - 1/\lambda)`.
    """
    gaussians = form.gaussians
    assert isinstance(gaussians, LowRank)
    V, K = gaussians.n_features, len(gaussians.rest)
    row: Any = sparse.csr_array((values, (np.zeros(len(features), np.intp), features)), shape=(1, V))
    out = np.empty((len(features), K))
    place = np.full(V, -1, dtype=np.int64)
    for k in range(K):
        columns, basis, rest = gaussians.words[k], gaussians.basis[k], gaussians.rest[k]
        half = sparse.csr_array(gaussians.mean[[k]] - row / 2)  # μ - x/2
        place[columns] = np.arange(len(columns))
        along = (restricted(half, place, len(columns)) @ basis)[0]  # (R,)
        pull = (1 / rest - 1 / gaussians.variance[k]) * along
        at = place[features]
        place[columns] = -1
        inner = np.where(at >= 0, basis[at].astype(np.float64) @ pull, 0.0) if len(columns) else 0.0
        out[:, k] = values * (half[[0]][:, features].toarray()[0] / rest - inner)
    return out
