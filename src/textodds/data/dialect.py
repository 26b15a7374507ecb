"""How a file of lines is written: its format, separator, quotes and header."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

KINDS = {"csv": "delimited", "tsv": "delimited", "fasttext": "fasttext", "lines": "lines"}
SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How lines are taken apart: a format, and whether CSV and TSV have quotes and a header.

    ``beginning`` is that of the file, as far as it was looked at.
    """

    format: str
    quoting: bool = True
    header: bool = True
    beginning: bytes = b""

    @property
    def kind(self) -> str:
        """What the kernel calls the format."""
        return KINDS[self.format]

    def separator(self, names: Sequence[str]) -> str:
        r"""What stands between the fields of a CSV file whose columns have these names.

        >>> Dialect("csv", beginning=b"id;text\n1;see me, please\n").separator(["id", "text"])
        ';'
        """
        if self.format == "tsv":
            return "\t"
        lines = self.beginning.decode("utf-8-sig", errors="replace").splitlines(keepends=True)
        quoting: Any = csv.QUOTE_MINIMAL if self.quoting else csv.QUOTE_NONE
        for separator in SEPARATORS if self.format == "csv" else ():
            with contextlib.suppress(csv.Error):
                first = next(csv.reader(lines, delimiter=separator, quoting=quoting), [])
                if first == list(names) if self.header else len(first) == len(names) > 1:
                    return separator
        return ","
