"""Killed at any moment, the service loses nothing that it acknowledged, and learns nothing twice."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

import textodds
from serve.durable import (
    PROBES,
    TRAINING,
    Sender,
    base_at,
    must_be_whole,
    must_equal,
    rows_of,
    standing,
    trained,
)
from serve.running import Client, Running
from textodds.model.text_model import TextModel

SERVICES, SENDERS = 2, 4
KILLED_SERVICES = [8, pytest.param(40, marks=pytest.mark.long)]
KILLED_CORES = [20, pytest.param(100, marks=pytest.mark.long)]


def _seq(version: str) -> int:
    return int(version.split(".")[1].rstrip("~"))


def _send(sender: Sender, port: int, wrong: list[BaseException]) -> None:
    """Learn and forget, and ask now and then, until the service is gone."""
    client = Client(port, timeout=120)
    try:
        while True:
            request = sender.next()
            answer = client.post(request.path, request.body)
            if answer.status == 409:
                sender.acknowledge(None)
                continue
            assert answer.status == 200, answer.body
            found = answer.json()
            sender.acknowledge([one["changed"] for one in found["documents"]], _seq(found["version"]))
            if sender.random.random() < 0.3:
                sender.see(_seq(client.post("/v1/classify", {"text": "win"}).json()["version"]))
    except (OSError, http.client.HTTPException):  # it was killed
        pass
    except BaseException as error:
        wrong.append(error)
    finally:
        client.close()


def _must_answer_as(model: TextModel, client: Client, last: int) -> None:
    for text in PROBES:
        answer = client.post("/v1/classify", {"text": text}).json()
        said = model(text)
        assert answer["probabilities"] == said.probabilities
        assert (answer["label"], answer["evidence"]) == (said.label, said.evidence)
        assert _seq(answer["version"]) == last


def _kill_over_and_over(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """One service, its clients, and its journal, over many lives."""
    random = Random(seed)
    path = base_at(folder / "mail.textodds")
    journal = path.with_name("mail.textodds.journal")
    senders = [Sender(f"s{seed}.{number}", (seed, number)) for number in range(SENDERS)]
    counted = {"cut": 0, "done": 0, "saved": 0}
    last = 0
    for turn in range(kills + 1):
        service = Running(path, "--snapshot-every", "7")
        try:
            client = service.client(timeout=120)
            stands = [pair for one in senders for pair in one.stands.values()]
            _must_answer_as(trained([*TRAINING, *stands]), client, last)
            if turn == kills:
                assert _seq(client.post("/v1/snapshot").json()["version"]) == last
                client.close()
                break
            client.close()
            wrong: list[BaseException] = []
            threads = [threading.Thread(target=_send, args=(one, service.port, wrong)) for one in senders]
            for thread in threads:
                thread.start()
            enough = last + (random.randrange(1, 60) if turn else 40)  # of which a first snapshot is made
            end = time.monotonic() + 120
            while max(one.latest for one in senders) < enough and not wrong:
                assert time.monotonic() < end
                time.sleep(random.uniform(0, 0.01))
        finally:
            if turn < kills:
                service.kill()
        for thread in threads:
            thread.join()
        if wrong:
            raise wrong[0]
        rows = rows_of(journal)
        must_be_whole(rows)
        assert len(rows) >= max(last, *(one.latest for one in senders))
        last = len(rows)
        counted["cut"] += sum(one.pending is not None for one in senders)
        counted["done"] += sum(one.settle(rows) for one in senders)
        counted["saved"] += Path(f"{journal}.snapshot").exists()
    status, said = service.stop()
    assert (status, said) == (0, "")
    saved = textodds.load(Path(f"{journal}.snapshot"))
    assert isinstance(saved, TextModel)
    must_equal(saved, [*TRAINING, *stands])
    rows = rows_of(journal)
    now = standing(rows)
    assert all(row.text is None for row in rows if row.id not in now), "a forgotten text is still there"
    assert not list(folder.glob(".*.part")), "snapshots that were cut off are still there"
    return counted | {"entries": last, "acknowledged": sum(one.acknowledged for one in senders)}


@pytest.mark.parametrize("kills", KILLED_SERVICES)
def test_a_service_that_is_killed_has_all_that_it_acknowledged_and_nothing_twice(
    tmp_path: Path, kills: int
) -> None:
    folders = [tmp_path / str(number) for number in range(SERVICES)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(SERVICES) as pool:
        each = kills // SERVICES
        found = list(pool.map(_kill_over_and_over, folders, [each] * SERVICES, range(SERVICES)))
    for counted in found:  # else the kills have shown nothing
        assert counted["acknowledged"] > each
        assert counted["entries"] > each
        assert counted["cut"] > each
        assert counted["saved"] > each // 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("kills", KILLED_CORES)
def test_what_learns_can_be_killed_at_any_moment(tmp_path: Path, kills: int) -> None:
    """The same without HTTP, which is quicker: most kills fall within a commit, a snapshot or the start."""
    program = Path(__file__).with_name("durable_core.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(program.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    running = []
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        command = [sys.executable, str(program), str(folder), str(kills // 2), str(seed)]
        running.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
            )
        )
    done = 0
    for one in running:
        told, wrong = one.communicate(timeout=600)
        assert one.returncode == 0, wrong[-3000:]
        counted = json.loads(told)
        assert counted["acknowledged"] > kills // 2
        assert counted["cut"] > kills // 2
        assert counted["saved"] > kills // 4
        done += counted["done"]
    assert done > 0
