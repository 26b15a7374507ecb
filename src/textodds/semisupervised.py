"""Naive Bayes from a few labelled texts and many unlabelled ones: expectation-maximisation."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels, generative
from textodds.conditionals import Multinomial
from textodds.data import Batch, Source, read
from textodds.documents import Documents
from textodds.errors import InputError, NoData, NotConverged, Unsupported
from textodds.generative import Prior
from textodds.linear import log_prior
from textodds.model import TextModel
from textodds.recipe import Recipe, recipe_of
from textodds.tally import Counts, checked_threads
from textodds.text import Weighting

Floats = NDArray[np.float64]

MOST_CELLS = 200_000_000
"""Words times classes beyond which expected counts, which are a full matrix, are refused (1.6 GB)."""

UNIT = 2.0**-30
"""Weights are multiples of this, as in `textodds.tally`."""

NO_LABEL = ""
"""Stands for the label of an unlabelled text; no label is empty."""

READING = ("text", "format", "quoting", "header", "bad_rows")
"""Options of `train_semisupervised` that are about data."""

LABELLED_READING = ("label", "weight", "query", "rejects_path")
"""Those that are about the labelled texts only."""


@dataclass(frozen=True)
class SemiSupervisedNB:
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

    and from them the estimates of `textodds.conditionals.Multinomial`, of expected counts,

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
    is_counted = False  # a model of it rests on guesses, which cannot be taken away again

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, (int, float, np.number)) or not self.alpha > 0:
            raise InputError(f"alpha must be one number above 0, got {self.alpha!r}", hint="try 0.01 to 1")
        generative.checked(self)
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

    def report(self) -> dict[str, Any]:
        """What a model keeps of it."""
        return {
            "iterations": len(self.objective),
            "converged": self.converged,
            "objective": list(self.objective),
        }


def fit_rows(
    learner: SemiSupervisedNB,
    rows: Any,
    codes: NDArray[np.int64],
    classes: tuple[str, ...],
    weights: Floats | None = None,
) -> Fit:
    """EM on rows of counts (N, V), SciPy sparse; ``codes`` are numbers of classes, -1 without a label.

    Examples
    --------
    A word that no labelled text has learns from the company it keeps:

    >>> from scipy import sparse
    >>> rows = sparse.csr_array([[1, 0, 0], [0, 1, 0], [2, 0, 3], [0, 2, 0]])
    >>> learner = SemiSupervisedNB(alpha=1.0)
    >>> fit = fit_rows(learner, rows, np.array([0, 1, -1, -1]), ("ham", "spam"))
    >>> np.exp(generative.fit(learner, fit.counts).log_posterior(np.array([[0, 0, 1]]))).round(2)
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
    seen, unseen = (_Part.of(rows[np.flatnonzero(part)], learner.binary) for part in (known, ~known))
    labels = np.zeros((int(known.sum()), K))
    labels[np.arange(len(labels)), codes[known]] = weights[known]
    steps = _Steps(learner, classes, seen.sums(labels), labels.sum(axis=0))
    mass = learner.weight * weights[~known]  # (U,)
    share, _ = _posterior(unseen, *steps.start(), learner.temperature)
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < learner.max_iterations:
        share *= mass[:, None]
        counts, documents = steps.counts + unseen.sums(share), steps.documents + share.sum(axis=0)  # (3)
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
    presence = seen.present().sums(labels) + unseen.present().sums(last)
    return Fit(_as_counts(classes, documents, counts, presence), tuple(objective), converged)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some rows as the kernels take them."""

    raw: _kernels.RawRows
    n_features: int

    @classmethod
    def of(cls, rows: Any, binary: bool) -> _Part:
        index = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        part = cls((*index, rows.data.astype(np.float64)), rows.shape[1])
        return part.present() if binary else part

    def present(self) -> _Part:
        starts, features, values = self.raw
        return _Part((starts, features, (values > 0).astype(np.float64)), self.n_features)

    def sums(self, shares: Floats) -> Floats:
        """``Σ_i shares_ik x_iv``, (V, K)."""
        total = np.zeros((self.n_features, shares.shape[1]))
        _kernels.add_rows(self.raw, np.ascontiguousarray(shares), total)
        return total


def _posterior(part: _Part, log_theta: Floats, log_pi: Floats, temperature: float) -> tuple[Floats, Floats]:
    """The posteriors (2), (U, K), and the logarithms in the middle of (1) times T, (U,)."""
    scores = _kernels.row_scores(part.raw, log_theta, log_pi)
    if temperature != 1:
        scores /= temperature
    most = scores.max(axis=1, keepdims=True)
    np.exp(scores - most, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    return scores, temperature * (most + np.log(total))[:, 0]


class _Steps:
    """What stays the same from step to step: the labelled texts, and how counts become parameters."""

    def __init__(
        self, learner: SemiSupervisedNB, classes: tuple[str, ...], counts: Floats, documents: Floats
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


def train_semisupervised(
    labelled: Any,
    unlabelled: Any,
    learner: SemiSupervisedNB | None = None,
    *,
    labels: Any = None,
    weights: Any = None,
    threads: int | None = None,
    **options: Any,
) -> TextModel:
    """A model trained on labelled and unlabelled texts; see `SemiSupervisedNB`.

    It has no counts, so that it cannot learn more, forget or be merged.

    Parameters
    ----------
    labelled, labels, weights
        The labelled texts; see `textodds.data.read`.
    unlabelled
        The unlabelled texts, which ``read`` takes too; a column of labels in it is not looked at.
    learner : SemiSupervisedNB, optional
    **options
        Options of ``read``, for both (``label``, ``weight``, ``query`` and ``rejects_path`` for the labelled
        texts only); all others are those of `textodds.train` that make a recipe, such as ``min_df``.

    Examples
    --------
    >>> model = train_semisupervised(
    ...     ["free phone", "see you"], ["a free prize", "prize inside", "you at six"], labels=["spam", "ham"]
    ... )
    >>> model("inside").label  # a word that no labelled text has
    'spam'
    """
    both = {name: options.pop(name) for name in READING if name in options}
    own = {name: options.pop(name) for name in LABELLED_READING if name in options}
    recipe = recipe_of(learner or SemiSupervisedNB(), **options)
    return train_semisupervised_on(
        read(labelled, labels, weights, **both, **own),
        read(unlabelled, labelled=False, **both),
        recipe,
        threads=threads,
    )


def train_semisupervised_on(
    labelled: Source,
    unlabelled: Source,
    recipe: Recipe,
    *,
    threads: int | None = None,
    watch: Callable[[Iterable[Batch]], Iterable[Batch]] = lambda batches: batches,
) -> TextModel:
    """A model trained on opened sources; ``watch`` may look at the labelled batches as they pass."""
    learner: Any = recipe.learner
    if not isinstance(learner, SemiSupervisedNB):
        raise InputError(
            f"{type(learner).__name__} does not learn from unlabelled texts",
            hint="leave the learner out, or give SemiSupervisedNB()",
        )
    if recipe.unknown != "ignore":
        raise Unsupported("unlabelled texts leave no word unknown", hint="use unknown='ignore'")
    threads = checked_threads(threads)
    texts = Documents.gather(
        itertools.chain(watch(labelled), () if learner.weight == 0 else _unlabelled(unlabelled)),
        settings=recipe.settings,
        selection=recipe.selection,
        threads=threads,
    )
    classes, codes = texts.classes, texts.codes
    if NO_LABEL in classes:  # the first of them in order
        classes, codes = classes[1:], codes - 1
    mass = np.ones(len(codes)) if texts.weights is None else texts.weights
    if not mass[codes >= 0].any():
        raise NoData(
            f"{labelled.description} has no row to learn from",
            hint="unlabelled texts help a few labelled ones, and cannot do without",
        )
    weighing = {"frequency": "count", "idf": False, "unit": False}
    rows = texts.rows(Weighting(**weighing), np.ones(len(texts.vocabulary)))  # type: ignore[arg-type]
    fit = fit_rows(learner, rows, codes, classes, texts.weights)
    info = {
        "source": labelled.description,
        "documents": float(mass[codes >= 0].sum()),
        "rejected": labelled.rejects.count,
        "class_documents": dict(zip(classes, fit.counts.class_documents.tolist(), strict=True)),
        "unlabelled": {
            "source": unlabelled.description,
            "documents": float(mass[codes < 0].sum()),
            **fit.report(),
        },
    }
    form = generative.fit(learner, fit.counts)
    return TextModel(recipe, texts.vocabulary, form, None, info, threads=threads)


def _unlabelled(batches: Iterable[Batch]) -> Iterator[Batch]:
    for batch in batches:
        yield Batch(batch.texts, [NO_LABEL] * len(batch), batch.weights)
