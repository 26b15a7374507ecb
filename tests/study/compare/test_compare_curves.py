import math

import numpy as np
import pytest

from textodds.study.compare.curves import LearningCurve, crossing, overtaking
from textodds.training.choose.trial import Answers

SIZES = (10, 100, 1000, 10_000)


def of_errors(errors, n=20_000, repeats=3, seed=0):
    """Answers with these shares of errors by size; rows are as hard for all models."""
    hard = np.random.default_rng(seed).random(n)
    return {
        size: [Answers(hard >= error, np.where(hard >= error, 0.1, 2.0).astype(np.float32))] * repeats
        for size, error in zip(SIZES, errors, strict=True)
    }


def test_the_crossing_is_where_two_lines_meet_on_a_logarithmic_axis():
    """0.30 to 0.10 against 0.20 to 0.16 between 100 and 1,000: they meet at 5/8 of the way."""
    ahead = np.array([0.20 - 0.30, 0.16 - 0.10])
    assert crossing([100, 1000], ahead) == pytest.approx(10 ** (2 + 0.10 / 0.16))


def test_of_several_crossings_the_last_counts():
    found = crossing(SIZES, np.array([1.0, -1.0, 1.0, 1.0]))
    assert found == pytest.approx(math.sqrt(100 * 1000))


def test_one_that_falls_back_at_the_end_has_not_overtaken():
    assert math.isinf(crossing(SIZES, np.array([1.0, 1.0, 1.0, -0.1])))


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_a_model_that_starts_worse_and_ends_better_overtakes(measure):
    """Of 20,000 rows one that is better by 3 points stays so however these are drawn."""
    first, second = of_errors([0.30, 0.25, 0.20, 0.20]), of_errors([0.45, 0.30, 0.15, 0.10])
    found = overtaking(measure, ("nb", first), ("softmax", second))
    assert 100 < found.at < 1000
    low, high = found.interval
    assert 100 < low <= found.at <= high < 1000
    assert found.at == pytest.approx(math.sqrt(100 * 1000), rel=0.1)


@pytest.mark.slow
def test_the_interval_widens_as_held_out_rows_get_fewer():
    widths = []
    for n in (20_000, 500):
        first, second = of_errors([0.3, 0.25, 0.2, 0.2], n), of_errors([0.45, 0.3, 0.15, 0.1], n)
        low, high = overtaking("error", ("nb", first), ("softmax", second)).interval
        widths.append(math.log(high / low))
    assert widths[0] < widths[1]


@pytest.mark.slow
def test_the_interval_widens_with_the_spread_of_repeats():
    steady = of_errors([0.3, 0.25, 0.2, 0.2])
    second = of_errors([0.45, 0.3, 0.15, 0.1])
    unsteady = {
        size: of_errors([0.45, 0.28, 0.13, 0.1])[size][:1]
        + of_errors([0.45, 0.32, 0.17, 0.1])[size][:1]
        + second[size][:1]
        for size in SIZES
    }
    narrow = overtaking("error", ("nb", steady), ("softmax", second)).interval
    wide = overtaking("error", ("nb", steady), ("softmax", unsteady)).interval
    assert wide[1] / wide[0] > narrow[1] / narrow[0]


@pytest.mark.slow
def test_one_that_is_never_ahead_does_not_overtake():
    found = overtaking("error", ("a", of_errors([0.2] * 4)), ("b", of_errors([0.3] * 4)))
    assert math.isinf(found.at)
    assert found.as_dict()["at"] is None
    assert found.sentence("text") == (
        "in error, b does not overtake a within these sizes, up to 10,000 texts (95 %: beyond 10,000)"
    )


@pytest.mark.slow
def test_one_that_is_always_ahead_is_so_from_the_smallest_size():
    found = overtaking("error", ("a", of_errors([0.3] * 4)), ("b", of_errors([0.2] * 4)))
    assert found.at == 0.0
    assert "b is ahead of a from the smallest size, 10 texts, on (95 %: below 10)" in found.sentence("text")


def test_a_single_size_tells_nothing():
    one = {10: of_errors([0.3] * 4)[10]}
    assert overtaking("error", ("a", one), ("b", one)) is None


def test_a_point_is_the_mean_of_its_repeats():
    both = {10: [of_errors([e] * 4, 1000)[10][0] for e in (0.2, 0.4)]}
    (point,) = LearningCurve.of("a", both).points
    assert point.error == pytest.approx(sum(point.errors) / 2)
    assert point.errors[0] < point.error < point.errors[1]
