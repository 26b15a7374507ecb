r"""The share of texts with each label, estimated by probabilities, with an interval.

The share is the mean of :math:`p_{ik}` over N texts. It is uncertain since labels are not seen, and since the
probabilities may be off by what n held-out texts do not rule out:

.. math::
    \hat s_k = \frac1N \sum_i p_{ik}, \qquad
    \operatorname{var} \hat s_k = \frac{\sum_i p_{ik} (1 - p_{ik})}{N^2}
        + \frac{\operatorname{var}_j (y_{jk} - p_{jk})}{n}                                   \tag{1}

It holds for texts like those of training, on which the probabilities are calibrated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from textodds.errors import NoData
from textodds.judge.evaluation import Interval, Z
from textodds.learn.arrays import Floats, Mask


@dataclass(frozen=True, eq=False)
class LabelShares:
    """The share of N texts with each of K labels, (K,), with its standard error."""

    n: int
    share: Floats
    standard_error: Floats

    @property
    def intervals(self) -> list[Interval]:
        """At 95 %, one for each label."""
        low, high = (np.clip(self.share + sign * Z * self.standard_error, 0.0, 1.0) for sign in (-1, 1))
        return list(zip(low.tolist(), high.tolist(), strict=True))


def label_shares(p: Iterable[Floats], held: tuple[Floats, Mask] | None = None) -> LabelShares:
    """The shares by probabilities (N, K) of batches; ``held`` are those of held-out texts, and their truth.

    Examples
    --------
    >>> found = label_shares([np.array([[0.5], [0.9]]), np.array([[0.1]])])
    >>> found.n, found.share.round(4), found.standard_error.round(4)
    (3, array([0.5]), array([0.2186]))
    """
    n, total, spread = 0, np.zeros(1), np.zeros(1)
    for each in p:
        n += len(each)
        total, spread = total + each.sum(axis=0), spread + (each * (1.0 - each)).sum(axis=0)
    if not n:
        raise NoData("there are no documents to find the shares of labels in")
    variance = spread / n**2
    if held is not None and len(held[0]):
        variance = variance + (held[1] - held[0]).var(axis=0) / len(held[0])
    return LabelShares(n, total / n, np.sqrt(variance))  # (1)
