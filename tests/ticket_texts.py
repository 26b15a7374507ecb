"""Texts that have several of four labels, or none, drawn from words of their labels."""

import csv
from pathlib import Path

import numpy as np

WORDS = {
    "billing": "invoice refund charge payment card".split(),
    "delivery": "parcel courier late address shipped".split(),
    "praise": "thanks great lovely happy kind".split(),
    "urgent": "now immediately asap today broken".split(),
}
SHARES = {"billing": 0.4, "delivery": 0.3, "praise": 0.15, "urgent": 0.25}
COMMON = "the a to and of in is it we they my please".split()


def tickets(n=400, seed=0):
    """n texts, each with its labels."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        labels = [label for label, share in SHARES.items() if random.random() < share]
        words = [
            *random.choice(COMMON, 5),
            *(word for each in labels for word in random.choice(WORDS[each], 2)),
        ]
        if random.random() < 0.15:  # a word of a label that is not there, perhaps
            words.append(random.choice(WORDS[random.choice(list(WORDS))]))
        random.shuffle(words)
        yield " ".join(words), labels


def write_tickets(path, rows, separator="|"):
    """Write texts with their labels in one field."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["text", "labels"])
        writer.writerows((text, separator.join(labels)) for text, labels in rows)
