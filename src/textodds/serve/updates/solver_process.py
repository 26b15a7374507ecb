"""The full solution of a large model, found in a process of its own.

Fitting holds Python's lock for a tenth of a second at a time, and a core for seconds: neither may hold up
who wants to know what one text is. The process gives way to others (`nice`), keeps the model that it solved
last, and ends with the service, however that ends.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from textodds.errors import TextoddsError
from textodds.model.file import load
from textodds.serve.parent import questions
from textodds.serve.records.journal import JournalEntry
from textodds.serve.rows import Model
from textodds.serve.updates.fold import Base, BasisWithIds, ServedModel, catch_up, solution

logger = logging.getLogger("textodds.serve")

BEGUN = "begun.textodds"
# What the process runs. It gives way before it imports NumPy, which alone would hold up answers by 0.3 s.
PROGRAM = (
    "import sys; from textodds.serve.parent import give_way; give_way(); "
    "from textodds.serve.updates.solver_process import main; main(sys.argv[1])"
)
BESIDE = 2000  # documents of a model from which on it is solved beside the service


class SolverProcess:
    """A process that solves models, begun when one is large enough; one thread may ask it at a time."""

    def __init__(self, beside: int = BESIDE) -> None:
        self._beside, self._is_closed = beside, False
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._known: Model | None = None  # the one that the process has solved last

    def solved(self, last: ServedModel, base: Base, entries: Sequence[JournalEntry]) -> ServedModel | None:
        """The model with entries after the last one; None where it is to be solved here."""
        documents = last.model.info.get("documents")
        is_large = isinstance(documents, int | float) and documents >= self._beside
        if self._is_closed or not is_large or not last.model.has_documents:
            return None
        try:
            if self._process is None or self._known is not last.model:
                self._begin(last.model)
            found = self._ask(entries)
            if "problem" in found:
                return None
            path, seq = Path(str(found["path"])), int(str(found["seq"]))
            model = load(path, threads=1)
            path.unlink()  # it stays mapped
        except (OSError, ValueError, TextoddsError) as error:
            if not self._is_closed:
                logger.warning("the process that solves the model has failed, which is done here: %s", error)
                self._end()
            return None
        self._known = model
        return ServedModel(model, base.digest, seq)

    def _begin(self, model: Model) -> None:
        self._end()
        self._folder = tempfile.TemporaryDirectory(prefix="textodds-", ignore_cleanup_errors=True)
        model.save(Path(self._folder.name, BEGUN))
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TEXTODDS_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            # Ctrl-C is for the service, which still needs it to save. Not a session of its own: Linux shares
            # cores out by session (`autogroup`), and `nice` counts only within one.
            process_group=0,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
        )

    def _ask(self, entries: Sequence[JournalEntry]) -> dict[str, object]:
        assert self._process is not None
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        given.write(json.dumps(entries).encode() + b"\n")
        given.flush()
        found: dict[str, object] = json.loads(told.readline())
        return found

    def close(self) -> None:
        """End the process, and remove what it has written."""
        self._is_closed = True
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # of what was not read any more
                    if pipe is not None:
                        pipe.close()
            self._process.wait()
        if self._folder is not None:
            self._folder.cleanup()
        self._process = self._folder = self._known = None


def answer(folder: Path, lines: Iterable[bytes], answers: IO[bytes]) -> None:
    """Solve the model in a folder with the entries of each line; say where it is, or what is wrong."""
    model = load(folder / BEGUN, threads=1)
    last = ServedModel(model, "", 0)
    for number, line in enumerate(lines):
        entries = [JournalEntry(*entry) for entry in json.loads(line)]
        try:
            standing, seq = catch_up(last.model, BasisWithIds.of(last.model), iter(entries))
            found = solution(last.model, standing, Base(model, ""), seq)
            plain: dict[str, object] = {"problem": "no weights can be fitted"}
            if found.is_solved:
                path = folder / f"{number}.textodds"
                found.model.save(path)
                last, plain = found, {"path": str(path), "seq": seq}
        except TextoddsError as error:
            plain = {"problem": error.problem}
        answers.write(json.dumps(plain).encode() + b"\n")
        answers.flush()


def main(folder: str) -> None:
    """Answer until the service ends, and leave nothing behind."""
    lines = questions(Path(folder))
    with suppress(BrokenPipeError):
        answer(Path(folder), lines, sys.stdout.buffer)
    for _ in lines:  # the service has ended, and with its lines this process does
        pass
