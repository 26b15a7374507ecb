"""Rows that cannot be read: the first stops the run, or all are counted and, on request, kept in a file."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from textodds.errors import BadFile, BadRow, InputError, suggestion

POLICIES = ("stop", "skip")

SUFFIX = ".rejected.jsonl"  # of files of such rows, which patterns pass over

# Reasons quote values, so a bad file of a billion rows could hold a billion different ones.
REASONS_KEPT = 100
OTHER_REASONS = "other reasons"

# A line of a file or a row of a frame, from 1; or, of a document that is a whole file, its path.
At: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where rows come from, for messages: a file counts lines, a frame counts rows."""

    where: str
    unit: str = "line"


class Rejects:
    """The bad rows of one pass over a source.

    Attributes
    ----------
    count : int
        How many rows were left out; always 0 where the first bad row stops the run.
    reasons : Counter[str]
        How often each reason was met, the rarer beyond the first hundred together.
    path : Path or None
        The file they were written to, one JSON object a line with `file`, `line`, `reason` and
        `row`; None while there were none, and where no file was asked for: they hold what people wrote. A
        new pass starts the file anew.
    """

    advise: Callable[[str, str | bytes], str | None] = staticmethod(lambda where, row: None)
    """What to do about a row that is not UTF-8, if the source can tell."""

    may_be_kept = True  # whether there could be such a file

    def __init__(self, policy: str, path: Path | None = None) -> None:
        if policy not in POLICIES:
            raise InputError(
                f"unknown policy for bad rows `{policy}`{suggestion(policy, POLICIES)}",
                hint="`stop` ends the run at the first, `skip` goes on without them",
            )
        self.skips = policy == "skip"
        self._path = path
        self._file: IO[str] | None = None
        self.begin()

    def begin(self) -> None:
        """Forget the bad rows of an earlier pass."""
        self.close()
        self.count = 0
        self.reasons: Counter[str] = Counter()
        self.path: Path | None = None

    def refuse_to_overwrite(self, paths: Iterable[str]) -> None:
        """Fail if the file for bad rows is one of ``paths``."""
        if self.skips and self._path is not None and self._path.exists():
            for path in paths:
                if self._path.samefile(path):
                    raise InputError(
                        f"the rejected rows would overwrite `{path}`, which is to be read",
                        hint="choose another place with `--rejects FILE` (rejects_path='FILE')",
                    )

    def add(self, origin: Origin, at: At, reason: str, row: str | bytes, *, hint: str | None = None) -> None:
        """Take note of a bad row; raises `BadRow` where bad rows stop the run."""
        where, line = (at, None) if isinstance(at, str) else (origin.where, at)
        if not self.skips:
            if "invalid UTF-8" in reason:
                hint = self.advise(where, row) or hint
            raise BadRow(where, line, reason, origin.unit, hint=hint)
        self.count += 1
        known = reason in self.reasons or len(self.reasons) < REASONS_KEPT
        self.reasons[reason if known else OTHER_REASONS] += 1
        if self._path is None:
            return
        if isinstance(row, bytes):
            row = row.decode(errors="backslashreplace")
        note = json.dumps({"file": where, "line": line, "reason": reason, "row": row}, ensure_ascii=False)
        try:
            if self._file is None:
                self._file = self._path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")
                self.path = self._path
            self._file.write(note + "\n")
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            with contextlib.closing(self._file) as file:
                self._file = None
                try:
                    file.flush()
                except OSError as error:
                    assert self._path is not None
                    raise _unwritable(self._path, error) from error

    def discard(self) -> None:
        """Remove the file, if there is one."""
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> BadFile:
    return BadFile(
        f"cannot write the rejected rows to `{path}`: {error.strerror}",
        hint="choose another place with `--rejects FILE` (rejects_path='FILE')",
    )
