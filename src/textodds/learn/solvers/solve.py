"""The solver used unless another is asked for: dual coordinate ascent, and Newton where that is slow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.learn.arrays import Floats, Integers
from textodds.learn.forms.linear import log_softmax
from textodds.learn.solvers.dense import is_large_and_dense, quasi_newton
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Outcome, Parameters, best_bias, raw

UNSEEN = 1e-12  # a probability that is too little to matter, yet has a logarithm to start from
BIAS_SQUARE = 0.1  # square of the constant that carries the bias, in mean squared row lengths
HARD = 0.3  # a row is hard if its gap is above this share of the mean
FEW = 0.3  # hard rows are returned to if they are at most this share of all

RETURNS = 20
SETTLED = 0.03  # returns end when the gap of the hard rows is this share of what the whole gap was
LEFT = (
    1.5  # gap after a pass, over the one found in it times the rate: rows are found before the last is taken
)
SPARE = (
    5.0  # by how much more the gap is to be lessened than it must be: solutions so near give the same labels
)
WORTH = 0.75  # taking the rows that have a share s of the gap again leaves 1 - 0.75 s of it
PATIENCE = 50  # epochs that dual ascent may still need, by its rate so far, before Newton's method takes over
Watch = Callable[[int, float], object]  # told the step and the relative gap, for progress


@dataclass(eq=False)
class Ascent:
    r"""A run of dual coordinate ascent.

    Model
    -----
    In the notation of `Objective` with :math:`c_i = s_i / \lambda`, the dual of softmax regression has
    a probability vector :math:`q_i` for each row, and

    .. math::
        W = W_0 + \sum_i c_i\, x_i (y_i - q_i)^\top, \qquad
        \sum_i c_i (y_i - q_i) = 0                                                  \tag{1}

    For any :math:`q` that obeys (1), and any b, the value of W is above the optimum by no more than

    .. math::
        F(W, b) - F^* \le \sum_i s_i\, \mathrm{KL}(q_i \,\Vert\, p_i)                \tag{2}

    An epoch takes the rows in a random order and moves each :math:`q_i` to where the dual is largest,
    all others held (the kernel says how). `certify` brings :math:`q` to obey the second half of
    (1), which the unpenalised bias asks for, and gives (2).

    References
    ----------
    Yu, Huang, Lin (2011), *Dual coordinate descent methods for logistic regression and maximum entropy
    models*, Machine Learning 85; Shalev-Shwartz and Zhang (2013), *Stochastic dual coordinate ascent
    methods*, JMLR 14.

    Differs
    -------
    Both papers penalise the bias, or have none. Yu et al. solve a row's subproblem by coordinates, here
    it is solved by Newton's method.
    """

    objective: Objective
    weights: Floats  # (V, M)
    bias: Floats  # (M,)
    logs: Floats  # (N, M): log q, or the logit of q for two classes
    random: np.random.Generator
    bias_square: float
    squares: Floats  # (N,)
    rows: tuple[Integers, NDArray[np.int32], Floats]
    gaps: Floats  # (N,)
    pull: Floats  # (M,) the sums that (1) wants to be zero
    known: bool = False  # whether a kernel has found the rows to be sound

    @classmethod
    def begin(cls, objective: Objective, start: Parameters | None = None, *, seed: int = 0) -> Ascent:
        """At the beginning: near zero, or with the probabilities that ``start`` gives."""
        rows = raw(objective.rows)
        squares = _kernels.row_squares(rows)
        if start is None:
            logs = _logs_of((1.0 - UNSEEN) * objective.targets + UNSEEN / objective.n_classes)
        else:
            logs = _logs(objective, objective.scores(start))
        run = cls(
            objective,
            objective.zero().weights,
            np.zeros(objective.shape[1]) if start is None else start.bias.copy(),
            logs,
            np.random.default_rng(seed),
            BIAS_SQUARE * max(float(squares.mean()), 1e-12),
            squares,
            rows,
            np.zeros(len(squares)),
            np.zeros(objective.shape[1]),
        )
        run.pull = run._imbalance()
        if start is not None:
            run._recompute()
        return run

    def under(self, penalty: float) -> Ascent:
        """The run gone on under a smaller penalty, from the same weights."""
        old, new = self.objective, self.objective.with_penalty(penalty)
        share = min(penalty / old.penalty, 1.0)  # W stays where it is if q goes this near to y
        q = share * _probabilities(self.logs) + (1.0 - share) * new.targets
        run = replace(self, objective=new, logs=_logs_of(q))
        run.pull = run._imbalance()
        if penalty > old.penalty:
            run._recompute()
        return run

    @property
    def parameters(self) -> Parameters:
        """Where the run stands."""
        return Parameters(self.weights, self.bias)

    def epoch(self) -> float:
        """Pass over all rows once; the relative gap as it was found on the way, an estimate.

        Under a weak penalty most rows are soon certain and the gap is that of a few hard ones: these
        are returned to, up to twenty times, before the next pass over all. It costs little and where
        it applies is worth ten epochs.
        """
        objective = self.objective
        costs = objective.sample_weights / objective.penalty
        gap, loss = self._visit(np.flatnonzero(costs), costs)
        left = gap
        for _ in range(RETURNS):
            hard = np.flatnonzero(self.gaps > HARD * left / len(costs))
            if len(hard) > FEW * len(costs) or left <= SETTLED * gap:
                break
            left, _ = self._visit(hard, costs)
        self._follow()
        away = objective.away(self.parameters)
        # einsum, since the threads of BLAS would go on spinning for nothing
        return gap / (loss + 0.5 * float(np.einsum("vm,vm->", away, away)) or 1.0)

    def revisit(self, share: float) -> None:
        """Take the rows again that had most of the gap when they were found, such a share of it together."""
        most = np.argsort(-self.gaps, kind="stable")
        reached = np.cumsum(self.gaps[most])
        few = np.sort(most[: int(np.searchsorted(reached, share * reached[-1])) + 1])
        self._visit(few, self.objective.sample_weights / self.objective.penalty)
        self._follow()

    def _follow(self) -> None:
        """The mean of the prior of the bias follows it."""
        self.bias += self.bias_square * self.pull

    def _visit(self, which: NDArray[np.intp], costs: Floats) -> tuple[float, float]:
        """Take some rows in random order; the sums of their gaps and losses as they were found."""
        (first, self.known), bias = (not self.known, True), self.bias.copy()
        found = _kernels.dual_epoch(
            self.rows,
            self.objective.codes,
            costs,
            self.squares,
            self.bias_square,
            self.weights.reshape(-1),
            self.bias,
            self.logs.reshape(-1),
            self.gaps,
            self.random.permutation(which.astype(np.uint32)),
            known=not first,
        )
        self.pull += (self.bias - bias) / self.bias_square
        return found

    def certify(self, tolerance: float = 0.0) -> tuple[float, float]:
        r"""The value and a bound on its relative gap, exact to rounding.

        Probabilities :math:`q'` that obey the second half of (1) are near q, and (2) for weights W that
        do not follow from them is

        .. math::
            F(W, b) - F^* \le \sum_i s_i\, \mathrm{KL}(q'_i \Vert p_i)
                + \frac{\lambda}{2} \lVert W - W(q') \rVert^2, \qquad
            \lVert W - W(q') \rVert^2 \le \sum_k
                \Bigl(\sum_i c_i \lvert q_{ik} - q'_{ik} \rvert \lVert x_i \rVert\Bigr)^2    \tag{3}

        That takes one pass over the rows. Where it does not prove ``tolerance``, W gives way to
        :math:`W(q')`, and the gap is (2): two passes more.
        """
        objective = self.objective
        shift = best_bias(objective, self.logs, np.zeros_like(self.bias))
        logs = _logs(objective, self.logs + shift)  # now the second half of (1) holds
        value, gap = self._gap(logs)
        length = np.sqrt(self.squares) * (objective.sample_weights / objective.penalty)
        apart = length @ np.abs(_probabilities(logs) - _probabilities(self.logs))  # (M,)
        bound = max(gap, 0.0) + 0.5 * objective.penalty * float(apart @ apart)  # (3)
        if bound > tolerance * value:
            self.logs = logs
            self.pull = self._imbalance()
            self._recompute()
            value, bound = self._gap(logs)
        return value, max(bound, 0.0) / (value or 1.0)

    def _gap(self, logs: Floats) -> tuple[float, float]:
        """The value at the best bias of the weights, and the sum of (2) for such ``log q``."""
        objective = self.objective
        plain = _kernels.row_scores(self.rows, self.weights, np.zeros_like(self.bias), known=self.known)
        self.bias = best_bias(objective, plain, self.bias)
        plain += self.bias
        value = objective.value(self.parameters, plain)
        return value, float(objective.sample_weights @ _divergence(objective, logs, plain))

    def _imbalance(self) -> Floats:
        """The sums that (1) wants to be zero, (M,)."""
        objective = self.objective
        costs = objective.sample_weights / objective.penalty
        away = objective.targets - _probabilities(self.logs)  # (N, M)
        # einsum: its sums are the same on every machine, and a run is led by them
        return np.asarray(np.einsum("n,nm->m", costs, away))

    def _recompute(self) -> None:
        """The weights from q, (1), free of what rounding has left."""
        objective = self.objective
        costs = objective.sample_weights / objective.penalty
        alpha = (objective.targets - _probabilities(self.logs)) * costs[:, None]  # (N, M)
        alpha[np.abs(alpha) < UNSEEN * costs[:, None]] = 0.0
        self.weights = objective.zero().weights
        _kernels.add_rows(self.rows, alpha, self.weights)


def _logs_of(q: Floats) -> Floats:
    """``log q``, or the logit for one column; (N, M)."""
    tiny = 1e-250
    logs = _kernels.logarithms(np.maximum(q, tiny).reshape(-1)).reshape(q.shape)
    if q.shape[1] == 1:
        logs -= _kernels.logarithms(np.maximum(1.0 - q[:, 0], 1e-16))[:, None]
    return logs


def _logs(objective: Objective, scores: Floats) -> Floats:
    """``log softmax``, or the logit for one column; (N, M)."""
    if objective.n_classes == 2:
        return np.ascontiguousarray(scores)
    return np.ascontiguousarray(log_softmax(scores))


def _probabilities(logs: Floats) -> Floats:
    """``q``, (N, M)."""
    if logs.shape[1] == 1:
        return np.asarray(1.0 / (1.0 + _kernels.exponentials(-logs[:, 0])))[:, None]
    return _kernels.exponentials(logs.reshape(-1)).reshape(logs.shape)


def _divergence(objective: Objective, logs: Floats, scores: Floats) -> Floats:
    """``KL(q ‖ p)`` of each row, (N,)."""
    if logs.shape[1] == 1:
        q, t, z = _probabilities(logs)[:, 0], logs[:, 0], scores[:, 0]
        return np.asarray(q * (t - z) + np.logaddexp(0.0, z) - np.logaddexp(0.0, t))
    own = scores[np.arange(len(scores)), objective.codes]
    apart = logs - scores
    return np.asarray(np.einsum("nm,nm->n", _probabilities(logs), apart) + own + objective.losses(scores))


def ascends(objective: Objective) -> bool:
    """Whether dual ascent is for it: sparse rows, and a penalty of the weights alone, as `Ascent` has it."""
    sparse = hasattr(objective.rows, "indptr")
    return sparse and objective.penalty > 0 and not objective.penalise_bias


def solve(
    objective: Objective,
    start: Parameters | Ascent | None = None,
    tolerance: float = 1e-4,
    max_epochs: int = 200,
    *,
    seed: int = 0,
    watch: Watch | None = None,
) -> tuple[Outcome, Ascent | None]:
    """The optimum to a proven relative gap, and the dual run, to go on from under a smaller penalty.

    Dual ascent needs an epoch for each digit where penalties are usual and rows of about one length,
    and far too many where the penalty is weak or rows are long. Its rate tells after a few epochs which
    it is; Newton's method takes over where it stands. Without a penalty, with one of the bias too, and for
    few dense rows, Newton's method begins; for many dense rows `quasi_newton` does.
    """
    if not ascends(objective):
        given = start.parameters if isinstance(start, Ascent) else start
        begin = objective.zero() if given is None else given
        told = _told(watch, 0)
        if is_large_and_dense(objective):
            return quasi_newton(objective, begin, tolerance=tolerance, watch=told), None
        return newton(objective, begin, tolerance=tolerance, max_steps=max_epochs, watch=told), None
    run = start if isinstance(start, Ascent) else Ascent.begin(objective, start, seed=seed)
    curve: list[tuple[int, float]] = []
    estimates: list[float] = []
    left = math.inf  # the relative gap that is expected, or known
    for epoch in range(1, max_epochs + 1):
        share = (1.0 - tolerance / (SPARE * left)) / WORTH
        if share < 1.0:  # a few rows have what there is too much
            run.revisit(share)
        else:
            estimates.append(run.epoch())
            rate = _rate(estimates)
            left = LEFT * estimates[-1] * min(rate, 1.0)
            if watch is not None:
                watch(epoch, estimates[-1])
            if left > tolerance / 2 and epoch < max_epochs:
                if epoch < 5 or _epochs_left(estimates[-1], rate, tolerance) <= PATIENCE:
                    continue
                return _polished(objective, run, epoch, tolerance, max_epochs, watch), run
        value, left = run.certify(tolerance)
        curve.append((epoch, value))
        if left <= tolerance:
            return Outcome(run.parameters, value, left, None, epoch, True, "dual", tuple(curve)), run
    return _polished(objective, run, max_epochs, tolerance, max_epochs, watch), run


def _told(watch: Watch | None, epochs: int) -> Callable[[Outcome], object] | None:
    """What Newton's method tells, for those who want the step and the gap."""
    if watch is None:
        return None
    return lambda outcome: watch(epochs + outcome.steps, outcome.gap or outcome.gradient_norm or 0.0)


def _rate(estimates: list[float]) -> float:
    """By how much an epoch has lessened the gap of late."""
    if len(estimates) < 2:
        return 1.0
    back = min(3, len(estimates) - 1)
    return float((estimates[-1] / max(estimates[-1 - back], 1e-300)) ** (1.0 / back))


def _epochs_left(gap: float, rate: float, tolerance: float) -> float:
    if gap <= tolerance:
        return 0.0
    return math.inf if rate >= 1.0 else math.log(tolerance / gap) / math.log(rate)


def _polished(
    objective: Objective, run: Ascent, epochs: int, tolerance: float, max_steps: int, watch: Watch | None
) -> Outcome:
    told = _told(watch, epochs)
    outcome = newton(objective, run.parameters, tolerance=tolerance, max_steps=max_steps, watch=told)
    return replace(
        outcome,
        steps=epochs + outcome.steps,
        method="dual, newton",
        curve=tuple((epochs + step, value) for step, value in outcome.curve),
    )
