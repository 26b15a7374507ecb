"""Files of labelled texts, each in its own format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from textodds.data import database, folder, formats, jsonl, lines, parquet
from textodds.data.batch import Batch
from textodds.data.columns import ColumnNames
from textodds.data.files import File
from textodds.data.fileset import FileOptions
from textodds.data.position import Position
from textodds.data.rejects import Rejects
from textodds.errors import InputError


@dataclass(frozen=True)
class TextFileOptions(FileOptions[Batch]):
    """How files of texts are to be read."""

    wanted: ColumnNames

    @property
    def of_stdin(self) -> str | None:
        """Plain lines, unless there must be labels."""
        return None if self.wanted.labelled else "lines"

    def format_of(self, file: File) -> str:
        """The format of ``file``: as said, by its name, or by its content; checked to make sense."""
        chosen = self.format or formats.by_name(file.name)
        if chosen is None:
            # A named text column says that there are columns, where nothing else does.
            chosen = formats.by_content(file, tabular=self.wanted.labelled or self.wanted.names_columns)
        if chosen in ("fasttext", "lines"):
            self.wanted.refuse_names(f"`{file.name}`, read as {chosen},")
        if chosen == "lines" and self.wanted.labelled:
            raise InputError(
                f"`{file.name}` is read as plain lines, which have no labels",
                hint="write `__label__spam text` on each line and read it with `--format fasttext`",
            )
        return chosen

    def batches(self, file: File, chosen: str, rejects: Rejects, progress: Position) -> Iterator[Batch]:
        """Batches of one file in the ``chosen`` format."""
        if chosen == "jsonl":
            return jsonl.batches(file, self.wanted, rejects, progress)
        if chosen == "parquet":
            return parquet.batches(file, self.wanted, rejects, progress)
        if chosen == "database":
            return database.batches(file, None, self.wanted, rejects)
        return lines.batches(
            file, chosen, self.wanted, rejects, progress, quoting=self.quoting, header=self.header
        )

    def of_folder(self, path: str) -> Callable[[Rejects, Position], Iterator[Batch]]:
        """Batches of the documents in a folder, in which no column can be named."""
        self.wanted.refuse_names(f"`{path}`, a folder of documents,")
        return partial(folder.batches, path, labelled=self.wanted.labelled)
