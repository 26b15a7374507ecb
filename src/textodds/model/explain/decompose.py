"""The log-odds of a decision as a sum over features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.learn.forms.linear import LinearModel
from textodds.learn.forms.low_rank import FactoredModel
from textodds.model.base import OTHERS
from textodds.model.explain.contribution import Contributions
from textodds.model.explain.explanation import Explanation
from textodds.model.explain.read_text import ReadText

if TYPE_CHECKING:
    from textodds.learn.forms.quadratic import QuadraticModel

Floats = NDArray[np.float64]


def against(scores: Floats, label: int, rival: int | None) -> tuple[Floats, float]:
    """Factors (K,) that make log-odds of scores (K,), and what remains; see `Explanation`.

    Examples
    --------
    >>> factors, remainder = against(np.log([0.5, 0.25, 0.25]), 0, None)
    >>> factors, round(remainder, 4)
    (array([ 1. , -0.5, -0.5]), -0.6931)
    >>> round(float(factors @ np.log([0.5, 0.25, 0.25]) + remainder), 12)  # p = 1/2: log-odds of 0
    0.0
    """
    factors = np.zeros(len(scores))
    remainder = 0.0
    if rival is not None:
        factors[rival] = -1.0
    else:
        others = np.delete(np.arange(len(scores)), label)
        shifted = scores[others] - scores[others].max()
        q = np.exp(shifted)
        total = q.sum()
        q /= total
        factors[others] = -q
        remainder = float(q @ (shifted - np.log(total)))  # -H(q)
    factors[label] = 1.0
    return factors, min(remainder, 0.0)


def explain(reading: ReadText, rival: int | None, scores: Floats) -> Explanation:
    """The explanation of a text with scores (K,); without a ``rival`` against all other classes together."""
    model, label, calibration = reading.model, reading.label, reading.calibration
    slope = float(calibration.slopes[0])
    form = model.form
    _, features, counts, values, unknown = reading.row
    factors, remainder = against(scores, label, rival)

    def odds(by_class: Floats) -> Floats:  # of numbers by class (..., K), what they add to the log-odds
        return by_class[..., label] - by_class[..., rival] if rival is not None else by_class @ factors

    absent = None
    if isinstance(form, LinearModel):
        if form.presence:
            values = counts = np.ones(len(counts))
            absent = slope * float(odds(form.intercept)) if form.intercept.any() else None
        if rival is None:
            parts = values * odds(calibration.of_weights(form.weights.rows(features)))
        else:
            sides = [label, rival]
            weights = calibration.of_weights(form.weights.of_classes(features, sides), sides)
            parts = values * (weights[:, 0] - weights[:, 1])
    else:
        own = (
            form.shares(features, values)
            if isinstance(form, FactoredModel)
            else shares(form, features, values)
        )
        parts = own * (slope / form.temperature) @ factors
    start, intercept = reading.start, reading.intercept
    # What calibration adds before reading: the slope of absent words is theirs.
    added = np.asarray(calibration.bias + (0.0 if absent is not None else slope - 1.0) * intercept)
    if not len(features) and model.has_prior_without_words:
        start, intercept, added = form.log_prior, np.zeros(len(scores)), np.zeros(len(scores))
    is_possible = scores[label] > scores.max() - 700
    return Explanation(
        form.classes[label],
        OTHERS if rival is None else form.classes[rival],
        float(odds(start)),
        Contributions(features, counts, parts, model.vocabulary.words),
        unknown,
        float(odds(form.log_prior)),
        absent,
        remainder,
        float(1.0 / np.exp(scores - scores[label]).sum()) if is_possible else 0.0,
        reading,
        intercept=0.0 if absent is not None else float(odds(intercept)),
        calibration=float(odds(added)) if added.any() else None,
    )


def shares(form: QuadraticModel, features: NDArray[np.integer], values: Floats) -> Floats:
    r"""What each word of a row adds to the score of each class, (n, K), before the temperature.

    A score is :math:`c_k + \sum_j x_j (A_k(\mu_k - x/2))_j`, with the inverse covariance :math:`A_k`:
    what word j adds is its value times a weight that depends on the words beside it. The shares add up
    exactly to the change from x = 0, but taking a word away changes those of the others, unless A is
    diagonal. With :math:`A = I/\tau - B D B^\top`, :math:`D = \mathrm{diag}(1/\tau - 1/\lambda)`.
    """
    from scipy import sparse

    from textodds.learn.forms.quadratic import LowRank, SparseDiagonal, restricted

    gaussians = form.gaussians
    if isinstance(gaussians, SparseDiagonal):
        mean, variance = gaussians.columns(features)  # (n, K)
        return np.asarray(values[:, None] * (mean - values[:, None] / 2) / variance)
    assert isinstance(gaussians, LowRank)
    V, K = gaussians.n_features, len(gaussians.rest)
    row: Any = sparse.csr_array((values, (np.zeros(len(features), np.intp), features)), shape=(1, V))
    out = np.empty((len(features), K))
    place = np.full(V, -1, dtype=np.int64)
    for k in range(K):
        columns, basis, rest = gaussians.words[k], gaussians.basis[k], gaussians.rest[k]
        half = sparse.csr_array(gaussians.mean[[k]] - row / 2)  # μ - x/2
        place[columns] = np.arange(len(columns))
        along = (restricted(half, place, len(columns)) @ basis)[0]  # (R,)
        pull = (1 / rest - 1 / gaussians.variance[k]) * along
        at = place[features]
        place[columns] = -1
        inner = np.where(at >= 0, basis[at].astype(np.float64) @ pull, 0.0) if len(columns) else 0.0
        out[:, k] = values * (half[[0]][:, features].toarray()[0] / rest - inner)
    return out
