"""What ties a process to the service that began it: the service holds the other end of its standard input.

Imports nothing but the standard library: a process gives way before it loads what it works with.
"""

from __future__ import annotations

import atexit
import os
import queue
import shutil
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def questions(folder: Path) -> Iterator[bytes]:
    """The lines that the service sends, for as long as it lives.

    Once it has ended, however it has (`kill -9`, too), this process ends at once, in the middle of what it
    does, and removes the folder that it was given.
    """
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    ended = threading.Event()

    def listen() -> None:
        with open(0, "rb", closefd=False) as given:  # not `sys.stdin`, which Python locks when it ends
            for line in given:
                lines.put(line)
        ended.set()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what fails now, for want of the folder, is no fault
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    listening = threading.Thread(target=listen, name="textodds-parent", daemon=True)
    listening.start()
    atexit.register(lambda: listening.join() if ended.is_set() else None)  # the folder goes in any case
    return iter(lines.get, None)


def give_way() -> None:
    """Take what others leave of a core, and hand it back as soon as one of them wakes."""
    if hasattr(os, "nice"):
        os.nice(19)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):  # where a container forbids it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
