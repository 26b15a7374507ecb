"""What is done with files that are not as they should be: nothing is lost, and nothing is unsaid."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import textodds
from pairs import together
from textodds.cli import main
from textodds.data import files
from textodds.data.batch import taken
from textodds.errors import BadFile, BadRow, InputError, MissingColumn, Unsupported

CSV = b"text,label\nfree prize,spam\nsee you,ham\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def texts(batch):
    return taken(batch.texts, list(range(len(batch))))


def rows(path, **options):
    source = textodds.read(path, **options)
    found = [pair for batch in source for pair in zip(texts(batch), batch.label_list(), strict=True)]
    return found, source.rejects


def test_one_stray_quote_costs_one_line_of_a_hundred_thousand():
    lines = ["text,label", *(f"text number {i},ham" for i in range(1000)), '"stray,spam']
    lines += [*(f"more {i},spam" for i in range(100_000)), 'a stray" one,ham', "last,ham"]
    Path("mail.csv").write_text("\n".join(lines) + "\n")
    found, rejects = rows("mail.csv", bad_rows="skip", rejects_path="bad.jsonl")
    assert len(found) == 101_002
    assert (rejects.count, dict(rejects.reasons)) == (1, {"a quote is opened and never closed": 1})
    note = json.loads(Path("bad.jsonl").read_text())
    assert (note["line"], note["row"]) == (1002, '"stray,spam')
    with pytest.raises(BadRow, match="line 1002: a quote is opened and never closed"):
        rows("mail.csv")


def test_rejected_lines_are_kept_to_the_last_byte():
    broken = '"' + "prose without end\n" * 10_000 + '"behind,ham'
    Path("mail.csv").write_text(f"text,label\n{broken}\nlast,ham\n")
    found, _ = rows("mail.csv", bad_rows="skip", rejects_path="bad.jsonl")
    note = json.loads(Path("bad.jsonl").read_text())
    assert found == [("last", "ham")]
    assert note["row"] == broken
    assert note["reason"] == "text behind a closing quote; 10,001 lines are left out".replace(",", "")


PACKED = {
    "mail.csv.gz": gzip.compress,
    "mail.csv.bz2": bz2.compress,
    "mail.csv.xz": lzma.compress,
    "mail.csv": bz2.compress,  # whatever it is called
}


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@together
@pytest.mark.parametrize("name", PACKED)
def test_packed_files_are_read(name):
    Path(name).write_bytes(PACKED[name](CSV))
    assert rows(name)[0] == [("free prize", "spam"), ("see you", "ham")]
    Path("mail.jsonl.xz").write_bytes(lzma.compress(b'{"text": "see you", "label": "ham"}\n'))
    assert rows("mail.jsonl.xz")[0] == [("see you", "ham")]


def test_an_archive_of_one_file_is_read_and_of_several_is_told():
    Path("mail.csv.zip").write_bytes(zipped(mail=CSV))
    assert len(rows("mail.csv.zip")[0]) == 2
    Path("mail.csv.zip").write_bytes(zipped(a=CSV, b=CSV))
    with pytest.raises(BadFile, match="zip archive of 2 files"):
        rows("mail.csv.zip")


def test_zstandard_is_read_or_what_is_missing_is_said(monkeypatch):
    zstandard = pytest.importorskip("zstandard")
    Path("mail.csv.zst").write_bytes(zstandard.compress(CSV))
    assert len(rows("mail.csv.zst")[0]) == 2
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(Unsupported, match="needs zstandard, which is not installed"):
        rows("mail.csv.zst")


@pytest.mark.parametrize("name", ["mail.csv.bz2", "mail.csv.xz", "mail.csv.zip"])
def test_packed_files_that_are_cut_off_or_damaged_are_errors(name):
    text = CSV + b"".join(b"text %d,ham\n" % i for i in range(5000))
    packed = zipped(mail=text) if name.endswith("zip") else PACKED[name](text)
    for damaged in (packed[: len(packed) // 2], packed[:50] + b"\0" * 20 + packed[70:]):
        Path(name).write_bytes(damaged)
        with pytest.raises(BadFile, match=name):
            rows(name)


@pytest.mark.parametrize("coding", ["utf-16", "utf-32", "utf-32-be"])
def test_other_encodings_are_named(coding):
    mark = "" if coding != "utf-32-be" else "\ufeff"
    Path("mail.csv").write_bytes((mark + CSV.decode()).encode(coding))
    with pytest.raises(BadFile, match=f"is in {coding[:6].upper()}, not in UTF-8"):
        rows("mail.csv")
    read_so = rows("mail.csv", encoding=coding[:6])[0]
    Path("mail.csv").write_bytes(CSV)
    assert read_so == rows("mail.csv")[0]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'text,"label\na,x\n', "header, at line 1, breaks the rules: a quote is opened"),
        (b'"text"s,label\na,x\n', "header, at line 1, breaks the rules: text behind"),
        (b"text,label\ra,x\rb,y\r", "carriage return"),
    ],
)
def test_headers_and_line_ends_that_cannot_be_read_are_errors(data, problem):
    Path("mail.csv").write_bytes(data)
    with pytest.raises(BadFile, match=problem):
        rows("mail.csv", bad_rows="skip")


def test_two_columns_of_one_name_are_refused_where_one_is_wanted():
    Path("mail.csv").write_bytes(b"text,label,text\na,x,b\n")
    with pytest.raises(InputError, match="two columns named `text`"):
        rows("mail.csv")
    Path("mail.csv").write_bytes(b"text,label,note,note\na,x,b,c\n")
    assert rows("mail.csv")[0] == [("a", "x")]


def test_names_that_are_not_utf8_are_read_and_shown(capfdbinary):
    name = os.fsdecode(b"caf\xe9.csv")
    Path(name).write_bytes(CSV + b"bad\n")
    assert len(rows(name, bad_rows="skip")[0]) == 2
    assert main(["train", name, "--bad-rows", "skip", "--learner", "multinomial"]) == 0
    assert rb"caf\xe9.csv" in capfdbinary.readouterr().err
    assert main(["inspect", os.fsdecode(b"caf\xe9.textodds")]) == 0
    Path(name + ".gz").write_bytes(gzip.compress(CSV))
    assert main(["evaluate", os.fsdecode(b"caf\xe9.textodds"), name + ".gz"]) == 0
    assert main(["predict", os.fsdecode(b"caf\xe9.textodds"), os.fsdecode(b"\xe9")]) == 2


def test_a_pipe_is_copied_only_so_far(monkeypatch):
    monkeypatch.setattr(files, "MOST_COPIED", 1000)
    os.mkfifo("pipe")
    too_much = pytest.raises(BadFile, match="holds more than 0 MiB, which are as many as are copied")
    with subprocess.Popen(["sh", "-c", "yes 'a,b' > pipe"], stderr=-3), too_much:
        rows("pipe")


def test_a_copy_is_gone_with_the_process(tmp_path):
    """It has no name, so that nothing is left of one that is killed."""
    program = """
import sys, os
from textodds.data.files import Copy, NAMELESS
copy = Copy("mail.csv", "")
assert open(copy.path, "rb").read() == open("mail.csv", "rb").read()
print(os.listdir("temporary") if os.path.isdir(NAMELESS) else [], flush=True)
"""
    Path("temporary").mkdir()
    Path("mail.csv").write_bytes(CSV)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": "temporary"},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_missing_column_among_very_many_is_told_at_once():
    with pytest.raises(MissingColumn) as caught:
        raise MissingColumn("wide.csv", "textt", [f"column{i}" for i in range(300_000)], "text")
    assert len(str(caught.value)) < 2000
    assert "and 299,950 more" in caught.value.problem
