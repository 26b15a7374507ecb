r"""Logistic regression of several labels: one problem for each, all of them in one pass over the rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from textodds import _kernels
from textodds.learn.arrays import Floats, Mask
from textodds.learn.multilabel.counts import log_odds
from textodds.learn.multilabel.membership import LabelRows, some_labels
from textodds.learn.solvers.objective import Objective, Parameters, raw
from textodds.learn.solvers.solve import solve as solve_one
from textodds.stats.compressed_rows import CompressedRows

TOGETHER = 32
"""Labels whose weights stand side by side: a row is read once for all of them."""

BIAS_SQUARE = 0.1  # square of the constant that carries the bias, in mean squared row lengths
SURE = 27.6  # the logit of a probability that is too little to matter, yet has a logarithm to start from
MAX_EPOCHS = 12  # of all labels together; those that are far then are solved one by one
CAUTION = 8.0  # estimated gap, in tolerances, at which it is worth a proof


@dataclass(frozen=True, eq=False)
class LabelProblem:
    r"""N rows with their labels, and what is minimised for each label.

    Model
    -----
    With :math:`y_{ik}` one where row i has label k and zero where not, :math:`z_{ik} = w_k^\top x_i + b_k`,

    .. math::
        \tfrac12 \lVert w_k \rVert^2 + C \sum_i s_i \left(\log(1 + e^{z_{ik}}) - y_{ik} z_{ik}\right)  \tag{1}

    is least for each label by itself. The dual has a probability :math:`q_{ik}` for each row and label,

    .. math::
        w_k = C \sum_i s_i (y_{ik} - q_{ik})\, x_i, \qquad \sum_i s_i (y_{ik} - q_{ik}) = 0            \tag{2}

    and (1) is above its least value by no more than :math:`C \sum_i s_i\, \mathrm{KL}(q_{ik} \Vert p_{ik})`,
    which is computed: the gap is proven, label by label.

    References
    ----------
    Yu, Huang, Lin (2011), *Dual coordinate descent methods for logistic regression*, Machine Learning 85.
    Read, Pfahringer, Holmes, Frank (2011), *Classifier chains*, section 1, call it binary relevance.
    """

    rows: CompressedRows  # (N, V)
    labels: LabelRows
    n_labels: int  # K
    weights: Floats  # (N,) s

    @property
    def shape(self) -> tuple[int, int]:
        """(V, K)."""
        return self.rows.shape[1], self.n_labels


@dataclass(frozen=True, eq=False)
class LabelFit:
    """Weights (V, K), biases (K,) and the proven gap of each label (K,)."""

    weights: Floats
    bias: Floats
    gaps: Floats
    epochs: int

    def scores(self, rows: CompressedRows) -> Floats:
        """``z``, (N, K)."""
        return _kernels.row_scores(raw(rows), self.weights, self.bias)


def solve(
    problem: LabelProblem,
    C: float,
    *,
    tolerance: float = 1e-6,
    rough: int | None = None,
    start: LabelFit | None = None,
    threads: int = 1,
) -> LabelFit:
    """The least of (1) for every label; with ``rough`` after at most so many epochs, and not proven.

    Blocks of labels share the threads, and any number of them finds the same.
    """
    V, K = problem.shape
    weights, bias, gaps = np.zeros((V, K)), np.zeros(K), np.zeros(K)
    squares = _kernels.row_squares(raw(problem.rows))

    def block(first: int) -> int:
        here = slice(first, min(first + TOGETHER, K))
        run = _Block(problem, here, C, squares, start)
        epochs = run.rough(tolerance, rough) if rough is not None else run.solved(tolerance)
        weights[:, here], bias[here], gaps[here] = run.weights, run.bias, run.gaps
        return epochs

    firsts = range(0, K, TOGETHER)
    if threads > 1 and len(firsts) > 1:
        with ThreadPoolExecutor(threads) as workers:
            epochs = max(workers.map(block, firsts))
    else:
        epochs = max(map(block, firsts), default=0)
    return LabelFit(weights, bias, gaps, epochs)


class _Block:
    """A run of dual ascent for some labels."""

    def __init__(
        self, problem: LabelProblem, here: slice, C: float, squares: Floats, start: LabelFit | None
    ) -> None:
        self.problem, self.squares, self.C = problem, squares, C
        self.labels = some_labels(problem.labels, here.start, here.stop)
        (V, _), N, M = problem.shape, len(squares), here.stop - here.start
        self.costs = C * problem.weights
        self.bias_square = BIAS_SQUARE * max(float(squares.mean()), 1e-12)
        self.random = np.random.default_rng(0)
        self.targets = np.zeros((N, M), dtype=bool)
        self.targets[np.repeat(np.arange(N), np.diff(self.labels[0])), self.labels[1]] = True
        self.mass = problem.weights @ self.targets  # (M,) weight of the rows with each label
        total = float(problem.weights.sum())
        self.plain: Mask = (self.mass <= 0.0) | (self.mass >= total)  # labels that all rows have, or none
        self.weights, self.gaps, self.losses = np.zeros((V, M)), np.zeros(M), np.zeros(M)
        if start is None:
            self.bias = np.zeros(M)
            self.logits = np.where(self.targets, SURE, -SURE)
        else:
            own = np.ascontiguousarray(start.weights[:, here])
            self.bias = start.bias[here].copy()
            self.logits = _kernels.row_scores(raw(problem.rows), own, self.bias)
            self._recompute()
        self.prior = log_odds(self.mass, total)

    def _epochs(self) -> Iterator[Floats]:
        """The relative gap of each label as it was found in each pass, an estimate."""
        some = np.flatnonzero(self.costs).astype(np.uint32)
        for known in itertools.chain([False], itertools.repeat(True)):  # rows are checked once
            _kernels.label_epoch(
                raw(self.problem.rows), self.labels, self.costs, self.squares, self.bias_square, self.weights,
                self.bias, self.logits, self.gaps, self.losses, self.random.permutation(some),
                known=known,
            )  # fmt: skip
            # The constant that carries the bias has a prior whose mean follows it.
            self.bias += self.bias_square * (self.costs @ (self.targets - _logistic(self.logits)))
            penalty = 0.5 * np.einsum("vm,vm->m", self.weights, self.weights)
            relative = self.gaps / np.maximum(self.losses + penalty, 1e-300)
            relative[self.plain] = 0.0
            yield relative

    def rough(self, tolerance: float, most: int) -> int:
        """Go on until all labels are near, or for so many passes."""
        epoch = 0
        for epoch, gaps in enumerate(self._epochs(), start=1):
            if epoch >= most or gaps.max(initial=0.0) <= tolerance:
                break
        self._settle()
        return epoch

    def solved(self, tolerance: float) -> int:
        """Go on until every label is proven to be near; those that are slow are finished one by one."""
        epoch, far = 0, np.ones(len(self.bias), dtype=bool)
        for epoch, gaps in enumerate(self._epochs(), start=1):
            # The estimate is from above, and several times the gap that the proof then finds.
            if gaps.max(initial=0.0) > CAUTION * tolerance and epoch % MAX_EPOCHS:
                continue
            far = self._certify() > tolerance
            if not far.any() or epoch >= MAX_EPOCHS:
                break
        for k in np.flatnonzero(far & ~self.plain).tolist():
            self._finish(k, tolerance)
        self._settle()
        return epoch

    def _settle(self) -> None:
        """A label that all rows have, or none, has no weights and the odds of its rows."""
        self.weights[:, self.plain], self.bias[self.plain] = 0.0, self.prior[self.plain]
        self.gaps[self.plain] = 0.0

    def _recompute(self) -> None:
        """The weights that follow from the probabilities: (2)."""
        self.weights = np.zeros_like(self.weights)
        change = np.ascontiguousarray((self.targets - _logistic(self.logits)) * self.costs[:, None])
        _kernels.add_rows(raw(self.problem.rows), change, self.weights)

    def _certify(self) -> Floats:
        """Bring the probabilities to obey (2), and prove the relative gap of each label, (M,)."""
        s = self.problem.weights
        self.logits = self.logits + self._best_bias(self.logits, np.zeros_like(self.bias))
        self._recompute()
        plain = _kernels.row_scores(raw(self.problem.rows), self.weights, np.zeros_like(self.bias))
        self.bias = self._best_bias(plain, self.bias)
        z = plain + self.bias
        t, q = self.logits, _logistic(self.logits)
        divergence = q * (t - z) + np.logaddexp(0.0, z) - np.logaddexp(0.0, t)
        losses = np.logaddexp(0.0, np.where(self.targets, -z, z))
        penalty = 0.5 * np.einsum("vm,vm->m", self.weights, self.weights)
        self.gaps = np.maximum(self.C * (s @ divergence), 0.0) / (self.C * (s @ losses) + penalty)
        self.gaps[self.plain] = 0.0
        return self.gaps

    def _best_bias(self, scores: Floats, bias: Floats) -> Floats:
        """The bias at which as much of each label is expected as there is, by Newton's method."""
        s, low, high = self.problem.weights, np.full_like(bias, -80.0), np.full_like(bias, 80.0)
        bias = np.clip(bias, -79.0, 79.0)
        for _ in range(60):
            p = _logistic(scores + bias)
            off = s @ p - self.mass
            high, low = np.where(off > 0, bias, high), np.where(off > 0, low, bias)
            step = off / np.maximum(s @ (p * (1.0 - p)), 1e-12)
            there = bias - step
            inside = (there > low) & (there < high)
            bias = np.where(inside, there, 0.5 * (low + high))
            if np.abs(step[~self.plain]).max(initial=0.0) < 1e-9:
                break
        return bias

    def _finish(self, k: int, tolerance: float) -> None:
        """Solve one label by itself, from where it stands: then its hard rows can be returned to."""
        codes = self.targets[:, k].astype(np.int64)
        objective = Objective(self.problem.rows, codes, self.problem.weights, 2, 1.0 / self.C)
        begin = Parameters(np.ascontiguousarray(self.weights[:, k : k + 1]), self.bias[k : k + 1].copy())
        found, _ = solve_one(objective, begin, tolerance)
        self.weights[:, k], self.bias[k] = found.parameters.weights[:, 0], found.parameters.bias[0]
        self.gaps[k] = found.gap or 0.0


def _logistic(logits: Floats) -> Floats:
    """``1 / (1 + e^-t)``, with the same bits on every processor."""
    shape = logits.shape
    return np.asarray(1.0 / (1.0 + _kernels.exponentials(-np.ascontiguousarray(logits).reshape(-1)))).reshape(
        shape
    )
