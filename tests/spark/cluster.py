"""A standalone cluster of Spark on this machine, and drivers: processes that end with the tests."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyspark

HOME = Path(pyspark.__file__).parent

LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java that starts sooner; it would be slower in the long run, which no test is."""

TIMEOUT = 120
"""Seconds after which something hangs."""

ENDS_WITH_US = '"$@" < /dev/null & cat > /dev/null; kill -9 0'
"""Runs a command, and ends it and all that it started once input is closed: by us, or by our death."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Our environment, without what it may say of Spark or of where Python finds packages."""
    for name in ("conf", "local"):
        (folder / name).mkdir(exist_ok=True)
    mine = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SPARK_", "PYSPARK_", "PYTHONPATH"))
    }
    own = {
        "SPARK_HOME": str(HOME),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": LIGHT,
        "PYSPARK_PYTHON": sys.executable,
        "OPENBLAS_NUM_THREADS": "1",
    }
    return mine | own | more


def until(wanted: Callable[[], Any], what: str, seconds: float = TIMEOUT) -> Any:
    """What a function returns once it is something."""
    end = time.monotonic() + seconds
    while not (found := wanted()):
        assert time.monotonic() < end, f"not in {seconds} s: {what}"
        time.sleep(0.02)
    return found


class Daemon:
    """A process of Spark's Java that runs until it is ended, or we end."""

    def __init__(self, name: str, folder: Path, *command: str) -> None:
        self._log = folder / f"{name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", ENDS_WITH_US, "sh", str(HOME / "bin" / "spark-class"), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(folder),
                start_new_session=True,
            )

    def said(self, pattern: str) -> re.Match[str]:
        """Where it says something in its log; waits for it."""

        def found() -> re.Match[str] | None:
            return re.search(pattern, self._log.read_text(errors="replace"))

        return until(found, f"`{pattern}` in {self._log}")

    def stop(self) -> None:
        """End it, and all that it started."""
        self._process.communicate()


class Cluster:
    """A master and workers of one core each.

    Attributes
    ----------
    url : str
        Of the master.
    missing : int
        Workers that a test has killed.
    """

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._running: list[Daemon] = []
        self.missing = workers
        try:
            self.url = self._start("master.Master").said(r"Starting Spark master at (spark://\S+)")[1]
            self.mend()
        except BaseException:
            self.stop()
            raise

    def mend(self) -> None:
        """Start the workers that are missing, and wait until the master knows them."""
        how = ["--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / "work"), self.url]
        for worker in [self._start("worker.Worker", *how) for _ in range(self.missing)]:
            worker.said("Successfully registered with master")
        self.missing = 0

    def _start(self, kind: str, *options: str) -> Daemon:
        where = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        name = f"{len(self._running)}-{kind}"
        daemon = Daemon(name, self._folder, f"org.apache.spark.deploy.{kind}", *where, *options)
        self._running.append(daemon)
        return daemon

    def stop(self) -> None:
        """End all processes; the logs stay, what else they wrote does not."""
        for daemon in self._running:
            daemon.stop()
        for name in ("work", "local"):
            shutil.rmtree(self._folder / name, ignore_errors=True)


class Driver:
    """A process that runs a file of tests as a script, whose functions can be called by their names."""

    def __init__(self, script: str, folder: Path) -> None:
        self._script, self._folder = script, folder
        self._process: subprocess.Popen[bytes] | None = None
        self._is_busy = False

    def call(self, function: str, *arguments: Any) -> Any:
        """What a function returns."""
        self.begin(function, *arguments)
        return self.end()

    def begin(self, function: str, *arguments: Any) -> None:
        """Call a function, and do not wait."""
        if self._is_busy:  # a test gave up on it
            self.stop()
        if self._process is None:
            self._start()
        self._process.stdin.write(json.dumps([function, arguments]).encode() + b"\n")
        self._process.stdin.flush()
        self._is_busy = True

    def until(self, wanted: Callable[[], Any], what: str) -> Any:
        """What a function here returns once it is something, while the one that was called still runs."""

        def found() -> Any:
            if self._has_answered(0):
                raise AssertionError(f"it ended before this: {what}; it returned {self.end()}")
            return wanted()

        return until(found, what)

    def end(self) -> Any:
        """What the function that was called returned."""
        line = self._process.stdout.readline() if self._has_answered(TIMEOUT) else b""
        if not line:
            self.stop()
            raise AssertionError(f"no answer within {TIMEOUT} s; see the logs in {self._folder}")
        self._is_busy = False
        returned, failed = json.loads(line)
        assert not failed, failed
        return returned

    def _has_answered(self, seconds: float) -> bool:
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def _start(self) -> None:
        with (self._folder / "driver.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, self._script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(self._folder),
                start_new_session=True,
            )

    def stop(self) -> None:
        """End it, and its Java; the next call begins another."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
        self._process, self._is_busy = None, False
        shutil.rmtree(self._folder / "local", ignore_errors=True)


def answer(functions: dict[str, Any]) -> None:
    """What a `Driver` runs: calls functions as it is told by lines of its input."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whoever else prints does so in the log
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        name, arguments = json.loads(lines.get())
        try:
            returned, failed = functions[name](*arguments), None
        except Exception:
            returned, failed = None, traceback.format_exc()
        print(json.dumps([returned, failed]), file=told, flush=True)


def _listen(lines: queue.Queue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os.killpg(0, signal.SIGKILL)  # whoever asked is gone


def parents() -> dict[int, int]:
    """The parent of every process."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    return {int(pid): int(parent) for pid, parent in (line.split() for line in listed.splitlines())}


def kill(*pids: int) -> None:
    """Kill processes, and wait until they are no more."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself since it was listed
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(_is_alive(pid) for pid in pids), "they are gone")


def _is_alive(pid: int) -> bool:
    asked = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return bool(state) and not state.startswith("Z")
