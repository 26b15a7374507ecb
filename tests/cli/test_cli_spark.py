"""``train --spark``: Spark in a process of its own, as somebody at a terminal has it."""

import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textodds
from textodds.cli import main

from .transcripts import COMMAND, on_a_terminal

TEXTS = [
    f"{word} {other} at {i % 7}"
    for i, word in enumerate(["free", "see", "win", "call"] * 40)
    for other in ("you", "now")
]
LABELS = ["spam" if text.startswith(("free", "win")) else "ham" for text in TEXTS]


@pytest.fixture
def parts():
    """Labelled texts in two Parquet files."""
    table = pa.table({"id": list(range(len(TEXTS))), "body": TEXTS, "folder": LABELS})
    Path("parts").mkdir()
    pq.write_table(table.slice(0, 111), "parts/a.parquet")
    pq.write_table(table.slice(111), "parts/b.parquet")


def ran(*args):
    return subprocess.run([*COMMAND, *args], capture_output=True, text=True, check=False)


NAMED = ("--text", "body", "--label", "folder", "--learner", "multinomial")


@pytest.mark.spark
def test_the_model_is_that_of_one_machine_and_nothing_of_spark_is_heard(parts):
    done = ran("train", "parts/*.parquet", *NAMED, "--spark", "local[2]", "-o", "s.textodds", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["rows"] == len(TEXTS)
    assert main(["train", "parts/*.parquet", *NAMED, "-o", "one.textodds", "--quiet"]) == 0
    spark, one = textodds.load("s.textodds"), textodds.load("one.textodds")
    assert spark.tally.fingerprint() == one.tally.fingerprint()
    assert spark.calibration.as_dict() == one.calibration.as_dict()
    assert spark.info["left_out"] == one.info["left_out"]
    assert spark.info["source"] == "parts/*.parquet"


@pytest.mark.spark
def test_a_terminal_sees_the_tasks_and_the_passes(parts):
    how = "--format parquet --learner softmax:C=1:ngrams=1 --spark local[2] -o s.textodds".split()
    shuffles = ["--conf", "spark.sql.shuffle.partitions=2"]
    seen = on_a_terminal([*COMMAND, "train", "parts", *NAMED[:4], *how, *shuffles])
    assert " tasks" in seen
    assert "fitting: pass" in seen
    assert "wrote" in seen
    assert "WARN" not in seen
    assert textodds.load("s.textodds").info["fit"]["converged"]


@pytest.mark.spark
def test_a_row_without_a_label_is_shown_without_a_stack_or_skipped_and_counted():
    Path("mail.csv").write_text(
        'text,label\n"two\nlines, and ""quotes""",ham\nwin,spam\nlost,\n,ham\n' + "see you,ham\n" * 5
    )
    done = ran("train", "mail.csv", "--learner", "multinomial", "--spark", "local[1]", "-o", "m.textodds")
    assert done.returncode == 2
    assert "lost" in done.stderr
    assert "--bad-rows skip" in done.stderr
    assert "Traceback" not in done.stderr
    assert " at org.apache" not in done.stderr
    skip = ("--bad-rows", "skip", "-o", "m.textodds")
    done = ran("train", "mail.csv", "--learner", "multinomial", "--spark", "local[1]", *skip)
    assert done.returncode == 0, done.stderr
    assert "skipped 1 row: " in done.stderr
    assert textodds.load("m.textodds").tally == textodds.Tally.of(
        ['two\nlines, and "quotes"', "win", ""] + ["see you"] * 5, ["ham", "spam"] + ["ham"] * 6
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--conf", "a=b"], "is a setting of Spark"),
        (["--spark", "local[2]", "--conf", "memory"], "KEY=VALUE"),
        (["--spark", "local[2]", "--threads", "2"], "`threads` is not supported on Spark"),
        (["--spark", "local[2]", "--learner", "mixed"], "mixed learns from tables, not from texts"),
        (["--spark", "local[2]", "--stream", "--learner", "softmax"], "`stream` is not supported on Spark"),
    ],
)
def test_what_does_not_go_with_spark_is_refused_before_it_is_started(mail, capsys, args, said):
    assert main(["train", "mail.csv", "--learner", "multinomial", *args]) != 0
    assert said in capsys.readouterr().err


@pytest.mark.spark
def test_a_master_of_no_kind_is_refused_with_the_reason_that_spark_gives(parts):
    done = ran("train", "parts/*.parquet", *NAMED, "--spark", "nonsense", "-o", "s.textodds")
    assert done.returncode == 2
    first = done.stderr.splitlines()[0]
    assert first.startswith("error: cannot start Spark at `nonsense`: ")
    assert "Master must either be yarn or start with spark" in first
