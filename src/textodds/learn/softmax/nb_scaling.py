"""What naive Bayes lends to softmax regression: scales for its features, a mean for its prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from textodds.learn.arrays import Floats, Integers


def presence(rows: Any, codes: Integers, weights: Floats, n_classes: int) -> Floats:
    """Weight of the rows of each class in which each feature is not zero, (V, K)."""
    from scipy import sparse

    V = rows.shape[1]
    matrix = sparse.csr_array(rows)
    lengths = np.diff(matrix.indptr)
    cell = matrix.indices.astype(np.int64) * n_classes + np.repeat(codes, lengths)
    present = np.repeat(weights, lengths)
    present[matrix.data == 0.0] = 0.0
    counts = np.bincount(cell, present, V * n_classes).astype(np.float64, copy=False)
    return counts.reshape(V, n_classes)


def scales_or_centre(
    form: str, counts: Floats, smoothing: float, mass: Floats
) -> tuple[Floats | None, Floats | None]:
    """The `scales` of the features, or the `centre` of the prior, as ``form`` wants; None for the other."""
    ratios = log_ratios(counts, smoothing)
    return (scales(ratios, mass), None) if form == "scaled" else (None, centre(ratios))


def log_ratios(counts: Floats, smoothing: float) -> Floats:
    r"""How much the presence of each feature speaks for each class, (V, K).

    .. math::
        r_{vk} = \log\frac{\theta_{vk}}{\theta_{v\bar k}}, \qquad
        \theta_{vk} = \frac{\alpha + n_{vk}}{\sum_u (\alpha + n_{uk})}               \tag{1}

    where :math:`n_{vk}` is the `presence` of feature v in class k (:math:`\bar k`: in all others). Wang
    and Manning (2012), *Baselines and bigrams*, eq. 2, for two classes.

    Examples
    --------
    >>> log_ratios(np.array([[3.0, 0.0], [1.0, 1.0]]), 1.0).round(3)  # log (4/6) / (1/3), log (2/6) / (2/3)
    array([[ 0.693, -0.693],
           [-0.693,  0.693]])
    """
    ours = counts + smoothing  # (V, K)
    theirs = counts.sum(axis=1, keepdims=True) - counts + smoothing
    return np.asarray(np.log(ours / ours.sum(axis=0)) - np.log(theirs / theirs.sum(axis=0)))  # (1)


def scales(ratios: Floats, mass: Floats) -> Floats:
    r"""One scale per feature, (V,): the root mean square of its ratios over the classes.

    .. math::
        \rho_v = \sqrt{\sum_k \pi_k r_{vk}^2}                                         \tag{2}

    with :math:`\pi_k` the share of class k in the ``mass`` of all (K,). For two classes, whose ratios are
    opposite, it is their size. A factor that differed by class would make rows of its own for each.
    """
    return np.asarray(np.sqrt(ratios**2 @ (mass / mass.sum())))  # (2)


def centre(ratios: Floats) -> Floats:
    """The weights of naive Bayes as softmax has them, (V, M): of class 1 for two, centred for more."""
    if ratios.shape[1] == 2:
        return np.ascontiguousarray(ratios[:, 1:])
    return np.asarray(ratios - ratios.mean(axis=1, keepdims=True))
