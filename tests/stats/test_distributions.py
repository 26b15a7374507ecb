"""Distribution functions against SciPy's."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from pairs import together
from textodds.judge.evaluation import mcnemar
from textodds.learn.solvers.non_negative import non_negative
from textodds.stats.distributions import (
    beta_cdf,
    binomial_cdf,
    chi_squared_tail,
    log_gamma,
    student_cdf,
    student_quantile,
)

RANDOM = np.random.default_rng(0)


def test_the_beta_distribution_is_that_of_scipy():
    a, b = (10 ** RANDOM.uniform(-2, 5, 4000) for _ in range(2))
    mean = a / (a + b)
    near = mean + 3 * RANDOM.normal(size=4000) * np.sqrt(mean * (1 - mean) / (a + b + 1))
    for x in (RANDOM.random(4000), np.clip(near, 0, 1), np.zeros(4000), np.ones(4000)):
        np.testing.assert_allclose(beta_cdf(a, b, x), special.betainc(a, b, x), rtol=0, atol=1e-8)


def test_the_binomial_distribution_is_that_of_scipy():
    n = RANDOM.integers(1, 1_000_000, 4000)
    k = np.minimum((n * RANDOM.random(4000) * 0.02).astype(int), n)
    np.testing.assert_allclose(binomial_cdf(k, n, 0.01), special.bdtr(k * 1.0, n, 0.01), rtol=0, atol=1e-8)
    n = np.arange(1, 40)
    for p in (0.01, 0.5, 0.9):
        for k in (np.zeros(39, int), n // 2, n):
            expected = stats.binom.cdf(k, n, p)
            np.testing.assert_allclose(binomial_cdf(k, n, p), expected, rtol=1e-12)


@together
@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 100, 10_000, 1_000_000])
def test_student_is_that_of_scipy(freedom):
    t = np.append(5 * RANDOM.normal(size=500), [0.0, 40.0, -40.0, 1e300, -1e300, np.inf])
    np.testing.assert_allclose(student_cdf(t, freedom), special.stdtr(freedom, t), rtol=0, atol=2e-8)
    assert student_quantile(0.975, freedom) == pytest.approx(special.stdtrit(freedom, 0.975), rel=1e-8)


@together
@pytest.mark.parametrize("freedom", [1, 2, 5, 19, 99])
def test_the_tail_of_chi_squared_is_that_of_scipy(freedom):
    for x in 10 ** RANDOM.uniform(-3, 2.5, 200):
        assert chi_squared_tail(x, freedom) == pytest.approx(
            special.chdtrc(freedom, x), rel=1e-10, abs=1e-300
        )


def test_the_logarithm_of_gamma_is_that_of_scipy():
    x = np.concatenate([np.arange(1.0, 3000.0), 10 ** RANDOM.uniform(-5, 6, 500)])
    np.testing.assert_allclose(log_gamma(x), special.gammaln(x), rtol=1e-12, atol=1e-12)
    assert log_gamma(np.zeros((0,))).shape == (0,)


def test_mcnemar_is_the_exact_binomial_test():
    for first in range(0, 30, 3):
        for second in range(0, 30, 4):
            n = first + second
            expected = stats.binomtest(first, n).pvalue if n else 1.0
            assert mcnemar(first, second) == pytest.approx(expected, rel=1e-10)


def test_least_squares_without_parts_below_zero_are_those_of_scipy():
    for seed in range(200):
        random = np.random.default_rng(seed)
        K = int(random.integers(1, 12))
        A = random.normal(size=(K + int(random.integers(0, 5)), K))
        b = random.normal(size=len(A))
        np.testing.assert_allclose(non_negative(A, b), optimize.nnls(A, b)[0], rtol=1e-7, atol=1e-9)
