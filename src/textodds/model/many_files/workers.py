"""Files answered by several processes at once, each with the model; one that is killed costs one file."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue

import textodds
from textodds.model.many_files.answer_file import FileAnswers, FileFailure
from textodds.model.many_files.inputs import InputFile
from textodds.model.many_files.worker import Work, answers
from textodds.model.output.answer_request import AnswerSource

Outcome = FileAnswers | FileFailure
MAIN = "from textodds.model.many_files.worker import main; main()"


def outcomes(
    work: Work, files: Sequence[InputFile], workers: int, answering: AnswerSource
) -> Iterator[Outcome]:
    """What became of each file, as they are done: here, or in so many processes."""
    if workers == 1 or len(files) < 2:
        yield from map(answers(work, answering), files)
        return
    with _Workers(work, files, min(workers, len(files))) as running:
        for _ in files:
            yield running.next()


class _Workers:
    """Processes, each fed by a thread of its own."""

    def __init__(self, work: Work, files: Sequence[InputFile], number: int) -> None:
        self._work = work
        self._files: SimpleQueue[InputFile] = SimpleQueue()
        for file in files:
            self._files.put(file)
        self._done: SimpleQueue[Outcome | BaseException] = SimpleQueue()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False
        self._threads = [threading.Thread(target=self._feed, daemon=True) for _ in range(number)]

    def __enter__(self) -> _Workers:
        for thread in self._threads:
            thread.start()
        return self

    def next(self) -> Outcome:
        """What became of the next file that is done."""
        outcome = self._done.get()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def __exit__(self, *_: object) -> None:
        self._is_closed = True
        for process in list(self._processes):
            process.kill()
        for thread in self._threads:
            thread.join()

    def _feed(self) -> None:
        """Have files answered until there are none; a process that has died is replaced."""
        process: subprocess.Popen[bytes] | None = None
        try:
            while not self._is_closed:
                try:
                    file = self._files.get_nowait()
                except Empty:
                    return
                process = process or self._begun()
                try:
                    self._done.put(_ask(process, file))
                except (OSError, EOFError, pickle.UnpicklingError):
                    self._done.put(_died(file, self._ended(process)))
                    process = None
        except BaseException as error:  # for the thread that waits
            self._done.put(error)
        finally:
            if process is not None:
                self._ended(process)

    def _begun(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": _path_of_modules()},
            process_group=0,  # Ctrl-C is for the process that has begun it, which then ends this one
        )
        self._processes.add(process)
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # whoever asks it will see that it has died
            pickle.dump(self._work, process.stdin)
            process.stdin.flush()
        return process

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """End a process; its status."""
        self._processes.discard(process)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        return process.wait()


def _path_of_modules() -> str:
    """Where a process finds modules, this package among them."""
    known = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(filter(None, [known, str(Path(textodds.__file__).parents[1])]))


def _ask(process: subprocess.Popen[bytes], file: InputFile) -> Outcome:
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(file, process.stdin)
    process.stdin.flush()
    outcome: Outcome = pickle.load(process.stdout)
    return outcome


def _died(file: InputFile, status: int) -> FileFailure:
    """What to say of a file whose process has ended before it was answered."""
    if status >= 0:
        return FileFailure(file.path, f"the process that answered it has ended with status {status}")
    name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
    hint = "fewer take less memory: `--workers 1`" if name == "SIGKILL" else None
    return FileFailure(file.path, f"the process that answered it was killed ({name})", hint)
