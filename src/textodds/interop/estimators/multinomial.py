"""Multinomial naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.interop.estimators.counts import ClassSums, CountRows, LinearScores, present
from textodds.learn import naive_bayes
from textodds.learn.conditionals.estimate import Alpha
from textodds.learn.conditionals.multinomial import Multinomial

Floats = NDArray[np.float64]


class MultinomialNB(CountRows):
    r"""Multinomial naive Bayes: rows of counts, or of shares of counts such as tf-idf.

    See `textodds.learn.conditionals.multinomial.Multinomial` for the mathematics.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default 1.0
        Smoothing, in pseudo-counts per column. None chooses it by leaving out one text at a time, where
        there are texts (`textodds.train`).
    force_alpha : bool, default True
        Whether an alpha below 1e-10 is used as it is, or 1e-10 instead, with a warning.
    fit_prior : bool, default True
        Whether classes are as probable as they are often in training, or all alike.
    class_prior : array-like of shape (n_classes,) or dict of label to float, default None
        Probability of each class, in the order of ``classes_`` or by name; then ``fit_prior`` is not asked.
    binary : bool, default False
        Count a word once a row, in training and in prediction; often better for short texts.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Sums of counts, and logarithms of probabilities.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where the columns have names.
    statistics_ : textodds.interop.estimators.counts.ClassSums
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's, whose numbers are the same. The first call of ``partial_fit`` names the ``classes``,
    as there; a later one may leave them out, and labels that were never named are then welcome. No model is
    made before one is wanted. At ``alpha=0`` scikit-learn gives -inf, and NaN where all classes are
    impossible; here numbers are finite and the class with the fewest impossible words wins (see
    `textodds.learn.forms.linear.LOG_ZERO`). Weights below zero are refused, and priors that do not sum to 1.
    A class without rows has the prior -inf and the words of the smoothing alone, as there.

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 0], [0, 1]], ["ham", "spam"])
    >>> np.exp(model.feature_log_prob_).round(3)
    array([[0.75 , 0.25 ],
           [0.333, 0.667]])
    >>> model.predict_proba([[1, 0]]).round(3)
    array([[0.692, 0.308]])
    >>> model.partial_fit([[0, 3]], ["eggs"]).predict([[1, 0], [0, 4]])
    array(['ham', 'eggs'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        alpha: Alpha | None = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | dict[Any, float] | None = None,
        binary: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.binary = binary

    def learner(self) -> naive_bayes.MultinomialLearner:
        """The learner of the core with the same choices."""
        return naive_bayes.MultinomialLearner(self._learner_alpha(), self._prior(), self.binary)

    def _seen(self, rows: Any) -> Any:
        return present(rows, 0) if self.binary else super()._seen(rows)

    def _scoring(self, sums: ClassSums) -> LinearScores:
        log_theta = Multinomial(self._smoothing()).log_theta(sums.total)
        return LinearScores.of(np.zeros(len(sums.labels)), log_theta)
