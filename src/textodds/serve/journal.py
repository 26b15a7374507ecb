"""What was learned and forgotten, on disk before it is acknowledged: an append-only journal in SQLite.

Write-ahead log with full synchronisation: when `append` returns, its entries are on disk, all of them,
and would be there after a loss of power. A crash before that leaves none of them. Entries are never
changed or removed, but for texts that were forgotten, which `erase` takes out.
"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from textodds.errors import ModelFileError

LAYOUT = 1
OURS = int.from_bytes(b"todd")  # marks a database as one of ours
PORTION = 500  # ids or entries asked for at once

SCHEMA = """
CREATE TABLE about (
    journal TEXT NOT NULL,  -- names this journal
    base TEXT NOT NULL,     -- the model file that the last entries are changes of, by its hash
    since INTEGER NOT NULL  -- the last entry from before that file was served
) STRICT;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    sign INTEGER NOT NULL,  -- 1 learned, -1 forgotten
    id TEXT NOT NULL,
    label TEXT NOT NULL,
    text TEXT,              -- NULL: erased, having been forgotten
    at TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_id ON entries (id, seq);
"""


class Change(NamedTuple):
    """A document that is learned (``sign`` 1) or forgotten (-1)."""

    sign: int
    id: str
    label: str
    text: str | None


class JournalEntry(NamedTuple):
    """A change that is in the journal."""

    seq: int
    sign: int
    id: str
    label: str
    text: str | None
    at: str


class State(NamedTuple):
    """What the journal knows of a document: its last entry, and whether this base was made to forget it."""

    last: JournalEntry
    was_forgotten: bool


class Journal:
    """The journal in a file, which no other process can have open at the same time.

    Examples
    --------
    >>> journal = Journal(":memory:")
    >>> journal.append([Change(1, "m1", "spam", "free phone"), Change(1, "m2", "ham", "see you")])
    2
    >>> [entry.id for entry in journal.after(1)], journal.states(["m1", "m3"])["m1"].last.label
    (['m2'], 'spam')
    >>> journal.close()
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self._lock = path, threading.Lock()
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=2)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise
        except sqlite3.Error as error:
            raise _unusable(path, error) from error

    def _open(self) -> None:
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        if self._is_new():
            self._db.execute("BEGIN EXCLUSIVE")
            for statement in SCHEMA.split(";\n"):
                self._db.execute(statement)
            self._db.execute("INSERT INTO about VALUES (?, '', 0)", (uuid.uuid4().hex,))
            self._db.execute(f"PRAGMA application_id = {OURS}")
            self._db.execute(f"PRAGMA user_version = {LAYOUT}")
            self._db.execute("COMMIT")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA secure_delete = ON")  # a text that is erased leaves nothing in the file
        self._db.execute("PRAGMA wal_autocheckpoint = 4000")
        about = self._db.execute("SELECT journal, base, since FROM about").fetchone()
        self.key, self.base, self.since = about
        last = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
        self.last = 0 if last is None else int(last[0])
        self._db.execute("BEGIN EXCLUSIVE")  # from here on no other process can open it
        self._db.execute("COMMIT")

    def _is_new(self) -> bool:
        """Whether the file is empty; refuses one of somebody else before anything is changed in it."""
        queries = ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
        layout, ours, tables = (self._db.execute(query).fetchone()[0] for query in queries)
        if (layout, ours, tables) == (0, 0, 0):
            return True
        if (layout, ours) != (LAYOUT, OURS):
            raise ModelFileError(
                f"`{self.path}` is no journal of this version of textodds",
                hint="name another file with `--journal`",
            )
        return False

    def append(self, changes: Sequence[Change]) -> int:
        """The number of the last entry, once all changes are on disk; on an error none of them is."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        numbers = itertools.count(self.last + 1)
        rows = [JournalEntry(seq, *change, at) for seq, change in zip(numbers, changes, strict=False)]
        with self._lock, self._transaction():
            self._db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
        self.last += len(rows)
        return self.last

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """What is done within is on disk at the end; on an error none of it is."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def _select(self, query: str, *values: int | str) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _pages(
        self, query: str, *values: int | str, after: int = 0, size: int = PORTION
    ) -> Iterator[JournalEntry]:
        """The entries of a query in order, so many at a time: others use the journal in between."""
        while rows := self._select(f"{query} AND seq > ? ORDER BY seq LIMIT ?", *values, after, size):
            yield from map(JournalEntry._make, rows)
            after = rows[-1][0]

    def rest_on(self, base: str, since: int) -> None:
        """From entry ``since`` on changes are those of another model file."""
        with self._lock:
            self._db.execute("UPDATE about SET base = ?, since = ?", (base, since))
        self.base, self.since = base, since

    def mark(self, seq: int) -> str:
        """What tells an entry from another that might have had its number."""
        rows = self._select("SELECT seq, sign, id, label, at FROM entries WHERE seq = ?", seq)
        entry = rows[0] if rows else None
        return hashlib.sha256(repr(entry).encode("utf-8", "surrogatepass")).hexdigest()

    def standing_at(self, seq: int) -> Iterator[JournalEntry]:
        """Of every document its last entry up to a number, in order."""
        last_of_each = "seq IN (SELECT max(seq) FROM entries WHERE seq <= ? GROUP BY id)"
        return self._pages(f"SELECT * FROM entries WHERE {last_of_each}", seq, size=PORTION * 100)

    def after(self, seq: int) -> Iterator[JournalEntry]:
        """The entries after a number, in order."""
        return self._pages("SELECT * FROM entries WHERE true", after=seq)

    def states(self, ids: Iterable[str]) -> dict[str, State]:
        """What is known of documents, by id; of those that are not in the journal nothing."""
        states: dict[str, State] = {}
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), PORTION):
            part = wanted[start : start + PORTION]
            marks = ",".join("?" * len(part))
            rows = self._select(
                "SELECT *, EXISTS (SELECT 1 FROM entries AS other WHERE other.id = entries.id AND "
                "other.sign < 0 AND (other.seq > ?1 OR other.seq = (SELECT max(seq) FROM entries AS old "
                "WHERE old.id = other.id AND old.seq <= ?1))) FROM entries WHERE seq IN "
                f"(SELECT max(seq) FROM entries WHERE id IN ({marks}) GROUP BY id)",
                *(self.since, *part),
            )
            states |= {row[2]: State(JournalEntry._make(row[:6]), bool(row[6])) for row in rows}
        return states

    def first_forgotten(self) -> list[JournalEntry]:
        """Of every document that this base was made to forget the entry that first did so."""
        rows = self._select(
            "SELECT min(seq), sign, id, label, text, at FROM entries WHERE sign < 0 AND (seq > ?1 OR "
            "seq IN (SELECT max(seq) FROM entries WHERE seq <= ?1 GROUP BY id)) GROUP BY id",
            self.since,
        )
        return list(map(JournalEntry._make, rows))

    def recent(self, limit: int) -> list[tuple[JournalEntry, bool]]:
        """The latest entries, the last first, and whether each is the last of its document."""
        rows = self._select(
            "SELECT *, NOT EXISTS (SELECT 1 FROM entries AS later WHERE later.id = entries.id "
            "AND later.seq > entries.seq) FROM entries ORDER BY seq DESC LIMIT ?",
            limit,
        )
        return [(JournalEntry._make(row[:6]), bool(row[6])) for row in rows]

    def standing(self) -> int:
        """How many documents are learned, by their last entries."""
        query = "SELECT count(*) FROM (SELECT max(seq), sign FROM entries GROUP BY id) WHERE sign > 0"
        return int(self._select(query)[0][0])

    def erase(self, kept: Iterable[int] = ()) -> int:
        """Take out every text that is not learned now; how many entries had one.

        Not those of the entries ``kept``: what they forgot is in a model file, which still has it.
        """
        numbers = [(seq,) for seq in kept]  # before the lock: they may come from this journal
        with self._lock:
            with self._transaction():
                self._db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (seq INTEGER PRIMARY KEY)")
                self._db.execute("DELETE FROM kept")
                self._db.executemany("INSERT OR IGNORE INTO kept VALUES (?)", numbers)
                erased = self._db.execute(
                    "UPDATE entries SET text = NULL WHERE text IS NOT NULL AND seq NOT IN kept AND NOT "
                    "(sign > 0 AND seq = (SELECT max(seq) FROM entries AS last WHERE last.id = entries.id))"
                ).rowcount
            if erased:  # nor shall the log keep them
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased

    def close(self) -> None:
        """Close the file; the log becomes part of it."""
        with self._lock:
            self._db.close()


def _unusable(path: str | Path, error: sqlite3.Error) -> ModelFileError:
    if "locked" in str(error):
        return ModelFileError(
            f"the journal `{path}` is in use by another process",
            hint="stop the other service, or name another file with `--journal`",
        )
    return ModelFileError(
        f"cannot open the journal `{path}`: {error}", hint="name another file with `--journal`"
    )
