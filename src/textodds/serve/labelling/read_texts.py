"""Reads the texts of a file, as a program: `python -m textodds.serve.labelling.read_texts FILE OPTIONS`."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from textodds.data import Batch, read
from textodds.data import files as data_files
from textodds.data.batch import taken
from textodds.data.encoding import is_utf8, proposal
from textodds.errors import BadRow, MissingColumn, NoData, TextoddsError
from textodds.serve.sent_file import SENT, Told, begin, tell, unnamed
from textodds.study.duplicates import repeats

LOOKED_AT = 30  # columns that are looked through for texts
OUT = Path("texts.json")


def encoding_of(path: Path) -> str | None:
    """The encoding of a file that is not in UTF-8, as far as its beginning tells; None for UTF-8."""
    head = data_files.head(str(path))
    if is_utf8(head):
        return None
    named = re.search(r"encoding='([^']+)'", proposal(head) or "")
    return named[1] if named else None


class Found(NamedTuple):
    """The texts of a file, the names of its columns, and the column that they stand in."""

    texts: list[str]
    columns: list[str]
    column: str | None


def texts_of(path: Path, options: dict[str, Any], most: int | None = None) -> Found:
    """The texts of a file, or the first of them."""
    source = read(path, labelled=False, bad_rows="skip", **options)
    texts: list[str] = []
    for batch in source:
        texts += taken(batch.texts, list(range(len(batch)))) or []
        if most is not None and len(texts) >= most:
            break
    columns = list(source.names)
    named = [column.name for column in source.schema.columns if column.kind == "text"]
    return Found(texts, columns, next((name for name in named if name in columns), None))


def longest_column(path: Path, options: dict[str, Any], columns: list[str]) -> str:
    """The column that looks most like texts: the one with the longest values."""

    def mean(name: str) -> float:
        with contextlib.suppress(TextoddsError):
            texts = texts_of(path, {**options, "text": name}, most=1000).texts
            return sum(map(len, texts)) / max(len(texts), 1)
        return 0.0

    return max(columns[:LOOKED_AT], key=mean)


def gathered(path: Path, column: str | None, longest: int, most: int) -> dict[str, Any]:
    """Every text once, with its row and the place of the first that is nearly the same; and of the file."""
    encoding = encoding_of(path)
    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    if column is not None:
        options["text"] = column
    try:
        found = texts_of(path, options)
    except MissingColumn as error:
        if column is not None or not error.columns:
            raise
        column = longest_column(path, options, error.columns)
        found = texts_of(path, {**options, "text": column})
    kept: dict[str, int] = {}
    for row, read_text in enumerate(found.texts, start=1):
        text = read_text.encode("utf-8", "replace").decode()  # half a surrogate pair is not a letter
        if text.strip() and len(text) <= longest:
            kept.setdefault(text, row)
    if not kept:
        raise NoData(f"{SENT} has no texts")
    chosen = list(kept.items())
    if len(chosen) > most:
        from textodds.serve.labelling.pool import text_id

        chosen = sorted(chosen, key=lambda each: text_id(each[0]))[:most]  # ids are hashes: a fair sample
        chosen.sort(key=lambda each: each[1])
    firsts = list(range(len(chosen)))
    for group in repeats([Batch([text for text, _ in chosen], [""] * len(chosen))]).groups:
        for place in group.rows:
            firsts[place - 1] = group.rows[0] - 1
    return {
        "texts": [(text, first, row) for (text, row), first in zip(chosen, firsts, strict=True)],
        "rows": len(found.texts),
        "distinct": len(kept),
        "encoding": encoding,
        "columns": found.columns,
        "column": found.column,
    }


def _problem(error: TextoddsError, file: str) -> Told:
    hint = None if error.hint is None or "--" in error.hint or isinstance(error, BadRow) else error.hint
    return {"problem": unnamed(error.problem, file), "hint": hint, "code": error.code}


def main(file: str, options: str) -> None:
    """Write the texts beside the file, and print what went wrong, if anything, as one line of JSON."""

    def write() -> Told:
        found = gathered(Path(file), **json.loads(options))
        OUT.write_text(json.dumps(found), encoding="utf-8")
        return {}

    begin()
    tell(write, lambda error: _problem(error, file))


if __name__ == "__main__":
    main(*sys.argv[1:])
