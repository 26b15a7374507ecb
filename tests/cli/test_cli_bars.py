"""What is drawn on a terminal, with rich and without."""

import os
import subprocess
import sys

import pytest

from textodds.cli.bars import PlainLine

pty = pytest.importorskip("pty", reason="there are no terminals to open here")

CODE = """
import sys
if {without}:
    sys.modules["rich"] = sys.modules["rich.progress"] = None
from textodds.cli import main
sys.exit(main(["compare", "mail.csv", "--models", "multinomial,bernoulli"]))
"""


def shown(without, folder):
    """What a command that takes a while shows on a terminal, and its exit status."""
    (folder / "mail.csv").write_text("text,label\nfree phone,spam\nsee you,ham\n" * 20)
    ours, theirs = pty.openpty()
    code = CODE.format(without=without)
    run = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stderr=theirs, stdout=subprocess.DEVNULL, close_fds=True
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return seen.decode(errors="replace"), run.wait(300)


@pytest.mark.slow
@pytest.mark.parametrize("without", [False, True])
def test_progress_is_drawn_with_and_without_rich(without, tmp_path):
    seen, status = shown(without, tmp_path)
    assert status == 0, seen
    assert "Traceback" not in seen
    assert " of " in seen
    if without:
        assert "\x1b[" not in seen  # one line, written over itself
        assert seen.endswith("\r") or "\r" in seen


def test_a_plain_line_says_how_far_the_work_is(capsys):
    line = PlainLine("tasks", "", 8)
    line.update(0, completed=3, description="bernoulli")
    assert line.text == "3 of 8  bernoulli"
    assert "3 of 8  bernoulli" in capsys.readouterr().err
    line.stop()
    assert capsys.readouterr().err.strip() == ""
    words = PlainLine("words", "fitting", None)
    assert words.text == "fitting"
    assert PlainLine("rows", "reading", None).text == "reading  0 rows"
