"""What is drawn of Gaussian classifiers: labelled points, three models fitted to them, where these decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError, LengthMismatch, NoData, TooFewRows
from textodds.learn.arrays import Floats, Mask
from textodds.learn.conditionals.gaussian import Gaussian
from textodds.learn.forms.linear import log_prior
from textodds.learn.forms.quadratic import Diagonal, QuadraticModel
from textodds.stats.moments import LARGEST, Moments
from textodds.study.report.picture import MOST

Integers = NDArray[np.intp]

FEWEST = 30  # points of a small class, if it has as many, however large the others are

MODELS = {
    "QDA": ("full", "a covariance of each class"),
    "LDA": ("shared", "one covariance for all"),
    "GNB": ("diagonal", "variances of each class"),
}
"""The covariance of each model, and in words."""

FAR = 1e6  # deviations from the mean at which a root comes of variances that are equal but for rounding


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Rows of V numbers with their classes, and what was left out of them."""

    names: tuple[str, ...]  # (V,)
    rows: Floats  # (N, V)
    codes: Integers  # (N,)
    classes: tuple[str, ...]  # (K,) sorted
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: ArrayLike, labels: Sequence[object], names: Sequence[str], *, gaps: bool = False
    ) -> LabelledPoints:
        """The rows that have all numbers (with ``gaps``, any number), of the `MOST` largest classes.

        >>> data = LabelledPoints.of([1.0, 2.0, 5.0, 7.0, float("nan")], list("aabbb"), ["size"])
        >>> data.rows.shape, data.notes
        ((4, 1), ('1 row without a number left out',))
        """
        X = np.asarray(rows, dtype=np.float64)
        X = X[:, None] if X.ndim == 1 else X
        if X.ndim != 2 or X.shape[1] != len(names):
            raise InputError(
                f"rows have the shape {np.shape(rows)}, but {len(names)} columns are named",
                hint="one row a case, one column a name",
            )
        if len(labels) != len(X):
            raise LengthMismatch(len(X), len(labels))
        missing = np.isnan(X)
        there = np.asarray(~(missing.all(axis=1) if gaps else missing.any(axis=1)))
        _refuse_large(X, there, names)
        notes = [] if there.all() else [f"{count_rows(int((~there).sum()))} without a number left out"]
        if not there.any():
            raise NoData(f"no row has {'a number' if gaps else 'all its numbers'}")
        text = np.array([str(label) for label in labels])[there]
        found, codes, sizes = np.unique(text, return_inverse=True, return_counts=True)
        X = X[there]
        if len(found) > MOST:
            kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST])
            among = np.isin(codes, kept)
            left_out = count_rows(int((~among).sum()))
            notes.append(f"the {MOST} largest of {len(found):,} classes; {left_out} left out")
            X, codes, found = X[among], np.searchsorted(kept, codes[among]), found[kept]
        data = cls(tuple(names), X, codes, tuple(map(str, found)), tuple(notes))
        if not gaps:
            data._refuse()
        return data

    def column(self, v: int) -> LabelledPoints:
        """The rows that have a number in one column, with that column only."""
        name, there = self.names[v], ~np.isnan(self.rows[:, v])
        notes = () if there.all() else (f"{count_rows(int((~there).sum()))} without `{name}`",)
        own = LabelledPoints((name,), self.rows[there, v, None], self.codes[there], self.classes, notes)
        own._refuse()
        return own

    def of_class(self, k: int) -> Floats:
        """The rows of one class."""
        return np.asarray(self.rows[self.codes == k])

    def sizes(self) -> Integers:
        """Rows of each class, (K,)."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def sample(self, most: int) -> list[Integers]:
        """Row numbers of each class, about ``most`` in all and in proportion; no class without points.

        The same rows give the same sample.
        """
        sizes = self.sizes()
        share = np.minimum(1.0, most / len(self.rows))
        wanted = np.minimum(sizes, np.maximum(np.rint(sizes * share), FEWEST)).astype(int)
        draw = np.random.default_rng(0)
        return [np.sort(draw.permutation(np.flatnonzero(self.codes == k))[:n]) for k, n in enumerate(wanted)]

    def _refuse(self) -> None:
        """Fail where there is nothing to decide, or nothing that varies."""
        if len(self.classes) < 2:
            raise InputError(
                f"all rows are of class `{self.classes[0]}`: there is nothing to decide",
                hint="name the label column with `--label`",
            )
        if not len(self.rows):
            raise NoData(f"no row has a number in column `{self.names[0]}`", hint="choose another column")
        if flat := _flat(self.rows):
            raise InputError(
                f"column `{self.names[flat[0]]}` does not vary: it is {self.rows[0, flat[0]]:g} in every row",
                hint="choose another column",
            )
        for k, name in enumerate(self.classes):
            where, own = f"in class `{name}`", self.of_class(k)
            if len(own) < 2:
                columns = " and ".join(f"`{column}`" for column in self.names)
                raise TooFewRows(
                    f"{'a single' if len(own) else 'no'} row {where} has a number in {columns}",
                    hint="leave that class out, or give more rows of it",
                )
            if flat := _flat(own):
                raise InputError(
                    f"column `{self.names[flat[0]]}` does not vary {where}",
                    hint="choose another column, or leave that class out",
                )


def _flat(rows: Floats) -> list[int]:
    """The columns whose numbers are all the same."""
    return np.flatnonzero(np.ptp(rows, axis=0) == 0).tolist()


def count_rows(n: int) -> str:
    """A number of rows, in words."""
    return f"{n:,} row{'' if n == 1 else 's'}"


def _refuse_large(X: Floats, there: Mask, names: Sequence[str]) -> None:
    for row, column in np.argwhere((np.abs(X) >= LARGEST) & there[:, None])[:1]:
        raise InputError(
            f"row {row} has {X[row, column]:g} in column `{names[column]}`",
            hint=f"numbers must be below {LARGEST:g}: leave the row out",
        )


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """A model of largest likelihood, without shrinkage or smoothing; its prior is the shares of classes."""

    name: str
    model: QuadraticModel
    mean: Floats  # (K, V)
    covariance: Floats  # (K, V, V)

    @classmethod
    def of(cls, name: str, data: LabelledPoints) -> MaximumLikelihood:
        """The model called ``name``, one of `MODELS`."""
        # Smoothing is a share of the largest variance, and would widen a column of small numbers beside one
        # of large ones; nor is it needed, as every column varies in every class.
        gaussian = Gaussian(MODELS[name][0], smoothing=0.0)
        moments = Moments.of_codes(data.rows, data.codes, data.classes, full=gaussian.is_full)
        try:
            gaussians = gaussian.fit(moments)
        except TooFewRows as error:
            raise TooFewRows(
                f"{name} cannot be drawn: {error.problem}",
                hint="leave that class out, give more rows of it, or choose other columns",
            ) from error
        K, V = moments.mean.shape
        own = (
            gaussians.variance[:, :, None] * np.eye(V)
            if isinstance(gaussians, Diagonal)
            else gaussians.covariance()
        )
        prior = log_prior("data", data.classes, moments.class_rows)
        model = QuadraticModel(data.classes, prior, gaussians)
        return cls(name, model, moments.mean, np.broadcast_to(own, (K, V, V)))

    def scores(self, rows: Floats) -> Floats:
        """``log p(x, k)``, (N, K)."""
        return self.model.scores(rows)

    def accuracy(self, data: LabelledPoints) -> float:
        """Share of the rows whose class is the likeliest."""
        return float((self.model.scores(data.rows).argmax(axis=1) == data.codes).mean())

    def ellipse(self, k: int, distance: float, n: int = 181) -> Floats:
        r"""Points at a Mahalanobis ``distance`` from the mean of class k, (n, 2), the last being the first.

        With :math:`\Sigma = L L^\top`, the points :math:`\mu + d L (\cos t, \sin t)^\top`.
        """
        turn = np.linspace(0, 2 * np.pi, n)
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        return np.asarray(self.mean[k] + distance * circle @ np.linalg.cholesky(self.covariance[k]).T)


def margins(scores: Floats) -> Floats:
    r"""Each score less the largest of the others, (N, K).

    With scores :math:`s_k = \log p(x \mid k) + \log \pi_k` the margin of a class is
    :math:`s_k - \max_{j \ne k} s_j`: the distance of the best to the second-best class where k is best,
    below zero elsewhere, and zero on the boundary of its region, which it crosses there.

    >>> margins(np.array([[1.0, 4.0, 2.0]])).tolist()
    [[-3.0, 2.0, -2.0]]
    """
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T[:, :, None]
    return np.asarray(np.where(scores == best, best - second, scores - best))


@dataclass(frozen=True)
class Crossing:
    """A number ``at`` which the decision changes, read from left to right."""

    at: float
    before: str
    after: str


def crossings(fitted: MaximumLikelihood) -> list[Crossing]:
    r"""The decision points of a Gaussian model of one column, from left to right.

    Classes j and k are equally likely where, with :math:`z = x - \mu_j` and
    :math:`d = \mu_k - \mu_j`,

    .. math::
        \log\frac{\pi_j \sigma_k}{\pi_k \sigma_j} - \frac{z^2}{2 \sigma_j^2}
        + \frac{(z - d)^2}{2 \sigma_k^2} = 0                                      \tag{1}

    which is a quadratic equation in z; its roots count where no third class is likelier, and where the
    decision does change: not where two curves only touch.
    """
    mean, variance, prior = fitted.mean[:, 0], fitted.covariance[:, 0, 0], fitted.model.log_prior
    roots: list[float] = []
    for j, k in combinations(range(len(mean)), 2):
        d = mean[k] - mean[j]
        square = 0.5 / variance[k] - 0.5 / variance[j]
        constant = prior[j] - prior[k] + 0.5 * np.log(variance[k] / variance[j]) + 0.5 * d**2 / variance[k]
        reach = abs(d) + FAR * np.sqrt(max(variance[j], variance[k]))
        with np.errstate(over="ignore"):  # means that are equal but for rounding: a root beyond all numbers
            roots += [mean[j] + z for z in _roots(square, -d / variance[k], constant) if abs(z) < reach]
    points = np.unique(roots)
    if not len(points):
        return []
    # Between neighbouring roots the order of the classes is the same everywhere.
    gap = max(np.ptp(points), np.sqrt(variance.max()))
    between = np.concatenate([[points[0] - gap], (points[:-1] + points[1:]) / 2, [points[-1] + gap]])
    best = fitted.model.scores(between[:, None]).argmax(axis=1)
    names = fitted.model.classes
    return [
        Crossing(float(at), names[before], names[after])
        for at, before, after in zip(points, best[:-1], best[1:], strict=True)
        if before != after
    ]


def _roots(a: float, b: float, c: float) -> list[float]:
    """Real roots of ``a z² + b z + c``, without the cancellation of the formula in books."""
    if a == 0:
        return [-c / b] if b else []
    inside = b**2 - 4 * a * c
    if inside < 0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(inside), b))
    return [q / a, c / q] if q else [0.0]
