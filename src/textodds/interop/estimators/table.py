"""The full table of combinations as a scikit-learn estimator."""

from __future__ import annotations

from numpy.typing import ArrayLike

from textodds.interop.estimators.base import LabelledBatch
from textodds.interop.estimators.category_rows import CategoryRows, labels_of
from textodds.learn import tables
from textodds.learn.conditionals.table import FullTable
from textodds.stats.categories import CellTally


class JointTable(CategoryRows):
    r"""A probability of each combination of categories: nothing is independent.

    See `textodds.learn.conditionals.table.FullTable` for the mathematics. CategoryRows are text, whole
    numbers or truth values; None and NaN are missing values.

    Parameters
    ----------
    alpha : float, default 1.0
        Under ``independent`` how many rows the naive Bayes assumption is worth; under ``uniform``
        pseudo-counts a cell.
    backoff : "independent" or "uniform", default "independent"
        What combinations are believed to be before they are seen: the product of their columns, or alike.
    missing : "ignore" or "category", default "ignore"
        Whether a missing value is summed over, or a category like any other.
    unseen : "ignore" or "smooth", default "ignore"
        Whether a category that was not in training is summed over, or has a cell for all such.
    max_cells : int, default 1,000,000
        More cells than this are refused.
    fit_prior : bool, default True
        Whether classes are as probable as they are often in training, or all alike.
    class_prior : array-like of shape (n_classes,), default None
        Probability of each class, in the order of ``classes_``; then ``fit_prior`` is not asked.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    categories_ : list of ndarray of shape (n_categories,)
        The categories of each column, as text.
    n_categories_ : ndarray of shape (n_features,)
    n_cells_ : int
        How many combinations there are.
    statistics_ : textodds.stats.categories.CellTally
        What was learned, which adds.

    Examples
    --------
    Exclusive or, which no naive Bayes can tell:

    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = JointTable().fit(X, ["same", "other", "other", "same"])
    >>> model.predict(X)
    array(['same', 'other', 'other', 'same'], dtype='<U5')
    >>> model.predict_proba([[1, None]])
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        backoff: str = "independent",
        missing: str = "ignore",
        unseen: str = "ignore",
        max_cells: int = 1_000_000,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.backoff = backoff
        self.missing = missing
        self.unseen = unseen
        self.max_cells = max_cells
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def learner(self) -> tables.JointTableLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        return tables.JointTableLearner(
            self.alpha, self.backoff, self.missing, self.unseen, self.max_cells, self._prior()
        )

    @property
    def n_cells_(self) -> int:
        """How many combinations there are."""
        return self._conditional().cells(self._singles())

    def _conditional(self) -> FullTable:
        return FullTable(self.alpha, self.backoff, self.missing, self.unseen, self.max_cells)

    def _counted(self, batch: LabelledBatch) -> CellTally:
        return CellTally.of(batch.rows, labels_of(batch), batch.weights)
