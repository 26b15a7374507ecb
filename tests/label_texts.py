"""Texts of our own making with several labels each, drawn so that words tell labels."""

from __future__ import annotations

import numpy as np

LABELS = ("angry", "billing", "outage", "praise")
WORDS = {
    "angry": ["terrible", "worst", "angry", "never", "ridiculous"],
    "billing": ["invoice", "charge", "refund", "card", "price"],
    "outage": ["down", "offline", "error", "broken", "timeout"],
    "praise": ["great", "thanks", "love", "quick", "helpful"],
}
PLAIN = ["the", "a", "is", "my", "it", "this", "and", "was", "service", "today", "please", "again"]


def label_texts(n: int = 400, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """So many texts, with none, one or several of four labels."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        own = [
            label
            for label, share in zip(LABELS, (0.3, 0.4, 0.25, 0.1), strict=True)
            if random.random() < share
        ]
        words = [str(random.choice(PLAIN)) for _ in range(random.integers(3, 8))]
        for label in own:
            words += [str(random.choice(WORDS[label])) for _ in range(random.integers(1, 4))]
        if random.random() < 0.2:  # a word of another label, so that it is not too easy
            words.append(str(random.choice(WORDS[str(random.choice(LABELS))])))
        random.shuffle(words)
        texts.append(" ".join([*words, f"n{number % 37}"]))
        labels.append(own)
    return texts, labels
