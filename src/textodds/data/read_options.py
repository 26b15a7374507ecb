"""How data is to be read: options of `textodds.read` that a user gives, and that a model remembers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from textodds.data import files
from textodds.data.files import File
from textodds.data.label_sets import LabelSets, checked_separator
from textodds.data.rejects import Rejects
from textodds.errors import InputError, suggestion


@dataclass(frozen=True)
class ReadOptions:
    """How a source is to be read; see `textodds.read` for what each option means."""

    text: str | Sequence[str] | None = None
    label: str | Sequence[str] | None = None
    weight: str | None = None
    format: str | None = None
    query: str | None = None
    quoting: bool = True
    header: bool = True
    encoding: str | None = None
    sheet: str | int | None = None
    label_separator: str | None = None
    bad_rows: str = "stop"
    rejects_path: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        files.must_be_format(self.format)
        self.file(files.STDIN)  # refuses an encoding that there is not
        names = self.text_names
        if self.text is not None and not (names and all(isinstance(name, str) for name in names)):
            raise InputError(
                f"`text` is {self.text!r}, not the name of a column",
                hint="name one, several or a join: text='body', ['subject', 'body'] or 'subject+body'",
            )
        if self.label is not None and not (
            self.label_names and all(isinstance(name, str) and name for name in self.label_names)
        ):
            raise InputError(
                f"`label` is {self.label!r}, not the name of a column",
                hint="name one, or several that are indicators: label='kind' or ['urgent', 'billing']",
            )
        checked_separator(self.label_separator)
        if self.label_separator is not None and len(self.label_names) > 1:
            raise InputError(
                "`label_separator` stands within one column, and several columns are named for labels",
                hint="leave out one of the two",
            )
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
                    hint=f"options for reading data: {', '.join(READ_OPTIONS)}",
                )
        return cls(
            **{name: value for name, value in options.items() if name not in FORM or value is not None}
        )

    @property
    def said(self) -> dict[str, Any]:
        """The options that are not as usual."""
        return {each.name: value for each in fields(self) if (value := vars(self)[each.name]) != each.default}

    def of_other_data(self) -> ReadOptions:
        """The same way of reading for other data: without what names rows of the first."""
        return replace(self, query=None, rejects_path=None, weight=None)

    def without_labels(self) -> ReadOptions:
        """The same way of reading for data without labels."""
        return replace(self.of_other_data(), label=None, label_separator=None)

    def remembered(self, source: object) -> dict[str, object]:
        """What was said of how the files ``source`` are read, for data that come later; see `read`."""
        known: dict[str, object] = {name: False for name in FORM if not vars(self)[name]}
        if self.format is not None:
            first = source[0] if isinstance(source, list) and source else source
            path = os.fsdecode(first) if isinstance(first, (str, os.PathLike)) else ""
            known |= {"format": self.format, "named": files.format_of_name(path)}
        if self.file(files.STDIN).encoding is not None:
            known["encoding"] = self.encoding
        if self.label_separator is not None:
            known["label_separator"] = self.label_separator
        if len(self.label_names) > 1:
            known["indicators"] = list(self.label_names)
        return known | ({} if self.query is None else {"query": self.query})

    def with_labels_of(self, before: Mapping[str, object]) -> ReadOptions:
        """The same with the separator or the indicators of training, unless labels are named."""
        if self.label is not None or self.label_separator is not None:
            return self
        separator, indicators = before.get("label_separator"), before.get("indicators")
        if isinstance(indicators, list) and all(isinstance(name, str) for name in indicators):
            return replace(self, label=indicators)
        return replace(self, label_separator=separator) if isinstance(separator, str) else self

    def in_form_of(self, formats: Sequence[str], before: Mapping[str, Any]) -> ReadOptions:
        """The same for files of these formats: with quotes and a header as in training, if they have them."""
        if not set(formats) <= set(files.DELIMITED):
            return self
        return replace(self, **{name: before[name] for name in FORM if isinstance(before.get(name), bool)})

    def in_encoding_of(self, before: Mapping[str, Any]) -> ReadOptions:
        """The same in the encoding of training, which files of text are read in unless another is named."""
        known = before.get("encoding")
        return replace(self, encoding=known) if isinstance(known, str) else self

    @property
    def text_names(self) -> tuple[str, ...]:
        """The names of the columns of texts."""
        if self.text is None:
            return ()
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the columns of labels; several are indicators."""
        if self.label is None:
            return ()
        return (self.label,) if isinstance(self.label, str) else tuple(self.label)

    @property
    def label_sets(self) -> LabelSets | None:
        """How several labels a row are read, if they are."""
        if len(self.label_names) > 1:
            return LabelSets(columns=self.label_names)
        return None if self.label_separator is None else LabelSets(self.label_separator)

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """The fields of texts of several columns, as settings of texts; nothing for one column."""
        return {"fields": self.text_names} if len(self.text_names) > 1 else {}

    def rejects(self) -> Rejects:
        """The place for the bad rows of a source."""
        return Rejects(self.bad_rows, None if self.rejects_path is None else Path(self.rejects_path))

    def file(self, path: str) -> File:
        """The file at a path, in the encoding that is given."""
        if self.encoding is None:
            return files.named(path)
        from textodds.data import encoding

        return files.named(path, encoding.checked(self.encoding))

    @property
    def of_files(self) -> dict[str, object]:
        """The options that only files have, and that are not as usual."""
        given = {"quoting": not self.quoting, "header": not self.header}
        return {"format": self.format, **given, "encoding": self.encoding, "sheet": self.sheet}


FORM = ("quoting", "header")
"""Options of CSV and TSV that a model remembers."""

READ_OPTIONS = tuple(field.name for field in fields(ReadOptions))
"""Their names."""
