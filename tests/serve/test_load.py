"""Many clients at once, asking everything: nothing fails, nothing is lost, nothing grows."""

import random
import sqlite3
import threading
import time
from pathlib import Path

import textodds
from serve.running import settled
from serve.wire import running

CLIENTS, QUESTIONS = 32, 40
WORDS = "win a free phone now see you at noon home call prize cash lunch tomorrow zyx".split()


class Asking(threading.Thread):
    """A client that asks all kinds of things, and remembers what was acknowledged."""

    def __init__(self, service, who, questions):
        super().__init__()
        self.client, self.who, self.questions = service.client(), who, questions
        self.standing, self.statuses, self.problems, self.seq = {}, {}, [], 0

    def run(self):
        chance = random.Random(self.who)
        for n in range(self.questions):
            text = " ".join(chance.choices(WORDS, k=chance.randrange(30)))
            kind = chance.choice(("classify", "classify", "batch", "explain", "learn", "forget"))
            if kind == "classify":
                answer = self.client.post("/v1/classify", {"text": text})
            elif kind == "batch":
                answer = self.client.post("/v1/classify/batch", {"texts": [text] * 50, "top": 2})
            elif kind == "explain":
                answer = self.client.post("/v1/explain", {"text": text})
            elif kind == "learn":
                document = {"id": f"{self.who}-{n}", "text": text, "label": chance.choice(("ham", "spam"))}
                answer = self.client.post("/v1/learn", {"documents": [document]})
                if answer.status == 200:
                    self.standing[document["id"]] = document
            else:
                name = next(iter(self.standing), "none")
                answer = self.client.post("/v1/forget", {"documents": [{"id": name}]})
                if answer.status == 200:
                    self.standing.pop(name, None)
            self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
            if answer.status == 200:
                seq = int(answer.json()["version"].rpartition(".")[2].rstrip("~"))
                if seq < self.seq:
                    self.problems.append((kind, seq, self.seq))
                self.seq = seq
            elif answer.status != 503:
                self.problems.append((kind, answer.body))


def memory(service):
    """Kilobytes that the service has in memory."""
    lines = Path(f"/proc/{service.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def load(service, questions):
    now = time.monotonic_ns()
    threads = [Asking(service, f"{id(service)}-{now}-{n}", questions) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
        thread.client.close()
    return threads


def test_many_clients_at_once(trained, tmp_path):
    with running(trained, "--journal", str(tmp_path / "journal"), "--snapshot-every", "300") as service:
        first = load(service, QUESTIONS // 2)
        before = memory(service)
        second = load(service, QUESTIONS)
        grown = memory(service) - before
        asking = first + second
        assert [found for thread in asking for found in thread.problems] == []
        assert all(set(thread.statuses) <= {200, 503} for thread in asking)
        assert sum(thread.statuses.get(200, 0) for thread in asking) > 500
        assert grown < 100_000
        client = service.client()
        standing = [document for thread in asking for document in thread.standing.values()]
        assert client.get("/v1/model").json()["corrections"] == len(standing)
        model = textodds.load(trained)
        model.learn([d["text"] for d in standing], [d["label"] for d in standing])
        settled(client)
        for text in ("free phone", "see you at noon", ""):
            found = client.post("/v1/classify", {"text": text}).json()
            assert found["probabilities"] == dict(model(text).probabilities)
        assert service.stop() == (0, "")
    with sqlite3.connect(tmp_path / "journal") as journal:
        last = dict(journal.execute("SELECT id, sign FROM entries ORDER BY seq"))
    journal.close()
    assert {name for name, sign in last.items() if sign > 0} == {d["id"] for d in standing}


def test_more_than_may_be_asked_at_once_is_refused_and_nothing_else(trained, tmp_path):
    options = ("--journal", str(tmp_path / "journal"), "--max-requests", "2")
    with running(trained, *options) as service:
        asking = load(service, 20)
        assert [found for thread in asking for found in thread.problems] == []
        statuses = {status for thread in asking for status in thread.statuses}
        assert 200 in statuses
        assert statuses <= {200, 503}
        standing = sum(len(thread.standing) for thread in asking)
        assert service.client().get("/v1/model").json()["corrections"] == standing
        assert service.stop() == (0, "")
