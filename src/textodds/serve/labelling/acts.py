"""What people did while labelling, in the file of the journal: on disk with what it changes, or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from textodds.serve.protocol.messages import Document, Forgotten, LearnDocuments
from textodds.serve.records.journal import Journal, now

SCHEMA = """
CREATE TABLE IF NOT EXISTS acts (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    by TEXT NOT NULL,      -- the name that somebody has given
    kind TEXT NOT NULL,    -- label, skip, opinion, check, class, back or undo
    text TEXT NOT NULL,    -- the id of the text
    label TEXT,            -- that was given; NULL where one was taken away
    guess TEXT,            -- what the model had said before
    chosen TEXT NOT NULL,  -- why this text was shown: useful, doubt, random, search, check, edit
    changes TEXT NOT NULL, -- JSON: [id, label before, label after] of every text that changed
    undoes INTEGER         -- the act that is taken back
) STRICT
"""
FIELDS = "at, by, kind, text, label, guess, chosen, changes, undoes"

Change3 = tuple[str, str | None, str | None]


class Act(NamedTuple):
    """Something that somebody did."""

    by: str
    kind: str
    text: str = ""
    label: str | None = None
    guess: str | None = None
    chosen: str = ""
    changes: tuple[Change3, ...] = ()
    undoes: int | None = None
    n: int = 0  # its number, once it is on disk
    at: str = ""


class ActRequest(LearnDocuments, kw_only=True):
    """An act, and the documents that it has the model forget and learn, in this order."""

    documents: list[Forgotten | Document]
    act: Act


def write(journal: Journal, acts: Iterable[Act]) -> None:
    """Put acts beside the entries of the transaction under way."""
    journal.add_beside(SCHEMA)
    at = now()
    rows = [
        (at, *act[:6], json.dumps(act.changes, ensure_ascii=False, separators=(",", ":")), act.undoes)
        for act in acts
    ]
    journal.add_beside(f"INSERT INTO acts ({FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def restore(journal: Journal, rows: Sequence[Sequence[object]]) -> None:
    """Put acts of another journal, as its file has them, beside the entries of the transaction under way."""
    if rows:
        journal.add_beside(SCHEMA)
        journal.add_beside(f"INSERT INTO acts (n, {FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def after(journal: Journal, n: int) -> Iterator[Act]:
    """The acts after a number, in order."""
    if not journal.query("SELECT 1 FROM sqlite_master WHERE name = 'acts'"):
        return  # nobody has labelled anything
    query = f"SELECT n, {FIELDS} FROM acts WHERE n > ? ORDER BY n"
    for number, at, by, kind, text, label, guess, chosen, changes, undoes in journal.query(query, n):
        found = tuple((str(each[0]), each[1], each[2]) for each in json.loads(changes))
        yield Act(by, kind, text, label, guess, chosen, found, undoes, number, at)
