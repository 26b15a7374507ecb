"""Fair samples of what passes by: by the hash of texts, and by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch
from textodds.data.batch import taken

SAMPLE, TYPICAL = 5000, 2000
"""Texts of training that are kept for a while, to calibrate by and to compare with."""

UNIT = 2.0**-30  # the smallest weight there is

LARGEST_SHARE = 0.01
"""What one text of a sample may count at most, where not all texts are in it: it stands there by chance."""

COLUMNS = ("text", "label", "rows", "weight")


class Example(NamedTuple):
    """A text with its label, the weight of a row of it, and for how many rows it stands."""

    text: str
    label: str
    weight: float
    rows: float = 1.0


class HashSample:
    """The distinct texts of smallest hash of all that pass, with how often each came.

    It depends on the texts alone: not on their order, nor on where they were read. Samples of parts merge to
    the sample of the whole.

    Examples
    --------
    >>> left, right, whole = HashSample(2), HashSample(2), HashSample(2)
    >>> left.offer(Batch(["free phone", "see you"], ["spam", "ham"], None))
    >>> right.offer(Batch(["see you", "at six"], ["ham", "ham"], None))
    >>> whole.offer(Batch(["at six", "see you", "free phone"], ["ham", "ham", "spam"], None))
    >>> whole.offer(Batch(["see you"], ["ham"], None))
    >>> left.merge(right)
    >>> left.examples() == whole.examples()
    True
    """

    def __init__(self, size: int = SAMPLE) -> None:
        self._kernel = _kernels.Sample(size)
        self._of_all = True  # as far as samples that were taken in know

    def offer(self, batch: Batch) -> None:
        """Let a batch pass."""
        labels = [""] * len(batch) if batch.labels is None else batch.labels
        self._kernel.add(batch.texts, labels, batch.weights, batch.hashes())

    def passed(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, each offered on its way."""
        for batch in batches:
            self.offer(batch)
            yield batch

    def merge(self, other: HashSample) -> None:
        """Take in the sample of other rows."""
        self._kernel.merge(other._kernel)
        self._of_all &= other._of_all

    def columns(self) -> dict[str, list[object]]:
        """The sample as plain columns, to be sent elsewhere."""
        texts, labels, rows, weights = self._kernel.columns()
        return dict(zip(COLUMNS, ([*texts], [*labels], [*rows], [*weights]), strict=True))

    def put(self, columns: dict[str, list[object]], *, is_whole: bool) -> None:
        """Take in what `columns` made of a sample that was, or was not, of all texts."""
        for row in zip(*(columns[name] for name in COLUMNS), strict=True):
            self._kernel.put(*row)
        self._of_all &= is_whole

    @property
    def is_whole(self) -> bool:
        """Whether every text that passed is in the sample."""
        return self._kernel.is_whole and self._of_all

    def examples(self) -> list[Example]:
        """The texts, one for each label that it came with, in an order that is as good as random.

        Rows of one text and label that differ in weight have their mean.
        """
        texts, labels, rows, weights = self._kernel.columns()
        most = sum(rows)
        if not self.is_whole:
            most = max(1, int(LARGEST_SHARE * most))
        each = [weight / n * UNIT for weight, n in zip(weights, rows, strict=True)]
        return list(
            map(Example._make, zip(texts, labels, each, [float(min(n, most)) for n in rows], strict=True))
        )


def as_rows(examples: list[Example]) -> NDArray[np.intp]:
    """Which example each of as many rows as they stand for is of, or of `SAMPLE` rows if they are more."""
    ends = np.cumsum([example.rows for example in examples])
    n = min(int(ends[-1]), max(SAMPLE, len(examples))) if len(ends) else 0
    places = (np.arange(n) + 0.5) * (ends[-1] / n if n else 1.0)
    return np.searchsorted(ends, places, side="right")


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

    def put(self, place: int, item: object) -> None:
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
