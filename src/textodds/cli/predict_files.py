"""``predict -o FOLDER/``: the answers to many files, one file for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.answers import without_words
from textodds.cli.commands import F, option, together
from textodds.cli.decision import DECISION
from textodds.cli.options import OneOf, Value, number, reading_of
from textodds.cli.output import counted, one_line, say, strong
from textodds.cli.progress import progress
from textodds.errors import FilesFailed, InputError
from textodds.stats.tally import MOST_THREADS

if TYPE_CHECKING:
    from textodds.cli.predict import PredictOptions
    from textodds.model.many_files.run import FilesAnswered

SECTION = "Many files"
ANSWERS = ("proba", "top", "familiarity", "goal", *DECISION)
OF_FOLDERS = ("workers", "shard", "force", "output_format")
NONE = "none"  # alone for no column; with others a column of this name
NOTES = 5  # on how files are read, that are said

PROCESSES = number(int, f"a whole number from 1 to {MOST_THREADS:,}", lambda n: 1 <= n <= MOST_THREADS)
SHARD = Value(lambda text: _shard(text), "which one, from 1, and of how many: 3/16")


def _shard(text: str) -> tuple[int, int]:
    from textodds.model.many_files.shards import checked_shard

    return checked_shard(text)


def many_files_options() -> Callable[[F], F]:
    """``--workers``, ``--shard``, ``--force`` and ``--output-format``."""
    formats = ("csv", "tsv", "jsonl", "parquet")
    workers = "Processes, each with the model.  [default: one per core]"
    shard = "Do one part of the files, such as 3/16, balanced by size."
    force = "Replace files that another model or other options have made."
    written = f"Write {', '.join(formats[:3])} or {formats[3]}.  [default: as DATA]"
    return together(
        option(SECTION, "--workers", type=PROCESSES, metavar="N", help=workers),
        option(SECTION, "--shard", type=SHARD, metavar="I/N", help=shard),
        option(SECTION, "--force", is_flag=True, help=force),
        option(SECTION, "--output-format", type=OneOf(formats), metavar="FORMAT", help=written),
    )


def is_folder(output: str | None) -> bool:
    """Whether answers go to a folder: its name ends so, or it is one."""
    return output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir())


def refuse_of_folders(options: PredictOptions) -> None:
    """Fail for an option of many files where the answers are not."""
    for name in OF_FOLDERS:
        if options.get(name):
            raise InputError(
                f"`--{name.replace('_', '-')}` is for many files, whose answers go to a folder",
                hint="name a folder: `-o answers/`",
            )


def kept_columns(given: tuple[str, ...]) -> list[str] | None:
    """The columns that ``--keep`` names, without which all are kept."""
    return None if not given else [] if given == (NONE,) else list(given)


def answer_files(
    model: str,
    data: Sequence[str],
    output: str,
    prior: str | dict[str, float] | None,
    options: PredictOptions,
    *,
    threads: int | None,
    quiet: bool,
) -> None:
    """Answer the files of DATA, and say what was done."""
    from textodds.model.many_files import predict_files

    if not data:
        raise InputError(
            "the answers to stdin are one file, and go to no folder", hint="name a file: `-o answers.csv`"
        )
    taken: dict[str, Any] = {name: options[name] for name in (*ANSWERS, *OF_FOLDERS)}  # type: ignore[literal-required]
    how: dict[str, Any] = dict(reading_of(options))
    taken["keep"] = kept_columns(options["keep"])
    with progress(quiet=quiet) as observer:
        try:
            done = predict_files(
                model, data, output, prior=prior, threads=threads, observer=observer, **taken, **how
            )
        except FilesFailed as error:
            observer.clear()
            say_files(error.summary, options["rejects_path"], quiet=quiet)
            raise
    say_files(done, options["rejects_path"], quiet=quiet)


def say_files(done: FilesAnswered, rejects: str | None, *, quiet: bool) -> None:
    """Say what was written, and what deserves doubt."""
    notes = dict.fromkeys(note for each in done.files for note in each.notes)
    renamed = dict.fromkeys(pair for each in done.files for pair in each.renamed)
    for note in [*done.notes, *map(one_line, list(notes)[:NOTES])]:
        say(note, quiet=quiet)
    for name, free in renamed:
        say(f"the data already have a column {name}: the answer is in {one_line(free)}", quiet=quiet)
    if done.rejected:
        where = "" if rejects is None else f"; they are in {rejects}"
        say(f"skipped {counted(done.rejected, 'row')}{where}", quiet=quiet)
    if done.unread:
        verb = "has" if done.unread == 1 else "have"
        say(f"{counted(done.unread, 'row')} could not be read, and {verb} no answer", quiet=quiet)
    if done.unknown:
        what = without_words(done.unknown, is_of_texts=done.is_of_texts)
        say(f"{what}: answered by {done.answered_by}", quiet=quiet)
    before = f"; skipped {counted(done.skipped, 'file')} finished before" if done.skipped else ""
    wrote = f"{counted(len(done.files), 'file')}, {counted(done.rows, 'row')}"
    say(f"wrote {strong(done.output)}: {wrote}{before}", quiet=quiet)
