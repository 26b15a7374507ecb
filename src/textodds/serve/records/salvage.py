"""What can be read of a damaged journal, from a private copy.

That is every entry that is as it was written, and every act of labelling, which have no seals.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from textodds.errors import ModelFileError
from textodds.serve.labelling import acts
from textodds.serve.records.journal import FIELDS, KINDS, Journal, JournalEntry, Kind
from textodds.serve.records.seals import Sealed, is_whole, read_log

CHANGES, UNDOES = (1 + acts.FIELDS.split(", ").index(name) for name in ("changes", "undoes"))
Row = tuple[object, ...]


class Salvaged(NamedTuple):
    """Entries that are as they were written, the numbers of the others, and whether the log is damaged."""

    entries: list[JournalEntry]
    lost: list[int]
    has_lost_log: bool  # entries at the end may be missing, and nobody knows how many
    kind: Kind = Kind()
    acts: tuple[Row, ...] = ()
    lost_acts: tuple[int, ...] = ()


def salvage(path: Path) -> Salvaged:
    """What can be read of a journal; the file is left as it is."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "journal"
        for end in ("", "-wal"):
            if (part := Path(f"{path}{end}")).exists():
                shutil.copyfile(part, f"{copy}{end}")
        has_lost_log = read_log(copy) == "damaged"
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as db:
                layout = db.execute("PRAGMA user_version").fetchone()[0]
                found = *_entries(db, has_seals=layout > 1), has_lost_log, KINDS.get(layout, Kind())
                return Salvaged(*found, *_acts(db))
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise ModelFileError(
                f"nothing can be read of the journal `{path}`: {error}", hint="put a backup in its place"
            ) from error


def _entries(db: sqlite3.Connection, *, has_seals: bool) -> tuple[list[JournalEntry], list[int]]:
    """The entries that are whole, and the numbers of the others."""
    last = _last(db, "entries", "seq")
    chain: object = str(db.execute("SELECT journal FROM about").fetchone()[0]).encode()
    entries, lost = list[JournalEntry](), list[int]()
    for seq, row in _rows(db, last, "salt, seal, chain" if has_seals else "NULL, x'', x''"):
        if row is not None and (not has_seals or (isinstance(chain, bytes) and is_whole(chain, row))):
            entries.append(JournalEntry._make(row[:6]))
        else:
            lost.append(seq)
        chain = None if row is None else row.chain  # of a damaged entry the chain may be whole
    return entries, lost


def _acts(db: sqlite3.Connection) -> tuple[tuple[Row, ...], tuple[int, ...]]:
    """The acts of labelling that can be read, and the numbers of the others."""
    found, lost = dict[int, Row](), list[int]()
    for n in range(1, _last(db, "acts", "n") + 1):
        try:
            row = db.execute(f"SELECT n, {acts.FIELDS} FROM acts WHERE n = ?", (n,)).fetchone()
            json.loads(row[CHANGES])
            is_whole = row[UNDOES] is None or row[UNDOES] in found  # what it takes back is there
        except (sqlite3.Error, TypeError, ValueError):
            is_whole = False
        if is_whole:
            found[n] = row
        else:
            lost.append(n)
    return tuple(found.values()), tuple(lost)


def _last(db: sqlite3.Connection, table: str, number: str) -> int:
    """The number of the last row that a table has, or had."""
    ever = _number(db, f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'")
    return max(ever, _number(db, f"SELECT max({number}) FROM {table}"))


def _number(db: sqlite3.Connection, query: str) -> int:
    try:
        found = db.execute(query).fetchone()
    except sqlite3.Error:
        return 0
    return found[0] if found is not None and isinstance(found[0], int) and found[0] < 1 << 32 else 0


def _rows(db: sqlite3.Connection, last: int, seals: str) -> Iterator[tuple[int, Sealed | None]]:
    """The rows one by one, None in the place of one that cannot be read."""
    for seq in range(1, last + 1):
        try:
            row = db.execute(f"SELECT {FIELDS}, {seals} FROM entries WHERE seq = ?", (seq,)).fetchone()
        except sqlite3.Error:
            row = None
        yield seq, None if row is None else Sealed._make(row)


def repair(path: Path, output: Path) -> Salvaged:
    """Write what can be read of a journal to another file."""
    if output.exists():
        raise ModelFileError(f"`{output}` exists already", hint="name another file with `-o`")
    found = salvage(path)
    with closing(Journal(output)) as journal:
        journal.keep(found.kind)
        journal.restore(found.entries, lambda _: acts.restore(journal, found.acts))
    return found
