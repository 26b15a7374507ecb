"""Linear discriminant analysis as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textodds.errors import InputError
from textodds.interop.estimators.base import FittedClasses, LabelledBatch
from textodds.interop.estimators.covariance import (
    estimated,
    ledoit_wolf_by_class,
    settled,
    settled_or_shrunk,
    shrunk,
    weighted,
)
from textodds.interop.estimators.discriminants import Discriminants, labelled_rows
from textodds.learn import discriminant
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.forms.quadratic import Full

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearFit(FittedClasses):
    """Scores ``x @ weights + intercept`` of the J classes that have rows, and Fisher's directions."""

    mean: Floats  # (J, V)
    weights: Floats  # (V, J)
    intercept: Floats  # (J,) with the prior
    centre: Floats  # (V,) mean of the means by prior
    directions: Floats  # (V, R)
    ratio: Floats  # (R,)

    def scores(self, rows: Any) -> Floats:
        """``log p(k | x)`` up to a constant by row, (N, K)."""
        out = np.asarray(rows @ self.weights)
        out += self.intercept
        if out.shape[1] == len(self.log_prior) and (np.diff(self.places) == 1).all():
            return out
        return self.by_class(out.T, -np.inf).T


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    Discriminants,
):
    r"""Linear discriminant analysis: Gaussian classes of one covariance.

    See `textodds.learn.conditionals.gaussian.Gaussian` for the mathematics of dense rows, and
    `textodds.learn.conditionals.sparse_gaussian` for that of sparse ones.

    Model
    -----
    With the covariance :math:`\Sigma` within classes and the mean :math:`m = \sum_k \pi_k \mu_k`, Fisher's
    directions are the solutions of

    .. math::
        B s = \lambda \Sigma s, \qquad B = \sum_k \pi_k (\mu_k - m)(\mu_k - m)^\top, \qquad
        s^\top \Sigma s = 1                                                        \tag{1}

    of which those of the largest :math:`\lambda` tell the classes apart the most.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen", default "svd"
        Where what is not determined lies: under svd, scores without shrinkage and `transform` are about the
        mean of all rows, under the others about zero. Labels and probabilities are the same.
    shrinkage : None, float, "auto", "oas" or "likelihood", default None
        How far the covariance of dense rows is drawn towards a simpler one: not at all, with a number from
        0 to 1 towards :math:`\operatorname{tr}(C) / V \cdot I`, and chosen by Ledoit and Wolf ("auto"), by
        OAS or by leave-one-out likelihood towards its diagonal. Of sparse rows a number, or None to have it
        chosen by the log-loss of held-out rows.
    priors : array-like of shape (n_classes,), default None
        Probability of each class, in the order of ``classes_``; None: as often as in training.
    n_components : int, default None
        Directions that `transform` gives; None: all, which is min(n_classes - 1, n_features).
    store_covariance : bool, default False
        Taken for the sake of scikit-learn's callers: ``covariance_`` is there either way.
    tol : float, default 1e-4
        What is nothing beside something: a direction against the first one (root of :math:`\lambda`), and of
        sparse rows the residual of conjugate gradients.
    covariance_estimator : estimator, default None
        Has the covariance of a class as ``covariance_`` after a `fit` on its rows, instead of a shrinkage; of
        dense rows without weights only.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    coef_, intercept_ : ndarray of shape (n_classes, n_features), (n_classes,)
        Of two classes, the difference only: (1, n_features), (1,).
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance that is used; of dense rows only.
    xbar_, scalings_ : ndarray of shape (n_features,), (n_features, n_components)
        m and the directions s of (1), the largest entry of each positive.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        :math:`\lambda` of each direction, as a share of all.
    statistics_ : textodds.stats.moments.Moments
        What was learned of dense rows, which adds.

    Differs
    -------
    From scikit-learn's, which has the same numbers, but does not shrink with svd nor transform with lsqr.
    Where rows are too few for a covariance, its svd drops directions silently; here the covariance is shrunk
    by OAS and a warning says so. With shrinkage, its eigen solver shrinks the scatter between classes too,
    so that its directions are no solutions of (1). Columns that do not vary within a class keep no variance
    under "auto"; there they get one that depends on units. Numbers are of 64 bits, whatever X has.

    Examples
    --------
    >>> X = [[0.0, 1.0], [2.0, 1.0], [1.0, 0.0], [1.0, 2.0], [4.0, 1.0], [6.0, 1.0], [5.0, 0.0], [5.0, 2.0]]
    >>> model = LinearDiscriminantAnalysis().fit(X, ["a"] * 4 + ["b"] * 4)
    >>> model.covariance_, model.coef_, model.intercept_
    (array([[0.5, 0. ],
           [0. , 0.5]]), array([[8., 0.]]), array([-24.]))
    >>> model.transform([[3.0, 0.0], [5.0, 7.0]]).round(3)
    array([[0.   ],
           [2.828]])
    """

    _solvers = ("svd", "lsqr", "eigen")

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def learner(self) -> discriminant.LinearDiscriminantLearner:
        """The learner of the core with the same choices, as for sparse rows."""
        self._refuse_estimator()
        return discriminant.LinearDiscriminantLearner(self._core_shrinkage(), self._prior(), self.tol)

    def transform(self, X: Any) -> Floats:
        """Rows along Fisher's directions, about ``xbar_`` or zero: (N, n_components)."""
        check_is_fitted(self)
        fitted = self._linear()
        along = np.asarray(self._rows(X) @ fitted.directions)
        return along - fitted.centre @ fitted.directions if self.solver == "svd" else along

    def decision_function(self, X: Any) -> Floats:
        """Scores, (N, K); of two classes the log-odds of the second, (N,)."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    @property
    def coef_(self) -> Floats:
        """Weights, (K, V) or (1, V)."""
        fitted = self._linear()
        return _difference(fitted.by_class(fitted.weights.T))

    @property
    def intercept_(self) -> Floats:
        """Intercepts with the prior, (K,) or (1,)."""
        fitted = self._linear()
        return _difference(fitted.by_class(fitted.intercept, -np.inf))

    @property
    def covariance_(self) -> Floats:
        """The covariance that is used, (V, V)."""
        self._moments("covariance_")
        density: Full = self._known().density
        return np.asarray(density.covariance()[0])

    @property
    def xbar_(self) -> Floats:
        """The mean of the means by prior, (V,)."""
        return self._linear().centre

    @property
    def scalings_(self) -> Floats:
        """Fisher's directions, (V, R)."""
        return self._linear().directions

    @property
    def explained_variance_ratio_(self) -> Floats:
        """What each direction explains, (R,)."""
        return self._linear().ratio

    @property
    def means_(self) -> Floats:
        """Means, (K, V)."""
        fitted = self._linear()
        return fitted.by_class(fitted.mean)

    @property
    def _n_features_out(self) -> int:
        return int(self._linear().directions.shape[1])

    def _check_choices(self) -> None:
        super()._check_choices()
        if not 0 < self.tol < 1:
            raise InputError(f"tol must be between 0 and 1, got {self.tol!r}")

    def _linear(self) -> LinearFit:
        fitted = self._known()
        assert isinstance(fitted, LinearFit)
        return fitted

    def _scores_of(self, fitted: FittedClasses, rows: Any) -> Floats:
        assert isinstance(fitted, LinearFit)
        return fitted.scores(rows)

    def _made(self, batch: LabelledBatch | None) -> LinearFit:
        moments = self.statistics_
        places, log_prior = self._placed(moments.classes, moments.class_rows, self.priors)
        prior = np.exp(log_prior[places])
        prior = prior / prior.sum()
        origin = np.zeros(moments.n_columns)
        if self.covariance_estimator is not None:
            rows = self._needed(batch)
            found = estimated(rows.rows, rows.codes, rows.classes, moments, self.covariance_estimator)
            density = settled(Gaussian("shared"), weighted(found, prior))
        elif self.shrinkage is None:
            density = settled_or_shrunk(Gaussian("shared"), moments)
            if self.solver == "svd":
                origin = prior @ moments.mean
        else:
            density = self._shrunk(weighted(moments, prior), batch)
        about = replace(density, centre=origin, mean=(moments.mean - origin) / density.scale)
        intercept, weights = about.linear()
        known = FittedClasses(places, log_prior, density)
        return self._with_directions(known, moments.mean, weights, intercept)

    def _shrunk(self, moments: Any, batch: LabelledBatch | None) -> Full:
        if self.shrinkage == "auto":
            rows = self._needed(batch)
            found = ledoit_wolf_by_class(rows.rows, rows.codes, rows.weights, rows.classes, self.statistics_)
            return settled_or_shrunk(Gaussian("shared"), shrunk(moments, found))
        settle = settled_or_shrunk if isinstance(self.shrinkage, str) else settled
        return settle(self._gaussian("shared", batch), moments)

    def _with_directions(
        self, known: FittedClasses, mean: Floats, weights: Floats, intercept: Floats
    ) -> LinearFit:
        """The fit with the solutions of (1), from ``Σ⁻¹ μ_k`` (V, J), whatever those are about."""
        log_prior = known.log_prior[known.places]
        prior = np.exp(log_prior)
        prior = prior / prior.sum()
        centre = prior @ mean
        away = np.sqrt(prior) * (weights - (weights @ prior)[:, None])  # (V, J)
        between = np.sqrt(prior)[:, None] * (mean - centre) @ away  # (J, J)
        values, turns = np.linalg.eigh((between + between.T) / 2)
        values, turns = np.maximum(values[::-1], 0.0), turns[:, ::-1]
        most = min(len(known.log_prior) - 1, mean.shape[1])
        R = most if self.n_components is None else self.n_components
        if not isinstance(R, (int, np.integer)) or not min(1, most) <= R <= most:
            raise InputError(
                f"n_components must be from 1 to {most}, got {self.n_components!r}",
                hint="n_components cannot be larger than min(n_features, n_classes - 1): there are as many "
                "directions as classes, less one, and no more than columns",
            )
        R = min(R, int((values > self.tol**2 * values[0]).sum()))  # (1) has no more that are not zero
        directions = away @ (turns[:, :R] / np.sqrt(values[:R]))
        largest = np.abs(directions).argmax(axis=0)
        directions = directions * np.sign(directions[largest, np.arange(R)])
        ratio = values[:R] / (values.sum() or 1.0)
        return LinearFit(
            known.places,
            known.log_prior,
            known.density,
            mean,
            weights,
            intercept + log_prior,
            centre,
            directions,
            ratio,
        )

    def _made_sparse(self, batch: LabelledBatch) -> LinearFit:
        data = labelled_rows(batch)
        mass = np.bincount(data.codes, data.weights, len(data.classes)).astype(np.float64)
        places, log_prior = self._placed(data.classes, mass, self.priors)
        learner = replace(self.learner(), prior=self._prior_of(data.classes, log_prior[places]))
        found = learner.fit_design(None, data)
        model: Any = found.model
        T = found.about["temperature"]
        share = sparse.csr_array(
            (data.weights / mass[data.codes], (data.codes, np.arange(len(data.codes)))),
            shape=(len(mass), len(data.codes)),
        )
        mean = (share @ data.rows).toarray()
        dense = model.weights.rows(np.arange(model.n_features))  # (V, J), calibrated
        known = FittedClasses(places, log_prior, None)
        made = self._with_directions(known, mean, dense * T, model.intercept)
        return replace(made, weights=dense)


def _difference(values: Floats) -> Floats:
    """Of two classes, the second less the first: as scikit-learn has it."""
    return values[1:] - values[:1] if len(values) == 2 else values
