"""Files that are written: whole or not at all, in the place of a regular file or of none.

Whatever else there is at a path (a device, a named pipe) is written to, and stays what it is. A temporary
file is locked while its writer lives: the next one to write there can tell a file that a killed process has
left from one that is in use, and removes it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textodds.errors import ModelFileError, TextoddsWarning

locks: Any
try:
    import fcntl as locks
except ImportError:  # Windows: a file is still written whole, but two processes are not kept apart
    locks = None

HOLDS = os.name == "nt"
"""Whether a file that is open, or mapped, can be neither replaced nor removed, as on Windows."""

LONGEST_NAME = 255  # bytes
Status = os.stat_result | None


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file that takes the place of ``path`` at the end, safely on disk, or vanishes.

    The owner and the mode of a file that was there are kept.
    """
    target = Path(path)
    handle: int | None
    try:
        before = status(target)
        if before is not None and not stat.S_ISREG(before.st_mode):
            with _copied_to(target) as temporary:
                yield temporary
            return
        target = Path(os.path.realpath(target))  # behind a link, what it leads to is replaced
        handle, temporary = _made(target)
    except OSError as error:
        raise unwritable(path, error, "choose a folder that exists and may be written to") from error
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        _like(temporary, before, target)
        if HOLDS:
            os.close(handle)
            handle = None
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        handle = _dropped(temporary, handle)
        raise unwritable(target, error, "the file there before is untouched") from error
    except BaseException:
        handle = _dropped(temporary, handle)
        raise
    finally:
        if handle is not None:
            os.close(handle)


def _dropped(temporary: Path, handle: int | None) -> int | None:
    """Remove a temporary file, and close it first where that must be; its handle, if it is still open."""
    if HOLDS and handle is not None:
        os.close(handle)
        handle = None
    temporary.unlink(missing_ok=True)
    return handle


def file_name(stem: str, suffix: str) -> str:
    """The name of a file, no longer than names may be.

    >>> file_name("mail", ".textodds"), len(file_name("é" * 200, ".textodds").encode())
    ('mail.textodds', 255)
    """
    while len(os.fsencode(stem)) > LONGEST_NAME - len(suffix):
        stem = stem[:-1]
    return stem + suffix


def status(path: Path) -> Status:
    """What there is at a path, behind a link; None if nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove temporary files for ``path`` that processes have left which were killed while they wrote."""
    for temporary in _names(Path(os.path.realpath(path))):
        if not temporary.exists():
            return
        _is_left(temporary)


def try_lock(handle: int) -> bool:
    """Whether an open file is locked now for us alone; True also where there are no locks."""
    if locks is None:
        return True
    try:
        locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def is_same(path: Path, handle: int) -> bool:
    """Whether an open file is the one that is at ``path`` now."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def unwritable(path: str | os.PathLike[str], error: OSError, hint: str) -> ModelFileError:
    """The error for a file that cannot be written."""
    return ModelFileError(f"cannot write `{os.fspath(path)}`: {error.strerror or error}", hint=hint)


def _names(target: Path) -> Iterator[Path]:
    """Names of temporary files beside one, however long its own name is."""
    import hashlib

    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return (target.parent / f".textodds-{digest}-{number}.part" for number in itertools.count())


def _made(target: Path) -> tuple[int, Path]:
    """A new temporary file beside ``target``, open and locked; those that were left are removed."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    for temporary in _names(target):
        while True:
            try:
                handle = os.open(temporary, flags, 0o600)
            except FileExistsError:
                if _is_left(temporary):
                    continue
                break  # of one that is being written: the next name
            if try_lock(handle) and is_same(temporary, handle):
                return handle, temporary
            os.close(handle)  # taken for one that was left before it was locked
    raise AssertionError("there is no end of names")


def _is_left(temporary: Path) -> bool:
    """Whether a temporary file was left by a process that is no more, and is now removed."""
    if locks is None:
        return False
    try:
        handle = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if not try_lock(handle):
            return False
        if is_same(temporary, handle):
            temporary.unlink(missing_ok=True)
        return True
    finally:
        os.close(handle)


def _like(temporary: Path, before: Status, target: Path) -> None:
    """Give a temporary file the owner and the mode of the file that it replaces."""
    if before is None:
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        return
    mine = temporary.stat()
    if hasattr(os, "chown") and (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(temporary, before.st_uid, before.st_gid)
        except PermissionError:
            with contextlib.suppress(PermissionError):
                os.chown(temporary, -1, before.st_gid)
            warnings.warn(
                f"`{target}` now belongs to you: only root could keep its former owner",
                TextoddsWarning,
                stacklevel=4,
            )
    temporary.chmod(stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    if HOLDS:  # where a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _copied_to(target: Path) -> Iterator[Path]:
    """A temporary file whose bytes go to a device or a pipe at the end."""
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="textodds-") as folder:
        temporary = Path(folder, "written")
        yield temporary
        try:
            with temporary.open("rb") as written, target.open("wb") as device:
                shutil.copyfileobj(written, device)
        except OSError as error:
            raise unwritable(target, error, "name a file instead") from error
