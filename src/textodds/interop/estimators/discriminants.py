"""Linear and quadratic discriminant analysis, of dense or sparse rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from textodds.errors import InputError, Unsupported
from textodds.interop.class_priors import ClassPrior
from textodds.interop.containers import Rows, Samples
from textodds.interop.estimators.gaussians import Discriminants
from textodds.interop.estimators.generative import fitted
from textodds.interop.labels import LabelledBatch
from textodds.learn.arrays import Floats
from textodds.learn.bayes import FittedClasses, shares_of
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.covariance import fit_exactly, reweigh
from textodds.learn.discriminant import LinearDiscriminantLearner, QuadraticDiscriminantLearner
from textodds.learn.fisher import LinearFit
from textodds.learn.forms.linear import LinearModel
from textodds.learn.forms.quadratic import LOG_2PI, Full, QuadraticModel


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    Discriminants,
):
    r"""Linear discriminant analysis: Gaussian classes of one covariance.

    The mathematics of dense rows is in `textodds.learn.conditionals.gaussian.Gaussian`, of sparse ones in
    `textodds.learn.conditionals.sparse_gaussian`, and of `transform` in `textodds.learn.fisher`.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen", default "svd"
        Whether scores without shrinkage and `transform` are about the mean of all rows (svd) or about zero.
        Labels and probabilities are the same.
    shrinkage : None, float, "auto", "oas" or "likelihood", default None
        How far the covariance of dense rows is drawn towards a simpler one: not at all, with a number from
        0 to 1 towards :math:`\operatorname{tr}(C) / V \cdot I`, and chosen by Ledoit and Wolf ("auto"), by
        OAS or by leave-one-out likelihood towards its diagonal. Of sparse rows a number, or None to have it
        chosen by the log-loss of held-out rows.
    priors
        As in `GaussianNB`.
    n_components : int, default None
        Directions that `transform` gives; None: all, which is min(n_classes - 1, n_features).
    store_covariance : bool, default False
        Taken as scikit-learn has it: ``covariance_`` is there either way.
    tol : float, default 1e-4
        The least direction beside the first one (root of :math:`\lambda`), and of sparse rows the residual of
        conjugate gradients.
    covariance_estimator : estimator, default None
        Has the covariance of a class as ``covariance_`` after a `fit` on its rows, instead of a shrinkage; of
        dense rows without weights only.

    Attributes
    ----------
    classes_, priors_, means_, coef_, intercept_, xbar_, scalings_, explained_variance_ratio_
        As in scikit-learn; of two classes ``coef_`` and ``intercept_`` are the difference only, and the
        largest entry of each direction in ``scalings_`` is positive.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance that is used; of dense rows only.
    statistics_ : textodds.stats.moments.Moments
        What was learned of dense rows, which adds.

    Differs
    -------
    From scikit-learn's, which has the same numbers, but does not shrink with svd nor transform with lsqr.
    Where rows are too few for a covariance, its svd drops directions silently; here the covariance is shrunk
    by OAS and a warning says so. With shrinkage, its eigen solver shrinks the scatter between classes too,
    so that its directions are not Fisher's; under "auto" it gives columns that do not vary within a class a
    variance that depends on units. Numbers are of 64 bits, whatever X has.

    Examples
    --------
    >>> X = [[0.0, 1.0], [2.0, 1.0], [1.0, 0.0], [1.0, 2.0], [4.0, 1.0], [6.0, 1.0], [5.0, 0.0], [5.0, 2.0]]
    >>> model = LinearDiscriminantAnalysis().fit(X, ["a"] * 4 + ["b"] * 4)
    >>> model.coef_, model.intercept_, model.transform([[5.0, 7.0]]).round(3)
    (array([[8., 0.]]), array([-24.]), array([[2.828]]))
    """

    solver: str = "svd"
    shrinkage: float | str | None = None
    priors: ClassPrior = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: BaseEstimator | None = None
    _solvers = ("svd", "lsqr", "eigen")

    def learner(self) -> LinearDiscriminantLearner:
        """The learner of the core with the same choices, as for sparse rows."""
        return LinearDiscriminantLearner(self._core_shrinkage(), self._prior(), self.tol)

    def transform(self, X: Samples) -> Floats:
        """Rows along Fisher's directions, about ``xbar_`` or zero: (N, n_components)."""
        directions = self.scalings_
        along = np.asarray(self._rows(X) @ directions)
        return along - self.xbar_ @ directions if self.solver == "svd" else along

    coef_ = fitted("Weights, (K, V) or (1, V).", lambda fit: _difference(fit.by_class(fit.weights.T)))
    intercept_ = fitted(
        "Intercepts with the prior, (K,) or (1,).",
        lambda fit: _difference(fit.by_class(fit.intercept, -np.inf)),
    )

    @property
    def covariance_(self) -> Floats:
        """The covariance that is used, (V, V)."""
        self._moments("covariance_")
        density: Full = self._known().density
        return np.asarray(density.covariance()[0])

    xbar_ = fitted("The mean of the means by prior, (V,).", lambda fit: fit.centre)
    scalings_ = fitted("Fisher's directions, (V, R).", lambda fit: fit.directions)
    explained_variance_ratio_ = fitted("What each direction explains, (R,).", lambda fit: fit.ratio)
    means_ = fitted("Means, (K, V).", lambda fit: fit.by_class(fit.mean))

    _n_features_out = fitted("How many directions there are.", lambda fit: fit.directions.shape[1])

    def _check_choices(self) -> None:
        super()._check_choices()
        if not 0 < self.tol < 1:
            raise InputError(f"tol must be between 0 and 1, got {self.tol!r}")

    def _scores_of(self, fitted: FittedClasses, rows: Rows) -> Floats:
        assert isinstance(fitted, LinearFit)
        return fitted.scores(rows)

    def _made(self, batch: LabelledBatch[Rows] | None) -> LinearFit:
        moments = self.statistics_
        places, log_prior = self._placed(moments.classes, moments.class_rows)
        prior = shares_of(log_prior[places])
        density = self._fit_dense(Gaussian("shared"), batch, lambda found: reweigh(found, prior))
        is_plain = self.shrinkage is None and self.covariance_estimator is None
        origin = prior @ moments.mean if is_plain and self.solver == "svd" else np.zeros(moments.n_columns)
        about = replace(density, centre=origin, mean=(moments.mean - origin) / density.scale)
        intercept, weights = about.linear()
        known = FittedClasses(places, log_prior, density)
        return self._with_directions(known, moments.mean, weights, intercept)

    def _with_directions(
        self, known: FittedClasses, mean: Floats, weights: Floats, intercept: Floats
    ) -> LinearFit:
        how = {"n_components": self.n_components, "tolerance": self.tol}
        return LinearFit.of(known, mean, weights, intercept, **how)

    def _made_sparse(self, batch: LabelledBatch[Rows]) -> LinearFit:
        data = batch.labelled_rows().with_two_classes()
        known, found = self._fit_sparse(data)
        model = found.model
        assert isinstance(model, LinearModel)
        dense = model.weights.rows(np.arange(model.n_features))  # (V, J), calibrated
        mean = data.class_means()
        temperature = found.about["temperature"]
        assert isinstance(temperature, float)
        made = self._with_directions(known, mean, dense * temperature, np.asarray(model.intercept))
        return replace(made, weights=dense)


@dataclass(kw_only=True, eq=False, repr=False)
class QuadraticDiscriminantAnalysis(Discriminants):
    r"""Quadratic discriminant analysis: Gaussian classes of own covariances.

    The mathematics is that of `LinearDiscriminantAnalysis`, with a covariance of each class.

    Parameters
    ----------
    solver, store_covariance, tol : "svd" or "eigen", bool, float
        Taken for the sake of scikit-learn's callers: they change no number.
    shrinkage, priors, covariance_estimator
        As in `LinearDiscriminantAnalysis`, of each class's own covariance.
    reg_param : float, default 0.0
        How far covariances are drawn towards I instead: for columns that were standardised, and dense rows.
    pooling : float, default 0.0
        How far covariances are drawn towards that of all classes before; of dense rows only.
    rank : int, default 128
        Directions of largest variance that each class has of its own; of sparse rows only.

    Attributes
    ----------
    classes_, priors_, means_, statistics_
        As in `LinearDiscriminantAnalysis`.
    covariance_ : ndarray of shape (n_classes, n_features, n_features)
        The covariances that are used; of dense rows only.
    rotations_, scalings_ : list of ndarray of shape (n_features, n_features), (n_features,)
        Their principal axes in columns, and the variances along those, the largest first.

    Differs
    -------
    From scikit-learn's, which has the same numbers, but does not shrink with svd. Where a class has too few
    rows for its covariance that one fails; here covariances are then shrunk by OAS and a warning names the
    class. A class whose rows do not differ at all has the covariance of all classes.

    Examples
    --------
    >>> X = [[-1.0], [1.0], [-2.0], [2.0]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, ["near", "near", "far", "far"])
    >>> model.covariance_.ravel(), model.predict([[0.5], [3.0]])
    (array([4., 1.]), array(['near', 'far'], dtype='<U4'))
    """

    solver: str = "svd"
    shrinkage: float | str | None = None
    priors: ClassPrior = None
    reg_param: float = 0.0
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: BaseEstimator | None = None
    pooling: float = 0.0
    rank: int = 128
    _solvers = ("svd", "eigen")

    def learner(self) -> QuadraticDiscriminantLearner:
        """The learner of the core with the same choices, as for sparse rows."""
        if self.reg_param:
            raise Unsupported(
                "the learner has no reg_param", hint="leave it out; shrinkage does not depend on units"
            )
        return QuadraticDiscriminantLearner(self._core_shrinkage(), self.pooling, self._prior(), self.rank)

    def decision_function(self, X: Samples) -> Floats:
        """Scores, (N, K); of two classes the log-odds of the second, (N,)."""
        scores = super().decision_function(X)  # from which scikit-learn leaves out a constant
        return scores + self.n_features_in_ / 2 * LOG_2PI if scores.ndim == 2 else scores

    @property
    def means_(self) -> Floats:
        """Means, (K, V)."""
        moments = self._moments("means_")
        return self._known().by_class(moments.mean)

    @property
    def covariance_(self) -> Floats:
        """The covariances that are used, (K, V, V)."""
        self._moments("covariance_")
        fitted = self._known()
        return fitted.by_class(fitted.density.covariance())

    @property
    def rotations_(self) -> list[Floats]:
        """Principal axes of each class in columns, (V, V)."""
        return [axes for _, axes in self._principal()]

    @property
    def scalings_(self) -> list[Floats]:
        """Variances along the principal axes of each class, (V,)."""
        return [variances for variances, _ in self._principal()]

    def _principal(self) -> list[tuple[Floats, Floats]]:
        found = []
        for C in self.covariance_:
            seen = np.isfinite(C).all()  # it is NaN for a class without rows
            variances, axes = np.linalg.eigh(C) if seen else (C[0], C)
            found.append((variances[::-1], axes[:, ::-1]))
        return found

    @property
    def _takes(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.pooling or self.reg_param else super()._takes

    def _check_choices(self) -> None:
        super()._check_choices()
        if not 0 <= self.reg_param <= 1:
            raise InputError(f"reg_param must be from 0 to 1, got {self.reg_param!r}")
        for other in ("shrinkage", "covariance_estimator"):
            if self.reg_param and getattr(self, other) is not None:
                raise InputError(
                    f"{other} and reg_param are both towards something simpler", hint="give one of the two"
                )

    def _scores_of(self, fitted: FittedClasses, rows: Rows) -> Floats:
        if isinstance(fitted.density, QuadraticModel):  # of sparse rows, calibrated
            return fitted.by_class(fitted.density.scores(rows).T, -np.inf).T
        return fitted.log_joint(self._log_likelihood(fitted, rows))

    def _made(self, batch: LabelledBatch[Rows] | None) -> FittedClasses:
        moments = self.statistics_
        places, log_prior = self._placed(moments.classes, moments.class_rows)
        gaussian = Gaussian("full", pooling=self.pooling)
        if self.reg_param:
            density = fit_exactly(replace(gaussian, shrinkage=self.reg_param, target="unit"), moments)
        else:
            density = self._fit_dense(gaussian, batch)
        return FittedClasses(places, log_prior, density)

    def _made_sparse(self, batch: LabelledBatch[Rows]) -> FittedClasses:
        known, found = self._fit_sparse(batch.labelled_rows().with_two_classes())
        return replace(known, density=found.model)


def _difference(values: Floats) -> Floats:
    """Of two classes, the second less the first: as scikit-learn has it."""
    return values[1:] - values[:1] if len(values) == 2 else values
