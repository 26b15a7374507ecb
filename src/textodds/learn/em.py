"""Naive Bayes from a few labelled texts and many unlabelled ones: expectation-maximisation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from textodds import _kernels
from textodds.errors import InputError, NotConverged
from textodds.learn.arrays import Floats, Integers, SparseRows
from textodds.learn.conditionals import Multinomial
from textodds.learn.forms.linear import MOST_CELLS, log_prior, normalise
from textodds.learn.naive_bayes import CountLearner
from textodds.learn.registry import Prior
from textodds.learn.solvers.objective import raw
from textodds.stats.tally import Counts

UNIT = 2.0**-30  # weights are multiples of this, as in `textodds.stats.tally`


@dataclass(frozen=True)
class SemiSupervisedLearner(CountLearner):
    r"""Multinomial naive Bayes that also learns from texts without labels.

    Model
    -----
    A text with counts :math:`x_i` comes from class k with probability :math:`\pi_k` and its words from
    :math:`\theta_k`; of unlabelled texts the class is not known. With L the labelled texts, U the others
    and :math:`\lambda` what an unlabelled text weighs, EM climbs the penalised log-likelihood

    .. math::
        \ell = \sum_{i \in L} \log \pi_{y_i} p(x_i \mid y_i)
             + \lambda T \sum_{i \in U} \log \sum_k \bigl(\pi_k\, p(x_i \mid k)\bigr)^{1/T}
             + \alpha \sum_{kv} \log \theta_{kv}                                    \tag{1}

    (multinomial coefficients, which do not depend on the parameters, are left out) by turns: posteriors,

    .. math::
        r_{ik} = \frac{(\pi_k \prod_v \theta_{kv}^{x_{iv}})^{1/T}}
                      {\sum_l (\pi_l \prod_v \theta_{lv}^{x_{iv}})^{1/T}}           \tag{2}

    and from them the estimates of `textodds.learn.conditionals.Multinomial`, of expected counts,

    .. math::
        n_{kv} = \sum_{i \in L, y_i = k} x_{iv} + \lambda \sum_{i \in U} r_{ik} x_{iv}, \qquad
        n_k = \lvert\{i \in L : y_i = k\}\rvert + \lambda \sum_{i \in U} r_{ik}     \tag{3}

    Neither step lowers (1). The first posteriors are those of the labelled texts alone, to which words
    that only unlabelled texts have say nothing. Afterwards the vocabulary is that of all texts together;
    ``min_df`` and the like count unlabelled texts as texts, whatever they weigh. At :math:`\lambda = 0`
    unlabelled texts are not read, and the model is that of `MultinomialNB`, to the last bit.

    Parameters
    ----------
    alpha : float, default 0.01
        :math:`\alpha`, above 0: at 0 no text could ever change its class. Unlabelled texts bring many
        rare words, of which each class gets so many pseudo-counts: with few labels 1 drowns them, and
        0.01 does far better (see ``benchmarks/semisupervised.py``).
    weight : float, default 1.0
        :math:`\lambda`, from 0 to 1. Many texts that do not fall into the classes as the model supposes
        drown a few labels; a small weight keeps them in check.
    prior : "data", "uniform" or dict, default "data"
        :math:`\pi`: by (3), or fixed.
    binary : bool, default False
        Count a word once a text.
    temperature : float, default 1.0
        T. Posteriors of long texts are all but certain, and certainly wrong ones at times; above 1 they
        are less sure.
    max_iterations : int, default 50
        Steps at most; a `NotConverged` warning says if that was too few.
    tolerance : float, default 1e-6
        Stop once (1) grows by less than this share of itself.

    References
    ----------
    Nigam, McCallum, Thrun, Mitchell (2000), "Text classification from labeled and unlabeled documents
    using EM", *Machine Learning* 39: table 1, and section 5.3.1 for :math:`\lambda`. Ueda and Nakano
    (1998), "Deterministic annealing EM algorithm", for T; it is not lowered here as they do.

    Differs
    -------
    Nigam et al. smooth the prior by one text a class; here it is not smoothed, as everywhere else.
    """

    alpha: float = 0.01
    weight: float = 1.0
    prior: Prior = "data"
    binary: bool = False
    temperature: float = 1.0
    max_iterations: int = 50
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, (int, float, np.number)) or not self.alpha > 0:
            raise InputError(f"alpha must be one number above 0, got {self.alpha!r}", hint="try 0.01 to 1")
        super().__post_init__()
        if not 0 <= self.weight <= 1:
            raise InputError(
                f"the weight of unlabelled texts must be from 0 to 1, got {self.weight!r}",
                hint="1 counts them like labelled ones, 0 not at all",
            )
        if not 0 < self.temperature < np.inf:
            raise InputError(
                f"temperature must be above 0, got {self.temperature!r}",
                hint="1 is Bayes' rule; try 2 to 20 for long texts",
            )
        if not isinstance(self.max_iterations, int) or self.max_iterations < 1:
            raise InputError(f"max_iterations must be a whole number above 0, got {self.max_iterations!r}")
        if not self.tolerance >= 0:
            raise InputError(f"tolerance must be zero or more, got {self.tolerance!r}")

    @property
    def conditional(self) -> Multinomial:
        """The class-conditional."""
        return Multinomial(self.alpha, self.binary)


@dataclass(frozen=True, eq=False)
class Fit:
    """Where EM ended: expected counts (3), and the objective (1) after each step."""

    counts: Counts
    objective: tuple[float, ...]
    converged: bool

    def report(self) -> dict[str, object]:
        """What a model keeps of it."""
        steps = list(self.objective)
        return {"iterations": len(steps), "converged": self.converged, "objective": steps}


def fit_rows(
    learner: SemiSupervisedLearner,
    rows: SparseRows,
    codes: Integers,
    classes: tuple[str, ...],
    weights: Floats | None = None,
) -> Fit:
    """EM on rows of counts (N, V), sparse; ``codes`` are numbers of classes, -1 without a label.

    Examples
    --------
    A word that no labelled text has learns from the company it keeps:

    >>> from scipy import sparse
    >>> from textodds.learn import naive_bayes
    >>> rows = sparse.csr_array([[1, 0, 0], [0, 1, 0], [2, 0, 3], [0, 2, 0]])
    >>> learner = SemiSupervisedLearner(alpha=1.0)
    >>> fit = fit_rows(learner, rows, np.array([0, 1, -1, -1]), ("ham", "spam"))
    >>> np.exp(naive_bayes.fit(learner, fit.counts).log_posterior(np.array([[0, 0, 1]]))).round(2)
    array([[0.72, 0.28]])
    """
    V, K = rows.shape[1], len(classes)
    if V * K > MOST_CELLS:
        raise InputError(
            f"expected counts of {V:,} words and {K:,} classes need {V * K * 8 / 1e9:.0f} GB",
            hint="use fewer words (min_df, max_features)",
        )
    weights = np.ones(len(codes)) if weights is None else np.round(weights / UNIT) * UNIT
    known = codes >= 0
    seen, unseen = (raw(rows[np.flatnonzero(part)]) for part in (known, ~known))
    if learner.binary:
        seen, unseen = _present(seen), _present(unseen)
    labels = np.zeros((int(known.sum()), K))
    labels[np.arange(len(labels)), codes[known]] = weights[known]
    steps = _Steps(learner, classes, _sums(seen, labels, V), labels.sum(axis=0))
    mass = learner.weight * weights[~known]  # (U,)
    share, _ = _posterior(unseen, *steps.start(), learner.temperature)
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < learner.max_iterations:
        share *= mass[:, None]
        counts = steps.counts + _sums(unseen, share, V)
        documents = steps.documents + share.sum(axis=0)  # (3)
        log_theta, log_pi = steps.estimate(counts, documents)
        last = share
        share, evidence = _posterior(unseen, log_theta, log_pi, learner.temperature)
        objective.append(steps.penalised(log_theta, log_pi) + float(mass @ evidence))  # (1)
        grown = objective[-1] - objective[-2] if len(objective) > 1 else np.inf
        converged = not mass.any() or bool(grown <= learner.tolerance * abs(objective[-1]))
    if not converged:
        warnings.warn(
            f"EM took {learner.max_iterations} steps and had not settled; allow more (max_iterations), or a "
            "larger tolerance",
            NotConverged,
            stacklevel=2,
        )
    presence = _sums(_present(seen), labels, V) + _sums(_present(unseen), last, V)
    return Fit(_as_counts(classes, documents, counts, presence), tuple(objective), converged)


def _present(rows: _kernels.RawRows) -> _kernels.RawRows:
    starts, features, values = rows
    return starts, features, (values > 0).astype(np.float64)


def _sums(rows: _kernels.RawRows, shares: Floats, V: int) -> Floats:
    """``Σ_i shares_ik x_iv``, (V, K)."""
    total = np.zeros((V, shares.shape[1]))
    _kernels.add_rows(rows, np.ascontiguousarray(shares), total)
    return total


def _posterior(
    rows: _kernels.RawRows, log_theta: Floats, log_pi: Floats, temperature: float
) -> tuple[Floats, Floats]:
    """The posteriors (2), (U, K), and the logarithms in the middle of (1) times T, (U,)."""
    scores = _kernels.row_scores(rows, log_theta, log_pi)
    if temperature != 1:
        scores /= temperature
    share, evidence = normalise(scores)
    return share, temperature * evidence


class _Steps:
    """What stays the same from step to step: the labelled texts, and how counts become parameters."""

    def __init__(
        self, learner: SemiSupervisedLearner, classes: tuple[str, ...], counts: Floats, documents: Floats
    ) -> None:
        self.counts, self.documents = counts, documents  # (V, K) (K,) of the labelled texts
        self._learner, self._classes = learner, classes
        self._cells = np.flatnonzero(counts)
        self._values = counts.reshape(-1)[self._cells]

    def start(self) -> tuple[Floats, Floats]:
        """The model of the labelled texts alone, to which words that they have not say nothing."""
        known = self.counts.any(axis=1)
        log_theta = np.zeros_like(self.counts)
        log_theta[known], log_pi = self.estimate(self.counts[known], self.documents)
        return log_theta, log_pi

    def estimate(self, counts: Floats, documents: Floats) -> tuple[Floats, Floats]:
        """``log θ`` (V, K) and ``log π`` (K,) of expected counts."""
        smoothed = counts + self._learner.alpha
        log_total = np.log(smoothed.sum(axis=0))
        np.log(smoothed, out=smoothed)
        smoothed -= log_total
        return smoothed, log_prior(self._learner.prior, self._classes, documents)

    def penalised(self, log_theta: Floats, log_pi: Floats) -> float:
        """The first and the last sum of (1)."""
        labelled = float(self._values @ log_theta.reshape(-1)[self._cells]) + float(self.documents @ log_pi)
        return labelled + self._learner.alpha * float(log_theta.sum())


def _as_counts(classes: tuple[str, ...], documents: Floats, counts: Floats, presence: Floats) -> Counts:
    feature_of, class_of = np.nonzero(counts)
    cells = np.bincount(feature_of, minlength=len(counts))
    return Counts(
        classes,
        documents,
        np.concatenate([[0], np.cumsum(cells)]).astype(np.uint64),
        class_of.astype(np.uint32),
        counts[feature_of, class_of],
        presence[feature_of, class_of],
    )
