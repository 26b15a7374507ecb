import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from tabled import FORMS, READERS, read_table, rows, write_csv, write_sqlite

from pairs import in_turn, together
from textodds.data import Column, Schema, kinds, lines
from textodds.data import source as sources
from textodds.errors import BadFile, BadRow, InputError

SCHEMA = Schema((Column("age", "number", "given"), Column("c", "category", "given")), "label")
DELIMITED = [form for name, form in FORMS.items() if name.startswith(("csv", "tsv"))]
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
every_reader = pytest.mark.parametrize("form", [FORMS[name] for name in READERS], ids=READERS)


def as_array(columns):
    return np.array([*columns.values()]).T


def kept(source):
    return [json.loads(line) for line in source.rejects.path.read_text().splitlines()]


@in_turn(2)
@every_form
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("abc", "`age` is `abc`, not a number"),
        ("inf", "`age` is infinite"),
        ("-Infinity", "`age` is infinite"),
        ("1e999", "`age` is infinite"),
        ("1e101", r"`age` is 1e\+101; numbers go up to 1e\+100 in size"),
        ("0x10", "`age` is `0x10`, not a number"),
        ("1,5", "`age` is `1,5`, not a number"),
        ("NAN", "`age` is `NAN`, not a number"),
        ("x" * 100, "`age` is `x{40}…`, not a number"),
    ],
)
def test_a_value_that_is_no_number_is_a_bad_row(form, value, reason, tmp_path):
    columns = {"age": ["1", "2.5", value, "?"], "c": ["u", "v", "u", "v"], "label": ["x", "y", "x", "y"]}
    with pytest.raises(BadRow, match=f"(line|row) [34]: {reason}\n") as caught:
        rows(form(tmp_path, columns), schema=SCHEMA)
    assert caught.value.line == (4 if form in DELIMITED else 3)
    assert "--bad-rows skip" in caught.value.hint


@together
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict, as_array])
@pytest.mark.parametrize(
    ("value", "reason"), [(np.inf, "infinite"), (-np.inf, "infinite"), (-1e200, "-1e[+]200;")]
)
def test_a_typed_number_that_is_infinite_or_too_large_is_a_bad_row(frame, value, reason):
    table = frame({"1": [1.5, 2.5, value, np.nan]})
    with pytest.raises(BadRow, match=f"row 3: `1` is {reason}"):
        rows(table, labelled=False)
    source = read_table(table, labelled=False, bad_rows="skip")
    assert rows(source) == [{"1": 1.5}, {"1": 2.5}, {"1": None}]


@every_reader
def test_bad_rows_are_skipped_counted_and_written_down(form, tmp_path):
    columns = {
        "age": ["1", "abc", "2.5", "3", None],
        "c": ["u", "v", "u", "v", None],
        "label": ["x", "y", None, "y", "x"],
    }
    source = read_table(form(tmp_path, columns), schema=SCHEMA, bad_rows="skip", rejects_path="bad.jsonl")
    expected = [
        {"age": 1.0, "c": "u", "LABEL": "x"},
        {"age": 3.0, "c": "v", "LABEL": "y"},
        {"age": None, "c": None, "LABEL": "x"},
    ]
    assert rows(source) == expected
    assert source.rejects.reasons == {"`age` is `abc`, not a number": 1, "label is empty": 1}
    first, second = kept(source)
    assert second["line"] == first["line"] + 1
    assert json.loads(first["row"]) == {"age": "abc", "c": "v", "label": "y"}
    if source.replayable:
        assert rows(source) == expected
        assert source.rejects.count == len(kept(source)) == 2


def test_the_hint_for_a_column_that_seemed_to_be_numbers_says_how_to_read_it(monkeypatch, tmp_path):
    for module in (lines, kinds, sources):
        monkeypatch.setattr(module, "BATCH_ROWS", 3)
    path = write_csv(tmp_path / "t.csv", {"age": [1, 2, 3, "abc"], "label": ["x", "y", "x", "y"]})
    with pytest.raises(BadRow, match=r"t\.csv, line 5: `age` is `abc`, not a number") as caught:
        rows(path)
    assert "`--columns age=category` (columns={'age': 'category'})" in caught.value.hint
    assert "--bad-rows skip" in caught.value.hint
    assert (caught.value.code, caught.value.line) == ("input.bad-row", 5)
    with pytest.raises(BadRow, match="`age` is `abc`, not a number") as caught:
        rows(path, columns={"age": "number"})
    assert "--columns" not in caught.value.hint


LINES = (
    b"age,note,label\r\n"
    b'1,"two\nlines",x\n'  # line 2
    b"\n"
    b'2,"three\r\n\r\nlines ""quoted""",y\n'  # line 5
    b"abc,fine,x\n"  # line 8
    b"3,fine\n"  # line 9
    b'4,"fine"d,x\n'  # line 10
    b"5,fine,\n"  # line 11
    b"6,fine,y\n"  # line 12
    b'7,"never closed,x\n'  # line 13
    b"8,fine,x"  # line 14
)
LINE_REASONS = [
    (8, "`age` is `abc`, not a number"),
    (9, "2 fields where the header has 3"),
    (10, "text behind a closing quote"),
    (11, "label is empty"),
    (13, "a quote is opened and never closed"),
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_lines_are_named_exactly_whatever_was_quoted_before_them(tmp_path, monkeypatch, pack, batch_rows):
    monkeypatch.setattr(lines, "BATCH_ROWS", batch_rows)
    (tmp_path / "t.csv").write_bytes(pack(LINES))
    options = {"columns": {"age": "number", "note": "text"}}
    source = read_table("t.csv", bad_rows="skip", rejects_path="bad.jsonl", **options)
    assert [row["age"] for row in rows(source)] == [1.0, 2.0, 6.0, 8.0]
    assert [row["note"] for row in rows(source)][:2] == ["two\nlines", 'three\r\n\r\nlines "quoted"']
    assert sorted((row["line"], row["reason"]) for row in kept(source)) == LINE_REASONS
    assert {row["file"] for row in kept(source)} == {"t.csv"}
    with pytest.raises(BadRow, match=r"t\.csv, line 8: `age` is `abc`"):
        rows("t.csv", **options)


def test_bytes_that_are_not_utf8_are_a_bad_row_in_a_column_that_is_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b,label\n1.5,\xff,x\n2.5,\xe2\x82\xac,y\n")
    with pytest.raises(BadRow, match=r"t\.csv, line 2: invalid UTF-8 at byte 0 of the column `b`"):
        rows("t.csv")
    schema = Schema((Column("a", "number", "given"),))
    assert [row["a"] for row in rows("t.csv", schema=schema)] == [1.5, 2.5]


def test_strings_of_parquet_and_sqlite_that_are_not_utf8_are_bad_rows(tmp_path):
    raw = pa.array([b"fine", b"ab\xff", b"good"])
    broken = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])
    parquet.write_table(pa.table({"c": broken, "n": [1.5, 2.5, 3.5]}), tmp_path / "t.parquet")
    write_sqlite(tmp_path / "t.sqlite", {"c": ["fine", "?", "good"], "n": [1.5, 2.5, 3.5]})
    import sqlite3

    connection = sqlite3.connect(tmp_path / "t.sqlite")
    connection.execute("UPDATE rows SET c = CAST(x'6162FF' AS TEXT) WHERE n = 2.5")
    connection.commit()
    connection.close()
    for path in ("t.parquet", "t.sqlite"):
        for kind in ("category", "text", None):
            options = {"labelled": False, "columns": {"c": kind} if kind else {}}
            with pytest.raises(BadRow, match="row 2: invalid UTF-8 at byte 2 of the column `c`"):
                rows(path, **options)
            assert [row["c"] for row in rows(read_table(path, bad_rows="skip", **options))] == [
                "fine",
                "good",
            ]


def test_a_row_of_json_that_cannot_be_read_is_named_by_its_line(tmp_path):
    (tmp_path / "t.jsonl").write_bytes(
        b'\n{"age": 1, "c": "u", "label": "x"}\n{"age": 2, "c": [1], "label": "y"}\nnonsense\n[1]\n'
        b'{"age": 3, "c": "\\ud800", "label": "y"}\n{"age": NaN, "c": "\xff"}\n'
        b'{"age": Infinity, "label": "x"}\n'
        b'{"age": null, "c": "v", "label": 3}\n'
    )
    source = read_table("t.jsonl", schema=SCHEMA, bad_rows="skip", rejects_path="bad.jsonl")
    assert rows(source) == [{"age": 1.0, "c": "u", "LABEL": "x"}, {"age": None, "c": "v", "LABEL": "3"}]
    assert [(row["line"], row["reason"]) for row in kept(source)] == [
        (3, "column `c` is [1] (list), not text or a number"),
        (4, "not JSON: Expecting value at column 1"),
        (5, "a JSON list, not an object"),
        (6, "column `c` has half a surrogate pair (U+D800) at character 0"),
        (7, "invalid UTF-8 at byte 19 of the line"),
        (8, "`age` is infinite"),
    ]
    assert kept(source)[1]["row"] == "nonsense"


def test_rows_of_memory_that_are_not_like_the_first_are_bad():
    source = read_table([{"a": 1.5}, 3, {"a": 2.5}, None], labelled=False, bad_rows="skip")
    assert [row["a"] for row in rows(source)] == [1.5, 2.5]
    assert source.rejects.reasons == {
        "a int, where a dict is expected": 1,
        "a NoneType, where a dict is expected": 1,
    }
    source = read_table([(1.5, "u"), (2.5,), "ab", (3.5, "v")], labelled=False, bad_rows="skip")
    assert [row["1"] for row in rows(source)] == [1.5, 3.5]
    assert source.rejects.reasons == {
        "1 items, where 2 items are expected": 1,
        "a str, where 2 items are expected": 1,
    }


@in_turn(1)
@every_form
@pytest.mark.parametrize(
    ("weight", "shown"), [("-1", "-1"), ("abc", "abc"), ("1e99", "1e99"), ("NaN", "NaN")]
)
def test_a_weight_that_cannot_be_used_is_a_bad_row(form, weight, shown, tmp_path):
    columns = {"a": [1.5, 2.5, 3.5], "label": ["x", "y", "x"], "w": ["1", weight, " 0.5 "]}
    with pytest.raises(
        BadRow, match=f"(line|row) [23]: weight is `{shown}`; it must be a number from 0 to 2"
    ):
        rows(form(tmp_path, columns), weight="w")


@every_reader
def test_rows_with_bad_weights_are_skipped(form, tmp_path):
    columns = {"a": [1.5, 2.5, 3.5], "label": ["x", "y", "x"], "w": ["1", "abc", " 0.5 "]}
    source = read_table(form(tmp_path, columns), weight="w", bad_rows="skip")
    assert [row["WEIGHT"] for row in rows(source)] == [1.0, 0.5]


def test_a_weight_that_is_null_is_a_bad_row():
    for weights in ([1, None], ["1", None]):
        with pytest.raises(BadRow, match="row 2: weight is null"):
            rows({"a": [1.5, 2.5]}, weights=weights, labelled=False)


def test_of_several_things_wrong_with_a_row_the_first_column_is_named():
    columns = {"age": ["1", "x", "2"], "b": ["1.5", "y", "3"], "label": ["x", "", "y"]}
    schema = Schema((Column("age", "number", "given"), Column("b", "number", "given")))
    with pytest.raises(BadRow, match="row 2: `age` is `x`, not a number"):
        rows(columns, schema=schema)


def test_a_malformed_row_among_the_first_stops_the_run_and_not_the_finding_of_kinds(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1.5,x\n2.5\n3.5,y\n")
    source = read_table("t.csv")
    assert source.schema.names("number") == ["a"]
    stream = iter(source)
    assert len(next(stream)) == 1
    with pytest.raises(BadRow, match=r"t\.csv, line 3: 1 fields where the header has 2"):
        next(stream)
    (tmp_path / "bad.csv").write_text("a,label\n2.5\n3.5,y\n")
    with pytest.raises(BadRow, match=r"bad\.csv, line 2: 1 fields where the header has 2"):
        _ = read_table("bad.csv").schema
    source = read_table("t.csv", bad_rows="skip", rejects_path="bad.jsonl")
    assert source.schema.names("number") == ["a"]
    assert len(rows(source)) == 2
    assert source.rejects.count == len(kept(source)) == 1


def test_files_that_cannot_be_read_are_told_as_ever(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,label\n1,x\n" * 1000)[:-20])
    with pytest.raises(BadFile, match="ends in the middle of its gzip stream"):
        rows("t.csv.gz", bad_rows="skip")
    (tmp_path / "t.csv").write_bytes("a,label\n1,x\n".encode("utf-16"))
    with pytest.raises(BadFile, match="is in UTF-16"):
        rows("t.csv")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(BadFile, match="cannot be read as Parquet"):
        rows("t.parquet")
    (tmp_path / "t.duckdb").write_bytes(b"\0" * 8 + b"DUCK nonsense")
    with pytest.raises(InputError, match="cannot be read as a database"):
        rows("t.duckdb")
    with pytest.raises(InputError, match="would overwrite"):
        read_table("t.csv", bad_rows="skip", rejects_path="t.csv")
    with pytest.raises(InputError, match="the first bad row stops the run"):
        read_table("t.csv", rejects_path="bad.jsonl")
    with pytest.raises(InputError, match="unknown format `cvs`; did you mean `csv`"):
        read_table("t.csv", format="cvs")


@pytest.mark.slow
def test_memory_stays_bounded_whatever_the_size_of_the_table(tmp_path):
    """200 MB of CSV pass through a process that may not hold half of it."""
    import subprocess
    import sys

    row = ",".join(["12345.678"] * 19) + ",x\n"
    with (tmp_path / "t.csv").open("w") as file:
        file.write(",".join(f"c{n}" for n in range(19)) + ",label\n")
        for _ in range(100):
            file.write(row * 10_000)
    code = """
import resource
import pyarrow.compute
from textodds.data import read
list(read({"a": ["1.5", "x", "2"], "label": ["1", "2", "3"]}, columns={}))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert sum(len(batch) for batch in read("t.csv", columns={})) == 1_000_000
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 90_000, grown  # kilobytes
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    (tmp_path / "t.csv").unlink()
