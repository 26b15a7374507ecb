"""The files of one source, each read in its own format."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from textodds.data import files, folder, formats
from textodds.data.files import File, Spool
from textodds.data.position import Position
from textodds.data.rejects import Rejecting, Rejects
from textodds.data.source import SourceFactory
from textodds.errors import BadFile, InputError

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class FileOptions(ABC, Generic[T]):
    """How files are to be read, whatever their format turns out to be."""

    format: str | None
    quoting: bool
    header: bool

    @property
    @abstractmethod
    def of_stdin(self) -> str | None:
        """The format of standard input where nothing else tells."""

    @abstractmethod
    def format_of(self, file: File) -> str:
        """The format of ``file``: as said, by its name, or by its content; checked to make sense."""

    @abstractmethod
    def batches(self, file: File, chosen: str, rejects: Rejects, progress: Position) -> Iterator[T]:
        """Batches of one file in the ``chosen`` format."""

    @abstractmethod
    def of_folder(self, path: str) -> Callable[[Rejects, Position], Iterator[T]]:
        """Batches of the documents in a folder, or an error where a folder makes no sense."""


def file_source(paths: list[str], reading: FileOptions[T], reject: Rejecting, make: SourceFactory[T, S]) -> S:
    """The source of what ``paths`` mean: files, patterns, one folder, or one pipe."""
    found = [files.named(path) for given in paths for path in files.found(given)]
    if len(found) == 1 and files.is_folder(found[0].path) and reading.format in (None, "folder"):
        return _folder_source(found[0].path, reading, reject, make)
    for file in found:
        if files.is_folder(file.path):
            raise files.folder_instead(file.name)
        if reading.format == "folder":
            raise BadFile(f"`{file.name}` is a file, not a folder", hint="leave out `--format` (format=)")
    if any(file.is_pipe for file in found):
        if len(found) > 1:
            raise InputError("a pipe cannot be read together with other files", hint="join them with `cat`")
        return _pipe_source(found[0], reading, reject, make)

    chosen = [reading.format_of(file) for file in found]
    _refuse_dialect(reading, chosen)
    rejects = reject(_name(found))
    rejects.refuse_to_overwrite(file.path for file in found)

    def batches(rejects: Rejects, progress: Position) -> Iterator[T]:
        for file, format_ in zip(found, chosen, strict=True):
            yield from reading.batches(file, format_, rejects, progress)
            progress.finish(file.size)

    description = found[0].name if len(found) == 1 else f"{len(found):,} files"
    return make(description, batches, rejects, size=sum(file.size for file in found))


def query_source(
    paths: list[str] | None,
    batches: Callable[[File | None, Rejects], Iterator[T]],
    reject: Rejecting,
    make: SourceFactory[T, S],
) -> S:
    """The source of the rows of a query to a database file, or to DuckDB in memory."""
    file = None
    if paths is not None:
        found = [path for given in paths for path in files.found(given)]
        if len(found) > 1:
            raise InputError(f"a query reads one database, and there are {len(found):,} files")
        file = files.named(found[0])
        if files.is_folder(file.path):
            raise files.folder_instead(file.name)
    return make(
        "a query" if file is None else f"a query to {file.name}",
        lambda rejects, _: batches(file, rejects),
        reject("query" if file is None else _name([file])),
    )


def _folder_source(path: str, reading: FileOptions[T], reject: Rejecting, make: SourceFactory[T, S]) -> S:
    batches = reading.of_folder(path)
    _refuse_dialect(reading, ["folder"])
    return make(path, batches, reject(Path(path).resolve().name), size=folder.size(path))


def _pipe_source(pipe: File, reading: FileOptions[T], reject: Rejecting, make: SourceFactory[T, S]) -> S:
    """The source of a pipe: as it comes if its format is known, else by way of a temporary file.

    The temporary file is what allows to look at the first bytes; it can also be read twice.
    """
    known = reading.format or formats.by_name(pipe.name)
    if known is None and pipe.path == files.STDIN:
        known = reading.of_stdin
    rejects = reject(_name([pipe]))
    if known in formats.STREAMED:
        reading = replace(reading, format=known)
        chosen = reading.format_of(pipe)
        _refuse_dialect(reading, [chosen])
        return make(
            pipe.name,
            lambda rejects, progress: reading.batches(pipe, chosen, rejects, progress),
            rejects,
            replayable=False,
        )
    spool = Spool(pipe)

    def batches(rejects: Rejects, progress: Position) -> Iterator[T]:
        return reading.batches(spool.file, reading.format_of(spool.file), rejects, progress)

    return make(pipe.name, batches, rejects)


def _name(found: list[File]) -> str:
    """What to call the file of rejected rows after: the file, or the folder that holds them all."""
    if len(found) == 1:
        return Path(found[0].name).name
    return Path(os.path.commonpath([Path(file.path).absolute().parent for file in found])).name or "files"


def _refuse_dialect(reading: FileOptions[T], chosen: list[str]) -> None:
    if not (reading.quoting and reading.header) and not set(chosen) & set(formats.DELIMITED):
        option = "header" if reading.quoting else "quoting"
        raise InputError(
            f"`{option}` is for CSV and TSV, and the source is in the format {chosen[0]}",
            hint=f"leave out `--no-{option}` ({option}=)",
        )
