"""Columns of categories, all together: the full table of P(x | y)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from textodds.errors import InputError, NoData
from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.conditionals.categorical import MISSING_ROW, UNSEEN_ROW, Categorical, CategoricalEstimate
from textodds.learn.conditionals.estimate import check_choice, one_alpha
from textodds.learn.forms.linear import log
from textodds.stats.categories import CategoryTally, CellTally
from textodds.stats.categories.cell_tally import lexicographic

BACKOFF = ("independent", "uniform")

MOST_KEYS = 1 << 62  # cells are numbered in 64 bits
KEPT_MARGINS = 64  # tables of observed columns that an estimate keeps once it has made them


@dataclass(frozen=True)
class FullTable:
    r"""A row of class k is combination x with a probability of its own: nothing is independent.

    Model
    -----
    With :math:`n_{kx}` of the :math:`n_k` rows of class k in cell x, and a Dirichlet prior of strength
    A and mean q,

    .. math::
        \hat p(x \mid k) = \frac{n_{kx} + A\, q_k(x)}{n_k + A}                      \tag{1}

    where for ``independent`` the mean is the naive Bayes product,

    .. math::
        A = \alpha, \qquad q_k(x) = \prod_j \frac{n_{kj x_j} + 1}{n_{kj} + C_j}     \tag{2}

    and for ``uniform`` every cell is alike, which is Laplace's :math:`(n_{kx} + \alpha) / (n_k + \alpha
    \prod_j C_j)`:

    .. math::
        A = \alpha \prod_j C_j, \qquad q_k(x) = \prod_j \frac{1}{C_j}               \tag{3}

    Either sums to one over all cells. Where columns of a row are not observed, (1) is summed over them:
    with S the observed columns, and n counted by them alone,

    .. math::
        \hat p(x_S \mid k) = \frac{n_{k x_S} + A\, q_k(x_S)}{n_k + A}               \tag{4}

    Parameters
    ----------
    alpha : float, default 1.0
        :math:`\alpha` in (2) or (3). Under ``independent`` it says how many rows the naive Bayes
        assumption is worth: a large one gives naive Bayes, 0 the raw table. At 0 cells never seen
        with a class are impossible there (`textodds.learn.forms.linear.LOG_ZERO`); among classes that are all
        impossible q decides, the limit.
    backoff : "independent" or "uniform", default "independent"
        (2) or (3). With (3) most of the probability goes to cells nobody has seen, once there are more
        cells than rows.
    missing : "ignore" or "category", default "ignore"
        ``ignore`` takes a missing value as not observed, (4). In training, rows with a missing value
        count in (2) but not in :math:`n_{kx}` and :math:`n_k`, since they are in no one cell; columns
        that are missing in every row are left aside. ``category`` is as in `Categorical`.
    unseen : "ignore" or "smooth", default "ignore"
        ``ignore`` takes a category that no row of training had as not observed, (4). ``smooth`` is as
        in `Categorical`.
    max_cells : int, default 1,000,000
        More cells than this are refused: there would be no hope of rows for most of them.

    References
    ----------
    Good (1965), *The Estimation of Probabilities*, on contingency tables with a prior at independence;
    Bishop, Fienberg and Holland (1975), *Discrete Multivariate Analysis*, chapter 12: (1) is their
    pseudo-Bayes estimate, A their K and q their λ.

    Differs
    -------
    Bishop et al. choose A from the data; here it is given. Their q is the product of raw margins, which
    is zero for what a class has never shown; here margins have one pseudo-count a category.

    Examples
    --------
    Exclusive or, which no naive Bayes can tell:

    >>> columns = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    >>> estimate = FullTable().fit(CellTally.of(columns, ["same", "other", "other", "same"]))
    >>> np.exp(estimate.log_likelihood(columns)).round(3)
    array([[0.083, 0.417],
           [0.417, 0.083],
           [0.417, 0.083],
           [0.083, 0.417]])
    >>> np.exp(estimate.log_likelihood({"a": [0], "b": [None]}))
    array([[0.5, 0.5]])
    """

    alpha: float = 1.0
    backoff: str = "independent"
    missing: str = "ignore"
    unseen: str = "ignore"
    max_cells: int = 1_000_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", one_alpha(self.alpha))
        check_choice("backoff", self.backoff, BACKOFF)
        _ = self._margins  # refuses what cannot be
        if not isinstance(self.max_cells, int) or not 0 < self.max_cells <= MOST_KEYS:
            raise InputError(f"max_cells must be a whole number from 1 to 2^62, got {self.max_cells!r}")

    @property
    def _margins(self) -> Categorical:
        return Categorical(1.0, self.missing, self.unseen)

    def cells(self, singles: CategoryTally) -> int:
        """How many cells the table has; `InputError` if those are more than ``max_cells``.

        The counts of single columns are enough to know, so that a table that cannot be need not be counted.

        Examples
        --------
        >>> columns = {f"question {i}": ["yes", "no"] for i in range(300)}
        >>> FullTable().cells(CategoryTally.of(columns, ["a", "b"]))
        Traceback (most recent call last):
        ...
        textodds.errors.InputError: the full table needs 2^300 cells, and 1,000,000 are allowed: each of \
the 300 columns has 2 categories
        <BLANKLINE>
        hint: use fewer columns, or CategoricalNB (--learner categorical), which takes each column by \
itself and needs 600 cells; or allow more (`table:max_cells=…`)
        """
        sizes = self._margins.cells(singles)
        cells = math.prod(max(size, 1) for size in sizes)
        if cells > self.max_cells:
            raise InputError(
                f"the full table needs {_power(sizes, cells)} cells, and {self.max_cells:,} are allowed: "
                + _largest(singles.columns, sizes),
                hint="use fewer columns, or CategoricalNB (--learner categorical), which takes each column "
                f"by itself and needs {sum(sizes):,} cells; or allow more (`table:max_cells=…`)",
            )
        return cells

    def fit(self, tally: CellTally) -> TableEstimate:
        """The estimate (1)."""
        if not tally.classes:
            raise NoData("there is nothing to learn from: no row has a weight above zero")
        singles = tally.marginals()
        cells = self.cells(singles)
        sizes = self._margins.cells(singles)
        margins = self._margins.fit(singles)
        places = tuple(
            self._places(len(names), missing)
            for names, missing in zip(singles.categories, singles.missing, strict=True)
        )
        if self.backoff == "uniform":  # (3)
            even = [
                np.where(place >= 0, -np.log(max(C, 1)), 0.0)[:, None] * np.ones(len(tally.classes))
                for place, C in zip(places, sizes, strict=True)
            ]
            margins = replace(margins, log_p=tuple(even))
        radix = np.array([max(size, 1) for size in sizes], dtype=np.int64)
        stride = np.cumprod([1, *radix[:0:-1].tolist()], dtype=np.int64)[::-1]
        keys = np.zeros(len(tally.cells), dtype=np.int64)
        complete = np.ones(len(tally.cells), dtype=bool)
        for j, size in enumerate(sizes):
            if size:
                place = places[j][tally.cells[:, j]]
                complete &= place >= 0
                keys += place * stride[j]
        order = np.argsort(keys[complete])
        counts = tally.counts[complete][order]  # (C, K)
        strength = self.alpha * (cells if self.backoff == "uniform" else 1)
        return TableEstimate(
            margins, strength, counts.sum(axis=0), keys[complete][order], counts, places, radix, stride
        )

    def _places(self, C: int, missing: Floats) -> Integers:
        """The cell of a column for each row of its table, (C_j + 2,); -1 for what is not observed."""
        places = np.arange(C + 2)
        places[UNSEEN_ROW] = C if self.unseen == "smooth" else -1
        if self.missing == "category":
            seen = missing.any()
            places[MISSING_ROW] = C + (self.unseen == "smooth") if seen else places[UNSEEN_ROW]
        else:
            places[MISSING_ROW] = -1
        return places


@dataclass(frozen=True, eq=False)
class TableEstimate:
    """(1) of `FullTable`: cells that were seen by key, and for all others the margins.

    The key of a cell is ``Σ_j place_j stride_j``, where place is the number of its category in column j.
    """

    margins: CategoricalEstimate  # log q by column
    strength: float  # A
    class_rows: Floats  # (K,) n_k
    keys: Integers  # (C,) increasing
    counts: Floats  # (C, K) n_kx
    places: tuple[Integers, ...]  # (J,) of (C_j + 2,), -1 where not observed
    radix: Integers  # (J,) cells of each column
    stride: Integers  # (J,)

    @property
    def classes(self) -> tuple[str, ...]:
        """(K,)."""
        return self.margins.classes

    def log_unseen(self, columns: Mapping[str, object]) -> Floats:
        """What categories never seen add to `log_likelihood` if they are not left out, (N, K).

        No cell that was seen has such a category: the row is one of the share A that the margins have.
        """
        unseen = self.margins.log_unseen(columns)
        share = log(np.array([self.strength])) - log(self.class_rows + self.strength)
        return unseen + np.where(unseen.any(axis=1, keepdims=True), share, 0.0)

    @property
    def columns(self) -> tuple[str, ...]:
        """(J,)."""
        return self.margins.columns

    def log_likelihood(self, columns: Mapping[str, object]) -> Floats:
        """``log p(x | k)``, (N, K), of columns by name."""
        rows = self.margins.rows(columns)
        N, J, K = len(rows[0]), len(rows), len(self.classes)
        key, log_q, observed = np.zeros(N, dtype=np.int64), np.zeros((N, K)), np.ones((J, N), dtype=bool)
        for j, at in enumerate(rows):
            place = self.places[j][at]
            observed[j] = place >= 0
            key += np.maximum(place, 0) * self.stride[j]
            log_q += self.margins.log_p[j][at]  # 0 where not observed
        n = np.empty((N, K))  # n_kx of the observed columns
        pattern = lexicographic(list(observed), [2] * J)
        _, first, group = np.unique(pattern, return_index=True, return_inverse=True)
        for number, row in enumerate(first):
            members = np.flatnonzero(group == number) if len(first) > 1 else slice(None)
            n[members] = self._found(observed[:, row], key[members])
        total = self.class_rows + self.strength  # (K,)
        cell = log(np.asarray(n + self.strength * np.exp(log_q)))
        never = log(np.array(self.strength)) + log_q  # products too small to be numbers do not matter here
        return np.where(total > 0, np.where(n > 0, cell, never) - log(total), log_q)  # (4)

    def _found(self, observed: Mask, keys: Integers) -> Floats:
        """The rows in some cells, by key, of the table of the observed columns, (N, K)."""
        known, counts = self._margin(observed)
        if not len(known):
            return np.zeros((len(keys), len(self.classes)))
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where((known[at] == keys)[:, None], counts[at], 0.0)

    def _margin(self, observed: Mask) -> tuple[Integers, Floats]:
        """Keys and counts of the table of the observed columns."""
        if observed.all() or not len(self.keys):
            return self.keys, self.counts
        kept, name = self._kept, observed.tobytes()
        if name not in kept:
            if len(kept) >= KEPT_MARGINS:
                kept.clear()
            keys = np.zeros_like(self.keys)
            for j in np.flatnonzero(observed):
                keys += self.keys // self.stride[j] % self.radix[j] * self.stride[j]
            order = np.argsort(keys, kind="stable")
            starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
            kept[name] = keys[order][starts], np.add.reduceat(self.counts[order], starts, axis=0)
        return kept[name]

    @cached_property
    def _kept(self) -> dict[bytes, tuple[Integers, Floats]]:
        return {}


def _power(sizes: Sequence[int], cells: int) -> str:
    if len(set(sizes)) == 1 and len(sizes) > 1:
        return f"{sizes[0]}^{len(sizes)}"
    return f"{cells:,}" if cells <= 10**15 else f"about 10^{round(math.log10(cells))}"


def _largest(columns: Sequence[str], sizes: Sequence[int]) -> str:
    if len(set(sizes)) == 1 and len(sizes) > 1:
        return f"each of the {len(sizes):,} columns has {sizes[0]:,} categories"
    largest = sorted(zip(sizes, columns, strict=True), key=lambda pair: (-pair[0], pair[1]))[:3]
    listed = ", ".join(f"`{column}` ({size:,})" for size, column in largest)
    return f"most categories are in {listed}"
