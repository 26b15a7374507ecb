"""Another model takes over while requests are answered: none fails, and each answer is one model's."""

import hashlib
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

import textodds
from serve.conftest import MESSAGES
from serve.running import Running, settled
from serve.wire import problem, running

TEXTS = ["win a free phone now", "see you at noon", "", "call call home"]
LONG = 120


def trained_with(path, *more):
    """A model of the messages and some more, saved."""
    rows = [*MESSAGES, *more]
    texts, labels = [text for _, text in rows], [label for label, _ in rows]
    textodds.train(texts, labels, learner="multinomial:alpha=1", calibrate=False).save(path)
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two models that answer differently."""
    folder = tmp_path_factory.mktemp("swap")
    return trained_with(folder / "old.textodds"), trained_with(
        folder / "new.textodds", *[("ham", "free phone")] * 5, ("work", "report now")
    )


@pytest.fixture
def service(models, tmp_path):
    with running(Path(shutil.copy(models[0], tmp_path / "m.textodds"))) as found:
        yield found


def put(source, place):
    """Put a file in the place of another at once, as one does."""
    shutil.copy(source, place.with_suffix(".part"))
    place.with_suffix(".part").replace(place)


def shares(client, text):
    found = client.post("/v1/classify", {"text": text}).json()
    return found["version"].split(".")[0], found["probabilities"]


def expected(models):
    """Probabilities by version and text."""
    opened = {digest(path): textodds.load(path) for path in models}
    return {(name, text): dict(model(text).probabilities) for name, model in opened.items() for text in TEXTS}


@pytest.mark.parametrize("how", ["signal", "request"])
def test_under_load_no_request_fails_and_every_answer_is_that_of_its_version(models, service, how):
    right = expected(models)
    done, wrong, seen = threading.Event(), [], set()

    def ask():
        client, n = service.client(), 0
        while not done.is_set():
            text, n = TEXTS[n % len(TEXTS)], n + 1
            answer = client.post("/v1/classify", {"text": text})
            if answer.status != 200:
                wrong.append(answer.body)
                return
            found = answer.json()
            name = found["version"].split(".")[0]
            seen.add(name)
            if right.get((name, text)) != found["probabilities"]:
                wrong.append(found)
                return

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    asking = service.client()
    try:
        for turn in range(1, 13):
            model = models[turn % 2]
            put(model, service.model)
            if how == "request":
                assert asking.post("/v1/reload").json() == {"version": f"{digest(model)}.0", "changed": True}
            else:
                service.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + LONG
            while shares(asking, "")[0] != digest(model):
                assert time.monotonic() < end
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert seen == {digest(path) for path in models}
    assert service.stop()[0] == 0


def damaged(path, models):
    content = bytearray(models[1].read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


BAD = {
    "missing": lambda path, models: path.unlink(),
    "empty": lambda path, models: path.write_bytes(b""),
    "nonsense": lambda path, models: path.write_bytes(b"nonsense" * 100),
    "cut off": lambda path, models: path.write_bytes(models[1].read_bytes()[:-100]),
    "damaged": damaged,
    "a folder": lambda path, models: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_file_that_cannot_be_served_is_refused_and_the_old_model_stays(models, service, bad):
    client = service.client()
    before = [shares(client, text) for text in TEXTS]
    BAD[bad](service.model, models)
    answer = client.post("/v1/reload")
    assert answer.status in (409, 422)
    problem(answer, answer.status)
    service.process.send_signal(signal.SIGHUP)
    while b"textodds_reloads_refused_total 2.0" not in client.get("/metrics").body:
        time.sleep(0.02)
    assert [shares(client, text) for text in TEXTS] == before
    assert client.get("/readyz").status == 200
    learned = client.post("/v1/learn", {"documents": [{"id": "a", "text": "free", "label": "ham"}]})
    assert learned.status == 200
    if service.model.is_dir():
        service.model.rmdir()
    put(models[1], service.model)
    assert client.post("/v1/reload").json() == {"version": f"{digest(models[1])}.1", "changed": True}
    status, log = service.stop()
    assert status == 0
    assert "the model was not reloaded" in log
    assert "Traceback" not in log


def test_the_same_file_again_is_no_change(models, service):
    client = service.client()
    for _ in range(3):
        assert client.post("/v1/reload").json() == {"version": f"{digest(models[0])}.0", "changed": False}
    put(models[0], service.model)
    assert not client.post("/v1/reload").json()["changed"]


def test_a_file_that_is_written_over_in_place_does_no_harm(models, service):
    """As `cp` does: the file that was opened changes under the service."""
    client = service.client()
    before = [shares(client, text) for text in TEXTS]
    with service.model.open("r+b") as file:
        file.truncate(10)
        file.flush()
        assert [shares(client, text) for text in TEXTS] == before
        file.write(os.urandom(100_000))
        file.flush()
        assert [shares(client, text) for text in TEXTS] == before
        assert client.get("/v1/words?label=spam").status == 200
        assert client.get("/v1/model").status == 200
        assert (
            client.post("/v1/learn", {"documents": [{"id": "a", "text": "", "label": "ham"}]}).status == 200
        )
        client.post("/v1/forget", {"documents": [{"id": "a"}]})
    problem(client.post("/v1/reload"), 422)
    service.model.write_bytes(models[1].read_bytes())
    assert [shares(client, text) for text in TEXTS] == before
    assert client.post("/v1/reload").json()["changed"]
    right = expected(models)
    assert [shares(client, text)[1] for text in TEXTS] == [right[digest(models[1]), text] for text in TEXTS]


def test_corrections_survive_a_swap_and_a_start(models, service, tmp_path):
    client = service.client()
    rows = [("a", "free lunch", "ham"), ("b", "free phone home", "spam"), ("c", "noon", "ham")]
    documents = [{"id": name, "text": text, "label": label} for name, text, label in rows]
    assert client.post("/v1/learn", {"documents": documents}).status == 200
    client.post("/v1/forget", {"documents": [{"id": "b"}]})
    put(models[1], service.model)
    assert client.post("/v1/reload").json() == {"version": f"{digest(models[1])}.4", "changed": True}
    model = textodds.load(models[1])
    model.learn(["free lunch", "noon"], ["ham", "ham"])
    right = [dict(model(text).probabilities) for text in TEXTS]
    assert [shares(client, text)[1] for text in TEXTS] == right
    assert [entry["id"] for entry in client.get("/v1/corrections").json()["corrections"]] == [
        "b",
        "c",
        "b",
        "a",
    ]
    again = client.post("/v1/learn", {"documents": documents[:1]}).json()
    assert again["documents"] == [{"id": "a", "changed": False}]
    assert service.stop()[0] == 0
    with running(service.model) as restarted:
        assert [shares(restarted.client(), text)[1] for text in TEXTS] == right


def test_a_file_that_cannot_learn_does_not_drop_the_corrections(models, service):
    """Refused on request and on a start alike: what is counted is in the answers."""
    client = service.client()
    documents = [{"id": f"m{n}", "text": "free phone", "label": "ham"} for n in range(20)]
    assert client.post("/v1/learn", {"documents": documents}).status == 200
    settled(client)
    before = shares(client, "free phone")
    rows = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
    textodds.train(*rows, learner="softmax").save(service.model, documents=False)
    found = problem(client.post("/v1/reload"), 409)
    assert found["detail"].startswith("`m.textodds` cannot learn 20 corrections of the journal: ")
    assert shares(client, "free phone") == before
    assert client.get("/v1/model").json()["corrections"] == 20
    assert service.stop()[0] == 0
    with pytest.raises(RuntimeError, match="cannot learn 20 corrections of the journal"):
        Running(service.model)
    put(models[1], service.model)
    with running(service.model) as restarted:
        assert shares(restarted.client(), "free phone")[1]["ham"] > 0.5


def test_swapping_while_learning_loses_nothing(models, service):
    done, acknowledged, wrong = threading.Event(), [], []

    def learn(who):
        client, n = service.client(), 0
        while not done.is_set():
            n += 1
            document = {"id": f"{who}-{n}", "text": f"free w{n % 7}", "label": "ham"}
            answer = client.post("/v1/learn", {"documents": [document]})
            if answer.status != 200:
                wrong.append(answer.body)
                return
            acknowledged.append(document)

    threads = [threading.Thread(target=learn, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    client = service.client()
    try:
        for turn in range(1, 8):
            put(models[turn % 2], service.model)
            assert client.post("/v1/reload").status == 200
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    model = textodds.load(models[1])
    model.learn([d["text"] for d in acknowledged], [d["label"] for d in acknowledged])
    assert client.get("/v1/corrections").json()["total"] == len(acknowledged)
    for text in TEXTS:
        assert shares(client, text)[1] == dict(model(text).probabilities)
