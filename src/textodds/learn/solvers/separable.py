"""Whether the classes can be told apart without error, so that weights without a penalty have no end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.learn.arrays import Floats, Integers, Matrix, SparseRows
from textodds.learn.solvers.objective import Objective, Parameters
from textodds.stats.compressed_rows import as_scipy

LARGEST_PROGRAM = 5e8  # up to which `_effort` linear programs are solved: a few seconds

STRICT = 1e-6
"""A margin that counts as positive, for features and parameters of size one; a solver's error is 1e-9."""


@dataclass(frozen=True, eq=False)
class Separation:
    """Whether classes can be separated, and how."""

    direction: Parameters | None  # along it no row loses by its class against any other, and some row gains
    complete: bool | None  # every row gains against every other class; None where that is not known
    decided: bool  # False if no direction was found, but the problem is too large to prove that there is none


def separating_direction(objective: Objective, candidate: Parameters | None = None) -> Separation:
    r"""A direction (D, d) along which the likelihood grows for ever, if there is one.

    Model
    -----
    The margins of row i of class y are, for every other class k,

    .. math::
        m_{ik} = (D_y - D_k)^\top x_i + d_y - d_k                                    \tag{1}

    If all are zero or more and one is more, the likelihood rises along (D, d) without end and has no
    maximum: *quasi-complete* separation, *complete* if all are above zero. Otherwise the classes
    overlap, and there is a maximum. Rows of weight zero do not count; a class without any row is
    separated by its bias alone.

    Method
    ------
    1. ``candidate``, such as the weights that an optimiser has reached, if its margins are all
       positive.
    2. For small problems linear programs, which decide:

       .. math::
           \max_{-1 \le (D, d) \le 1} \sum_{(i, k) \in R} m_{ik}
           \quad\text{with all}\quad m_{ik} \ge 0                                   \tag{2}

       R are all pairs at first, and the classes overlap if the maximum is zero. Otherwise the direction
       is kept and (2) is solved again for the pairs whose margins it leaves at zero, since directions
       may be added. If none are left in the end the separation is complete.
    3. For large ones, a single feature (or the bias): if no row of a class has less of it than any row
       of another class, that alone separates. A word that one class never uses is such a feature, so
       for texts this nearly always decides.

    References
    ----------
    Albert and Anderson (1984), *On the existence of maximum likelihood estimates in logistic regression
    models*. Konis (2007) for linear programs like (2). The lecture on logistic regression, section
    3.3.1, for what happens to the weights.
    """
    counts = objective.sample_weights > 0.0
    rows, codes = (
        as_scipy(objective.rows, "softmax regression without a penalty")[counts],
        objective.codes[counts],
    )
    K = objective.n_classes
    if not len(codes):
        return Separation(None, False, True)
    if candidate is not None and _least_margins(rows, codes, candidate).min() > 0.0:
        return Separation(candidate, True, True)
    if _effort(rows, K) <= LARGEST_PROGRAM:
        return _by_program(rows, codes, K)
    found = _by_one_feature(rows, codes, K)
    if found is None:
        return Separation(None, None, False)
    return Separation(found, True if _least_margins(rows, codes, found).min() > 0.0 else None, True)


def _effort(rows: Matrix, K: int) -> float:
    """About how hard (2) is to solve, by trial: ``r³ + 2 r n``, r the rank and n the number of entries."""
    n, V = rows.shape
    margins, parameters = n * (K - 1), (V + 1) * (1 if K == 2 else K)
    entries = (n + (n * V if isinstance(rows, np.ndarray) else rows.nnz)) * (1 if K == 2 else 2 * (K - 1))
    rank = float(min(margins, parameters))
    return rank**3 + 2.0 * rank * float(entries)


def _least_margins(rows: Matrix, codes: Integers, direction: Parameters) -> Floats:
    """The least of (1) of each row, (N,)."""
    scores = np.asarray(rows @ direction.weights + direction.bias)  # (N, M)
    if scores.shape[1] == 1:
        return np.where(codes == 1, scores[:, 0], -scores[:, 0])
    each = np.arange(len(codes))
    own = scores[each, codes]
    scores[each, codes] = -np.inf
    return np.asarray(own - scores.max(axis=1))


def _by_program(rows: Matrix, codes: Integers, K: int) -> Separation:
    """What (2) decides."""
    from scipy import sparse
    from scipy.optimize import linprog

    V, M = rows.shape[1], 1 if K == 2 else K
    rows = sparse.csr_array(rows)
    unit = abs(rows).max(axis=0).toarray().reshape(-1)  # (V,): features of size one suit the solver
    unit[unit == 0.0] = 1.0
    rows = sparse.hstack([rows / unit, np.ones((len(codes), 1))], format="csr")  # (N, V + 1)
    gains = _margin_matrix(rows, codes, K)  # (pairs, M (V + 1))
    found = np.zeros(gains.shape[1])
    level = np.ones(gains.shape[0], dtype=bool)  # margins that are still zero
    while level.any():
        solved = linprog(
            -(level @ gains),
            A_ub=-gains,
            b_ub=np.zeros(len(level)),
            bounds=(-1.0, 1.0),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        if solved.status != 0:
            return Separation(None, None, False)
        rising = level & (gains @ solved.x > STRICT)
        if not rising.any():
            break
        found, level = found + solved.x, level & ~rising
    if level.all():
        return Separation(None, False, True)
    blocks = found.reshape(M, V + 1)
    direction = Parameters(blocks[:, :V].T / unit[:, None], blocks[:, V].copy())
    return Separation(direction, not level.any(), True)


def _margin_matrix(rows: SparseRows, codes: Integers, K: int) -> SparseRows:
    """The matrix that takes the direction, class by class, to the margins (1) of all pairs."""
    from scipy import sparse

    if K == 2:
        return rows * np.where(codes == 1, 1.0, -1.0)[:, None]
    i, k = np.nonzero(codes[:, None] != np.arange(K))  # every row with every other class
    width = rows.shape[1]
    entries = rows[i].tocoo()
    at, feature = entries.coords
    own, other = codes[i][at] * width + feature, k[at] * width + feature
    return sparse.csr_array(
        (
            np.concatenate([entries.data, -entries.data]),
            (np.concatenate([at, at]), np.concatenate([own, other])),
        ),
        shape=(len(i), K * width),
    )


def _by_one_feature(rows: Matrix, codes: Integers, K: int) -> Parameters | None:
    """A class that has no rows, or one that a single feature sets apart from all others."""
    V = rows.shape[1]
    direction = np.zeros((V, K)), np.zeros(K)
    present = np.unique(codes)
    if len(present) < K:
        direction[1][present] = 1.0
        return _of_columns(*direction)
    low = np.stack([_extreme(rows[codes == k], "min") for k in range(K)])  # (K, V)
    high = np.stack([_extreme(rows[codes == k], "max") for k in range(K)])
    total = np.asarray(abs(rows).sum(axis=0)).reshape(-1)  # (V,)
    uneven = high.max(axis=0) > low.min(axis=0)
    for k in range(K):
        others = np.arange(K) != k
        for sign, floor, ceiling in (
            (1.0, low[k], high[others].max(axis=0)),  # class k has the most of it
            (-1.0, -high[k], -low[others].min(axis=0)),  # or the least
        ):
            apart = np.flatnonzero(uneven & (floor >= ceiling))
            if len(apart):
                v = apart[total[apart].argmax()]
                direction[0][v, k] = sign
                direction[1][k] = -ceiling[v]
                return _of_columns(*direction)
    return None


def _extreme(rows: Matrix, which: str) -> Floats:
    found = getattr(rows, which)(axis=0)
    dense = found if isinstance(found, np.ndarray) else found.toarray()
    return np.asarray(dense, dtype=np.float64).reshape(-1)


def _of_columns(weights: Floats, bias: Floats) -> Parameters:
    if len(bias) > 2:
        return Parameters(weights, bias)
    return Parameters(weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1])
