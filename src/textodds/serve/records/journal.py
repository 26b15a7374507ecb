"""What was learned and forgotten, on disk before it is acknowledged: an append-only journal in SQLite.

Write-ahead log with full synchronisation: when `append` returns, its entries are on disk, all of them,
and would be there after a loss of power. A crash before that leaves none of them. Entries are never
changed or removed, but for texts that were forgotten, which `erase` takes out.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import secrets
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from textodds.errors import Conflict, ModelFileError
from textodds.serve.records.seals import SALT, Sealed, chained, digest, first_damaged, read_log, text_seal

logger = logging.getLogger("textodds.serve")

LAYOUT = 2  # of texts with one label each; see `Kind` for the others
FIELDS = "seq, sign, id, label, text, at"
OURS = int.from_bytes(b"todd")  # marks a database as one of ours
PRIVATE = 0o600  # the mode of files that hold texts; the log has that of its database
PORTION = 500  # ids or entries asked for at once

SCHEMA = """
CREATE TABLE about (
    journal TEXT NOT NULL,  -- names this journal
    base TEXT NOT NULL,     -- the model file that the last entries are changes of, by its hash
    since INTEGER NOT NULL, -- the last entry from before that file was served
    snapshot TEXT NOT NULL DEFAULT '',  -- a hash in journals of before, which snapshots do not need
    seal TEXT NOT NULL DEFAULT ''       -- the hash of all of these
) STRICT;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    sign INTEGER NOT NULL,  -- 1 learned, -1 forgotten
    id TEXT NOT NULL,
    label TEXT NOT NULL,
    text TEXT,              -- NULL: erased, having been forgotten
    at TEXT NOT NULL,
    salt BLOB,              -- of the seal, erased with the text
    seal BLOB NOT NULL DEFAULT x'',  -- of the text: see seals.py
    chain BLOB NOT NULL DEFAULT x''  -- of this entry and all before it
) STRICT;
CREATE INDEX entries_by_id ON entries (id, seq);
"""
SINCE_LAYOUT_1 = """
ALTER TABLE about ADD COLUMN snapshot TEXT NOT NULL DEFAULT '';
ALTER TABLE about ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN salt BLOB;
ALTER TABLE entries ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE entries ADD COLUMN chain BLOB NOT NULL DEFAULT x'';
"""


class Kind(NamedTuple):
    """What a journal keeps: texts, or rows as JSON in their place; under a label, or under sets of labels."""

    rows: bool = False
    sets: bool = False

    @property
    def layout(self) -> int:
        """The number of the layout, by which another version knows whether it can read the file."""
        return LAYOUT + self.rows + 2 * self.sets

    @property
    def marks(self) -> tuple[str, ...]:
        """What the seal of the header has in it, beside the header."""
        return (*(("rows",) if self.rows else ()), *(("sets",) if self.sets else ()))

    @property
    def told(self) -> str:
        """The kind in words."""
        return ("rows" if self.rows else "texts") + (" with several labels" if self.sets else "")


KINDS = {kind.layout: kind for kind in (Kind(rows, sets) for rows in (False, True) for sets in (False, True))}


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


class JournalFile:
    """The file: opened, checked and sealed, with its header; `Journal` has its entries."""

    def __init__(self, path: str | Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self.kind = Kind()
        log = read_log(Path(path))
        if log == "damaged":  # before it is opened, as that would drop what follows the damage
            raise damaged(path, "its write-ahead log")
        if log == "cut off":
            logger.warning("the last write of the journal `%s` was cut off, and is dropped", path)
        try:
            if path != ":memory:" and not Path(path).exists():
                with suppress(OSError):  # which SQLite will tell
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE))
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=2)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise damaged(path, str(error)) from error

    def _open(self) -> None:
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        if self._is_new():
            self._db.execute("BEGIN EXCLUSIVE")
            for statement in SCHEMA.split(";\n"):
                self._db.execute(statement)
            key = uuid.uuid4().hex
            self._db.execute("INSERT INTO about VALUES (?, '', 0, '', ?)", (key, _about_seal(key, "", 0, "")))
            self._db.execute(f"PRAGMA application_id = {OURS}")
            self._db.execute(f"PRAGMA user_version = {LAYOUT}")
            self._db.execute("COMMIT")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA secure_delete = ON")  # a text that is erased leaves nothing in the file
        self._db.execute("PRAGMA wal_autocheckpoint = 4000")
        last = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
        self.last = 0 if last is None else int(last[0])
        self._db.execute("BEGIN EXCLUSIVE")  # from here on no other process can open it
        self._db.execute("COMMIT")
        if self._db.execute("PRAGMA user_version").fetchone()[0] == 1:
            self._seal_layout_1()
        self._check()

    def _seal_layout_1(self) -> None:
        """Seal the entries of a file that had no seals."""
        with self._transaction():
            for statement in SINCE_LAYOUT_1.strip().split("\n"):
                self._db.execute(statement)
            key, base, since = self._db.execute("SELECT journal, base, since FROM about").fetchone()
            self._db.execute("UPDATE about SET seal = ?", (_about_seal(key, base, since, ""),))
            entries = self._db.execute(f"SELECT {FIELDS} FROM entries ORDER BY seq").fetchall()
            rows = sealed(map(JournalEntry._make, entries), key.encode())
            self._db.executemany(
                "UPDATE entries SET salt = ?, seal = ?, chain = ? WHERE seq = ?",
                [(row.salt, row.seal, row.chain, row.seq) for row in rows],
            )
            self._db.execute(f"PRAGMA user_version = {LAYOUT}")

    def _check(self) -> None:
        """Refuse a file that is not as it was written."""
        *about, seal = self._db.execute("SELECT journal, base, since, snapshot, seal FROM about").fetchone()
        self.key, self.base, self.since, self._noted = about
        if _about_seal(*about, kind=self.kind) != seal:
            raise damaged(self.path, "its header")
        query = f"SELECT {FIELDS}, salt, seal, chain FROM entries ORDER BY seq"
        with closing(self._db.execute(query)) as rows:  # which else holds the file when it is refused
            place = first_damaged(map(Sealed._make, rows), self.key, self.last)
        if place is not None:
            raise damaged(self.path, f"entry {place:,} of {self.last:,}")
        problem = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if problem != "ok":
            raise damaged(self.path, str(problem))
        chain = self._db.execute("SELECT chain FROM entries WHERE seq = ?", (self.last,)).fetchone()
        query = "SELECT count(*) FROM (SELECT max(seq), sign FROM entries GROUP BY id) WHERE sign > 0"
        self._counted = self.last, int(self._db.execute(query).fetchone()[0])
        self._head = self.key.encode() if chain is None else bytes(chain[0])

    def _is_new(self) -> bool:
        """Whether the file is empty; refuses one of somebody else before anything is changed in it."""
        queries = ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
        layout, ours, tables = (self._db.execute(query).fetchone()[0] for query in queries)
        if (layout, ours, tables) == (0, 0, 0):
            return True
        self.kind = KINDS.get(layout, Kind())
        if ours != OURS or layout not in (1, *KINDS):
            raise ModelFileError(
                f"`{self.path}` is not a journal of this version of textodds",
                hint="name another file with `--journal`",
            )
        return False

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

    def query(self, query: str, *values: int | str) -> list[Any]:
        """The rows of a query."""
        return self._select(query, *values)

    def add_beside(self, statement: str, rows: Iterable[Sequence[object]] = ((),)) -> None:
        """Add rows to another table within the transaction under way: for ``before`` of `Journal.append`."""
        self._db.executemany(statement, rows)

    def rest_on(self, base: str, since: int) -> None:
        """From entry ``since`` on changes are those of another model file."""
        seal = _about_seal(self.key, base, since, self._noted, kind=self.kind)
        with self._lock:
            self._db.execute("UPDATE about SET base = ?, since = ?, seal = ?", (base, since, seal))
        self.base, self.since = base, since

    @property
    def of_rows(self) -> bool:
        """Whether its documents are rows, which it keeps as JSON."""
        return self.kind.rows

    def must_suit(self, kind: Kind, name: str) -> None:
        """Refuse corrections of another kind than a model takes: of rows, of texts, with several labels."""
        if self.last and self.kind != kind:
            place, model = Path(self.path).name, f"`{name}` reads {kind.told}"
            if self.kind.rows == kind.rows:
                model = f"`{name}` gives {'several labels' if kind.sets else 'one label'}"
            raise Conflict(
                f"the journal `{place}` holds corrections of {self.kind.told}, and {model}",
                hint="serve it with another `--journal`",
            )

    def keep(self, kind: Kind) -> None:
        """Keep documents of a kind from now on; in a journal that has entries they are of one kind."""
        if self.kind == kind:
            return
        assert not self.last
        seal = _about_seal(self.key, self.base, self.since, self._noted, kind=kind)
        with self._lock, self._transaction():
            self._db.execute(f"PRAGMA user_version = {kind.layout}")
            self._db.execute("UPDATE about SET seal = ?", (seal,))
        self.kind = kind

    def copy(self) -> bytes:
        """The journal as it is now, its log included, as the content of one file."""
        with self._lock:
            return self._db.serialize()

    def close(self) -> None:
        """Close the file; the log becomes part of it."""
        with self._lock:
            self._db.close()


class Journal(JournalFile):
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

    def append(
        self, changes: Sequence[Change], before: Callable[[Sequence[JournalEntry]], None] | None = None
    ) -> int:
        """The number of the last entry, once all changes are on disk; on an error none of them is.

        ``before`` is called with the entries just before they are kept: if it fails, they are not.
        """
        at = now()
        numbers = itertools.count(self.last + 1)
        entries = [JournalEntry(n, *change, at) for n, change in zip(numbers, changes, strict=False)]
        return self._add(entries, before)

    def restore(
        self, entries: Iterable[JournalEntry], before: Callable[[Sequence[JournalEntry]], None] | None = None
    ) -> int:
        """Add entries of another journal, under numbers of this one; the number of the last.

        ``before`` is called as in `append`.
        """
        return self._add(
            [entry._replace(seq=seq) for seq, entry in enumerate(entries, self.last + 1)], before
        )

    def _add(
        self,
        entries: Sequence[JournalEntry],
        before: Callable[[Sequence[JournalEntry]], None] | None = None,
    ) -> int:
        rows = list(sealed(entries, self._head))
        with self._lock, self._transaction():
            self._db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            if before is not None:
                before(entries)
        self.last += len(rows)
        self._head = rows[-1].chain if rows else self._head
        return self.last

    def _pages(
        self, query: str, *values: int | str, after: int = 0, size: int = PORTION
    ) -> Iterator[JournalEntry]:
        """The entries of a query in order, so many at a time: others use the journal in between."""
        while rows := self._select(f"{query} AND seq > ? ORDER BY seq LIMIT ?", *values, after, size):
            yield from map(JournalEntry._make, rows)
            after = rows[-1][0]

    def mark(self, seq: int) -> str:
        """What tells an entry from another that might have had its number."""
        rows = self._select("SELECT seq, sign, id, label, at FROM entries WHERE seq = ?", seq)
        entry = rows[0] if rows else None
        return hashlib.sha256(repr(entry).encode("utf-8", "surrogatepass")).hexdigest()

    def standing_at(self, seq: int) -> Iterator[JournalEntry]:
        """Of every document its last entry up to a number, in order."""
        last_of_each = "seq IN (SELECT max(seq) FROM entries WHERE seq <= ? GROUP BY id)"
        return self._pages(f"SELECT {FIELDS} FROM entries WHERE {last_of_each}", seq, size=PORTION * 100)

    def after(self, seq: int) -> Iterator[JournalEntry]:
        """The entries after a number, in order."""
        return self._pages(f"SELECT {FIELDS} FROM entries WHERE true", after=seq)

    def states(self, ids: Iterable[str]) -> dict[str, State]:
        """What is known of documents, by id; of those that are not in the journal nothing."""
        states: dict[str, State] = {}
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), PORTION):
            part = wanted[start : start + PORTION]
            marks = ",".join("?" * len(part))
            rows = self._select(
                f"SELECT {FIELDS}, EXISTS (SELECT 1 FROM entries AS other WHERE other.id = entries.id AND "
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
            f"SELECT {FIELDS}, NOT EXISTS (SELECT 1 FROM entries AS later WHERE later.id = entries.id "
            "AND later.seq > entries.seq) FROM entries ORDER BY seq DESC LIMIT ?",
            limit,
        )
        return [(JournalEntry._make(row[:6]), bool(row[6])) for row in rows]

    def standing(self) -> int:
        """How many documents are learned, by their last entries.

        Only entries that came since this was last asked are looked at: others wait for the journal.
        """
        (seq, count), last = self._counted, self.last
        sign_at = "(SELECT sign > 0 FROM entries WHERE id = new.id AND seq <= {} ORDER BY seq DESC LIMIT 1)"
        query = (
            f"SELECT coalesce(sum({sign_at.format('?2')} - coalesce({sign_at.format('?1')}, 0)), 0) "
            "FROM (SELECT DISTINCT id FROM entries WHERE seq > ?1 AND seq <= ?2) AS new"
        )
        if last > seq:
            count += int(self._select(query, seq, last)[0][0])
            self._counted = last, count
        return count

    def owed(self) -> int:
        """How many documents a model file must learn or forget, since it was trained without the journal.

        One that was learned here and is forgotten again leaves nothing to do.
        """
        query = (
            "SELECT count(*) FROM entries WHERE seq IN (SELECT max(seq) FROM entries GROUP BY id) AND "
            "(sign > 0 OR EXISTS (SELECT 1 FROM entries AS other WHERE other.sign < 0 AND other.seq = "
            "(SELECT min(seq) FROM entries AS first WHERE first.id = entries.id)))"
        )
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
                    "UPDATE entries SET text = NULL, salt = NULL WHERE text IS NOT NULL "
                    "AND seq NOT IN kept AND NOT (sign > 0 AND seq = "
                    "(SELECT max(seq) FROM entries AS last WHERE last.id = entries.id))"
                ).rowcount
            if erased:  # nor shall the log keep them
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased


def now() -> str:
    """The time, in UTC, as entries have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sealed(entries: Iterable[JournalEntry], chain: bytes) -> Iterator[Sealed]:
    """Entries with their seals, the first after one whose chain is ``chain``."""
    for entry in entries:
        salt = None if entry.text is None else secrets.token_bytes(SALT)
        seal = secrets.token_bytes(32) if salt is None else text_seal(salt, entry.text or "")
        row = Sealed(*entry, salt, seal, b"")
        chain = chained(chain, row)
        yield row._replace(chain=chain)


def _about_seal(key: str, base: str, since: int, snapshot: str, *, kind: Kind | None = None) -> str:
    return digest(key, base, since, snapshot, *(kind or Kind()).marks).hex()


def damaged(path: str | Path, what: str) -> ModelFileError:
    """The error for a journal that is not as it was written."""
    return ModelFileError(
        f"the journal `{path}` is damaged: {what}",
        hint="put a backup in its place, or save what can be read: "
        f"textodds journal repair {path} -o {Path(path).name}.new",
    )


def _unusable(path: str | Path, error: sqlite3.Error) -> ModelFileError:
    if "locked" in str(error):
        return ModelFileError(
            f"the journal `{path}` is in use by another process",
            hint="stop the other service, or name another file with `--journal`",
        )
    if "malformed" in str(error):
        return damaged(path, str(error))
    return ModelFileError(
        f"cannot open the journal `{path}`: {error}", hint="name another file with `--journal`"
    )
