"""Complement naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import Unsupported
from textodds.interop.estimators.base import FittedClasses, LabelledBatch
from textodds.interop.estimators.counts import ClassSums, CountRows, LinearScores
from textodds.learn import naive_bayes
from textodds.learn.conditionals.complement import Complement
from textodds.learn.conditionals.estimate import Alpha

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WithoutPrior(FittedClasses):
    """Classes that are scored by what the others are not: the prior has no part in it."""

    def log_joint(self, log_likelihood: Floats) -> Floats:
        """The scores, (N, K)."""
        return log_likelihood


class ComplementNB(CountRows):
    r"""Complement naive Bayes: rows of counts against the words of all other classes.

    See `textodds.learn.conditionals.complement.Complement` for the mathematics. Scores order classes;
    normalised (``predict_proba``) they are no probabilities under any model.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default 1.0
        Smoothing, in pseudo-counts per column. None chooses it by leaving out one text at a time, where
        there are texts (`textodds.train`).
    force_alpha : bool, default True
        Whether an alpha below 1e-10 is used as it is, or 1e-10 instead, with a warning.
    fit_prior : bool, default True
        Whether ``class_log_prior_`` is of classes as they are often in training, or all alike; it has no part
        in the scores.
    class_prior : array-like of shape (n_classes,) or dict of label to float, default None
        Probability of each class, for ``class_log_prior_`` alone.
    norm : bool, default False
        Normalise the weights of each class: long classes do not win by the size of their weights.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Sums of counts, and weights in the scores.
    feature_all_ : ndarray of shape (n_features,)
        Sums of counts over all classes.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where the columns have names.
    statistics_ : textodds.interop.estimators.counts.ClassSums
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's, whose numbers are the same. The first call of ``partial_fit`` names the ``classes``,
    as there; a later one may leave them out, and labels that were never named are then welcome. No model is
    made before one is wanted. At ``alpha=0`` scikit-learn gives infinite weights and NaN; here numbers are
    finite (see `textodds.learn.forms.linear.LOG_ZERO`). A small alpha beside large counts loses digits there
    (at 1e-10 and counts of hundreds, all but five). Weights below zero are refused, and priors that do not
    sum to 1. A class without rows is scored by the words of all rows, as there, which hardly lets it win.

    Examples
    --------
    >>> model = ComplementNB().fit([[2, 0], [0, 1]], ["ham", "spam"])
    >>> model.feature_log_prob_.round(3)
    array([[1.099, 0.405],
           [0.288, 1.386]])
    >>> model.predict([[1, 0], [0, 1]])
    array(['ham', 'spam'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        alpha: Alpha | None = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | dict[Any, float] | None = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def learner(self) -> naive_bayes.ComplementLearner:
        """The learner of the core with the same choices; that one can also transform texts (TWCNB)."""
        return naive_bayes.ComplementLearner(self._learner_alpha(), self.norm)

    def log_density(self, X: Any) -> Floats:
        """Refused: scores are no densities."""
        raise Unsupported(
            "complement naive Bayes models what the other classes are: rows have no density under it",
            hint="use MultinomialNB",
        )

    @property
    def feature_all_(self) -> Floats:
        """Sums of the columns over all rows, (V,)."""
        return np.asarray(self._sums().total.sum(axis=0))

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        made = super()._made(batch)
        return WithoutPrior(made.places, made.log_prior, made.density)

    def _scoring(self, sums: ClassSums) -> LinearScores:
        weights = Complement(self._smoothing(), self.norm).weights(sums.total)
        return LinearScores.of(np.zeros(len(sums.labels)), weights)
