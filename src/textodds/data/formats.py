"""Which format a file is in: as said, by its name, or by its first bytes."""

from __future__ import annotations

import json
from pathlib import Path

from textodds.data import files
from textodds.data.files import File
from textodds.data.values import cut
from textodds.errors import BadFile, InputError, suggestion

FORMATS = ("csv", "tsv", "jsonl", "parquet", "fasttext", "lines", "folder", "database")
DELIMITED = ("csv", "tsv")

# Those that can be read from a pipe as they come; the others are read from several places at once.
STREAMED = ("csv", "tsv", "jsonl", "fasttext", "lines")

BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".duckdb": "database",
    ".ddb": "database",
    ".db": "database",
    ".sqlite": "database",
    ".sqlite3": "database",
}

BOM = b"\xef\xbb\xbf"
SQLITE_MAGIC = b"SQLite format 3\x00"
DUCKDB_MAGIC = b"DUCK"  # at byte 8
PARQUET_MAGIC = b"PAR1"
FASTTEXT_PREFIX = b"__label__"


def known(name: str | None) -> str | None:
    """``name`` if it is the name of a format, or None."""
    if name is not None and name not in FORMATS:
        raise InputError(
            f"unknown format `{name}`{suggestion(name, FORMATS)}",
            hint=f"the formats are {', '.join(FORMATS)}",
        )
    return name


def by_name(path: str) -> str | None:
    """The format that the name of a file promises, if any.

    >>> by_name("mail.CSV.gz"), by_name("mail.txt")
    ('csv', None)
    """
    path = path.lower().removesuffix(".gz")
    return BY_SUFFIX.get(Path(path).suffix)


def by_content(file: File, *, tabular: bool) -> str:
    """The format that the first bytes of a file show.

    What shows nothing is plain lines unless it must be ``tabular``. Then it is a table if its first
    line can be a header, and otherwise an error: to guess would be to learn from noise.
    """
    start = files.head(file.path)
    if start.startswith(PARQUET_MAGIC):
        return "parquet"
    if start.startswith(SQLITE_MAGIC) or start[8:12] == DUCKDB_MAGIC:
        return "database"
    start = start.removeprefix(BOM).lstrip()
    if start.startswith(FASTTEXT_PREFIX):
        return "fasttext"
    line, end, _ = start.partition(b"\n")
    if _is_object(line, whole=bool(end)):
        return "jsonl"
    if not tabular:
        return "lines"
    if start.startswith(b"["):
        raise BadFile(
            f"`{file.name}` looks like one JSON list; of JSON, only lines of objects are read",
            hint=f"DuckDB reads it: `--query \"SELECT text, label FROM read_json('{file.name}')\"`",
        )
    if not start or any(mark in line for mark in b",;\t|"):
        return "csv"
    shown = cut(line.strip().decode(errors="backslashreplace"), 60)
    raise BadFile(
        f"`{file.name}` does not show what format it is in; its first line is `{shown}`",
        hint="say so with `--format csv`, `tsv`, `jsonl`, `parquet` or `fasttext` (format='csv')",
    )


def refuse_utf16(file: File) -> None:
    """Fail for a file saved as "Unicode text" on Windows, of which every row would be bad."""
    if not file.is_pipe and files.head(file.path, 2) in (b"\xff\xfe", b"\xfe\xff"):
        raise BadFile(
            f"`{file.name}` is in UTF-16, and only UTF-8 is read",
            hint=f"convert it: `iconv -f UTF-16 -t UTF-8 {file.name}`",
        )


def _is_object(line: bytes, *, whole: bool) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        # Longer than was looked at, or a bad row: then a quoted key says enough.
        return line[1:].lstrip().startswith(b'"') or not whole
