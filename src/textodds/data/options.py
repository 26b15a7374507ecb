"""How a source is to be read: the options that `read`, `read_table`, `train` and `compare` share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from textodds.data import formats
from textodds.data.rejects import Rejecting, Rejects
from textodds.errors import InputError, suggestion


@dataclass(frozen=True)
class ReadOptions:
    """How a source is to be read; see `textodds.read` for what each option means."""

    text: str | None = None
    label: str | None = None
    weight: str | None = None
    format: str | None = None
    query: str | None = None
    quoting: bool = True
    header: bool = True
    bad_rows: str = "stop"
    rejects_path: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        formats.known(self.format)
        if self.rejects_path is not None and self.bad_rows == "stop":
            raise InputError(
                "`rejects_path` is for rows that are skipped, but the first bad row stops the run",
                hint="add `--bad-rows skip` (bad_rows='skip')",
            )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ReadOptions:
        """The options of that name; refuses one that there is not."""
        for name in options:
            if name not in READ_OPTIONS:
                raise InputError(
                    f"there is no option `{name}`{suggestion(name, READ_OPTIONS)}",
                    hint=f"how data is read: {', '.join(READ_OPTIONS)}",
                )
        return cls(**options)

    def of_other_data(self) -> ReadOptions:
        """The same way of reading for other data: without what names rows of the first."""
        return replace(self, query=None, rejects_path=None, weight=None)

    def without_labels(self) -> ReadOptions:
        """The same way of reading for data without labels."""
        return replace(self.of_other_data(), label=None)

    @property
    def rejecting(self) -> Rejecting:
        """From the name of a source to the place for its bad rows."""
        path = None if self.rejects_path is None else Path(self.rejects_path)
        return partial(Rejects, self.bad_rows, path)

    @property
    def of_files(self) -> dict[str, Any]:
        """The options that only files have, and that are not as usual."""
        return {"format": self.format, "quoting": not self.quoting, "header": not self.header}


READ_OPTIONS = tuple(field.name for field in fields(ReadOptions))
"""Their names."""
