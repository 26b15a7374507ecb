"""The audit log: a line for each correction, before it is acknowledged, or no correction."""

import errno
import hashlib
import http.client
import json
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path
from random import Random

import pytest

from serve.durable import Core, base_at, forgetting, learning, rows_of
from serve.running import Client, Running
from serve.test_token_file import until, written
from serve.wire import problem
from textodds.errors import InputError
from textodds.serve.protocol.problems import Problem
from textodds.serve.records.audit import AuditLog
from textodds.serve.records.journal import JournalEntry
from textodds.serve.updates.writer import Writer

TOKEN = "robot-0123456789abcdef"
FIELDS = ["at", "by", "change", "id", "label", "seq", "sha256"]


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def audited(folder: Path) -> tuple[Core, Path]:
    """A core of which corrections are audited."""
    core, path = Core(base_at(folder / "mail.textodds")), folder / "audit"
    core.writer = Writer(core.live, core.journal, snapshot_every=100, audit=AuditLog(path))
    return core, path


def test_a_line_says_when_who_and_what_but_not_the_text(serve, tmp_path):
    tokens = written(tmp_path / "tokens", f"robot write {TOKEN}")
    audit = tmp_path / "audit"
    service = serve("--audit", str(audit), "--tokens", str(tokens))
    client = service.client(TOKEN)
    document = {"id": "mail-1\n\x7f\x9b\u202e", "text": "free lunch", "label": "ham"}
    assert client.post("/v1/learn", {"documents": [document]}).status == 200
    assert client.post("/v1/learn", {"documents": [document]}).status == 200  # changes nothing
    assert client.post("/v1/forget", {"documents": [{"id": document["id"]}]}).status == 200
    content = audit.read_bytes()
    assert all(byte == 10 or 32 <= byte < 127 for byte in content)
    assert b"lunch" not in content
    first, second = lines_of(audit)
    assert [list(each) for each in (first, second)] == [FIELDS, FIELDS]
    assert first["sha256"] == second["sha256"] == hashlib.sha256(b"free lunch").hexdigest()
    assert [(each["by"], each["change"], each["seq"]) for each in (first, second)] == [
        ("robot", "learned", 1), ("robot", "forgotten", 2)
    ]  # fmt: skip
    assert (first["id"], first["label"]) == (document["id"], "ham")
    assert first["at"].endswith("Z")
    assert audit.stat().st_mode & 0o777 == 0o600

    audit.rename(tmp_path / "audit.1")  # as a rotation does
    os.kill(service.process.pid, signal.SIGHUP)
    until(audit.exists)
    assert client.post("/v1/learn", {"documents": [document | {"id": "mail-2"}]}).status == 200
    assert [each["seq"] for each in lines_of(audit)] == [3]
    client.close()


def test_without_tokens_who_is_an_address(serve, tmp_path):
    client = serve("--audit", str(tmp_path / "audit")).client()
    client.post("/v1/learn", {"documents": [{"text": "free lunch", "label": "ham"}]})
    assert [each["by"] for each in lines_of(tmp_path / "audit")] == ["127.0.0.1"]
    client.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_correction_that_cannot_be_logged_is_refused(tmp_path):
    core, path = audited(tmp_path)
    core.learn(("a", "ham", "one"))
    good, core.writer._audit._file = core.writer._audit._file, os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(Problem, match="audit log cannot be written") as refused:
        core.learn(("b", "ham", "two"))
    assert (refused.value.status, refused.value.code) == (503, "audit")
    assert [row.id for row in core.journal.after(0)] == ["a"]
    assert core.model.tally.n_documents == core.live.base.model.tally.n_documents + 1
    core.writer._audit._file = good
    assert core.learn(("b", "ham", "two")) == [True]
    assert [(each["id"], each["seq"]) for each in lines_of(path)[-1:]] == [("b", 2)]


def test_a_correction_that_is_not_kept_is_withdrawn(tmp_path):
    core, path = audited(tmp_path)
    execute = core.journal._db

    class Full:
        def __getattr__(self, name):
            return getattr(execute, name)

        def execute(self, statement, *rest):
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return execute.execute(statement, *rest)

    core.journal._db = Full()
    with pytest.raises(Problem, match="journal cannot be written"):
        core.learn(("a", "ham", "one"))
    core.journal._db = execute
    assert core.learn(("b", "ham", "two")) == [True]
    assert [(each["change"], each["id"], each["seq"]) for each in lines_of(path)] == [
        ("learned", "a", 1), ("withdrawn", "a", 1), ("learned", "b", 1)
    ]  # fmt: skip


def test_who_asked_is_told_of_each_of_those_that_share_a_commit(tmp_path):
    core, path = audited(tmp_path)
    submit, names = core.writer.submit, iter(["ann", "ben", "cid"])
    core.writer.submit = lambda work: submit(work, next(names) if work is not None else "")
    core.together(
        learning(("a", "ham", "one"), ("b", "ham", "two")), learning(("a", "ham", "one")), forgetting("b")
    )
    assert [(each["by"], each["change"], each["id"]) for each in lines_of(path)] == [
        ("ann", "learned", "a"), ("ann", "learned", "b"), ("cid", "forgotten", "b")
    ]  # fmt: skip
    assert core.writer.commits == 1


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path):
    path = written(tmp_path / "audit", '{"at": "2026')
    path.write_bytes(path.read_bytes().rstrip())
    audit = AuditLog(path)
    entry = JournalEntry(7, 1, "a", "ham", None, "2026-11-18T00:00:00.000Z")
    audit.write([entry], ["ann"])
    _, second = path.read_bytes().splitlines()
    assert json.loads(second)["seq"] == 7
    path.unlink()
    audit.write([entry], ["ann"])  # nobody would find it in a file that was removed
    assert json.loads(path.read_bytes())["sha256"] is None
    audit.close()


def test_what_cannot_be_an_audit_log_is_refused_at_the_start(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", tmp_path / "missing" / "audit"):
        with pytest.raises(InputError, match="audit log"):
            AuditLog(place)


def test_reopening_what_cannot_be_opened_goes_on_in_the_old_file(tmp_path, caplog):
    audit = AuditLog(tmp_path / "audit")
    (tmp_path / "audit").rename(tmp_path / "audit.1")
    (tmp_path / "audit").mkdir()
    audit.reopen()
    assert os.strerror(errno.EISDIR) in caplog.text
    audit.write([JournalEntry(1, 1, "a", "ham", "x", "")], ["ann"])
    assert len(lines_of(tmp_path / "audit.1")) == 1
    audit.close()


def _learn_until_killed(port: int, name: int, acknowledged: list[str], wrong: list[BaseException]) -> None:
    client = Client(port, timeout=30)
    try:
        for number in range(1_000_000):
            document = {"id": f"{name}.{number}", "text": "free lunch", "label": "ham"}
            answer = client.post("/v1/learn", {"documents": [document]})
            assert answer.status == 200, answer.body
            acknowledged.append(document["id"])
    except (OSError, http.client.HTTPException):  # it was killed
        pass
    except BaseException as error:
        wrong.append(error)
    finally:
        client.close()


def test_killed_at_any_moment_no_acknowledged_correction_is_missing_in_the_log(model, tmp_path):
    audit, random = tmp_path / "audit", Random(4)
    acknowledged: list[str] = []
    wrong: list[BaseException] = []
    for life in range(3):
        service = Running(model, "--audit", str(audit))
        before = len(acknowledged)
        threads = [
            threading.Thread(
                target=_learn_until_killed, args=(service.port, f"{life}.{n}", acknowledged, wrong)
            )
            for n in range(3)
        ]
        for thread in threads:
            thread.start()
        until(lambda at=before + 5: len(acknowledged) > at or wrong)
        time.sleep(random.uniform(0, 0.1))
        service.kill()
        for thread in threads:
            thread.join()
        assert not wrong
    told = {}
    for line in lines_of(audit):
        told[line["seq"]] = line["id"]  # of two lines with one number the later one counts
    kept = {row.seq: row.id for row in rows_of(model.with_name(model.name + ".journal"))}
    assert set(acknowledged) <= set(kept.values())
    assert kept.items() <= told.items()
    assert len(told) - len(kept) <= 3, "only what was cut off may be told and not kept"


def test_a_service_that_only_reads_has_nothing_to_log(serve, tmp_path):
    with pytest.raises(RuntimeError, match="`--read-only` cannot be combined with `--audit`"):
        serve("--read-only", "--audit", str(tmp_path / "audit"))


def test_a_refusal_tells_of_no_file(serve, tmp_path, monkeypatch):
    audit = tmp_path / "logs" / "audit"
    audit.parent.mkdir()
    client = serve("--audit", str(audit)).client()
    audit.unlink()
    audit.parent.rmdir()
    found = problem(client.post("/v1/learn", {"documents": [{"text": "a", "label": "ham"}]}), 503, "audit")
    assert "audit log cannot be written" in found["detail"]
    assert client.get("/v1/corrections").json()["total"] == 0
    client.close()
