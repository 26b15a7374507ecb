"""A fair sample of what passes by, of a size that is known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from textodds.data import Batch
from textodds.data.batch import taken

TYPICAL = 2000  # texts or rows that are kept to compare with


class Reservoir:
    """A fair sample of what passes by, of a size that is known beforehand.

    References
    ----------
    Vitter (1985), "Random sampling with a reservoir", algorithm R.
    """

    def __init__(self, size: int = TYPICAL) -> None:
        self._size, self._seen = size, 0
        self._random = np.random.default_rng(0)
        self.kept: list[Any] = []

    def places(self, n: int) -> list[tuple[int, int]]:
        """Which of the next n to keep, and in which place of `kept`; the same ones every time."""
        fill = min(max(self._size - self._seen, 0), n)
        found = [(i, self._seen + i) for i in range(fill)]
        rest = np.arange(self._seen + fill, self._seen + n)
        if len(rest):
            slots = self._random.integers(0, rest + 1)
            found += [(fill + int(i), int(slots[i])) for i in np.flatnonzero(slots < self._size)]
        self._seen += n
        return found

    def put(self, place: int, item: Any) -> None:
        """Keep an item in its place."""
        if place == len(self.kept):
            self.kept.append(item)
        else:
            self.kept[place] = item

    def halve(self) -> None:
        """Keep half of what is kept, which is as fair a sample, and no more than that from now on."""
        left = np.sort(self._random.permutation(len(self.kept))[: max(len(self.kept) // 2, 1)])
        self.kept = [self.kept[i] for i in left.tolist()]
        self._size = len(self.kept)


def offer(sample: Reservoir, batch: Batch) -> None:
    """Let a sample take its share of a batch."""
    places = sample.places(len(batch))
    if not places:
        return
    rows = [i for i, _ in places]
    texts, labels = taken(batch.texts, rows), taken(batch.labels, rows)
    for number, (i, place) in enumerate(places):
        label = None if labels is None else labels[number]
        weight = 1.0 if batch.weights is None else float(batch.weights[i])
        sample.put(place, ((texts or [""])[number], label, weight))


def offer_rows(sample: Reservoir, batch: Batch) -> None:
    """Let a sample take its share of the rows of a batch that weigh something."""
    if batch.weights is not None and not (batch.weights >= 2.0**-30).all():
        batch = batch.take(np.flatnonzero(batch.weights >= 2.0**-30))
    if places := sample.places(len(batch)):
        taken = batch.take([i for i, _ in places])
        for number, (_, place) in enumerate(places):
            sample.put(place, (taken, number))
