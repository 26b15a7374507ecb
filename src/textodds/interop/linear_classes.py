"""The last step of a pipeline of scikit-learn: linear, and rows of zeros have the class prior."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import log


class LinearClasses(LogisticRegression):  # type: ignore[misc]
    r"""The last step of what `textodds.to_sklearn` makes of a calibrated softmax model.

    It is scikit-learn's ``LogisticRegression``, but a row of zeros, a text without a known word, has the
    class prior, as in the model; the intercept alone would be sure of a label without having read a word.

    Attributes
    ----------
    prior_ : ndarray (K,), or (1,) of two classes
        The scores of a row of zeros; of two classes, the log-odds of the second.
    """

    prior_: Floats

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and labels; the prior is their shares."""
        super().fit(X, y, sample_weight)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        codes = np.searchsorted(self.classes_, np.asarray(y))
        prior = log(np.bincount(codes, weights, len(self.classes_)) / weights.sum())
        self.prior_ = prior[1:] - prior[:1] if len(prior) == 2 else prior
        return self

    def decision_function(self, X: object) -> Floats:
        """The scores of each class, (N, K); of two classes the log-odds of the second, (N,)."""
        scores = np.array(super().decision_function(X))
        there = np.asarray(sparse.csr_array(X).astype(bool).sum(axis=1)).reshape(-1)
        scores[there == 0] = self.prior_ if scores.ndim == 2 else self.prior_[0]
        return scores
