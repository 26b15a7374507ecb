"""What all generative estimators share: labels, batches, priors, and Bayes' rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from textodds.errors import InputError, NoData
from textodds.interop.estimators.labels import declared, distinct, joined, names
from textodds.learn.forms.linear import log_softmax
from textodds.learn.labelled_rows import checked_weights

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """Rows that were checked, with the labels that occur in them."""

    rows: Any  # (N, V) dense or CSR, or columns by name
    labels: NDArray[Any]  # (K,) sorted
    codes: NDArray[np.intp]  # (N,)
    weights: Floats | None  # (N,)

    @property
    def classes(self) -> tuple[str, ...]:
        """What the core calls the classes."""
        return names(self.labels)


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """What was made of the statistics: K classes, of which J have rows."""

    places: NDArray[np.intp]  # (J,) which of the classes those are
    log_prior: Floats  # (K,)
    density: Any  # of the J classes

    def by_class(self, values: Floats, empty: float = np.nan) -> Floats:
        """Values by class (J, ...) for all classes, (K, ...)."""
        out = np.full((len(self.log_prior), *values.shape[1:]), empty)
        out[self.places] = values
        return out

    def log_joint(self, log_likelihood: Floats) -> Floats:
        """``log p(x, k)``, (N, K); a class without rows is impossible."""
        J, K = len(self.places), len(self.log_prior)
        if J == K and (self.places == np.arange(K)).all():
            return np.asarray(log_likelihood + self.log_prior)
        out = np.full((len(log_likelihood), K), -np.inf)
        out[:, self.places] = log_likelihood + self.log_prior[self.places]
        return out


class Generative(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that knows ``p(x, k)``, from statistics that add."""

    classes_: NDArray[Any]
    statistics_: Any
    n_features_in_: int
    _fitted: FittedClasses | None
    _least_rows = 1
    _declares = False  # whether classes are to be named with the first batch
    _prior_hint = "fit it first, or give the learner a prior by name: prior={'ham': 0.9, 'spam': 0.1}"

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (N, V) with labels y (N,); what was learned before is forgotten."""
        batch = self._batch(X, y, sample_weight, first=True, least=self._least_rows)
        self.classes_ = batch.labels
        self.statistics_ = self._counted(batch)
        self._fitted = None  # if it cannot be made, whoever predicts is told again why
        self._fitted = self._made(batch)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more rows: after the last batch, as if `fit` had seen them all.

        ``classes`` names all classes, those that have no rows yet too; they are impossible until they have.
        Naive Bayes wants it with the first batch, as in scikit-learn; later it may be left out, and labels
        that were never named are then welcome.
        """
        first = not hasattr(self, "classes_")
        if first and classes is None and self._declares:
            raise InputError(
                "classes must be passed on the first call to partial_fit.",
                hint="classes=np.unique(y) will do: labels that come with later batches are welcome",
            )
        batch = self._batch(X, y, sample_weight, first=first)
        known = batch.labels if first else self.classes_
        labels = joined(known, batch.labels)
        if classes is not None:
            labels = declared(classes, batch.labels, known, same=self._declares and not first)
        seen = self._counted(batch)
        # Only what cannot fail any more is left, so that a bad batch changes nothing.
        self.statistics_ = seen if first else self.statistics_ + seen
        self.classes_ = labels
        self._fitted = None  # made when it is wanted: a first batch may be too small to make it of
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
        scores = self._scores(X)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        return np.asarray(odds)

    def log_joint(self, X: Any) -> Floats:
        """``log p(x, k)`` with all constants, (N, K)."""
        check_is_fitted(self)
        fitted = self._known()
        rows = self._rows(X)
        with np.errstate(all="ignore"):  # what overflows is told about below
            return told(fitted.log_joint(self._log_likelihood(fitted.density, rows)))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """The same as `log_joint`, under scikit-learn's name."""
        return self.log_joint(X)

    def log_density(self, X: Any) -> Floats:
        """``log p(x)`` with all constants, (N,): how usual a row is, whatever its class."""
        joint = self.log_joint(X)
        top = joint.max(axis=1)
        return np.asarray(top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))

    def _scores(self, X: Any) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        return self.log_joint(X)

    def _known(self) -> FittedClasses:
        """What was learned, made now if batches have come since."""
        check_is_fitted(self)
        if self._fitted is None:
            self._fitted = self._made(None)
        return self._fitted

    def _batch(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, first: bool, least: int = 1
    ) -> LabelledBatch:
        rows, y, N = self._checked(X, y, first=first, least=least)
        labels, codes = distinct(y)
        weights = None if sample_weight is None else checked_weights(sample_weight, N)
        return LabelledBatch(rows, labels, codes, weights)

    def _placed(self, classes: tuple[str, ...], mass: Floats, priors: Any) -> tuple[NDArray[np.intp], Floats]:
        """Where the classes with rows are among all, and the logarithm of the prior of all."""
        if not classes:
            raise NoData("there is nothing to learn from: no row has a weight above zero")
        index = {name: k for k, name in enumerate(names(self.classes_))}
        places = np.array([index[name] for name in classes], dtype=np.intp)
        K = len(self.classes_)
        if priors is None:
            prior = np.zeros(K)
            prior[places] = mass / mass.sum()
        else:
            prior = self._shares(priors, K)
        if not prior[places].any():
            raise InputError("the prior is zero for every class that has rows")
        with np.errstate(divide="ignore"):
            return places, np.log(prior)

    def _prior_by_name(self, priors: Any, parameter: str) -> dict[str, float]:
        """Priors in the order of the classes, which a parameter has, as a learner of the core takes them."""
        if not hasattr(self, "classes_"):
            raise InputError(
                f"`{parameter}` has the order of the classes, which is not known before the estimator is "
                "fitted",
                hint=self._prior_hint,
            )
        shares = self._shares(priors, len(self.classes_))
        return dict(zip(names(self.classes_), shares.tolist(), strict=True))

    def _shares(self, priors: Any, K: int) -> Floats:
        """The probabilities of the classes, (K,), if ``priors`` are such."""
        return checked_priors(priors, K)

    def _checked(self, X: Any, y: Any, *, first: bool, least: int) -> tuple[Any, Any, int]:
        """Rows and labels to learn from, checked, at least so many, and how many they are."""
        raise NotImplementedError

    def _rows(self, X: Any) -> Any:
        """Rows to predict, checked."""
        raise NotImplementedError

    def _counted(self, batch: LabelledBatch) -> Any:
        """The statistics of a batch."""
        raise NotImplementedError

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        """The model of the statistics; ``batch`` has all rows they were counted from, where that is so."""
        raise NotImplementedError

    def _log_likelihood(self, density: Any, rows: Any) -> Floats:
        """``log p(x | k)``, (N, J)."""
        return np.asarray(density.log_density(rows))


def checked_priors(priors: Any, K: int) -> Floats:
    """Probabilities of K classes, (K,)."""
    values = np.asarray(priors, dtype=np.float64)
    if values.shape != (K,):
        raise InputError(
            f"Number of priors must match number of classes: there are {values.size} priors for {K} classes",
            hint="give one for each of `classes_`, in that order",
        )
    bad = np.flatnonzero(~(values >= 0))
    if len(bad):
        raise InputError(
            f"Priors must be non-negative: number {bad[0]} is {values[bad[0]]:g}",
            hint="priors must be non-negative shares, 1 in all",
        )
    if abs(float(values.sum()) - 1) > 1e-6:
        raise InputError(
            f"The sum of the priors should be 1: these sum to {values.sum():g}",
            hint="give each class a share of zero or more, 1 in all",
        )
    return np.asarray(values / values.sum())


def told(scores: Floats) -> Floats:
    """The scores, unless those of a row are no numbers."""
    if np.isfinite(scores).all():
        return scores
    bad = np.flatnonzero(~np.isfinite(scores.max(axis=1)))  # some classes may be impossible, all cannot
    if len(bad):
        raise InputError(
            f"row {bad[0]} has numbers so large that no class has a density there",
            hint="numbers must be below 1e100: drop the row, or scale the column",
        )
    return scores
