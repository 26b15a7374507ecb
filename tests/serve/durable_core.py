"""Kills what learns, over and over: a program that forks a process, lets it learn under load, and ends it.

Run by test_kill: importing textodds takes far longer than learning, so it is imported once, here.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

import textodds
from serve.durable import TRAINING, Core, Request, Sender, base_at, must_be_whole, must_equal, rows_of
from textodds.errors import Conflict
from textodds.model.text_model import TextModel

SENDERS = 6


def learn_until_killed(path: Path, senders: list[Sender], last: int, tell: int) -> None:
    """Begin on what the last crash has left, which must be right, and learn; all that happens is told."""

    def say(**what: Any) -> None:
        os.write(tell, json.dumps(what).encode() + b"\n")

    core = Core(path, every=7)
    assert core.live.serving.seq == last
    must_equal(core.model, [*TRAINING, *(pair for one in senders for pair in one.stands.values())])
    say(ready=True)

    async def send(number: int, sender: Sender) -> None:
        while True:
            request = sender.next()
            say(sender=number, sent=[request.path, request.documents, request.changes])
            try:
                answer = await core.writer.submit(request.message())
            except Conflict:
                sender.acknowledge(None)
                say(sender=number, refused=True)
                continue
            changed = [one.changed for one in answer.documents]
            seq = int(answer.version.split(".")[1].rstrip("~"))
            sender.acknowledge(changed, seq)
            say(sender=number, changed=changed, seq=seq)
            if sender.random.random() < 0.2:
                serving = await asyncio.to_thread(core.live.fold)
                sender.see(serving.seq)

    async def run() -> None:
        core.writer.start()
        await asyncio.gather(*(send(number, sender) for number, sender in enumerate(senders)))

    asyncio.run(run())


def killed(path: Path, senders: list[Sender], last: int, random: Random) -> None:
    """Let a process learn, and kill it after a moment; what it told is what the senders know."""
    hear, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(hear)
        try:
            learn_until_killed(path, senders, last, tell)
        except BaseException:
            os.write(tell, json.dumps({"wrong": traceback.format_exc()[-3000:]}).encode() + b"\n")
        os._exit(1)
    os.close(tell)
    told = b""
    early = random.random() < 0.15  # while it begins
    until = time.monotonic() + (random.uniform(0, 0.03) if early else 300)
    enough = random.randrange(2, 150)  # lines, of which a request that is answered takes two
    while (left := until - time.monotonic()) > 0 and told.count(b"\n") < enough:
        if not select.select([hear], [], [], left)[0]:
            break
        part = os.read(hear, 1 << 16)
        told += part
        if not part:
            break
    time.sleep(random.uniform(0, 0.01))  # into whatever comes next
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while part := os.read(hear, 1 << 16):
        told += part
    os.close(hear)
    for line in told.splitlines():
        what = json.loads(line)
        if "wrong" in what:
            raise AssertionError(what["wrong"])
        if "sent" in what:
            senders[what["sender"]].pending = Request(*what["sent"])
        elif "sender" in what:
            senders[what["sender"]].acknowledge(what.get("changed"), what.get("seq", 0))


def main(folder: str, kills: str, seed: str) -> None:
    """Kill so often, check after each, and print what has happened."""
    path = base_at(Path(folder) / "mail.textodds")
    journal = path.with_name(path.name + ".journal")
    random = Random(seed)
    senders = [Sender(f"c{number}", (seed, number)) for number in range(SENDERS)]
    last = cut = done = saved = 0
    for turn in range(int(kills)):
        for number, sender in enumerate(senders):
            sender.random.seed(f"{seed} {turn} {number}")
        killed(path, senders, last, random)
        rows = rows_of(journal) if journal.exists() else []
        must_be_whole(rows)
        assert len(rows) >= max(last, *(sender.latest for sender in senders))
        last = len(rows)
        cut += sum(sender.pending is not None for sender in senders)
        done += sum(sender.settle(rows) for sender in senders)
        saved += Path(f"{journal}.snapshot").exists()
    core = Core(path)
    core.writer.save()
    stands = [*TRAINING, *(pair for one in senders for pair in one.stands.values())]
    must_equal(core.model, stands)
    model = textodds.load(core.settings.snapshot)
    assert isinstance(model, TextModel)
    must_equal(model, stands)
    core.journal.close()
    acknowledged = sum(sender.acknowledged for sender in senders)
    print(
        json.dumps({"acknowledged": acknowledged, "entries": last, "cut": cut, "done": done, "saved": saved})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
