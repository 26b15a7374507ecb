"""The texts that wait for a label: every text of the files that were dropped, by an id of its content."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from textodds.errors import ModelFileError
from textodds.serve.records.journal import PRIVATE, now

MOST = 100_000  # texts that wait at most
PREFIX = "text-"

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS files (digest TEXT PRIMARY KEY, name TEXT NOT NULL, encoding TEXT, "
    "col TEXT, columns TEXT NOT NULL, rows INTEGER NOT NULL, at TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS texts (place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, "
    "text TEXT NOT NULL, kin TEXT NOT NULL, file TEXT NOT NULL, row INTEGER NOT NULL) STRICT",
)


def text_id(text: str) -> str:
    """The id of a text, by its content; ids in order are texts in no order.

    >>> text_id("see you") == text_id("see you"), text_id("see you")[:5]
    (True, 'text-')
    """
    return PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class PoolText(NamedTuple):
    """A text; those of one ``kin`` are the same, word for word or nearly."""

    id: str
    text: str
    kin: str
    file: str
    row: int


class PoolFile(NamedTuple):
    """A file that was dropped: where its texts stand, and in which encoding it was."""

    digest: str
    name: str
    encoding: str | None
    column: str | None
    columns: str  # all of them, as JSON
    rows: int
    at: str = ""


class TextPool:
    """The texts, in a file beside the journal, and in memory.

    >>> pool = TextPool(":memory:")
    >>> pool.add(PoolFile("0", "a.csv", None, "text", "[]", 2), [("see you", 0, 1), ("see me", 1, 2)])
    2
    >>> [each.text for each in pool.search("ME see", 5)], len(pool)
    (['see me'], 2)
    """

    def __init__(self, path: str | Path) -> None:
        self._lock, self._path = threading.Lock(), Path(path)
        self._open(path if self._path.exists() else ":memory:")  # a file is made with the first texts

    def _open(self, path: str | Path) -> None:
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=2)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")
            for statement in SCHEMA:
                self._db.execute(statement)
            self._read()
        except sqlite3.Error as error:
            raise ModelFileError(
                f"cannot open the texts to label in `{path}`: {error}",
                hint="remove the file, and drop the texts again: labels are in the journal",
            ) from error

    def _read(self) -> None:
        rows = self._db.execute("SELECT id, text, kin, file, row FROM texts ORDER BY place")
        self.texts: dict[str, PoolText] = {row[0]: PoolText(*row) for row in rows}
        files = self._db.execute(
            "SELECT digest, name, encoding, col, columns, rows, at FROM files ORDER BY at"
        )
        self.files: dict[str, PoolFile] = {row[0]: PoolFile(*row) for row in files}
        self.kin: dict[str, list[str]] = {}
        for each in self.texts.values():
            self.kin.setdefault(each.kin, []).append(each.id)
        self.shuffled = sorted(self.texts)  # ids are hashes

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, file: PoolFile, found: Sequence[tuple[str, int, int]]) -> int:
        """Take texts of a file, with the place of the first like each and its row; the number of new ones."""
        firsts = [text_id(text) for text, _, _ in found]
        with self._lock:
            if self._path.name != ":memory:" and not self._path.exists():
                self._db.close()
                self._path.touch(PRIVATE)
                self._open(self._path)
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("DELETE FROM texts WHERE file = ?", (file.digest,))
                self._db.execute("DELETE FROM files WHERE digest = ?", (file.digest,))
                self._db.execute(
                    "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", (*file[:6], file.at or now())
                )
                before = self._db.execute("SELECT count(*) FROM texts").fetchone()[0]
                self._db.executemany(
                    "INSERT OR IGNORE INTO texts (id, text, kin, file, row) VALUES (?, ?, ?, ?, ?)",
                    (
                        (name, text, firsts[first], file.digest, row)
                        for name, (text, first, row) in zip(firsts, found, strict=True)
                    ),
                )
                after = self._db.execute("SELECT count(*) FROM texts").fetchone()[0]
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._read()
        return int(after - before)

    def remove(self, digest: str) -> None:
        """Take a file and its texts away; labels are in the journal, and stay."""
        with self._lock:
            self._db.execute("DELETE FROM texts WHERE file = ?", (digest,))
            self._db.execute("DELETE FROM files WHERE digest = ?", (digest,))
            self._read()

    def search(self, query: str, limit: int) -> list[PoolText]:
        """Texts that have all words of a query in them, in lower case."""
        words = query.lower().split()
        found: list[PoolText] = []
        for each in self.texts.values():
            text = each.text.lower()
            if all(word in text for word in words):
                found.append(each)
                if len(found) >= limit:
                    break
        return found

    def alike(self, name: str) -> list[PoolText]:
        """Other texts that are the same as one, word for word or nearly."""
        here = self.texts.get(name)
        if here is None:
            return []
        return [self.texts[other] for other in self.kin[here.kin] if other != name]

    def known(self, ids: Iterable[str]) -> int:
        """How many ids are those of texts here."""
        return sum(name in self.texts for name in ids)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
