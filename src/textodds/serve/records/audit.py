"""Who has corrected what: a line of JSON for each correction, on disk before the correction is kept.

Lines are written within the transaction of the journal, after its entries and before its commit. So no
correction is kept, or acknowledged, without its line. A crash in between leaves a line of a correction that
was not kept: the next one has the same ``seq``, and of two lines with one number the later one counts.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from textodds.data.label_sets import is_set, labels_in
from textodds.errors import InputError
from textodds.serve.records.journal import PRIVATE, JournalEntry

logger = logging.getLogger("textodds.serve")

CHANGES = {1: "learned", -1: "forgotten"}


class AuditLog:
    """A file to which lines are added; opened again by `reopen`, after it was moved away."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._file = self._opened()

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):  # not on every system
            flags |= getattr(os, name, 0)
        try:
            file = os.open(self._path, flags, PRIVATE)
        except OSError as error:
            raise InputError(
                f"cannot write the audit log `{self._path}`: {error.strerror or error}",
                hint="name another file with `--audit`",
            ) from error
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            os.close(file)
            raise InputError(f"the audit log `{self._path}` is not a file", hint="name one with `--audit`")
        return file

    def reopen(self) -> None:
        """Go on in a new file, if the old one was moved away; on an error, in the old one."""
        with self._lock:
            try:
                file = self._opened()
            except InputError as error:
                logger.error("the audit log was not reopened: %s", error.problem)
                return
            os.close(self._file)
            self._file = file

    def write(self, entries: Sequence[JournalEntry], by: Sequence[str]) -> None:
        """Add a line for each entry, and wait until they are on disk; `OSError`, if that fails."""
        self._add([_line(entry, CHANGES[entry.sign], who) for entry, who in zip(entries, by, strict=True)])

    def withdraw(self, entries: Sequence[JournalEntry], by: Sequence[str]) -> None:
        """Say of entries that were written that they have not been kept."""
        try:
            self._add([_line(entry, "withdrawn", who) for entry, who in zip(entries, by, strict=True)])
        except OSError as error:
            logger.error("the audit log may have corrections that were not kept: %s", error)

    def _add(self, lines: Sequence[bytes]) -> None:
        with self._lock:
            if not os.fstat(self._file).st_nlink:  # it was removed, and nobody would find what is written
                file = self._opened_again()
                os.close(self._file)
                self._file = file
            size = os.fstat(self._file).st_size
            os.lseek(self._file, max(size - 1, 0), os.SEEK_SET)
            is_torn = os.read(self._file, 1) not in (b"\n", b"")  # a line was cut off
            content = (b"\n" if is_torn else b"") + b"".join(lines)
            while content:
                content = content[os.write(self._file, content) :]
            os.fsync(self._file)

    def _opened_again(self) -> int:
        try:
            return self._opened()
        except InputError as error:
            raise OSError(error.problem) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock, suppress(OSError):
            os.close(self._file)


def _line(entry: JournalEntry, change: str, by: str) -> bytes:
    """What is said of an entry: of its text the digest alone. All but printable ASCII is escaped."""
    digest = None
    if entry.text is not None:
        digest = hashlib.sha256(entry.text.encode("utf-8", "surrogatepass")).hexdigest()
    plain = {
        "at": entry.at,
        "by": by,
        "change": change,
        "id": entry.id,
        **({"labels": labels_in(entry.label)} if is_set(entry.label) else {"label": entry.label}),
        "seq": entry.seq,
        "sha256": digest,
    }
    return json.dumps(plain).replace("\x7f", "\\u007f").encode() + b"\n"
