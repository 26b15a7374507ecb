"""Naive Bayes of counts: multinomial, Bernoulli, complement, and multinomial with unlabelled rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textodds.errors import InputError, NoData, TextoddsWarning, Unsupported
from textodds.interop.class_priors import ClassPrior
from textodds.interop.containers import Rows, Samples
from textodds.interop.estimators.count_rows import CountRows
from textodds.interop.labels import LabelArray, LabelledBatch, distinct
from textodds.learn.arrays import Floats
from textodds.learn.class_sums import ClassSums, class_sums, present, with_whole_cells
from textodds.learn.conditionals.complement import transformed
from textodds.learn.conditionals.estimate import Alpha
from textodds.learn.em import SemiSupervisedLearner, fit_rows
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner

UNLABELLED = (-1, None, "")
"""What y has for a row without a label."""


class NotBinary(TextoddsWarning):
    """Rows that were said to be of 0 and 1 are not: some probabilities had to be held to 0 or 1."""


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(CountRows):
    """The parameters that multinomial, Bernoulli and complement naive Bayes share."""

    alpha: Alpha | None = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ClassPrior = None


@dataclass(kw_only=True, eq=False, repr=False)
class MultinomialNB(NaiveBayes):
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
    class_prior : "data", "uniform", array-like of shape (n_classes,) or dict, default None
        Probability of each class: as often as in training, alike, in the order of ``classes_``, or by
        label. None leaves it to ``fit_prior``, which is not asked otherwise.
    binary : bool, default False
        Count a word once a row, in training and in prediction; often better for short texts.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Sums of counts, and logarithms of probabilities.
    statistics_ : textodds.learn.class_sums.ClassSums
        What was learned, which adds.

    Differs
    -------
    From scikit-learn's at ``alpha=0``. Weights below zero are refused, and priors that do not sum to 1.

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 0], [0, 1]], ["ham", "spam"])
    >>> model.predict_proba([[1, 0]]).round(3)
    array([[0.692, 0.308]])
    >>> model.partial_fit([[0, 3]], ["eggs"]).predict([[1, 0], [0, 4]])
    array(['ham', 'eggs'], dtype='<U4')
    """

    binary: bool = False

    def _learner(self) -> MultinomialLearner:
        return self._learner_of(MultinomialLearner, alpha=self._smoothing(), prior=self._prior())


@dataclass(kw_only=True, eq=False, repr=False)
class BernoulliNB(NaiveBayes):
    r"""Bernoulli naive Bayes: columns that are there or not; absent ones count too.

    See `textodds.learn.conditionals.bernoulli.Bernoulli` for the mathematics.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in `MultinomialNB`.
    binarize : float or None, default 0.0
        What is above this is there. None: rows are of 0 and 1 already.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, statistics_
        As in `MultinomialNB`; counts are of rows that hold a column, probabilities of that.

    Differs
    -------
    From scikit-learn's, whose numbers are the same, but for an alpha below about 1e-6, where it loses digits
    of the probability to be absent. An alpha per column, which that one documents and cannot use, works. At
    ``alpha=0``, and where ``binarize=None`` is given rows of other numbers than 0 and 1, it gives NaN; here
    numbers are finite, and in the second case a warning is given.

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [3, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> model.predict_proba([[0, 2]]).round(3)
    array([[0.36, 0.64]])
    """

    binarize: float | None = 0.0
    _takes = ("sparse",)

    def learner(self) -> BernoulliLearner:
        """The learner of the core with the same choices, for `textodds.train`."""
        if self.binarize is not None and not 0 <= self.binarize < 1:
            raise Unsupported(
                f"of texts a word that occurs is there, whatever binarize={self.binarize!r} says",
                hint="leave binarize out, or give rows of counts to `fit`",
            )
        return self._learner()

    @property
    def feature_log_prob_(self) -> Floats:
        """Logarithm of the probability that a row of a class holds a column, (K, V)."""
        sums = self._sums()
        return self._learner().conditional.log_p(sums.total, sums.weight)[0]

    def _learner(self) -> BernoulliLearner:
        return self._learner_of(BernoulliLearner, alpha=self._smoothing(), prior=self._prior())

    def _seen(self, rows: Rows) -> Rows:
        return rows if self.binarize is None else present(rows, self.binarize)

    def _refuse(self, rows: Rows) -> None:
        if self.binarize is not None and not self.binarize >= 0:
            raise InputError(
                f"binarize must be zero or more, got {self.binarize!r}",
                hint="cells that a sparse row does not store are zero, and must not be there",
            )

    def _counted(self, batch: LabelledBatch[Rows]) -> ClassSums:
        sums = super()._counted(batch)
        if self.binarize is None and ((sums.total < 0).any() or (sums.weight < sums.total.T).any()):
            warnings.warn(
                "rows have numbers other than 0 and 1, so that some probabilities had to be held to 0 or 1; "
                "leave binarize at 0.0 to make 1 of all that is above zero",
                NotBinary,
                stacklevel=3,
            )
        return sums


class TransformParameter:
    """The parameter ``transform``, which is no attribute: scikit-learn would see a transformer in it."""

    def __get__(self, instance: object | None, owner: type) -> bool:
        if instance is None:
            return False  # by default
        raise AttributeError(f"{owner.__name__} does not transform rows; see get_params()['transform']")

    def __set__(self, instance: object, value: bool) -> None:
        instance.__dict__["transform"] = value


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementNB(NaiveBayes):
    r"""Complement naive Bayes: rows of counts against the words of all other classes.

    See `textodds.learn.conditionals.complement.Complement` for the mathematics. Scores order classes;
    normalised (``predict_proba``) they are no probabilities under any model.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in `MultinomialNB`; the prior is that of ``class_log_prior_`` and has no part in the scores.
    norm : bool, default False
        Normalise the weights of each class: long classes do not win by the size of their weights.
    transform : bool, default False
        Learn from transformed rows; with ``norm`` this is TWCNB. There is no ``partial_fit`` then.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, statistics_
        As in `MultinomialNB`; counts are of transformed rows, if any, and logarithms are weights.
    feature_all_ : ndarray of shape (n_features,)
        Sums of counts over all classes.

    Differs
    -------
    From scikit-learn's, which has no ``transform``, and otherwise the same numbers. At ``alpha=0`` that one
    gives infinite weights and NaN, and a small alpha beside large counts loses digits there.

    Examples
    --------
    >>> model = ComplementNB().fit([[2, 0], [0, 1]], ["ham", "spam"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['ham', 'spam'], dtype='<U4')
    """

    norm: bool = False
    transform: TransformParameter = TransformParameter()

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The parameters by name."""
        return {name: self.__dict__[name] for name in self._get_param_names()}

    def log_density(self, X: Samples) -> Floats:
        """Refused: scores are no densities."""
        raise Unsupported(
            "complement naive Bayes models what the other classes are: rows have no density under it",
            hint="use MultinomialNB",
        )

    @property
    def feature_all_(self) -> Floats:
        """Sums of the columns over all rows, (V,)."""
        return np.asarray(self._sums().total.sum(axis=0))

    def _learner(self) -> ComplementLearner:
        return ComplementLearner(self._smoothing(), self.norm, self._transforms)

    @property
    def _transforms(self) -> bool:
        return bool(self.__dict__["transform"])

    def _refuse_batches(self) -> None:
        if self._transforms:
            raise Unsupported(
                "transform=True makes of each row what all rows together say of its words: rows do not come "
                "in batches",
                hint="give all rows to `fit`, or leave transform out",
            )

    def _summed(self, batch: LabelledBatch[Rows], rows: Rows) -> ClassSums:
        n = float(len(batch.codes) if batch.weights is None else batch.weights.sum())
        if not self._transforms or not n:
            return super()._summed(batch, rows)
        rows = with_whole_cells(sparse.csr_array(rows))
        df = class_sums(present(rows, 0), np.zeros_like(batch.codes), batch.weights, 1)[0]
        df[df == 0] = n  # what no row of any weight has adds nothing
        return super()._summed(batch, transformed(rows, df, n))


@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervisedNB(CountRows):
    """Multinomial naive Bayes that also learns from rows without a label, by expectation-maximisation.

    See `textodds.learn.em.SemiSupervisedLearner` for the mathematics. A row has no label where y is -1, or of
    labels that are text None or ``""``.

    Parameters
    ----------
    alpha, weight, binary, temperature, max_iterations, tolerance
        As in `textodds.learn.em.SemiSupervisedLearner`.
    class_prior
        As in `MultinomialNB`; None: as often as in the labelled rows and, expected, in the others.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_
        As in `MultinomialNB`; counts are expected ones.
    objective_ : ndarray of shape (n_iter_,)
        The penalised log-likelihood after each step; no step lowers it.
    n_iter_ : int

    Examples
    --------
    A column that no labelled row has is learned from the company it keeps:

    >>> X = [[1, 0, 0], [0, 1, 0], [2, 0, 3], [0, 2, 0]]
    >>> model = SemiSupervisedNB(alpha=1.0).fit(X, ["ham", "spam", None, None])
    >>> model.predict_proba([[0, 0, 1]]).round(2)
    array([[0.72, 0.28]])
    """

    alpha: float = 0.01
    weight: float = 1.0
    class_prior: ClassPrior = None
    binary: bool = False
    temperature: float = 1.0
    max_iterations: int = 50
    tolerance: float = 1e-6

    def _learner(self) -> SemiSupervisedLearner:
        return self._learner_of(SemiSupervisedLearner, prior=self._prior())

    def _refuse_batches(self) -> None:
        raise Unsupported(
            "which classes unlabelled rows are of is found from all rows at once, not in batches",
            hint="give all rows to `fit`",
        )

    def _coded(self, y: LabelArray) -> tuple[LabelArray, NDArray[np.intp]]:
        known = np.array([label not in UNLABELLED for label in y.tolist()], dtype=bool)
        if not known.any():
            raise NoData("no row has a label", hint="give labelled rows too")
        codes = np.full(len(y), -1, dtype=np.intp)
        labels, codes[known] = distinct(y[known])
        return labels, codes

    def _counted(self, batch: LabelledBatch[Rows]) -> ClassSums:
        self._refuse(batch.rows)
        rows = with_whole_cells(sparse.csr_array(batch.rows, dtype=np.float64))
        weights = np.ones(rows.shape[0]) if batch.weights is None else batch.weights
        if not weights[batch.codes >= 0].any():
            raise NoData("there is nothing to learn from: no labelled row has a weight above zero")
        fit = fit_rows(self._learner(), rows, batch.codes.astype(np.int64), batch.classes, weights)
        self.objective_, self.n_iter_ = np.array(fit.objective), len(fit.objective)
        counts = fit.counts.binary() if self.binary else fit.counts
        total = np.zeros((len(counts.classes), counts.n_features))
        total[counts.class_of, counts.feature_of] = counts.occurrences
        return ClassSums(batch.labels, counts.class_documents, total)
