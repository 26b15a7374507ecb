"""A journal that is lost, restored or copied: no correction goes without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import textodds
from serve.conftest import MESSAGES
from serve.durable import rows_of
from serve.running import Running
from serve.wire import problem

DOCUMENTS = [{"id": f"m{n}", "text": f"free phone w{n % 7}", "label": "ham"} for n in range(40)]


def answer(service: Running) -> float:
    """How likely the corrected answer is."""
    client = service.client()
    try:
        return float(client.post("/v1/classify", {"text": "free phone"}).json()["probabilities"]["ham"])
    finally:
        client.close()


def learn(service: Running, *documents: dict[str, str]) -> None:
    client = service.client()
    assert client.post("/v1/learn", {"documents": list(documents)}).status == 200
    client.close()


def test_a_service_whose_journal_is_gone_says_what_is_missing_and_keeps_the_snapshot(
    serve: Callable[..., Running], model: Path
) -> None:
    journal, snapshot = Path(f"{model}.journal"), Path(f"{model}.journal.snapshot")
    service = serve()
    learn(service, *DOCUMENTS)
    corrected = answer(service)
    assert service.stop()[0] == 0
    before, elsewhere = snapshot.read_bytes(), journal.rename(journal.with_name("elsewhere"))
    with pytest.raises(RuntimeError) as refused:
        serve()
    for part in (
        f"error: the snapshot `{snapshot}` holds 40 corrections",
        "--accept-loss",
        f"{snapshot.name}.1",
    ):
        assert part in str(refused.value)
    assert "Traceback" not in str(refused.value)
    assert snapshot.read_bytes() == before
    assert not journal.exists()
    service = serve("--accept-loss")
    assert answer(service) < 0.5 < corrected
    learn(service, DOCUMENTS[0])
    status, log = service.stop()
    assert status == 0
    assert "holds 40 corrections" in log
    kept = snapshot.with_name(f"{snapshot.name}.1")
    assert kept.read_bytes() == before
    elsewhere.replace(journal)
    kept.replace(snapshot)
    assert answer(serve()) == pytest.approx(corrected, abs=1e-6)


def test_a_snapshot_that_was_about_to_be_written_is_none(serve: Callable[..., Running], model: Path) -> None:
    """Killed between the file, which is made first for its rights, and its content."""
    service = serve()
    learn(service, *DOCUMENTS)
    corrected = answer(service)
    service.kill()
    Path(f"{model}.journal.snapshot").touch(0o600)
    service = serve()
    assert answer(service) == corrected
    assert service.stop() == (0, "")


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_service_that_only_reads_writes_nothing_and_runs_beside_others(
    serve: Callable[..., Running], model: Path
) -> None:
    first = serve()
    alone = answer(first)
    learn(first, *DOCUMENTS)
    assert first.stop()[0] == 0
    before = tree(model.parent)
    model.parent.chmod(0o555)
    try:
        for one in [serve("--read-only") for _ in range(2)]:
            client = one.client()
            assert answer(one) == alone
            assert client.get("/readyz").status == 200
            assert client.get("/v1/model").json()["corrections"] == 0
            for path, body in (("/v1/learn", {"documents": DOCUMENTS[:1]}), ("/v1/snapshot", None)):
                found = problem(client.post(path, body), 409, "unsupported")
                assert found["detail"] == "the service was started with `--read-only`"
            assert client.post("/v1/reload").json()["changed"] is False
            client.close()
            assert one.stop()[0] == 0
    finally:
        model.parent.chmod(0o755)
    assert tree(model.parent) == before


def test_a_model_that_cannot_learn_needs_no_journal_and_says_so_when_another_could(
    serve: Callable[..., Running], model: Path
) -> None:
    learns = model.read_bytes()
    rows = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
    textodds.train(*rows, learner="softmax").save(model, documents=False)
    service = serve()
    client = service.client()
    model.write_bytes(learns)
    assert client.post("/v1/reload").json()["changed"]
    found = problem(client.post("/v1/learn", {"documents": DOCUMENTS[:1]}), 409, "unsupported")
    assert found["detail"].startswith("the service was started with a model that cannot learn")
    client.close()
    assert service.stop()[0] == 0
    assert set(tree(model.parent)) == {model.name}


def test_a_disk_without_room_for_a_request_is_told(serve: Callable[..., Running]) -> None:
    """No disk has room for the largest request that is allowed here."""
    service = serve("--max-body", str(1 << 60))
    client = service.client()
    found = problem(client.get("/readyz"), 503, "journal")
    assert found["detail"].startswith("the disk of the journal has ")
    assert client.get("/healthz").status == 200
    client.close()
    reading = serve("--max-body", str(1 << 60), "--read-only")
    client = reading.client()
    assert client.get("/readyz").status == 200
    client.close()


def test_a_backup_of_a_running_service_has_every_correction(
    serve: Callable[..., Running], model: Path, tmp_path: Path
) -> None:
    service = serve()
    learn(service, *DOCUMENTS)
    client = service.client()
    found = client.get("/v1/backup")
    assert (found.status, found.headers["content-type"]) == (200, "application/vnd.sqlite3")
    learn(service, {"id": "later", "text": "see you", "label": "ham"})
    client.close()
    (tmp_path / "copy").write_bytes(found.body)
    assert [row.id for row in rows_of(tmp_path / "copy")] == [document["id"] for document in DOCUMENTS]
    again = serve("--journal", str(tmp_path / "copy"))
    assert answer(again) == pytest.approx(answer(service), abs=0.05)
    assert again.told["version"].endswith(".40")
