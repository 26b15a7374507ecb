import numpy as np
import pytest

from pairs import together
from textodds.errors import InputError, LengthMismatch, NoData, TooFewRows
from textodds.study.report.gaussian_fits import FEWEST, LabelledPoints

NAN = float("nan")


def test_the_eight_largest_classes_are_kept_and_it_is_noted():
    sizes = [5, 2, 9, 3, 8, 4, 7, 6, 10, 2]
    labels = np.repeat([f"k{k}" for k in range(10)], sizes)
    data = LabelledPoints.of(np.arange(len(labels), dtype=float), labels.tolist(), ["x"])
    assert data.classes == tuple(f"k{k}" for k in (0, 2, 3, 4, 5, 6, 7, 8))
    assert data.notes == ("the 8 largest of 10 classes; 4 rows left out",)
    np.testing.assert_array_equal(data.sizes(), [5, 9, 3, 8, 4, 7, 6, 10])
    kept = [label not in ("k1", "k9") for label in labels]
    np.testing.assert_array_equal(data.rows[:, 0], np.flatnonzero(kept))
    np.testing.assert_array_equal(np.array(data.classes)[data.codes], labels[kept])


def test_the_sample_is_in_proportion_but_leaves_out_no_class_and_is_the_same_again():
    codes = np.repeat([0, 1, 2], [9000, 970, 30])
    data = LabelledPoints(("x",), np.arange(10_000.0)[:, None], codes, ("a", "b", "c"), ())
    sample = data.sample(1000)
    assert [len(rows) for rows in sample] == [900, 97, FEWEST]
    for k, rows in enumerate(sample):
        assert (codes[rows] == k).all()
        assert len(set(rows)) == len(rows)
    for rows, again in zip(sample, data.sample(1000), strict=True):
        np.testing.assert_array_equal(rows, again)


def test_few_rows_are_all_drawn():
    data = LabelledPoints.of([1.0, 2.0, 3.0, 4.0], list("aabb"), ["x"])
    assert [rows.tolist() for rows in data.sample(2000)] == [[0, 1], [2, 3]]


def test_with_gaps_each_column_has_its_own_rows():
    rows = [[1, NAN], [2, 5], [NAN, NAN], [3, 6], [4, 8], [7, 9]]
    data = LabelledPoints.of(rows, list("aaabbb"), ["x", "y"], gaps=True)
    assert data.notes == ("1 row without a number left out",)
    assert data.column(0).rows[:, 0].tolist() == [1, 2, 3, 4, 7]
    with pytest.raises(TooFewRows, match="a single row in class `a` has a number in `y`"):
        data.column(1)


@together
@pytest.mark.parametrize(
    ("rows", "labels", "error", "message"),
    [
        ([[1, 2], [2, 3]], ["a"], LengthMismatch, "2 documents but 1 labels"),
        ([[1], [2]], ["a", "b"], InputError, r"shape \(2, 1\), but 2 columns are named"),
        ([[1, NAN], [NAN, 2]], ["a", "b"], NoData, "no row has all its numbers"),
        ([[1, 2], [2, 3]], ["a", "a"], InputError, "all rows are of class `a`"),
        (
            [[1, 4], [2, 4], [3, 4], [5, 4]],
            list("aabb"),
            InputError,
            "`y` does not vary: it is 4 in every row",
        ),
        ([[1, 4], [2, 4], [3, 4], [5, 5]], list("aabb"), InputError, "`y` does not vary in class `a`"),
        ([[1, 4], [2, 5], [3, 4]], list("aab"), TooFewRows, "a single row in class `b`"),
        ([[1, 4], [2, float("inf")]], list("ab"), InputError, "row 1 has inf in column `y`"),
    ],
)
def test_what_cannot_be_drawn_is_said(rows, labels, error, message):
    with pytest.raises(error, match=message):
        LabelledPoints.of(rows, labels, ["x", "y"])
