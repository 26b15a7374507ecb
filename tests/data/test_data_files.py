import errno
import gc
import gzip
import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from unbatched import pairs, read_pairs

from pairs import together
from textodds.data import files, read
from textodds.errors import BadFile, InputError

CSV = "text,label\nhello,ham\n"
JSONL = '{"text": "hello", "label": "ham"}\n'
ROW = [("hello", "ham")]


def test_a_path_can_be_a_str_or_a_path(tmp_path):
    (tmp_path / "mail.jsonl").write_text(JSONL)
    assert read_pairs("mail.jsonl") == read_pairs(Path("mail.jsonl")) == ROW


def test_a_missing_file_is_told_with_near_names_in_its_folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mails.csv").write_text(CSV)
    with pytest.raises(BadFile, match=r"no file at `data/mail\.csv`") as caught:
        read("data/mail.csv")
    assert caught.value.hint == "did you mean `data/mails.csv`?"


def test_a_missing_folder_is_told():
    with pytest.raises(BadFile, match=r"no file at `nowhere/mail\.csv`") as caught:
        read("nowhere/mail.csv")
    assert caught.value.hint == "there is no folder `nowhere`"


def test_a_text_given_for_a_path_is_told_what_to_do():
    with pytest.raises(BadFile) as caught:
        read("win a free phone now")
    assert "put them in a list" in caught.value.hint
    with pytest.raises(BadFile, match="no file at `win win") as caught:
        read("win " * 5000)
    assert len(str(caught.value)) < 500


def test_a_glob_gives_its_files_in_sorted_order(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.jsonl").write_text(JSONL.replace("hello", name))
    source = read("*.jsonl")
    assert source.description == "3 files"
    assert [text for text, _ in pairs(source)] == ["a", "b", "c"]
    assert source.size == 3 * len(JSONL) - 12
    assert source.bytes_read == source.size


def test_a_glob_enters_folders_with_two_stars(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "mail.jsonl").write_text(JSONL)
    assert read_pairs(str(tmp_path / "**" / "*.jsonl")) == ROW


def test_a_glob_that_matches_nothing_is_told(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(BadFile, match=r"no file matches `\*\.csv`"):
        read("*.csv")


def test_a_file_whose_name_looks_like_a_glob_is_a_file(tmp_path):
    (tmp_path / "mail[1].jsonl").write_text(JSONL)
    assert read_pairs("mail[1].jsonl") == ROW


def test_several_path_objects_are_several_files_each_in_its_format(tmp_path):
    (tmp_path / "a.jsonl").write_text(JSONL)
    (tmp_path / "b.ndjson").write_bytes(gzip.compress(JSONL.encode()))
    source = read([Path("a.jsonl"), Path("b.ndjson")])
    assert (source.description, pairs(source)) == ("2 files", ROW * 2)
    assert read_pairs(tmp_path.glob("*.*json*")) == ROW * 2


def test_a_list_of_str_is_a_list_of_texts(tmp_path):
    (tmp_path / "a.jsonl").write_text(JSONL)
    assert read_pairs(["a.jsonl"], ["x"]) == [("a.jsonl", "x")]


def test_paths_and_texts_do_not_mix():
    with pytest.raises(InputError, match="holds 'a text', which is not a path object"):
        read([Path("a.jsonl"), "a text"])


def test_gzip_is_known_by_its_bytes_and_not_by_its_name(tmp_path):
    (tmp_path / "packed.jsonl").write_bytes(gzip.compress(JSONL.encode()))
    (tmp_path / "plain.jsonl.gz").write_text(JSONL)
    assert read_pairs("packed.jsonl") == read_pairs("plain.jsonl.gz") == ROW


def test_gzip_of_several_members_is_read_to_its_end(tmp_path):
    (tmp_path / "mail.jsonl").write_bytes(gzip.compress(JSONL.encode()) * 3)
    assert read_pairs("mail.jsonl") == ROW * 3


def test_a_folder_where_a_file_is_wanted_is_told(tmp_path):
    (tmp_path / "mail").mkdir()
    with pytest.raises(BadFile, match="`mail` is a folder, not a file") as caught:
        read("mail", format="csv")
    assert "mail/*.csv" in caught.value.hint
    with pytest.raises(BadFile, match="is a folder"):
        read([Path("mail"), Path("mail")])


def test_a_file_where_a_folder_is_wanted_is_told(tmp_path):
    (tmp_path / "mail.csv").write_text(CSV)
    with pytest.raises(BadFile, match=r"`mail\.csv` is a file, not a folder"):
        read("mail.csv", format="folder")


@together
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "`mail.csv` may not be read: permission denied"),
        (IsADirectoryError(errno.EISDIR, "Is a directory"), "`mail.csv` is a folder, not a file"),
        (FileNotFoundError(errno.ENOENT, "No such file"), "no file at `mail.csv`"),
        (OSError(errno.EIO, "Input/output error"), "`mail.csv` cannot be read: Input/output error"),
    ],
)
def test_errors_of_the_operating_system_name_the_file(error, message):
    with pytest.raises(BadFile) as caught, files.trouble(files.named("mail.csv")):
        raise error
    assert caught.value.problem == message
    assert caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path):
    (tmp_path / "mail.jsonl").write_text(JSONL)
    (tmp_path / "mail.jsonl").chmod(0)
    with pytest.raises(BadFile, match="permission denied"):
        read_pairs("mail.jsonl")


def test_a_file_that_vanishes_after_it_was_found_is_told(tmp_path):
    (tmp_path / "mail.jsonl").write_text(JSONL)
    source = read("mail.jsonl")
    (tmp_path / "mail.jsonl").unlink()
    with pytest.raises(BadFile, match=r"no file at `mail\.jsonl`"):
        pairs(source)


@pytest.mark.parametrize(("name", "near"), [("cvs", "csv"), ("json", "jsonl"), ("parket", "parquet")])
def test_an_unknown_format_is_answered_with_its_near_miss(name, near):
    with pytest.raises(InputError, match=f"unknown format `{name}`; did you mean `{near}`") as caught:
        read("mail.csv", format=name)
    assert "folder, database" in caught.value.hint


@together
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.CSV.gz", "csv"),
        ("a.tsv", "tsv"),
        ("a.jsonl.GZ", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.duckdb", "database"),
        ("a.sqlite3", "database"),
        ("a.txt", None),
        ("a", None),
        ("csv", None),
        ("b.csv/a", None),
    ],
)
def test_the_name_of_a_file_tells_its_format(name, expected):
    assert files.format_of_name(name) == expected


@pytest.mark.parametrize(
    ("content", "labelled", "expected"),
    [
        (b'{"text": "a"}\n', True, "jsonl"),
        (b'\xef\xbb\xbf \n{"text": "a"}\n', True, "jsonl"),
        (b'{"text": "a"}\n', False, "jsonl"),
        (b'{"text": "' + b"a" * 100_000, True, "jsonl"),
        (b"{so} it goes\n", False, "lines"),
        (b"__label__x a\n", True, "fasttext"),
        (b"__label__x a\n", False, "fasttext"),
        (b"text,label\na,b\n", True, "csv"),
        (b"text\tlabel\na\tb\n", True, "csv"),
        (b"text,label\na,b\n", False, "lines"),
        (b"[1] in the beginning\n", False, "lines"),
        (b"PAR1...", True, "parquet"),
        (b"SQLite format 3\x00...", True, "database"),
        (b"........DUCK....", True, "database"),
        (b"", True, "csv"),
        (b"", False, "lines"),
    ],
)
def test_the_first_bytes_of_a_file_tell_its_format(tmp_path, content, labelled, expected):
    for packed in (content, gzip.compress(content)):
        (tmp_path / "data").write_bytes(packed)
        assert files.format_of_content(files.named("data"), tabular=labelled) == expected


def test_a_file_that_does_not_show_its_format_is_told_with_its_first_line(tmp_path):
    (tmp_path / "mail.txt").write_text("just some words\n")
    with pytest.raises(
        BadFile, match=r"cannot tell the format of `mail\.txt`; its first line is `just some words`"
    ) as caught:
        read("mail.txt")
    assert "--format" in caught.value.hint


def test_one_json_list_is_read_whatever_its_name(tmp_path):
    for name in ("mail.json", "mail.jsonl", "mail.txt", "mail"):
        (tmp_path / name).write_text('[{"text": "a", "label": "x"}]')
        assert read_pairs(name) == [("a", "x")]
    assert read_pairs(None, query="SELECT text, label FROM read_json('mail.json')") == [("a", "x")]


def test_plain_lines_have_no_labels(tmp_path):
    (tmp_path / "mail.txt").write_text("one\n")
    with pytest.raises(InputError, match="read as plain lines, which have no labels"):
        read("mail.txt", format="lines")


def test_options_that_a_format_could_only_ignore_are_errors(tmp_path):
    (tmp_path / "mail.jsonl").write_text(JSONL)
    (tmp_path / "mail.txt").write_text("__label__x a\n")
    with pytest.raises(
        InputError, match="`header` is for CSV, TSV and Excel, and the source is in the format jsonl"
    ):
        read("mail.jsonl", header=False)
    with pytest.raises(InputError, match="`quoting` is for CSV and TSV"):
        read("mail.txt", quoting=False)
    with pytest.raises(
        InputError, match=r"`text` names a column, but `mail\.txt`, read as fasttext, has no columns"
    ):
        read("mail.txt", text="body")
    with pytest.raises(InputError, match="`labels` does not apply: the source is a file"):
        read("mail.jsonl", ["x"])


def test_a_named_pipe_is_read_once_where_its_format_is_known_and_copied_where_not(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed():
        pipe.write_text(JSONL)

    for options, replayable in (({"format": "jsonl"}, False), ({}, True)):
        writer = threading.Thread(target=feed)
        writer.start()
        source = read(pipe, **options)
        assert (source.replayable, source.size) == (replayable, None)
        assert pairs(source) == ROW
        writer.join()
        if replayable:
            assert pairs(source) == ROW


@pytest.mark.slow
def test_the_copy_of_a_pipe_leaves_nothing_behind_whenever_it_ends(tmp_path, monkeypatch):
    """On Linux it has no name from the first byte on; elsewhere it is removed with its source."""
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=[JSONL])
    writer.start()
    source = read("pipe")
    assert pairs(source) == ROW
    writer.join()
    assert pairs(source) == ROW  # of the copy
    assert len(list(room.iterdir())) == (0 if sys.platform == "linux" else 1)
    del source
    gc.collect()
    assert list(room.iterdir()) == []


def test_a_pipe_does_not_go_with_other_files(tmp_path):
    (tmp_path / "mail.jsonl").write_text(JSONL)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="a pipe cannot be read together with other files"):
        read([Path("mail.jsonl"), Path("pipe")])
