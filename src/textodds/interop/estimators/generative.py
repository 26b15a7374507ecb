"""What the generative estimators share: labels, batches, priors, and answers by Bayes' rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds.errors import InputError, NoData
from textodds.interop.class_priors import PriorParameter
from textodds.interop.containers import Samples
from textodds.interop.labels import LabelArray, LabelledBatch, Labels, declared, distinct, joined, names
from textodds.learn import bayes
from textodds.learn.arrays import Floats
from textodds.learn.bayes import FittedClasses
from textodds.learn.design import checked_weights
from textodds.learn.forms.linear import log_softmax, normalise
from textodds.learn.registry import Learner, Prior, settings_of

L = TypeVar("L", bound=Learner)

ANY_COLUMNS = ("categorical", "string", "allow_nan")
"""The tags of columns of any kind, with missing values."""


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Labels and probabilities from scores, and a prior in any of its forms."""

    classes_: LabelArray
    n_features_in_: int
    fit_prior = True
    _prior_name = "class_prior"  # the parameter that has it
    _rescales_prior = False
    _takes: tuple[str, ...] = ()  # what X may be, by the names of scikit-learn's input tags

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        for name in self._takes:
            setattr(tags.input_tags, name, True)
        return tags

    def learner(self) -> Learner:
        """The learner of the core with the same choices, for `textodds.train`."""
        raise NotImplementedError

    def _learner_of(self, kind: type[L], **other: object) -> L:
        """A learner whose settings are the parameters of the same names, but for some other."""
        same = {name: getattr(self, name) for name in settings_of(kind) if name not in other}
        return kind(**same, **other)

    def predict(self, X: Samples) -> LabelArray:
        """The most probable class of each row, (N,)."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_log_proba(self, X: Samples) -> Floats:
        """``log p(k | x)``, (N, K)."""
        return log_softmax(self._scores(X))

    def predict_proba(self, X: Samples) -> Floats:
        """``p(k | x)``, (N, K); every row sums to one."""
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X: Samples) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        raise NotImplementedError

    def _by_class(self, values: Floats, classes: tuple[str, ...]) -> Floats:
        """Columns (N, J) of some classes in the order of ``classes_``, (N, K); the others are impossible."""
        known = names(self.classes_)
        if known == classes:
            return values
        index = {name: k for k, name in enumerate(known)}
        out = np.full((len(values), len(known)), -np.inf)
        out[:, [index[name] for name in classes]] = values
        return out

    def _prior_parameter(self) -> PriorParameter:
        given = getattr(self, self._prior_name)
        usual = "data" if self.fit_prior else "uniform"
        return PriorParameter(self._prior_name, usual if given is None else given, self._rescales_prior)

    def _prior(self) -> Prior:
        """The prior as a learner of the core takes it."""
        return self._prior_parameter().for_learner(getattr(self, "classes_", None))


class Statistics(Protocol):
    """What adds."""

    def __add__(self, other: Self, /) -> Self: ...


R = TypeVar("R")
S = TypeVar("S", bound=Statistics)


def _takes_batches(estimator: Generative[R, S]) -> bool:
    estimator._refuse_batches()
    return True


class Generative(Classifier, Generic[R, S]):
    """A classifier that knows ``p(x, k)``, from statistics that add."""

    statistics_: S
    _fitted: FittedClasses | None
    _least_rows = 1
    _declares = False  # whether classes are to be named with the first batch

    def fit(self, X: Samples, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (N, V) with labels y (N,); what was learned before is forgotten."""
        batch = self._batch(X, y, sample_weight, first=True, least=self._least_rows)
        self.classes_ = batch.labels
        self.statistics_ = self._counted(batch)
        self._fitted = None  # if it cannot be made, whoever predicts is told again why
        self._fitted = self._made(batch)
        return self

    @available_if(_takes_batches)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Samples, y: Labels, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more rows: after the last batch, as if `fit` had seen them all.

        ``classes`` names all classes, those that have no rows yet too; they are impossible until they have.
        Naive Bayes wants it with the first batch, as in scikit-learn; later it may be left out, and labels
        that were never named are then welcome. No model is made before one is wanted.
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

    def predict_proba(self, X: Samples) -> Floats:
        """``p(k | x)``, (N, K); every row sums to one."""
        return normalise(self._scores(X))[0]

    def log_joint(self, X: Samples) -> Floats:
        """``log p(x, k)`` with all constants, (N, K)."""
        fitted = self._known()
        rows = self._rows(X)
        with np.errstate(all="ignore"):
            return bayes.refuse_overflow(fitted.log_joint(self._log_likelihood(fitted, rows)))

    def predict_joint_log_proba(self, X: Samples) -> Floats:
        """The same as `log_joint`, under scikit-learn's name."""
        return self.log_joint(X)

    def log_density(self, X: Samples) -> Floats:
        """``log p(x)`` with all constants, (N,): how usual a row is, whatever its class."""
        return normalise(self.log_joint(X))[1]

    def _scores(self, X: Samples) -> Floats:
        return self.log_joint(X)

    def _known(self) -> FittedClasses:
        """What was learned, made now if batches have come since."""
        check_is_fitted(self)
        if self._fitted is None:
            self._fitted = self._made(None)
        return self._fitted

    def _batch(
        self, X: Samples, y: Labels, sample_weight: ArrayLike | None, *, first: bool, least: int = 1
    ) -> LabelledBatch[R]:
        rows, column, N = self._checked(X, y, first=first, least=least)
        labels, codes = self._coded(column)
        weights = None if sample_weight is None else checked_weights(sample_weight, N)
        return LabelledBatch(rows, labels, codes, weights)

    def _coded(self, y: LabelArray) -> tuple[LabelArray, NDArray[np.intp]]:
        """The labels that occur, sorted (K,), and the number of each row's (N,)."""
        return distinct(y)

    def _placed(self, classes: tuple[str, ...], mass: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Where classes with rows of so much weight are among all, and the logarithm of the prior of all."""
        if not mass.any():
            raise NoData("there is nothing to learn from: no row has a weight above zero")
        index = {name: k for k, name in enumerate(names(self.classes_))}
        places = np.array([index[name] for name in classes], dtype=np.intp)
        every = np.zeros(len(self.classes_))
        every[places] = mass
        prior = self._prior_parameter().shares(self.classes_, every)
        if not prior[places].any():
            raise InputError("the prior is zero for every class that has rows")
        with np.errstate(divide="ignore"):
            return places, np.log(prior)

    def _refuse_batches(self) -> None:
        """Refuse to learn in batches, with the reason, where that cannot be."""

    @property
    def _checks(self) -> dict[str, object]:
        """How scikit-learn looks at a matrix: of any type of number, of which it makes no copy."""
        return {
            "accept_sparse": "csr" if "sparse" in self._takes else False,
            "ensure_all_finite": "allow-nan" if "allow_nan" in self._takes else True,
        }

    def _checked(self, X: Samples, y: Labels, *, first: bool, least: int) -> tuple[R, LabelArray, int]:
        """Rows and labels to learn from, checked, at least so many, and how many they are."""
        rows, column = validate_data(self, X, y, reset=first, ensure_min_samples=least, **self._checks)
        return rows, column, rows.shape[0]

    def _rows(self, X: Samples) -> R:
        """Rows to predict, checked."""
        return validate_data(self, X, reset=False, **self._checks)  # type: ignore[no-any-return]

    def _counted(self, batch: LabelledBatch[R]) -> S:
        """The statistics of a batch."""
        raise NotImplementedError

    def _made(self, batch: LabelledBatch[R] | None) -> FittedClasses:
        """The model of the statistics; ``batch`` has all rows they were counted from, where that is so."""
        raise NotImplementedError

    def _log_likelihood(self, fitted: FittedClasses, rows: R) -> Floats:
        """``log p(x | k)``, (N, J)."""
        return np.asarray(fitted.density.log_density(rows))


def fitted(about: str, read: Callable[[Any], object]) -> property:
    """An attribute of a fitted estimator, read from what was made of its statistics (`FittedClasses`)."""
    return property(lambda estimator: read(estimator._known()), doc=about)
