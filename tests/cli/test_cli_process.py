"""What only a process of its own can show: pipes, signals, streams and imports."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .transcripts import COMMAND, MAIL, textodds

HEAVY = ("rich", "scipy", "sklearn", "pyarrow", "duckdb", "pandas", "polars", "safetensors")


def test_python_m_textodds_is_the_command():
    done = subprocess.run([sys.executable, "-m", "textodds", "--help"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: textodds ")


def test_an_answer_comes_before_stdin_is_closed(model):
    with subprocess.Popen(
        [*COMMAND, "predict", "mail.textodds"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        for text, label in (("free prize", "spam"), ("see you at six", "ham"), ("", "ham")):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert process.stdout.readline().split("\t")[0] == label
        process.stdin.close()
        assert process.wait(300) == 0


def test_stdin_is_the_default_and_dash_means_it_too(model):
    for args in ([], ["-"]):
        done = textodds("predict", "mail.textodds", *args, input="free\nhome\n")
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["spam", "ham"]
        assert done.stderr == ""


def test_stdin_is_trained_on(model):
    done = textodds("train", "-", "--format", "csv", "--learner", "multinomial", "--json", input=MAIL)
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"] == 6
    assert Path("model.textodds").read_bytes()[-500:] == Path("mail.textodds").read_bytes()[-500:]


def test_a_reader_that_has_seen_enough_is_no_error(model):
    Path("new.txt").write_text("free prize\n" * 300_000)
    with subprocess.Popen(
        [*COMMAND, "predict", "mail.textodds", "new.txt"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("spam\t")
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(300) == 141


def test_help_for_a_reader_that_has_gone_is_no_error():
    with subprocess.Popen(
        [*COMMAND, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(300) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_stdout_is_said(model):
    with Path("/dev/full").open("w") as full:
        done = textodds(
            "predict", "mail.textodds", "--say", "x", capture_output=False, stdout=full, stderr=-1
        )
    assert done.returncode == 2
    assert (
        done.stderr == "error: no space left on device\n\nhint: free some space, or write to another disk\n"
    )


def test_a_model_that_does_not_fit_on_the_disk_is_said_and_leaves_nothing_behind(mail):
    done = textodds(
        "train",
        "mail.csv",
        "--learner",
        "multinomial",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write `mail.textodds`: ")
    assert [path.name for path in Path().iterdir()] == ["mail.csv"]


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.005)


def test_ctrl_c_during_training_leaves_no_file_behind():
    block = "".join(f"some words to count {k} again and again,{k % 7}\n" for k in range(20_000))
    Path("big.csv").write_text("text,label\na bad row,\n" + block * 20)  # 17 MB
    slow = ["--learner", "auto:ngrams=1-4", "--threads", "1", "--bad-rows", "skip", "--rejects", "bad.jsonl"]
    with subprocess.Popen(
        [*COMMAND, "train", "big.csv", *slow], stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(Path("bad.jsonl"), process)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "stopped\n"
        assert process.wait(300) == 130
    assert [path.name for path in Path().iterdir()] == ["big.csv"]


def test_ctrl_c_is_heard_while_stdin_is_silent(model):
    with subprocess.Popen(
        [*COMMAND, "predict", "mail.textodds"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdin.write("free prize\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("spam\t")
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert process.stderr.read() == "stopped\n"


def test_one_line_is_answered_without_heavy_imports(model):
    for args, text in ((["--say", "free"], None), ([], "free\n")):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "textodds", "predict", "mail.textodds", *args],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("spam\t")
        imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert "numpy" in imported
        assert imported.isdisjoint(HEAVY)


def test_a_terminal_with_a_small_alphabet_gets_escapes(model):
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    Path("odd.csv").write_text("text,label\nhi,grüße\n", encoding="utf-8")
    assert textodds("train", "odd.csv", env=env).returncode == 0
    assert textodds("predict", "odd.textodds", "--say", "hi", env=env).stdout == "gr\\xfc\\xdfe\t1.0000\n"
