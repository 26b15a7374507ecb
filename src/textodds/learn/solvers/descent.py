"""Gradient descent as published: of all rows, of one row at a time, of a few, and with momentum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from textodds.errors import InputError
from textodds.learn.arrays import Integers, Matrix
from textodds.learn.solvers.objective import Objective, Outcome, Parameters, product, proven_gap

Chosen = slice | Integers


@dataclass(frozen=True)
class Descent:
    r"""A gradient descent method and its settings.

    Method
    ------
    With N rows of total weight n, F / n is the mean loss plus its share of the penalty. A step draws a
    batch B of rows and follows the gradient of their mean, with the velocity v that it still has:

    .. math::
        v \leftarrow \mu v - \eta_t \left(\frac{1}{\lvert B\rvert} \sum_{i \in B} \frac{N s_i}{n}
                    \nabla \ell_i(W, b) + \frac{\lambda}{n} (W - W_0)\right)              \tag{1}

        (W, b) \leftarrow (W, b) + v                                                     \tag{2}

        \eta_t = \frac{\eta}{1 + \delta t}, \qquad t \text{ in epochs}                   \tag{3}

    where :math:`\ell_i` is the loss of row i. The bias has no penalty, unless the objective penalises it too.

    Parameters
    ----------
    rate : float
        :math:`\eta` in (3).
    epochs : int
        How often every row is seen. With all rows in a batch an epoch is one step.
    batch : int, optional
        Rows in a batch: 1 is stochastic gradient descent; all of them if not given.
    momentum : float, default 0.0
        :math:`\mu` in (1), from 0 to below 1: the heavy ball.
    decay : float, default 0.0
        :math:`\delta` in (3). Batches that are not all rows need it to come to rest.
    seed : int, default 0
        Of the order of the rows.

    References
    ----------
    Lecture 03, Algorithm 3.1 (all rows) and Remark 3.3 (one row, a few, momentum). Polyak (1964) for
    the heavy ball.

    Differs
    -------
    The lecture follows the gradient of the *sum* over rows, so its rate is n times smaller: here a good
    rate does not depend on how many rows there are. For two classes it moves two vectors, and their
    difference, which is the one vector here, twice as far: its rate η is n η here for three classes or more
    and 2 n η for two. Rows are drawn without replacement, each once an
    epoch, as is done in practice. The result is the best point of the curve rather than the last; with
    all rows and a rate that is not too large the two are the same.

    Examples
    --------
    >>> Descent(rate=0.1, epochs=5, batch=1).name
    'stochastic gradient descent'
    """

    rate: float
    epochs: int
    batch: int | None = None
    momentum: float = 0.0
    decay: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < math.inf:
            raise InputError(f"rate must be above 0 and finite, got {self.rate!r}", hint="begin with 1.0")
        if self.epochs < 1:
            raise InputError(f"epochs must be at least 1, got {self.epochs!r}")
        if self.batch is not None and self.batch < 1:
            raise InputError(f"batch must be at least 1, got {self.batch!r}", hint="1 is one row at a time")
        if not 0.0 <= self.momentum < 1.0:
            raise InputError(
                f"momentum must be from 0 to below 1, got {self.momentum!r}", hint="0.9 is usual"
            )
        if not 0.0 <= self.decay < math.inf:
            raise InputError(f"decay must be zero or more and finite, got {self.decay!r}")

    @property
    def name(self) -> str:
        """What the literature calls it."""
        kinds = {None: "gradient descent", 1: "stochastic gradient descent"}
        kind = kinds.get(self.batch, "mini-batch gradient descent")
        return f"{kind} with momentum" if self.momentum else kind


def descend(objective: Objective, start: Parameters, how: Descent, *, tolerance: float = 1e-4) -> Outcome:
    """The best point that gradient descent comes by, and the curve of F after every epoch.

    All epochs are run, unless F overflows: then the rate is too large, the best point so far is
    returned, and ``converged`` is False. Otherwise ``converged`` says whether that point is within
    ``tolerance``, as in `newton`. Steps count batches.
    """
    random = np.random.default_rng(how.seed)
    N = objective.rows.shape[0]
    size = N if how.batch is None else min(how.batch, N)
    batches = math.ceil(N / size)
    walk = _Walk(objective, start, how.momentum)
    best, lowest = start, objective.value(start)
    curve = [(0, lowest)]
    diverged = False
    with np.errstate(over="ignore", invalid="ignore"):
        for epoch in range(how.epochs):
            order = random.permutation(N)
            for b in range(batches):
                rate = how.rate / (1.0 + how.decay * (epoch + b / batches))  # (3)
                walk.step(slice(None) if batches == 1 else order[b * size : (b + 1) * size], rate)
            at = walk.parameters
            value = objective.value(at)
            diverged = not math.isfinite(value)
            if diverged:
                break
            curve.append(((epoch + 1) * batches, value))
            if value < lowest:
                best, lowest = at, value
    value, slope = objective.value_and_gradient(best)
    gap, norm = proven_gap(objective, best), slope.norm()
    if gap is None:
        unit = max(1.0, objective.value_and_gradient(objective.zero())[1].norm())
        good = norm <= tolerance * unit
    else:
        good = gap <= tolerance
    return Outcome(best, value, gap, norm, curve[-1][0], good and not diverged, how.name, tuple(curve))


class _Walk:
    r"""Where a descent stands, and its velocity, such that a step costs no more than the rows it sees.

    (1) and (2) move *every* weight in every step: the penalty shrinks it, its velocity carries it on.
    For the weights of words that a batch lacks that motion is the same linear map,

    .. math::
        \begin{pmatrix} W - W_0 \\ v \end{pmatrix} \leftarrow
        L \begin{pmatrix} W - W_0 \\ v \end{pmatrix}, \qquad
        L = \begin{pmatrix} 1 - \eta\lambda/n & \mu \\ -\eta\lambda/n & \mu \end{pmatrix}   \tag{4}

    so the pair is kept as ``mix @ sheets``: (4) is ``mix ← L mix``, a matter of four numbers, and only
    the words of the batch are touched in the sheets. Without momentum there is one sheet, and ``mix``
    is the scale of the weights. Before it loses too many digits it is multiplied out.
    """

    def __init__(self, objective: Objective, start: Parameters, momentum: float) -> None:
        self.objective, self.momentum = objective, momentum
        self.rows = objective.rows
        if not isinstance(self.rows, np.ndarray) and not self.rows.has_canonical_format:
            self.rows = self.rows.copy()
            self.rows.sum_duplicates()
        self.total = float(objective.sample_weights.sum()) or 1.0  # n
        away = objective.away(start)  # (V, M)
        self.sheets = np.stack([away, np.zeros_like(away)][: 2 if momentum else 1])  # (1 or 2, V, M)
        self.mix = np.eye(len(self.sheets))
        self.bias, self.bias_velocity = start.bias.copy(), np.zeros_like(start.bias)
        centre = objective.centre
        self.base = None if centre is None else product(objective.rows, centre)  # (N, M)

    @property
    def parameters(self) -> Parameters:
        weights = np.tensordot(self.mix[0], self.sheets, axes=1)  # (V, M)
        centre = self.objective.centre
        return Parameters(weights if centre is None else weights + centre, self.bias.copy())

    def step(self, chosen: Chosen, rate: float) -> None:
        """One step (1), (2) from the rows ``chosen``."""
        objective = self.objective
        block, words = _touched(self.rows, chosen)
        here = np.tensordot(self.mix[0], self.sheets[:, words], axes=1)  # W - W_0 of those words
        scores = block @ here + self.bias  # (B, M)
        if self.base is not None:
            scores += self.base[chosen]
        share = objective.sample_weights[chosen] * (len(objective.codes) / (self.total * len(scores)))
        error = (objective.probabilities(scores) - objective.targets[chosen]) * share[:, None]  # (B, M)

        self._drift(rate * objective.penalty / self.total)
        push = np.linalg.solve(self.mix, np.full(len(self.mix), rate))  # what moves W and v alike
        self.sheets[:, words] -= push[:, None, None] * (block.T @ error)
        bias_slope = error.sum(axis=0) + objective.bias_penalty / self.total * self.bias
        self.bias_velocity = self.momentum * self.bias_velocity - rate * bias_slope  # (1)
        self.bias = self.bias + self.bias_velocity  # (2)

    def _drift(self, shrinkage: float) -> None:
        """(4)."""
        linear = np.array([[1.0 - shrinkage, self.momentum], [-shrinkage, self.momentum]])
        self.mix = linear[: len(self.mix), : len(self.mix)] @ self.mix
        if not 1e-6 < abs(np.linalg.det(self.mix)) < 1e6:
            self.sheets = np.tensordot(self.mix, self.sheets, axes=1)
            self.mix = np.eye(len(self.sheets))


def _touched(rows: Matrix, chosen: Chosen) -> tuple[Matrix, Chosen]:
    """The chosen rows (B, T) over the T features that they have, and which these are."""
    if isinstance(chosen, slice):  # all of them
        return rows, chosen
    if isinstance(rows, np.ndarray):
        return rows[chosen], slice(None)
    if len(chosen) == 1:  # for one row, setting up a sparse matrix would cost more than the step
        entries = slice(*rows.indptr[chosen[0] : chosen[0] + 2])
        return rows.data[None, entries], rows.indices[entries]
    block = rows[chosen]
    words, places = np.unique(block.indices, return_inverse=True)
    return type(block)((block.data, places, block.indptr), shape=(len(chosen), len(words))), words
