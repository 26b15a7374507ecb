"""Several columns of texts, joined to one or each by itself, and the columns that a source remembers."""

import json

import pyarrow
import pytest
import unbatched
from tabled import FORMS, READERS, read_table, rows
from unbatched import pairs, read_pairs

from pairs import together
from textodds.data import Column, Schema, read
from textodds.errors import BadRow, InputError, MissingColumn

MAIL = {
    "id": [1, 2, 3],
    "Subject": ["win a phone", "see you", "offer"],
    "body": ["call now", "at six", "free, or nearly\nfree"],
    "kind": ["spam", "ham", "spam"],
    "cost": [1, 2, 0.5],
}
JOINED = ["win a phone\ncall now", "see you\nat six", "offer\nfree, or nearly\nfree"]
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
every_reader = pytest.mark.parametrize("form", [FORMS[name] for name in READERS], ids=READERS)


@every_reader
def test_columns_that_are_joined_are_one_text(form, tmp_path):
    source = read(form(tmp_path, MAIL), text="subject+body", label="kind", weight="cost")
    assert source.is_of_texts
    assert unbatched.rows(source) == list(zip(JOINED, MAIL["kind"], MAIL["cost"], strict=True))
    assert source.schema == Schema((Column("Subject+body", "text", "given"),), "kind")


@every_form
def test_several_columns_of_texts_are_fields_of_one(form, tmp_path):
    source = read(form(tmp_path, MAIL), text=["subject", "body"], label="kind", weight="cost")
    assert source.is_of_texts
    texts = [text.replace("\n", "\x1f", 1) for text in JOINED]
    assert unbatched.rows(source) == list(zip(texts, MAIL["kind"], MAIL["cost"], strict=True))
    assert source.schema == Schema(
        (Column("Subject", "text", "given"), Column("body", "text", "given")), "kind"
    )


@every_reader
def test_the_columns_of_an_earlier_source_are_read_again(form, tmp_path):
    earlier = read(MAIL, text="subject+body", label="kind").schema
    again = read(form(tmp_path, {**MAIL, "text": ["other"] * 3, "label": ["other"] * 3}), like=earlier)
    assert pairs(again) == list(zip(JOINED, MAIL["kind"], strict=True))
    (tmp_path / "others").mkdir()
    others = read(form(tmp_path / "others", {"text": ["a"], "label": ["b"]}), like=earlier)
    with pytest.raises(
        MissingColumn, match="has no column `Subject`; its columns are `text`, `label`"
    ) as told:
        list(others)
    assert "trained with it; name the column to read: `--text text` (text=)" in told.value.hint


@every_reader
@pytest.mark.parametrize("text", ["subject+boddy", ["subject", "boddy"]])
def test_a_column_that_is_missing_is_named_among_several(form, text, tmp_path):
    with pytest.raises(MissingColumn, match="has no boddy column; its columns are `id`, `Subject`") as told:
        list(read(form(tmp_path, MAIL), text=text, label="kind"))
    assert "did you mean `body`?" in told.value.hint
    assert "--text COLUMN" in told.value.hint


@pytest.mark.parametrize(
    "form", ["jsonl", "parquet", "duckdb", "sqlite", "a list of dicts", "pandas DataFrame"]
)
def test_a_null_among_joined_columns_is_empty_and_nothing_but_nulls_is_a_bad_row(form, tmp_path):
    columns = {"a": ["x", None, None, ""], "b": [None, "y", None, "z"], "label": ["1", "2", "3", "4"]}
    source = read(FORMS[form](tmp_path, columns), text="a+b", bad_rows="skip", rejects_path="bad.jsonl")
    assert pairs(source) == [("x\n", "1"), ("\ny", "2"), ("\nz", "4")]
    assert source.rejects.reasons == {"text is null": 1}
    assert json.loads((tmp_path / "bad.jsonl").read_text())["line"] == 3


def test_a_missing_text_among_several_is_empty():
    columns = {"a": ["x", None], "b": [None, "y"], "label": ["1", "2"]}
    assert read_pairs(columns, text=["a", "b"]) == [("x\x1f", "1"), ("\x1fy", "2")]


def test_what_parts_columns_is_a_blank_within_them():
    columns = {"a": ["x\x1fy"], "b": ["z"], "label": ["1"]}
    for source in (columns, pyarrow.table(columns)):
        assert read_pairs(source, text=["a", "b"]) == [("x y\x1fz", "1")]


def test_a_column_called_like_a_join_is_that_column(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a+b,label\nx,y,both,1\n")
    assert read_pairs("t.csv", text="a+b") == [("both", "1")]
    assert [row["C++"] for row in rows({"C++": ["long"]}, labelled=False, columns={"C++": "text"})] == [
        "long"
    ]


def test_a_text_that_is_not_utf8_is_a_bad_row_of_the_join(tmp_path):
    lines = [b'{"a": "x", "b": "y", "label": "1"}', b'{"a": "\xff", "b": "y", "label": "2"}']
    (tmp_path / "t.jsonl").write_bytes(b"\n".join(lines))
    with pytest.raises(BadRow, match="line 2"):
        list(read("t.jsonl", text="a+b"))


@together
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ([], r"`text` is \[\], not the name of a column"),
        ([3], r"`text` is \[3\], not the name of a column"),
        (["a", "a"], "column `a` of a dict of 1 row is named twice as text"),
        ("a+a", "column `a` of a dict of 1 row is named twice as text"),
        ("a+label", "text and label are both column `label`"),
    ],
)
def test_names_of_texts_that_make_no_sense_are_told(text, message):
    with pytest.raises(InputError, match=message):
        list(read({"a": ["x"], "label": ["1"]}, text=text, label="label"))


def test_texts_without_columns_take_no_names():
    for text in ("a+b", ["a", "b"]):
        with pytest.raises(InputError, match="`text` names a column, but a list of 1 text has no columns"):
            read(["x"], ["1"], text=text)


@every_form
def test_a_source_of_texts_knows_its_columns_before_it_is_read_and_loses_no_row(form, tmp_path):
    columns = {"id": [1, 2], "Body": ["x", "y"], "Topic": ["1", "2"]}
    source = read(form(tmp_path, columns))
    assert source.schema == Schema((Column("Body", "text", "by its name"),), "Topic")
    assert [label for batch in source for label in batch.label_list()] == ["1", "2"]
    assert source.schema.label == "Topic"


@pytest.mark.parametrize("labels", [["1", "2"], None])
def test_texts_without_names_have_an_empty_schema(labels, tmp_path):
    assert read(["x", "y"], labels, labelled=labels is not None).schema == Schema(())
    (tmp_path / "t.txt").write_text("x\ny\n")
    source = read("t.txt", format="lines", labelled=False)
    assert source.schema == Schema(())
    assert sum(map(len, source)) == 2
    once = read(iter([("x", "1")]))
    assert sum(map(len, once)) == 1
    assert once.schema == Schema(())


def test_a_table_given_for_texts_is_told():
    (batch,) = read_table({"a": [1.5], "b": ["x"]}, ["1"], columns={"b": "text"})
    with pytest.raises(InputError, match="expected texts, got rows of 2 columns: a, b"):
        _ = batch.texts


def test_a_key_that_the_first_object_lacks_is_empty_in_a_join():
    items = [{"a": "x", "label": "1"}, {"a": "y", "b": "z", "label": "2"}]
    assert read_pairs(items, text="a+b") == [("x\n", "1"), ("y\nz", "2")]
    assert read_pairs(items, text=["a", "b"]) == [("x\x1f", "1"), ("y\x1fz", "2")]
