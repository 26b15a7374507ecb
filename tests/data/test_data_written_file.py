"""Files are written whole or not at all, and are like those that they replace."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from textodds.data.written_file import remove_leftovers, replacing
from textodds.errors import ModelFileError

WRITER = """
import sys
from pathlib import Path
from textodds.data.written_file import replacing
with replacing("model") as temporary:
    temporary.write_text("half")
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, text="new"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_the_mode_is_kept():
    Path("model").write_text("old")
    Path("model").chmod(0o640)
    write("model")
    assert (Path("model").read_text(), Path("model").stat().st_mode & 0o7777) == ("new", 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_and_the_group_are_kept():
    Path("model").write_text("old")
    os.chown("model", 12345, 23456)
    write("model")
    assert (Path("model").stat().st_uid, Path("model").stat().st_gid) == (12345, 23456)


def test_on_an_error_the_old_file_stays_and_no_other():
    Path("model").write_text("old")
    with pytest.raises(TypeError):
        write("model", None)
    assert {path.name: path.read_text() for path in Path().iterdir()} == {"model": "old"}


def test_what_a_killed_process_leaves_is_removed_by_the_next_that_writes_there():
    with subprocess.Popen([sys.executable, "-c", WRITER], stdin=-1, stdout=-1) as writer:
        assert writer.stdout.readline() == b"written\n"
        # While it lives, its file is left alone.
        write("model", "meanwhile")
        remove_leftovers("model")
        assert len(list(Path().iterdir())) == 2
        writer.send_signal(signal.SIGKILL)
    write("other")
    assert len(list(Path().iterdir())) == 3, "only where it was written"
    write("model")
    assert sorted(path.name for path in Path().iterdir()) == ["model", "other"]


def test_two_that_write_at_once_both_write():
    with replacing("model") as first, replacing("model") as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert [path.name for path in Path().iterdir()] == ["model"]


def test_a_folder_is_refused():
    Path("folder").mkdir()
    with pytest.raises(ModelFileError, match="cannot write `folder`"):
        write("folder")
    assert Path("folder").is_dir()
