"""Softmax regression, alone and with naive Bayes behind it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds import errors
from textodds.errors import InputError, Unsupported, suggestion
from textodds.interop.containers import Samples
from textodds.interop.labels import Label, LabelArray, LabelledBatch, Labels, distinct, name_in, names
from textodds.learn.arrays import Floats
from textodds.learn.bayes import of_log_odds
from textodds.learn.design import LabelledRows, Plain, checked_weights
from textodds.learn.forms.linear import LinearModel, log_softmax, normalise
from textodds.learn.registry import settings_of
from textodds.learn.softmax import class_weights, convergence, regression
from textodds.learn.softmax.odds_ratios import OddsRatio
from textodds.learn.solvers.descent import Descent
from textodds.learn.solvers.objective import MANY_CLASSES, Parameters, product

ClassWeight = dict[Label, float] | str | None

FEW_CELLS = 1 << 16
"""Sparse rows of no more cells than this are made dense, and solved to the last digit by elimination."""


class _NotConverged(errors.NotConverged, ConvergenceWarning):  # type: ignore[misc]
    """The warning of the core, for whoever filters scikit-learn's."""


@dataclass(kw_only=True, eq=False, repr=False)
class Softmax(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: rows and labels in, weights by class out."""

    C: float | None = None
    alpha: float | None = None
    class_weight: ClassWeight = None
    tol: float = 1e-6
    max_iter: int = 200
    penalise_bias: bool = False
    _kind: ClassVar[type[regression.PenalisedLearner]]  # the learner of the core

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def learner(self) -> regression.PenalisedLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        if not 0 < self.tol < 1:
            raise InputError(f"tol must be between 0 and 1, got {self.tol!r}", hint="1e-6 serves well")
        if self.max_iter < 1:
            raise InputError(f"max_iter must be at least 1, got {self.max_iter!r}")
        same = {name: getattr(self, name) for name in settings_of(self._kind) if hasattr(self, name)}
        factors = self._factors(getattr(self, "classes_", np.array([])))
        other = {"class_weight": factors, "tolerance": self.tol, "max_epochs": self.max_iter}
        return self._kind(**same | other)

    def fit(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (N, V), dense or sparse, with labels y (N,)."""
        learner = self.learner()  # refuses what cannot be before anything is looked at
        rows, column = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        labels, codes = distinct(column)
        weights = None if sample_weight is None else checked_weights(sample_weight, rows.shape[0])
        if sparse.issparse(rows) and rows.shape[0] * rows.shape[1] <= FEW_CELLS:
            rows = rows.toarray()
        data = LabelledBatch(rows, labels, codes, weights).labelled_rows().with_two_classes()
        idle = set(names(labels)).difference(data.classes)  # their rows all weigh nothing
        learner = replace(learner, class_weight=self._factors(labels, idle))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.NotConverged)  # said below, in the words of this class
            fit = learner.fit_design(Plain(data.rows), data, start=self._start(data))
        if convergence.falls_short(learner, fit.outcome):
            message = convergence.shortfall(learner, fit.outcome, "max_iter or tol")
            warnings.warn(message, _NotConverged, stacklevel=2)
        self.coef_, self.intercept_ = fit.coefficients(names(labels))
        self.classes_, self.C_, self.gap_ = labels, fit.C, fit.outcome.gap
        self.loss_curve_, self._fit = fit.outcome.curve, fit
        self.n_iter_ = np.array([max(fit.outcome.steps, 1)], dtype=np.int32)  # where the start was the end
        return self

    def decision_function(self, X: Samples) -> Floats:
        """Scores, (N, K); of two classes the log-odds of the second, (N,)."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype="numeric")
        if len(self.coef_) == 1:
            return np.asarray(rows @ self.coef_[0] + self.intercept_)
        few = len(self.coef_) < MANY_CLASSES
        scores = np.asarray(rows @ self.coef_.T) if few else product(rows, self.coef_.T)
        scores += self.intercept_
        return scores

    def predict(self, X: Samples) -> LabelArray:
        """The most probable class of each row, (N,)."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Samples) -> Floats:
        """``p(k | x)``, (N, K); every row sums to one."""
        scores = self.decision_function(X)
        return of_log_odds(scores) if scores.ndim == 1 else normalise(scores)[0]

    def predict_log_proba(self, X: Samples) -> Floats:
        """``log p(k | x)``, (N, K)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.logaddexp(0.0, np.stack([scores, -scores], axis=1))
        return log_softmax(scores)

    def odds_ratios(
        self, label: Label, rival: Label, features: Sequence[int | str] | None = None, level: float = 0.95
    ) -> tuple[OddsRatio, ...]:
        """Odds ratios, with standard errors, of ``label`` against ``rival`` for some columns, or all.

        Columns are given by number, or by name where X has names; see
        `textodds.learn.softmax.regression.SoftmaxFit`. They take the rows of the last `fit`, which the
        estimator keeps in memory for this, and does not pickle.
        """
        check_is_fitted(self)
        if "_fit" not in self.__dict__:
            raise Unsupported(
                "standard errors take the rows that the estimator was fitted on, which are not pickled",
                hint="fit it again",
            )
        known = list(getattr(self, "feature_names_in_", ()))
        asked = range(self.n_features_in_) if features is None else features
        columns = [self._column(known, column) for column in asked]
        one, other = (name_in("odds_ratios", each) for each in (label, rival))
        ratios = self._fit.odds_ratios(one, other, columns, level)
        if not known:
            return ratios
        return tuple(replace(ratio, feature=known[v]) for ratio, v in zip(ratios, columns, strict=True))

    def _column(self, known: list[str], column: int | str) -> int:
        if column in known:
            return known.index(column)
        if isinstance(column, str) or not 0 <= column < self.n_features_in_:
            raise InputError(
                f"there is no column {column!r}{suggestion(str(column), known)}",
                hint=f"columns are numbers from 0 to {self.n_features_in_ - 1}, or names that X has",
            )
        return int(column)

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        state.pop("_fit", None)
        return state

    def _factors(self, labels: LabelArray, idle: Collection[str] = ()) -> class_weights.ClassWeight:
        """The class weights by the names that the core has for the classes, without those of idle ones."""
        given: ClassWeight = self.class_weight
        if not isinstance(given, dict):
            return given
        known = dict(zip(labels.tolist(), names(labels), strict=True))  # 1, 1.0 and np.int8(1) are one key
        factors = {known.get(label) or name_in("class_weight", label): each for label, each in given.items()}
        return {name: factor for name, factor in factors.items() if name not in idle}

    def _start(self, data: LabelledRows) -> LinearModel | None:
        """A model to begin from."""
        return None


@dataclass(kw_only=True, eq=False, repr=False)
class SoftmaxRegression(Softmax):
    r"""Softmax (multinomial logistic) regression, to a proven optimum.

    See `textodds.learn.softmax.regression.SoftmaxLearner` for the mathematics.

    Parameters
    ----------
    C, alpha, class_weight, penalise_bias, descent
        As in `textodds.learn.softmax.regression.SoftmaxLearner`; C is chosen on held-out rows where it and
        alpha are None, and a class weight is of a label. `textodds.Descent` is a published method of descent.
    tol : float, default 1e-6
        The relative gap to the optimum at which to stop.
    max_iter : int, default 200
        Passes over the rows before giving up with a warning.
    warm_start : bool, default False
        Whether `fit` begins where the last one ended, which must have had the same classes and columns.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_, intercept_ : ndarray of shape (n_classes, n_features), (n_classes,)
        They sum to zero over the classes. Of two classes, the difference only: (1, n_features), (1,).
    n_iter_ : ndarray of shape (1,)
        Passes over the rows that it took.
    loss_curve_ : tuple of (int, float)
        The objective by step; of a descent, after each epoch.
    C_ : float
        The penalty that was used, given or chosen.
    gap_ : float or None
        By how much the objective may be above its least value, as a share of it: proven. None where there
        is no penalty.

    Differs
    -------
    From scikit-learn's ``LogisticRegression``, where C is 1 by default and ``tol`` bounds the gradient, whose
    size depends on the units of the columns and on how many rows there are; here the gap is proven when `fit`
    ends, and coefficients agree to about the root of it. Without a penalty (``C=inf``) there is nothing to
    prove by, and ``tol`` bounds the gradient; classes that can be told apart without error have no optimum
    then, and are refused. A class whose rows all have weight zero has probability zero.

    Examples
    --------
    >>> model = SoftmaxRegression(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(2), model.intercept_.round(2), model.gap_ < 1e-6
    (array([[0.96]]), array([-1.44]), True)
    >>> model.predict([[0.4], [2.6]]), model.predict_proba([[1.5]]).round(3)
    (array(['no', 'yes'], dtype='<U3'), array([[0.5, 0.5]]))
    """

    warm_start: bool = False
    descent: Descent | None = None
    _kind = regression.SoftmaxLearner

    def _start(self, data: LabelledRows) -> LinearModel | None:
        if not self.warm_start or not hasattr(self, "coef_") or not np.isfinite(self.intercept_).all():
            return None
        last = Parameters(np.ascontiguousarray(self.coef_.T), self.intercept_)
        return regression.linear_of(last, names(self.classes_), np.ones(len(self.classes_)))


@dataclass(kw_only=True, eq=False, repr=False)
class NBSoftmax(Softmax):
    r"""Softmax regression on features scaled by naive Bayes.

    See `textodds.learn.softmax.regression.NBSoftmaxLearner` for the mathematics. Columns are words, or
    whatever else is in a row or not: naive Bayes asks which entries are not zero, and where none is zero it
    knows nothing to begin from.

    Parameters
    ----------
    C, alpha, class_weight, tol, max_iter, penalise_bias
        As in `SoftmaxRegression`.
    smoothing, form
        As in `textodds.learn.softmax.regression.NBSoftmaxLearner`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, loss_curve_, C_, gap_
        As in `SoftmaxRegression`; weights are of the columns as they come.

    Examples
    --------
    >>> X = [[1.0, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> NBSoftmax(C=1.0).fit(X, ["no", "no", "yes", "yes"]).coef_.round(2) + 0.0  # the third says nothing
    array([[-0.77,  0.77,  0.  ]])
    """

    smoothing: float = 1.0
    form: str = "scaled"
    _kind = regression.NBSoftmaxLearner

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.form == "scaled"  # of rows without a zero; see above
        return tags
