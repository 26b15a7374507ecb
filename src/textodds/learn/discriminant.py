"""Discriminant analysis: Gaussian classes, of dense rows or of texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from textodds.data import Observer
from textodds.errors import InputError, NotConverged, Unsupported
from textodds.learn.arrays import Floats, SparseRows
from textodds.learn.calibration import Calibration, log_loss
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.conditionals.sparse_gaussian import Directions, SparseClasses, Watch, WordMoments, shared
from textodds.learn.covariance import check_shrinkage
from textodds.learn.design import Design, LabelledRows
from textodds.learn.forms.linear import LinearModel, Weights, check_prior, log_joint, log_prior, log_softmax
from textodds.learn.forms.quadratic import QuadraticModel
from textodds.learn.held_out import HeldOut, held_out
from textodds.learn.registry import Learner, Prior

INTENSITIES = (0.97, 0.9, 0.7, 0.5, 0.3, 0.1)
"""Shrinkages of the covariance of texts that are tried, from the simplest model on."""

SMOOTHINGS = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9)
"""Smoothings of the variances of words that are tried, from the simplest model on."""

USUAL_SMOOTHING = 1e-9  # of numbers, and of textbooks

ENOUGH = 700  # texts to hold out, to choose the shrinkage and the temperature on

ROUGH, LEAST = 0.05, 3
"""Relative residual at which a discriminant is good enough to be compared, and steps it takes at least."""


@dataclass(frozen=True, eq=False)
class DiscriminantFit:
    """A fitted model, and how it was found."""

    model: LinearModel | QuadraticModel
    about: dict[str, object]
    factor: Floats | None = None  # no feature is scaled
    held_out: HeldOut | None = None  # what was said of rows that were held out

    def report(self) -> dict[str, object]:
        """What is worth keeping, as plain data."""
        return self.about


class _GaussianClasses(Learner):
    """What Gaussian learners of texts do: what is open is chosen on held-out rows, with a calibration."""

    chooses: ClassVar[str] = "shrinkage"  # its setting that is chosen

    def fit_design(
        self,
        design: Design | None,
        data: LabelledRows,
        *,
        observer: Observer | None = None,
        calibrate: bool = True,
    ) -> DiscriminantFit:
        """The model of sparse rows; ``design`` is for learners that scale them.

        Temperature and bias are those that make held-out rows right, if ``calibrate``.
        """
        whole = SparseClasses.of(data.rows, data.codes, data.weights, data.classes)
        prior = np.log(whole.mass / whole.mass.sum())  # that of the data, by which the model is calibrated
        path = _chosen_sparse(whole, prior, self._levels(), self._along, calibrate)
        model, about = self._fitted(whole, prior, path, (observer or Observer()).step)
        model = model.with_prior(log_prior(self.prior, data.classes, data.class_weights()))
        return DiscriminantFit(model, {**path.report(self.chooses), **about}, held_out=path.held_out)

    def _levels(self) -> Sequence[float]:
        """What is tried, from the simplest model on."""
        raise NotImplementedError

    def _along(self, kept: SparseClasses, rows: SparseRows, levels: Sequence[float]) -> Iterator[Floats]:
        """``log p(x | k)`` of rows under the model of others, level by level."""
        raise NotImplementedError

    def _fitted(
        self, whole: SparseClasses, prior: Floats, path: _Path, watch: Watch
    ) -> tuple[LinearModel | QuadraticModel, dict[str, object]]:
        """The model of all rows under the prior of the data, calibrated, and how it was found."""
        raise NotImplementedError


class _Discriminant(_GaussianClasses):
    """Both discriminants of texts, whose covariances are shrunk."""

    shrinkage: float | str | None

    def __post_init__(self) -> None:
        hint = "a number from 0 to 1, `oas`, `ledoit-wolf`, `likelihood`, or None to have it chosen"
        check_shrinkage(self.shrinkage, ("oas", "ledoit-wolf", "likelihood"), hint)
        check_prior(self.prior)

    def _levels(self) -> Sequence[float]:
        if isinstance(self.shrinkage, str):
            raise Unsupported(
                "of sparse rows the shrinkage is a number, or chosen on held-out rows, "
                f"not by {self.shrinkage}",
                hint="leave it out, so that it is chosen",
            )
        return INTENSITIES if self.shrinkage is None else (float(self.shrinkage),)


@dataclass(frozen=True)
class GaussianLearner(_GaussianClasses):
    """Gaussian naive Bayes: numbers, or weights of words, independent given the class; see `Gaussian`.

    Of sparse rows, such as texts, each word has a mean and a variance in each class, and temperature and bias
    are chosen on held-out rows; see `textodds.learn.conditionals.sparse_gaussian.WordMoments`.

    Parameters
    ----------
    smoothing : float or None, default None
        Added to variances: of numbers, a share of the variance of their column over all rows; of texts, a
        share of the largest variance of a word, as in scikit-learn. None: of numbers 1e-9, of texts chosen by
        the log-loss of held-out rows.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a number is read.
    """

    smoothing: float | None = None
    prior: Prior = "data"
    chooses: ClassVar[str] = "smoothing"

    def __post_init__(self) -> None:
        check_prior(self.prior)
        _ = self.gaussian

    @property
    def gaussian(self) -> Gaussian:
        """The class-conditional of columns of numbers."""
        return Gaussian("diagonal", smoothing=USUAL_SMOOTHING if self.smoothing is None else self.smoothing)

    def _levels(self) -> Sequence[float]:
        return SMOOTHINGS if self.smoothing is None else (float(self.smoothing),)

    def _along(self, kept: SparseClasses, rows: SparseRows, levels: Sequence[float]) -> Iterator[Floats]:
        moments = WordMoments.of(kept)
        for smoothing in levels:
            yield moments.smoothed(smoothing).log_density(rows)

    def _fitted(
        self, whole: SparseClasses, prior: Floats, path: _Path, watch: Watch
    ) -> tuple[QuadraticModel, dict[str, object]]:
        gaussians = WordMoments.of(whole).smoothed(path.level)
        model = QuadraticModel(whole.classes, prior, gaussians).calibrated(path.calibration)
        return model, {"method": "moments"}


@dataclass(frozen=True)
class LinearDiscriminantLearner(_Discriminant):
    """Linear discriminant analysis: Gaussian classes of one covariance; see `Gaussian`.

    Of the numbers of a table the covariance is taken apart exactly; of sparse rows, such as texts, the
    discriminant is found by conjugate gradients and a temperature is chosen with the shrinkage, on held-out
    rows; see `textodds.learn.conditionals.sparse_gaussian`.

    Parameters
    ----------
    shrinkage : float, "oas", "ledoit-wolf", "likelihood" or None, default None
        How far the covariance is drawn towards a simpler one. None chooses: for dense rows by their
        leave-one-out likelihood, for sparse ones by the log-loss of held-out rows.
    prior : "data", "uniform" or dict, default "data"
        Probability of each class before a row is read.
    tolerance : float, default 1e-3
        Relative residual at which conjugate gradients stop.
    """

    shrinkage: float | str | None = None
    prior: Prior = "data"
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.tolerance < 1:
            raise InputError(f"tolerance must be between 0 and 1, got {self.tolerance!r}")

    def _along(self, kept: SparseClasses, rows: SparseRows, levels: Sequence[float]) -> Iterator[Floats]:
        start = None
        for shrinkage in levels:
            found = shared(kept, shrinkage, start=start, tolerance=ROUGH, least=LEAST)
            start = found.weights
            yield rows @ found.weights + found.intercept

    def _fitted(
        self, whole: SparseClasses, prior: Floats, path: _Path, watch: Watch
    ) -> tuple[LinearModel, dict[str, object]]:
        found = shared(whole, path.level, tolerance=self.tolerance, watch=watch)
        if found.residual > self.tolerance:
            warnings.warn(
                f"not converged after {found.steps} steps: a relative residual of {found.residual:.2g} is "
                f"left, {self.tolerance:g} was asked; give more shrinkage, or a larger tolerance",
                NotConverged,
                stacklevel=4,
            )
        # Without the prior, so that a new one may take its place.
        intercept = path.calibration.applied(found.intercept + prior) - prior
        weights = Weights.of_matrix(found.weights / path.calibration.temperature)
        about = {"method": "conjugate gradients", "steps": found.steps, "residual": found.residual}
        return LinearModel(whole.classes, prior, intercept, weights), about


@dataclass(frozen=True)
class QuadraticDiscriminantLearner(_Discriminant):
    """Quadratic discriminant analysis: Gaussian classes of own covariances.

    See `textodds.learn.conditionals.gaussian.Gaussian`. Of sparse rows, such as texts, each class has its
    ``rank`` directions of largest variance and a sphere for all others, and shrinkage and calibration are
    chosen together on held-out rows; see `textodds.learn.conditionals.sparse_gaussian`.

    Parameters
    ----------
    shrinkage, prior
        As in `LinearDiscriminantLearner`, of each class's own covariance.
    pooling : float, default 0.0
        How far covariances are drawn towards that of all classes; of dense rows only.
    rank : int, default 128
        Directions of a class; of sparse rows only.
    """

    shrinkage: float | str | None = None
    pooling: float = 0.0
    prior: Prior = "data"
    rank: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        Gaussian("full", pooling=self.pooling)
        if not 1 <= self.rank <= 4096:
            raise InputError(f"rank must be from 1 to 4096, got {self.rank!r}")

    def fit_design(self, design: Design | None, data: LabelledRows, **how: Any) -> DiscriminantFit:
        """The model of sparse rows; see `LinearDiscriminantLearner`."""
        if self.pooling:
            raise Unsupported("sparse rows are not pooled", hint="leave pooling out; shrinkage is chosen")
        return super().fit_design(design, data, **how)

    def _along(self, kept: SparseClasses, rows: SparseRows, levels: Sequence[float]) -> Iterator[Floats]:
        directions = Directions.of(kept, self.rank)
        for shrinkage in levels:
            yield directions.shrunk(shrinkage).log_density(rows)

    def _fitted(
        self, whole: SparseClasses, prior: Floats, path: _Path, watch: Watch
    ) -> tuple[QuadraticModel, dict[str, object]]:
        gaussians = Directions.of(whole, self.rank, watch=watch).shrunk(path.level)
        model = QuadraticModel(whole.classes, prior, gaussians).calibrated(path.calibration)
        return model, {"method": "subspace iteration"}


@dataclass(frozen=True, eq=False)
class _Path:
    """The shrinkage or smoothing of least held-out log-loss, with the calibration that goes with it."""

    level: float
    calibration: Calibration
    points: tuple[tuple[float, float], ...] = ()
    n_held_out: int = 0
    held_out: HeldOut | None = None

    def report(self, name: str) -> dict[str, object]:
        return {
            name: self.level,
            "temperature": self.calibration.temperature,
            "bias": np.ravel(self.calibration.bias).tolist(),
            "path": [list(point) for point in self.points],
            "held_out": self.n_held_out,
        }


def _chosen_sparse(
    whole: SparseClasses,
    prior: Floats,
    levels: Sequence[float],
    along: Callable[[SparseClasses, SparseRows, Sequence[float]], Iterator[Floats]],
    calibrate: bool,
) -> _Path:
    """One of ``levels``, and calibration if it is wanted, by the log-loss of held-out rows.

    ``along`` is as `_GaussianClasses._along`.
    """
    runs, codes, weights = [], [], []
    for held in held_out(whole.codes, ENOUGH):
        kept = whole.part(~held)
        test = held & (whole.weights > 0)
        if kept.variance > 0 and test.any() and (kept.mass > 0).all():
            runs.append(along(kept, whole.rows[np.flatnonzero(test)], levels))
            codes.append(whole.codes[test])
            weights.append(whole.weights[test])
    if not runs:  # too few rows to hold any out
        return _Path(levels[0], Calibration.none())
    y, u = np.concatenate(codes), np.concatenate(weights)
    points: list[tuple[float, float]] = []
    best = _Path(levels[0], Calibration.none())
    for level in levels:
        scores = log_joint(np.concatenate([next(run) for run in runs]), prior)
        calibration = Calibration.of(scores, y, u)  # by which shrinkages are compared, whatever is kept
        loss = log_loss(calibration.applied(scores), y, u)
        points.append((level, loss))
        if loss > min(loss for _, loss in points):
            break  # it rises
        if calibrate:
            answers = HeldOut.of(log_softmax(calibration.applied(scores)), y)
            best = _Path(level, calibration, held_out=answers)
        else:
            best = _Path(level, Calibration.none())
    return replace(best, points=tuple(points), n_held_out=len(y))
