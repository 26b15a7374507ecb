"""How many threads a call may use."""

from __future__ import annotations

import os

from textodds.errors import InputError


def default_threads() -> int:
    """Threads to use: ``TEXTODDS_THREADS``, or one per core this process may use."""
    given = os.environ.get("TEXTODDS_THREADS", "")
    if given and not (given.isdigit() and int(given) > 0):
        raise InputError(f"TEXTODDS_THREADS must be a whole number above 0, got {given!r}")
    if given:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """The number of threads asked for, or the default."""
    if threads is None:
        return default_threads()
    if threads < 1:
        raise InputError(f"threads must be 1 or more, got {threads}")
    return threads
