"""Several processes that change one model file."""

import fcntl
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

import textodds
from textodds.cli import main
from textodds.errors import ModelFileError
from textodds.model.storage.file_lock import changing

from .transcripts import COMMAND, MAIL


def learning(text, label="spam", **settings):
    args = ["learn", "mail.textodds", "--say", text, "--label-is", label, "--new-class"]
    return subprocess.Popen([*COMMAND, *args], stderr=subprocess.PIPE, text=True, **settings)


@pytest.mark.slow
def test_four_that_learn_at_once_all_learn(model):
    """They meet: all wait for the lock that is held here, and are let go together."""
    with Path("mail.textodds").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        processes = [learning(f"free offer {i}") for i in range(4)]
        told = [process.stderr.readline() for process in processes]
        assert all("waiting" in line and "mail.textodds" in line for line in told)
    for process in processes:
        process.communicate(timeout=300)
        assert process.returncode == 0
    assert textodds.load("mail.textodds").class_documents == {"ham": 3, "spam": 7}


def test_what_does_not_meet_says_nothing_of_waiting(model, capsys):
    assert main(["learn", "mail.textodds", "--say", "free", "--label-is", "spam", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_merging_over_itself_waits_its_turn(model):
    Path("other.csv").write_text(MAIL)
    assert main(["train", "other.csv", "--learner", "multinomial", "--quiet"]) == 0
    args = ["merge", "mail.textodds", "other.textodds", "-o", "mail.textodds", "--json"]
    with Path("mail.textodds").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert "waiting" in process.stderr.readline()
        # What has the lock replaces the file: whoever waited must read the new one.
        twice = textodds.load("mail.textodds") + textodds.load("other.textodds")
        twice.save("mail.textodds")
    out, _ = process.communicate(timeout=300)
    assert json.loads(out)["documents"] == 18


def test_a_file_that_another_program_changes_meanwhile_is_left_alone(model):
    """The correction waits in a pipe while the model is trained anew by one that knows no lock."""
    os.mkfifo("more.csv")
    process = subprocess.Popen(
        [*COMMAND, "learn", "mail.textodds", "more.csv", "--new-class"], stderr=subprocess.PIPE, text=True
    )
    with Path("more.csv").open("w") as pipe:
        pipe.write("text,label\nfree eggs,breakfast\n")
        pipe.flush()
        with Path("mail.textodds").open() as model_file:  # it is at work once it has the lock
            deadline = time.monotonic() + 300
            while time.monotonic() < deadline:
                try:
                    fcntl.flock(model_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    fcntl.flock(model_file, fcntl.LOCK_UN)
                    time.sleep(0.01)
                except BlockingIOError:
                    break
        textodds.train(["free eggs", "see you"], ["a", "b"], learner="multinomial").save("mail.textodds")
    _, told = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "`mail.textodds` was changed by another program" in told
    assert textodds.load("mail.textodds").classes_ == ("a", "b")


def test_without_locks_a_change_is_noticed_all_the_same(model, monkeypatch):
    monkeypatch.setattr("textodds.data.written_file.locks", None)
    with changing("mail.textodds") as must_be_unchanged:
        must_be_unchanged()
        Path("mail.textodds").write_bytes(b"something else")
        with pytest.raises(ModelFileError, match="was changed by another program"):
            must_be_unchanged()
