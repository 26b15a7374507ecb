"""Several labels a row, read from every kind of source."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs import together
from textodds.data import read
from textodds.data.label_sets import labels_in, name_of
from textodds.errors import BadRow, InputError, Unsupported

TEXTS = ["no light", "hello", "who is it"]
LABELS = [["b", "a"], [], ["c"]]
SETS = [name_of(each) for each in LABELS]


def sets_of(source: object, **options: object) -> list[str]:
    opened = read(source, **options)
    assert opened.has_label_sets
    return [name for batch in opened for name in batch.label_list()]


def test_a_set_is_named_by_its_labels_sorted_and_once_each() -> None:
    assert name_of(["b", "a", "b"]) == "\x1ea\x1eb"
    assert labels_in(name_of([])) == ()
    assert labels_in(name_of(["b", "a"])) == ("a", "b")


@together
@pytest.mark.parametrize("kind", ["lists", "sets", "pairs", "records", "pandas", "arrow", "iterator"])
def test_lists_of_labels_in_memory_are_sets(kind: str) -> None:
    table = {"text": TEXTS, "labels": LABELS}
    source: object
    options: dict[str, object] = {}
    if kind in ("lists", "sets"):
        labels = LABELS if kind == "lists" else [set(each) for each in LABELS]
        opened = read(TEXTS, labels)
        assert opened.has_label_sets
        assert [name for batch in opened for name in batch.label_list()] == SETS
        return
    if kind == "pairs":
        source = list(zip(TEXTS, LABELS, strict=True))
    elif kind == "records":
        source = [dict(zip(table, row, strict=True)) for row in zip(TEXTS, LABELS, strict=True)]
    elif kind == "pandas":
        source = pd.DataFrame(table)
    elif kind == "arrow":
        source = pa.table(table)
    else:
        source = iter(zip(TEXTS, LABELS, strict=True))
    assert sets_of(source, **options) == SETS


def test_files_have_sets_of_labels(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"text": "no light", "labels": ["b", "a"]}\n{"text": "hello", "labels": []}\n'
                     '{"text": "who is it", "labels": ["c"]}\n')  # fmt: skip
    assert sets_of(str(lines)) == SETS
    parquet = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": TEXTS, "labels": LABELS}), parquet)
    assert sets_of(str(parquet)) == SETS
    separated = tmp_path / "a.csv"
    separated.write_text("text,labels\nno light,b|a\nhello,\nwho is it,c\n")
    assert sets_of(str(separated), label_separator="|") == SETS
    indicators = tmp_path / "b.csv"
    indicators.write_text("text,a,b,c\nno light,1,true,0\nhello,0,,no\nwho is it,0,0,1\n")
    assert sets_of(str(indicators), label=["a", "b", "c"]) == SETS
    fasttext = tmp_path / "a.txt"
    fasttext.write_text("__label__b __label__a no light\nhello\n__label__c who is it\n")
    assert sets_of(str(fasttext), format="fasttext") == SETS


def test_one_label_a_line_of_fasttext_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("__label__b no light\n__label__c who is it\n")
    opened = read(str(path))
    assert not opened.has_label_sets
    assert [name for batch in opened for name in batch.label_list()] == ["b", "c"]


def test_types_of_labels_in_lists_are_known() -> None:
    opened = read(["x", "y"], [[1, 2], [3]], several_labels=True)
    assert [name for batch in opened for name in batch.label_list()] == ["\x1e1\x1e2", "\x1e3"]
    assert opened.label_type.kind == "integer"


def test_what_is_read_otherwise_than_written_is_said() -> None:
    opened = read(TEXTS, ["a|a|b", "a||", "b"], label_separator="|", several_labels=True)
    assert [labels_in(name) for batch in opened for name in batch.label_list()] == [
        ("a", "b"),
        ("a",),
        ("b",),
    ]
    assert opened.label_notes == [
        "1 row has a label twice: it counts once",
        "1 row has an empty label beside others: it is left out",
    ]
    never = read(TEXTS, ["a", "b", "b"], label_separator="|", several_labels=True)
    list(never)
    assert never.label_notes == ["no row has the separator '|' between labels: each has one at most"]


def test_a_strange_indicator_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("text,a,b\nno light,1,maybe\n")
    with pytest.raises(BadRow, match=r"column `b` has `maybe`, where 1 says that the label is there"):
        list(read(str(path), label=["a", "b"], several_labels=True))


def test_a_record_separator_in_a_label_is_a_bad_row() -> None:
    with pytest.raises(BadRow, match=r"row 1: a label has a record separator"):
        list(read(["x"], [["a\x1eb"]], several_labels=True))


def test_a_separator_that_cannot_be_is_refused() -> None:
    for separator in ("", "  ", 3):
        with pytest.raises(InputError, match="cannot stand between labels"):
            read(TEXTS, ["a", "b", "c"], label_separator=separator)


def test_a_table_has_one_label_a_row() -> None:
    with pytest.raises(InputError, match="several labels a row are for texts"):
        read({"size": [1.0], "kind": ["a|b"]}, columns={}, label="kind", label_separator="|")


def test_whoever_takes_one_label_a_row_is_not_given_sets() -> None:
    with pytest.raises(Unsupported, match="may have several labels"):
        list(read(["x"], ["a|b"], label_separator="|"))
    with pytest.raises(BadRow, match=r"label is \['a', 'B'\] \(list\)"):
        list(read(["x"], [["a", "B"]]))
