"""Numbers, categories and texts in one naive Bayes: the face of a `TableModel`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from textodds.interop.class_priors import ClassPrior
from textodds.interop.containers import Samples, columns_by_name, label_column, labels_of_rows
from textodds.interop.estimators.generative import ANY_COLUMNS, Classifier
from textodds.interop.labels import LabelArray, Labels, joined
from textodds.learn.arrays import Floats
from textodds.learn.tables import MixedLearner
from textodds.model.tables.table_model import TableModel
from textodds.training.tables import train_table


@dataclass(kw_only=True, eq=False, repr=False)
class MixedNB(Classifier):
    r"""Naive Bayes for tables: each column has a class-conditional of its own kind.

    See `textodds.learn.tables.MixedLearner` and `textodds.learn.conditionals.product.Product`. Columns of a
    frame are taken by their types.

    Parameters
    ----------
    columns : dict, default None
        What columns are, by name: ``number``, ``gaussian``, ``bins``, ``category``, ``text`` or ``ignore``;
        those of an array are called x0, x1 and so on. The others are found by type.
    alpha, word_alpha, smoothing, missing, unseen, calibrate
        As in `textodds.learn.tables.MixedLearner`.
    class_prior
        As in `MultinomialNB`; None: as often as in training.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : textodds.TableModel
        What was learned: statistics that add and subtract, what was chosen for each column, and why.

    Examples
    --------
    >>> X = [[1.9, "short"], [1.8, "short"], [1.6, "long"], [1.7, "long"]]
    >>> MixedNB().fit(X, ["m", "m", "f", "f"]).predict([[1.85, "short"]])
    array(['m'], dtype='<U1')
    """

    columns: Mapping[str, str] | None = None
    alpha: float = 1.0
    word_alpha: float = 1.0
    smoothing: float = 1e-9
    missing: str = "category"
    unseen: str = "ignore"
    class_prior: ClassPrior = None
    calibrate: bool = True
    _takes = ANY_COLUMNS

    def learner(self) -> MixedLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        return self._learner_of(MixedLearner, prior=self._prior())

    def fit(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (N, V) with labels y (N,); what was learned before is forgotten."""
        table, labels, classes, weights = self._checked(X, y, sample_weight, first=True)
        choices = clone(self)
        choices.classes_ = labels  # in whose order the prior is
        self.model_: TableModel = train_table(
            table, classes, weights, learner=choices.learner(), columns=self.columns
        )
        self.classes_ = labels
        return self

    def partial_fit(
        self, X: Samples, y: Labels, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more rows; what was chosen for the columns in the first batch stays as it is.

        Labels that are new are welcome in any batch; ``classes`` may name them beforehand.
        """
        if not hasattr(self, "model_"):
            self.fit(X, y, sample_weight)
        else:
            table, labels, of_rows, weights = self._checked(X, y, sample_weight, first=False)
            self.model_.learn(table, of_rows, weights)
            self.classes_ = joined(self.classes_, labels)
        if classes is not None:
            self.classes_ = joined(self.classes_, classes)
        return self

    def log_joint(self, X: Samples) -> Floats:
        """``log p(x, k)`` with all constants, before any weighing: (N, K)."""
        check_is_fitted(self)
        return self._by_class(self.model_.log_joint(self._table(X)), self.model_.class_names)

    def log_density(self, X: Samples) -> Floats:
        """``log p(x)`` with all constants, (N,)."""
        return np.asarray(np.logaddexp.reduce(self.log_joint(X), axis=1))

    def _scores(self, X: Samples) -> Floats:
        check_is_fitted(self)
        return self._by_class(self.model_.score(self._table(X))[0], self.model_.class_names)

    def _checked(
        self, X: Samples, y: Labels, sample_weight: ArrayLike | None, *, first: bool
    ) -> tuple[dict[str, Any], LabelArray, list[str], Floats | None]:
        column = label_column(self, y)  # before X, so that nothing is changed by it
        table = self._table(X, first=first)
        return table, *labels_of_rows(column, len(next(iter(table.values()))), sample_weight)

    def _table(self, X: Samples, *, first: bool = False) -> dict[str, Any]:
        """The columns as a table is read: those of any objects are lists."""
        return {
            name: column.tolist() if isinstance(column, np.ndarray) and column.dtype == object else column
            for name, column in columns_by_name(self, X, first=first).items()
        }
