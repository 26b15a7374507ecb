import base64
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from unbatched import pairs, read_pairs, rows

from textodds.data import parquet as reader
from textodds.data import read
from textodds.data.files import NAMELESS
from textodds.errors import BadFile, BadRow, InputError, MissingColumn


@pytest.fixture
def mail(tmp_path):
    return tmp_path / "mail.parquet"


def write(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)
    return path


def test_a_parquet_file_gives_its_rows_in_order(mail):
    write(mail, {"id": [1, 2, 3], "label": ["x", "y", "x"], "text": ["a", "", "c"]}, row_group_size=2)
    assert read_pairs(mail) == [("a", "x"), ("", "y"), ("c", "x")]


def test_labels_of_any_type_become_text_and_weights_numbers(mail):
    write(mail, {"text": ["a", "b"], "label": [3, 4], "w": [1, 2]})
    assert rows(read(mail, weight="w")) == [("a", "3", 1.0), ("b", "4", 2.0)]
    write(mail, {"text": ["a", "b"], "label": [True, False]})
    assert read_pairs(mail) == [("a", "true"), ("b", "false")]
    write(mail, {"text": ["a", "b"], "label": [1.0, 0.5]})
    assert read_pairs(mail) == [("a", "1"), ("b", "0.5")]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"text": ["a", None], "label": ["x", "y"]}, "text is null"),
        ({"text": ["a", "b"], "label": ["x", None]}, "label is empty"),
        ({"text": ["a", "b"], "label": ["x", ""]}, "label is empty"),
        ({"text": ["a", "b"], "label": [1.0, float("nan")]}, "label is empty"),
        ({"text": [b"a", b"b\xff"], "label": ["x", "y"]}, "invalid UTF-8 at byte 1 of the text"),
    ],
)
def test_a_bad_row_is_named_by_its_number(mail, columns, reason):
    write(mail, columns)
    with pytest.raises(BadRow, match=rf"mail\.parquet, row 2: {reason}"):
        read_pairs(mail)


def test_a_string_that_is_not_utf8_is_a_bad_row_and_not_the_end_of_the_file(mail):
    raw = pa.array([b"fine", b"ab\xff", b"good"])
    broken = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])
    write(mail, {"text": broken, "label": ["x", "y", "z"]})
    source = read(mail, bad_rows="skip")
    assert pairs(source) == [("fine", "x"), ("good", "z")]
    assert source.rejects.reasons == {"invalid UTF-8 at byte 2 of the text": 1}


def test_row_numbers_go_on_across_row_groups_and_batches(mail, monkeypatch):
    monkeypatch.setattr(reader, "BATCH_ROWS", 2)
    write(mail, {"text": ["a"] * 7 + [None], "label": ["x"] * 8}, row_group_size=3)
    with pytest.raises(BadRow, match="row 8"):
        read_pairs(mail)


def test_a_text_column_of_numbers_is_told(mail):
    write(mail, {"text": [1], "label": ["x"]})
    with pytest.raises(InputError, match="the text column holds int64, not text"):
        read_pairs(mail)


def test_a_label_column_of_lists_is_told(mail):
    write(mail, {"text": ["a"], "label": [["x"]]})
    with pytest.raises(InputError, match="the label column holds list<"):
        read_pairs(mail)


def test_a_missing_column_lists_what_is_there(mail):
    write(mail, {"a": ["x"], "b": ["y"]})
    with pytest.raises(MissingColumn, match="its columns are `a`, `b`"):
        read_pairs(mail)


def test_a_table_without_rows_and_an_empty_file_give_no_batch(mail):
    write(mail, {"text": pa.array([], pa.string()), "label": pa.array([], pa.string())})
    assert list(read(mail)) == []
    mail.write_bytes(b"")
    assert list(read(mail)) == []


def test_a_gzipped_file_is_unpacked_to_a_temporary_file_that_is_removed(mail, tmp_path, monkeypatch):
    write(mail, {"text": ["a"], "label": ["x"]})
    mail.write_bytes(gzip.compress(mail.read_bytes()))
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    stream = iter(read(mail))
    assert pairs([next(stream)]) == [("a", "x")]
    assert len(list(room.iterdir())) == (0 if Path(NAMELESS).is_dir() else 1)  # Linux needs no name
    assert list(stream) == []
    assert list(room.iterdir()) == []


def test_a_gzipped_file_that_is_cut_off_is_told_and_leaves_nothing_behind(mail, tmp_path, monkeypatch):
    write(mail, {"text": ["a"], "label": ["x"]})
    mail.write_bytes(gzip.compress(mail.read_bytes())[:-20])
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    with pytest.raises(
        BadFile, match=r"mail\.parquet` ends in the middle of its gzip stream; it was cut off"
    ):
        read_pairs(mail)
    assert list(room.iterdir()) == []


def test_what_is_not_parquet_is_told(mail):
    mail.write_text("text,label\n")
    with pytest.raises(BadFile, match=r"mail\.parquet` cannot be read as Parquet"):
        read_pairs(mail)


def test_long_documents_make_small_batches(mail):
    write(mail, {"text": [f"{n} " * (1 << 19) for n in range(20)], "label": ["x"] * 20}, use_dictionary=False)
    batches = list(read(mail))
    assert len(batches) >= 5
    assert sum(map(len, batches)) == 20


texts = st.text(st.characters(codec="utf-8"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(texts, texts.filter(bool)), min_size=1),
    st.integers(1, 10),
    st.integers(1, 10),
    st.sampled_from([pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())]),
)
def test_any_text_reads_back_from_row_groups_and_in_batches_of_any_size(mail, documents, group, n_rows, kind):
    columns = [pa.array(column, pa.string()).cast(kind) for column in zip(*documents, strict=True)]
    write(mail, dict(zip(("text", "label"), columns, strict=True)), row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BATCH_ROWS", n_rows)
        assert read_pairs(mail) == documents


def encrypted(path, column, **how):
    """A file in which one column of three can be read only by who has the key."""
    from pyarrow.parquet import encryption

    class Keys(encryption.KmsClient):
        def wrap_key(self, key, name):
            return base64.b64encode(key)

        def unwrap_key(self, key, name):
            return base64.b64decode(key)

    table = pa.table({"text": ["a", "b"], "label": ["x", "y"], "secret": ["s", "t"]})
    keys = {"footer_key": "foot", "column_keys": {"key": [column]}}
    factory = encryption.CryptoFactory(lambda _: Keys())
    settings = encryption.EncryptionConfiguration(**keys, **how)
    secured = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
    with parquet.ParquetWriter(path, table.schema, encryption_properties=secured) as writer:
        writer.write_table(table)


def test_a_column_that_is_encrypted_is_an_error_only_where_it_is_wanted(tmp_path):
    path = tmp_path / "mail.parquet"
    encrypted(path, "secret", plaintext_footer=True)
    assert [batch.label_list() for batch in read(path)] == [["x", "y"]]
    for column, how in (("text", {"plaintext_footer": True}), ("secret", {"plaintext_footer": False})):
        encrypted(path, column, **how)
        with pytest.raises(BadFile, match=r"mail\.parquet"):
            list(read(path))


def test_damaged_bytes_are_an_error_that_names_the_file_or_rows_that_are_read(tmp_path):
    """In a process of its own, which must not be ended by any of them."""
    rows = 200
    whole = {"text": [f"text {i}" for i in range(rows)], "label": ["a", "b"] * (rows // 2)}
    parquet.write_table(pa.table(whole), tmp_path / "whole.parquet", row_group_size=50)
    program = """
import random, sys
from pathlib import Path
import textodds
from textodds.errors import TextoddsError
whole, chance = Path("whole.parquet").read_bytes(), random.Random(0)
for i in range(300):
    damaged = bytearray(whole)
    for _ in range(chance.choice([1, 3, 20])):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    Path("damaged.parquet").write_bytes(damaged[: chance.randrange(len(damaged))] if i % 5 == 0 else damaged)
    try:
        for _ in textodds.read("damaged.parquet", bad_rows="skip", rejects_path="rejects"):
            pass
    except TextoddsError as error:
        assert "damaged.parquet" in error.problem, error
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_column_that_is_not_used_is_not_read_and_long_values_make_small_batches(tmp_path):
    """A dictionary of one long value, a few bytes a row in the file, would be gigabytes in memory."""
    n = 20_000
    long = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["x" * 50_000]))
    table = pa.table({"size": list(range(n)), "label": ["a", "b"] * (n // 2), "long": long})
    parquet.write_table(table, tmp_path / "wide.parquet", store_schema=False)
    before = pa.total_allocated_bytes()
    most = 0
    for columns in ({"long": "ignore"}, {"long": "text"}):
        for batch in read(tmp_path / "wide.parquet", columns=columns):
            most = max(most, pa.total_allocated_bytes() - before)
            if columns["long"] == "text":
                assert len(batch) < 1000
                break
    assert most < 200 << 20
