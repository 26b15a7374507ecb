"""What a terminal gets that a pipe does not: colours and bars."""

import subprocess
import sys
from pathlib import Path

import pytest

from .transcripts import COMMAND, MAIL, on_a_terminal

ESCAPE = "\x1b["

# The bar waits half a second before it shows; here it does not, so that a small file will do.
AT_ONCE = [
    sys.executable,
    "-c",
    "import sys; from textodds.cli import main, progress; progress.DELAY = 0; sys.exit(main(sys.argv[1:]))",
]


@pytest.mark.parametrize(
    ("args", "doing"),
    [
        (["train", "mail.csv", "--learner", "multinomial"], "learning"),
        (["evaluate", "mail.textodds", "mail.csv"], "measuring"),
        (["learn", "mail.textodds", "mail.csv"], "learning"),
        (["forget", "mail.textodds", "first.csv"], "forgetting"),
    ],
)
def test_a_terminal_sees_a_bar_with_rows_speed_and_time_left(model, args, doing):
    Path("first.csv").write_text("".join(MAIL.splitlines(keepends=True)[:2]))
    seen = on_a_terminal([*AT_ONCE, *args])
    rows = 1 if doing == "forgetting" else 6
    assert f"{doing} " in seen
    assert f"{rows} rows " in seen
    assert "rows/s" in seen
    assert "left" in seen


def test_quiet_draws_no_bar_and_says_nothing(model):
    assert on_a_terminal([*AT_ONCE, "train", "mail.csv", "--learner", "multinomial", "--quiet"]) == ""


def test_answers_on_a_terminal_are_not_drawn_over_but_answers_to_a_file_are_watched(model):
    assert "rows/s" not in on_a_terminal([*AT_ONCE, "predict", "mail.textodds", "mail.csv"])
    to_file = ["sh", "-c", '"$@" > answers.tsv', "sh", *AT_ONCE, "predict", "mail.textodds", "mail.csv"]
    assert "answering" in on_a_terminal(to_file)
    assert len(Path("answers.tsv").read_text().splitlines()) == 6


def test_a_pipe_sees_neither_bar_nor_colour(model):
    done = subprocess.run(
        [*AT_ONCE, "train", "mail.csv", "--learner", "multinomial"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "rows/s, " in done.stderr  # of the summary
    assert ESCAPE not in done.stderr
    done = subprocess.run([*COMMAND, "demo"], capture_output=True, text=True, check=True)
    assert ESCAPE not in done.stdout


def test_colours_are_for_terminals_that_want_them(model):
    report = [*COMMAND, "evaluate", "mail.textodds", "mail.csv"]
    assert ESCAPE in on_a_terminal(report)
    assert ESCAPE not in on_a_terminal(report, NO_COLOR="1")
    assert ESCAPE not in on_a_terminal(report, TERM="dumb")
    assert ESCAPE in on_a_terminal(report, NO_COLOR="")  # as https://no-color.org has it


def test_a_short_run_loads_nothing_that_draws(model):
    code = "import sys; from textodds.cli import main; main(sys.argv[1:]); print('rich' in sys.modules)"
    assert (
        on_a_terminal(
            [sys.executable, "-c", code, "train", "mail.csv", "--learner", "multinomial", "--quiet"]
        ).strip()
        == "False"
    )
