"""A server in a process of its own, on a core of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from corpora import Missing
from serving.load import ask, get

HERE = Path(__file__).resolve().parent


def cores() -> tuple[int, int]:
    """The core of servers, and that of the one who asks."""
    if not hasattr(os, "sched_setaffinity"):
        raise Missing("this system does not give processes cores of their own")
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < 2:
        raise Missing("one core is too few: one is to serve and one to ask")
    return mine[0], mine[1]


@contextmanager
def asking() -> Iterator[int]:
    """This process on the core of the one who asks; gives the core of servers."""
    before = os.sched_getaffinity(0)
    server, mine = cores()
    os.sched_setaffinity(0, {mine})
    try:
        yield server
    finally:
        os.sched_setaffinity(0, before)


class Server:
    """A process that has told where it listens."""

    def __init__(self, argv: Sequence[str], core: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *argv],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server did not start, and ended with {self.process.wait()}")
        self.port = int(json.loads(line)["address"].rsplit(":", 1)[1].strip("/"))
        self._usage = psutil.Process(self.process.pid)

    @property
    def cpu(self) -> float:
        """CPU seconds so far, of all threads."""
        used = self._usage.cpu_times()
        return float(used.user + used.system)

    @property
    def held_up(self) -> float:
        """Seconds so far that its main thread could have run, while its core was another's."""
        told = Path(f"/proc/{self.process.pid}/schedstat").read_text(encoding="ascii")
        return int(told.split()[1]) / 1e9

    def ask(self, message: bytes) -> Any:
        """The answer to a request."""
        return json.loads(ask(self.port, message))

    def count(self, name: str) -> float:
        """A number that the service tells Prometheus."""
        found = re.search(
            rf"^{name}(?:_total)? (\S+)$", ask(self.port, get("/metrics")).decode(), re.MULTILINE
        )
        if found is None:
            raise LookupError(name)
        return float(found[1])

    def stop(self) -> None:
        """End it in good order; one that does not end is a fault, and is not left behind."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise


@contextmanager
def running(core: int, commands: dict[str, Sequence[str]]) -> Iterator[dict[str, Server]]:
    """Servers by name, which end with the block."""
    with ExitStack() as ends:
        servers: dict[str, Server] = {}
        for name, argv in commands.items():
            servers[name] = Server(argv, core)
            ends.callback(servers[name].stop)
        yield servers


def serve(model: Path, journal: Path) -> list[str]:
    """The command of a service."""
    return ["-m", "textodds", *_serve(model, journal)]


def instead(pipeline: Path | str, model: Path, journal: Path) -> list[str]:
    """The command of the same service with a pipeline of scikit-learn, or nothing, for its model."""
    return [str(HERE / "peer.py"), str(pipeline), *_serve(model, journal)]


def echo() -> list[str]:
    """The command of a server that does nothing but answer."""
    return [str(HERE / "echo.py")]


def _serve(model: Path, journal: Path) -> list[str]:
    return ["serve", str(model), "--port", "0", "--json", "--journal", str(journal)]


def file_system(folder: Path) -> str:
    """The kind of file system that a folder is on."""
    place = folder.resolve()
    parts = psutil.disk_partitions(all=True)
    holding = [part for part in parts if place.is_relative_to(part.mountpoint)]
    return max(holding, key=lambda part: len(part.mountpoint)).fstype if holding else "unknown"
