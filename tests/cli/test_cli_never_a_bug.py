"""Exit status 3 says that textodds is at fault: no input and no way of calling it may end so."""

import subprocess
import sys
from pathlib import Path

import pytest

from textodds.cli import main

from .transcripts import COMMAND

TABLE = "size,colour,label\n1,red,a\n2,blue,b\n3,red,a\n4,blue,b\n"


def closed(args, redirected):
    """The exit status and stderr of a command that the shell starts with a stream closed."""
    line = " ".join([*COMMAND, *args, redirected])
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=300, check=False)


def test_stdout_that_is_closed_is_told_where_it_is_needed(model):
    done = closed(["predict", "mail.textodds", "--say", "free"], ">&-")
    assert done.returncode == 2
    assert "`stdout`: bad file descriptor" in done.stderr
    assert closed(["train", "mail.csv", "--learner", "multinomial", "--quiet"], ">&-").returncode == 0
    assert closed(["predict", "mail.textodds", "--say", "free"], ">&- 2>&-").returncode == 2


def test_stdin_that_is_closed_is_empty_and_is_no_other_file(model):
    """The model file must not be opened in its place, and then be read as texts."""
    done = closed(["predict", "mail.textodds"], "<&-")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("n", ["1025", "1000000", "99999999999", "9" * 30])
def test_absurd_numbers_of_threads_are_refused(model, capsys, monkeypatch, n):
    assert main(["predict", "mail.textodds", "--say", "free", "--threads", n]) == 2
    assert "threads" in capsys.readouterr().err
    monkeypatch.setenv("TEXTODDS_THREADS", n)
    assert main(["train", "mail.csv", "--learner", "multinomial", "-o", "x.textodds"]) == 2
    assert "TEXTODDS_THREADS" in capsys.readouterr().err


def test_options_about_data_without_data_are_refused(model, capsys):
    Path("t.csv").write_text(TABLE)
    assert main(["train", "t.csv", "--columns", "size=number", "-o", "t.textodds", "--quiet"]) == 0
    for data in ([], ["t.csv"]):
        assert main(["diff", "t.textodds", "t.textodds", *data, "--text", "size"]) == 2
        assert "text" in capsys.readouterr().err


def test_an_evaluation_without_a_known_label_is_refused(model, capsys):
    Path("other.csv").write_text("text,label\nfree,cheese\nsee you,wine\n")
    assert main(["evaluate", "mail.textodds", "other.csv", "--json"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "none of the 2 rows has a label of the model" in told.err
    assert "`cheese`" in told.err
    assert "`ham`" in told.err


def test_a_wrong_column_among_very_many_is_told_at_once(model, capsys):
    names = ",".join(f"column{i}" for i in range(200_000))
    Path("wide.csv").write_text(f"{names}\n")
    assert main(["evaluate", "mail.textodds", "wide.csv", "--text", "textt"]) == 2
    told = capsys.readouterr().err
    assert "and 199,950 more" in told
    assert len(told) < 3000
    assert sys.getsizeof(told) < 10_000
