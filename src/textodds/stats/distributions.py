r"""Distribution functions of tests and intervals: binomial, Student's t, chi-squared, and what they rest on.

A few dozen lines of NumPy, within 1e-8 of SciPy's (a test holds them to it): SciPy is larger than all
else that training and predicting need.

.. math::
    I_x(a, b) = \frac{x^a (1 - x)^b}{a\, B(a, b)}
        \cfrac{1}{1 + \cfrac{d_1}{1 + \cfrac{d_2}{1 + \dots}}}, \qquad
    Q(a, x) = \frac{1}{\Gamma(a)} \int_x^\infty t^{a-1} e^{-t}\,dt                           \tag{1}

with :math:`d_{2m+1} = -\frac{(a + m)(a + b + m)\,x}{(a + 2m)(a + 2m + 1)}` and
:math:`d_{2m} = \frac{m (b - m)\,x}{(a + 2m - 1)(a + 2m)}`.

References
----------
NIST Digital Library of Mathematical Functions, 8.17.22 for :math:`I`, 8.7.1 and 8.9.2 for :math:`Q`; Lentz
(1976) for how continued fractions are summed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

TABLE = 1024  # whole numbers below it have their logarithms of factorials in a table
SMALL = 1e-300
PRECISION = 1e-15
MOST_TERMS = 100_000

_LOG_GAMMA = np.array([math.inf, *(math.lgamma(n) for n in range(1, TABLE))])


def log_gamma(values: ArrayLike) -> Floats:
    r""":math:`\log \Gamma(x)` of numbers above zero; of whole numbers below 1,024 by a table.

    >>> np.exp(log_gamma([1, 4, 0.5])).round(4)
    array([1.    , 6.    , 1.7725])
    """
    x = np.asarray(values, dtype=np.float64)
    whole = (x < TABLE) & (x == np.floor(x))
    found = _LOG_GAMMA[np.where(whole, x, 1.0).astype(np.intp)]
    if not whole.all():
        others, at = np.unique(x[~whole], return_inverse=True)
        found[~whole] = np.array([math.lgamma(value) for value in others.tolist()])[at.reshape(-1)]
    return np.asarray(found)


def beta_cdf(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Floats:
    """``I_x(a, b)`` of (1): the distribution function of a beta variable, for a and b above zero.

    >>> beta_cdf(2, 3, [0.0, 0.5, 1.0])
    array([0.    , 0.6875, 1.    ])
    """
    a, b, x = (np.array(v, np.float64) for v in np.broadcast_arrays(a, b, np.clip(x, 0.0, 1.0)))
    flipped = x > (a + 1.0) / (a + b + 2.0)  # where the fraction of the other tail is the short one
    a, b, x = np.where(flipped, b, a), np.where(flipped, a, b), np.where(flipped, 1.0 - x, x)
    inside = x > 0.0
    tail = np.zeros(x.shape)
    if inside.any():
        tail[inside] = _lower_tail(a[inside], b[inside], x[inside])
    return np.asarray(np.where(flipped, 1.0 - tail, tail))


def _lower_tail(a: Floats, b: Floats, x: Floats) -> Floats:
    """(1) by Lentz's method, (n,), where x is not above the mean."""
    log_front = a * np.log(x) + b * np.log1p(-x) - log_gamma(a) - log_gamma(b) + log_gamma(a + b) - np.log(a)
    c, d = np.ones_like(x), 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    found = d.copy()
    open_ = np.arange(len(x))  # whose fractions have not settled
    for m in range(1, MOST_TERMS):
        p, q, y = a[open_], b[open_], x[open_]
        even = m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m))
        odd = -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1))
        step = np.ones_like(y)
        for term in (even, odd):
            d[open_] = 1.0 / _not_zero(1.0 + term * d[open_])
            c[open_] = _not_zero(1.0 + term / c[open_])
            step = d[open_] * c[open_]
            found[open_] *= step
        open_ = open_[np.abs(step - 1.0) > PRECISION]
        if not len(open_):
            break
    return np.asarray(np.exp(log_front) * found)


def _not_zero(values: Floats) -> Floats:
    return np.where(np.abs(values) < SMALL, SMALL, values)


def binomial_cdf(k: ArrayLike, n: ArrayLike, p: float) -> Floats:
    """The probability of at most ``k`` successes in ``n`` trials, of probability ``p`` each.

    >>> binomial_cdf([0, 1, 2], 2, 0.5)
    array([0.25, 0.75, 1.  ])
    """
    k, n = (np.array(v, np.float64) for v in np.broadcast_arrays(k, n))
    some = k < n
    return np.asarray(np.where(some, beta_cdf(np.where(some, n - k, 1.0), k + 1.0, 1.0 - p), 1.0))


def student_cdf(t: ArrayLike, freedom: float) -> Floats:
    """The distribution function of Student's t.

    >>> student_cdf([-1.0, 0.0, 1.0], 1)
    array([0.25, 0.5 , 0.75])
    """
    t = np.asarray(t, np.float64)
    ratio = np.minimum(np.abs(t) / math.sqrt(freedom), 1e150)  # whose square is still a number
    square = ratio * ratio
    small = 1.0 - beta_cdf(0.5, freedom / 2.0, square / (1.0 + square))  # exact where t is near zero
    large = beta_cdf(freedom / 2.0, 0.5, 1.0 / (1.0 + square))  # and in the tails
    half = 0.5 * np.where(np.abs(t) < 1.0, small, large)
    return np.asarray(np.where(t > 0.0, 1.0 - half, half))


def student_quantile(share: float, freedom: float) -> float:
    """Where `student_cdf` reaches ``share``, above one half.

    >>> round(student_quantile(0.975, 10), 4)
    2.2281
    """
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < share:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if student_cdf(middle, freedom) < share else (low, middle)
    return (low + high) / 2.0


def chi_squared_tail(x: float, freedom: float) -> float:
    """The probability of more than ``x``: ``Q(freedom / 2, x / 2)`` of (1).

    >>> round(chi_squared_tail(3.841459, 1), 6), chi_squared_tail(0.0, 3)
    (0.05, 1.0)
    """
    a, z = freedom / 2.0, x / 2.0
    if z <= 0.0 or a <= 0.0:
        return 1.0 if z <= 0.0 else 0.0
    front = math.exp(a * math.log(z) - z - math.lgamma(a))
    if z < a + 1.0:  # the series of the other tail
        term = total = 1.0 / a
        for n in range(1, MOST_TERMS):
            term *= z / (a + n)
            total += term
            if term < PRECISION * total:
                break
        return max(1.0 - front * total, 0.0)
    step = z + 1.0 - a
    c, d = 1.0 / SMALL, 1.0 / step
    found = d
    for n in range(1, MOST_TERMS):
        term, step = n * (a - n), step + 2.0
        d = 1.0 / (step + term * d or SMALL)
        c = step + term / c or SMALL
        found *= c * d
        if abs(c * d - 1.0) < PRECISION:
            break
    return front * found
