"""One process at a time changes a model file, and none writes over what it has not read.

The lock is advisory, and on the file itself. The file is replaced when it is written: one that has waited
finds that the file it has locked is no longer the one at the path, and locks that one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from textodds.data.written_file import is_same, locks, status, try_lock
from textodds.errors import ModelFileError


@contextmanager
def changing(
    path: str | os.PathLike[str], on_wait: Callable[[], object] = lambda: None
) -> Iterator[Callable[[], None]]:
    """The file at ``path`` is ours to read and to replace while this lasts; ``on_wait`` tells of others.

    Call what is given just before the file is replaced: it fails if something else has changed it meanwhile,
    which the lock cannot keep from doing so.
    """
    target = Path(os.path.realpath(path))
    handle = _locked(target, on_wait)
    try:
        before = _mark(target)

        def must_be_unchanged() -> None:
            if _mark(target) != before:
                raise ModelFileError(
                    f"`{os.fspath(path)}` was changed by another program meanwhile; it is left as it is",
                    hint="run the command again",
                )

        yield must_be_unchanged
    finally:
        if handle is not None:
            os.close(handle)  # which unlocks it


def _locked(target: Path, on_wait: Callable[[], object]) -> int | None:
    """The file at a path, open and locked; None where there is none to lock."""
    if locks is None:  # an open file could not be replaced; that it has changed is still seen
        return None
    has_waited = False
    while target.is_file():
        try:
            handle = os.open(target, os.O_RDONLY)
        except OSError:
            return None  # it cannot be read, which whoever reads it says
        if not try_lock(handle):
            if not has_waited:
                on_wait()
            has_waited = True
            locks.flock(handle, locks.LOCK_EX)
        if is_same(target, handle):
            return handle
        os.close(handle)
    return None


def _mark(target: Path) -> tuple[int, ...] | None:
    """What tells a file from one that was written since."""
    found = status(target)
    return None if found is None else (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
