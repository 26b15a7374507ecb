"""Moments of tables are exact: sums of fractions, the same on any way, for numbers of any size."""

import math
from fractions import Fraction

import numpy as np
import pytest
from test_exact_sums import fractions

from pairs import pairwise, together
from textodds.errors import InputError, NegativeCount
from textodds.stats.moment_tally import MomentTally
from textodds.stats.moments import Moments

CLASSES = ("a", "b", "c")
SIZES = {
    "ordinary": [0.0],
    "1e6": [0.0, 6.0],
    "1e12": [0.0, 12.0],
    "1e99": [-3.0, 99.0],
    "subnormal": [-322.0, -310.0],
    "all": [-322.0, -160.0, -5.0, 0.0, 7.0, 12.0, 60.0, 99.0],
}


def table(size, seed, *, full, weighted, n=60):
    """Rows of three columns, gaps among them unless products are full."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, 3)) * 10.0 ** random.choice(SIZES[size], (n, 3))
    rows[:, 1] = np.round(rows[:, 1] * 100) / 100
    if not full:
        rows[random.random((n, 3)) < 0.1] = np.nan
    weights = np.round(random.choice([1, 0.5, 1 / 3, 2.0**-30, 2.0**32], n) * 2.0**30) * 2.0**-30
    return rows, random.integers(0, 3, n), weights if weighted else None


def tally(rows, codes, weights, *, full, part=slice(None)):
    return MomentTally.of(
        rows[part], codes[part], CLASSES, None if weights is None else weights[part], full=full
    )


def by_hand(rows, codes, weights, k, columns):
    """Sum of u x_v x_w … over the rows of a class that have these numbers."""
    total = Fraction(0)
    for i in np.flatnonzero(codes == k):
        values = [rows[i, v] for v in columns]
        if not np.isnan(values).any():
            term = Fraction(1) if weights is None else Fraction(weights[i])
            for value in values:
                term *= Fraction(value)
            total += term
    return total


@pairwise
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_fractions(size, full, weighted):
    data = table(size, 0, full=full, weighted=weighted)
    found = tally(*data, full=full)
    assert found.classes == CLASSES
    assert fractions(found.sums) == [by_hand(*data, k, [v]) for k in range(3) for v in range(3)]
    pairs = [(v, w) for v in range(3) for w in range(3) if full or v == w]
    assert fractions(found.products) == [by_hand(*data, k, pair) for k in range(3) for pair in pairs]
    unit = data[0] * 0 + 1.0
    columns = [0] if full else range(3)
    assert fractions(found.numbers) == [by_hand(unit, *data[1:], k, [v]) for k in range(3) for v in columns]


@pairwise
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_parts_add_up_and_can_be_taken_away_to_the_last_bit(size, full, weighted, seed):
    data = table(size, seed, full=full, weighted=weighted)
    order = np.random.default_rng(seed).permutation(60)
    whole = tally(*data, full=full)
    assert tally(*data, full=full, part=order) == whole
    first, second = (tally(*data, full=full, part=part) for part in (order[:23], order[23:]))
    assert first + second == whole
    assert whole - first == second
    for name, part in zip(("class_rows", "count", "mean", "scatter"), second.moments().parts, strict=True):
        np.testing.assert_array_equal(getattr((whole - first).moments(), name), part)


@pairwise
@pytest.mark.parametrize("size", ["ordinary", "1e6", "1e12"])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_scatters_are_right_to_the_last_digits(size, full, weighted):
    rows, codes, weights = table(size, 3, full=full, weighted=weighted)
    rows = rows + 1e6  # where sums of squares lose what scatters are made of
    moments = tally(rows, codes, weights, full=full).moments()
    for k, v in np.ndindex(3, 3):
        n, s, q = (
            by_hand(rows * 0 + 1.0 if not e else rows, codes, weights, k, [v] * max(e, 1)) for e in range(3)
        )
        scatter = moments.scatter[k, v, v] if full else moments.scatter[k, v]
        assert moments.mean[k, v] == pytest.approx(float(s / n), rel=1e-15)
        assert scatter == pytest.approx(float(q - s * s / n), rel=1e-14)


def test_many_blocks_and_batches_are_one_sum():
    random = np.random.default_rng(0)
    rows, codes = random.normal(50, 9, (200_000, 1)), random.integers(0, 3, 200_000)
    whole = tally(rows, codes, None, full=True)
    parts = [
        tally(rows, codes, None, full=True, part=slice(at, at + 33_333)) for at in range(0, 200_000, 33_333)
    ]
    total = parts[-1]
    for part in parts[:-1]:
        total = part + total
    assert total == whole
    expected = [math.fsum(rows[codes == k, 0].tolist()) for k in range(3)]
    np.testing.assert_allclose(whole.sums.floats()[:, 0], expected, rtol=3e-16)


@pytest.mark.parametrize("full", [False, True])
def test_what_was_never_there_is_refused_where_it_shows(full):
    rows, codes, weights = table("ordinary", 5, full=True, weighted=False)
    whole = tally(rows, codes, weights, full=full)
    with pytest.raises(NegativeCount, match="variance below zero"):
        whole - MomentTally.of(np.full((1, 3), 50.0), np.array([0]), CLASSES, full=full)
    with pytest.raises(NegativeCount, match="would be taken away"):
        whole - whole - whole
    one = MomentTally.of(np.array([[1.0, 2.0, 3.0]]), np.array([0]), CLASSES, full=full)
    two = one + MomentTally.of(np.array([[5.0, 2.0, 3.0]]), np.array([0]), CLASSES, full=full)
    assert (two - one).classes == ("a",)
    with pytest.raises(NegativeCount):  # as many rows, but not these, by less than a number shows
        two - MomentTally.of(
            np.array([[1.0, 2.0, np.nextafter(3.0, 4)]] * 2), np.array([0, 0]), CLASSES, full=full
        )


@together
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e100, -1e300])
def test_numbers_that_are_too_large_are_named(value):
    with pytest.raises(InputError, match=r"row 8 has .* in column 1"):
        MomentTally.of(np.array([[1.0, 2.0], [3.0, value]]), np.array([0, 0]), CLASSES, first=7)


@pytest.mark.parametrize("full", [False, True])
def test_moments_of_older_files_say_what_they_said_and_go_on(full):
    rows, codes, weights = table("1e6", 6, full=full, weighted=True)
    old = Moments.of_codes(rows, codes, CLASSES, weights, full=full)
    found = MomentTally.of_arrays(old.arrays(), old.classes, 3, full=full)
    assert found.moments() is found.stored
    again = found.arrays()
    assert all(np.array_equal(again[name], part) for name, part in old.arrays().items())
    more = tally(*table("1e6", 7, full=full, weighted=True), full=full)
    back = found + more - more
    assert back.is_rounded
    np.testing.assert_allclose(back.moments().scatter, old.scatter, rtol=1e-12)
    np.testing.assert_allclose(back.moments().mean, old.mean, rtol=1e-14)
    left = found - tally(rows, codes, weights, full=full, part=np.flatnonzero(codes != 1))
    assert left.classes == ("b",)
