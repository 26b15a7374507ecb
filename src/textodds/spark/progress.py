"""How many tasks of Spark's present jobs are done, told to an observer now and then."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from textodds.data import Observer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo

POLL = 0.25  # seconds

LOOKS = 20
"""Looks at a job of which no task runs, after which that is said: the cluster may be busy, or too small."""


@contextlib.contextmanager
def tasks_told(spark: SparkSession, observer: Observer) -> Iterator[None]:
    """Tell an observer of the tasks of what runs meanwhile."""
    idle = 0

    def tell(done: int, running: int, total: int) -> None:
        nonlocal idle
        idle = 0 if running else idle + 1
        observer.task("tasks" if idle < LOOKS else "waiting for executors", done, total)

    if hasattr(spark, "registerProgressHandler") and not hasattr(spark, "_jsparkSession"):

        def handle(stages: Iterable[StageInfo] | None, inflight_tasks: int, **_: object) -> None:
            stages = list(stages or ())
            done, total = sum(s.num_completed_tasks for s in stages), sum(s.num_tasks for s in stages)
            tell(done, inflight_tasks, total)

        spark.registerProgressHandler(handle)  # type: ignore[arg-type]
        try:
            yield
        finally:
            spark.removeProgressHandler(handle)  # type: ignore[arg-type]
        return
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def look() -> None:
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
                tell(done, running, total)

    thread = threading.Thread(target=look, name="textodds-spark-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(2.0)
