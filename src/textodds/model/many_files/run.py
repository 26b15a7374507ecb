"""A run over many files, from their names to a summary."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.data import READ_OPTIONS, Observer, ReadOptions
from textodds.errors import FilesFailed, InputError
from textodds.judge.thresholds import Goal
from textodds.model.file import load, save
from textodds.model.many_files.answer_file import FileAnswers, FileFailure
from textodds.model.many_files.file_states import FileStates, Maker, digest_of
from textodds.model.many_files.inputs import found_files
from textodds.model.many_files.shards import checked_shard, shard_of
from textodds.model.many_files.worker import Work, must_be_unchanged, state_of
from textodds.model.many_files.workers import outcomes
from textodds.model.output.answer_request import AnswerRequest, AnswerSource
from textodds.model.output.decision import Decision
from textodds.model.text_updates import TextUpdates
from textodds.stats.tally import MOST_THREADS, default_threads

if TYPE_CHECKING:
    from textodds.model.file import AnyModel

REFUSED = ("label", "label_separator", "weight", "query")  # options for reading that answers have no use for


@dataclass(frozen=True)
class FilesAnswered:
    """What a run over many files has done.

    ``files`` are those written now, by their paths; ``skipped`` were finished before; ``failed`` have no
    answers. ``notes`` say how it is decided.
    """

    output: str
    files: tuple[FileAnswers, ...]
    skipped: int
    failed: tuple[FileFailure, ...] = ()
    notes: tuple[str, ...] = field(default=(), repr=False)
    is_of_texts: bool = field(default=True, repr=False)
    answered_by: str = field(default="the prior", repr=False)  # those without a known word or value

    @property
    def rows(self) -> int:
        """Rows that were written."""
        return sum(each.rows for each in self.files)

    @property
    def unread(self) -> int:
        """Rows among them that could not be read, and have no answer."""
        return sum(each.unread for each in self.files)

    @property
    def unknown(self) -> int:
        """Rows without a known word or value."""
        return sum(each.unknown for each in self.files)

    @property
    def rejected(self) -> int:
        """Bad rows, which were skipped."""
        return sum(each.rejected for each in self.files)


def predict_files(
    model: AnyModel | str | os.PathLike[str],
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    workers: int | None = None,
    shard: str | tuple[int, int] | None = None,
    force: bool = False,
    output_format: str | None = None,
    keep: str | Sequence[str] | None = None,
    proba: bool = False,
    top: int | None = None,
    threshold: float | None = None,
    loss: str | Sequence[str] = (),
    abstain: float | None = None,
    tree: bool = False,
    max_error: float | None = None,
    sets: float | None = None,
    by_class: bool = False,
    familiarity: bool = False,
    prior: str | dict[str, float] | None = None,
    goal: str | Goal | None = None,
    threads: int | None = None,
    observer: Observer | None = None,
    **reading: Any,
) -> FilesAnswered:
    """Answer many files: write one file for each to a folder, all columns followed by the answers.

    A file is written whole or not at all. Run again, it goes on: files that the same model has finished with
    the same options, from the same input, are skipped.

    Parameters
    ----------
    model : model or path
        A model, or the file of one.
    inputs : path or list of paths
        Files, patterns (``"data/**/*.parquet"``), and folders, of which all files of data are taken.
    output : path
        The folder for the answers. They are called as the files are, below the folder that is given or the
        first wildcard of a pattern, and have their formats: CSV, TSV, JSON lines or Parquet, packed likewise.
        Other formats are written as CSV.
    workers : int, optional
        Processes that answer files at once, each with the model; by default one for each core.
    shard : str or pair, optional
        ``"3/16"`` does the third of sixteen parts of the files, balanced by size: for as many machines.
    force : bool
        Whether to replace files that another model or other options have made.
    output_format : str, optional
        Write all answers as ``csv``, ``tsv``, ``jsonl`` or ``parquet``.
    keep : str or list of str, optional
        The columns of the data to write beside the answers; all by default, and an empty list for none.
    proba, top, threshold, loss, abstain, tree, max_error, sets, by_class, familiarity, prior, goal
        What an answer is, as for ``textodds predict``.
    threads : int, optional
        Threads of each process; by default one where there are several processes.
    observer : Observer, optional
        Is told of every file (`Observer.task`).
    **reading
        How the files are read: see `textodds.read`. ``rejects_path`` is a folder, with a file for each.

    Returns
    -------
    FilesAnswered
        What was written, and how many files were finished before.

    Raises
    ------
    FilesFailed
        At the end, where some files could not be answered: its ``summary`` has them, and all others are
        done.
    """
    given = [os.fsdecode(each) for each in ([inputs] if isinstance(inputs, (str, os.PathLike)) else inputs)]
    _check(given, workers, reading)
    keep = [keep] if isinstance(keep, str) else keep
    decision = Decision(
        (loss,) if isinstance(loss, str) else tuple(loss), abstain, threshold, tree, max_error, sets, by_class
    )
    asked = AnswerRequest(decision, proba, top, familiarity, prior, None if goal is None else Goal.of(goal))
    folder, part = Path(output), checked_shard(shard)
    files = found_files(given, folder, format_=reading.get("format"), output_format=output_format)
    with _file_of(model) as path:
        state = state_of(path)
        loaded = load(path, threads=threads)
        kept = {} if keep is None else {"keep": list(keep)}
        maker = Maker.of(digest_of(path), asked, reading | kept, output_format)
        must_be_unchanged(path, state)
        answering = asked.of(loaded)  # what cannot be answered fails here, not in each file
        mine = shard_of(files, part)
        left = FileStates(folder, maker).left(mine, force=force)
        folder.mkdir(parents=True, exist_ok=True)
        number = max(1, min(workers or default_threads(), len(left)))
        work = Work(path, state, maker, asked, folder, reading, threads or (1 if number > 1 else None), keep)
        done = list(_watched(outcomes(work, left, number, answering), len(left), observer or Observer()))
    return _summary(folder, done, len(mine) - len(left), answering)


def _check(inputs: Sequence[str], workers: int | None, reading: Mapping[str, object]) -> None:
    """Refuse what could only be ignored, or fail for every file."""
    if not all(inputs):
        raise InputError("a file name is empty", hint="check that the shell variable in the command is set")
    if workers is not None and not (type(workers) is int and 1 <= workers <= MOST_THREADS):
        raise InputError(f"workers must be from 1 to {MOST_THREADS:,}, got {workers}")
    for name in REFUSED:
        if reading.get(name) is not None:
            raise InputError(
                f"`{name}` does not apply: rows of many files are answered, each file by itself",
                hint=f"leave `{name}` out",
            )
    ReadOptions.of(
        {name: value for name, value in reading.items() if value is not None or name not in READ_OPTIONS}
    )


@contextlib.contextmanager
def _file_of(model: AnyModel | str | os.PathLike[str]) -> Iterator[str]:
    """The path of a model's file, which is written for this where there is none."""
    if isinstance(model, (str, os.PathLike)):
        yield os.fsdecode(model)
        return
    with tempfile.TemporaryDirectory(prefix="textodds-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "model.textodds")  # noqa: PTH118 (a string, for a process)
        save(path, model)
        yield path


def _watched(
    done: Iterable[FileAnswers | FileFailure], of: int, observer: Observer
) -> Iterator[FileAnswers | FileFailure]:
    if of:
        observer.task("answering", 0, of)
    for number, outcome in enumerate(done, start=1):
        observer.task("answering", number, of)
        yield outcome


def _summary(
    folder: Path, done: Iterable[FileAnswers | FileFailure], skipped: int, answering: AnswerSource
) -> FilesAnswered:
    """What was done; fails where a file was not."""
    outcomes = sorted(done, key=lambda each: each.path)
    answered = tuple(each for each in outcomes if isinstance(each, FileAnswers))
    failed = tuple(each for each in outcomes if isinstance(each, FileFailure))
    is_of_texts = isinstance(answering.model, TextUpdates)
    summary = FilesAnswered(
        str(folder), answered, skipped, failed, answering.notes, is_of_texts, answering.model.without_evidence
    )
    if not failed:
        return summary
    raise FilesFailed(failed, summary)
