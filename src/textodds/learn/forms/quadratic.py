"""Gaussian densities of K classes, and the quadratic form that Gaussian models end as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.named_arrays import Arrays
from textodds.errors import InputError, require
from textodds.learn.arrays import Floats, Integers, Matrix, SparseRows
from textodds.learn.calibration import Calibration
from textodds.learn.forms.linear import log_joint, log_softmax
from textodds.learn.forms.spans import Span, arrays_of
from textodds.learn.forms.spans import of_arrays as spans_of
from textodds.stats.compressed_rows import CompressedRows, as_scipy
from textodds.stats.moments import LARGEST

BLOCK_BYTES = 1 << 19  # rows are scored in blocks that stay in the cache, with what is made of them

LOG_2PI = float(np.log(2 * np.pi))
GAUSSIANS = "a discriminant of texts"


class Gaussians:
    """K Gaussian distributions over V columns."""

    mean: Matrix  # (K, V)

    @property
    def n_features(self) -> int:
        """V."""
        return int(self.mean.shape[1])

    def log_density(self, rows: Matrix) -> Floats:
        """``log p(x | k)`` of each row (N, V), with all constants: (N, K)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Diagonal(Gaussians):
    r"""A variance of each column in each class.

    .. math:: \log p(x \mid k) = -\tfrac12 \sum_v \Bigl(\log 2\pi\sigma_{kv}^2
              + \frac{(x_v - \mu_{kv})^2}{\sigma_{kv}^2}\Bigr)

    A missing number (NaN) is left out of the sum: its density integrates to one, whatever it is.
    """

    mean: Floats  # (K, V)
    variance: Floats  # (K, V)

    def log_density(self, rows: Matrix) -> Floats:
        """``log p(x | k)``, (N, K)."""
        X = _dense(rows, self.n_features)
        K, V = self.mean.shape
        out = np.empty((len(X), K))
        precision = 1 / np.sqrt(self.variance)
        constant = -0.5 * (V * LOG_2PI + np.log(self.variance).sum(axis=1))
        room = np.empty((_step(V), V))
        for part in _blocks(X, V):
            block = X[part]
            z = room[: len(block)]
            for k in range(K):
                np.subtract(block, self.mean[k], out=z)
                z *= precision[k]
                out[part, k] = constant[k] - 0.5 * np.einsum("iv,iv->i", z, z)
        gaps = np.flatnonzero(np.isnan(out).any(axis=1))
        if len(gaps):
            out[gaps] = self.by_column(X[gaps]).sum(axis=1)
        _refuse(X, out, missing=True)
        return out

    def by_column(self, rows: Matrix) -> Floats:
        """``log p(x_v | k)`` of each column, zero where it is missing: (N, V, K)."""
        X = _dense(rows, self.n_features)[:, :, None]
        variance = self.variance.T
        each = -0.5 * (LOG_2PI + np.log(variance) + (X - self.mean.T) ** 2 / variance)
        return np.where(np.isnan(X), 0.0, each)


@dataclass(frozen=True, eq=False)
class Full(Gaussians):
    r"""A covariance of each class, or (``factor`` of length 1) one for all.

    With :math:`z = (x - c) / \sigma` column by column and :math:`L_k L_k^\top` the covariance of z,

    .. math:: \log p(x \mid k) = -\tfrac12 \lVert L_k^{-1}(z - \mu_k) \rVert^2
              - \sum_v \log (L_k)_{vv} \sigma_v - \tfrac V2 \log 2\pi

    by solving with the triangle L, never with an inverse.
    """

    centre: Floats  # (V,)
    scale: Floats  # (V,)
    mean: Floats  # (K, V) of z
    factor: Floats  # (K, V, V) or (1, V, V), lower triangles

    def log_density(self, rows: Matrix) -> Floats:
        """``log p(x | k)``, (N, K)."""
        from scipy.linalg import solve_triangular

        X = _dense(rows, self.n_features)
        K, V = self.mean.shape
        out = np.empty((len(X), K))
        constants = self.constants()
        factors = np.broadcast_to(self.factor, (K, V, V))
        whitened = [  # what is not finite there is refused below
            solve_triangular(L, m, lower=True, check_finite=False)
            for L, m in zip(factors, self.mean, strict=True)
        ]
        for part in _blocks(X, V):
            z = ((X[part] - self.centre) / self.scale).T
            if len(self.factor) == 1:
                y = solve_triangular(self.factor[0], z, lower=True, check_finite=False)
            for k in range(K):
                if len(self.factor) > 1:
                    y = solve_triangular(self.factor[k], z, lower=True, check_finite=False)
                away = y - whitened[k][:, None]
                out[part, k] = constants[k] - 0.5 * np.einsum("vi,vi->i", away, away)
        _refuse(X, out, missing=False)
        return out

    def constants(self) -> Floats:
        """Logarithms of the densities at the means, (K,)."""
        determinant = np.log(np.einsum("kvv->kv", self.factor)).sum(axis=1)
        each = -determinant - np.log(self.scale).sum() - self.n_features / 2 * LOG_2PI
        return np.broadcast_to(each, len(self.mean))

    def covariance(self) -> Floats:
        """The covariances of the columns as they are, (K or 1, V, V)."""
        return np.asarray(self.factor @ self.factor.transpose(0, 2, 1) * np.outer(self.scale, self.scale))

    def linear(self) -> tuple[Floats, Floats]:
        """Intercepts (K,) and weights (V, K) of the log-density up to what is the same for all classes.

        One covariance for all: the quadratic term cancels between classes.
        """
        from scipy.linalg import cho_solve

        assert len(self.factor) == 1
        solved = cho_solve((self.factor[0], True), self.mean.T)  # (V, K) in z
        weights = solved / self.scale[:, None]
        intercept = -0.5 * np.einsum("kv,vk->k", self.mean, solved) - self.centre @ weights
        return intercept, weights


@dataclass(frozen=True, eq=False)
class LowRank(Gaussians):
    r"""For sparse rows of many columns: own directions of large variance, and a sphere for the rest.

    With orthonormal directions :math:`B_k` (V, R), variances :math:`\lambda_{kr}` along them and
    :math:`\tau_k` along all others,

    .. math::
        \log p(x \mid k) = -\frac12 \Bigl(\frac{\lVert x - \mu_k \rVert^2}{\tau_k}
          - \sum_r \Bigl(\frac1{\tau_k} - \frac1{\lambda_{kr}}\Bigr) (B_k^\top(x - \mu_k))_r^2
          + \sum_r \log\lambda_{kr} + (V - R) \log\tau_k + V \log 2\pi \Bigr)

    which needs neither a matrix of V × V nor an inverse. The directions of a class are combinations of
    its rows, so that only the words of the class have a row in ``basis``.
    """

    mean: SparseRows  # (K, V)
    words: tuple[NDArray[np.int32], ...]  # K × (W_k,) columns that occur in the class
    basis: tuple[NDArray[np.float32], ...]  # K × (W_k, R_k)
    variance: tuple[Floats, ...]  # K × (R_k,)
    rest: Floats  # (K,)
    spans: tuple[Span | None, ...] = ()  # K: what a basis is made of, where that is smaller

    def log_density(self, rows: Matrix) -> Floats:
        """``log p(x | k)`` of sparse rows, (N, K)."""
        X = _compressed(rows)
        V, K = self.n_features, len(self.rest)
        if X.shape[1] != V:
            raise InputError(f"rows have {X.shape[1]} columns, the model has {V}")
        turned, centres, offsets = self._kept
        products = _kernels.row_products(X.raw, turned, K)  # (N, K)
        squares = lengths(X)  # (N,)
        out = np.empty((X.shape[0], K))
        for k in range(K):
            variance = self.variance[k]
            away = squares - 2 * products[:, k] + offsets[k]
            # Not a product of matrices, whose last digits depend on how many rows there are.
            worth = 1 / self.rest[k] - 1 / variance
            along = self.words[k], self.basis[k].reshape(-1), centres[k], worth
            within = _kernels.squares_along(X.raw, along, V)
            distance = away / self.rest[k] - within
            determinant = np.log(variance).sum() + (V - len(variance)) * np.log(self.rest[k])
            out[:, k] = -0.5 * (distance + determinant + V * LOG_2PI)
        return out

    @cached_property
    def _kept(self) -> tuple[_kernels.RawRows, tuple[Floats, ...], Floats]:
        """The means word by word; each along the directions of its class, K × (R_k,); their squares (K,)."""
        from scipy import sparse

        centres, place = [], np.full(self.n_features, -1, dtype=np.int64)
        for k, (words, basis) in enumerate(zip(self.words, self.basis, strict=True)):
            place[words] = np.arange(len(words))
            centres.append((restricted(self.mean[[k]], place, len(words)) @ basis)[0])
            place[words] = -1
        turned = _compressed(sparse.csr_array(self.mean.T))
        return turned.raw, tuple(centres), lengths(self.mean)

    def arrays(self) -> Arrays:
        """The distributions as flat arrays, class after class, for a file."""
        spans = self.spans or (None,) * len(self.basis)
        plain = [basis for basis, span in zip(self.basis, spans, strict=True) if span is None]
        return {
            "mean_starts": self.mean.indptr.astype(np.uint64),
            "mean_words": self.mean.indices.astype(np.uint32),
            "mean": self.mean.data.astype(np.float64),
            "words_of": np.array([len(words) for words in self.words], dtype=np.uint64),
            "words": np.concatenate([words.astype(np.uint32) for words in self.words]),
            "ranks": np.array([len(variance) for variance in self.variance], dtype=np.uint64),
            "variance": np.concatenate(self.variance),
            "basis": np.concatenate([np.zeros(0, np.float32), *(basis.reshape(-1) for basis in plain)]),
            "rest": self.rest,
            **arrays_of(spans),
        }

    @classmethod
    def of_arrays(cls, arrays: Arrays, K: int, V: int) -> LowRank:
        """The distributions that `arrays` made flat; refuses arrays that are none."""
        require("scipy", why=GAUSSIANS)
        from scipy import sparse

        kinds = {"mean_starts": "u8", "mean_words": "u4", "mean": "f8", "words_of": "u8", "words": "u4"}
        kinds |= {"ranks": "u8", "variance": "f8", "basis": "f4", "rest": "f8"}
        _must_be(arrays, kinds)
        starts, words_of, ranks = (arrays[name] for name in ("mean_starts", "words_of", "ranks"))
        sizes = {"mean_starts": K + 1, **dict.fromkeys(("words_of", "ranks", "rest"), K)}
        sizes["mean"] = len(arrays["mean_words"])
        sound = (
            all(len(arrays[name]) == size for name, size in sizes.items())
            and bool((words_of <= V).all() and (ranks <= V).all())  # so that sums are no surprise
            and len(arrays["words"]) == int(words_of.sum())
            and len(arrays["variance"]) == int(ranks.sum())
            and int(starts[0]) == 0
            and int(starts[-1]) == len(arrays["mean"])
            and bool((starts[:-1] <= starts[1:]).all())
            and all((arrays[name] < V).all() for name in ("mean_words", "words"))
            and all((arrays[name] > 1 / LARGEST).all() for name in ("variance", "rest"))
            and all((np.abs(arrays[name]) < LARGEST).all() for name in ("variance", "rest", "mean"))
        )
        if not sound:
            raise InputError("the parts of its Gaussian distributions do not fit together")
        index = (arrays["mean_words"].astype(np.int32), starts.astype(np.int64))
        mean = sparse.csr_array((arrays["mean"], *index), shape=(K, V))
        cuts = np.cumsum(words_of.astype(np.int64))[:-1]
        if not all((np.diff(own) > 0).all() for own in np.split(arrays["words"].astype(np.int64), cuts)):
            raise InputError("the words of a class are out of order")
        turns = np.cumsum(ranks.astype(np.int64))[:-1]
        spans = spans_of(arrays, words_of.tolist(), ranks.tolist())
        sizes_of = [
            (0 if span is not None else w * r)
            for w, r, span in zip(words_of.tolist(), ranks.tolist(), spans, strict=True)
        ]
        if sum(sizes_of) != len(arrays["basis"]):
            raise InputError("the parts of its Gaussian distributions do not fit together")
        corners = np.cumsum(sizes_of)[:-1]
        words = tuple(np.split(arrays["words"].astype(np.int32), cuts))
        variance = tuple(np.split(arrays["variance"], turns))
        flat = np.split(arrays["basis"], corners)
        basis = tuple(
            part.reshape(len(own), len(along)) if span is None else span.basis
            for part, own, along, span in zip(flat, words, variance, spans, strict=True)
        )
        if not all((np.abs(part) < 2.0).all() for part in basis):  # directions have length 1
            raise InputError("the directions of a class are too long")
        return cls(mean, words, basis, variance, arrays["rest"], spans)


@dataclass(frozen=True, eq=False)
class SparseDiagonal(Gaussians):
    r"""For sparse rows of many columns: a variance of each column in each class, one for all that are absent.

    A column that no row of class k has is zero there, with no variance but what smoothing adds, :math:`\rho`.
    So the density of a row is that of zero and what its own columns change,

    .. math::
        \log p(x \mid k) = c_k + \sum_v \Bigl(\frac{x_v \mu_{kv}}{\sigma_{kv}^2}
          - \frac{x_v^2}{2 \sigma_{kv}^2}\Bigr), \qquad
        c_k = -\tfrac12 \sum_v \Bigl(\log 2\pi\sigma_{kv}^2 + \frac{\mu_{kv}^2}{\sigma_{kv}^2}\Bigr)

    by three products of sparse matrices. The same as `Diagonal`, but that products of large numbers are
    rounded: where a variance is nothing but smoothing of 1e-9, log-densities to about 1e-5.
    """

    mean: SparseRows  # (K, V)
    variance: Floats  # of each stored mean
    rest: float  # of all others

    @cached_property
    def _stored(self) -> tuple[SparseRows, SparseRows, SparseRows, Floats]:
        """Of stored means (V, K) μ/σ², 1/σ² and 1; and ``c`` (K,)."""
        from scipy import sparse

        K, V = self.mean.shape
        row = np.repeat(np.arange(K), np.diff(self.mean.indptr))

        def of(values: Floats) -> SparseRows:
            return sparse.csr_array(
                sparse.csr_array((values, self.mean.indices, self.mean.indptr), shape=(K, V)).T
            )

        mean, variance = self.mean.data, self.variance
        each = np.bincount(row, np.log(variance) + mean**2 / variance, K)
        absent = V - np.diff(self.mean.indptr)
        at_zero = -0.5 * (each + absent * np.log(self.rest) + V * LOG_2PI)
        return of(mean / variance), of(1 / variance), of(np.ones(len(mean))), at_zero

    def log_density(self, rows: Matrix) -> Floats:
        """``log p(x | k)`` of sparse rows, (N, K)."""
        X = as_scipy(rows, GAUSSIANS)
        from scipy import sparse

        X = sparse.csr_array(X)
        if X.shape[1] != self.n_features:
            raise InputError(f"rows have {X.shape[1]} columns, the model has {self.n_features}")
        pull, precision, stored, at_zero = self._stored
        squares, ones = X.copy(), X.copy()
        squares.data, ones.data = X.data**2, np.ones(len(X.data))
        outside = lengths(X)[:, None] - (squares @ stored).toarray()  # (N, K) of columns that are absent in k
        # Where there is none, what is left is rounding, and would be divided by very little.
        outside[(ones @ stored).toarray() == np.diff(X.indptr)[:, None]] = 0.0
        quadratic = (squares @ precision).toarray() + np.maximum(outside, 0.0) / self.rest
        return np.asarray(at_zero + (X @ pull).toarray() - 0.5 * quadratic)

    def columns(self, features: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Means and variances of some columns, (n, K)."""
        pull, precision, stored, _ = self._stored
        inside = stored[features].toarray() > 0
        over = precision[features].toarray()
        variance = np.where(inside, 1 / np.where(inside, over, 1.0), self.rest)
        return pull[features].toarray() * variance, variance

    def arrays(self) -> Arrays:
        """The distributions as flat arrays, class after class, for a file."""
        return {
            "mean_starts": self.mean.indptr.astype(np.uint64),
            "mean_words": self.mean.indices.astype(np.uint32),
            "mean": self.mean.data.astype(np.float64),
            "variance": self.variance,
            "rest": np.array([self.rest]),
        }

    @classmethod
    def of_arrays(cls, arrays: Arrays, K: int, V: int) -> SparseDiagonal:
        """The distributions that `arrays` made flat; refuses arrays that are none."""
        require("scipy", why=GAUSSIANS)
        from scipy import sparse

        kinds = {"mean_starts": "u8", "mean_words": "u4", "mean": "f8", "variance": "f8", "rest": "f8"}
        _must_be(arrays, kinds)
        starts, words, mean = (arrays[name] for name in ("mean_starts", "mean_words", "mean"))
        sound = (
            len(starts) == K + 1
            and len(arrays["rest"]) == 1
            and len(mean) == len(words) == len(arrays["variance"])
            and int(starts[0]) == 0
            and int(starts[-1]) == len(mean)
            and bool((starts[:-1] <= starts[1:]).all())
            and bool((words < V).all())
            and bool((np.abs(mean) < LARGEST).all())
            and all(
                ((arrays[name] > 1 / LARGEST) & (arrays[name] < LARGEST)).all()
                for name in ("variance", "rest")
            )
        )
        if sound and len(words):
            row = np.searchsorted(starts[1:], np.arange(len(words), dtype=np.uint64), side="right")
            sound = bool((np.diff(row * V + words.astype(np.int64)) > 0).all())  # no column twice
        if not sound:
            raise InputError("the parts of its Gaussian distributions do not fit together")
        index = (words.astype(np.int32), starts.astype(np.int64))
        return cls(
            sparse.csr_array((mean, *index), shape=(K, V)), arrays["variance"], float(arrays["rest"][0])
        )


def _must_be(arrays: Arrays, kinds: dict[str, str]) -> None:
    """Refuse arrays that are missing, or of another type."""
    for name, kind in kinds.items():
        if name not in arrays or arrays[name].dtype != np.dtype(kind) or arrays[name].ndim != 1:
            raise InputError(f"the tensor `{name}` is missing, or has the wrong type")


def restricted(rows: SparseRows, place: Integers, n: int) -> SparseRows:
    """The columns of sparse rows that have a place, in that order: (N, n)."""
    from scipy import sparse

    at = place[rows.indices]
    kept = at >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    return sparse.csr_array((rows.data[kept], at[kept], ends), shape=(rows.shape[0], n))


def _compressed(rows: Matrix | CompressedRows) -> CompressedRows:
    """Sparse rows, whoever made them, for the kernels."""
    if isinstance(rows, CompressedRows):
        return rows
    from scipy import sparse

    X = sparse.csr_array(rows)
    return CompressedRows((X.data, X.indices, X.indptr), X.shape)


def lengths(rows: SparseRows | CompressedRows) -> Floats:
    """Squared lengths of sparse rows, (N,)."""
    N = rows.shape[0]
    row = np.repeat(np.arange(N), np.diff(rows.indptr))
    return np.bincount(row, rows.data**2, N).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """Scores ``log_prior_k + intercept_k + log p(x | k) / temperature``, one column per class.

    Gaussian naive Bayes and quadratic discriminant analysis end here. With a ``temperature`` of 1 and no
    ``intercept`` scores are logarithms of p(x, k).
    """

    classes: tuple[str, ...]  # (K,)
    log_prior: Floats  # (K,)
    gaussians: Gaussians
    temperature: float = 1.0
    intercept: Floats | float = 0.0  # (K,)
    is_posterior = True

    @property
    def n_features(self) -> int:
        """V."""
        return self.gaussians.n_features

    def scores(self, rows: Matrix) -> Floats:
        """Score of each row (N, V) and class, (N, K)."""
        density = self.gaussians.log_density(rows)
        return log_joint(density / self.temperature, self.intercept + self.log_prior)

    def log_posterior(self, rows: Matrix) -> Floats:
        """``log p(class | row)``, (N, K)."""
        return log_softmax(self.scores(rows))

    def with_prior(self, log_prior: Floats) -> QuadraticModel:
        """The same model under another prior over the classes."""
        return replace(self, log_prior=log_prior)

    def calibrated(self, calibration: Calibration) -> QuadraticModel:
        """The model with calibrated scores, under the same prior."""
        intercept = self.log_prior / calibration.temperature + calibration.bias - self.log_prior
        return replace(self, temperature=calibration.temperature, intercept=intercept)


def _dense(rows: Matrix, V: int) -> Floats:
    X = np.asarray(rows, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != V:
        raise InputError(
            f"rows have {X.shape[1]} columns, the model has {V}"
            if X.ndim == 2
            else f"rows must be a matrix, got {X.ndim} dimensions",
            hint="give the columns the model was trained on, in the same order",
        )
    return X


def _refuse(X: Floats, out: Floats, *, missing: bool) -> None:
    """Name a number that has no density, if there is one: it shows in what came out."""
    bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if len(bad):
        row = X[bad[0]]
        good = np.abs(row) < LARGEST
        if missing:
            good |= np.isnan(row)
        column = int(np.flatnonzero(~good)[0]) if not good.all() else int(np.nanargmax(np.abs(row)))
        what = "no number" if np.isnan(row[column]) else f"{row[column]:g}"
        raise InputError(
            f"row {bad[0]} has {what} in column {column}",
            hint="fill it in, or use Gaussian naive Bayes, which leaves out what is missing"
            if np.isnan(row[column])
            else f"numbers must be below {LARGEST:g} in size, and not absurdly far from those learned",
        )


def _blocks(X: Floats, V: int) -> Iterator[slice]:
    for start in range(0, len(X), _step(V)):
        yield slice(start, min(start + _step(V), len(X)))


def _step(V: int) -> int:
    return max(64, BLOCK_BYTES // (8 * max(V, 1)))
