r"""Fisher's directions, along which Gaussian classes of one covariance are told apart the most.

With the covariance :math:`\Sigma` within classes, their means and shares :math:`\pi_k`, and the mean
:math:`m = \sum_k \pi_k \mu_k`, the directions are the solutions of

.. math::
    B s = \lambda \Sigma s, \qquad B = \sum_k \pi_k (\mu_k - m)(\mu_k - m)^\top, \qquad
    s^\top \Sigma s = 1                                                             \tag{1}

of which those of the largest :math:`\lambda` come first. They lie in the span of :math:`\Sigma^{-1} \mu_k`,
so that a problem of K × K is solved instead of V × V.

References
----------
Hastie, Tibshirani, Friedman (2009), *The Elements of Statistical Learning*, section 4.3.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fisher_directions(
    mean: Floats, weights: Floats, prior: Floats, most: int, tolerance: float
) -> tuple[Floats, Floats]:
    r"""The directions of (1), (V, R), the largest entry of each positive, and their shares of all λ, (R,).

    Parameters
    ----------
    mean, weights : array (K, V), (V, K)
        The means, and :math:`\Sigma^{-1} \mu_k` about any point.
    prior : array (K,)
        The shares of the classes.
    most : int
        How many to give at most.
    tolerance : float
        A direction whose root of :math:`\lambda` is below this share of the first one's is none.

    Examples
    --------
    >>> means = np.array([[1.0, 0.0], [-1.0, 0.0]])  # the covariance is the identity
    >>> fisher_directions(means, means.T, np.array([0.5, 0.5]), 1, 1e-4)
    (array([[1.],
           [0.]]), array([1.]))
    """
    centre = prior @ mean
    away = np.sqrt(prior) * (weights - (weights @ prior)[:, None])  # (V, K)
    between = np.sqrt(prior)[:, None] * (mean - centre) @ away  # (K, K)
    values, turns = np.linalg.eigh((between + between.T) / 2)
    values, turns = np.maximum(values[::-1], 0.0), turns[:, ::-1]
    R = min(most, int((values > tolerance**2 * values[0]).sum()))  # (1) has no more that are not zero
    directions = away @ (turns[:, :R] / np.sqrt(values[:R]))
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(R)])
    return directions, values[:R] / (values.sum() or 1.0)
