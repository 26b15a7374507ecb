r"""Bayes' rule: a prior times a class-conditional, normalised over the classes.

.. math::
    p(x, k) = \pi_k\, p(x \mid k)                                                   \tag{1}

.. math::
    p(k \mid x) = \frac{p(x, k)}{p(x)}, \qquad p(x) = \sum_k p(x, k)                \tag{2}

Every generative model, whatever its class-conditional, is scored by (1) and answers by (2), in logarithms.
Where only the logarithm of the posterior is wanted, `textodds.learn.forms.linear.log_softmax` gives it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_joint(log_likelihood: Floats, log_prior: Floats) -> Floats:
    """``log p(x, k)``, (N, K), from ``log p(x | k)`` (N, K) and ``log π`` (K,), or one by row (N, K)."""
    return np.asarray(log_likelihood + log_prior)  # (1)


def normalise(joint: Floats) -> tuple[Floats, Floats]:
    """``p(k | x)``, (N, K), and ``log p(x)``, (N,), from ``log p(x, k)`` (N, K).

    Examples
    --------
    >>> share, evidence = normalise(log_joint(np.log([[0.2, 0.1]]), np.log([0.75, 0.25])))
    >>> share.round(3), np.exp(evidence).round(3)
    (array([[0.857, 0.143]]), array([0.175]))
    """
    most = joint.max(axis=1, keepdims=True)
    share = np.exp(joint - most)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, (most + np.log(total))[:, 0]  # (2)
