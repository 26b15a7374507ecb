"""The log-odds of a decision as a sum over words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from textodds.learn.forms.linear import LinearModel
from textodds.model.base import OTHERS
from textodds.model.explain.explanation import Contribution, Explanation
from textodds.model.explain.read_text import ReadText

Floats = NDArray[np.float64]

_contribution = partial(tuple.__new__, Contribution)
"""A contribution of its three parts, cheaper than calling the class: one is made for each word."""


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
    model, label, slope = reading.model, reading.label, reading.slope
    form = model.form
    _, features, values, unknown = reading.kernel.rows([reading.text])
    counts = values if model.scale is None else reading.kernel.rows([reading.text], False)[2]
    factors, remainder = against(scores, label, rival)

    def odds(by_class: Floats) -> Floats:  # of numbers by class (..., K), what they add to the log-odds
        return by_class[..., label] - by_class[..., rival] if rival is not None else by_class @ factors

    absent = None
    if isinstance(form, LinearModel):
        if form.presence:
            values = counts = np.ones(len(counts))
            absent = slope * float(odds(form.intercept)) if form.intercept.any() else None
        parts = slope * values * odds(form.weights.rows(features))
    else:
        from textodds.model.explain.quadratic_terms import shares

        parts = shares(form, features, values) * (slope / form.temperature) @ factors
    is_possible = scores[label] > scores.max() - 700
    return Explanation(
        form.classes[label],
        OTHERS if rival is None else form.classes[rival],
        float(odds(reading.start)),
        _rank(model.vocabulary.words(features), counts, parts),
        int(unknown[0]),
        float(odds(form.log_prior)),
        absent,
        remainder,
        float(1.0 / np.exp(scores - scores[label]).sum()) if is_possible else 0.0,
        reading,
    )


def _rank(words: Sequence[str], counts: Floats, parts: Floats) -> tuple[Contribution, ...]:
    """Contributions, the strongest first."""
    order = np.argsort(-np.abs(parts), kind="stable")
    names = map(words.__getitem__, order.tolist())
    rows = zip(names, counts[order].astype(np.int64).tolist(), parts[order].tolist(), strict=True)
    return tuple(map(_contribution, rows))
