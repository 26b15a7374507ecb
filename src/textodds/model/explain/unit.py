r"""The fewest words to remove where rows have length 1.

Removing words rescales the rest. With values :math:`x_v` of any common scale, :math:`t_v = x_v (w_{va} -
w_{vk})`, :math:`q_v = x_v^2` and :math:`\beta = b_a - b_k`, the words R that are kept leave class a behind
class k if

.. math:: \frac{F(R)}{\sqrt{Q}} < 0, \qquad F(R) = T + \beta\sqrt{Q}, \qquad
          T = \sum_{v \in R} t_v, \quad Q = \sum_{v \in R} q_v                        \tag{1}

and if none is kept, if the prior has it so. For a number m of words kept, the least of a sum :math:`\sum
(t_v + c\, q_v)` over sets of m words is that of its m smallest terms, whatever c. That bounds F from below:

- :math:`\beta > 0`: on an interval of :math:`\sqrt Q` from r to s the root is above its chord,
  :math:`\sqrt Q \ge (Q + r s) / (r + s)`; the least over intervals that cover all Q bounds F. As they
  shrink the bound becomes exact: a concave function is least at a corner of the hull of all (T, Q), and
  corners are sets of m smallest terms.
- :math:`\beta < 0`: the root is below every tangent, :math:`\sqrt Q \le (Q / s + s) / 2`; the largest of
  these bounds is taken. A gap can stay.

If the bound is not negative no m words will do. If one of the sets that gave it has F < 0, it will. If
neither, all sets of that size are tried, where they are not too many; else the answer is not proven.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRID = 32  # intervals of √Q
MOST_SETS = 50_000  # that are tried for want of proof
ROUNDING = 1e-12


def fewest(
    values: Floats,
    weights: Floats,
    bias: Floats,
    nothing: Floats,
    holder: int,
    rivals: NDArray[np.intp],
) -> tuple[list[int], bool] | None:
    """The smallest set of words found without which a rival is ahead, and whether it is the smallest.

    ``values`` are (n,), ``weights`` (n, K), ``bias`` (K,), and ``nothing`` (K,) the scores if no word is
    kept. None if there is no such set.
    """
    there = np.flatnonzero(values)
    x, w = values[there], weights[there]
    best: list[int] | None = None
    exact = True
    margins = [float(x @ (w[:, holder] - w[:, k]) + bias[holder] - bias[k]) for k in rivals.tolist()]
    for at in np.argsort(margins, kind="stable").tolist():  # the nearest first: others must then do better
        k = int(rivals[at])
        t, q = x * (w[:, holder] - w[:, k]), x * x
        most = len(x) if best is None else len(best) - 1
        beta, left = (float(scores[holder] - scores[k]) for scores in (bias, nothing))
        found, proven = _against(t, q, beta, left, most)
        exact &= proven
        if found is not None:
            best = found
    return None if best is None else ([int(there[i]) for i in best], exact)


def _against(t: Floats, q: Floats, beta: float, left: float, most: int) -> tuple[list[int] | None, bool]:
    """The smallest set of at most so many words without which (1) holds, and whether none is smaller.

    Without any word the margin is ``left``.
    """
    exact = True
    for n in range(1, most + 1):
        if n == len(t):
            return (list(range(n)), exact) if left < 0 else (None, exact)
        found, impossible = _of_size(t, q, beta, len(t) - n)
        if found is None and not impossible:
            if comb(len(t), n) <= MOST_SETS:
                found = by_trying(t, q, beta, n)
            else:
                exact = False
        if found is not None:
            return found, exact
    return None, exact


def _of_size(t: Floats, q: Floats, beta: float, m: int) -> tuple[list[int] | None, bool]:
    """Words to remove so that m are kept and (1) holds, if bounds show some; and whether there are none."""
    kept, least, bound = bounds(t, q, beta, m)
    if least < -ROUNDING:
        return np.setdiff1d(np.arange(len(t)), kept).tolist(), False
    return None, bound >= -ROUNDING


def bounds(t: Floats, q: Floats, beta: float, m: int) -> tuple[NDArray[np.intp], float, float]:
    """A set of m words with a small F, that F, and what F is not below for any m words."""
    ordered = np.sort(q)
    s = np.linspace(np.sqrt(ordered[:m].sum()), np.sqrt(ordered[-m:].sum()), GRID + 1)
    if beta > 0:
        low, high = s[:-1], s[1:]
        slope, constant = beta / (low + high), beta * low * high / (low + high)
    else:
        slope, constant = beta / (2 * s), beta * s / 2
    terms = t + slope[:, None] * q  # (GRID, n)
    kept = np.argpartition(terms, m - 1, axis=1)[:, :m]
    below = np.take_along_axis(terms, kept, axis=1).sum(axis=1) + constant
    F = t[kept].sum(axis=1) + beta * np.sqrt(q[kept].sum(axis=1))
    at = int(F.argmin())
    return kept[at], float(F[at]), float(below.min() if beta > 0 else below.max())


def by_trying(t: Floats, q: Floats, beta: float, n: int) -> list[int] | None:
    """Of all sets of n words one without which (1) holds, by the most."""
    sets = np.array(list(combinations(range(len(t)), n)))
    Q = np.maximum(q.sum() - q[sets].sum(axis=1), 0.0)
    F = (t.sum() - t[sets].sum(axis=1) + beta * np.sqrt(Q)) / np.sqrt(np.maximum(Q, 1e-300))
    at = int(F.argmin())
    return sets[at].tolist() if F[at] < -ROUNDING else None
