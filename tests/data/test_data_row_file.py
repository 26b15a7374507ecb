"""Laws of rows that are written: they come back as they were, whatever stands in them."""

import csv
import io
import json

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyarrow import parquet

from textodds.data import read
from textodds.data.row_file import row_file, row_stream
from textodds.errors import InputError

# Any text of Unicode, often with what CSV and JSON treat in a way of their own.
CELLS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('",;\t|\n\r\\ \0{}é')))
TABLES = st.lists(st.tuples(CELLS, CELLS, st.text("ab", min_size=1)), min_size=1, max_size=8)


def written(path, name):
    """The file ``name`` of the rows of a file, with an answer behind each."""
    source = read(path, text="text", labelled=False, keep_rows=True)
    target = path.parent / name
    with row_file(target, name, source) as file:
        for rows in source.with_rows():
            answers = {"said": ["a\nb"] * len(rows), "p": np.arange(len(rows)) / 3}
            file.write(rows, answers)
        file.finish(["said", "p"])
    return target


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_csv_comes_back_cell_by_cell(tmp_path_factory, separator, rows):
    path = tmp_path_factory.mktemp("rows") / "in.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows([("text", "other one", "k"), *rows])
    with written(path, "out.csv").open(newline="", encoding="utf-8") as file:
        head, *found = csv.reader(file, delimiter=separator)
    assert head == ["text", "other one", "k", "said", "p"]
    assert [tuple(row[:3]) for row in found] == rows
    assert [float(row[4]) for row in found] == (np.arange(len(rows)) / 3).tolist()
    lines = written(path, "out.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [tuple(json.loads(line).values())[:3] for line in lines] == rows
    table = parquet.read_table(written(path, "out.parquet"))
    assert [tuple(row.values())[:3] for row in table.to_pylist()] == rows


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | CELLS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CELLS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(CELLS, JSON, max_size=4), min_size=1, max_size=5), st.booleans())
def test_json_objects_get_keys_and_change_nothing_else(tmp_path_factory, rows, is_ascii):
    path = tmp_path_factory.mktemp("rows") / "in.jsonl"
    rows = [
        {"text": "x", **{key: row[key] for key in row if key not in ("text", "said", "p")}} for row in rows
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=is_ascii) + "\n" for row in rows), encoding="utf-8")
    lines = written(path, "out.jsonl").read_bytes().split(b"\n")[:-1]
    found = [json.loads(line) for line in lines]
    assert [dict(list(row.items())[:-2]) for row in found] == rows
    assert [row["said"] for row in found] == ["a\nb"] * len(rows)


TYPES = {
    "int8": [1, None, -3],
    "uint64": [2**64 - 1, 0, None],
    "float": [1.5, None, float("inf")],
    "bool": [True, None, False],
    "date32": [0, None, 20_000],
    "timestamp[ns]": [0, None, 1],
    "duration[s]": [5, None, 7],
    "binary": [b"\xff", None, b""],
    "large_string": ["a", None, ""],
}


def test_parquet_keeps_every_type_and_every_null(tmp_path):
    columns = {name: pa.array(values, pa.type_for_alias(name)) for name, values in TYPES.items()}
    columns |= {
        "text": pa.array(["a", "b", "c"]),
        "list": pa.array([[1], None, []]),
        "struct": pa.array([{"a": 1}, None, {"a": None}]),
        "decimal": pa.array([None, 1, 2], pa.decimal128(9, 2)),
    }
    parquet.write_table(pa.table(columns), tmp_path / "in.parquet")
    before = parquet.read_table(tmp_path / "in.parquet")
    after = parquet.read_table(written(tmp_path / "in.parquet", "out.parquet"))
    assert after.select(before.schema.names).equals(before)


def test_an_empty_parquet_file_keeps_its_columns(tmp_path):
    parquet.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "in.parquet")
    assert parquet.read_table(written(tmp_path / "in.parquet", "out.parquet")).schema.names == [
        "text",
        "said",
        "p",
    ]


def test_what_one_format_cannot_hold_is_told_with_another_that_can(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a", "n": 1}\n{"text": "b", "n": "x"}\n')
    with pytest.raises(InputError, match="column `n` has values of several types") as told:
        written(tmp_path / "in.jsonl", "out.parquet")
    assert "answers.jsonl" in told.value.hint
    (tmp_path / "in.tsv").write_text("text\na\nb\n")
    source = read(str(tmp_path / "in.tsv"), labelled=False, keep_rows=True, quoting=False)
    rows = next(source.with_rows())
    file = row_stream(io.StringIO(), "tsv", source)
    with pytest.raises(InputError, match="without quotes"):
        file.write(rows, {"said": ["a\tb", "c"]})
