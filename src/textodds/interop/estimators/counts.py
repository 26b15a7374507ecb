"""What the estimators of counts share: rows of counts, dense or sparse, and their sums by class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds import _kernels
from textodds.errors import InputError, NegativeCount, NoData, TextoddsWarning
from textodds.interop.estimators.base import FittedClasses, Generative, LabelledBatch
from textodds.interop.estimators.labels import name_in
from textodds.learn.conditionals.estimate import Alpha, checked_alpha
from textodds.learn.registry import Prior
from textodds.learn.solvers.objective import MANY_CLASSES, product, raw

Floats = NDArray[np.float64]

LEAST_ALPHA = 1e-10
"""The least smoothing unless ``force_alpha``, as in scikit-learn."""

FEW_CLASSES = 4
"""Up to so many classes SciPy's product of sparse rows with membership is the fastest sum by class."""

WHOLE = 1 << 53
"""Up to here whole numbers are the same in double precision."""


@dataclass(frozen=True, eq=False)
class ClassSums:
    """The weight of the rows of each class, and the sum of each of their V columns: these add.

    Sums are in double precision, so that those of whole numbers are exact, whatever the batches. The table is
    a full one, of ``8 K V`` bytes.
    """

    labels: NDArray[Any]  # (K,) sorted
    weight: Floats  # (K,)
    total: Floats  # (K, V), also of what never occurs, as scikit-learn has it

    def of(self, labels: NDArray[Any]) -> ClassSums:
        """The same for labels, sorted, that hold these and maybe others, which have nothing yet."""
        if len(labels) == len(self.labels):
            return self
        at = np.searchsorted(labels, self.labels)
        weight, total = np.zeros(len(labels)), np.zeros((len(labels), self.total.shape[1]))
        weight[at], total[at] = self.weight, self.total
        return ClassSums(labels, weight, total)

    def __add__(self, other: ClassSums) -> ClassSums:
        labels = np.union1d(self.labels, other.labels)
        a, b = self.of(labels), other.of(labels)
        return ClassSums(labels, a.weight + b.weight, a.total + b.total)


@dataclass(frozen=True, eq=False)
class LinearScores:
    """``intercept_k + Σ_v x_v w_vk``."""

    intercept: Floats  # (K,)
    weights: Floats  # (V, K)

    @classmethod
    def of(cls, intercept: Floats, weights: Floats) -> LinearScores:
        """Of weights (K, V), which are laid out as scores are made of them fastest."""
        return cls(intercept, weights.T if len(weights) <= 2 else np.ascontiguousarray(weights.T))

    def log_density(self, rows: Any) -> Floats:
        """The scores of rows, (N, K)."""
        K, rows = self.weights.shape[1], in_double(rows)
        if sparse.issparse(rows) and K <= 2:  # a class at a time, so that the sum stays in a register
            scores = np.stack([rows @ w for w in self.weights.T], axis=1)
        elif sparse.issparse(rows) and K >= MANY_CLASSES:
            scores = product(rows, self.weights)
        else:
            scores = np.asarray(rows @ self.weights)
        if self.intercept.any():
            scores += self.intercept
        return scores


class CountRows(Generative):
    """Rows of counts, whose statistics are `ClassSums`."""

    alpha: Alpha | None
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    _declares = True
    _prior_hint = "fit it first, or name the classes: class_prior={'ham': 0.9, 'spam': 0.1}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # of rows that are no counts, with which scikit-learn tries it
        return tags

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self._sums().weight

    @property
    def feature_count_(self) -> Floats:
        """Sums of the columns over the rows of each class, (K, V)."""
        return self._sums().total

    @property
    def class_log_prior_(self) -> Floats:
        """Logarithm of the probability of each class, (K,); -inf of one without rows."""
        return self._known().log_prior

    @property
    def feature_log_prob_(self) -> Floats:
        """The weight of each column in the scores of each class, (K, V)."""
        weights: Floats = self._known().density.weights
        return weights.T

    def _sums(self) -> ClassSums:
        """The statistics of all classes, those without rows too."""
        check_is_fitted(self)
        sums: ClassSums = self.statistics_
        return sums.of(self.classes_)

    def _checked(self, X: Any, y: Any, *, first: bool, least: int) -> tuple[Any, Any, int]:
        rows, y = validate_data(self, X, y, reset=first, accept_sparse="csr", ensure_min_samples=least)
        return rows, y, rows.shape[0]

    def _rows(self, X: Any) -> Any:
        return self._seen(validate_data(self, X, reset=False, accept_sparse="csr"))

    def _seen(self, rows: Any) -> Any:
        """What the model sees of rows, in learning and in predicting."""
        return rows

    def _refuse(self, rows: Any) -> None:
        """Refuse to learn from what are no counts."""
        values = _values(rows)
        if values.size and values.min() < 0:
            row, column, value = first_below(rows, 0)
            raise NegativeCount(
                f"Negative values in data passed to {type(self).__name__} (input X): "
                f"row {row} has {value:g} in column {column}",
                hint="give counts, or other numbers of zero or more; GaussianNB takes any",
            )

    def _counted(self, batch: LabelledBatch) -> ClassSums:
        self._check_alpha()  # here, since batches make no model before it is wanted
        self._refuse(batch.rows)
        K = len(batch.labels)
        weight = np.bincount(batch.codes, batch.weights, K).astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            total = class_sums(self._seen(batch.rows), batch.codes, batch.weights, K)
            if not np.isfinite(total.sum()):
                raise InputError(
                    "the sums of some columns are too large for a number",
                    hint="scale the rows: counts are rarely above a million",
                )
        return ClassSums(batch.labels, weight, total)

    def _made(self, batch: LabelledBatch | None) -> FittedClasses:
        sums = self._sums()
        return FittedClasses(np.arange(len(sums.labels)), self._log_prior(sums.weight), self._scoring(sums))

    def _scoring(self, sums: ClassSums) -> LinearScores:
        """How rows are scored, without the prior."""
        raise NotImplementedError

    def _log_prior(self, weight: Floats) -> Floats:
        """Logarithms of the probabilities of the classes, (K,), which have rows of so much weight (K,)."""
        if not weight.any():
            raise NoData("there is nothing to learn from: no row has a weight above zero")
        K = len(weight)
        if self.class_prior is not None:
            shares = self._shares(self._given(self.classes_), K)
        elif self.fit_prior:
            shares = weight / weight.sum()
        else:
            shares = np.full(K, 1 / K)
        with np.errstate(divide="ignore"):
            return np.log(shares)

    def _given(self, classes: NDArray[Any]) -> Any:
        """The prior that was given, in the order of the classes."""
        if not isinstance(self.class_prior, Mapping):
            return self.class_prior
        labels = classes.tolist()  # as Python has them: 1, 1.0 and np.int8(1) are one key
        missing = [label for label in labels if label not in self.class_prior]
        unknown = [label for label in self.class_prior if label not in labels]
        if missing or unknown:
            raise InputError(
                f"class_prior has nothing for {missing[0]!r}"
                if missing
                else f"class_prior has {unknown[0]!r}, which is no class",
                hint=f"give a probability for each class and no other: {', '.join(map(str, labels))}",
            )
        return [self.class_prior[label] for label in labels]

    def _prior(self) -> Prior:
        """The prior as a learner of the core takes it."""
        if self.class_prior is None:
            return "data" if self.fit_prior else "uniform"
        if isinstance(self.class_prior, Mapping):
            given = self.class_prior.items()
            return {name_in("class_prior", label): float(share) for label, share in given}
        return self._prior_by_name(self.class_prior, "class_prior")

    def _learner_alpha(self) -> Alpha | None:
        """The smoothing as a learner of the core takes it; None is chosen when there are texts."""
        return None if self.alpha is None else self._smoothing()

    def _smoothing(self) -> Alpha:
        """The smoothing that is used: a number, or (V,)."""
        given: Any = self.alpha
        if np.ndim(given) and np.size(given) and not (least := np.min(given)) >= 0:
            raise InputError(
                f"All values in alpha must be greater than 0. Entry {np.argmin(given)} is {least:g}",
                hint="0 itself will do: what never occurred with a class is then impossible",
            )
        alpha = checked_alpha(given)
        return alpha if self.force_alpha else np.maximum(alpha, LEAST_ALPHA)

    def _check_alpha(self) -> Alpha:
        """The smoothing that is used, if it fits the rows; warns where it is not the one that was given."""
        if self.alpha is None:
            raise InputError(
                "alpha=None is chosen by leaving out one text at a time, and here are rows",
                hint="give a number, such as alpha=1.0, or the texts: "
                f"textodds.train(texts, labels, learner={type(self).__name__}(alpha=None))",
            )
        alpha = self._smoothing()
        if np.ndim(alpha) and np.size(alpha) != self.n_features_in_:
            raise InputError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {np.size(alpha)} elements instead of {self.n_features_in_}.",
                hint="alpha is a number, or has one for each column",
            )
        if np.min(self.alpha) < np.min(alpha):
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged: 0 is no trouble here",
                TextoddsWarning,
                stacklevel=4,
            )
        return alpha


def class_sums(rows: Any, codes: NDArray[np.intp], weights: Floats | None, K: int) -> Floats:
    """The sum of each column over the rows (N, V) of each class, (K, V).

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0]]), np.array([0, 1, 0]), None, 2)
    array([[1., 7.],
           [3., 0.]])
    """
    N, V = rows.shape
    u = np.ones(N) if weights is None else weights
    if not sparse.issparse(rows):
        member = sparse.csr_array((u, (codes, np.arange(N))), shape=(K, N))
        return np.asarray(member @ in_double(rows))
    if weights is None and rows.dtype == np.int64 and rows.data.max(initial=0) <= WHOLE // N:
        u = u.astype(np.int64)  # a copy of all counts in double precision takes as long as their sums
    else:
        rows = in_double(rows)
    if K <= FEW_CLASSES:
        members = np.zeros((N, K), dtype=u.dtype)
        members[np.arange(N), codes] = u
        return np.ascontiguousarray((rows.T @ members).T, dtype=np.float64)
    lengths = np.diff(rows.indptr)
    values = rows.data if weights is None else rows.data * np.repeat(u, lengths)
    cells = (np.repeat(codes.astype(rows.indices.dtype), lengths), rows.indices)
    return np.asarray(sparse.coo_array((values, cells), shape=(K, V)).toarray(), dtype=np.float64)


def present(rows: Any, above: float) -> Any:
    """1.0 where a value is above a threshold of zero or more and 0.0 elsewhere, (N, V)."""
    found = with_values(rows, (_values(rows) > above).astype(np.float64))
    if (
        not sparse.issparse(rows)
        or rows.has_canonical_format
        or not _kernels.repeats(raw(found), rows.shape[1])
    ):
        return found
    rows = rows.copy()  # since the caller's rows are the caller's
    rows.sum_duplicates()  # a value is the sum of all entries of its cell
    return present(rows, above)


def in_double(rows: Any) -> Any:
    """Rows in double precision, dense or CSR."""
    return with_values(rows, _values(rows).astype(np.float64, copy=False))


def with_values(rows: Any, values: Floats) -> Any:
    """Rows with other values in the same places, dense or CSR."""
    if not sparse.issparse(rows):
        return values
    return type(rows)((values, rows.indices, rows.indptr), shape=rows.shape, copy=False)


def first_below(rows: Any, bound: float) -> tuple[int, int, float]:
    """Row, column and value of the first number below a bound, of which there must be one."""
    at = int(np.flatnonzero(_values(rows).reshape(-1) < bound)[0])
    if not sparse.issparse(rows):
        row, column = divmod(at, rows.shape[1])
        return row, column, float(rows[row, column])
    row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
    return row, int(rows.indices[at]), float(rows.data[at])


def _values(rows: Any) -> NDArray[Any]:
    """The numbers that are stored: all of dense rows, those of CSR."""
    return np.asarray(rows.data if sparse.issparse(rows) else rows)
