"""Columns of categories, each by itself: independent categorical distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from textodds.errors import InputError, NoData
from textodds.learn.arrays import Floats, Integers
from textodds.learn.conditionals.estimate import check_choice, one_alpha
from textodds.learn.forms.linear import log
from textodds.stats.categories import CategoryTally, coded_columns
from textodds.stats.categories.category_tally import check_size

MISSING = ("ignore", "category")
UNSEEN = ("ignore", "smooth")

UNSEEN_ROW, MISSING_ROW = -2, -1  # where a table by category ends: what was never seen, then what is missing


@dataclass(frozen=True)
class Categorical:
    r"""A row of class k has category c in column j with probability ``p_kjc``, whatever its other columns.

    Model
    -----
    With :math:`x_j` the category of a row in column j,

    .. math::
        \log p(x \mid k) = \sum_j \log p_{kj x_j}                                   \tag{1}

    and with :math:`n_{kjc}` rows of class k that have category c in column j, and :math:`n_{kj}` that
    have any, the posterior mean under a Dirichlet prior with pseudo-counts :math:`\alpha` is

    .. math::
        \hat p_{kjc} = \frac{n_{kjc} + \alpha}{n_{kj} + \alpha C_j}                 \tag{2}

    where :math:`C_j` is the number of categories of column j seen in training, in any class.

    Parameters
    ----------
    alpha : float, default 1.0
        :math:`\alpha` in (2). At 0 a category never seen with a class is impossible there: see
        `textodds.learn.forms.linear.LOG_ZERO`. A class that has no value at all in a column has all
        categories equally likely, the limit of (2).
    missing : "ignore" or "category", default "ignore"
        ``ignore`` leaves a missing value out of (1) and its row out of :math:`n_{kj}`: right if values
        are missing by chance. ``category`` makes it a category like any other, as if written
        "missing": right if that it is missing says something.
    unseen : "ignore" or "smooth", default "ignore"
        What a category says that no row of training had. ``ignore``: nothing, its column is left out
        of (1) for that row. ``smooth``: one more cell for all such categories together, so that
        :math:`C_j` is one more and :math:`n_{kjc} = 0`; it speaks for classes with few rows.

    References
    ----------
    Mitchell (1997), *Machine Learning*, section 6.9; (2) is its m-estimate, eq. 6.22, with uniform
    priors and :math:`m = \alpha C_j`. Murphy (2022), *Probabilistic Machine Learning*, section 9.3.2.

    Differs
    -------
    scikit-learn's ``CategoricalNB`` takes numbers for categories, counts every number up to the largest
    as a category, knows no missing values and fails on a category that was not in training; for
    categories numbered without a gap the two are equal to rounding.

    Examples
    --------
    >>> tally = CategoryTally.of({"sky": ["sun", "sun", "rain"]}, ["play", "play", "stay"])
    >>> estimate = Categorical().fit(tally)
    >>> np.exp(estimate.log_likelihood({"sky": ["sun", "rain", "snow", None]})).round(3)
    array([[0.75 , 0.333],
           [0.25 , 0.667],
           [1.   , 1.   ],
           [1.   , 1.   ]])
    """

    alpha: float = 1.0
    missing: str = "ignore"
    unseen: str = "ignore"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", one_alpha(self.alpha))
        check_choice("missing", self.missing, MISSING)
        check_choice("unseen", self.unseen, UNSEEN)

    def fit(self, tally: CategoryTally) -> CategoricalEstimate:
        """The estimate (2)."""
        if not tally.classes:
            raise NoData("there is nothing to learn from: no row has a weight above zero")
        tables = [
            self._log_p(counts, missing) for counts, missing in zip(tally.counts, tally.missing, strict=True)
        ]
        unseen = [
            self._log_unseen(counts, cells)
            for counts, cells in zip(tally.counts, self.cells(tally), strict=True)
        ]
        return CategoricalEstimate(
            tally.classes, tally.columns, tally.categories, tuple(tables), tuple(unseen)
        )

    def _log_unseen(self, counts: Floats, cells: int) -> Floats:
        """(2) of a category that the class has never shown, (K,); zero where it has a cell already."""
        if self.unseen == "smooth":
            return np.zeros(counts.shape[1])
        return log(np.array([self.alpha])) - log(counts.sum(axis=0) + self.alpha * max(cells, 1))

    def cells(self, tally: CategoryTally) -> list[int]:
        """C_j by column, with the cells for what is missing and what is unseen."""
        return [
            len(names) + self._has_missing(missing) + (self.unseen == "smooth")
            for names, missing in zip(tally.categories, tally.missing, strict=True)
        ]

    def _has_missing(self, missing: Floats) -> bool:
        # As with any category, there is a cell only for what was seen.
        return self.missing == "category" and bool(missing.any())

    def _log_p(self, counts: Floats, missing: Floats) -> Floats:
        """Logarithms of (2), (C_j + 2, K), then what unseen and missing values contribute."""
        C, K = counts.shape
        has_missing, has_unseen = self._has_missing(missing), self.unseen == "smooth"
        extra = [np.zeros(K)] * has_unseen + [missing] * has_missing
        n = np.vstack([counts, *extra])
        total = n.sum(axis=0) + self.alpha * len(n)  # (K,)
        log_p = log(n + self.alpha) - log(total)  # (2)
        log_p[:, total == 0] = -np.log(max(len(n), 1))
        table = np.zeros((C + 2, K))
        table[:C] = log_p[:C]
        if has_unseen:
            table[UNSEEN_ROW] = log_p[C]
        if has_missing:
            table[MISSING_ROW] = log_p[-1]
        elif self.missing == "category":
            table[MISSING_ROW] = table[UNSEEN_ROW]
        return table


@dataclass(frozen=True, eq=False)
class CategoricalEstimate:
    """``log p(x | k) = Σ_j log_p[j][x_j, k]``, with all constants."""

    classes: tuple[str, ...]  # (K,)
    columns: tuple[str, ...]  # (J,)
    categories: tuple[tuple[str, ...], ...]  # (J,) of (C_j,)
    log_p: tuple[Floats, ...]  # (J,) of (C_j + 2, K); the last two are unseen, missing
    unseen: tuple[Floats, ...]  # (J,) of (K,), log p of what was never seen, if `log_p` has nothing for it

    @cached_property
    def index(self) -> tuple[dict[str, int], ...]:
        """The number of each category, by column."""
        return tuple({name: c for c, name in enumerate(names)} for names in self.categories)

    def rows(self, columns: Mapping[str, object]) -> list[Integers]:
        """The row of each column's table for each row of data, (J,) of (N,)."""
        coded = coded_columns(columns, self.columns)
        return [
            column.found(index, UNSEEN_ROW) for column, index in zip(coded.values(), self.index, strict=True)
        ]

    def log_likelihood(self, columns: Mapping[str, object]) -> Floats:
        """``log p(x | k)``, (N, K), of columns by name."""
        rows = self.rows(columns)
        total = np.zeros((len(rows[0]), len(self.classes)))
        for table, at in zip(self.log_p, rows, strict=True):
            total += table[at]  # (1)
        return total

    def log_unseen(self, columns: Mapping[str, object]) -> Floats:
        """What categories never seen add to `log_likelihood` where they are not to be left out, (N, K)."""
        rows = self.rows(columns)
        total = np.zeros((len(rows[0]), len(self.classes)))
        for column, at in zip(self.unseen, rows, strict=True):
            total[at == UNSEEN_ROW] += column
        return total

    def by_column(self, columns: Mapping[str, object]) -> Floats:
        """What each column contributes to `log_likelihood`, (N, J, K)."""
        rows = self.rows(columns)
        return np.stack([table[at] for table, at in zip(self.log_p, rows, strict=True)], axis=1)


def without_gaps(tally: CategoryTally, columns: Sequence[str], min_categories: ArrayLike) -> CategoryTally:
    """The same with all numbers from 0 to the largest as categories.

    There are at least ``min_categories`` of them: one number, or one for each of the columns in this order.
    """
    given, J = np.asarray(min_categories), len(columns)
    if given.dtype.kind not in "iu":
        raise InputError(
            f"'min_categories' should have integral type. Got {given.dtype} instead.",
            hint="give how many categories there are, from 0",
        )
    if given.ndim and given.shape != (J,):
        raise InputError(
            f"'min_categories' should have shape ({J},) when an array-like is provided. "
            f"Got {given.shape} instead.",
            hint="give one number for each column, or one for all",
        )
    if (given < 1).any():
        raise InputError(f"'min_categories' should be 1 or more. Got {given.min()} instead.")
    least = dict(zip(columns, np.broadcast_to(given, J).tolist(), strict=True))
    categories, units = [], []
    for column, names, table in zip(tally.columns, tally.categories, tally.units, strict=True):
        for name in names:
            if not name.isdecimal() or name != str(int(name)):
                raise InputError(
                    f"column `{column}` has the category `{name}`: `min_categories` is of numbers from 0",
                    hint="leave it out; unseen='smooth' gives what may yet come a cell",
                )
        at = [int(name) for name in names]
        C, K = max([least[column], *(c + 1 for c in at)]), len(tally.classes)
        check_size(column, C, K)
        whole = np.zeros((C, K), dtype=table.dtype)
        whole[at] = table
        categories.append(tuple(str(c) for c in range(C)))
        units.append(whole)
    return replace(tally, categories=tuple(categories), units=tuple(units))
