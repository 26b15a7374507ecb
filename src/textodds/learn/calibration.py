"""Probabilities that mean what they say: a temperature and a bias for scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textodds.errors import InputError
from textodds.learn.arrays import Floats, Integers
from textodds.learn.forms.linear import log_softmax

MOST_BIASES = 300  # classes up to which each has a bias of its own


@dataclass(frozen=True, eq=False)
class Calibration:
    r"""Scores :math:`\sum_b \beta_b s_b + b`, whose softmax is a probability to be trusted.

    One kind of score s has a slope :math:`\beta = 1 / T`, T being its temperature; several, such as the
    log-likelihoods of blocks of columns, have one each: what is counted twice, as naive Bayes does with
    words that come together, then weighs less. Fitted where for rows of known classes, none of which the
    scores were learned from,

    .. math:: -\sum_i u_i \log \operatorname{softmax}\Bigl(\sum_b \beta_b s_{bi} + b + c\Bigr)_{y_i}
              + \tfrac12 \lVert b \rVert^2 + \tfrac12 \lVert \log\beta - \log\beta_0 \rVert^2

    is least, with c given (a prior, say). The penalties keep b near zero in classes of few rows, and slopes
    near :math:`\beta_0` where rows are few: 1 for several scores, the scale of the scores for one.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger (2017), "On calibration of modern neural networks", section 4.2; Genest and
    Zidek (1986), "Combining probability distributions", section 3, for weighted products.
    """

    slopes: Floats  # (B,)
    bias: Floats | float = 0.0  # (K,)

    @property
    def temperature(self) -> float:
        """T, of one kind of score."""
        return 1.0 / float(self.slopes[0])

    @classmethod
    def none(cls, kinds: int = 1) -> Calibration:
        """Scores as they are."""
        return cls(np.ones(kinds))

    @classmethod
    def of(cls, scores: Floats, codes: Integers, weights: Floats) -> Calibration:
        """The calibration of held-out scores (N, K) of one kind.

        Examples
        --------
        >>> scores = np.array([[9.0, 0.0], [0.0, 9.0]] * 400)
        >>> codes = np.array([0, 1] * 300 + [1, 0] * 100)  # right in three of four
        >>> found = Calibration.of(scores, codes, np.ones(800))
        >>> np.exp(log_softmax(found.applied(scores[:1]))).round(2)
        array([[0.75, 0.25]])
        """
        centred = scores - scores.mean(axis=1, keepdims=True)
        unit = float(np.abs(centred).mean())
        if unit <= 1e-12 * float(np.abs(scores).max(initial=0.0)):  # no class is ever ahead but for rounding
            unit = 1.0
            centred = np.zeros_like(centred)
        return cls.of_parts(centred[None], codes, weights, start=np.array([1.0 / unit]))

    @classmethod
    def of_parts(
        cls,
        parts: Floats,
        codes: Integers,
        weights: Floats,
        *,
        offset: Floats | float = 0.0,
        start: Floats | None = None,
        biases: bool = True,
    ) -> Calibration:
        """The calibration of held-out scores (B, N, K) of several kinds, beside an ``offset`` (K,).

        Without ``biases`` it has slopes alone.
        """
        B, N, K = parts.shape
        start = np.ones(B) if start is None else start
        centred = parts - parts.mean(axis=2, keepdims=True)
        truth = np.zeros((N, K))
        truth[np.arange(N), codes] = 1.0
        n = B + K if biases and K <= MOST_BIASES else B  # of very many classes, none has the rows for a bias

        def at(parameters: Floats) -> tuple[float, Floats, Floats]:
            """Loss, its gradient and its curvature."""
            along = (start * np.exp(parameters[:B]))[:, None, None] * centred  # (B, N, K)
            logits = along.sum(axis=0) + offset
            if n > B:
                logits = logits + parameters[B:]
            log_p = log_softmax(logits)
            p = np.exp(log_p)
            residual = (p - truth) * weights[:, None]
            value = 0.5 * float(parameters @ parameters) - float(weights @ log_p[np.arange(N), codes])
            gradient, curvature = parameters.copy(), np.eye(n)
            inner = (p * along).sum(axis=2)  # (B, N)
            weighted = p * weights[:, None]
            slope = np.tensordot(along, residual, 2)
            gradient[:B] += slope
            spread = (along * weighted).reshape(B, -1)
            curvature[:B, :B] += spread @ along.reshape(B, -1).T - (inner * weights) @ inner.T
            curvature[:B, :B] += np.diag(slope)
            if n > B:
                gradient[B:] += residual.sum(axis=0)
                mixed = (along * weighted).sum(axis=1) - inner @ weighted  # (B, K)
                curvature[:B, B:] += mixed
                curvature[B:, :B] += mixed.T
                curvature[B:, B:] += np.diag(weighted.sum(axis=0)) - p.T @ weighted
            return value, gradient, curvature

        found = _least(at, np.zeros(n))
        bias = found[B:] - found[B:].mean() if n > B else 0.0
        return cls(start * np.exp(found[:B]), bias)

    def of_classes(self, before: Sequence[str], now: Sequence[str]) -> Calibration:
        """The calibration for other classes, of which those that are new have no bias."""
        known = dict(zip(before, np.broadcast_to(self.bias, len(before)).tolist(), strict=True))
        return Calibration(self.slopes, np.array([known.get(name, 0.0) for name in now]))

    @classmethod
    def between(cls, parts: Sequence[Calibration], shares: Sequence[float]) -> Calibration:
        """What lies between calibrations, by their shares: slopes by their logarithms, biases as they are."""
        u = np.asarray(shares, dtype=np.float64) / sum(shares)
        slopes = np.exp(sum(share * np.log(part.slopes) for share, part in zip(u, parts, strict=True)))
        bias = sum(share * np.asarray(part.bias) for share, part in zip(u, parts, strict=True))
        return cls(np.atleast_1d(slopes), np.asarray(bias))

    def applied(self, *scores: Floats) -> Floats:
        """The calibrated scores of one kind or several, (N, K)."""
        total = self.slopes.item(0) * scores[0]
        for slope, part in zip(self.slopes.tolist()[1:], scores[1:], strict=True):
            total = total + slope * part
        total += self.bias
        return total

    def applied_to(self, scores: Sequence[float]) -> list[float]:
        """The calibrated scores of one row of one kind, K plain numbers: the same ones, sooner."""
        slope, bias = self.slopes.item(0), np.asarray(self.bias).tolist()
        if isinstance(bias, float):
            return [slope * score + bias for score in scores]
        return [slope * score + own for score, own in zip(scores, bias, strict=True)]

    def told(self, before: Floats, after: Floats, codes: Integers, weights: Floats) -> dict[str, float]:
        """How well scores (N, K) do before and after it, as plain data."""
        return {
            "n": len(codes),
            "accuracy": float((after.argmax(axis=1) == codes).mean()),
            "log_loss": log_loss(after, codes, weights),
            "log_loss_before": log_loss(before, codes, weights),
            "temperature": self.temperature,
        }

    def as_dict(self) -> dict[str, list[float]]:
        """The calibration as plain data."""
        return {"slopes": self.slopes.tolist(), "bias": np.ravel(self.bias).tolist()}

    @classmethod
    def of_dict(cls, plain: Mapping[str, Sequence[float]]) -> Calibration:
        """The calibration that `as_dict` made plain data of."""
        slopes, bias = np.array(plain["slopes"], np.float64), np.array(plain["bias"], np.float64)
        sound = slopes.ndim == 1 and bias.ndim <= 1 and ((slopes > 1e-12) & (slopes < 1e12)).all()
        if not sound or not (np.abs(bias) < 1e9).all():
            raise InputError("its calibration is damaged")
        return cls(slopes, bias)


def _least(at: Callable[[Floats], tuple[float, Floats, Floats]], x: Floats) -> Floats:
    """Where a smooth function is least, by Newton's method with a damping that grows until a step helps."""
    value, gradient, curvature = at(x)
    damping = 1e-3
    for _ in range(100):
        if np.abs(gradient).max() < 1e-8 * max(1.0, abs(value)):
            break
        step = np.linalg.solve(curvature + damping * np.diag(np.abs(np.diag(curvature)) + 1e-9), -gradient)
        there = at(x + np.clip(step, -3.0, 3.0))
        if there[0] < value:
            x = x + np.clip(step, -3.0, 3.0)
            value, gradient, curvature = there
            damping = max(damping / 10, 1e-9)
        elif damping > 1e9:
            break
        else:
            damping *= 10
    return x


def log_loss(scores: Floats, codes: Integers, weights: Floats) -> float:
    """Mean of ``-log p(class | row)`` over weighted rows."""
    losses = -log_softmax(scores)[np.arange(len(codes)), codes]
    return float(weights @ losses / weights.sum())
