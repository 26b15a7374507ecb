"""What words add in a quadratic model, where each is weighed by those beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textodds.learn.forms.quadratic import LowRank, QuadraticModel, restricted
from textodds.model.explain.decompose import against, dot, ranked, share
from textodds.model.explain.explanation import OTHERS, Explanation
from textodds.model.explain.read_text import ReadText

Floats = NDArray[np.float64]


def explain_quadratic(
    form: QuadraticModel,
    features: NDArray[np.integer],
    values: Floats,
    counts: Floats,
    words: Sequence[str],
    unknown: int,
    rival: int | None,
    scores: Floats,
    reading: ReadText,
) -> Explanation:
    r"""The explanation of one row by a quadratic model.

    A score is :math:`c_k + \sum_j x_j (A_k(\mu_k - x/2))_j`, with the inverse covariance :math:`A_k`:
    what word j adds is its value times a weight that depends on the words beside it. The shares add up
    exactly, but taking a word away changes those of the others.
    """
    assert isinstance(form.gaussians, LowRank)
    label = reading.label
    factors, remainder = against(scores, label, rival)
    shares = low_rank_shares(form.gaussians, features, values) * (reading.slope / form.temperature)  # (n, K)
    nothing = reading.calibrated(form.scores(sparse.csr_array((1, form.n_features))))[0]
    return Explanation(
        form.classes[label],
        OTHERS if rival is None else form.classes[rival],
        dot(nothing, factors, label, rival),
        ranked(words, counts, shares @ factors),
        unknown,
        dot(form.log_prior, factors, label, rival),
        None,
        remainder,
        share(scores, label),
        reading,
    )


def low_rank_shares(gaussians: LowRank, features: NDArray[np.integer], values: Floats) -> Floats:
    r""":math:`x_j (A_k(\mu_k - x/2))_j` of the words of a row, (n, K); they add up to the change from x = 0.

    With :math:`A = I/\tau - B D B^\top`, :math:`D = \mathrm{diag}(1/\tau - 1/\lambda)`.
    """
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
