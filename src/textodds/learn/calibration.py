"""Probabilities that mean what they say: a temperature and a bias for scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from textodds.errors import InputError
from textodds.learn.arrays import FEW_CELLS, Floats, Integers
from textodds.learn.forms.linear import LinearModel, log_softmax
from textodds.learn.held_out import FEWEST

MOST_BIASES = 300  # classes up to which each has a bias of its own
CELLS = 1 << 20  # probabilities that are computed together
MOST_CELLS = 1 << 24  # scores of held-out rows that are held at once, 128 MB

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Calibration:
    r"""Scores :math:`\sum_b \beta_b s_b + b + n r`, whose softmax is a calibrated probability.

    One kind of score s has a slope :math:`\beta = 1 / T`, T being its temperature; several, such as the
    log-likelihoods of blocks of columns, have one each: what is counted twice, as naive Bayes does with
    words that come together, then weighs less. Fitted where for rows of known classes, none of which the
    scores were learned from,

    .. math:: -\sum_i u_i \log \operatorname{softmax}\Bigl(\sum_b \beta_b s_{bi} + b + c\Bigr)_{y_i}
              + \tfrac12 \lVert b \rVert^2 + \tfrac12 \lVert \log\beta - \log\beta_0 \rVert^2

    is least, with c given (a prior, say). The penalties keep b near zero in classes of few rows, and slopes
    near :math:`\beta_0` where rows are few: 1 for several scores, the scale of the scores for one.

    Of texts, the bias of a class grows with the number n of words that were read: in the place of b stands
    :math:`(n_i / \bar n)\, b`, with the mean :math:`\bar n` of the rows, and :math:`r = b / \bar n` is kept.
    So the score stays linear in the counts of words, each word having :math:`r` beside its own weight, and a
    text without a word has the score c.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger (2017), "On calibration of modern neural networks", section 4.2; Genest and
    Zidek (1986), "Combining probability distributions", section 3, for weighted products.
    """

    slopes: Floats  # (B,)
    bias: Floats | float = 0.0  # (K,)
    rate: Floats | float = 0.0  # (K,) what every word adds to each class

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
        words: Floats | None = None,
    ) -> Calibration:
        """The calibration of held-out scores (B, N, K) of several kinds, beside an ``offset`` (K,) or (N, K).

        Without ``biases`` it has slopes alone. With the numbers of ``words`` of the rows (N,), biases grow
        with them.
        """
        B, N, K = parts.shape
        start = np.ones(B) if start is None else start
        n = B + K if biases and K <= MOST_BIASES else B  # of very many classes, none has the rows for a bias
        unit = 1.0 if words is None else float(words.mean()) or 1.0
        extent = np.ones(N) if words is None else words / unit
        at = _Loss(parts, codes, weights, offset, start, extent)
        found = _least(at, np.zeros(n))
        slopes, bias = start * np.exp(found[:B]), found[B:] - found[B:].mean() if n > B else 0.0
        return cls(slopes, bias) if words is None else cls(slopes, rate=bias / unit)

    def of_classes(self, before: Sequence[str], now: Sequence[str]) -> Calibration:
        """The calibration for other classes, of which those that are new have no bias."""

        def of(values: Floats | float) -> Floats:
            known = dict(zip(before, np.broadcast_to(values, len(before)).tolist(), strict=True))
            return np.array([known.get(name, 0.0) for name in now])

        return Calibration(self.slopes, of(self.bias), of(self.rate))

    @classmethod
    def between(cls, parts: Sequence[Calibration], shares: Sequence[float]) -> Calibration:
        """What lies between calibrations, by their shares: slopes by their logarithms, biases as they are."""
        u = np.asarray(shares, dtype=np.float64) / sum(shares)
        slopes = np.exp(sum(share * np.log(part.slopes) for share, part in zip(u, parts, strict=True)))
        bias = sum(share * np.asarray(part.bias) for share, part in zip(u, parts, strict=True))
        rate = sum(share * np.asarray(part.rate) for share, part in zip(u, parts, strict=True))
        return cls(np.atleast_1d(slopes), np.asarray(bias), np.asarray(rate))

    def applied(self, *scores: Floats, words: Floats | None = None) -> Floats:
        """The calibrated scores of one kind or several, (N, K), of rows of so many ``words`` (N,)."""
        total = self.slopes.item(0) * scores[0]
        for slope, part in zip(self.slopes.tolist()[1:], scores[1:], strict=True):
            total = total + slope * part
        total += self.bias
        if words is not None:
            total += words[:, None] * np.atleast_1d(self.rate)
        return total

    def of_weights(self, weights: Floats, classes: Sequence[int] | None = None) -> Floats:
        """The calibrated weights of words, (..., K): what one unit of each adds to the scores.

        Or of some ``classes``, (..., R).
        """
        rate = np.asarray(self.rate)
        own = rate if classes is None or rate.ndim == 0 else rate[list(classes)]
        return np.asarray(self.slopes.item(0) * weights + own)

    def of_form(self, form: LinearModel) -> LinearModel:
        """The linear form whose joint scores are the calibrated ones of another."""
        weights = form.weights.scaled(self.slopes.item(0), self.rate)
        return replace(form, intercept=self.applied(form.intercept), weights=weights)

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
        rate = {"rate": np.ravel(self.rate).tolist()} if np.any(self.rate) else {}
        return {"slopes": self.slopes.tolist(), "bias": np.ravel(self.bias).tolist(), **rate}

    @classmethod
    def of_dict(cls, plain: Mapping[str, Sequence[float]]) -> Calibration:
        """The calibration that `as_dict` made plain data of."""
        slopes = np.array(plain["slopes"], np.float64)
        bias, rate = np.array(plain["bias"], np.float64), np.array(plain.get("rate", [0.0]), np.float64)
        sound = slopes.ndim == 1 and ((slopes > 1e-12) & (slopes < 1e12)).all()
        for by_class in (bias, rate):
            sound = sound and by_class.ndim <= 1 and (np.abs(by_class) < 1e9).all()
        if not sound:
            raise InputError("its calibration is damaged")
        return cls(slopes, _one_or_each(bias), _one_or_each(rate))


@dataclass(frozen=True, eq=False)
class _Loss:
    """The penalised loss of `Calibration`, by the logarithms of slopes over ``start`` and by biases."""

    parts: Floats  # (B, N, K)
    codes: Integers  # (N,)
    weights: Floats  # (N,)
    offset: Floats | float  # (K,) or (N, K)
    start: Floats  # (B,)
    extent: Floats  # (N,) by which biases grow

    @cached_property
    def means(self) -> Floats:
        """The mean of each row of scores, (B, N, 1)."""
        return np.asarray(self.parts.mean(axis=2, keepdims=True))

    def __call__(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Loss, its gradient and its curvature; a few rows at a time, as K may be large."""
        _, N, K = self.parts.shape
        value, gradient = 0.5 * float(parameters @ parameters), parameters.copy()
        curvature = np.eye(len(parameters))
        step = max(1, (CELLS if N * K > FEW_CELLS else FEW_CELLS // 2) // max(K, 1))
        for first in range(0, N, step):
            value -= self._add(slice(first, first + step), parameters, gradient, curvature)
        return value, gradient, curvature

    def _add(self, rows: slice, parameters: Floats, gradient: Floats, curvature: Floats) -> float:
        """Add what some rows say to gradient and curvature; the sum of their log-probabilities."""
        B, codes, weights = len(self.start), self.codes[rows], self.weights[rows]
        along = self.parts[:, rows] - self.means[:, rows]  # (B, N, K)
        along *= (self.start * np.exp(parameters[:B]))[:, None, None]
        logits = along.sum(axis=0) + (self.offset[rows] if np.ndim(self.offset) == 2 else self.offset)  # type: ignore[index]
        extent = self.extent[rows]
        if len(parameters) > B:
            logits = logits + extent[:, None] * parameters[B:]
        log_p = log_softmax(logits)
        p, each = np.exp(log_p), np.arange(len(codes))
        inner = (p * along).sum(axis=2)  # (B, N)
        weighted = p * weights[:, None]
        residual = weighted.copy()
        residual[each, codes] = (p[each, codes] - 1.0) * weights
        slope = np.tensordot(along, residual, 2)
        gradient[:B] += slope
        flat = (B, p.size)
        spread = (along * weighted).reshape(flat)
        curvature[:B, :B] += spread @ along.reshape(flat).T - (inner * weights) @ inner.T
        curvature[:B, :B] += np.diag(slope)
        if len(parameters) > B:
            gradient[B:] += extent @ residual
            weighted = weighted * extent[:, None]
            mixed = (along * weighted).sum(axis=1) - inner @ weighted  # (B, K)
            curvature[:B, B:] += mixed
            curvature[B:, :B] += mixed.T
            weighted = weighted * extent[:, None]
            curvature[B:, B:] += np.diag(weighted.sum(axis=0)) - p.T @ weighted
        return float(weights @ log_p[each, codes])


def few_enough(sample: Sequence[S], K: int) -> list[S]:
    """As many of a sample, evenly spread, as can be held with a score for each of K classes.

    >>> len(few_enough(range(5000), 1000)), len(few_enough(range(5000), 100_000))
    (5000, 167)
    """
    most = max(FEWEST, MOST_CELLS // max(K, 1))
    if len(sample) <= most:
        return list(sample)
    return [sample[at] for at in np.linspace(0, len(sample) - 1, most).astype(np.intp).tolist()]


def _one_or_each(by_class: Floats) -> Floats | float:
    """Numbers by class, or one number for all of them."""
    return by_class.item() if by_class.size == 1 else by_class


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


def is_worth_it(before: Floats, after: Floats, codes: Integers, weights: Floats) -> bool:
    """Whether a calibration lowers the loss of the rows it was found on by more than its parameters.

    So much would be gained if there were nothing to calibrate, and lost on other rows (Akaike 1974).
    """
    gain = log_loss(before, codes, weights) - log_loss(after, codes, weights)
    return bool(gain * len(codes) > 1 + before.shape[1])


def log_loss(scores: Floats, codes: Integers, weights: Floats) -> float:
    """Mean of ``-log p(class | row)`` over weighted rows."""
    losses = -log_softmax(scores)[np.arange(len(codes)), codes]
    return float(weights @ losses / weights.sum())
