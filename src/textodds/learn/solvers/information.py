"""How far the weights may be off: standard errors from the curvature of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from textodds.learn.arrays import Floats
from textodds.learn.solvers.newton import conjugate_gradients
from textodds.learn.solvers.objective import Objective, Parameters

LARGEST_DENSE = 2000  # parameters up to which the information is decomposed as one dense matrix, exactly

RESIDUAL = 1e-6
"""The share of a contrast that conjugate gradients may leave unsolved.

The variance is too small by at most its square times the condition of H, all curvatures made one.
"""

CG_STEPS = 2000


@dataclass(frozen=True, eq=False)
class Information:
    r"""The observed information at an optimum, and the standard errors it gives.

    Model
    -----
    With H the Hessian of F (`Objective`), penalty included, a contrast :math:`c^\top\theta` of the
    parameters, such as :math:`w_{kv} - w_{jv}`, has the standard error

    .. math::
        \mathrm{se}(c) = \sqrt{c^\top H^{+} c}                                      \tag{1}

    Without a penalty these are the Wald standard errors of maximum likelihood. *With* one they are
    something else: standard deviations of the posterior, near its mode, under the Gaussian prior that
    the penalty is (Laplace's approximation). They say how sure one is having believed the prior, not
    how the estimate would vary over samples, and shrink with the prior where the data say nothing.

    With three or more classes the same may be added to all of them without a change, so that H is
    singular: only contrasts between classes have a standard error. One that the data leave open (of a
    feature that never occurs, or that others determine) has the standard error infinity.

    Up to `LARGEST_DENSE` parameters H is decomposed; beyond, each contrast takes a run of conjugate
    gradients, of some hundred passes over the rows.

    References
    ----------
    Efron and Hinkley (1978) for observed information; Bishop (2006), *Pattern Recognition and Machine
    Learning*, section 4.5 for the Laplace approximation of logistic regression.

    Examples
    --------
    A 2 × 2 table: 3 and 1 without the feature, 2 and 4 with it. Its log odds ratio has the variance
    1/3 + 1/1 + 1/2 + 1/4.

    >>> rows, codes = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    >>> objective = Objective(rows, codes, np.array([3.0, 1.0, 2.0, 4.0]), 2, 0.0)
    >>> at = Parameters(np.array([[np.log(6.0)]]), np.array([np.log(1 / 3)]))
    >>> error = Information(objective, at).standard_errors([0], 1, 0)
    >>> bool(np.isclose(error[0] ** 2, 1 / 3 + 1 + 1 / 2 + 1 / 4))
    True
    """

    objective: Objective
    at: Parameters

    def standard_errors(self, features: ArrayLike, k: int, against: int) -> Floats:
        """(1) of ``w_k - w_against`` for each of the ``features``; the bias comes after the last of them."""
        return np.array([self._error(int(v), k, against) for v in np.asarray(features).reshape(-1)])

    @cached_property
    def _probabilities(self) -> Floats:
        return self.objective.probabilities(self.objective.scores(self.at))

    @cached_property
    def _unit(self) -> Parameters:
        """One over the root of the diagonal of H: measured so, every parameter has unit curvature."""
        diagonal = self.objective.hessian_diagonal(self._probabilities, self.objective.squares())
        return Parameters(
            *(1.0 / np.sqrt(np.where(d > 0.0, d, 1.0)) for d in (diagonal.weights, diagonal.bias))
        )

    @cached_property
    def _decomposition(self) -> tuple[Floats, Floats]:
        """Eigenvalues and eigenvectors of H, in units of `_unit`."""
        unit = self._unit.flat()
        values, vectors = np.linalg.eigh(self.objective.hessian(self._probabilities) * np.outer(unit, unit))
        return values, vectors

    def _error(self, v: int, k: int, against: int) -> float:
        """(1) for the feature v, or the bias, which comes after the last feature."""
        if k == against:
            return 0.0
        contrast = _contrast(self.objective, v, k, against)
        contrast = Parameters(contrast.weights * self._unit.weights, contrast.bias * self._unit.bias)
        exact = (self.objective.shape[0] + 1) * self.objective.shape[1] <= LARGEST_DENSE
        return float(np.sqrt(self._exact(contrast) if exact else self._by_steps(contrast)))

    def _exact(self, contrast: Parameters) -> float:
        values, vectors = self._decomposition
        parts = contrast.flat() @ vectors
        known = values > len(values) * np.finfo(np.float64).eps * values.max()
        if np.linalg.norm(parts[~known]) > 1e-6 * np.linalg.norm(parts):
            return np.inf
        return float(np.sum(parts[known] ** 2 / values[known]))

    def _by_steps(self, contrast: Parameters) -> float:
        unit = self._unit

        def multiply(along: Parameters) -> Parameters:
            bent = self.objective.curvature(
                self._probabilities, Parameters(along.weights * unit.weights, along.bias * unit.bias)
            )
            return Parameters(bent.weights * unit.weights, bent.bias * unit.bias)

        ones = Parameters(np.ones_like(unit.weights), np.ones_like(unit.bias))
        small = RESIDUAL * contrast.norm()
        solution, left = conjugate_gradients(multiply, contrast, ones, small, CG_STEPS)
        return contrast.dot(solution) if left.norm() <= small else np.inf


def odds_ratio_interval(
    estimate: ArrayLike, standard_error: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """The ends of the interval of the odds ratio ``exp(estimate)``, symmetric in its logarithm.

    A confidence interval (Wald) without a penalty, a credible one with it: see `Information`.

    Examples
    --------
    >>> low, high = odds_ratio_interval(np.log(6.0), 1.4434)
    >>> float(low.round(2)), float(high.round(1))
    (0.35, 101.6)
    """
    centre = np.asarray(estimate, dtype=np.float64)
    reach = NormalDist().inv_cdf(0.5 + level / 2.0) * np.asarray(standard_error, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.exp(centre - reach), np.exp(centre + reach)


def _contrast(objective: Objective, v: int, k: int, against: int) -> Parameters:
    """The direction that reads off the difference of two classes at v; the sign of two classes is free."""
    V, M = objective.shape
    both = np.zeros((V + 1, M))
    if M == 1:
        both[v] = 1.0
    else:
        both[v, k], both[v, against] = 1.0, -1.0
    return Parameters(both[:V], both[V])
