r"""Gaussian distributions of sparse rows with very many columns, such as words.

A covariance of V columns has V² entries; these never exist here. Shrunk towards a sphere,

.. math:: \Sigma_k = (1 - \gamma) C_k + \gamma \tau I, \qquad \tau = \operatorname{tr}(C) / V       \tag{1}

where C is the covariance within classes: the shared one is used through products with the rows, an own one
through its few directions of largest variance. A diagonal one has a variance of each word that a class has,
and one for all others (`WordMoments`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.errors import TooFewRows
from textodds.learn.arrays import Floats, Integers, Mask, SparseRows
from textodds.learn.forms.quadratic import GAUSSIANS, LowRank, SparseDiagonal, lengths, restricted
from textodds.learn.forms.spans import Span
from textodds.stats.compressed_rows import CompressedRows, as_scipy

Watch = Callable[[int, float], object]  # told the step, and how far there is to go
MORE = 8  # directions that are followed beyond those wanted, so that the last of these are found as well
ROUNDING = 1e-12  # share of rows, or of a mean, that may be left by sums of numbers that are all the same
ROUNDS = 2  # rounds of subspace iteration; each multiplies by the covariance once more


@dataclass(frozen=True, eq=False)
class SparseClasses:
    """Sparse rows by class, with what both covariances start from."""

    rows: SparseRows  # (N, V)
    codes: Integers  # (N,)
    weights: Floats  # (N,)
    classes: tuple[str, ...]  # (K,)
    mass: Floats  # (K,) weight of each class
    mean: SparseRows  # (K, V)
    variance: float  # τ: the mean variance of a column within classes

    @classmethod
    def of(
        cls, rows: SparseRows, codes: Integers, weights: Floats, classes: tuple[str, ...]
    ) -> SparseClasses:
        """The rows (N, V) with their means."""
        rows = as_scipy(rows, GAUSSIANS)
        from scipy import sparse

        (N, V), K = rows.shape, len(classes)
        mass = np.bincount(codes, weights, K).astype(np.float64, copy=False)
        share = weights / np.where(mass > 0, mass, 1.0)[codes]
        member = sparse.csr_array((share, codes, np.arange(N + 1)), shape=(N, K)).T
        mean = sparse.csr_array(member @ rows)
        mean.sort_indices()
        within = float(weights @ lengths(rows)) - float(mass @ lengths(mean))
        return cls(
            rows, codes, weights, classes, mass, mean, max(within, 0.0) / float(mass.sum()) / max(V, 1)
        )

    def part(self, kept: Mask) -> SparseClasses:
        """The classes of some of the rows."""
        at = np.flatnonzero(kept)
        return SparseClasses.of(self.rows[at], self.codes[at], self.weights[at], self.classes)


@dataclass(frozen=True, eq=False)
class SharedDiscriminant:
    """A linear discriminant: ``log p(x | k) = intercept_k + Σ_v x_v w_vk``, up to what classes share."""

    intercept: Floats  # (K,)
    weights: Floats  # (V, K)
    steps: int
    residual: float  # relative, the largest of all classes


def shared(
    data: SparseClasses,
    shrinkage: float,
    *,
    start: Floats | None = None,
    tolerance: float = 1e-4,
    least: int = 0,
    watch: Watch | None = None,
) -> SharedDiscriminant:
    r"""The discriminant of one covariance for all classes.

    .. math:: w_k = \Sigma^{-1} \mu_k, \qquad b_k = -\tfrac12 \mu_k^\top w_k            \tag{2}

    by conjugate gradients, all classes at once: each step is two products with the sparse rows, since

    .. math:: C u = \frac1n \bigl(X^\top U X u - \sum_k n_k \mu_k \mu_k^\top u\bigr)    \tag{3}
    """
    from scipy import sparse

    n = float(data.mass.sum())
    ridge = shrinkage * data.variance
    if ridge <= 0:
        raise TooFewRows(
            f"without shrinkage {len(data.codes):,} rows have no covariance of {data.rows.shape[1]:,} "
            "columns that could be inverted"
            if data.variance
            else "no column varies within a class",
            hint="leave shrinkage out, so that it is chosen, or give a number such as 0.5",
        )
    X, mean = data.rows, data.mean.toarray().T  # (N, V) (V, K)
    back = sparse.csr_array(sparse.csr_array(X.multiply(data.weights[:, None])).T)  # (V, N)
    means = sparse.csr_array(data.mean.T)  # (V, K)
    weighted = sparse.csr_array(data.mean.multiply(data.mass[:, None]))

    def times(u: Floats) -> Floats:  # Σ u, by (1) and (3)
        inner = back @ (X @ u) - means @ (weighted @ u)
        inner *= (1 - shrinkage) / n
        inner += ridge * u
        return np.asarray(inner)

    w, steps, residual = conjugate_gradients(times, mean, start, tolerance, least=least, watch=watch)
    return SharedDiscriminant(-0.5 * np.einsum("vk,vk->k", mean, w), w, steps, residual)


def conjugate_gradients(
    times: Callable[[Floats], Floats],
    right: Floats,
    start: Floats | None,
    tolerance: float,
    *,
    least: int = 0,
    most: int = 1000,
    watch: Watch | None = None,
) -> tuple[Floats, int, float]:
    """The solution (V, K) of ``times(x) = right`` column by column, the steps, and the residual left."""
    size = np.einsum("vk,vk->k", right, right)
    size = np.where(size > 0, size, 1.0)
    x = np.zeros_like(right) if start is None else start.copy()
    r = right - times(x) if start is not None else right.copy()
    p = r.copy()
    rr = np.einsum("vk,vk->k", r, r)
    step = 0
    while (residual := float(np.sqrt((rr / size).max(initial=0.0)))) > tolerance or (
        residual > 0 and step < least
    ):
        if step == most:
            break
        q = times(p)
        bend = np.einsum("vk,vk->k", p, q)
        alpha = np.divide(rr, bend, out=np.zeros_like(rr), where=bend > 0)
        x += alpha * p
        r -= alpha * q
        new = np.einsum("vk,vk->k", r, r)
        p *= np.divide(new, rr, out=np.zeros_like(rr), where=rr > 0)
        p += r
        rr = new
        step += 1
        if watch is not None:
            watch(step, residual)
    return x, step, residual


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of largest variance of each class, from which every shrinkage is at hand."""

    data: SparseClasses
    words: tuple[NDArray[np.int32], ...]  # K × (W_k,)
    spans: tuple[Span, ...]  # K × (W_k, R_k)
    variance: tuple[Floats, ...]  # K × (R_k,) of C_k along them
    total: Floats  # (K,) trace of C_k

    @classmethod
    def of(cls, data: SparseClasses, rank: int, *, watch: Watch | None = None) -> Directions:
        """Up to ``rank`` directions of each class."""
        words, spans, variance = [], [], []
        total = np.zeros(len(data.classes))
        for k in range(len(data.classes)):
            here = np.flatnonzero((data.codes == k) & (data.weights > 0))
            rows, u = data.rows[here], data.weights[here]
            own = np.unique(rows.indices)
            place = np.full(data.rows.shape[1], -1, dtype=np.int64)
            place[own] = np.arange(len(own))
            mean = restricted(data.mean[[k]], place, len(own)).toarray()[0]
            cut = restricted(rows, place, len(own))
            shares, along, total[k] = _principal(cut, mean, u, rank)
            words.append(own.astype(np.int32))
            spans.append(Span.of(CompressedRows((cut.data, cut.indices, cut.indptr), cut.shape), shares))
            variance.append(along)
            if watch is not None:
                watch(k + 1, float(len(data.classes)))
        return cls(data, tuple(words), tuple(spans), tuple(variance), total)

    def shrunk(self, shrinkage: float) -> LowRank:
        """The Gaussians of (1), what is left of C_k beyond its directions spread evenly over all others."""
        V = self.data.rows.shape[1]
        level = shrinkage * self.data.variance
        variance, rest = [], np.empty(len(self.total))
        for k, (own, total) in enumerate(zip(self.variance, self.total, strict=True)):
            tail = max(total - float(own.sum()), 0.0) / max(V - len(own), 1)
            rest[k] = (1 - shrinkage) * tail + level
            if rest[k] <= 0 or shrinkage == 0:
                raise TooFewRows(
                    f"class `{self.data.classes[k]}` has rows of weight {self.data.mass[k]:g}, with a "
                    f"covariance of rank {len(own)} over {V:,} columns",
                    hint="leave shrinkage out, so that it is chosen, or give a number such as 0.9",
                )
            variance.append(np.maximum((1 - shrinkage) * own + level, rest[k]))
        basis = tuple(span.basis for span in self.spans)
        smaller = tuple(span if span.nbytes < span.basis.nbytes else None for span in self.spans)
        return LowRank(self.data.mean, self.words, basis, tuple(variance), rest, smaller)


@dataclass(frozen=True, eq=False)
class WordMoments:
    r"""Means and variances of the words of each class, from which every smoothing is at hand.

    .. math:: \sigma_{kv}^2 = \frac{1}{n_k} \sum_{i \in k} u_i (x_{iv} - \mu_{kv})^2
              + s \max_w \operatorname{Var}(x_w)                                     \tag{4}

    with weights u of rows, :math:`n_k = \sum_{i \in k} u_i`, and the variance over all rows, whatever their
    class: as scikit-learn's ``GaussianNB`` with ``var_smoothing`` s, but that weights count in this too.
    """

    classes: tuple[str, ...]
    mean: SparseRows  # (K, V)
    variance: Floats  # of each stored mean, without smoothing
    largest: float  # variance of a word over all rows

    @classmethod
    def of(cls, data: SparseClasses) -> WordMoments:
        """The moments of rows."""
        from scipy import sparse

        (N, V), K = data.rows.shape, len(data.classes)
        row = np.repeat(np.arange(N), np.diff(data.rows.indptr))
        word, x = data.rows.indices.astype(np.int64), data.rows.data
        share = (data.weights / np.where(data.mass > 0, data.mass, 1.0)[data.codes])[row]
        cells, cell = np.unique(data.codes[row] * V + word, return_inverse=True)
        mean, variance = _moments(cell, share, x, len(cells))
        starts = np.searchsorted(cells, np.arange(K + 1) * V)
        means = sparse.csr_array((mean, (cells % max(V, 1)).astype(np.int32), starts), shape=(K, V))
        _, overall = _moments(word, data.weights[row] / max(float(data.mass.sum()), 1e-300), x, V)
        return cls(data.classes, means, variance, float(overall.max(initial=0.0)))

    def smoothed(self, smoothing: float) -> SparseDiagonal:
        """The Gaussians of (4)."""
        level = smoothing * self.largest
        if self.largest <= 0:
            raise TooFewRows(
                "no word varies: all texts are alike", hint="give texts that differ, or train multinomial"
            )
        if level <= 0:
            raise TooFewRows(
                f"without smoothing a word that does not vary in class `{self._flat()}` has no density there",
                hint="leave smoothing out, so that it is chosen, or give a number such as 1e-9",
            )
        return SparseDiagonal(self.mean, self.variance + level, level)

    def _flat(self) -> str:
        """A class in which a word is absent, or always the same; the first, if none is."""
        K, V = self.mean.shape
        row = np.repeat(np.arange(K), np.diff(self.mean.indptr))
        varied = np.bincount(row[self.variance > 0], minlength=K)
        return self.classes[int(np.argmax(varied < V))]


def _moments(place: Integers, share: Floats, x: Floats, n: int) -> tuple[Floats, Floats]:
    """Means and variances (n,) of values that have a place; the shares that are not there are zeros."""
    mean = np.bincount(place, share * x, n).astype(np.float64, copy=False)
    absent = 1.0 - np.bincount(place, share, n)
    absent[absent < ROUNDING] = 0.0
    variance = np.bincount(place, share * (x - mean[place]) ** 2, n) + absent * mean**2
    return mean, np.where(variance > (ROUNDING * mean) ** 2, variance, 0.0)


def _principal(
    rows: SparseRows, mean: Floats, weights: Floats, rank: int
) -> tuple[NDArray[np.float32], Floats, float]:
    r"""Shares of rows in directions (n, R), variances along these (R,), the trace of the class's covariance.

    By subspace iteration in the space of the n rows, on :math:`G = Y Y^\top` with
    :math:`Y = U^{1/2} (X - 1 \mu^\top)`; with few rows, all of G is taken apart. An eigenvector v of G with
    value g belongs to the direction :math:`Y^\top v / \sqrt g`, of variance g / n. With weights u of sum n
    the mean is :math:`\mu = X^\top u / n`, and a direction is a combination of the rows,
    :math:`Y^\top v = X^\top (U^{1/2} v - u\, 1^\top U^{1/2} v / n)`.

    References
    ----------
    Halko, Martinsson, Tropp (2011), "Finding structure with randomness", algorithm 4.4.
    """
    n, root = rows.shape[0], np.sqrt(weights)
    mass = float(weights.sum())
    total = max(float(weights @ lengths(rows)) - mass * float(mean @ mean), 0.0) / mass if mass else 0.0
    R = min(rank, n - 1)
    if R <= 0 or total == 0:
        return np.zeros((n, 0), np.float32), np.zeros(0), total
    back = rows.T.tocsr()

    def down(v: Floats) -> Floats:  # Yᵀ v
        scaled = root[:, None] * v
        return np.asarray(back @ scaled - np.outer(mean, scaled.sum(axis=0)))

    def up(w: Floats) -> Floats:  # Y w
        return np.asarray(root[:, None] * (rows @ w - mean @ w))

    if n <= 2 * (R + MORE):
        v = np.eye(n)
    else:
        v = np.linalg.qr(np.random.default_rng(0).normal(size=(n, R + MORE)))[0]
        for _ in range(ROUNDS):
            v = np.linalg.qr(up(down(v)))[0]
    w = down(v)
    values, vectors = np.linalg.eigh(w.T @ w)
    order = np.argsort(-values)[:R]
    order = order[values[order] > 1e-12 * max(values.max(), 1e-300)]
    scaled = root[:, None] * v
    scaled -= np.outer(weights / mass, scaled.sum(axis=0))
    shares = scaled @ (vectors[:, order] / np.sqrt(values[order]))
    return shares.astype(np.float32), values[order] / mass, total
