"""Columns of vectors: lists of numbers of one length, in whatever form they come."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs import together
from textodds import read
from textodds.data.schema import Column, Schema
from textodds.errors import BadRow, InputError

X = np.random.default_rng(0).normal(size=(6, 3))
LABELS = list("aabbab")
SINGLE = X.astype(np.float32)


def forms(folder):
    """The vectors as each kind of source has them, and what they are then."""
    listed = X.tolist()
    pq.write_table(
        pa.table({"e": pa.array(SINGLE.tolist(), pa.list_(pa.float32(), 3))}), folder / "a.parquet"
    )
    (folder / "a.jsonl").write_text("".join(json.dumps({"e": row}) + "\n" for row in listed))
    written = "".join('"' + json.dumps(row) + '"\n' for row in listed)
    (folder / "a.csv").write_text("e\n" + written)
    yield "a matrix", {"e": X}, X
    yield "of single precision", {"e": SINGLE}, SINGLE
    yield "in another order of memory", {"e": np.asfortranarray(X)}, X
    yield "lists", {"e": listed}, X
    yield "arrays in a list", {"e": list(X)}, X
    yield "rows", [{"e": row} for row in listed], X
    yield "pandas", pd.DataFrame({"e": list(X)}), X
    yield "polars lists", pl.DataFrame({"e": listed}), X
    yield "polars arrays", pl.DataFrame({"e": X}), X
    yield "large lists", pa.table({"e": pa.array(listed, pa.large_list(pa.float64()))}), X
    yield (
        "halves",
        pa.table({"e": pa.array(X.astype(np.float16).tolist(), pa.list_(pa.float16()))}),
        np.float16(X),
    )
    yield "chunks", pa.table({"e": pa.chunked_array([listed[:2], listed[2:]])}), X
    yield "a slice", pa.table({"e": [[9.0, 9.0, 9.0], *listed]}).slice(1), X
    yield "Parquet", folder / "a.parquet", SINGLE
    yield "JSON lines", folder / "a.jsonl", X
    yield "CSV", folder / "a.csv", X


def test_vectors_are_read_from_any_source(tmp_path):
    for name, source, expected in forms(tmp_path):
        opened = read(source, labelled=False, columns={"e": "vector"})
        batches = list(opened)
        got = np.concatenate([batch.columns["e"] for batch in batches])
        assert got.dtype == np.float64, name
        np.testing.assert_array_equal(got, expected.astype(np.float64), err_msg=name)
        assert opened.schema.columns[0].size == 3, name


def test_vectors_are_found_without_being_named(tmp_path):
    for name, source, _ in forms(tmp_path):
        if isinstance(source, (dict, list)):
            assert read(source, LABELS, columns={}).schema.columns[0].kind == "vector", name


def test_a_missing_vector_is_one_that_is_not_there():
    (batch,) = read(
        {"e": [[1, 2], None, [3, 4]], "n": [1.0, 2.0, None]}, labelled=False, columns={"e": "vector"}
    )
    np.testing.assert_array_equal(batch.columns["e"], [[1, 2], [np.nan, np.nan], [3, 4]])
    assert batch.values_there.tolist() == [2, 1, 1]


@together
@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ([3], "`e` has 1 number, not 2"),
        ([3, 4, 5], "`e` has 3 numbers, not 2"),
        ([], "`e` has 0 numbers, not 2"),
        ([3, float("nan")], "`e` has no number at position 2"),
        ([None, 3], "`e` has no number at position 1"),
        ([3, float("inf")], "`e` has inf at position 2"),
        ([3, 1e200], r"`e` has 1e\+200 at position 2"),
        ([3, "x"], "`e` is .*, not a list of numbers"),
        ([[1], [2]], "`e` has lists within the list"),
    ],
)
def test_what_is_no_vector_is_a_bad_row_with_its_number(second, reason):
    with pytest.raises(BadRow, match=f"row 3: {reason}"):
        list(read({"e": [[1, 2], [5, 6], second]}, list("abb"), columns={"e": "vector"}))
    (batch,) = read({"e": [[1, 2], [5, 6], second]}, list("abb"), columns={"e": "vector"}, bad_rows="skip")
    assert batch.columns["e"].tolist() == [[1, 2], [5, 6]]


def test_written_vectors_that_are_none_name_their_row(tmp_path):
    (tmp_path / "a.csv").write_text('e,label\n"[1, 2]",a\n"[1, b]",b\n')
    with pytest.raises(BadRow, match="`e` is `\\[1, b\\]`, not a list of numbers"):
        list(read(tmp_path / "a.csv", columns={"e": "vector"}))


def test_other_data_must_have_vectors_of_the_same_size():
    schema = read({"e": [[1, 2]]}, ["a"], columns={"e": "vector"}).schema
    with pytest.raises(BadRow, match="`e` has 3 numbers, not 2"):
        list(read([{"e": [1, 2, 3]}], schema=schema, labelled=False))
    with pytest.raises(InputError, match="cannot be read as vectors"):
        list(read({"e": [1.0, 2.0]}, schema=schema, labelled=False))


def test_a_schema_with_vectors_is_stored_and_read_back():
    schema = Schema((Column("e", "vector", "given", 3), Column("n", "number", "given")), "kind")
    assert Schema.of_dict(json.loads(json.dumps(schema.as_dict()))) == schema
    for plain in ({"size": 0}, {"size": None}, {"size": "3"}, {"size": True}, {"kind": "number"}):
        with pytest.raises(InputError):
            Schema.of_dict({"label": None, "columns": [{**schema.columns[0].as_dict(), **plain}]})


def test_an_array_of_three_dimensions_is_no_column():
    with pytest.raises(InputError, match=r"shape \(2, 2, 2\)"):
        read({"e": np.zeros((2, 2, 2))}, ["a", "b"], columns={"e": "vector"})
