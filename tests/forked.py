"""`python -m textodds` in a process of its own, without the second that importing it takes.

One process for each run of the tests (for each worker) imports what the command line and the service need,
and then does nothing but fork. A forked process has its own memory, files, signals and exit status, as one
that was started has, but it is there within milliseconds. `tests/cli` starts clean interpreters, and holds
that they work.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

_PRELOADED = """
import httptools, jinja2, msgspec, numpy, prometheus_client, sqlite3, starlette, uvicorn, uvloop
import textodds, textodds.cli, textodds.cli.options, textodds.serve.server, textodds.serve.evaluate_file
import uvicorn.loops.uvloop, uvicorn.protocols.http.httptools_impl
"""


def start(*args: str, env: dict[str, str]) -> Forked | subprocess.Popen[str]:
    """A process of `textodds` with these arguments, and pipes from its stdout and stderr."""
    if sys.platform == "linux":
        return Forked(*args, env=env)
    command, pipe = [sys.executable, "-m", "textodds", *args], subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **env})


def run(*args: str, input: str = "", timeout: float = 300) -> subprocess.CompletedProcess[str]:  # noqa: A002
    """A process of `textodds` that has ended, to which ``input`` came through a pipe."""
    if sys.platform != "linux":
        command = [sys.executable, "-m", "textodds", *args]
        return subprocess.run(
            command, input=input, timeout=timeout, capture_output=True, text=True, check=False
        )
    theirs, ours = os.pipe()
    process = Forked(*args, env={}, stdin=theirs)
    writing = threading.Thread(target=_write, args=(ours, input.encode()), daemon=True)
    writing.start()
    out, err = process.communicate(timeout)
    writing.join()
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


def _write(end: int, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(end, "wb") as file:  # it need not read all
        file.write(content)


class Forked:
    """A process of the command line, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, *args: str, env: dict[str, str], stdin: int | None = None) -> None:
        self.args = ["textodds", *args]
        self.returncode: int | None = None
        given = os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin
        out, their_out = os.pipe()
        err, their_err = os.pipe()
        self._status, their_status = os.pipe()
        request = {"args": args, "folder": str(Path.cwd()), "environment": {**os.environ, **env}}
        ends = [given, their_out, their_err, their_status]
        _ask(json.dumps(request).encode(), ends)
        for end in ends:
            os.close(end)
        self.stdout: IO[str] = os.fdopen(out, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(err, encoding="utf-8")
        self.pid = int(self._line())

    def _line(self) -> bytes:
        found = b""
        while not found.endswith(b"\n"):
            part = os.read(self._status, 1)
            if not part:
                raise RuntimeError("the process that forks others is gone")
            found += part
        return found

    def poll(self) -> int | None:
        """The exit status as `subprocess` has it, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = int(self._line())
            os.close(self._status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once there is one."""
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        found = self.poll()
        assert found is not None
        return found

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it has printed on stdout and stderr until its end."""
        printed = ["", ""]

        def read(number: int, stream: IO[str]) -> None:
            printed[number] = stream.read()
            stream.close()

        open_ones = [(n, one) for n, one in enumerate((self.stdout, self.stderr)) if not one.closed]
        threads = [threading.Thread(target=read, args=each, daemon=True) for each in open_ones]
        end = None if timeout is None else time.monotonic() + timeout
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(None if end is None else max(0.0, end - time.monotonic()))
        return printed[0], printed[1]

    def send_signal(self, number: int) -> None:
        """A signal, if it is there to get one."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


_lock = threading.Lock()
_asked: socket.socket | None = None


def _ask(request: bytes, ends: list[int]) -> None:
    """Send a request to the process that forks; the first one starts it."""
    global _asked
    with _lock:
        if _asked is None:
            _asked, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, __file__, str(theirs.fileno())]
            process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
            theirs.close()
            atexit.register(_end, _asked, process)
        socket.send_fds(_asked, [request], ends)


def _end(asked: socket.socket, process: subprocess.Popen[bytes]) -> None:
    asked.close()  # which ends it
    process.wait()


def _requests(asked: socket.socket) -> Iterator[tuple[dict[str, Any], list[int]]]:
    while True:
        request, ends, _, _ = socket.recv_fds(asked, 1 << 18, 4)
        if not request:
            return
        yield json.loads(request), list(ends)


def _tend(ends: list[int]) -> None:
    """In a process of its own: fork once more, and tell the status pipe the pid, and how that one ended.

    Returns in the new process only, whose stdin, stdout and stderr are the given ones.
    """
    *streams, status = ends
    pid = os.fork()
    if pid == 0:
        for number, end in enumerate(streams):
            os.dup2(end, number)
            os.close(end)
        os.close(status)
        return
    for end in streams:
        os.close(end)
    os.write(status, f"{pid}\n".encode())
    _, ended = os.waitpid(pid, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _fork_for(asked: socket.socket) -> list[str] | None:
    """Fork until nobody asks any more; in a forked process, the words of its command."""
    for request, ends in _requests(asked):
        if os.fork() == 0:
            asked.close()
            _tend(ends)
            os.chdir(request["folder"])
            os.environ.clear()
            os.environ.update(request["environment"])
            return list(request["args"])
        for end in ends:
            os.close(end)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # those who have tended one to its end
                pass
    return None


def _main() -> int:
    del sys.path[0]  # the folder of this file, which is none of theirs
    exec(_PRELOADED)
    from textodds.cli import main

    words = None
    with contextlib.suppress(KeyboardInterrupt):
        words = _fork_for(socket.socket(fileno=int(sys.argv[1])))
    if words is None:
        return 0
    sys.argv = ["textodds", *words]
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):  # which had looked at other files
        mode, buffering = ("w" if number else "r"), (1 if number == 2 else -1)
        setattr(sys, name, os.fdopen(number, mode, buffering, encoding="utf-8", closefd=False))
    return main(words)


if __name__ == "__main__":
    sys.exit(_main())
