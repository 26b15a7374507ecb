"""The files of one source, each read in its own format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from textodds.data import database, files, folder, formats, jsonl, lines, parquet
from textodds.data.admission import admit_parts
from textodds.data.columns import ColumnNames
from textodds.data.files import File, Spool
from textodds.data.rejects import Rejecting, Rejects
from textodds.data.sought import ColumnRequest, Sought
from textodds.data.source import Position
from textodds.errors import BadFile, InputError

S = TypeVar("S")


@dataclass(frozen=True)
class FileOptions:
    """How files are to be read, whatever their format turns out to be: as texts, or as tables."""

    format: str | None
    quoting: bool
    header: bool
    wanted: ColumnRequest

    def format_of(self, file: File) -> str:
        """The format of ``file``: as said, by its name, or by its content; checked to make sense."""
        chosen = self.format or formats.by_name(file.name)
        if chosen is None:
            chosen = formats.by_content(file, tabular=self.wanted.is_tabular)
        if chosen in ("fasttext", "lines"):
            self.wanted.refuse_names(f"`{file.name}`, read as {chosen},")
        if chosen == "lines" and self.wanted.reads_labels:
            raise InputError(
                f"`{file.name}` is read as plain lines, which have no labels",
                hint="write `__label__spam text` on each line and read it with `--format fasttext`",
            )
        return chosen

    def batches(self, file: File, chosen: str, rejects: Rejects, progress: Position) -> Iterator[Any]:
        """What one file in the ``chosen`` format holds: batches of texts, or parts of a table."""
        dialect, wanted = lines.Dialect(chosen, self.quoting, self.header), self.wanted
        if isinstance(wanted, Sought):
            if chosen == "jsonl":
                return jsonl.parts(file, wanted, progress)
            if chosen == "parquet":
                return parquet.parts(file, wanted, progress)
            if chosen == "database":
                return database.parts(file, None, wanted)
            return lines.parts(file, dialect, wanted, rejects, progress)
        if chosen == "jsonl":
            return jsonl.batches(file, wanted, rejects, progress)
        if chosen == "parquet":
            return admit_parts(parquet.parts(file, wanted, progress), wanted, rejects)
        if chosen == "database":
            return database.batches(file, None, wanted, rejects)
        return lines.batches(file, dialect, wanted, rejects, progress)


def file_source(paths: list[str], reading: FileOptions, reject: Rejecting, make: Callable[..., S]) -> S:
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

    def batches(rejects: Rejects, progress: Position) -> Iterator[Any]:
        for file, format_ in zip(found, chosen, strict=True):
            yield from reading.batches(file, format_, rejects, progress)
            progress.finish(file.size)

    description = found[0].name if len(found) == 1 else f"{len(found):,} files"
    return make(description, batches, rejects, size=sum(file.size for file in found))


def query_source(
    paths: list[str] | None,
    query: str,
    wanted: ColumnRequest,
    reject: Rejecting,
    make: Callable[..., S],
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

    def batches(rejects: Rejects, progress: Position) -> Iterator[Any]:
        if isinstance(wanted, Sought):
            return database.parts(file, query, wanted)
        return database.batches(file, query, wanted, rejects)

    if file is None:
        return make("a query", batches, reject("query"))
    return make(f"a query to {file.name}", batches, reject(_name([file])))


def _folder_source(path: str, reading: FileOptions, reject: Rejecting, make: Callable[..., S]) -> S:
    reading.wanted.refuse_names(f"`{path}`, a folder of documents,")
    batches = partial(folder.batches, path, labelled=reading.wanted.reads_labels)
    _refuse_dialect(reading, ["folder"])
    return make(path, batches, reject(Path(path).resolve().name), size=folder.size(path))


def _pipe_source(pipe: File, reading: FileOptions, reject: Rejecting, make: Callable[..., S]) -> S:
    """The source of a pipe: as it comes if its format is known, else by way of a temporary file.

    The temporary file is what allows to look at the first bytes; it can also be read twice.
    """
    known = reading.format or formats.by_name(pipe.name)
    wanted = reading.wanted
    if known is None and pipe.path == files.STDIN and isinstance(wanted, ColumnNames) and not wanted.labelled:
        known = "lines"  # where there need be no labels
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

    def batches(rejects: Rejects, progress: Position) -> Iterator[Any]:
        return reading.batches(spool.file, reading.format_of(spool.file), rejects, progress)

    return make(pipe.name, batches, rejects)


def _name(found: list[File]) -> str:
    """What to call the file of rejected rows after: the file, or the folder that holds them all."""
    if len(found) == 1:
        return Path(found[0].name).name
    return Path(os.path.commonpath([Path(file.path).absolute().parent for file in found])).name or "files"


def _refuse_dialect(reading: FileOptions, chosen: list[str]) -> None:
    if not (reading.quoting and reading.header) and not set(chosen) & set(formats.DELIMITED):
        option = "header" if reading.quoting else "quoting"
        raise InputError(
            f"`{option}` is for CSV and TSV, and the source is in the format {chosen[0]}",
            hint=f"leave out `--no-{option}` ({option}=)",
        )
