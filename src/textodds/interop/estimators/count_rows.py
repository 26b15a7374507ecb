"""What the estimators of counts share: rows of counts, dense or sparse, summed by class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from textodds.errors import InputError, NegativeCount, TextoddsWarning
from textodds.interop.containers import Rows, Samples
from textodds.interop.estimators.generative import Generative, fitted
from textodds.interop.labels import LabelledBatch, names
from textodds.learn.arrays import Floats
from textodds.learn.bayes import FittedClasses
from textodds.learn.class_sums import ClassSums, LinearScores, class_sums, first_below, present
from textodds.learn.conditionals.estimate import Alpha, checked_alpha
from textodds.learn.naive_bayes import CountLearner

LEAST_ALPHA = 1e-10
"""The least smoothing unless ``force_alpha``, as in scikit-learn."""


def warn_of_alpha(*, stacklevel: int) -> None:
    """Say that a smoothing too small was replaced."""
    warnings.warn(
        f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
        "Use `force_alpha=True` to keep alpha unchanged: 0 is valid here",
        TextoddsWarning,
        stacklevel=stacklevel + 1,
    )


class CountRows(Generative[Rows, ClassSums]):
    """Rows of counts, whose statistics are `ClassSums`; a learner of the core makes the model of them."""

    alpha: Alpha | None
    force_alpha = True
    binary = False  # whether a word is counted once a row
    _declares = True
    _takes: tuple[str, ...] = ("sparse", "positive_only")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of rows that are no counts, with which scikit-learn tries it
        return tags

    def learner(self) -> CountLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        return self._learner()

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (K,)."""
        return self._sums().weight

    @property
    def feature_count_(self) -> Floats:
        """Sums of the columns over the rows of each class, (K, V)."""
        return self._sums().total

    class_log_prior_ = fitted(
        "Logarithm of the probability of each class, (K,); -inf of one without rows.",
        lambda fit: fit.log_prior,
    )
    feature_log_prob_ = fitted(
        "The weight of each column in the scores of each class, (K, V).",
        lambda fit: fit.density.weights.T,
    )

    def _learner(self) -> CountLearner:
        """The learner that makes the model of rows."""
        raise NotImplementedError

    def _sums(self) -> ClassSums:
        """The statistics of all classes, those without rows too."""
        check_is_fitted(self)
        return self.statistics_.of(self.classes_)

    def _rows(self, X: Samples) -> Rows:
        return self._seen(super()._rows(X))

    def _seen(self, rows: Rows) -> Rows:
        """What the model sees of rows, in learning and in predicting."""
        return present(rows, 0) if self.binary else rows

    def _refuse(self, rows: Rows) -> None:
        """Refuse to learn from what are no counts."""
        if (found := first_below(rows, 0)) is not None:
            row, column, value = found
            raise NegativeCount(
                f"Negative values in data passed to {type(self).__name__} (input X): "
                f"row {row} has {value:g} in column {column}",
                hint="give counts, or other numbers of zero or more; GaussianNB takes any",
            )

    def _counted(self, batch: LabelledBatch[Rows]) -> ClassSums:
        self._check_alpha()  # here, since batches make no model before it is wanted
        self._refuse(batch.rows)
        return self._summed(batch, self._seen(batch.rows))

    def _summed(self, batch: LabelledBatch[Rows], rows: Rows) -> ClassSums:
        K = len(batch.labels)
        weight = np.bincount(batch.codes, batch.weights, K).astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            total = class_sums(rows, batch.codes, batch.weights, K)
            if not np.isfinite(total.sum()):
                raise InputError(
                    "the sums of some columns are too large for a number",
                    hint="scale the rows: counts are rarely above a million",
                )
        return ClassSums(batch.labels, weight, total)

    def _made(self, batch: LabelledBatch[Rows] | None) -> FittedClasses:
        sums = self._sums()
        places, log_prior = self._placed(names(sums.labels), sums.weight)
        conditional: Any = self._learner().conditional
        scores = LinearScores.of(*conditional.fit_table(sums.total, sums.weight))
        return FittedClasses(places, log_prior, scores, conditional.is_likelihood)

    def _smoothing(self) -> Alpha | None:
        """The smoothing that is used: a number, or (V,); None is chosen where there are texts."""
        given = self.alpha
        if given is None:
            return None
        if np.ndim(given) and np.size(given) and not (least := np.min(given)) >= 0:
            raise InputError(
                f"All values in alpha must be greater than 0. Entry {np.argmin(given)} is {least:g}",
                hint="0 itself will do: what never occurred with a class is then impossible",
            )
        alpha = checked_alpha(given)
        return alpha if self.force_alpha else np.maximum(alpha, LEAST_ALPHA)

    def _check_alpha(self) -> Alpha:  # under the name that scikit-learn's tests call
        """The smoothing that is used, if it fits the rows; warns where it is not the one that was given."""
        alpha = self._smoothing()
        if alpha is None:
            raise InputError(
                "alpha=None is chosen by leaving out one text at a time, and here are rows",
                hint="give a number, such as alpha=1.0, or the texts: "
                f"textodds.train(texts, labels, learner={type(self).__name__}(alpha=None))",
            )
        if np.ndim(alpha) and np.size(alpha) != self.n_features_in_:
            raise InputError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {np.size(alpha)} elements instead of {self.n_features_in_}.",
                hint="alpha is a number, or has one for each column",
            )
        if self.alpha is not None and np.min(np.asarray(self.alpha)) < np.min(alpha):
            warn_of_alpha(stacklevel=4)
        return alpha
