"""Files of tables, each in its own format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textodds.data import database, formats, jsonl, lines, parquet
from textodds.data.files import File
from textodds.data.fileset import FileOptions
from textodds.data.parts import Part
from textodds.data.position import Position
from textodds.data.rejects import Rejects
from textodds.data.sought import Sought
from textodds.errors import InputError


@dataclass(frozen=True)
class TableFileOptions(FileOptions[Part]):
    """How files of tables are to be read."""

    sought: Sought

    @property
    def of_stdin(self) -> str | None:
        """Nothing: a table shows what it is."""
        return None

    def format_of(self, file: File) -> str:
        """The format of ``file``: as said, by its name, or by its content; texts are refused."""
        chosen = self.format or formats.by_name(file.name) or formats.by_content(file, tabular=True)
        if chosen in ("fasttext", "lines"):
            raise _no_table(f"`{file.name}`, read as {chosen},")
        return chosen

    def batches(self, file: File, chosen: str, rejects: Rejects, progress: Position) -> Iterator[Part]:
        """Parts of one file in the ``chosen`` format."""
        if chosen == "jsonl":
            return jsonl.parts(file, self.sought, progress)
        if chosen == "parquet":
            return parquet.parts(file, self.sought, progress)
        if chosen == "database":
            return database.parts(file, None, self.sought)
        return lines.parts(
            file, chosen, self.sought, rejects, progress, quoting=self.quoting, header=self.header
        )

    def of_folder(self, path: str) -> Callable[[Rejects, Position], Iterator[Part]]:
        """An error: a folder holds documents."""
        raise _no_table(f"`{path}`, a folder of documents,")


def _no_table(what: str) -> InputError:
    return InputError(
        f"{what} holds texts, not a table",
        hint="give a table: CSV, TSV, JSON lines, Parquet or a database",
    )
