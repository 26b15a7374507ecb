"""Multivariate Bernoulli naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, TextoddsWarning, Unsupported
from textodds.interop.estimators.base import LabelledBatch
from textodds.interop.estimators.counts import ClassSums, CountRows, LinearScores, present
from textodds.learn import naive_bayes
from textodds.learn.conditionals.bernoulli import Bernoulli
from textodds.learn.conditionals.estimate import Alpha

Floats = NDArray[np.float64]


class NotBinary(TextoddsWarning):
    """Rows that were said to be of 0 and 1 are not: some probabilities had to be held to 0 or 1."""


class BernoulliNB(CountRows):
    r"""Bernoulli naive Bayes: columns that are there or not; absent ones count too.

    See `textodds.learn.conditionals.bernoulli.Bernoulli` for the mathematics.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default 1.0
        Smoothing, in pseudo-counts per column: a Beta(α, α) prior. None chooses it by leaving out one text
        at a time, where there are texts (`textodds.train`).
    force_alpha : bool, default True
        Whether an alpha below 1e-10 is used as it is, or 1e-10 instead, with a warning.
    binarize : float or None, default 0.0
        What is above this is there. None: rows are of 0 and 1 already.
    fit_prior : bool, default True
        Whether classes are as probable as they are often in training, or all alike.
    class_prior : array-like of shape (n_classes,) or dict of label to float, default None
        Probability of each class, in the order of ``classes_`` or by name; then ``fit_prior`` is not asked.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        How many rows of a class hold a column, and the logarithm of the probability of that.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where the columns have names.
    statistics_ : textodds.interop.estimators.counts.ClassSums
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's, whose numbers are the same, but for an alpha below about 1e-6, where it loses digits
    of the probability to be absent. An alpha per column, which that one documents and cannot use, works. A
    cell that a sparse row stores in parts is one cell. The first call of ``partial_fit`` names the
    ``classes``, as there; a later one may leave them out, and labels that were never named are then welcome.
    No model is made before one is wanted. At ``alpha=0``, and where ``binarize=None`` is given rows of other
    numbers than 0 and 1, scikit-learn gives NaN; here numbers are finite, and in the second case a warning
    is given. Weights below zero are refused, and priors that do not sum to 1. A class without rows has the
    prior -inf and a half for each column, as there.

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [3, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> np.exp(model.feature_log_prob_).round(3)
    array([[0.75 , 0.5  ],
           [0.333, 0.667]])
    >>> model.predict_proba([[0, 2]]).round(3)
    array([[0.36, 0.64]])
    """

    def __init__(
        self,
        *,
        alpha: Alpha | None = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | dict[Any, float] | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags

    def learner(self) -> naive_bayes.BernoulliLearner:
        """The learner of the core with the same choices."""
        if self.binarize is not None and not 0 <= self.binarize < 1:
            raise Unsupported(
                f"of texts a word that occurs is there, whatever binarize={self.binarize!r} says",
                hint="leave binarize out, or give rows of counts to `fit`",
            )
        return naive_bayes.BernoulliLearner(self._learner_alpha(), self._prior())

    @property
    def feature_log_prob_(self) -> Floats:
        """Logarithm of the probability that a row of a class holds a column, (K, V)."""
        sums = self._sums()
        return self._conditional().log_p(sums.total, sums.weight)[0]

    def _conditional(self) -> Bernoulli:
        return Bernoulli(self._smoothing())

    def _seen(self, rows: Any) -> Any:
        return super()._seen(rows) if self.binarize is None else present(rows, self.binarize)

    def _refuse(self, rows: Any) -> None:
        if self.binarize is not None and not self.binarize >= 0:
            raise InputError(
                f"binarize must be zero or more, got {self.binarize!r}",
                hint="cells that a sparse row does not store are zero, and must not be there",
            )

    def _counted(self, batch: LabelledBatch) -> ClassSums:
        sums = super()._counted(batch)
        if self.binarize is None and ((sums.total < 0).any() or (sums.weight < sums.total.T).any()):
            warnings.warn(
                "rows have numbers other than 0 and 1, so that some probabilities had to be held to 0 or 1; "
                "leave binarize at 0.0 to make 1 of all that is above zero",
                NotBinary,
                stacklevel=3,
            )
        return sums

    def _scoring(self, sums: ClassSums) -> LinearScores:
        log_p, log_not = self._conditional().log_p(sums.total, sums.weight)
        intercept = log_not.sum(axis=1)
        log_p -= log_not
        return LinearScores.of(intercept, log_p)
