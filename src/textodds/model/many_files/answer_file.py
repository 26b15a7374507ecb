"""The answers to one file, written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textodds.data import prefetched
from textodds.data.rejects import SUFFIX as REJECTED
from textodds.data.row_file import row_file
from textodds.data.written_file import replacing
from textodds.errors import TextoddsError
from textodds.model.many_files.file_states import FileStates, identity_of
from textodds.model.many_files.inputs import InputFile
from textodds.model.output.answer_request import AnswerSource
from textodds.model.output.answer_rows import write_rows


@dataclass(frozen=True)
class FileAnswers:
    """What was written of one file.

    ``rows`` have been written, of which ``unread`` have no answer and ``unknown`` no known word; ``rejected``
    were skipped. ``renamed`` are the answers that have other names than usual, and ``notes`` say how the file
    was read.
    """

    path: str
    output: str
    bytes: int
    rows: int
    unread: int
    unknown: int
    rejected: int
    renamed: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileFailure:
    """Why a file has no answers, and what to do about it."""

    path: str
    problem: str
    hint: str | None = None


def answer_file(
    file: InputFile,
    answering: AnswerSource,
    output: Path,
    finished: FileStates,
    reading: Mapping[str, object],
) -> FileAnswers | FileFailure:
    """Write the answers to a file; what stands in the way of that is told, and stops no other file."""
    try:
        return _answer(file, answering, output, finished, reading)
    except TextoddsError as error:
        return FileFailure(file.path, error.problem, error.hint)
    except OSError as error:
        return FileFailure(file.path, error.strerror or str(error), "check the disk and the permissions")
    except MemoryError:
        return FileFailure(file.path, "there is not enough memory", "use fewer workers: `--workers 1`")
    except Exception as error:
        return FileFailure(
            file.path,
            f"this is a bug in textodds: {type(error).__name__}: {error}",
            "please report it, with the command",
        )


def _answer(
    file: InputFile, answering: AnswerSource, output: Path, finished: FileStates, reading: Mapping[str, Any]
) -> FileAnswers:
    target = output / file.name
    how = dict(reading)
    if how.get("rejects_path") is not None:
        rejects = Path(how["rejects_path"], file.name + REJECTED)
        rejects.parent.mkdir(parents=True, exist_ok=True)
        rejects.unlink(missing_ok=True)  # of an earlier run
        how["rejects_path"] = rejects
    identity = identity_of(file)
    source: Any = answering.model.read(file.path, labelled=False, **how)
    target.parent.mkdir(parents=True, exist_ok=True)
    finished.begin(file)
    answered = answering.begin()
    with replacing(target) as temporary, row_file(temporary, file.name, source) as rows:
        write_rows(source, prefetched(source.with_rows()), rows, answered)
    finished.finish(file, identity, answered.rows)
    return FileAnswers(
        file.path,
        str(target),
        file.size,
        answered.rows,
        answered.unread,
        answered.unknown.count,
        source.rejects.count,
        tuple((name, free) for name, free in answered.names.items() if name != free),
        tuple(source.notes),
    )
