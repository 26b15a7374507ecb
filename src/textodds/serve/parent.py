"""What ties a process to the service that began it: the service holds the other end of its standard input."""

from __future__ import annotations

import atexit
import os
import queue
import shutil
import threading
from collections.abc import Iterator
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
