"""Numbers: Gaussian distributions with a diagonal, a shared or an own covariance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from textodds.errors import InputError, Shrunk, TooFewRows
from textodds.learn.arrays import Floats
from textodds.learn.conditionals.estimate import check_choice
from textodds.learn.forms.quadratic import Diagonal, Full
from textodds.stats.moments import Moments

COVARIANCES = ("diagonal", "shared", "full")
TARGETS = ("diagonal", "sphere", "unit")

FLAT = 1e-10  # a direction with less than this share of the variance of its columns has none: it is rounding

SILENT = 1e200
"""Variance of a column that never varied in training: so large that whatever comes there says nothing."""

Shrinkage: TypeAlias = float | str | dict[str, float]
"""An intensity from 0 to 1, ``oas``, or an intensity for each class."""


@dataclass(frozen=True)
class Gaussian:
    r"""The columns of class k are drawn from :math:`N(\mu_k, \Sigma_k)`.

    Model
    -----
    With the weight n, mean and scatter S of a class (see `Moments`), the estimates of largest likelihood
    are the mean and :math:`S_k / n_k`. Between classes with :math:`0 \le \lambda \le 1` (``pooling``),

    .. math::
        C_k = \frac{(1 - \lambda) S_k + \lambda S}{(1 - \lambda) n_k + \lambda n},
        \qquad S = \sum_k S_k, \quad n = \sum_k n_k                                 \tag{1}

    and towards something simpler with :math:`0 \le \gamma \le 1` (``shrinkage``),

    .. math:: \Sigma_k = (1 - \gamma) C_k + \gamma T(C_k) + \operatorname{diag}(\varepsilon)  \tag{2}

    where the target T keeps the variances of the columns (``diagonal``), their mean
    (``sphere``, :math:`\operatorname{tr}(C) / V \cdot I`), or is I itself (``unit``), and
    :math:`\varepsilon` is, column by column, ``smoothing`` times the variance over all rows. A class that
    does not vary at all, such as one of a single row, is given the C of all classes together if it may be
    shrunk at all, and a `Shrunk` warning says so.

    ``covariance`` says what is estimated: ``diagonal``, a variance of each column in each class (Gaussian
    naive Bayes: columns are independent given the class); ``shared``, one covariance for all classes,
    :math:`\lambda = 1` (linear discriminant analysis: the boundaries are linear); ``full``, one of each
    class (quadratic discriminant analysis).

    Parameters
    ----------
    covariance : "diagonal", "shared" or "full", default "diagonal"
    shrinkage : float, "oas" or dict, default 0.0
        :math:`\gamma`, for all classes or by class.
    target : "diagonal", "sphere" or "unit", default "diagonal"
        T. A diagonal target does not depend on the units of the columns.
    pooling : float, default 0.0
        :math:`\lambda` of a ``full`` covariance.
    smoothing : float, default 1e-9
        Keeps a column that is constant in a class from being infinitely certain.
    of_largest : bool, default False
        Whether :math:`\varepsilon` is that share of the largest variance of all columns, as in scikit-learn,
        rather than of each column's own. The result then depends on the units of the columns.

    References
    ----------
    Hastie, Tibshirani, Friedman (2009), *The Elements of Statistical Learning*, section 4.3; (1) and (2) are
    eqs. 16 and 18 of Friedman (1989), "Regularized discriminant analysis", with his target the sphere.

    Differs
    -------
    Covariances are divided by n, as scikit-learn's are since 1.8; multiply by n / (n - 1) for unbiased ones.
    A class with too few rows for its covariance is an error that names it, never a pseudo-inverse.

    Examples
    --------
    >>> moments = Moments.of([[1.0], [3.0], [10.0], [10.0]], ["a", "a", "b", "b"])
    >>> Gaussian(smoothing=0.1).fit(moments).variance.round(2)  # 0.1 of the variance over all rows
    array([[2.65],
           [1.65]])
    """

    covariance: str = "diagonal"
    shrinkage: Shrinkage = 0.0
    target: str = "diagonal"
    pooling: float = 0.0
    smoothing: float = 1e-9
    of_largest: bool = False

    def __post_init__(self) -> None:
        check_choice("covariance", self.covariance, COVARIANCES)
        check_choice("target", self.target, TARGETS)
        if isinstance(self.shrinkage, str):
            if self.shrinkage != "oas" or self.covariance == "diagonal":
                raise InputError(
                    f"unknown shrinkage {self.shrinkage!r}", hint="a number from 0 to 1, or `oas`"
                )
        else:
            given = self.shrinkage if isinstance(self.shrinkage, dict) else {"": self.shrinkage}
            for intensity in given.values():
                _check_share("shrinkage", intensity)
        _check_share("pooling", self.pooling)
        if not (0 <= self.smoothing < np.inf):
            raise InputError(f"smoothing must be zero or more, got {self.smoothing!r}")
        if self.pooling and self.covariance != "full":
            raise InputError("pooling applies to class covariances only", hint="covariance='full'")
        if self.covariance == "diagonal" and not (self.shrinkage == 0.0 or self.target == "sphere"):
            raise InputError("shrinkage does not apply to a diagonal covariance", hint="leave shrinkage out")

    @property
    def is_full(self) -> bool:
        """Whether moments with a full scatter are needed."""
        return self.covariance != "diagonal"

    def fit(self, moments: Moments) -> Diagonal | Full:
        """The estimate (2)."""
        if self.covariance == "diagonal":
            return self._fit_diagonal(moments.diagonal())
        if not moments.is_full:
            raise InputError("a full covariance needs moments with a full scatter")
        n, S = moments.count[:, :1], moments.scatter  # (K, 1) (K, V, V)
        overall = overall_variance(moments)  # (V,)
        scale = np.sqrt(np.where(overall > 0, overall, SILENT))
        unit = np.outer(scale, scale)
        pooled = S.sum(axis=0) / n.sum() / unit  # (V, V), of z
        if self.covariance == "shared":
            own = pooled[None]
        else:
            weight = (1 - self.pooling) * n + self.pooling * n.sum()
            own = ((1 - self.pooling) * S + self.pooling * S.sum(axis=0)) / weight[:, :, None] / unit  # (1)
        factors = np.empty_like(own)
        epsilon = self._epsilon(overall) / scale**2  # (V,)
        for k, C in enumerate(own):
            if self.shrinkage != 0 and not np.diag(C).any() and np.diag(pooled).any():
                warnings.warn(
                    f"class `{moments.classes[k]}`, of {moments.count[k, 0]:g} rows, does not vary: "
                    "it is given the covariance of all classes",
                    Shrunk,
                    stacklevel=3,
                )
                C = pooled
            gamma = self._intensity(C, moments, k, scale)
            if gamma == 0:
                self._refuse_flat(C, moments, k, unit)
            sigma = (1 - gamma) * C + gamma * self._target(C, scale)  # (2)
            sigma[np.diag_indices_from(sigma)] += epsilon
            factors[k] = self._cholesky(sigma, moments, k)
        centre = (n * moments.mean).sum(axis=0) / n.sum()
        return Full(centre, scale, (moments.mean - centre) / scale, factors)

    def _fit_diagonal(self, moments: Moments) -> Diagonal:
        count = np.where(moments.count > 0, moments.count, 1.0)
        variance = moments.scatter / count  # (K, V)
        total = np.where(moments.count.sum(axis=0) > 0, moments.count.sum(axis=0), 1.0)
        # A class that has no number in a column is taken to vary there as all classes do.
        pooled = moments.scatter.sum(axis=0) / total
        variance = np.where(moments.count > 0, variance, pooled)
        overall_mean = (moments.count * moments.mean).sum(axis=0) / total
        mean = np.where(moments.count > 0, moments.mean, overall_mean)
        if self.shrinkage:
            gamma = _by_class(self.shrinkage, moments.classes)[:, None]
            variance = (1 - gamma) * variance + gamma * variance.mean(axis=1, keepdims=True)
        variance = variance + self._epsilon(overall_variance(moments))
        flat = variance <= 0
        if flat.any():
            if self.smoothing == 0:
                k, v = np.argwhere(flat)[0]
                raise TooFewRows(
                    f"column {v} does not vary in class `{moments.classes[k]}`",
                    hint="give some smoothing (1e-9), or leave the column out",
                )
            variance = np.where(flat, SILENT, variance)  # no column varies at all: nothing can be told
        return Diagonal(mean, variance)

    def _epsilon(self, overall: Floats) -> Floats:
        """What is added to the variances of the columns, (V,)."""
        if self.of_largest:
            return np.full(len(overall), self.smoothing * overall.max(initial=0.0))
        return np.where(overall > 0, self.smoothing * overall, SILENT if self.smoothing else 0.0)

    def _intensity(self, C: Floats, moments: Moments, k: int, scale: Floats) -> float:
        if self.shrinkage == "oas":
            n = float(moments.count.sum() if self.covariance == "shared" else moments.count[k, 0])
            return oas(self._in_units(C, scale), n)
        shares = _by_class(self.shrinkage, moments.classes)
        if self.covariance == "shared":
            mass = moments.count[:, 0]
            return float(shares @ mass / mass.sum())
        return float(shares[k])

    def _in_units(self, C: Floats, scale: Floats) -> Floats:
        """The covariance in the units in which the target is a multiple of the identity."""
        if self.target == "diagonal":  # of the columns that vary; the others have nothing to shrink
            some = np.diag(C) > 0
            return _correlation(C[np.ix_(some, some)])
        return np.asarray(C * np.outer(scale, scale))

    def _target(self, C: Floats, scale: Floats) -> Floats:
        """T(C) for a covariance of z."""
        if self.target == "diagonal":
            return np.diag(np.diag(C))
        level = 1.0 if self.target == "unit" else float((np.diag(C) * scale**2).mean())
        return np.diag(level / scale**2)

    def _refuse_flat(self, C: Floats, moments: Moments, k: int, unit: Floats) -> None:
        """Refuse a covariance that has no variance in a direction for want of rows.

        Columns that are constant, or repeat one another, have none over all rows either: smoothing sees to
        them. (How many rows there are is not known: only what they weigh.)
        """
        if _least_pivot(C) > FLAT:
            return
        V, n = len(C), float(moments.count.sum() if self.covariance == "shared" else moments.count[k, 0])
        rank = _rank(C)
        free = n - len(moments.classes) if self.covariance == "shared" else n - 1
        count = moments.count[:, :1]
        away = (moments.mean - (count * moments.mean).sum(axis=0) / count.sum()) * np.sqrt(count)
        overall = (moments.scatter.sum(axis=0) + away.T @ away) / count.sum() / unit
        lacking = rank < _rank(overall) or (len(count) == 1 and free <= rank + 0.5)
        if rank == V or (self.smoothing > 0 and not lacking):
            return
        if self.covariance == "shared":
            who = f"{n:g} rows in {len(moments.classes)} classes have"
        else:
            who = f"class `{moments.classes[k]}` has {n:g} rows, with"
        raise TooFewRows(
            f"{who} a covariance of rank {rank} over {V} columns",
            hint="shrink it (shrinkage='oas', or a number such as 0.1), share it between the classes, "
            "or use a diagonal one",
        )

    def _cholesky(self, sigma: Floats, moments: Moments, k: int) -> Floats:
        try:
            return np.asarray(np.linalg.cholesky(sigma), dtype=np.float64)
        except np.linalg.LinAlgError as error:
            name = "all classes" if self.covariance == "shared" else f"class `{moments.classes[k]}`"
            raise TooFewRows(
                f"the covariance of {name} has rank {_rank(sigma)} over {len(sigma)} columns",
                hint="give more shrinkage, some smoothing (1e-9), or leave constant columns out",
            ) from error


def oas(C: Floats, n: float) -> float:
    r"""The intensity of the oracle approximating shrinkage estimator for n rows of a Gaussian.

    .. math:: \gamma = \min\Bigl(1, \frac{\overline{C^2} + \mu^2}{(n + 1)(\overline{C^2} - \mu^2 / V)}\Bigr)

    with :math:`\mu` the mean of the diagonal and the bar the mean over all entries: as in scikit-learn,
    which differs by O(1 / V) from eq. 23 of Chen, Wiesel, Eldar, Hero (2010).
    """
    V = len(C)
    if V == 0:
        return 1.0
    mu, alpha = float(np.trace(C)) / V, float((C**2).mean())
    denominator = (n + 1) * (alpha - mu**2 / V)
    return 1.0 if denominator <= 0 else min(1.0, (alpha + mu**2) / denominator)


def overall_variance(moments: Moments) -> Floats:
    """The variance of each column over all rows, whatever their class: (V,)."""
    diagonal = moments.diagonal()
    n = diagonal.count
    total = np.where(n.sum(axis=0) > 0, n.sum(axis=0), 1.0)
    mean = (n * diagonal.mean).sum(axis=0) / total
    return np.asarray((diagonal.scatter + n * (diagonal.mean - mean) ** 2).sum(axis=0) / total)


def _by_class(shrinkage: Shrinkage, classes: tuple[str, ...]) -> Floats:
    if isinstance(shrinkage, dict):
        missing = [name for name in classes if name not in shrinkage]
        if missing:
            raise InputError(f"there is no shrinkage for class `{missing[0]}`")
        return np.array([shrinkage[name] for name in classes], dtype=np.float64)
    return np.full(len(classes), shrinkage, dtype=np.float64)


def _check_share(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not 0 <= value <= 1:
        raise InputError(f"{name} must be from 0 to 1, got {value!r}")


def _correlation(C: Floats) -> Floats:
    size = np.sqrt(np.diag(C))
    size = np.where(size > 0, size, 1.0)
    return np.asarray(C / np.outer(size, size))


def _least_pivot(C: Floats) -> float:
    try:
        return float(np.diag(np.linalg.cholesky(_correlation(C))).min(initial=1.0)) ** 2
    except np.linalg.LinAlgError:
        return 0.0


def _rank(C: Floats) -> int:
    return int((np.linalg.eigvalsh(_correlation(C)) > FLAT).sum())
