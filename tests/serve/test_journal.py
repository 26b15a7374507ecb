"""The file that corrections are kept in: what it holds, what it refuses, and what it lets go."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve.durable import rows_of
from serve.running import Running
from textodds.errors import ModelFileError
from textodds.serve.records import journal as journals
from textodds.serve.records.journal import Change, Journal, JournalEntry

TEXTS = [
    "",
    "plain",
    "a\0b\0",
    "\0",
    "naïve 🙂 中文 \U0001f469‍\U0001f467",
    "x" * 100_000,
    "'; DROP TABLE entries; --",
    "\r\n\t",
]
IDS = ["m1", "it's", '"quoted"', "ä\u0301 🙂", "a\0b", "a\0c", "%_", " ", "NULL", "x" * 200]

LAYOUT_1 = """
CREATE TABLE about (journal TEXT NOT NULL, base TEXT NOT NULL, since INTEGER NOT NULL) STRICT;
CREATE TABLE entries (seq INTEGER PRIMARY KEY AUTOINCREMENT, sign INTEGER NOT NULL, id TEXT NOT NULL,
    label TEXT NOT NULL, text TEXT, at TEXT NOT NULL) STRICT;
CREATE INDEX entries_by_id ON entries (id, seq);
INSERT INTO about VALUES ('0123456789abcdef', '', 0);
INSERT INTO entries VALUES (1, 1, 'm1', 'spam', 'free phone', '2026-11-16T14:03:21.123Z');
INSERT INTO entries VALUES (2, -1, 'm1', 'spam', NULL, '2026-11-16T14:03:22.123Z');
PRAGMA application_id = 0x746f6464;
PRAGMA user_version = 1;
"""
LAYOUT_2 = """
CREATE TABLE about (journal TEXT NOT NULL, base TEXT NOT NULL, since INTEGER NOT NULL,
    snapshot TEXT NOT NULL DEFAULT '', seal TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE entries (seq INTEGER PRIMARY KEY AUTOINCREMENT, sign INTEGER NOT NULL, id TEXT NOT NULL,
    label TEXT NOT NULL, text TEXT, at TEXT NOT NULL, salt BLOB, seal BLOB NOT NULL DEFAULT x'',
    chain BLOB NOT NULL DEFAULT x'') STRICT;
CREATE INDEX entries_by_id ON entries (id, seq);
PRAGMA application_id = 0x746f6464;
PRAGMA user_version = 2;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mail.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    found = Journal(path)
    yield found
    found.close()


def test_entries_are_there_after_a_restart_whatever_their_texts_and_ids(path: Path) -> None:
    changes = [Change(1, f"t{n}", "spam", text) for n, text in enumerate(TEXTS)]
    changes += [Change(1, name, f"label {name}", "text") for name in IDS]
    with closing(Journal(path)) as journal:
        key = journal.key
        assert journal.append(changes) == len(changes)
    with closing(Journal(path)) as journal:
        assert (journal.key, journal.last) == (key, len(changes))
        assert [Change(*entry[1:5]) for entry in journal.after(0)] == changes
        found = journal.states([*IDS, "m2", "x" * 199])
        assert {name: state.last.label for name, state in found.items()} == {n: f"label {n}" for n in IDS}
        assert journal.append([Change(-1, "a\0b", "label a\0b", "text")]) == len(changes) + 1
        assert journal.states(["a\0b", "a\0c"])["a\0c"].last.sign == 1


def test_a_file_of_layout_1_is_read(path: Path) -> None:
    """Written out here, so that a change of the layout cannot go unnoticed."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(LAYOUT_1)
    with closing(Journal(path)) as journal:
        assert (journal.key, journal.last) == ("0123456789abcdef", 2)
        assert list(journal.after(0)) == [
            JournalEntry(1, 1, "m1", "spam", "free phone", "2026-11-16T14:03:21.123Z"),
            JournalEntry(2, -1, "m1", "spam", None, "2026-11-16T14:03:22.123Z"),
        ]


@pytest.mark.parametrize("before", ["", LAYOUT_1])
def test_a_new_file_and_one_of_layout_1_have_layout_2(path: Path, before: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(before)
    with closing(Journal(path)) as journal:
        journal.append([Change(1, "m1", "spam", "free phone")])
    made = _described(path)
    with closing(sqlite3.connect(path.with_name("other"))) as db:
        db.executescript(LAYOUT_2)
    assert made == _described(path.with_name("other"))
    with closing(Journal(path)) as journal:  # whose seals hold
        assert journal.last == 1 + 2 * bool(before)


def _described(path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as db:
        tables = ("about", "entries", "entries_by_id")
        columns = [db.execute(f"PRAGMA table_xinfo({table})").fetchall() for table in tables]
        strict = db.execute(
            "SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite%'"
        ).fetchall()
        marks = [db.execute(f"PRAGMA {mark}").fetchone() for mark in ("user_version", "application_id")]
        return [marks, columns, sorted(strict)]


changes = st.lists(
    st.builds(
        Change,
        st.sampled_from([1, -1]),
        st.sampled_from("abcd"),
        st.sampled_from(["spam", "ham"]),
        st.sampled_from(["one", "two", "three"]),
    ),
    max_size=14,
)


@given(changes)
@settings(deadline=None)
def test_what_is_known_of_documents_is_what_their_entries_say(given_changes: list[Change]) -> None:
    with closing(Journal(":memory:")) as journal:
        for change in given_changes:
            journal.append([change])
        entries = list(journal.after(0))
        last = {entry.id: entry for entry in entries}
        gone: dict[str, JournalEntry] = {}
        for entry in entries:
            if entry.sign < 0:
                gone.setdefault(entry.id, entry)
        states = journal.states(["a", "b", "c", "d", "e", "a"])
        assert {name: state.last for name, state in states.items()} == last
        assert {name for name, state in states.items() if state.was_forgotten} == set(gone)
        assert {entry.id: entry for entry in journal.first_forgotten()} == gone
        assert journal.standing() == sum(entry.sign > 0 for entry in last.values())
        recent = [(entry, last[entry.id] is entry) for entry in reversed(entries)]
        assert journal.recent(5) == recent[:5]


@given(changes, st.sets(st.integers(1, 12)))
@settings(deadline=None)
def test_erasing_takes_the_texts_of_what_is_not_learned_now_and_no_others(
    given_changes: list[Change], kept: set[int]
) -> None:
    with closing(Journal(":memory:")) as journal:
        journal.append(given_changes)
        before = list(journal.after(0))
        last = {entry.id: entry.seq for entry in before}
        taken = [
            entry.text is not None
            and entry.seq not in kept
            and not (entry.sign > 0 and last[entry.id] == entry.seq)
            for entry in before
        ]
        assert journal.erase(kept) == sum(taken)
        after = [
            entry._replace(text=None) if gone else entry for entry, gone in zip(before, taken, strict=True)
        ]
        assert list(journal.after(0)) == after
        assert journal.erase(kept) == 0


@given(st.lists(changes, max_size=5))
@settings(deadline=None)
def test_documents_are_counted_whenever_one_asks(groups: list[list[Change]]) -> None:
    with closing(Journal(":memory:")) as journal:
        last: dict[str, int] = {}
        for group in groups:
            journal.append(group)
            last |= {change.id: change.sign for change in group}
            assert journal.standing() == sum(sign > 0 for sign in last.values())


def test_counting_looks_at_new_entries_only(journal: Journal) -> None:
    journal.append([Change(1, f"m{n}", "spam", "text") for n in range(300)])
    assert journal.standing() == 300
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1

    journal._db.set_progress_handler(look, 50)
    assert journal.standing() == 300
    journal.append([Change(-1, "m7", "spam", "text")])
    looks = 0
    assert journal.standing() == 299
    assert looks < 10  # of 50 steps each; all of them take hundreds


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of POSIX")
def test_only_the_owner_may_read_the_files(path: Path) -> None:
    with closing(Journal(path)) as journal:
        journal.append([Change(1, "m1", "spam", "one")])
        assert {part.name: part.stat().st_mode & 0o777 for part in path.parent.iterdir()} == {
            path.name: 0o600,
            f"{path.name}-wal": 0o600,
        }


def test_more_entries_and_ids_than_are_asked_for_at_once(journal: Journal) -> None:
    names = [f"m{n}" for n in range(2 * journals.PORTION + 1)]
    journal.append([Change(1, name, "spam", name) for name in names])
    assert [entry.text for entry in journal.after(0)] == names
    assert [entry.text for entry in journal.after(journals.PORTION)] == names[journals.PORTION :]
    assert set(journal.states(names)) == set(names)
    assert journal.erase() == 0


def test_of_changes_that_cannot_all_be_written_none_is(journal: Journal, path: Path) -> None:
    journal.append([Change(1, "m1", "spam", "one")])
    bad = [Change(1, "m2", "spam", "two"), Change(1, "m3", None, "three")]  # type: ignore[arg-type]
    with pytest.raises(sqlite3.Error):
        journal.append(bad)
    assert (journal.last, [entry.id for entry in journal.after(0)]) == (1, ["m1"])
    assert journal.append([Change(1, "m4", "spam", "four")]) == 2
    journal.close()
    assert [row.id for row in rows_of(path)] == ["m1", "m4"]


def test_on_a_full_disk_nothing_is_written_and_later_all_goes_on(path: Path) -> None:
    with closing(Journal(path)) as journal:
        journal.append([Change(1, "m1", "spam", "one")])
        pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
        journal._db.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(sqlite3.Error, match="full"):
            journal.append([Change(1, "m2", "spam", "two"), Change(1, "m3", "spam", "x" * 100_000)])
        assert (journal.last, [entry.id for entry in journal.after(0)]) == (1, ["m1"])
        assert journal.append([Change(1, "m4", "spam", "small enough")]) == 2
        journal._db.execute("PRAGMA max_page_count = 1000000")
        assert journal.append([Change(1, "m3", "spam", "x" * 100_000)]) == 3
    assert [row.id for row in rows_of(path)] == ["m1", "m4", "m3"]


@pytest.mark.parametrize("seed", range(6))
def test_an_erased_text_is_in_no_byte_of_the_files(path: Path, seed: int) -> None:
    """Of short texts and long ones, which SQLite keeps in other ways, erased in any order."""
    random = Random(seed)
    marks: dict[str, str] = {}
    stands: set[str] = set()
    with closing(Journal(path)) as journal:
        for turn in range(12):
            fresh = []
            for n in range(random.randint(1, 40)):
                name = f"m{turn}.{n}"
                marks[name] = f"secret{random.getrandbits(64):016x}"
                size = random.choice([1, 1, 5, 40, 150, 250, 400, 3000])
                fresh.append(Change(1, name, "spam", f"{marks[name]} " * size))
            journal.append(fresh)
            stands |= {change.id for change in fresh}
            again = random.sample(sorted(stands), random.randint(0, len(stands)))
            texts = {entry.id: entry.text for entry in journal.after(0) if entry.sign > 0}
            if again:
                journal.append([Change(-1, name, "spam", texts[name]) for name in again])
            stands -= set(again)
            journal.erase()
            raw = b"".join(part.read_bytes() for part in path.parent.iterdir())
            left = [name for name in marks if name not in stands and marks[name].encode() in raw]
            assert not left, f"after turn {turn}: {len(left)} of {len(marks) - len(stands)}"
            kept = [name for name in stands if marks[name].encode() in raw]
            assert len(kept) == len(stands)


def test_readers_beside_the_writer_see_whole_appends(journal: Journal) -> None:
    torn: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            found = [entry.seq for entry in journal.after(0)]
            if found != list(range(1, len(found) + 1)) or len(found) % 3 or journal.standing() % 3:
                torn.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for one in readers:
        one.start()
    for n in range(60):
        journal.append([Change(1, f"{n}.{k}", "spam", "text") for k in range(3)])
    done.set()
    for one in readers:
        one.join()
    assert not torn
    assert journal.last == 180


HOLD = """
import sys
from textodds.serve.records.journal import Journal
journal = Journal(sys.argv[1])
print(journal.last, flush=True)
input()
"""


def test_a_second_process_is_refused_until_the_first_has_ended(path: Path) -> None:
    Journal(path).close()
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "0\n"
        with pytest.raises(ModelFileError, match="in use by another process") as caught:
            Journal(path)
        assert "--journal" in str(caught.value)
        holder.kill()
    Journal(path).close()


def test_a_second_service_is_refused_with_the_reason(serve: Callable[..., Running]) -> None:
    first = serve()
    with pytest.raises(RuntimeError, match="is in use by another process"):
        serve()
    client = first.client()
    assert client.post("/v1/learn", {"documents": [{"id": "m", "text": "hi", "label": "ham"}]}).status == 200
    client.close()


def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(path: Path, model: Path) -> None:
    other = model.read_bytes()
    with pytest.raises(ModelFileError, match="cannot open the journal"):
        Journal(model)
    assert model.read_bytes() == other
    path.write_text("label,text\nspam,free\n" * 200)
    with pytest.raises(ModelFileError, match="cannot open the journal"):
        Journal(path)
    assert path.read_text() == "label,text\nspam,free\n" * 200
    with pytest.raises(ModelFileError, match="cannot open the journal"):
        Journal(path.parent)
    with pytest.raises(ModelFileError, match="cannot open the journal"):
        Journal(path.parent / "missing" / "journal")
    assert not [part for part in path.parent.iterdir() if part.name.endswith(("-wal", "-shm", "-journal"))]


def test_a_journal_of_a_later_version_is_refused(path: Path) -> None:
    Journal(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 6")
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match="not a journal of this version"):
        Journal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_database_of_somebody_else_is_refused_and_left_as_it_is(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1); PRAGMA user_version = {version}"
        )
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match="journal"):
        Journal(path)
    assert path.read_bytes() == before


TRY = """
import os, sys
from textodds.serve.records.journal import Journal
if os.geteuid() == 0:  # whom no permission stops
    os.seteuid(65534)
try:
    Journal(sys.argv[1])
except Exception as error:
    print(repr(error))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of POSIX")
@pytest.mark.parametrize("mode", [None, 0o444, 0o666])
def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(mode: int | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "journal"
        if mode is not None:
            Journal(path).close()
            path.chmod(mode)
        path.parent.chmod(0o555)
        try:
            command = [sys.executable, "-c", TRY, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        finally:
            path.parent.chmod(0o755)
        assert done.stdout.startswith("ModelFileError")
        assert "cannot open the journal" in done.stdout
