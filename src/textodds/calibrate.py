"""Probabilities that mean what they say: a temperature and a bias for scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.linear import log_softmax

Floats = NDArray[np.float64]



@dataclass(frozen=True, eq=False)
class Calibration:
    r"""Scores :math:`s / T + b`, whose softmax is a probability to be trusted.

    Fitted where the log-loss of rows of known classes, none of which the scores were learned from,

    .. math:: -\sum_i u_i \log \operatorname{softmax}(s_i / T + b)_{y_i} + \tfrac12 \lVert b \rVert^2

    is least. It is convex in 1 / T and b. The penalty keeps b near zero in classes of few rows.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger (2017), "On calibration of modern neural networks", section 4.2.
    """

    temperature: float = 1.0
    bias: Floats | float = 0.0  # (K,)

    @classmethod
    def of(cls, scores: Floats, codes: NDArray[np.int64], weights: Floats) -> Calibration:
        """The calibration of held-out scores (N, K).

        Examples
        --------
        >>> scores = np.array([[9.0, 0.0], [0.0, 9.0]] * 40)
        >>> codes = np.array([0, 1] * 30 + [1, 0] * 10)  # right in three of four
        >>> found = Calibration.of(scores, codes, np.ones(80))
        >>> np.exp(log_softmax(found.applied(scores[:1]))).round(2)
        array([[0.75, 0.25]])
        """
        from scipy.optimize import minimize

        N, K = scores.shape
        centred = scores - scores.mean(axis=1, keepdims=True)
        unit = max(float(np.abs(centred).mean()), 1e-300)
        centred = centred / unit
        total = float(weights.sum())
        truth = np.zeros((N, K))
        truth[np.arange(N), codes] = 1.0

        def loss(parameters: Floats) -> tuple[float, Floats]:
            slope, bias = np.exp(parameters[0]), parameters[1:]
            log_p = log_softmax(slope * centred + bias)
            residual = (np.exp(log_p) - truth) * weights[:, None]
            value = -float(weights @ log_p[np.arange(N), codes]) + 0.5 * float(bias @ bias)
            gradient = np.concatenate([[slope * (residual * centred).sum()], residual.sum(axis=0) + bias])
            return value / total, gradient / total

        bounds: Any = [(-10.0, 10.0), *([(None, None)] * K)]
        found = minimize(
            loss, np.zeros(K + 1), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}
        ).x
        return cls(float(unit / np.exp(found[0])), found[1:] - found[1:].mean())

    def applied(self, scores: Floats) -> Floats:
        """The calibrated scores."""
        return np.asarray(scores / self.temperature + self.bias)


def log_loss(scores: Floats, codes: NDArray[np.int64], weights: Floats) -> float:
    """Mean of ``-log p(class | row)`` over weighted rows."""
    losses = -log_softmax(scores)[np.arange(len(codes)), codes]
    return float(weights @ losses / weights.sum())
