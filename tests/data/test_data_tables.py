import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabled import (
    FORMS,
    READERS,
    cells,
    dicts,
    read_table,
    rows,
    write_csv,
    write_duckdb,
    write_jsonl,
    write_sqlite,
)

from pairs import together
from textodds.data import Batch, Column, Schema, frames, kinds, lines, prefetched, row_parts
from textodds.data import source as sources
from textodds.errors import InputError, LengthMismatch, MissingColumn, NoData

NOTES = [
    "a long note about the first row here",
    " blanks are kept around this text, see ",
    None,
    'commas, "quotes" and\nlines all belong to it',
    "the last of these notes is also long",
]
COLUMNS = {
    "age": [31, 45.5, None, -2.0, 1e6],
    "city": ["Rome", None, "Oslo", " Rome ", "?"],
    "count": ["1", " 2 ", "NA", "", "3e2"],
    "note": NOTES,
    "kind": ["x", "y", "x", "y", "x"],
    "w": [1.0, 0.5, 2.0, 3.0, 0.0],
}
EXPECTED = dicts(
    {
        "age": [31.0, 45.5, None, -2.0, 1e6],
        "city": ["Rome", None, "Oslo", "Rome", None],
        "count": [1.0, 2.0, None, None, 300.0],
        "note": [note or "" for note in NOTES],
        "LABEL": ["x", "y", "x", "y", "x"],
        "WEIGHT": [1.0, 0.5, 2.0, 3.0, 0.0],
    }
)
OPTIONS = {"label": "kind", "weight": "w"}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
every_reader = pytest.mark.parametrize("form", [FORMS[name] for name in READERS], ids=READERS)


@every_form
def test_a_table_is_the_same_in_every_form(form, tmp_path):
    source = read_table(form(tmp_path, COLUMNS), **OPTIONS)
    assert [(column.name, column.kind) for column in source.schema.columns] == [
        ("age", "number"), ("city", "category"), ("count", "number"), ("note", "text"),
    ]  # fmt: skip
    assert source.schema.label == "kind"
    assert rows(source) == EXPECTED


@every_form
def test_a_table_is_read_by_a_schema_from_every_form(form, tmp_path):
    schema = Schema(
        (
            Column("NOTE ", "text", "given"),
            Column("absent", "ignore", "given"),
            Column("count", "category", "given"),
            Column("age", "number", "given"),
        )
    )
    source = read_table(form(tmp_path, COLUMNS), schema=schema, labelled=False)
    expected = [{"NOTE ": row["note"], "count": count, "age": row["age"]}
                for row, count in zip(EXPECTED, ["1", "2", None, None, "3e2"], strict=True)]  # fmt: skip
    assert rows(source) == expected
    assert source.schema is schema


@every_form
def test_the_first_rows_are_not_lost_when_the_schema_is_asked_for(form, tmp_path, monkeypatch):
    for module in (row_parts, lines, kinds, sources):
        monkeypatch.setattr(module, "BATCH_ROWS", 3)
    monkeypatch.setattr(frames, "SLICE_ROWS", 2)
    source = read_table(form(tmp_path, COLUMNS), **OPTIONS, columns={"count": "number"})
    assert source.schema.names("number") == ["age", "count"]
    assert rows(source) == EXPECTED
    if source.replayable:
        assert rows(source) == EXPECTED
    else:
        with pytest.raises(InputError, match="can be read only once"):
            iter(source)


@every_reader
def test_batches_of_any_size_hold_the_same_rows(form, tmp_path, monkeypatch):
    for module in (row_parts, lines):
        monkeypatch.setattr(module, "BATCH_ROWS", 1)
    monkeypatch.setattr(frames, "SLICE_ROWS", 2)
    seen = []
    source = read_table(form(tmp_path, COLUMNS), **OPTIONS)
    monkeypatch.setattr(Batch, "__len__", lambda batch: seen.append(1) or len(batch.columns["age"]))
    assert rows(source) == EXPECTED
    assert [column.kind for column in source.schema.columns] == ["number", "category", "number", "text"]
    assert len(seen) > 2


@every_reader
def test_a_pass_that_is_begun_here_goes_on_in_another_thread(form, tmp_path):
    source = read_table(form(tmp_path, COLUMNS), **OPTIONS)
    assert source.schema.label == "kind"
    assert sum(len(batch) for batch in prefetched(source)) == 5


@every_reader
def test_the_weight_and_the_label_are_no_columns_and_the_usual_label_is_found(form, tmp_path):
    columns = {"a": [1.5, 2.5, 3.5], "Class": ["x", "y", "x"], "b": ["u", "v", "u"]}
    source = read_table(form(tmp_path, columns))
    assert (source.schema.label, source.schema.names("category")) == ("Class", ["b"])
    assert [row["LABEL"] for row in rows(source)] == ["x", "y", "x"]


@every_reader
def test_a_missing_label_column_is_told_with_what_is_there(form, tmp_path):
    with pytest.raises(MissingColumn, match="has no label column; its columns are `a`, `b`"):
        rows(form(tmp_path, {"a": [1.5, 2.5], "b": ["u", "v"]}))


@every_reader
def test_without_labels_none_are_needed(form, tmp_path):
    columns = {"a": [1.5, 2.5], "b": ["u", "v"]}
    assert rows(form(tmp_path, columns), labelled=False) == dicts(columns)


@every_reader
def test_a_column_of_the_schema_that_is_not_there_is_named_with_what_is(form, tmp_path):
    schema = Schema((Column("aged", "number", "given"),))
    with pytest.raises(MissingColumn, match="has no column `aged`; its columns are `age`, `b`") as caught:
        rows(form(tmp_path, {"age": [1.5], "b": ["u"]}), schema=schema, labelled=False)
    assert "did you mean `age`?" in caught.value.hint


@every_form
def test_a_table_without_rows_has_no_batches(form, tmp_path):
    empty = {"a": pa.array([], pa.float64()).to_numpy(), "label": np.array([], str)}
    assert rows(form(tmp_path, empty)) == []


@every_reader
def test_booleans_and_whole_numbers_are_written_as_labels_are(form, tmp_path):
    columns = {"flag": [True, False, None], "n": [3.0, 4.0, None], "label": [1, 2, 1]}
    if form is FORMS["sqlite"]:  # which has no booleans
        columns["flag"] = ["true", "false", None]
    got = rows(form(tmp_path, columns))
    assert [(row["flag"], row["n"], row["LABEL"]) for row in got] == [
        ("true", "3", "1"), ("false", "4", "2"), (None, None, "1"),
    ]  # fmt: skip


ARRAY = np.array([[1.5, 0, np.nan], [2.5, 1, 7.0], [3.5, 0, 8.0]])


@together
@pytest.mark.parametrize(
    "make",
    [
        np.array,
        np.asfortranarray,
        lambda array: array.astype(">f8"),
        lambda array: array.astype(np.longdouble),
        lambda array: array.astype(np.float16),
        lambda array: array[::-1][::-1],
        lambda array: array.astype(object),
        lambda array: np.ma.array(array, mask=np.isnan(array)),
        lambda array: array.tolist(),
        lambda array: [tuple(row) for row in array],
        lambda array: list(array),
        lambda array: (row for row in array),
        np.matrix,
    ],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_an_array_has_columns_called_by_their_number(make):
    expected = dicts(
        {"1": [1.5, 2.5, 3.5], "2": ["0", "1", "0"], "3": [None, 7.0, 8.0], "LABEL": ["a", "b", "a"]}
    )
    source = read_table(make(ARRAY), ["a", "b", "a"], columns={"3": "number"})
    assert source.schema.names("number") == ["1", "3"]
    assert rows(source) == expected


def test_an_array_is_read_by_the_order_of_the_schema_if_it_has_as_many_columns():
    schema = Schema(tuple(Column(name, "number", "given") for name in ("a", "b", "c")))
    assert rows(ARRAY[1:2], schema=schema, labelled=False) == [{"a": 2.5, "b": 1.0, "c": 7.0}]
    assert rows(ARRAY[1:2].tolist(), schema=schema, labelled=False) == [{"a": 2.5, "b": 1.0, "c": 7.0}]
    with pytest.raises(InputError, match="rows have 2 columns, the model 3"):
        read_table(ARRAY[:, :2], schema=schema, labelled=False)
    with_label = np.column_stack([ARRAY, [5, 6, 5]])
    assert rows(with_label, schema=schema, label="4")[1] == {"a": 2.5, "b": 1.0, "c": 7.0, "LABEL": "6"}


def test_numbers_in_memory_are_handed_over_without_a_copy_where_they_lie_together():
    array = np.asfortranarray(np.random.default_rng(0).normal(size=(100, 3)))
    (batch,) = read_table(array, labelled=False)
    assert np.shares_memory(batch.columns["2"], array)
    frame = pd.DataFrame({"a": array[:, 0]})
    (batch,) = read_table(frame, labelled=False)
    assert np.shares_memory(batch.columns["a"], frame["a"].to_numpy())


@together
@pytest.mark.parametrize("series", [list, np.array, pd.Series, pl.Series, pa.array, iter, tuple])
def test_labels_and_weights_can_come_beside_the_table(series):
    labels, weights = ["x", "y", "x"], [1.0, 2.0, 0.5]
    columns = {"a": [1.5, 2.5, 3.5], "label": ["u", "v", "u"]}
    expected = dicts({**columns, "LABEL": labels, "WEIGHT": weights})
    for table in (
        columns,
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        dicts(columns),
        iter(dicts(columns)),
    ):
        source = read_table(table, series(labels), series(weights))
        assert source.schema.label is None
        assert rows(source) == expected


def test_what_comes_beside_the_table_must_pair_up_with_it():
    for table in ({"a": [1, 2]}, [{"a": 1}, {"a": 2}], np.ones((2, 2)), pd.DataFrame({"a": [1, 2]})):
        with pytest.raises(LengthMismatch, match="got 2 documents but 1 labels"):
            read_table(table, ["x"])
    with pytest.raises(LengthMismatch):
        rows(iter([{"a": 1.5}, {"a": 2.5}]), ["x"])
    with pytest.raises(InputError, match="labels are given beside the table"):
        read_table({"a": [1]}, ["x"], label="a")
    with pytest.raises(InputError, match="weights are given beside the table"):
        read_table({"a": [1]}, ["x"], [1], weight="a")
    with pytest.raises(InputError, match="`labels` is 'x', not one for each row"):
        read_table({"a": [1]}, "x")
    with pytest.raises(InputError, match="`labels` does not apply: the source is a stream"):
        read_table(pa.table({"a": [1]}).to_reader(), ["x"])


@together
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.ones(3), r"an array of shape \(3,\) is not a table"),
        (np.ones((3, 0)), r"an array of shape \(3, 0\) is not a table"),
        (pd.Series([1]), "a pandas Series is one column, not a table"),
        (["win a phone"], "a list of 1 row holds texts, which are not rows of a table"),
        ([1, 2], "a list of 2 rows holds int objects, not rows of a table"),
        ({"a": "xyz"}, "column `a` is a str, not a list of values"),
        ({"a": 3}, "column `a` is an int, not a list of values"),
        ({"a": np.ones((2, 2, 2))}, r"column `a` is an array of shape \(2, 2, 2\)"),
        ({"a": [1, 2], "b": [1]}, "column `b` has 1 rows, and `a` 2"),
        (5, "cannot read a table from an int"),
        (b"bytes", "cannot read a table from a bytes"),
    ],
)
def test_what_is_no_table_is_told(source, message):
    with pytest.raises(InputError, match=message):
        read_table(source, labelled=False)


def test_a_sparse_matrix_is_no_table():
    from scipy import sparse

    with pytest.raises(InputError, match="which is sparse"):
        read_table(sparse.csr_matrix(np.eye(2)), ["x", "y"])


def test_texts_are_no_tables(tmp_path):
    (tmp_path / "spam").mkdir()
    (tmp_path / "mail.txt").write_text("__label__spam win\n")
    for options in ({}, {"format": "fasttext"}, {"format": "lines"}):
        with pytest.raises(InputError, match="holds texts, not a table"):
            read_table(tmp_path / "mail.txt", **options)
    with pytest.raises(InputError, match="a folder of documents, holds texts, not a table"):
        read_table(tmp_path)


def test_a_query_gives_a_table(tmp_path):
    duck, lite = write_duckdb(tmp_path / "t.db", COLUMNS), write_sqlite(tmp_path / "t.sqlite", COLUMNS)
    query = "SELECT age, upper(city) AS city, kind AS label FROM rows WHERE age > 0 ORDER BY age"
    expected = dicts({"age": [31.0, 45.5, 1e6], "city": ["ROME", None, None], "LABEL": ["x", "y", "x"]})
    for path in (duck, lite):
        assert rows(path, query=query) == expected
    write_csv(tmp_path / "t.csv", COLUMNS)
    assert rows(None, query=query.replace("rows", "'t.csv'")) == expected
    with pytest.raises(InputError, match="a query reads a database file"):
        read_table({"a": [1]}, query="SELECT 1")


@pytest.mark.slow
def test_standard_input_is_a_table(tmp_path):
    path = write_csv(tmp_path / "t.csv", COLUMNS)
    code = """
from textodds.data import read
source = read('-', label='kind', format=FORMAT, columns={})
print(source.replayable, source.schema.names('number'), sum(len(batch) for batch in source))
"""
    for format_, replayable in (("'csv'", False), ("None", True)):
        done = subprocess.run(
            [sys.executable, "-c", code.replace("FORMAT", format_)],
            input=path.read_bytes(),
            capture_output=True,
            timeout=300,
            check=True,
        )
        assert done.stdout.decode().strip() == f"{replayable} ['age', 'count', 'w'] 5"


def test_several_files_are_one_table_whatever_the_order_of_their_columns(tmp_path):
    write_csv(tmp_path / "a.csv", {"n": [1.5, 2.5], "c": ["u", "v"], "label": ["x", "y"]})
    write_jsonl(tmp_path / "b.jsonl", {"label": ["y"], "surplus": [1], "C": ["w"], "n": [None]})
    source = read_table([tmp_path / "a.csv", tmp_path / "b.jsonl"])
    assert rows(source)[2] == {"n": None, "c": "w", "LABEL": "y"}
    assert source.size == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert source.bytes_read == source.size
    write_csv(tmp_path / "c.csv", {"n": [1], "label": ["x"]})
    with pytest.raises(MissingColumn, match=r"c\.csv has no column `c`; its columns are `n`, `label`"):
        rows([tmp_path / "a.csv", tmp_path / "c.csv"])


def test_a_file_without_a_header_has_columns_called_by_their_number(tmp_path):
    (tmp_path / "t.csv").write_text("1.5,u,x\n2.5,v,y\n")
    assert rows("t.csv", header=False, label="3") == dicts(
        {"1": [1.5, 2.5], "2": ["u", "v"], "LABEL": ["x", "y"]}
    )


def test_an_empty_file_and_a_header_alone_have_no_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n")
    source = read_table("t.csv")
    assert rows(source) == []
    assert source.schema == Schema((Column("a", "ignore", "no values"),), "label")
    (tmp_path / "t.csv").write_text("")
    assert rows("t.csv") == []
    assert read_table("t.csv").schema == Schema(())
    assert rows([]) == []


def test_two_columns_of_one_name_cannot_both_be_meant(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a,label\n1,2,3,x\n")
    with pytest.raises(InputError, match=r"t\.csv has two columns named `a`"):
        rows("t.csv")
    with pytest.raises(InputError, match="two columns named `a`"):
        rows("t.csv", schema=Schema((Column("a", "number", "given"),)))
    assert rows("t.csv", schema=Schema((Column("b", "number", "given"),))) == [{"b": 2.0, "LABEL": "x"}]


def test_json_lines_may_leave_out_keys(tmp_path):
    (tmp_path / "t.jsonl").write_text(
        '{"a": 1.5, "label": "x"}\n{"b": "u", "label": "y"}\n{"a": 2.5, "label": "x"}\n'
    )
    expected = dicts({"a": [1.5, None, 2.5], "b": [None, "u", None], "LABEL": ["x", "y", "x"]})
    assert rows("t.jsonl") == expected
    schema = read_table("t.jsonl").schema
    assert rows("t.jsonl", schema=schema) == expected
    with pytest.raises(MissingColumn, match="has no column `b`"):
        rows([{"a": 1}], schema=schema, labelled=False)


def test_the_label_is_that_of_the_schema_or_named():
    schema = Schema((Column("y", "number", "given"),), "kind")
    columns = {"y": [1.5], "kind": ["a"], "label": ["b"]}
    assert rows(columns, schema=schema) == [{"y": 1.5, "LABEL": "a"}]
    assert rows(columns, schema=schema, label="label") == [{"y": 1.5, "LABEL": "b"}]
    assert rows(columns, schema=schema, labelled=False) == [{"y": 1.5}]
    assert rows(columns, schema=Schema(schema.columns)) == [{"y": 1.5, "LABEL": "b"}]
    with pytest.raises(MissingColumn, match="has no kind column"):
        rows({"y": [1.5], "label": ["b"]}, schema=schema)
    with pytest.raises(InputError, match=r"`y` of .* is one of the model's, and cannot be the label too"):
        rows(columns, schema=schema, label="y")
    with pytest.raises(InputError, match="label and weight are both column `label`"):
        rows(columns, label="label", weight="label")


def test_a_batch_without_labels_says_so():
    with pytest.raises(NoData, match="rows but no labels"):
        Batch({"a": np.ones(1)}, None, None).label_list()
    assert Batch({"a": np.ones(1)}, ["x"], None).label_list() == ["x"]


def test_a_table_shows_what_it_is(tmp_path):
    write_csv(tmp_path / "t.csv", COLUMNS)
    assert repr(read_table("t.csv", label="kind")) == "<Source: t.csv>"
    assert read_table(COLUMNS, label="kind").description == "a dict of 5 rows"
    assert read_table(ARRAY, labelled=False).description == "a numpy ndarray of 3 rows"


def test_dictionaries_larger_than_a_slice_are_read_by_what_the_slice_uses():
    names = pa.array([f"v{n}" for n in range(1000)])
    column = pa.DictionaryArray.from_arrays(pa.array([999, None, 0, 999], pa.int16()), names)
    (batch,) = read_table(pa.table({"a": column}), labelled=False)
    assert cells(batch.columns["a"]) == ["v999", None, "v0", "v999"]
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), pa.array([0.5, 1.5]))
    assert [row["a"] for row in rows(pa.table({"a": numbers}), columns={"a": "number"}, labelled=False)] == [
        1.5, None, 0.5,
    ]  # fmt: skip
    assert [row["a"] for row in rows(pa.table({"a": column}), columns={"a": "text"}, labelled=False)][1] == ""


cell = st.one_of(
    st.floats(-1e100, 1e100).map(repr),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    st.sampled_from(["", "NA", " ?", "3.0", "True", "red", '"', "\r\n", ","]),
)


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[cell] * width), min_size=1, max_size=30)))
def test_any_table_of_strings_is_the_same_from_csv_and_from_memory(tmp_path_factory, table):
    columns = {f"c{at}": list(column) for at, column in enumerate(zip(*table, strict=True))}
    columns["label"] = [f"l{at}" for at in range(len(table))]
    path = write_csv(tmp_path_factory.mktemp("csv") / "t.csv", columns)
    given_kinds = {"c0": "text"}
    memory_source, file_source = (
        read_table(columns, columns=given_kinds),
        read_table(path, columns=given_kinds),
    )
    assert memory_source.schema == file_source.schema
    assert rows(file_source) == rows(memory_source)
    assert [row["c0"] for row in rows(file_source)] == columns["c0"]


@given(st.lists(st.floats(-1e100, 1e100), min_size=3, max_size=40))
def test_numbers_come_back_to_the_bit_from_csv(tmp_path_factory, numbers):
    path = write_csv(tmp_path_factory.mktemp("csv") / "t.csv", {"a": numbers, "label": [1] * len(numbers)})
    got = [row["a"] for row in rows(path, columns={"a": "number"})]
    assert got == numbers


@pytest.mark.realdata
def test_the_census_has_the_kinds_one_would_give_it(data_folder):
    source = read_table(data_folder / "tab_adult" / "train.csv.gz")
    assert source.schema.names("number") == [
        "age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week",
    ]  # fmt: skip
    assert source.schema.names("category") == [
        "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
        "native-country",
    ]  # fmt: skip
    assert len(source.schema.columns) == 14
    assert sum(len(batch) for batch in source) == 32_561
    test = read_table(data_folder / "tab_adult" / "test.csv.gz", schema=source.schema)
    assert sum(len(batch) for batch in test) == 16_281
    (first, *_) = test
    assert first.columns["workclass"].null_count > 0
