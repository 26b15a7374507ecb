"""From scores to probabilities, label by label: calibration on held-out rows."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import InputError
from textodds.learn.arrays import Floats, Mask

STRAY = (0.5, 1.0)  # by how much the log of a label's slope, and its bias, differ from those of all labels
FREE = (3.0, 3.0)  # the same for what all labels share
LARGEST = 1e9


@dataclass(frozen=True, eq=False)
class LabelOdds:
    r"""What makes probabilities of the scores of K labels.

    Model
    -----
    .. math:: p(k \mid x) = \sigma(a_k z_k + b_k)                                                  \tag{1}

    with :math:`a` and :math:`b` where the loss on held-out rows is least, under a Gaussian prior around what
    all labels together have: a rare label, which says little about itself, is calibrated like the others.

    References
    ----------
    Platt (1999), *Probabilistic outputs for support vector machines*, is (1) for one label.

    Examples
    --------
    >>> z = np.array([[4.0], [-4.0]] * 500)
    >>> truth = np.array([[True], [False]] * 400 + [[False], [True]] * 100)  # right in four of five
    >>> LabelOdds.of(z, truth, np.ones(1000)).probabilities(z[:2]).round(2)
    array([[0.8],
           [0.2]])
    """

    slopes: Floats  # (K,) a
    bias: Floats  # (K,) b

    @classmethod
    def none(cls, K: int) -> LabelOdds:
        """Scores as they are."""
        return cls(np.ones(K), np.zeros(K))

    @classmethod
    def of(cls, scores: Floats, truth: Mask, weights: Floats) -> LabelOdds:
        """The calibration of held-out scores (N, K) of rows that have each label or not (N, K)."""
        K = scores.shape[1]
        unit = max(float(np.abs(scores).mean()), 1.0)
        rows, columns = _telling(scores)
        flat, there = (scores[rows, columns] / unit).reshape(-1, 1), truth[rows, columns].reshape(-1, 1)
        shared = _least(flat, there, weights[rows.reshape(-1)], np.zeros((2, 1)), FREE)
        own = _least(scores / unit, truth, weights, np.repeat(shared, K, axis=1), STRAY)
        return cls(np.exp(own[0]) / unit, own[1])

    def logits(self, scores: Floats) -> Floats:
        """The log-odds of scores (N, K)."""
        return scores * self.slopes + self.bias

    def probabilities(self, scores: Floats) -> Floats:
        """(1), (N, K)."""
        return sigmoid(self.logits(scores))

    def of_labels(self, before: tuple[str, ...], now: tuple[str, ...]) -> LabelOdds:
        """The calibration for other labels; those that are new have the mean of the others."""
        at = {name: k for k, name in enumerate(before)}
        usual = (float(np.exp(np.log(self.slopes).mean())) if before else 1.0, 0.0)
        found = [(self.slopes[at[name]], self.bias[at[name]]) if name in at else usual for name in now]
        slopes, bias = np.array(found, dtype=np.float64).reshape(-1, 2).T
        return LabelOdds(np.ascontiguousarray(slopes), np.ascontiguousarray(bias))

    def arrays(self) -> Arrays:
        """As arrays, for a file."""
        return {"slopes": self.slopes, "bias": self.bias}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, K: int) -> LabelOdds:
        """What `arrays` made; refuses what cannot be."""
        for name in ("slopes", "bias"):
            array = arrays.get(name)
            if array is None or array.dtype != np.float64 or array.shape != (K,):
                raise InputError(f"the tensor `odds.{name}` is missing, or has the wrong type")
            if not (np.abs(array) < LARGEST).all() or (name == "slopes" and not (array > 0).all()):
                raise InputError(f"the tensor `odds.{name}` has invalid values")
        return cls(arrays["slopes"], arrays["bias"])


def sigmoid(logits: Floats) -> Floats:
    """``1 / (1 + e^-t)``."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)))


def label_loss(logits: Floats, truth: Mask, weights: Floats) -> float:
    """Mean of ``-log p`` of what is so, over labels and weighted rows, (N, K)."""
    losses = np.logaddexp(0.0, np.where(truth, -logits, logits))
    return float(weights @ losses.mean(axis=1) / weights.sum())


def _telling(scores: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the cells that tell what all labels share, one after the other.

    Of few labels they are all cells of rows that are evenly spread. Of many, nearly all cells are far below
    any decision: of every row those of the highest scores are taken, by which no probability is biased.
    """
    N, K = scores.shape
    if K <= MANY or scores.size <= ENOUGH_CELLS:
        some = np.arange(0, N, max(1, scores.size // ENOUGH_CELLS))
        return np.repeat(some, K), np.tile(np.arange(K), len(some))
    most = max(1, min(K, ENOUGH_CELLS // N))
    best = np.argpartition(-scores, most - 1, axis=1)[:, :most]
    return np.repeat(np.arange(N), most), best.reshape(-1)


MANY = 500  # labels from which on cells are chosen by their scores
ENOUGH_CELLS = 200_000
"""Cells, rows times labels, that tell what all labels share."""


def _least(z: Floats, truth: Mask, weights: Floats, mean: Floats, spread: tuple[float, float]) -> Floats:
    """The log slope and the bias of each column, (2, K), by Newton's method, damped.

    Columns that are settled are left behind once they are the half: most of many labels are soon.
    """
    found, left = mean.copy(), np.arange(z.shape[1])
    run = _Newton(z, truth, weights, mean, np.array(spread)[:, None] ** -2.0)
    for _ in range(40):
        far = run.step()
        if not far.any():
            break
        if 2 * far.sum() <= len(far):
            found[:, left] = run.x
            left, run = left[far], run.of(far)
    found[:, left] = run.x
    return found


class _Newton:
    """A log slope and a bias for each of some columns, (2, K), on their way to the least loss."""

    def __init__(self, z: Floats, truth: Mask, weights: Floats, mean: Floats, pull: Floats) -> None:
        self.z, self.truth, self.weights, self.mean, self.pull = z, truth, weights, mean, pull
        self.sign = np.where(truth, -1.0, 1.0)
        self.x, self.damping = mean.copy(), np.full(z.shape[1], 1e-3)
        self.value = self._value_at(self.x)

    def of(self, some: Mask) -> _Newton:
        """The same of some columns."""
        part = copy.copy(self)
        part.z, part.truth, part.sign = self.z[:, some], self.truth[:, some], self.sign[:, some]
        part.mean, part.x = self.mean[:, some], self.x[:, some]
        part.damping, part.value = self.damping[some], self.value[some]
        return part

    def step(self) -> Mask:
        """Take a step in each column where the loss falls; which columns were not settled before it."""
        gradient, uu, ub, bb = self._slopes()
        a, c = uu * (1 + self.damping), bb * (1 + self.damping)
        size = np.maximum(a * c - ub**2, 1e-12 * a * c)
        step = np.stack([c * gradient[0] - ub * gradient[1], a * gradient[1] - ub * gradient[0]]) / size
        far = np.asarray(np.abs(step * gradient).sum(axis=0) >= 1e-7)  # of the loss, in nats
        if far.any():
            there = self.x - np.clip(step, -2.0, 2.0)
            found = self._value_at(there)
            better = found < self.value
            self.x = np.where(better, there, self.x)
            self.value = np.where(better, found, self.value)
            self.damping = np.where(better, self.damping / 10.0, np.minimum(self.damping * 10.0, 1e9))
        return far

    def _value_at(self, x: Floats) -> Floats:
        margin = (np.exp(x[0]) * self.z + x[1]) * self.sign
        loss = np.maximum(margin, 0.0) + np.log1p(np.exp(-np.abs(margin)))
        return np.asarray(self.weights @ loss + 0.5 * (self.pull * (x - self.mean) ** 2).sum(axis=0))

    def _slopes(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The gradient (2, K), and the second derivatives in both, in each with the other, (K,)."""
        along = np.exp(self.x[0]) * self.z
        p = sigmoid(along + self.x[1])
        wrong, bend = p - self.truth, p * (1.0 - p)
        turned, bent = wrong * along, bend * along
        gradient = np.stack([self.weights @ turned, self.weights @ wrong]) + self.pull * (self.x - self.mean)
        uu = self.weights @ (bent * along)
        return (
            gradient,
            np.maximum(uu + self.weights @ turned, 0.1 * uu) + self.pull[0],
            self.weights @ bent,
            self.weights @ bend + self.pull[1],
        )
