"""Exact sums are those of fractions, whatever the size of the numbers, and have one form."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs import together
from textodds.stats.exact_sums import BITS, HALF, ExactSums, split

# To 1e100 in size, from subnormal numbers on.
numbers = st.lists(st.floats(-1e100, 1e100, allow_nan=False), min_size=3, max_size=3).map(np.array)


def fractions(sums):
    """The numbers, by the definition of their digits."""
    found = [Fraction(0)] * int(np.prod(sums.shape))
    for at, digit in enumerate(sums.digits):
        place = Fraction(2) ** (BITS * (sums.low + at))
        found = [value + int(own) * place for value, own in zip(found, digit.reshape(-1), strict=True)]
    return found


def exactly(values):
    return [Fraction(value) for value in values.tolist()]


@given(numbers)
def test_a_number_is_kept_as_it_is(values):
    sums = ExactSums.of(values)
    assert fractions(sums) == exactly(values)
    assert not len(sums.digits) or ((sums.digits >= -HALF).all() and (sums.digits < HALF).all())
    np.testing.assert_allclose(sums.floats(), values, rtol=3e-16, atol=0)


@given(numbers, numbers)
def test_sums_differences_and_products_are_those_of_fractions(a, b):
    left, right = ExactSums.of(a), ExactSums.of(b)
    x, y = exactly(a), exactly(b)
    assert fractions(left + right) == [p + q for p, q in zip(x, y, strict=True)]
    assert fractions(left - right) == [p - q for p, q in zip(x, y, strict=True)]
    assert fractions(left * right) == [p * q for p, q in zip(x, y, strict=True)]
    assert (left - right).signs().tolist() == [(p > q) - (p < q) for p, q in zip(x, y, strict=True)]


@given(numbers, numbers)
def test_what_was_added_is_taken_away_without_a_trace(a, b):
    left, right = ExactSums.of(a), ExactSums.of(b)
    assert left + right - right == left
    assert left + right == right + left
    assert left - left == ExactSums.none(3)


@given(numbers)
def test_parts_of_numbers_add_up_to_them(values):
    parts = split(values)
    for part in parts.values():
        assert (np.abs(part) <= HALF).all()
        np.testing.assert_array_equal(part, np.rint(part))
    total = [
        sum((Fraction(part[i]) * Fraction(2) ** e for e, part in parts.items()), Fraction(0))
        for i in range(3)
    ]
    assert total == exactly(values)


@together
@pytest.mark.parametrize("exponent", [-1100, -7, 0, 13, 22, 100])
def test_whole_numbers_of_64_bits_are_taken_as_they_are(exponent):
    values = np.array([2**62, -(2**62), -1, 0, 2**44 - 1])
    expected = [int(value) * Fraction(2) ** exponent for value in values]
    assert fractions(ExactSums.of_parts({exponent: values}, (5,))) == expected


@given(numbers)
def test_digits_come_back_from_a_file_and_others_are_refused(values):
    sums = ExactSums.of(values)
    low, count, flat = sums.low, len(sums.digits), sums.flat()
    assert ExactSums.of_flat(low, count, flat, (3,)) == sums
    assert ExactSums.of_flat(low, count + 1, np.append(flat, [0, 0, 0]).astype(np.int32), (3,)) is None
    assert ExactSums.of_flat(low, count, flat.astype(np.int64), (3,)) is None
    assert ExactSums.of_flat(low + 1000, count, flat, (3,)) is None or not count
    if count:
        assert ExactSums.of_flat(low, count, flat + np.int32(2 * HALF), (3,)) is None
