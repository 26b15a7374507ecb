"""A linear classifier of several labels a row, as the last step of a pipeline of scikit-learn."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds.data.named_arrays import AnyArray
from textodds.errors import Unsupported

Floats = NDArray[np.float64]


class LinearLabels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""The last step of what `textodds.to_sklearn` makes of a `MultiLabelModel`: several labels a row.

    Model
    -----
    .. math:: p(k \mid x) = \sigma(b_k + w_k^\top x), \qquad k \text{ is given where } p(k \mid x) \ge t_k

    A row of zeros, a text without a known word, has the shares of the labels in training.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels, in the order of the columns.
    coef_, intercept_ : ndarray (K, V), ndarray (K,)
        The weights w and the bias b, calibration included.
    thresholds_ : ndarray (K,)
        t; above 1 the label is never given.
    prior_ : ndarray (K,)
        The log-odds of a row of zeros.
    """

    classes_: AnyArray
    coef_: Floats
    intercept_: Floats
    thresholds_: Floats
    prior_: Floats

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: object, y: object = None) -> NoReturn:
        """Refused: it is made of a model that is fitted already."""
        raise Unsupported(
            "a pipeline that was made of a model is not fitted again",
            hint="fit `textodds.MultiLabelTextClassifier` on the texts",
        )

    def decision_function(self, X: object) -> Floats:
        """The log-odds of each label, (N, K)."""
        check_is_fitted(self, "coef_")
        rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        scores = np.asarray(rows @ self.coef_.T) + self.intercept_
        there = np.diff(rows.indptr) if sparse.issparse(rows) else np.count_nonzero(rows, axis=1)
        scores[there == 0] = self.prior_
        return np.asarray(scores)

    def predict_proba(self, X: object) -> Floats:
        """``p(label | row)``, (N, K), each label by itself."""
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * self.decision_function(X))))

    def predict(self, X: object) -> NDArray[np.int64]:
        """The indicator matrix of the labels that are given, (N, K)."""
        return np.asarray(self.predict_proba(X) >= self.thresholds_).astype(np.int64)
