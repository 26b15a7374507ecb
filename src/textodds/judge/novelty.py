"""Is this like anything seen? Densities with all constants, and how surprising a text or a row is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import InputError
from textodds.learn.arrays import Floats, SparseRows
from textodds.stats.distributions import log_gamma

NEAR = 500  # at least so many typical texts or rows of similar length are compared with, if there are as many


def log_coefficient(rows: SparseRows) -> Floats:
    r"""Logarithms of multinomial coefficients :math:`(\sum_v x_v)! / \prod_v x_v!` of sparse rows, (N,).

    Examples
    --------
    >>> from scipy import sparse
    >>> np.exp(log_coefficient(sparse.csr_array([[2.0, 1.0, 1.0]]))).round()
    array([12.])
    """
    N = rows.shape[0]
    row = np.repeat(np.arange(N), np.diff(rows.indptr))
    length = np.bincount(row, rows.data, N)
    return np.asarray(log_gamma(length + 1) - np.bincount(row, log_gamma(rows.data + 1), N))


@dataclass(frozen=True, eq=False)
class Typical:
    r"""How surprising typical texts or rows are to a model that has not learned them.

    They are divided by length into groups of about 500, and the p-value of a new one with surprise s, among
    the m typical ones of its group, is

    .. math:: p = \frac{1 + \lvert\{i : s_i \ge s\}\rvert}{m + 1}

    If the new one is of the same kind as the typical ones, p is at most 5 % in 5 % of cases, whatever the
    model and however surprise depends on length (Mondrian conformal prediction: a group is a category); a
    small p says that it is of another kind. Those nearest in length, for each new one its own, would not do:
    the longest and the shortest have neighbours on one side only.

    References
    ----------
    Vovk, Gammerman, Shafer (2005), *Algorithmic Learning in a Random World*, sections 2.2 and 4.5;
    Laxhammar and Falkman (2010) for anomalies.

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
        groups = max(M // NEAR, 1)
        # The first length of each group but the first; all of the very same length are in one.
        firsts = np.setdiff1d(self.length[np.arange(1, groups) * M // groups], self.length[0])
        edges = (firsts + self.length[np.searchsorted(self.length, firsts) - 1]) / 2
        own, theirs = (np.searchsorted(edges, each, side="right") for each in (self.length, length))
        out = np.empty(len(surprise))
        for group in np.unique(theirs):
            alike = np.sort(self.surprise[own == group])
            rows = theirs == group
            below = np.searchsorted(alike, surprise[rows], side="left")
            out[rows] = (1 + len(alike) - below) / (len(alike) + 1)
        return out

    def arrays(self) -> Arrays:
        """As arrays, for a file."""
        return {"length": self.length, "surprise": self.surprise}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays) -> Typical:
        """What `arrays` made; refuses what cannot be."""
        length, surprise = arrays["length"], arrays["surprise"]
        for array in (length, surprise):
            if array.dtype != np.float64 or array.ndim != 1 or not len(array) or not np.isfinite(array).all():
                raise InputError("its typical texts are damaged")
        if len(length) != len(surprise) or (np.diff(length) < 0).any():
            raise InputError("its typical texts are out of order")
        return cls(length, surprise)


@dataclass(frozen=True, slots=True)
class Familiarity:
    """How like the training data one text or row is.

    ``surprise`` is the mean of -log p over its words, or -log p of a row; by a Bernoulli model it is what is
    less likely than the empty text, by word. ``p_value`` says how often typical ones are as surprising.
    ``unknown`` counts words never seen.
    """

    log_density: float
    surprise: float
    p_value: float
    unknown: int = 0
