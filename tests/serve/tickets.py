"""Made-up tickets with several labels each, or none, and models of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import textodds

WORDS = {
    "billing": "invoice refund charge payment card price receipt",
    "bug": "crash error broken freeze screen fails bug",
    "login": "password login account locked reset email code",
    "urgent": "urgent immediately asap now today deadline help",
}
COMMON = "the a my please since i you it when and to is with this we have".split()


def tickets(n: int = 360, seed: int = 5) -> tuple[list[str], list[list[str]]]:
    """Texts and their labels; some have words of labels that they do not have."""
    draw = random.Random(seed)
    texts, labels = [], []
    for _ in range(n):
        own = [name for name in WORDS if draw.random() < 0.38]
        words = [word for name in own for word in draw.choices(WORDS[name].split(), k=draw.randint(1, 3))]
        words += draw.choices(COMMON, k=draw.randint(4, 9))
        if draw.random() < 0.15:
            words += draw.choices(" ".join(WORDS.values()).split(), k=1)
        draw.shuffle(words)
        texts.append(" ".join(words))
        labels.append(own)
    return texts, labels


def ticket_model(path: Path, learner: str = "multinomial", **options: Any) -> Path:
    """A model of tickets, saved."""
    textodds.train(*tickets(), learner=learner, **options).save(path)
    return path
