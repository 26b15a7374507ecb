"""Today's mix of classes, from documents without labels, and posteriors corrected for it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import InputError, NoData, NotConverged, Unsupported
from textodds.judge.decisions import must_be_posterior
from textodds.judge.evaluation import Z
from textodds.judge.notebook import frame_of, paragraph, section, table
from textodds.learn.arrays import Floats, Mask
from textodds.learn.forms.linear import log, log_softmax
from textodds.learn.held_out import HeldOut
from textodds.learn.solvers.non_negative import non_negative
from textodds.stats.distributions import chi_squared_tail

if TYPE_CHECKING:
    import pandas

EM_STEPS = 20
NEWTON_STEPS = 100
GAP = 1e-6  # in log-likelihood: nothing beside the 1.92 that make an interval


@dataclass(frozen=True, eq=False)
class Recalibration:
    r"""A slope and a bias by class for log-likelihoods, and how uncertain they are.

    With :math:`a_k = \log p(k \mid x) - \log \pi_k`, the probability of class k among documents of the mix
    s is taken to be proportional to :math:`s_k \exp(\beta a_k + b_k)`. Of a held-out document the answer j
    and its probability are known, and whether it was right. What is left of the probability is taken to be
    that of one other class o, which is each with the share :math:`c_{jo}` of wrong answers j that it is the
    truth of. With means over it,

    .. math:: \operatorname{logit} p(\text{right})
              = \beta \bigl(\operatorname{logit} p_j - \log\pi_j + \overline{\log\pi_o}\bigr)
              + b_j - \bar b_o + \log s_j - \overline{\log s_o}                                  \tag{1}

    With two classes that is all there is to know; with more, posteriors that are right in (1) give a slope
    of 1 and biases of 0, but what is wrong only between classes that are not answered cannot be seen.
    The slope and biases maximise the log-likelihood of (1) less :math:`\tfrac12 (\beta - 1)^2 + \tfrac12
    \lVert b \rVert^2`, and their covariance is the inverse of its curvature.
    """

    slope: float
    bias: Floats  # (K,)
    covariance: Floats  # (1 + K, 1 + K)

    @classmethod
    def none(cls, K: int) -> Recalibration:
        """Posteriors as they are, known for certain."""
        return cls(1.0, np.zeros(K), np.zeros((1 + K, 1 + K)))

    @classmethod
    def of(cls, held_out: HeldOut, log_prior: Floats) -> Recalibration:
        """What held-out documents say of posteriors under a prior (K,)."""
        K = len(log_prior)
        if len(held_out) and max(int(held_out.truth.max()), int(held_out.answer.max())) >= K:
            raise InputError(f"the held-out documents have classes beyond the {K} of the prior")
        if K < 2 or not len(held_out):
            return cls.none(K)
        answer = held_out.answer.astype(np.intp)
        confused = np.zeros((K, K))
        np.add.at(confused, (answer, held_out.truth.astype(np.intp)), 1.0)
        mix = confused.sum(axis=0) + 0.5
        confused += 0.5 * mix / mix.sum()  # an answer that never was wrong: the others by their size
        np.fill_diagonal(confused, 0.0)
        contrast = np.eye(K) - confused / confused.sum(axis=1, keepdims=True)  # e_j - c_j
        left = np.maximum(1.0 - held_out.p_answer, 1e-17)
        odds = np.log(held_out.p_answer) - np.log(left)
        design = np.column_stack([odds - (contrast @ log_prior)[answer], contrast[answer]])
        offset = (contrast @ np.log(mix))[answer]
        centre = np.zeros(1 + K)
        centre[0] = 1.0
        found, curvature = _logistic(design, offset, held_out.right, centre)
        return cls(float(found[0]), found[1:], np.asarray(np.linalg.inv(curvature), np.float64))

    def evidence(self, log_posterior: Floats, log_prior: Floats) -> Floats:
        """``β a + b``, the log-likelihood of each class up to a constant of each document: (N, K)."""
        return np.asarray(self.slope * (log_posterior - log_prior) + self.bias)


def _logistic(design: Floats, offset: Floats, right: Mask, centre: Floats) -> tuple[Floats, Floats]:
    """Where the penalised likelihood of (1) is greatest, and its curvature there; Newton's steps, halved."""

    def objective(at: Floats) -> float:
        margin = np.where(right, 1.0, -1.0) * (design @ at + offset)
        return float(np.logaddexp(0.0, -margin).sum() + 0.5 * ((at - centre) ** 2).sum())

    at, value = centre, objective(centre)
    for _ in range(NEWTON_STEPS):
        p = 0.5 * (1 + np.tanh(0.5 * (design @ at + offset)))
        gradient = design.T @ (p - right) + (at - centre)
        curvature = (design.T * (p * (1 - p))) @ design + np.eye(len(at))
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (tried := objective(at - size * step)) > value and size > 1e-10:
            size /= 2
        at = at - size * step
        if value - tried <= 1e-10 * (1 + abs(value)):
            break
        value = tried
    return at, curvature


@dataclass(frozen=True, eq=False, repr=False)
class Mix:
    """The shares of K classes in N documents, with 95 % intervals.

    ``before`` is the mix that ``p_value`` asks about: how often so large a difference would come about if
    it still held. ``gap`` is by how much the log-likelihood may fall short of its maximum. ``classes`` are
    their names, where they are known.
    """

    share: Floats  # (K,)
    interval: Floats  # (K, 2)
    standard_error: Floats  # (K,)
    before: Floats  # (K,)
    log_prior: Floats  # (K,)
    recalibration: Recalibration
    statistic: float
    p_value: float
    n: int
    gap: float
    classes: tuple[str, ...] = ()

    @property
    def _names(self) -> Sequence[str]:
        return self.classes or [str(k) for k in range(len(self.share))]

    def _change(self) -> str:
        """Whether the class proportions changed, in a sentence."""
        chance = "below 0.0001" if self.p_value < 1e-4 else f"{self.p_value:.4f}"
        return f"p-value of the mix before: {chance}"

    def _rows(self) -> list[list[str]]:
        return [
            [
                name,
                f"{self.share[k]:.4f}",
                f"{self.interval[k][0]:.4f} to {self.interval[k][1]:.4f}",
                f"{self.before[k]:.4f}",
            ]
            for k, name in enumerate(self._names)
        ]

    def __repr__(self) -> str:
        wide = max(map(len, self._names))
        rows = [
            f"  {name:{wide}}  {share} ({interval}), before {old}"
            for name, share, interval, old in self._rows()
        ]
        return "\n".join([f"<Mix of {self.n:,} documents>", *rows, f"  {self._change()}"])

    def _repr_html_(self) -> str:
        shares = table(("label", "share", "95 % interval", "before"), self._rows(), most=30)
        return section(f"Class mix of {self.n:,} documents", shares, paragraph(self._change()))

    def to_frame(self) -> pandas.DataFrame:
        """A frame of pandas with a row for each class: share, interval and the share before."""
        rows = (
            {
                "label": name,
                "share": float(self.share[k]),
                "low": float(self.interval[k][0]),
                "high": float(self.interval[k][1]),
                "before": float(self.before[k]),
            }
            for k, name in enumerate(self._names)
        )
        return frame_of(rows, "label")

    def corrected(self, log_posterior: Floats) -> Floats:
        r"""``log p'(k | x)``, where :math:`p'_k \propto p_k \pi'_k / \pi_k`: (N, K)."""
        return log_softmax(self.recalibration.evidence(log_posterior, self.log_prior) + log(self.share))

    def as_dict(self, classes: Sequence[str]) -> dict[str, object]:
        """Plain data with plain keys, for JSON."""
        by_class = {
            name: {
                "share": float(self.share[k]),
                "interval": self.interval[k].tolist(),
                "standard_error": float(self.standard_error[k]),
                "in_training": float(self.before[k]),
            }
            for k, name in enumerate(classes)
        }
        return {"n": self.n, "classes": by_class, "statistic": self.statistic, "p_value": self.p_value}


def log_posteriors(model: Any, batches: Iterable[Any]) -> Floats:
    """Log-posteriors (N, K) of batches without labels; a model that has none is refused."""
    must_be_posterior(model, "a mix could be found from")
    parts = [log_softmax(model.score_batch(batch)[0]) for batch in batches if len(batch)]
    return np.concatenate([np.zeros((0, len(model.classes_))), *parts])


def model_mix(model: Any, log_posterior: Floats) -> Mix:
    """The mix of classes in documents, by a model's log-posteriors (N, K) of them; see `class_mix`.

    It is compared with the shares of the classes in training, or where these are not known with the prior.
    """
    try:
        documents = np.array([model.class_documents[name] for name in model.class_names])
        before = documents / documents.sum() if documents.sum() > 0 else None
    except Unsupported:
        before = None
    found = class_mix(log_posterior, getattr(model, "form", model).log_prior, model.held_out, before)
    return replace(found, classes=tuple(model.class_names))


def class_mix(
    log_posterior: Floats, log_prior: Floats, held_out: HeldOut | None = None, before: Floats | None = None
) -> Mix:
    r"""The class proportions of documents, estimated from their posteriors.

    Model
    -----
    What is in a class looks as it did, :math:`p(x \mid k)`, but the classes come in other shares
    :math:`\pi'`. With :math:`r_{ik} = p(k \mid x_i) / \pi_k`, which is :math:`p(x_i \mid k)` up to a factor
    of the document,

    .. math:: \ell(\pi') = \sum_i \log \sum_k r_{ik} \pi'_k                                       \tag{1}

    is concave. EM raises it by

    .. math:: \pi'_k \leftarrow \frac1N \sum_i p'(k \mid x_i), \qquad
              p'(k \mid x) \propto p(k \mid x)\, \pi'_k / \pi_k                                   \tag{2}

    and Newton's method ends it: as (1) is concave, it can rise by at most :math:`N (\max_k g_k - 1)`, g
    being its gradient over N, and it is followed until that is below 1e-6.

    Intervals hold the shares at which the likelihood, all other shares being as good as they can be, is
    within 1.92 of its maximum (Wilks); the others are moved along the line on which that is so near the
    maximum, which with two classes is exact. The test of whether the class proportions changed compares
    :math:`2(\ell(\hat\pi) - \ell(\pi^{\text{before}}))` with a chi-squared distribution of K - 1 degrees.

    All this takes posteriors at their word, and is wrong by as much as they are. With documents ``held_out``
    they are recalibrated first (`Recalibration`), and what these leave uncertain is added: as
    :math:`d\hat\pi' = \Sigma\, d\nabla\ell`, with :math:`\Sigma` the covariance of :math:`\hat\pi'`, the
    covariance C of slope and biases adds :math:`J C J^\top`, where :math:`J = \Sigma\, \partial\nabla\ell`.
    Each side of an interval becomes the root of its square and :math:`1.96^2` times that variance; the
    statistic of the test is divided by the mean factor by which variances grow (Rao and Scott).

    Parameters
    ----------
    log_posterior : array (N, K)
        Of the documents, under the prior.
    log_prior : array (K,)
        The prior of the posteriors: :math:`\pi`.
    held_out : HeldOut, optional
        What the same model said of documents that it had not learned.
    before : array (K,), optional
        The mix to compare with; by default the prior.

    References
    ----------
    Saerens, Latinne, Decaestecker (2002), "Adjusting the outputs of a classifier to new a priori
    probabilities", eq. 2.4 and 2.9, and section 3 for the test; Kim, Carbonetto, Stephens, Anitescu (2020),
    "A fast algorithm for maximum likelihood estimation of mixture proportions", section 2; Rao and Scott
    (1984), "On chi-squared tests for multiway contingency tables", eq. 2.

    Examples
    --------
    Documents that leave no doubt are counted:

    >>> mix = class_mix(np.log([[1 - 1e-12, 1e-12]] * 80 + [[1e-12, 1 - 1e-12]] * 20), np.log([0.5, 0.5]))
    >>> mix.share.round(3), mix.interval[1].round(3), bool(mix.p_value < 1e-8)
    (array([0.8, 0.2]), array([0.13 , 0.285]), True)
    """
    if log_posterior.ndim != 2 or log_posterior.shape[1] != len(log_prior):
        raise InputError(
            f"posteriors have shape {log_posterior.shape}, the prior has {len(log_prior)} classes"
        )
    N, K = log_posterior.shape
    if N == 0:
        raise NoData("there are no documents to find the mix of")
    if not np.isfinite(log_posterior).all():
        row = int(np.flatnonzero(~np.isfinite(log_posterior).all(axis=1))[0])
        raise InputError(f"document {row} has a log-posterior that is not finite")
    recalibration = Recalibration.none(K) if held_out is None else Recalibration.of(held_out, log_prior)
    evidence = recalibration.evidence(log_posterior, log_prior)
    ratio = np.exp(evidence - evidence.max(axis=1, keepdims=True))  # r, each row by a factor of its own
    start = np.exp(log_prior - log_prior.max())
    share, gap = _maximise(ratio, start / start.sum())
    old = np.exp(log_prior) if before is None else np.asarray(before, np.float64)
    covariance = _covariance(ratio, share)
    added = _of_calibration(ratio, share, covariance, log_posterior - log_prior, recalibration)
    mass = ratio @ share
    interval = [_interval(ratio, mass, share, covariance, k, float(added[k, k])) for k in range(K)]
    statistic = max(2.0 * float(np.log(mass).sum() - log(ratio @ old).sum()), 0.0)
    inflation = 1.0 + float(np.trace(added @ np.linalg.pinv(covariance, hermitian=True))) / max(K - 1, 1)
    statistic /= inflation
    return Mix(
        share,
        np.array(interval).reshape(K, 2),
        np.sqrt(np.maximum(np.diag(covariance + added), 0.0)),
        old,
        log_prior,
        recalibration,
        statistic,
        chi_squared_tail(statistic, K - 1) if K > 1 else 1.0,
        N,
        gap,
    )


def _maximise(ratio: Floats, share: Floats) -> tuple[Floats, float]:
    """The shares at which (1) is greatest, and by how much it might fall short."""
    N, K = ratio.shape
    share = 0.999 * share + 0.001 / K  # EM never leaves zero
    for _ in range(EM_STEPS):
        share = share * (ratio.T @ (1.0 / (ratio @ share))) / N  # (2)
        share /= share.sum()
    for _ in range(NEWTON_STEPS):
        mass = ratio @ share
        gradient = ratio.T @ (1.0 / mass) / N
        gap = N * float(gradient.max() - 1.0)
        if gap <= GAP:
            return share, max(gap, 0.0)
        share = _newton(ratio, share, mass, gradient)
    warnings.warn(f"the mix may be {gap:.2g} below its greatest log-likelihood", NotConverged, stacklevel=3)
    return share, gap


def _newton(ratio: Floats, share: Floats, mass: Floats, gradient: Floats) -> Floats:
    """A step to the best point, none below zero, of the quadratic that (1) less N Σ π' is like here.

    At its maximum shares sum to one without being made to.
    """
    N, K = ratio.shape
    scaled = ratio / mass[:, None]
    curvature = scaled.T @ scaled / N
    root = np.linalg.cholesky(curvature + 1e-10 * (1.0 + np.trace(curvature) / K) * np.eye(K))
    aim = non_negative(root.T, np.asarray(np.linalg.solve(root, 2.0 * gradient - 1.0), np.float64))

    def fall(at: Floats) -> float:
        held = ratio @ at
        return float("inf") if held.min() <= 0 else float(at.sum() - np.log(held).mean())

    now, size = fall(share), 1.0
    slope = float((1.0 - gradient) @ (aim - share))
    while fall(share + size * (aim - share)) > now + 0.1 * size * slope:
        size /= 2
        if size < 1e-6:  # rounding: EM goes on, slowly but surely
            moved = share * gradient
            return np.asarray(moved / moved.sum())
    moved = share + size * (aim - share)
    return np.asarray(moved / moved.sum())


def _covariance(ratio: Floats, share: Floats) -> Floats:
    """The covariance of the shares, which sum to one: the inverse of the curvature of (1), less ππ'/N."""
    scaled = ratio / (ratio @ share)[:, None]
    curvature = scaled.T @ scaled
    ridge = 1e-10 * np.trace(curvature) / len(share)  # for classes that nothing tells apart
    inverse = np.linalg.inv(curvature + ridge * np.eye(len(share)))
    along = inverse.sum(axis=1)  # (K,): H⁻¹1, which is π/N inside the simplex
    return np.asarray(inverse - np.outer(along, along) / along.sum())


def _of_calibration(
    ratio: Floats, share: Floats, covariance: Floats, likelihood: Floats, found: Recalibration
) -> Floats:
    """What the uncertainty of slope and biases adds to the covariance of the shares, ``J C J'``."""
    if not found.covariance.any():
        return np.zeros_like(covariance)
    scaled = ratio / (ratio @ share)[:, None]  # w, and w π are the posteriors under the mix
    posterior = scaled * share
    mean = (posterior * likelihood).sum(axis=1, keepdims=True)
    by_slope = (scaled * (likelihood - mean)).sum(axis=0)
    by_bias = np.diag(scaled.sum(axis=0)) - scaled.T @ posterior  # (K, K): of ∇ℓ_k by b_l
    J = covariance @ np.column_stack([by_slope, by_bias])
    return np.asarray(J @ found.covariance @ J.T)


def _interval(
    ratio: Floats, mass: Floats, share: Floats, covariance: Floats, k: int, added: float
) -> tuple[float, float]:
    """Where the profile likelihood of a share leaves 1.92, widened by the variance of the calibration."""
    best, variance = float(share[k]), float(covariance[k, k])
    if variance <= 0:
        return best, best
    direction = ratio @ (covariance[:, k] / variance)  # others follow where the likelihood falls least
    top = float(np.log(mass).sum())

    def lost(to: float) -> float:
        moved = mass + (to - best) * direction
        return math.inf if moved.min() <= 0 else top - float(np.log(moved).sum()) - Z * Z / 2

    extra = Z * Z * added
    low = best - math.hypot(best - _crossing(lost, best, 0.0), math.sqrt(extra))
    high = best + math.hypot(_crossing(lost, best, 1.0) - best, math.sqrt(extra))
    return max(low, 0.0), min(high, 1.0)


def _crossing(lost: Callable[[float], float], inside: float, end: float) -> float:
    """Between the best share and an end, where ``lost`` passes zero; the end, if it does not."""
    if lost(end) <= 0:
        return end
    outside = end
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if lost(middle) <= 0 else (inside, middle)
    return inside
