"""Columns of categories from everywhere, and their tallies at their limits."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pairs import in_turn, together
from textodds.errors import BadWeight, InputError, LengthMismatch, NegativeCount, NoData
from textodds.stats.categories import CategoryTally, CellTally, CodedColumn, coded_columns
from textodds.stats.categories.cell_tally import lexicographic

TALLIES = pytest.mark.parametrize("kind", [CategoryTally, CellTally])
SKY = {"sky": ["sun", "rain", None, "sun"], "wind": [1, 0, 1, 1]}
PLAY = ["yes", "no", "no", "yes"]


def read(column):
    """A coded column as the names of its rows."""
    return [None if code < 0 else column.names[code] for code in column.codes.tolist()]


@together
@pytest.mark.parametrize(
    "values",
    [
        ["red", None, "blue", "red", ""],
        ("red", None, "blue", "red", ""),
        np.array(["red", None, "blue", "red", ""], dtype=object),
        ["red", float("nan"), "blue", "red", ""],
        ["red", pd.NA, "blue", "red", ""],
        [np.str_("red"), None, "blue", "red", ""],
        [b"red", None, b"blue", b"red", b""],
        iter(["red", None, "blue", "red", ""]),
        pd.Series(["red", None, "blue", "red", ""]),
        pd.Series(["red", None, "blue", "red", ""], dtype=object, index=[9, 8, 7, 6, 5]),
        pd.Series(["red", None, "blue", "red", ""], dtype="category"),
        pl.Series(["red", None, "blue", "red", ""]),
        pl.Series(["red", None, "blue", "red", ""], dtype=pl.Categorical),
        pl.concat([pl.Series(["red", None]), pl.Series(["blue", "red", ""])], rechunk=False),
        pa.array(["red", None, "blue", "red", ""]),
        pa.array(["red", None, "blue", "red", ""], pa.string_view()),
        pa.array([b"red", None, b"blue", b"red", b""], pa.large_binary()),
        pa.chunked_array([["red", None], [], ["blue", "red", ""]]),
        pa.chunked_array(
            [pa.array(["red", None]).dictionary_encode(), pa.array(["blue", "red", ""]).dictionary_encode()]
        ),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 4]), pa.array(["red", None, "blue", "red", ""])),
        pa.array(["?", "red", None, "blue", "red", ""]).slice(1),
    ],
    ids=lambda values: type(values).__module__ + "." + type(values).__name__,
)
def test_text_is_read_from_anywhere_and_kept_as_it_is(values):
    assert read(CodedColumn.of(values)) == ["red", None, "blue", "red", ""]


@together
@pytest.mark.parametrize(
    "values",
    [
        [3, None, -7, 3],
        [3.0, None, -7.0, 3.0],
        [3, None, -7, 3.0],
        [3.0, float("nan"), -7, 3],
        np.array([3, np.nan, -7, 3]),
        np.array([3, np.nan, -7, 3], dtype=np.float16),
        np.array([3, None, -7, 3], dtype=object),
        pd.Series([3, None, -7, 3]),
        pd.Series([3, None, -7, 3], dtype="Int64"),
        pd.Series([3, None, -7, 3], dtype="category"),
        pl.Series([3, None, -7, 3]),
        pl.Series([3.0, float("nan"), -7.0, 3.0]),
        pa.array([3, None, -7, 3], pa.int8()),
        pa.array([3.0, float("nan"), -7.0, 3.0]),
        pa.chunked_array([[3.0, None], [-7.0, 3.0]]),
    ],
    ids=lambda values: type(values).__module__ + "." + type(values).__name__,
)
def test_whole_numbers_become_text_as_written_by_hand(values):
    assert read(CodedColumn.of(values)) == ["3", None, "-7", "3"]


@together
@pytest.mark.parametrize(
    "values",
    [
        [True, None, False],
        np.array([True, None, False], dtype=object),
        pd.Series([True, None, False], dtype="boolean"),
        pl.Series([True, None, False]),
        pa.array([True, None, False]),
    ],
)
def test_truth_values_are_true_and_false(values):
    assert read(CodedColumn.of(values)) == ["true", None, "false"]


def test_numbers_of_every_size_keep_their_digits():
    assert read(CodedColumn.of(np.array([2**64 - 1, 0], dtype=np.uint64))) == ["18446744073709551615", "0"]
    assert read(CodedColumn.of([-(2**63), 2**63 - 1])) == ["-9223372036854775808", "9223372036854775807"]
    assert read(CodedColumn.of([1e20, 2.0])) == ["100000000000000000000", "2"]
    assert read(CodedColumn.of(np.array([0.0, -0.0, 1.0]))) == ["0", "0", "1"]


@together
@pytest.mark.parametrize(
    "values", [[], np.array([]), np.array([], dtype=str), pl.Series([]), pa.chunked_array([], pa.string())]
)
def test_a_column_may_be_empty(values):
    column = CodedColumn.of(values)
    assert (len(column), column.names) == (0, ())


@together
@pytest.mark.parametrize("values", [[None, None], [float("nan")] * 2, pd.Series([None, None]), pa.nulls(2)])
def test_a_column_may_be_all_missing(values):
    assert read(CodedColumn.of(values)) == [None, None]


@together
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, None, 2.5, 3.5], "row 2 has 2.5; numbers as categories are whole"),
        (np.array([1, 2, np.inf]), "row 2 has inf"),
        (pl.Series([0.25]), "row 0 has 0.25"),
        (pa.chunked_array([[1.0], [1.0, 1.5]]), "row 2 has 1.5"),
        ([None, 1, "a"], "mixed types: row 1 has a number, row 2 has text"),
        (["a", None, 2], "mixed types: row 0 has text, row 2 has a number"),
        ([True, 1], "mixed types: row 0 has a truth value, row 1 has a number"),
        (["a", "\ud800"], "row 1 has half a surrogate pair at character 0"),
        ([1, 2**70], "row 1 has a number beyond 64 bits"),
        ([1, 10**400], "row 1 has a number beyond 64 bits"),
        ([["a"], ["b"]], "which are not categories"),
        ([{"a": 1}, 3], "mixed types: row 0 has a dict, row 1 has a number"),
        ([object()], "cannot be read"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "date32.* which are not categories"),
        (pa.array([b"\xff"]), "not UTF-8"),
        ("red", "one value for each row, got 'red'"),
        (7, "one value for each row, got 7"),
        (np.zeros((2, 2)), "one value for each row"),
        (np.array(3), "one value for each row"),
    ],
)
def test_a_column_that_cannot_be_says_where_and_why(values, message):
    with pytest.raises(InputError, match=message):
        CodedColumn.of(values)


@together
@pytest.mark.parametrize(
    ("names", "codes", "message"),
    [
        (("a",), [0, 1], "row 1 has the code 1, and there are 1 categories"),
        (("a",), [0, -2], "row 1 has the code -2"),
        (("a",), [0.0], "whole numbers"),
        (("a",), [[0]], "whole numbers"),
        (("a", "a"), [0], "named twice"),
        ((1,), [0], "categories are text"),
        (("\ud800",), [0], "categories are text"),
    ],
)
def test_codes_that_do_not_fit_their_names_are_refused(names, codes, message):
    with pytest.raises(InputError, match=message):
        CodedColumn(names, np.array(codes))


def test_a_coded_column_is_taken_as_it_is():
    column = CodedColumn(("b", "a", "unused"), np.array([1, -1, 0]))
    assert CodedColumn.of(column) is column
    tally = CategoryTally.of({"x": column}, ["k"] * 3)
    assert tally == CategoryTally.of({"x": ["a", None, "b"]}, ["k"] * 3)
    assert tally.categories == (("a", "b"),)


def test_columns_in_another_order_and_of_other_kinds_are_the_same():
    columns = {"wind": pl.Series(SKY["wind"]), "sky": pa.array(SKY["sky"])}
    assert CategoryTally.of(columns, PLAY) == CategoryTally.of(SKY, PLAY)
    assert CellTally.of(columns, np.array(PLAY)) == CellTally.of(SKY, PLAY)


@together
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "there are no columns"),
        ({"a": ["x"], "b": ["x", "y"]}, "column `a` has 1 rows, column `b` 2"),
        ({"a": ["x"], "b": [0.5]}, "column `b`: row 0 has 0.5"),
    ],
)
def test_columns_that_cannot_be_counted_are_named(columns, message):
    with pytest.raises(InputError, match=message):
        coded_columns(columns)


def test_counts_are_those_of_hand():
    tally = CategoryTally.of(SKY, PLAY, [1, 2, 0.5, 3])
    assert (tally.classes, tally.columns) == (("no", "yes"), ("sky", "wind"))
    assert tally.class_rows.tolist() == [2.5, 4]
    assert tally.categories == (("rain", "sun"), ("0", "1"))
    assert [table.tolist() for table in tally.counts] == [[[2, 0], [0, 4]], [[2, 0], [0.5, 4]]]
    assert tally.missing.tolist() == [[0.5, 0], [0, 0]]
    assert tally.class_rows.sum() == 6.5
    cells = CellTally.of(SKY, PLAY, [1, 2, 0.5, 3])
    assert cells.cells.tolist() == [[-1, 1], [0, 0], [1, 1]]
    assert cells.counts.tolist() == [[0.5, 0], [2, 0], [0, 4]]
    assert cells.class_rows.tolist() == [2.5, 4]


@TALLIES
def test_weights_are_rounded_as_in_the_tally_of_words(kind):
    """Halves up, and beyond what floating-point sums would keep."""
    for weights in ([2.0**-31, 1], [2.0**-32, 1], [0.1, 2.0**32], [2.0**32 - 2.0**-20, 2.0**-30]):
        tally = kind.of({"x": ["a", "b"]}, ["k", "k"], weights)
        exact = sum(int(Fraction(weight) * 2**30 + Fraction(1, 2)) for weight in weights)
        assert Fraction(int(tally.class_units[0]), 2**tally.fraction) == Fraction(exact, 2**30)


@TALLIES
def test_sums_are_exact_where_floating_point_is_not(kind):
    """2^24 and a part of 2^-30 need 54 bits."""
    large = kind.of({"x": ["a"]}, ["k"], [2.0**24])
    small = kind.of({"x": ["a"]}, ["k"], [2.0**-30])
    assert (large + small) - large == small
    assert large + small != large
    assert (large + small) - small == large


@together
@TALLIES
@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), 2.0**32 * 1.0001])
def test_a_weight_that_cannot_be_names_its_row(kind, weight):
    with pytest.raises(BadWeight, match="row 1 has the weight"):
        kind.of({"x": ["a", "b"]}, ["k", "k"], [1, weight])


@TALLIES
def test_labels_and_weights_pair_up_with_rows(kind):
    with pytest.raises(LengthMismatch, match="3 labels"):
        kind.of({"x": ["a", "b"]}, ["k"] * 3)
    with pytest.raises(LengthMismatch, match="1 weights"):
        kind.of({"x": ["a", "b"]}, ["k"] * 2, [1])
    for label in (None, ""):
        with pytest.raises(InputError, match="row 1 has no label"):
            kind.of({"x": ["a", "b"]}, ["k", label])
    with pytest.raises(InputError, match=r"labels: row 0 has 0\.5"):
        kind.of({"x": ["a"]}, [0.5])


@TALLIES
def test_tallies_of_different_columns_do_not_add(kind):
    with pytest.raises(InputError, match="column `b` is only in the first; column `c` is only in the second"):
        kind.of({"a": ["x"], "b": ["x"]}, ["k"]) + kind.of({"a": ["x"], "c": ["x"]}, ["k"])
    with pytest.raises(InputError, match="columns `b`, `c` are only in the second"):
        kind.of({"a": ["x"]}, ["k"]) - kind.of({"a": ["x"], "b": ["x"], "c": ["x"]}, ["k"])
    with pytest.raises(TypeError):
        kind.of({"a": ["x"]}, ["k"]) + 3


@together
@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        ({"sky": ["snow"], "wind": ["1"]}, ["yes"], "`snow` of column `sky` in class `yes`"),
        ({"sky": ["rain"], "wind": ["0"]}, ["yes"], "`rain` of column `sky` in class `yes`"),
        ({"sky": ["sun"], "wind": ["1"]}, ["maybe"], "`sun` of column `sky` in class `maybe`"),
        ({"sky": [None], "wind": ["1"]}, ["yes"], "missing values of column `sky` in class `yes`"),
        ({"sky": ["rain"] * 2, "wind": ["0", "1"]}, ["no"] * 2, "`rain` of column `sky` in class `no`"),
    ],
)
def test_subtracting_what_is_not_there_names_it_and_changes_nothing(columns, labels, message):
    tally = CategoryTally.of(SKY, PLAY)
    before = {key: array.copy() for key, array in tally.arrays().items()}
    with pytest.raises(NegativeCount, match=message):
        tally - CategoryTally.of(columns, labels)
    for key, array in tally.arrays().items():
        np.testing.assert_array_equal(array, before[key])


def test_subtracting_a_combination_that_is_not_there_names_it():
    tally = CellTally.of(SKY, PLAY)
    with pytest.raises(NegativeCount, match=re.escape("sky=`sun`, wind=`0` in class `yes`")):
        tally - CellTally.of({"sky": ["sun"], "wind": [0]}, ["yes"])
    with pytest.raises(NegativeCount, match=re.escape("sky=missing, wind=`0` in class `no`")):
        tally - CellTally.of({"sky": [None], "wind": [0]}, ["no"])
    many = {f"c{j}": ["a"] for j in range(9)}
    with pytest.raises(NegativeCount, match="c4=`a` and 4 more in class"):
        CellTally.of({name: [] for name in many}, []) - CellTally.of(many, ["k"])


@TALLIES
def test_counts_that_would_not_fit_are_refused_not_wrapped_around(kind):
    tally = kind.of({"x": ["a"]}, ["k"], [2.0**32])
    for _ in range(30):
        tally = tally + tally  # 2^62 whole rows
    with pytest.raises(InputError, match="64 bits"):
        tally + tally
    with pytest.raises(InputError, match="64 bits"):
        tally + kind.of({"x": ["a"]}, ["k"], [0.5])
    with pytest.raises(InputError, match="64 bits"):
        kind.of({"x": ["a"] * 3}, ["k"] * 3, [2.0**32, 2.0**32, 0.5])


@TALLIES
def test_tallies_compare_only_with_their_like(kind):
    tally = kind.of(SKY, PLAY)
    assert tally != "tally"
    with pytest.raises(TypeError, match="unhashable"):
        hash(tally)


def test_a_column_that_names_each_row_is_refused_with_many_classes():
    N = 15_000
    with pytest.raises(InputError, match="column `id` has 15,000 categories: with 15,000 classes"):
        CategoryTally.of({"id": np.arange(N)}, np.arange(N))
    cells = CellTally.of({"id": np.arange(N)}, np.arange(N))  # which stores what occurs
    assert len(cells.units) == N
    with pytest.raises(InputError, match="15,000 combinations and 15,000 classes"):
        _ = cells.counts


def test_a_thousand_columns_are_sorted_by_all_of_them():
    """Keys beyond 64 bits are numbered anew on the way."""
    random = np.random.default_rng(0)
    rows = random.integers(0, 3, (60, 1000))
    rows[1::2] = rows[::2]
    rows[1::4, -1] = (rows[1::4, -1] + 1) % 3  # pairs that differ in the last column, or not at all
    tally = CellTally.of({f"x{j:03}": column for j, column in enumerate(rows.T)}, ["k"] * 60)
    assert len(tally.cells) == 45
    as_lists = tally.cells.tolist()
    assert as_lists == sorted(as_lists)
    assert tally.counts[:, 0].tolist() == [rows.tolist().count(cell) for cell in as_lists]


def test_keys_are_in_the_order_of_the_rows():
    random = np.random.default_rng(1)
    rows = random.integers(-1, 4, (500, 40))
    key = lexicographic(list(rows.T), [4] * 40)
    order = np.argsort(key, kind="stable")
    assert rows[order].tolist() == sorted(rows.tolist())
    assert key.min() >= 0


@TALLIES
def test_nothing_at_all_is_a_tally(kind):
    nothing = kind.of({"x": []}, [])
    assert (nothing.classes, nothing.categories, len(nothing.class_rows)) == ((), ((),), 0)
    assert kind.of_arrays(nothing.arrays()) == nothing


@TALLIES
def test_no_input_is_changed(kind):
    codes, weights = np.array([1, -1, 0], dtype=np.int32), np.array([0.3, 1, 2])
    kind.of({"x": CodedColumn(("b", "a"), codes)}, ["k", "l", "k"], weights)
    assert codes.tolist() == [1, -1, 0]
    assert weights.tolist() == [0.3, 1, 2]


def changed(arrays, **changes):
    """The arrays with some in place of others; None takes one away."""
    new = {**arrays, **{key.replace("__", "."): value for key, value in changes.items()}}
    return {key: value for key, value in new.items() if value is not None}


HOSTILE = [
    ({"fraction": [7]}, "the fraction is 7"),
    ({"fraction": None}, "`fraction` is missing"),
    ({"fraction": [0, 0]}, "`fraction` has the wrong type or size"),
    ({"fraction": np.array([0.0])}, "`fraction` has the wrong type or size"),
    ({"classes__ends": [3, 2]}, "`classes` are damaged"),
    ({"classes__ends": [2, 9]}, "`classes` are damaged"),
    ({"classes__text": list(b"noye\xff")}, "`classes` are not UTF-8"),
    ({"classes__text": [300] * 5}, "`classes` are damaged"),
    ({"classes__text": list(b"zzaaa")}, "`classes` are out of order"),
    ({"columns__text": list(b"skysky"), "columns__ends": [3, 6]}, "`columns` are out of order"),
    ({"columns__text": np.zeros(0, int), "columns__ends": np.zeros(0, int)}, "there are no columns"),
    ({"sizes": [2]}, "`sizes` has the wrong type or size"),
    ({"sizes": [3, 2]}, "`sizes` does not fit"),
    ({"sizes": np.array([2**63, 2], dtype=np.uint64)}, "`sizes` holds a number out of range"),
    ({"sizes": [4, 0]}, "out of order"),
    ({"categories__text": list(b"sunyrai01")}, "`categories` are out of order"),
    ({"units": "text"}, "`units` has the wrong type or size"),
    ({"units": [1]}, "has the wrong type or size"),
]


@together
@in_turn(1)
@TALLIES
@pytest.mark.parametrize(("changes", "message"), HOSTILE, ids=lambda value: str(value)[:50])
def test_arrays_that_are_no_tally_are_refused(kind, changes, message):
    arrays = kind.of(SKY, PLAY).arrays()
    with pytest.raises(InputError, match=message):
        kind.of_arrays(changed(arrays, **{k: v if v is None else np.asarray(v) for k, v in changes.items()}))


@together
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class_units": [2, 0]}, "more rows than a class"),
        ({"class_units": [1, 2]}, "more rows than a class"),
        ({"class_units": np.array([2**63, 2], dtype=np.uint64)}, "out of range"),
        ({"class_units": [2**63 - 1, 2]}, "64 bits"),
        ({"units": [1, 0, 0, 0, 1, 0, 1, 2]}, "no rows"),
        ({"units": [-1, 1, 1, 1, 1, 0, 1, 2]}, "out of range"),
        ({"units": [2**62] * 8}, "more rows than a class"),  # the sum is 2^63, which wraps around
        (
            {"class_units": [2**62, 2], "units": [2**63 - 1, 0, 2**63 - 1, 2, 2, 0, 1, 2]},
            "more rows than a class",
        ),
        (
            {
                "fraction": [30],
                "class_units": [2**31, 2**31],
                "units": [2**30, 0, 0, 2**31, 2**30, 0, 2**30, 2**31],
            },
            "needless",
        ),
    ],
)
def test_counts_of_columns_that_contradict_each_other_are_refused(changes, message):
    arrays = CategoryTally.of(SKY, PLAY).arrays()
    with pytest.raises(InputError, match=message):
        CategoryTally.of_arrays(changed(arrays, **{k: np.asarray(v) for k, v in changes.items()}))


def test_counts_that_wrap_around_to_little_are_refused():
    """Four times 2^62 is zero in 64 bits."""
    arrays = CategoryTally.of({"x": list("abcd")}, ["k"] * 4).arrays()
    with pytest.raises(InputError, match="more rows than a class"):
        CategoryTally.of_arrays({**arrays, "units": np.array([2**62] * 4)})


@together
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cells": [0, 2, 1, 1, 2]}, "`cells` does not fit"),
        ({"cells": [0, 3, 1, 1, 2, 2]}, "`cells` does not fit"),
        ({"cells": [1, 1, 0, 2, 2, 2]}, "out of order"),
        ({"cells": [0, 2, 0, 2, 2, 2]}, "out of order"),
        ({"cell_of": [0, 1, 3]}, "not there"),
        ({"cell_of": [0, 1, 1]}, "out of order"),
        ({"class_of": [0, 0, 2]}, "not there"),
        ({"class_of": [0, 0, 0]}, "no rows"),
        ({"units": [0, 1, 2]}, "no rows"),
        ({"units": [-1, 1, 2]}, "out of range"),
        ({"units": [2**62, 2**62, 1]}, "64 bits"),
        ({"fraction": [30], "units": [2**30, 2**30, 2**31]}, "no rows"),
    ],
)
def test_cells_that_contradict_each_other_are_refused(changes, message):
    arrays = CellTally.of(SKY, PLAY).arrays()
    with pytest.raises(InputError, match=message):
        CellTally.of_arrays(changed(arrays, **{k: np.asarray(v) for k, v in changes.items()}))


@TALLIES
def test_arrays_may_be_narrower_and_read_only(kind):
    tally = kind.of(SKY, PLAY)
    arrays = {key: array.astype(np.uint8) for key, array in tally.arrays().items()}
    for array in arrays.values():
        array.flags.writeable = False
    assert kind.of_arrays(arrays) == tally
    assert kind.of_arrays(arrays) + tally == tally + tally


@TALLIES
def test_arrays_survive_a_safetensors_file(kind, tmp_path):
    from safetensors.numpy import load_file, save_file

    tally = kind.of(SKY, PLAY, [0.1, 2, 1 / 3, 1])
    save_file(tally.arrays(), tmp_path / "tally")
    assert kind.of_arrays(load_file(tmp_path / "tally")) == tally


def test_no_columns_is_no_data():
    with pytest.raises(NoData):
        CategoryTally.of({}, [])
