"""Numbers, categories and texts in one naive Bayes, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from textodds.errors import NoData
from textodds.interop.estimators.labels import distinct, joined, names
from textodds.learn import tables
from textodds.learn.forms.linear import log_softmax
from textodds.learn.labelled_rows import checked_weights
from textodds.model.table_model import TableModel
from textodds.training.tables import train_table

Floats = NDArray[np.float64]


class MixedNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""General naive Bayes: every column has the class-conditional that suits it.

    See `textodds.learn.tables.MixedLearner` and `textodds.learn.conditionals.product.Product`. Columns of a
    frame are taken by their types: numbers are Gaussian or cut into intervals, whichever makes held-out rows
    more likely; categories are categorical; texts multinomial.

    Parameters
    ----------
    columns : dict, default None
        What columns are, by name: ``number``, ``gaussian``, ``bins``, ``category``, ``text`` or ``ignore``;
        those of an array are called x0, x1 and so on. The others are found by type.
    alpha : float, default 1.0
        Smoothing of categories and intervals, in pseudo-counts.
    word_alpha : float, default 1.0
        Smoothing of words, in pseudo-counts.
    missing : "category" or "ignore", default "category"
        Whether a missing category is one of its own. A missing number is always left out.
    unseen : "ignore" or "smooth", default "ignore"
        What a category says that was never seen.
    calibrate : bool, default True
        Weigh the kinds of evidence so that probabilities of rows that were held out are right.

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

    classes_: NDArray[Any]
    model_: TableModel
    n_features_in_: int

    def __init__(
        self,
        *,
        columns: Mapping[str, str] | None = None,
        alpha: float = 1.0,
        word_alpha: float = 1.0,
        missing: str = "category",
        unseen: str = "ignore",
        calibrate: bool = True,
    ) -> None:
        self.columns = columns
        self.alpha = alpha
        self.word_alpha = word_alpha
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def learner(self) -> tables.MixedLearner:
        """The choices, as `textodds.train` takes them."""
        return tables.MixedLearner(
            alpha=self.alpha,
            word_alpha=self.word_alpha,
            missing=self.missing,
            unseen=self.unseen,
            calibrate=self.calibrate,
        )

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (N, V) with labels y (N,); what was learned before is forgotten."""
        table, labels, named, weights = self._checked(X, y, sample_weight, first=True)
        self.model_ = train_table(table, named, weights, learner=self.learner(), columns=self.columns)
        self.classes_ = labels
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more rows; what was chosen for the columns in the first batch stays as it is.

        Labels that are new are welcome in any batch; ``classes`` may name them beforehand.
        """
        if not hasattr(self, "model_"):
            self.fit(X, y, sample_weight)
        else:
            table, labels, named, weights = self._checked(X, y, sample_weight, first=False)
            self.model_.learn(table, named, weights)
            self.classes_ = joined(self.classes_, labels)
        if classes is not None:
            self.classes_ = joined(self.classes_, classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row, (N,)."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_log_proba(self, X: Any) -> Floats:
        """``log p(k | x)``, (N, K)."""
        return log_softmax(self._scores(X))

    def predict_proba(self, X: Any) -> Floats:
        """``p(k | x)``, (N, K); every row sums to one."""
        return np.exp(self.predict_log_proba(X))

    def log_joint(self, X: Any) -> Floats:
        """``log p(x, k)`` with all constants, before any weighing: (N, K)."""
        check_is_fitted(self)
        return self._by_class(self.model_.log_joint(self._table(X, first=False)))

    def log_density(self, X: Any) -> Floats:
        """``log p(x)`` with all constants, (N,)."""
        return np.asarray(np.logaddexp.reduce(self.log_joint(X), axis=1))

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._by_class(self.model_.score(self._table(X, first=False))[0])

    def _by_class(self, values: Floats) -> Floats:
        """Columns in the order of ``classes_``; a class without rows is impossible."""
        index = {name: k for k, name in enumerate(self.model_.classes_)}
        out = np.full((len(values), len(self.classes_)), -np.inf)
        for k, name in enumerate(names(self.classes_)):
            if name in index:
                out[:, k] = values[:, index[name]]
        return out

    def _checked(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, first: bool
    ) -> tuple[Any, NDArray[Any], list[str], Floats | None]:
        if y is None:  # before X, so that nothing is changed by it
            validate_data(self, X, y, skip_check_array=True)
        table = self._table(X, first=first)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        N = len(next(iter(table.values())))
        check_consistent_length(range(N), y)
        labels, codes = distinct(y)
        named = np.array(names(labels), dtype=object)[codes].tolist()
        weights = None if sample_weight is None else checked_weights(sample_weight, N)
        return table, labels, named, weights

    def _table(self, X: Any, *, first: bool) -> dict[str, Any]:
        """The columns by name."""
        if hasattr(X, "iloc") or hasattr(X, "__arrow_c_stream__"):  # columns may be of different types
            validate_data(self, X, reset=first, skip_check_array=True)
            if not len(X):
                raise NoData("found 0 samples: there are no rows")
            columns = [X.iloc[:, j] for j in range(X.shape[1])] if hasattr(X, "iloc") else list(_arrow(X))
        else:
            dtype = object if isinstance(X, (list, tuple)) else None  # NumPy would make all of it text
            X = validate_data(self, X, reset=first, dtype=dtype, ensure_all_finite="allow-nan")
            columns = [column.tolist() if X.dtype == object else column for column in X.T]
        return dict(zip(self._names(), columns, strict=True))

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]


def _arrow(frame: Any) -> Any:
    import pyarrow as pa

    return pa.table(frame).columns
