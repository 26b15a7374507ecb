"""What comes through stdin: its beginning is looked at, and read again with the rest."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import stat
import threading
import zlib
from collections.abc import Sequence

from textodds.data import files
from textodds.data.columns import TEXT_NAMES
from textodds.data.compression import packing_of
from textodds.data.dialect import SEPARATORS

MOST = 1 << 16  # bytes that are looked at
LONGEST = 64  # characters of a name of a column

# Of data without known names: words that programs write, not a line of somebody's text.
_NAME = re.compile(r"[^\W\d][\w.-]*")


def beginning() -> bytes:
    """The first line of stdin, or what has come of it; nothing is lost to whoever reads stdin next.

    A file is looked at where it stands. Of a pipe, what was looked at is put in front of the rest, by a
    thread that hands it on as it comes. A terminal is not looked at: nobody has typed yet.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # closed
        return b""
    if stat.S_ISREG(mode):
        at = os.lseek(0, 0, os.SEEK_CUR)
        begun = os.read(0, MOST)
        os.lseek(0, at, os.SEEK_SET)
        return begun
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return b""
    begun = b""
    while len(begun) < MOST and (packing_of(begun) is not None or b"\n" not in begun):
        piece = os.read(0, MOST - len(begun))
        if not piece:
            break
        begun += piece
    _put_back(begun)
    return begun


def _put_back(begun: bytes) -> None:
    rest, (reading, writing) = os.dup(0), os.pipe()
    os.dup2(reading, 0)
    os.close(reading)

    def hand_on() -> None:
        piece = begun
        with contextlib.suppress(OSError):  # whoever reads has gone away
            while piece:
                left = memoryview(piece)
                while left:
                    left = left[os.write(writing, left) :]
                piece = os.read(rest, 1 << 20)
        os.close(writing)
        os.close(rest)

    threading.Thread(target=hand_on, name="textodds-stdin", daemon=True).start()


def format_of(begun: bytes, wanted: Sequence[str]) -> tuple[str, str] | None:
    r"""The format of unlabelled data that begins so, and how that shows; None if it is one text a line.

    A table of text shows by the names of its columns: those that are ``wanted`` are among them, letter by
    letter, and there are at least two. Where none are known, they must be plain words, and one a usual
    name of texts.

    >>> format_of(b"id,body\n1,win a prize\n", ["body"])
    ('csv', 'its first line names the column `body`')
    >>> format_of(b"see you, body and soul\n", ["body"]) is None
    True
    """
    if begun.startswith(files.PARQUET_MAGIC):
        return "parquet", "it starts like a Parquet file"
    if begun.startswith(files.SQLITE_MAGIC) or begun[8:12] == files.DUCKDB_MAGIC:
        return "database", "it starts like a database file"
    line = begun.removeprefix(files.BOM).lstrip().partition(b"\n")[0]
    if line.startswith(files.FASTTEXT_PREFIX):
        return "fasttext", "its first line begins with `__label__`"
    if (keys := files.keys_of(line)) and _names(keys, wanted, is_plain=False):
        return "jsonl", "its first line is a JSON object with " + _columns(keys, wanted)
    text = line.decode(errors="replace").rstrip("\r")
    for separator in SEPARATORS:
        with contextlib.suppress(csv.Error):
            names = next(csv.reader([text], delimiter=separator), [])
            if len(names) > 1 and _names(names, wanted, is_plain=True):
                return (
                    "tsv" if separator == "\t" else "csv",
                    f"its first line names {_columns(names, wanted)}",
                )
    return None


def _names(names: Sequence[str], wanted: Sequence[str], *, is_plain: bool) -> bool:
    """Whether the names of columns are what was wanted or, where nothing was, have a usual name of texts."""
    if is_plain and not all(name.strip() and len(name) <= LONGEST for name in names):
        return False
    if wanted:
        return set(wanted) <= set(names) and len(set(names)) == len(names)
    return any(name in TEXT_NAMES for name in names) and all(map(_NAME.fullmatch, names))


def _columns(names: Sequence[str], wanted: Sequence[str]) -> str:
    shown = wanted or [name for name in names if name in TEXT_NAMES][:1]
    return f"the column{'s' if len(shown) > 1 else ''} " + ", ".join(f"`{name}`" for name in shown)


def unpacked(begun: bytes) -> bytes:
    """The beginning of what is packed by gzip; or the beginning as it is."""
    if packing_of(begun) != "gzip":
        return begun
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(begun, MOST)
    return begun
