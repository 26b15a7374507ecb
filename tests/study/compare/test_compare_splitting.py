import numpy as np
import pytest

from pairs import together
from textodds.study.compare.curves import nested, usual_sizes
from textodds.training.choose.pool import split

CODES = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [700, 250, 49, 1]))


def test_every_class_gives_its_share_and_every_row_is_on_one_side():
    learned, held = split(CODES, 0.2, seed=7)
    assert sorted([*learned, *held]) == list(range(len(CODES)))
    assert np.bincount(CODES[held], minlength=4).tolist() == [140, 50, 10, 0]


def test_a_class_of_one_row_is_learned_from():
    learned, _ = split(CODES, 0.9, seed=0)
    assert set(CODES[learned]) == {0, 1, 2, 3}


def test_the_same_seed_holds_out_the_same_rows_and_another_seed_others():
    first, again, other = (split(CODES, 0.2, seed=seed)[1].tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_an_order_has_every_row_once():
    assert sorted(nested(CODES, [0, 1]).tolist()) == list(range(len(CODES)))


@together
@pytest.mark.parametrize("size", [4, 20, 100, 500])
def test_every_beginning_has_all_classes_in_about_their_shares(size):
    """But for the one row of each class that comes first, and one that is rounded."""
    for seed in range(20):
        counts = np.bincount(CODES[nested(CODES, [seed])[:size]], minlength=4)
        assert counts.min() >= 1
        expected = size * np.bincount(CODES) / len(CODES)
        assert np.abs(counts - expected).max() <= 4


def test_beginnings_are_drawn_evenly():
    """Over many orders every row of the largest class is among the first 100 about as often."""
    seen = np.zeros(len(CODES))
    for seed in range(400):
        seen[nested(CODES, [seed])[:100]] += 1
    often = seen[CODES == 0] / 400
    assert abs(often.mean() - 0.1) < 0.01
    assert often.max() < 0.19  # six standard deviations of a share of 0.1 in 400 draws


def test_sizes_are_round_and_end_with_all_rows():
    assert usual_sizes(11_314, 20) == (50, 100, 200, 500, 1000, 2000, 5000, 11_314)
    assert usual_sizes(30, 2) == (20, 30)
    assert usual_sizes(15, 2) == (15,)
