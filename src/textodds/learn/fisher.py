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

from dataclasses import dataclass
from typing import Any

import numpy as np

from textodds.errors import InputError
from textodds.learn.arrays import Floats, Matrix
from textodds.learn.bayes import FittedClasses, shares_of


def fisher_directions(
    mean: Floats,
    weights: Floats,
    prior: Floats,
    *,
    n_components: int | None = None,
    tolerance: float = 1e-4,
    K: int | None = None,
) -> tuple[Floats, Floats]:
    r"""The directions of (1), (V, R), the largest entry of each positive, and their shares of all λ, (R,).

    Parameters
    ----------
    mean, weights : array (J, V), (V, J)
        The means, and :math:`\Sigma^{-1} \mu_k` about any point.
    prior : array (J,)
        The shares of the classes.
    n_components : int, optional
        How many to give at most, of the classes less one, and of the columns.
    tolerance : float, default 1e-4
        A direction whose root of :math:`\lambda` is below this share of the first one's is none.
    K : int, optional
        How many classes there are, if more than the J that have a mean.

    Examples
    --------
    >>> means = np.array([[1.0, 1.0], [-1.0, -1.0]])  # the covariance is the identity
    >>> directions, share = fisher_directions(means, means.T, np.array([0.5, 0.5]))
    >>> directions.round(3).ravel(), share
    (array([0.707, 0.707]), array([1.]))
    """
    most = min((K or len(mean)) - 1, mean.shape[1])
    R = most if n_components is None else n_components
    if not isinstance(R, (int, np.integer)) or not min(1, most) <= R <= most:
        raise InputError(
            f"n_components must be from 1 to {most}, got {n_components!r}",
            hint="n_components cannot be larger than min(n_features, n_classes - 1): there are as many "
            "directions as classes, less one, and no more than columns",
        )
    centre = prior @ mean
    away = np.sqrt(prior) * (weights - (weights @ prior)[:, None])  # (V, J)
    between = np.sqrt(prior)[:, None] * (mean - centre) @ away  # (J, J)
    values, turns = np.linalg.eigh((between + between.T) / 2)
    values, turns = np.maximum(values[::-1], 0.0), turns[:, ::-1]
    R = min(int(R), int((values > tolerance**2 * values[0]).sum()))  # (1) has no more that are not zero
    directions = away @ (turns[:, :R] / np.sqrt(values[:R]))
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(R)])
    return directions, values[:R] / (values.sum() or 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearFit(FittedClasses):
    """Scores ``x @ weights + intercept`` of the J classes that have rows, and Fisher's directions."""

    mean: Floats  # (J, V)
    weights: Floats  # (V, J)
    intercept: Floats  # (J,) with the prior
    centre: Floats  # (V,) mean of the means by prior
    directions: Floats  # (V, R)
    ratio: Floats  # (R,)

    @classmethod
    def of(
        cls, known: FittedClasses, mean: Floats, weights: Floats, intercept: Floats, **how: Any
    ) -> LinearFit:
        """Of ``Σ⁻¹ μ_k`` (V, J), whatever those are about, and intercepts without the prior."""
        log_prior = known.log_prior[known.places]
        prior = shares_of(log_prior)
        directions, ratio = fisher_directions(mean, weights, prior, K=len(known.log_prior), **how)
        return cls(
            **vars(known),
            mean=mean,
            weights=weights,
            intercept=intercept + log_prior,
            centre=prior @ mean,
            directions=directions,
            ratio=ratio,
        )

    def scores(self, rows: Matrix) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        out = np.asarray(rows @ self.weights)
        out += self.intercept
        if out.shape[1] == len(self.log_prior) and (np.diff(self.places) == 1).all():
            return out
        return self.by_class(out.T, -np.inf).T
