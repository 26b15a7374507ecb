"""textodds in a cluster of Spark whose executors know nothing, and whose parts are killed.

The cluster is real, and on this machine; this file is also what its driver runs, in a process of its own.
"""

import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from cluster import LIGHT, Cluster, Driver, answer, kill, parents, until

import textodds

FILES = 4
"""Of the data, each of which is a partition."""

GO = "go"
"""The file that partitions wait for in their middle, so that there is a time to kill at."""

MANY = 3
"""Of so many partitions that are read, the last one and all that follow wait."""

CONF = {  # what a session says remains with the process, so that each has to say all
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": LIGHT,
    "spark.executor.extraJavaOptions": LIGHT,
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # work begins when both executors are there
    "spark.locality.wait": "100ms",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.minPartitionNum": str(FILES),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10",
}

ONE = {"spark.cores.max": "1"}
"""One executor: each takes a while to unpack."""

SOFTMAX = {"learner": textodds.SoftmaxRegression(C=0.1), "ngrams": (1, 1)}


# What the driver does.


def session(master, python, conf):
    """Have a session, in the place of any other."""
    from pyspark.sql import SparkSession

    wanted = {"spark.master": master, "spark.pyspark.python": python} | CONF | conf
    now = SparkSession.getActiveSession()
    if now is not None:
        if all(now.conf.get(name, None) == value for name, value in wanted.items()):
            return
        now.stop()
    os.environ["PYSPARK_PYTHON"] = python
    warnings.simplefilter("ignore")
    SparkSession.builder.config(map=wanted).getOrCreate()


def no_session():
    """Leave the cluster to others."""
    from pyspark.sql import SparkSession

    if (now := SparkSession.getActiveSession()) is not None:
        now.stop()


def executors():
    """Where the session has executors."""
    from pyspark.sql import SparkSession

    if (now := SparkSession.getActiveSession()) is None:
        return []
    known = now.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return [one.host() for one in known][1:]  # the first is the driver itself


def packed(archive):
    from textodds.spark import pack

    return pack(archive)


def read(folder):
    from pyspark.sql import SparkSession

    return SparkSession.active().read.schema("text string, label string").parquet(folder)


def trained(folder, file, notes=None):
    """Train, and save the model."""
    from textodds.spark import train

    df = read(folder)
    train(df if notes is None else noted(df, notes), learner="multinomial").save(file)


def regressed(folder, file, notes):
    """Train softmax regression, and save the model."""
    from textodds.data import Observer
    from textodds.spark import train

    def step(number, gap):
        if number == MANY:
            Path(notes, "asks").touch()
            until(Path(notes, "killed").exists, "someone kills")

    Path(notes, GO).touch()
    df = noted(read(folder), notes)
    observer = Observer()
    observer.step = step
    train(df, **SOFTMAX, observer=observer).save(file)


def noted(df, notes):
    """The DataFrame, whose partitions note in their middle who reads them, and may have to wait there."""

    def read(batches):
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            if number == 2:
                about = {"partition": TaskContext.get().partitionId(), "daemon": os.getppid()}
                note = Path(notes, f"{time.time_ns()}-{os.getpid()}.part")
                note.write_text(json.dumps(about))
                note.rename(note.with_suffix(".json"))
                while len(list(Path(notes).glob("*.json"))) >= MANY and not Path(notes, GO).exists():
                    time.sleep(0.02)
            yield batch

    return df.mapInArrow(read, df.schema)


def error_of(folder):
    """The error that training ends in."""
    from textodds.spark import train

    try:
        train(read(folder), learner="multinomial")
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def executor():
    """Of a task, the Python that it runs, and where it has textodds from."""
    from pyspark.sql import SparkSession

    def found(_):
        import textodds

        yield sys.prefix, textodds.__file__

    return SparkSession.active().sparkContext.range(0, 1, 1, 1).mapPartitions(found).first()


def asked(folder, file):
    """Of each row what a model says: label, log-odds, probability of its own label where it is left out."""
    from textodds.spark import evaluate, explain, leave_one_out, predict

    df = leave_one_out(file, explain(file, predict(file, read(folder))))
    rows = df.select("text", "label", "prediction.label", "explanation.log_odds", "left_out.own").collect()
    return [list(row) for row in rows], evaluate(file, read(folder)).accuracy


def objective(folder):
    """The objective at the optimum of softmax regression."""
    from textodds.spark import train

    return train(read(folder), **SOFTMAX).info["fit"]["objective"]


# The cluster and what it is given.


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    found = Driver(__file__, tmp_path_factory.mktemp("driver"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def data(mail, tmp_path_factory):
    """The folder of the data, in files."""
    folder = tmp_path_factory.mktemp("data") / "mail"
    folder.mkdir()
    size = -(-len(mail) // FILES)
    for number in range(FILES):
        pq.write_table(mail.slice(number * size, size), folder / f"{number}.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def expected(mail):
    """The model that one machine makes of the data."""
    return textodds.train(mail, learner="multinomial", documents=False)


@pytest.fixture(scope="module")
def regressed_here(mail):
    """The objective at the optimum of softmax regression, on one machine."""
    return textodds.train(mail, **SOFTMAX).info["fit"]["objective"]


@pytest.fixture
def usual(driver, cluster):
    """The driver, with a session of the cluster whose executors have what we have."""
    cluster.mend()
    driver.call("session", cluster.url, sys.executable, {})
    return driver


def must_be(file, expected):
    """Fail unless the file is, to the bit, that of a model, but for where the data came from."""
    model = textodds.load(file)
    model.info = expected.info
    here, there = file.with_suffix(".here"), file.with_suffix(".there")
    model.save(there)
    expected.save(here)
    assert there.read_bytes() == here.read_bytes()


def notes_in(folder):
    return [json.loads(note.read_text()) for note in sorted(folder.glob("*.json"))]


# The command.


@pytest.fixture
def command(driver, cluster):
    """What trains on the cluster from a shell, when no other session has its cores."""
    driver.call("no_session")
    cluster.mend()
    conf = [part for name, value in CONF.items() for part in ("--conf", f"{name}={value}")]
    python = ["--conf", f"spark.pyspark.python={sys.executable}"]
    return [sys.executable, "-m", "textodds", "train", "--spark", cluster.url, *conf, *python]


def test_the_command_learns_on_the_cluster(command, data, expected, tmp_path):
    file = tmp_path / "model.textodds"
    how = ["--learner", "multinomial", f"{data}/*.parquet", "-o", str(file), "--json"]
    done = subprocess.run([*command, *how], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == expected.info["documents"]
    must_be(file, expected)


def test_a_terminal_is_told_that_the_cluster_has_no_core_to_spare(
    command, driver, cluster, data, expected, tmp_path
):
    from cli.transcripts import on_a_terminal

    driver.call("session", cluster.url, sys.executable, {})  # which takes them all
    until(lambda: len(driver.call("executors")) == 2, "it has them")

    def watch(seen):
        if "waiting for executors" in seen and driver.call("executors"):
            driver.call("no_session")

    file = tmp_path / "model.textodds"
    how = ["--learner", "multinomial", f"{data}/*.parquet", "-o", str(file)]
    at_once = ["--conf", "spark.scheduler.minRegisteredResourcesRatio=0"]  # ask for cores that are not there
    seen = on_a_terminal([*command, *how, *at_once], watch)
    assert "waiting for executors" in seen
    must_be(file, expected)


# Deployment.


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python that has nothing but its own library."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    for name in ("numpy", "pyarrow", "textodds", "pyspark"):
        tried = [python, "-c", f"import {name}"]
        assert subprocess.run(tried, capture_output=True, env={}, check=False).returncode == 1
    return str(python)


@pytest.fixture(scope="module")
def archive(driver, tmp_path_factory):
    """What `pack` returns for an archive that is large, and so is removed in the end."""
    file = tmp_path_factory.mktemp("archive") / "textodds.zip"
    yield driver.call("packed", str(file))
    file.unlink()


@pytest.fixture
def packed_session(driver, cluster, bare, archive):
    """The driver, with a session of the cluster whose executors have an archive, and no more."""
    driver.call("session", cluster.url, bare, ONE | archive)
    return driver


def test_executors_without_textodds_are_named_as_such(driver, bare, data):
    driver.call("session", "local[1]", bare, {})
    name, message = driver.call("error_of", data)
    assert name == "Unsupported"
    assert message.startswith("the executors of this cluster have no textodds")


def test_an_archive_is_all_that_executors_need(
    packed_session, data, expected, regressed_here, tmp_path, bare
):
    prefix, file = packed_session.call("executor")
    assert prefix == str(Path(bare).parent.parent)
    assert Path(file).parts[-3:-1] == ("textodds-spark", "textodds")
    packed_session.call("trained", data, str(tmp_path / "model"))
    must_be(tmp_path / "model", expected)
    assert packed_session.call("objective", data) == pytest.approx(regressed_here, rel=1e-4)


def test_executors_with_an_archive_answer(packed_session, data, expected, mail, tmp_path):
    expected.save(tmp_path / "model")
    rows, accuracy = packed_session.call("asked", data, str(tmp_path / "model"))
    texts, labels, answers, log_odds, own = zip(*rows, strict=True)
    assert sorted(zip(texts, labels, strict=True)) == sorted(zip(*mail.to_pydict().values(), strict=True))
    assert list(answers) == expected.predict(texts).tolist()
    assert log_odds == pytest.approx([expected.explain(text).log_odds for text in texts])
    assert own == pytest.approx(np.exp(expected.leave_one_out(texts, labels).own))
    assert accuracy == np.mean(np.array(answers) == np.array(labels))


def test_a_cluster_within_one_process_works_too(driver, data, expected, tmp_path):
    driver.call("session", "local-cluster[2,1,1024]", sys.executable, {})
    driver.call("trained", data, str(tmp_path / "model"))
    must_be(tmp_path / "model", expected)


# Failures.


def test_a_file_that_is_cut_off_is_named(usual, data, tmp_path):
    folder = tmp_path / "mail"
    folder.mkdir()
    for file in Path(data).iterdir():
        whole = file.read_bytes()
        (folder / file.name).write_bytes(whole[: len(whole) // 2] if file.name == "3.parquet" else whole)
    name, message = usual.call("error_of", str(folder))
    assert name == "BadFile"
    assert re.match(r"Spark cannot read file:///\S+/3\.parquet\n\nhint: it may be truncated", message), (
        message
    )


def in_the_middle(driver, data, folder):
    """Begin to train; a note of a partition that is being read, when others have been and others have not."""
    notes = folder / "notes"
    notes.mkdir()
    driver.begin("trained", data, str(folder / "model"), str(notes))
    driver.until(lambda: len(notes_in(notes)) >= MANY, "some partitions are read")
    return notes_in(notes)[-1]


def must_finish(driver, folder, expected):
    """Fail unless the model is as expected, and some partition was read again."""
    Path(folder, "notes", GO).touch()
    driver.end()
    must_be(folder / "model", expected)
    read = [note["partition"] for note in notes_in(folder / "notes")]
    assert set(read) == set(range(FILES))
    assert len(read) > FILES


def test_training_goes_on_when_python_is_killed(usual, data, expected, tmp_path):
    note = in_the_middle(usual, data, tmp_path)
    kill(*(pid for pid, parent in parents().items() if parent == note["daemon"]))
    must_finish(usual, tmp_path, expected)


def test_training_goes_on_when_an_executor_is_killed(usual, data, expected, tmp_path):
    note = in_the_middle(usual, data, tmp_path)
    kill(parents()[note["daemon"]])
    must_finish(usual, tmp_path, expected)


def test_regression_goes_on_when_an_executor_that_keeps_rows_is_killed(usual, data, regressed_here, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    usual.begin("regressed", data, str(tmp_path / "model"), str(notes))
    usual.until((notes / "asks").exists, "some steps")
    before = notes_in(notes)
    assert len(before) == 2 * FILES  # counted, and made rows of; not again at each step
    kill(parents()[before[-1]["daemon"]])
    (notes / "killed").touch()
    usual.end()
    assert len(notes_in(notes)) > len(before)  # rows were made again
    fit = textodds.load(tmp_path / "model").info["fit"]
    assert fit["converged"]
    assert fit["gap"] <= 1e-4
    assert fit["objective"] == pytest.approx(regressed_here, rel=1e-4)


def test_training_goes_on_when_a_worker_is_killed(usual, cluster, data, expected, tmp_path):
    note = in_the_middle(usual, data, tmp_path)
    executor = parents()[note["daemon"]]
    cluster.missing = 1
    kill(parents()[executor], executor)
    must_finish(usual, tmp_path, expected)


if __name__ == "__main__":
    answer(globals())
