"""A process that answers files: told which, one after the other, by the process that has started it.

What is said to it and what it answers are pickles, on its stdin and what was its stdout. It ends when its
stdin does, in the middle of a file too: whoever waited for the answer is no more.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from textodds.errors import InputError
from textodds.model.file import load
from textodds.model.many_files.answer_file import answer_file
from textodds.model.many_files.file_states import FileStates, Maker
from textodds.model.many_files.inputs import InputFile
from textodds.model.output.answer_request import AnswerRequest, AnswerSource

ModelState = tuple[int, int, int] | None


@dataclass(frozen=True)
class Work:
    """What is the same for all files of a run."""

    model: str  # the path of its file
    state: ModelState
    maker: Maker
    asked: AnswerRequest
    output: Path
    reading: dict[str, Any]
    threads: int | None
    keep: Sequence[str] | None = None  # columns, where not all are written


def state_of(model: str) -> ModelState:
    """What tells the file of a model from one that has taken its place; None where there is none."""
    try:
        status = Path(model).stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def must_be_unchanged(model: str, state: ModelState) -> None:
    """Refuse the file of a model that is not the one that it was."""
    if state_of(model) != state:
        raise InputError(f"`{model}` has changed since the run began", hint="run the command again")


def answers(work: Work, answering: AnswerSource) -> Any:
    """A function that answers one file."""
    finished = FileStates(work.output, work.maker)
    reading = {**work.reading, "keep_rows": True if work.keep is None else work.keep}
    return lambda file: answer_file(file, answering, work.output, finished, reading)


def _given(stream: IO[bytes]) -> SimpleQueue[Any]:
    """What comes on a stream, read in a thread that ends the process with it."""
    queue: SimpleQueue[Any] = SimpleQueue()

    def read() -> None:
        while True:
            try:
                queue.put(pickle.load(stream))
            except (EOFError, OSError, pickle.UnpicklingError):
                os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return queue


def main() -> None:
    """Answer files until there are no more."""
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is talk
    given = _given(sys.stdin.buffer)
    work: Work = given.get()
    answering = work.asked.of(load(work.model, threads=work.threads))
    must_be_unchanged(work.model, work.state)
    answer = answers(work, answering)
    while True:
        file: InputFile = given.get()
        pickle.dump(answer(file), told)
        told.flush()
