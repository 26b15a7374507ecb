"""Is this like anything seen? Densities with all constants, and how surprising a text or a row is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError
from textodds.learn.arrays import Floats, SparseRows

NEAR = 500  # of the typical texts or rows, those of the most similar length are compared with


def log_coefficient(rows: SparseRows) -> Floats:
    r"""Logarithms of multinomial coefficients :math:`(\sum_v x_v)! / \prod_v x_v!` of sparse rows, (N,).

    Examples
    --------
    >>> from scipy import sparse
    >>> np.exp(log_coefficient(sparse.csr_array([[2.0, 1.0, 1.0]]))).round()
    array([12.])
    """
    from scipy.special import gammaln

    N = rows.shape[0]
    row = np.repeat(np.arange(N), np.diff(rows.indptr))
    length = np.bincount(row, rows.data, N)
    return np.asarray(gammaln(length + 1) - np.bincount(row, gammaln(rows.data + 1), N))


@dataclass(frozen=True, eq=False)
class Typical:
    r"""How surprising typical texts or rows are to a model that has not learned them.

    The p-value of a new one with surprise s, among the m typical ones of the most similar length, is

    .. math:: p = \frac{1 + \lvert\{i : s_i \ge s\}\rvert}{m + 1}

    If the new one is of the same kind as the typical ones, p is at most 5 % in 5 % of cases, whatever the
    model (conformal prediction); a small p says that it is of another kind.

    References
    ----------
    Vovk, Gammerman, Shafer (2005), *Algorithmic Learning in a Random World*, section 2.2; Laxhammar and
    Falkman (2010) for anomalies.

    Examples
    --------
    >>> typical = Typical(np.ones(99), np.arange(99.0))
    >>> typical.p_value(np.array([1.0, 1.0]), np.array([0.5, 98.5]))
    array([0.99, 0.01])
    """

    length: Floats  # (M,) ascending
    surprise: Floats  # (M,)

    @classmethod
    def of(cls, length: Floats, surprise: Floats) -> Typical:
        """The typical ones in order of their length."""
        order = np.argsort(length, kind="stable")
        return cls(length[order].astype(np.float64), surprise[order].astype(np.float64))

    def p_value(self, length: Floats, surprise: Floats) -> Floats:
        """How often a typical one of such a length is as surprising, (N,)."""
        M = len(self.surprise)
        near = min(NEAR, M)
        left = np.searchsorted(self.length, length, side="left")
        right = np.searchsorted(self.length, length, side="right")
        start = _nearest(self.length, length, near)
        start, end = np.minimum(start, left), np.maximum(start + near, right)  # all of the very same length
        out = np.empty(len(surprise))
        windows, which = np.unique(np.stack([start, end], axis=1), axis=0, return_inverse=True)
        for number, (first, last) in enumerate(windows.tolist()):
            alike = np.sort(self.surprise[first:last])
            rows = which == number
            below = np.searchsorted(alike, surprise[rows], side="left")
            out[rows] = (1 + len(alike) - below) / (len(alike) + 1)
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays, for a file."""
        return {"length": self.length, "surprise": self.surprise}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Typical:
        """What `arrays` made; refuses what cannot be."""
        length, surprise = arrays["length"], arrays["surprise"]
        for array in (length, surprise):
            if array.dtype != np.float64 or array.ndim != 1 or not len(array) or not np.isfinite(array).all():
                raise InputError("what it holds of typical texts is damaged")
        if len(length) != len(surprise) or (np.diff(length) < 0).any():
            raise InputError("what it holds of typical texts is out of order")
        return cls(length, surprise)


def _nearest(known: Floats, wanted: Floats, n: int) -> NDArray[np.int64]:
    """Where the n of ``known``, ascending, that are nearest to each wanted number begin."""
    low, high = np.zeros(len(wanted), np.int64), np.full(len(wanted), len(known) - n, np.int64)
    while (low < high).any():  # the first place from which going on would lose more than it gains
        middle = (low + high) // 2
        further = wanted - known[middle] > known[np.minimum(middle + n, len(known) - 1)] - wanted
        open_ = low < high
        low = np.where(open_ & further, middle + 1, low)
        high = np.where(open_ & ~further, middle, high)
    return low


@dataclass(frozen=True, slots=True)
class Familiarity:
    """How like the training data one text or row is.

    ``surprise`` is the mean of -log p over its words, or -log p of a row; ``p_value`` says how often
    typical ones are as surprising. ``unknown`` counts words never seen.
    """

    log_density: float
    surprise: float
    p_value: float
    unknown: int = 0
