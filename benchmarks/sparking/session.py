"""A session of Spark on this machine, and what its jobs cost: CPU seconds of all processes, stages, bytes."""

from __future__ import annotations

import gc
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

CORES = 2
MEMORY = "8g"


def started(scratch: Path) -> Any:
    """The session of this process; what it writes, it writes below a folder."""
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")
    settings = {
        "spark.driver.memory": MEMORY,
        "spark.local.dir": str(scratch),
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master(f"local[{CORES}]").config(map=settings).getOrCreate()


def about() -> dict[str, str]:
    """Versions of what the session runs on."""
    import pyspark

    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return {"pyspark": pyspark.__version__, "java": told.stderr.splitlines()[0]}


def cpu() -> float:
    """CPU seconds so far of this process, of its JVM, and of all Python workers, those that have ended too.

    Who ends is counted by who waited for it; nobody is counted twice.
    """
    me, total = psutil.Process(), 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue  # its parent has it now
        total += used.user + used.system + used.children_user + used.children_system
    return float(total)


@dataclass
class OnSpark:
    """A job as a contender. Before all runs but the first, workers are awake and garbage is collected.

    Spark ends Python workers that are idle for a minute: whoever runs after a long job would have to start
    them anew.
    """

    name: str
    run: Callable[[], Any]
    spark: Any
    times: int = 1
    rounds: int | None = None
    is_cold: bool = True
    result: Any = None

    def time(self) -> tuple[float, float]:
        self.result = None
        if not self.is_cold:
            awake(self.spark)
        self.is_cold = False
        gc.collect()
        self.spark.sparkContext._jvm.System.gc()
        used, wall = cpu(), time.perf_counter()
        self.result = self.run()
        used, wall = cpu() - used, time.perf_counter() - wall
        print(f"    {self.name}: {used:.1f} s of CPU, {wall:.1f} s", flush=True)
        return used, wall


def awake(spark: Any) -> None:
    """Have a Python worker on each core that has imported what tasks need."""
    spark.range(CORES, numPartitions=CORES).mapInArrow(_imported, "n int").collect()


def _imported(batches: Iterator[Any]) -> Iterator[Any]:
    import textodds.spark.tasks  # noqa: F401

    time.sleep(0.3)  # so that no worker takes both tasks
    yield from (batch for batch in batches if not batch.num_rows)


def passed(batches: Iterator[Any]) -> Iterator[Any]:
    """Nothing, after all batches were received."""
    for _ in batches:
        pass
    return iter(())


@dataclass(frozen=True)
class Stage:
    """A stage of a job, as Spark tells it."""

    tasks: int
    seconds: float  # on the wall
    task_seconds: float
    written: int  # bytes to the shuffle
    read: int  # bytes from it


def stages(spark: Any, after: int = -1) -> dict[int, Stage]:
    """The stages that were run, of numbers above ``after``, by number."""
    context = spark.sparkContext
    listeners = context._jsc.sc().listenerBus()
    listeners.waitUntilEmpty()  # what is told may lag behind what was done
    jvm = context._jvm
    nothing = jvm.java.util.ArrayList()
    store = context._jsc.sc().statusStore()
    listed = store.stageList(nothing, False, False, context._gateway.new_array(jvm.double, 0), nothing)
    found = {}
    for at in range(listed.size()):
        stage = listed.apply(at)
        if stage.stageId() <= after or stage.status().toString() != "COMPLETE":
            continue
        begin, end = stage.submissionTime().get().getTime(), stage.completionTime().get().getTime()
        found[int(stage.stageId())] = Stage(
            stage.numTasks(),
            (end - begin) / 1000,
            stage.executorRunTime() / 1000,
            stage.shuffleWriteBytes(),
            stage.shuffleReadBytes(),
        )
    return dict(sorted(found.items()))
