"""Corrections: checked, on disk, and only then acknowledged; those that wait together share a commit."""

from __future__ import annotations

import asyncio
import logging
import re
import resource
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import textodds
from serve.durable import (
    TRAINING,
    Core,
    base_at,
    forgetting,
    learning,
    must_equal,
    rows_of,
    trained,
)
from serve.running import Running
from textodds.errors import Conflict, InputError, Unsupported
from textodds.serve.protocol.messages import ChangeAnswer, Document, Forgotten, LearnRequest
from textodds.serve.protocol.problems import Problem, status_of
from textodds.serve.records.journal import Journal
from textodds.serve.updates import writer as writers

NAMED = [("b1", "spam", "cash prize free entry"), ("b2", "ham", "lunch at noon tomorrow")]
ALL = [*TRAINING, *(one[1:] for one in NAMED)]
SPAM, HAM = ("j1", "spam", "win cash now"), ("j2", "ham", "see you tomorrow")


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    path = base_at(tmp_path / "mail.textodds", TRAINING, NAMED)
    with closing(Journal(tmp_path / "journal")) as journal:
        yield Core(path, journal)


def _changed(answer: Any) -> list[bool]:
    assert isinstance(answer, ChangeAnswer), answer
    return [one.changed for one in answer.documents]


def _seq(answer: ChangeAnswer) -> int:
    return int(answer.version.split(".")[1].rstrip("~"))


def test_who_waits_together_shares_a_commit(core: Core) -> None:
    answers = core.together(*(learning((f"m{n}", "spam", "win")) for n in range(300)))
    assert core.writer.commits == 1
    assert [_seq(answer) for answer in answers] == list(range(1, 301))
    assert core.journal.last == 300
    must_equal(core.model, [*ALL, *[("spam", "win")] * 300])


def test_a_document_of_the_training_is_forgotten_and_learned_again_within_one_commit(core: Core) -> None:
    """What is left of the training is asked for it once only: after that it is a document like any other."""
    name, label, text = NAMED[0]
    gone = forgetting(Forgotten(id=name, label=label, text=text))
    answers = core.together(gone, learning(NAMED[0]), gone, learning(NAMED[0]), gone)
    assert core.writer.commits == 1
    assert [_changed(answer) for answer in answers] == [[True]] * 5
    must_equal(core.model, [one for one in ALL if one != (label, text)])


def test_clients_of_a_service_share_commits(serve: Callable[..., Running]) -> None:
    service = serve()
    refused: list[Any] = []

    def send(number: int) -> None:
        client = service.client()
        for n in range(25):
            document = {"id": f"{number}.{n}", "text": "win", "label": "spam"}
            answer = client.post("/v1/learn", {"documents": [document]})
            if answer.status != 200:
                refused.append(answer.body)
        client.close()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not refused
    client = service.client()
    assert client.get("/v1/corrections").json()["total"] == 300
    told = client.get("/metrics").body.decode()
    client.close()
    commits = re.search(r"^textodds\w*commits\w* ([\d.]+)$", told, re.MULTILINE)
    assert commits is not None, told
    assert 0 < float(commits[1]) < 300


def test_a_large_group_goes_to_disk_in_parts(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "GROUP", 10)
    works = [learning(*((f"{n}.{k}", "spam", "win") for k in range(4))) for n in range(8)]
    answers = core.together(*works)
    assert [_seq(answer) for answer in answers] == list(range(4, 33, 4))
    assert core.writer.commits == 3
    must_equal(core.model, [*ALL, *[("spam", "win")] * 32])


def test_one_bad_document_keeps_its_request_out_and_no_other(core: Core) -> None:
    core.learn(SPAM)
    before, bad, after = core.together(
        learning(HAM),
        learning(("m1", "ham", "one"), ("j1", "ham", "win cash now"), ("m2", "ham", "two")),
        learning(("m1", "spam", "other"), ("m3", "ham", "three")),
    )
    assert _changed(before) == [True]
    assert isinstance(bad, Conflict)
    assert _changed(after) == [True, True]
    assert [entry.id for entry in core.journal.after(0)] == ["j1", "j2", "m1", "m3"]
    must_equal(core.model, [*ALL, SPAM[1:], HAM[1:], ("spam", "other"), ("ham", "three")])


def test_a_refused_request_of_training_documents_leaves_no_trace(core: Core) -> None:
    """Its first document could be forgotten, the second cannot: the first must still be there to forget."""
    good = Forgotten(id="b1", text=NAMED[0][2])
    bad, fine = core.together(forgetting(good, Forgotten(id="b2", text="never there")), forgetting(good))
    assert isinstance(bad, InputError)
    assert _changed(fine) == [True]
    must_equal(core.model, [*TRAINING, NAMED[1][1:]])


def test_what_is_sent_again_changes_nothing(core: Core) -> None:
    for _ in range(3):
        first = core.learn(SPAM, HAM)
        assert first in ([True, True], [False, False])
    assert core.journal.last == 2
    assert [core.forget("j1") for _ in range(3)] == [[True], [False], [False]]
    assert [core.learn(("j1", "ham", "win")) for _ in range(3)] == [[True], [False], [False]]
    with pytest.raises(Conflict):
        core.learn(SPAM)
    assert [core.forget("j1", "j2") for _ in range(2)] == [[True, True], [False, False]]
    assert core.journal.last == 6
    must_equal(core.model, ALL)


def test_forgetting_what_is_not_there_changes_nothing(core: Core) -> None:
    answer = core.ask(forgetting("never", Forgotten(id="nor this", text="win", label="spam")))
    assert (_changed(answer), _seq(answer), core.journal.last, core.writer.commits) == (
        [False, False],
        0,
        0,
        0,
    )


def test_an_id_that_comes_twice_in_a_request_is_done_once(core: Core) -> None:
    assert core.learn(SPAM, SPAM, HAM) == [True, False, True]
    assert core.forget("j1", "j1", "j2") == [True, False, True]
    for other in (("j1", "ham", "win cash now"), ("j1", "spam", "other text")):
        with pytest.raises(Conflict):
            core.learn(SPAM, other)
    assert core.journal.last == 4
    must_equal(core.model, ALL)


def test_requests_of_a_group_are_checked_against_those_before_them(core: Core) -> None:
    works = [
        learning(SPAM),
        learning(("j1", "ham", "win cash now")),
        forgetting("j1"),
        learning(("j1", "ham", "another")),
        learning(SPAM),
        learning(("j1", "ham", "another")),
        forgetting(Forgotten(id="j1", label="spam")),
        forgetting(Forgotten(id="j1", label="ham")),
        forgetting("j1"),
        learning(("j1", "eggs", "third"), HAM),
    ]
    found = core.together(*works)
    kinds = [None if isinstance(one, Conflict) else _changed(one) for one in found]
    assert kinds == [[True], None, [True], [True], None, [False], None, [True], [False], [True, True]]
    assert core.writer.commits == 1
    assert [_seq(one) for one in found if not isinstance(one, Exception)] == [1, 2, 3, 3, 4, 4, 6]
    must_equal(core.model, [*ALL, ("eggs", "third"), HAM[1:]])
    must_equal(core.begun_again().model, [*ALL, ("eggs", "third"), HAM[1:]])


def test_a_document_of_training_is_forgotten_by_its_text_and_once(core: Core) -> None:
    with pytest.raises(InputError, match="only its id is known"):
        core.forget("b1")
    with pytest.raises(Conflict):
        core.forget(Forgotten(id="b1", text=NAMED[0][2], label="ham"))
    with pytest.raises(InputError):
        core.forget(Forgotten(id="b1", text="words that it did not have"))
    assert core.learn(("b1", *NAMED[0][1:])) == [False]
    with pytest.raises(Conflict):
        core.learn(("b1", "ham", NAMED[0][2]))
    whole = Forgotten(id="b1", text=NAMED[0][2], label="spam")
    assert [_changed(one) for one in core.together(forgetting(whole), forgetting(whole))] == [[True], [False]]
    must_equal(core.model, [*TRAINING, NAMED[1][1:]])
    assert core.learn(("b1", "eggs", "otherwise")) == [True]
    must_equal(core.model, [*TRAINING, NAMED[1][1:], ("eggs", "otherwise")])


def test_what_was_learned_here_cannot_be_taken_for_a_document_of_training(core: Core) -> None:
    """Its counts would allow it, and be negative once the other is forgotten."""
    core.learn(("j1", "spam", "xyzzy plugh"))
    with pytest.raises(InputError):
        core.forget(Forgotten(id="b1", text="xyzzy plugh"))
    core.forget("j1")
    must_equal(core.model, ALL)


def test_training_is_not_forgotten_to_the_last_document(tmp_path: Path) -> None:
    path = tmp_path / "mail.textodds"
    model = trained([("ham", "gone"), ("spam", "gone too")])
    model.learn([one[2] for one in NAMED], [one[1] for one in NAMED], ids=[one[0] for one in NAMED])
    model.forget(["gone", "gone too"], ["ham", "spam"])
    model.save(path)
    with closing(Journal(":memory:")) as journal:
        core = Core(path, journal)
        core.learn(SPAM)
        every = [Forgotten(id=name, text=text) for name, _, text in NAMED]
        with pytest.raises(InputError, match="every document"):
            core.forget(*every)
        one, other = core.together(*(forgetting(each) for each in every))
        assert _changed(one) == [True]
        assert isinstance(other, InputError)
        core.forget("j1")
        must_equal(core.begun_again().model, [NAMED[1][1:]])


def test_a_new_label_must_be_meant(core: Core) -> None:
    with pytest.raises(InputError, match="there is no class `spma`; did you mean `spam`"):
        core.learn(("m1", "spma", "win"), SPAM)
    assert core.journal.last == 0
    refused, meant, now_known = core.together(
        learning(("m1", "bacon", "egg")),
        learning(("m2", "bacon", "egg"), new=True),
        learning(("m3", "bacon", "egg")),
    )
    assert isinstance(refused, InputError)
    assert (_changed(meant), _changed(now_known)) == ([True], [True])
    assert core.learn(("m4", "bacon", "egg")) == [True]
    assert "bacon" in core.model.classes_
    must_equal(core.begun_again().model, [*ALL, *[("bacon", "egg")] * 3])


def test_a_class_that_is_gone_must_be_meant_again(core: Core) -> None:
    core.learn(("m1", "bacon", "egg"), new=True)
    core.forget("m1")
    with pytest.raises(InputError, match="there is no class"):
        core.learn(("m2", "bacon", "egg"))


def test_a_class_that_a_reader_folds_meanwhile_is_known(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    core.learn(("m1", "bacon", "egg"), new=True)
    labels = core.live.labels

    def beside_a_reader() -> tuple[set[str], dict[str, str]]:
        found = labels()
        core.live.fold()
        assert labels() == ({*found[0], "bacon"}, {})
        return found

    monkeypatch.setattr(core.live, "labels", beside_a_reader)
    assert core.learn(("m2", "bacon", "egg")) == [True]


def test_a_document_without_an_id_is_given_one(core: Core) -> None:
    request = LearnRequest(documents=[Document(text="win", label="spam"), Document(text="win", label="spam")])
    told = core.ask(request).documents
    assert [one.changed for one in told] == [True, True]
    assert told[0].id != told[1].id
    assert core.forget(told[0].id) == [True]
    must_equal(core.model, [*ALL, ("spam", "win")])


@pytest.mark.parametrize("text", ["", "a\0b", "naïve 🙂 中文", "win " * 25_000, "'; DROP TABLE entries; --"])
@pytest.mark.parametrize("name", ["it's", 'a "b"', "ä\u0301 🙂", "a\0b", " "])
def test_any_text_and_any_id_is_learned_and_forgotten(core: Core, name: str, text: str) -> None:
    label = f"label {name}"
    assert core.learn((name, label, text), new=True) == [True]
    assert core.learn((name, label, text)) == [False]
    must_equal(core.begun_again().model, [*ALL, (label, text)])
    assert core.forget(name) == [True]
    must_equal(core.begun_again().model, ALL)


def test_who_has_gone_away_does_not_keep_others_from_their_answers(core: Core) -> None:
    async def ask() -> Any:
        core.writer.start()
        gone = core.writer.submit(learning(SPAM))
        gone.cancel()
        return await core.writer.submit(learning(HAM)), await core.writer.submit(None)

    answer, _ = asyncio.run(ask())
    assert _changed(answer) == [True]
    core.writer.join()
    must_equal(core.model, [*ALL, SPAM[1:], HAM[1:]])


def test_snapshots_are_saved_after_so_many_entries(tmp_path: Path) -> None:
    path = base_at(tmp_path / "mail.textodds")
    with closing(Journal(":memory:")) as journal:
        core = Core(path, journal, every=7)

        async def ask() -> None:
            core.writer.start()
            for n in range(20):
                await core.writer.submit(learning((f"m{n}", "spam", "win")))
            await core.writer.submit(None)

        asyncio.run(ask())
        core.writer.join()
        assert (core.writer.snapshots, core.live.saved) == (2, 14)
        saved = textodds.load(core.settings.snapshot)
        must_equal(saved, [*TRAINING, *[("spam", "win")] * 14])  # type: ignore[arg-type]
        must_equal(core.begun_again().model, [*TRAINING, *[("spam", "win")] * 20])


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([" \t"], "is blank"),
        (["ham "], "looks like 'ham'"),
        (["caf\xe9", "cafe\u0301"], r"looks like 'cafe\\u0301'"),
    ],
)
def test_new_labels_that_cannot_be_told_apart_are_refused(core: Core, labels: list[str], told: str) -> None:
    """Within a request, and from those that are there; nothing is learned."""
    with pytest.raises(InputError, match=told):
        core.learn(*((f"n{n}", label, "text") for n, label in enumerate(labels)), new=True)
    assert core.journal.last == 0
    assert core.learn(("n0", "caf\xe9", "text"), new=True) == [True]
    with pytest.raises(InputError, match="looks like"):
        core.learn(("n1", "cafe\u0301", "text"), new=True)


def test_a_model_that_cannot_learn_refuses_with_the_reason(tmp_path: Path) -> None:
    texts, labels = [text for _, text in TRAINING], [label for label, _ in TRAINING]
    model = textodds.train(texts, labels, learner="softmax", features="words", threads=1)
    model.save(tmp_path / "mail.textodds", documents=False)
    with closing(Journal(":memory:")) as journal:
        core = Core(tmp_path / "mail.textodds", journal)
        for work in (learning(SPAM), forgetting("j1")):
            with pytest.raises(Unsupported):
                core.ask(work)
        assert journal.last == 0


def test_on_a_full_disk_nothing_is_acknowledged_and_later_all_goes_on(
    core: Core, caplog: pytest.LogCaptureFixture
) -> None:
    core.learn(SPAM)
    before = core.live.fold()
    db = core.journal._db
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages + 1}")
    with caplog.at_level(logging.CRITICAL, "textodds.serve"):
        found = core.together(
            learning(("m1", "ham", "home")),
            learning(SPAM),
            learning(("m2", "spam", "win " * 20_000)),
            learning(("j1", "ham", "other")),
            forgetting("j1"),
        )
    told = [status_of(one).value for one in found]
    assert told in ([503, 503, 503, 409, 503], [503] * 5)  # the fourth would be refused on any disk
    assert all(isinstance(one, Problem) and one.code == "journal" for one in found if one is not found[3])
    assert core.live.fold() is before
    assert core.journal.last == 1
    assert core.writer.broken is None
    assert core.learn(HAM) == [True]
    db.execute("PRAGMA max_page_count = 1000000")
    assert core.learn(("m2", "spam", "win " * 20_000)) == [True]
    assert [entry.id for entry in core.journal.after(0)] == ["j1", "j2", "m2"]
    must_equal(core.model, [*ALL, SPAM[1:], HAM[1:], ("spam", "win " * 20_000)])
    must_equal(core.begun_again().model, [*ALL, SPAM[1:], HAM[1:], ("spam", "win " * 20_000)])


def test_a_snapshot_on_a_disk_that_fails_is_unavailable_and_no_fault(
    core: Core, caplog: pytest.LogCaptureFixture
) -> None:
    core.learn(("j1", "spam", "win " * 5000))
    core.forget("j1")
    core.journal._db.execute("PRAGMA query_only = ON")
    with caplog.at_level(logging.CRITICAL, "textodds.serve"):
        (found,) = core.together(core.writer.save)
    core.journal._db.execute("PRAGMA query_only = OFF")
    assert isinstance(found, Problem), repr(found)
    assert status_of(found).value == 503


def test_a_disk_that_fails_stops_learning_until_a_restart_and_answers_go_on(
    serve: Callable[..., Running], model: Path
) -> None:
    """The file may not grow: the writes of the service then fail in the middle."""
    service = serve()
    client = service.client()
    one = {"id": "m1", "text": "win a prize", "label": "spam"}
    assert client.post("/v1/learn", {"documents": [one]}).status == 200
    before = client.post("/v1/classify", {"text": "prize"}).json()
    _, most = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
    size = Path(f"{model}.journal-wal").stat().st_size
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size + 6000, most))
    large = {"documents": [{"id": f"x{n}", "text": "y " * 9000, "label": "ham"} for n in range(5)]}
    answer = client.post("/v1/learn", large)
    assert (answer.status, answer.json()["code"]) == (503, "journal")
    assert client.post("/v1/classify", {"text": "prize"}).json() == before
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (most, most))
    again = client.post("/v1/learn", {"documents": [{"id": "m2", "text": "home", "label": "ham"}]})
    ready = client.get("/readyz").status
    assert (again.status, ready) in ((200, 200), (503, 503))
    client.close()
    service.kill()
    ids = [row.id for row in rows_of(Path(f"{model}.journal"))]
    assert (
        ids in (["m1"], ["m1", *(f"x{n}" for n in range(5))]) if again.status == 503 else ids == ["m1", "m2"]
    )
    client = serve().client()
    answers = client.post("/v1/learn", large).json()["documents"]
    assert [one["changed"] for one in answers] == [len(ids) != 6] * 5
    client.close()


def test_a_journal_that_fails_otherwise_is_told_to_all_who_wait(
    core: Core, caplog: pytest.LogCaptureFixture
) -> None:
    core.journal._db.execute("PRAGMA query_only = ON")
    with caplog.at_level(logging.CRITICAL, "textodds.serve"):
        found = core.together(learning(SPAM), learning(HAM))
    assert [status_of(one).value for one in found] == [503, 503]
    assert core.writer.broken is not None
    core.journal._db.execute("PRAGMA query_only = OFF")
    (after,) = core.together(learning(SPAM))
    assert (status_of(after).value, core.journal.last) == (503, 0)
    again = core.begun_again()
    assert again.learn(SPAM) == [True]
    must_equal(again.model, [*ALL, SPAM[1:]])


def test_nothing_is_told_before_it_is_on_disk(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another connection could not look: so the order of what the writer does is looked at."""
    done: list[str] = []
    append, settle = core.journal.append, writers._settle
    monkeypatch.setattr(core.journal, "append", lambda rows: (append(rows), done.append("on disk"))[0])
    monkeypatch.setattr(writers, "_settle", lambda found: (done.append("told"), settle(found))[1])
    core.learn(SPAM)
    assert done[:2] == ["on disk", "told"]


def test_the_journal_waits_for_the_disk(core: Core) -> None:
    """That commits are synchronised: what a kill cannot show, and a loss of power would."""
    pragma = {
        name: core.journal._db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("synchronous", "journal_mode")
    }
    assert pragma == {"synchronous": 2, "journal_mode": "wal"}
    with (
        pytest.raises(sqlite3.OperationalError, match="locked"),
        closing(sqlite3.connect(core.journal.path, timeout=0)) as other,
    ):
        other.execute("SELECT * FROM entries")
