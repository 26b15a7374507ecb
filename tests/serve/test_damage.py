"""Damage to the files of a service is noticed, said, and can be repaired: one bit at a time."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from serve.durable import TRAINING, Core, base_at, must_equal
from textodds.cli import main
from textodds.errors import ModelFileError
from textodds.serve.records.journal import Change, Journal, JournalEntry

APPENDS = [[Change(1, f"m{n}.{k}", "spam", f"win cash {n} {k} " * 3) for k in range(3)] for n in range(12)]


def flipped(path: Path, bit: int) -> None:
    """Turn one bit of a file over."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def bits(path: Path, seed: int, number: int) -> list[int]:
    random = Random(seed)
    return [random.randrange(8 * path.stat().st_size) for _ in range(number)]


def opened(path: Path) -> list[JournalEntry] | ModelFileError:
    """What a journal holds, found by number and by id alike, or what it was refused with."""
    try:
        with closing(Journal(path)) as journal:
            entries = list(journal.after(0))
            assert set(journal.states(entry.id for entry in entries)) == {entry.id for entry in entries}
            return entries
    except ModelFileError as error:
        return error


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, list[JournalEntry]]:
    """A journal that was closed in good order, and what it holds: some is forgotten and erased."""
    path = tmp_path / "made"
    with closing(Journal(path)) as journal:
        for changes in APPENDS:
            journal.append(changes)
        journal.append([Change(-1, *APPENDS[0][0][1:])])
        journal.erase()
        return path, list(journal.after(0))


def test_a_bit_of_a_journal_is_without_effect_or_an_error(made: tuple[Path, list[JournalEntry]]) -> None:
    path, entries = made
    noticed = 0
    for bit in bits(path, 1, 150):
        copy = Path(shutil.copy(path, path.with_name("copy")))
        flipped(copy, bit)
        found = opened(copy)
        if isinstance(found, ModelFileError):
            assert found.hint
            assert "in use" not in found.problem, "a journal that was refused is still open"
            noticed += 1
        else:
            assert found == entries, bit
        for end in ("-wal", "-shm", "-journal"):
            Path(f"{copy}{end}").unlink(missing_ok=True)
    assert noticed > 20


@pytest.mark.slow
def test_a_bit_of_the_log_is_without_effect_or_an_error_or_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of the last write alone nobody can tell whether it was cut off, and it is said to be dropped."""
    path, copy, noticed = tmp_path / "made", tmp_path / "copy", 0
    with closing(Journal(path)) as journal:
        for changes in APPENDS:
            journal.append(changes)
        entries = list(journal.after(0))
        for bit in bits(Path(f"{path}-wal"), 2, 40):
            for end in ("", "-wal"):
                shutil.copy(f"{path}{end}", f"{copy}{end}")
            flipped(Path(f"{copy}-wal"), bit)
            caplog.clear()
            with caplog.at_level(logging.WARNING):
                found = opened(copy)
            if isinstance(found, ModelFileError):
                assert "is damaged: its write-ahead log" in found.problem
                assert Path(f"{copy}-wal").exists()
                noticed += 1
            else:
                assert found == entries or (found == entries[:-3] and "was cut off" in caplog.text), bit
    assert noticed > 30


def test_a_log_that_was_cut_off_anywhere_is_no_damage(tmp_path: Path) -> None:
    """As by a crash: what is whole is read, and nothing is refused."""
    path, copy = tmp_path / "made", tmp_path / "copy"
    with closing(Journal(path)) as journal:
        for changes in APPENDS:
            journal.append(changes)
        entries = list(journal.after(0))
        whole = Path(f"{path}-wal").read_bytes()
        for size in Random(3).sample(range(len(whole)), 20):
            shutil.copy(path, copy)
            Path(f"{copy}-wal").write_bytes(whole[:size])
            found = opened(copy)
            assert isinstance(found, list), size
            assert found == entries[: len(found)]


def test_a_snapshot_needs_nothing_that_is_written_after_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A service that is killed as soon as its snapshot is there finds it whole, without a warning."""
    path, copy = tmp_path / "journal", tmp_path / "copy"
    with closing(Journal(path)) as journal:
        core = Core(base_at(tmp_path / "mail.textodds"), journal)
        core.learn(("j1", "ham", "free lunch"), ("j2", "spam", "see cash"))
        copy.write_bytes(journal.copy())
        core.writer.save()
    with closing(Journal(copy)) as journal:
        assert Core(tmp_path / "mail.textodds", journal).live.saved == 2
    assert not caplog.records


def test_a_bit_of_a_snapshot_changes_no_answer(tmp_path: Path) -> None:
    with closing(Journal(":memory:")) as journal:
        core = Core(base_at(tmp_path / "mail.textodds"), journal)
        core.learn(("j1", "ham", "free lunch"), ("j2", "spam", "see cash"))
        core.writer.save()
        stands, snapshot = [*TRAINING, ("ham", "free lunch"), ("spam", "see cash")], core.settings.snapshot
        assert core.begun_again().live.saved == 2
        whole = snapshot.read_bytes()
        for bit in bits(snapshot, 4, 20):
            snapshot.write_bytes(whole)
            flipped(snapshot, bit)
            try:
                again = core.begun_again()
            except ModelFileError as error:  # its header has changed
                if "--accept-loss" not in str(error.hint):
                    raise
                continue
            assert again.live.saved == 0
            must_equal(again.model, stands)


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE entries SET label = 'ham' WHERE seq = 7", "entry 7 of 37"),
        ("UPDATE entries SET text = 'other' WHERE seq = 7", "entry 7 of 37"),
        ("UPDATE entries SET text = NULL WHERE seq = 7", "entry 7 of 37"),
        ("DELETE FROM entries WHERE seq = 7", "entry 7 of 37"),
        ("DELETE FROM entries WHERE seq = 37", "entry 37 of 37"),
        ("UPDATE about SET since = 3", "its header"),
        ("DELETE FROM about", ""),
    ],
)
def test_a_journal_that_was_changed_is_refused(
    made: tuple[Path, list[JournalEntry]], statement: str, what: str
) -> None:
    path, _ = made
    changed(path, statement)
    with pytest.raises(ModelFileError, match=f"is damaged: {what}") as refused:
        Journal(path)
    assert f"textodds journal repair {path} -o " in str(refused.value.hint)


def test_the_commands_check_export_and_repair(
    made: tuple[Path, list[JournalEntry]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, entries = made
    assert main(["journal", "check", str(path)]) == 0
    assert capsys.readouterr().err == f"{path} is whole: 37 corrections, 35 documents learned\n"
    changed(path, "UPDATE entries SET label = 'ham' WHERE seq = 7")
    before, mended = path.read_bytes(), path.with_name("mended")
    assert main(["journal", "check", str(path)]) == 2
    assert f"error: the journal `{path}` is damaged: entry 7 of 37\n" in capsys.readouterr().err
    assert main(["journal", "repair", str(path), "-o", str(mended)]) == 0
    assert capsys.readouterr().err == f"wrote {mended}: 36 corrections\nlost 1 correction: 7\n"
    left = [entry for entry in entries if entry.seq != 7]
    with closing(Journal(mended)) as journal:
        assert [entry[1:] for entry in journal.after(0)] == [entry[1:] for entry in left]
    assert main(["journal", "export", str(path)]) == 0
    out, err = capsys.readouterr()
    assert [json.loads(line)["seq"] for line in out.splitlines()] == [entry.seq for entry in left]
    assert json.loads(out.splitlines()[-1])["sign"] == "forgotten"
    assert err == "lost 1 correction: 7\n"
    assert path.read_bytes() == before


def test_the_commands_refuse_what_makes_no_sense(
    made: tuple[Path, list[JournalEntry]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = made
    for args in (["check", "missing"], ["repair", str(path)], ["check", str(path), "-o", "x"]):
        assert main(["journal", *args]) == 2
    assert main(["journal", "repair", str(path), "-o", str(path)]) == 2
    assert "the journal would replace" in capsys.readouterr().err
    other = path.with_name("other")
    other.write_bytes(b"")
    assert main(["journal", "repair", str(path), "-o", str(other)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["journal", "mend", str(path)]) == 2
    assert main(["journal", "repair", __file__, "-o", str(path.with_name("x"))]) == 2
    assert not path.with_name("x").exists()
