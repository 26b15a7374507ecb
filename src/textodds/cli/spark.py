"""``--spark``: a session, the files that it reads, and how far it has come."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.output import counted, one_line, say
from textodds.data import formats
from textodds.errors import BadFile, InputError, Unsupported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from textodds.learn.recipe import Recipe
    from textodds.learn.softmax.regression import Watchers
    from textodds.model.text_model import TextModel
    from textodds.training.choose import Pins

REFUSED = ("query", "rejects", "unlabelled", "stream", "columns", "like")
"""Options that are for one machine."""

FORMATS = ("csv", "tsv", "jsonl", "parquet")

POLL = 0.25  # seconds

LOOKS = 20
"""Looks at a job of which no task runs, after which that is said: the cluster may be busy, or too small."""


@dataclass
class Skipped:
    """Rows that were left out; there is no file of them."""

    count: int = 0
    path: None = None


@dataclass
class Frame:
    """What was read, as the summary wants it."""

    description: str
    rejects: Skipped = field(default_factory=Skipped)
    rows: int = 0
    bytes: int = 0


def refuse(options: dict[str, Any], *, is_table: bool, threads: int | None) -> None:
    """Fail for what Spark has no part in."""
    given = [name for name in REFUSED if options.get(name)] + (["threads"] if threads is not None else [])
    if given:
        raise InputError(
            f"`--{given[0]}` is for one machine, and this runs on Spark", hint="leave out one of the two"
        )
    if is_table:
        raise InputError("on Spark models of texts are trained, not of tables", hint="leave `--spark` out")


def trained(
    master: str,
    conf: Sequence[str],
    data: Sequence[str],
    options: dict[str, Any],
    recipe: Recipe | None,
    pins: Pins | None,
    *,
    memory: int,
    quiet: bool,
) -> tuple[TextModel, Frame]:
    """A model trained on Spark, and what it was learned from."""
    from textodds.training.choose import BUDGET

    settings = settings_of(conf)
    if not data:
        raise InputError("there is no data", hint="name files, patterns or folders that Spark can read")
    with session(master, settings) as spark:
        from textodds.spark.dataframes import rows_of, run
        from textodds.spark.training import train_on

        with progress(spark, quiet=quiet) as told:
            df = run(lambda: read(spark, data, options))  # already a job, where there is a schema to be found
            rows = rows_of(df, options["text"], options["label"], options["weight"], labelled=True)
            found = train_on(
                rows,
                recipe,
                pins,
                budget=BUDGET if options["budget"] is None else options["budget"],
                typical=options["typical"],
                calibrate=not options["no_calibrate"],
                memory=memory,
                bad_rows=options["bad_rows"],
                fitting=None if told is None else told.fitting,
                racing=None if told is None else told.racing,
            )
    frame = Frame(_described(data), Skipped(found.aside.rejected), found.aside.rows)
    found.model.info["source"] = frame.description
    for reason, n in sorted(found.aside.reasons.items(), key=lambda one: -one[1])[:3]:
        say(f"skipped {counted(n, 'row')}: {one_line(reason)}", quiet=quiet)
    return found.model, frame


def settings_of(conf: Sequence[str]) -> dict[str, str]:
    """What `--conf` says."""
    settings = {}
    for setting in conf:
        key, mark, value = setting.partition("=")
        if not mark or not key:
            raise InputError(
                f"`--conf` cannot be `{setting}`", hint="write KEY=VALUE: spark.executor.memory=4g"
            )
        settings[key.strip()] = value
    return settings


@contextlib.contextmanager
def session(master: str, settings: dict[str, str]) -> Iterator[SparkSession]:
    """A session of Spark that ends with the command; what it says on stderr is heard only if it fails."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise Unsupported("Spark is not installed", hint="pip install 'textodds[spark]'") from error
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has textodds
    builder = SparkSession.builder.appName("textodds")
    if master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        quiet = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
        if master.startswith("local"):
            quiet["spark.ui.enabled"] = "false"
        builder = builder.master(master).config(map={**quiet, **settings})
    with tempfile.TemporaryFile() as log, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        try:
            with _stderr_to(log.fileno()):
                spark = builder.getOrCreate()
        except Exception as error:
            log.seek(0)
            raise InputError(
                f"no session of Spark at `{master}`: {_reason(error, log.read().decode(errors='replace'))}",
                hint="Spark takes Java 17; the master is local[2], spark://HOST:7077, yarn, or sc://HOST",
            ) from error
        if master.startswith("sc://"):
            for key, value in settings.items():
                spark.conf.set(key, value)
        try:
            yield spark
        finally:
            spark.stop()


def _reason(error: Exception, log: str) -> str:
    """Why there is no session, in one line."""
    if "stopped SparkContext" in str(error):  # it gave up waiting, and says so elsewhere
        return "the master does not answer"
    told = [line for line in log.splitlines() if "rror" in line or "xception" in line]
    lines = [line for line in told if not line.startswith("\tat ")] or str(error).splitlines()
    return one_line(lines[0])[:200] if lines else type(error).__name__


@contextlib.contextmanager
def _stderr_to(file: int) -> Iterator[None]:
    """What is written to stderr goes to a file, also by programs that are started meanwhile, for ever."""
    kept = os.dup(2)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def read(spark: SparkSession, data: Sequence[str], options: dict[str, Any]) -> DataFrame:
    """The DataFrame of some files, by their format."""
    found = {options["format"] or formats.by_name(path.removesuffix(".gz")) or "" for path in data}
    kind = found.pop() if len(found) == 1 else ""
    if kind not in FORMATS:
        raise InputError(
            "what Spark is to read is told by the names of the files, and these do not tell",
            hint=f"say it: `--format {FORMATS[-1]}`; one of {', '.join(FORMATS)}",
        )
    paths = list(data)
    local = [path for path in paths if "://" not in path and not any(mark in path for mark in "*?[")]
    for path in local:
        if spark_is_here(spark) and not Path(path).exists():
            raise BadFile(f"no file at `{path}`", hint="name files, patterns or folders that Spark can read")
    if kind == "parquet":
        return spark.read.parquet(*paths)
    if kind == "jsonl":
        return spark.read.json(paths)
    separator = "\t" if kind == "tsv" else ","
    quote = "\u0000" if options["no_quoting"] else '"'
    how: dict[str, Any] = {"sep": separator, "quote": quote, "escape": quote, "multiLine": True}
    # A field without characters is an empty text, here as elsewhere; Spark has it as null.
    df = spark.read.csv(paths, header=not options["no_header"], **how).na.fill("")
    return df.toDF(*(str(i + 1) for i in range(len(df.columns)))) if options["no_header"] else df


def spark_is_here(spark: SparkSession) -> bool:
    """Whether Spark reads the files of this machine."""
    try:
        return str(spark.sparkContext.master).startswith("local")
    except Exception:  # a session of Connect has no context
        return False


def _described(data: Sequence[str]) -> str:
    return data[0] if len(data) == 1 else f"{len(data)} files"


@dataclass(frozen=True)
class Told:
    """Who is told how far a fit or a choice has come."""

    fitting: Watchers
    racing: Callable[[str, int, int, int], None]


@contextlib.contextmanager
def progress(spark: SparkSession, *, quiet: bool) -> Iterator[Told | None]:
    """A bar on a terminal: what is done, and how many of the tasks that run have ended; None elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from textodds.learn.softmax.regression import Watchers

    columns = (
        TextColumn("{task.description}"),
        BarColumn(20),
        TextColumn("{task.completed:,} of {task.total:,} tasks"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        doing = "reading on Spark"
        task = bar.add_task(doing, total=1)
        idle = 0

        def on_step(step: int, gap: float) -> None:
            nonlocal doing
            doing = f"fitting: pass {step}, within {gap:.1e} of the optimum"
            bar.update(task, description=doing)

        def on_trial(name: str, n: int, number: int, of: int) -> None:
            nonlocal doing
            doing = f"trying {number} of {of} on {n:,} texts: {name}"
            bar.update(task, description=doing)

        def on_tasks(done: int, running: int, total: int) -> None:
            nonlocal idle
            idle = 0 if running else idle + 1
            waits = "" if idle < LOOKS else ", waiting for executors"
            bar.update(task, completed=done, total=total, description=doing + waits)

        with tasks_of(spark, on_tasks):
            yield Told(Watchers(None, on_step), on_trial)


@contextlib.contextmanager
def tasks_of(spark: SparkSession, told: Callable[[int, int, int], Any]) -> Iterator[None]:
    """Tell now and then how many tasks of the present jobs are done, how many run, and how many there are."""
    if hasattr(spark, "registerProgressHandler") and not hasattr(spark, "_jsparkSession"):

        def handle(stages: Any, inflight_tasks: int, **_: Any) -> None:
            stages = list(stages or ())
            done, total = sum(s.num_completed_tasks for s in stages), sum(s.num_tasks for s in stages)
            told(done, inflight_tasks, total)

        handler: Any = handle
        spark.registerProgressHandler(handler)
        try:
            yield
        finally:
            spark.removeProgressHandler(handler)
        return
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        while not ended.wait(POLL):
            done = running = total = 0
            for job in tracker.getActiveJobsIds():
                about = tracker.getJobInfo(job)
                for number in [] if about is None else about.stageIds:
                    stage = tracker.getStageInfo(number)
                    if stage is not None:
                        done, total = done + stage.numCompletedTasks, total + stage.numTasks
                        running += stage.numActiveTasks
            if total:
                told(done, running, total)

    thread = threading.Thread(target=watch, name="textodds-spark-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(2.0)
