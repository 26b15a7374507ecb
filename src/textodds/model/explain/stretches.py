"""The stretches of a text that said something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from textodds.model.explain.read_text import ReadText


class Stretch(NamedTuple):
    """Characters ``start`` to ``end`` of the text, the word they are, and what its terms add in this place.

    ``known`` is whether the model knows any term that has a part in it.
    """

    start: int
    end: int
    word: str
    log_odds: float
    known: bool

    def as_dict(self) -> dict[str, Any]:
        """The stretch as plain data."""
        return dict(self._asdict())


def stretches_of(reading: ReadText, odds: Mapping[str, float]) -> Iterator[Stretch]:
    """The words of the text, and what else its terms cover, in order; with a share of each term's odds.

    Each of n occurrences of a term has 1/n of its odds, and each of the words that it is made of an equal
    part of that, spread over its characters.
    """
    share, known = np.zeros(len(reading.text)), np.zeros(len(reading.text), dtype=bool)
    times = Counter(term.name for term, _ in reading.terms)
    for term, is_known in reading.terms:
        for start, end in term.spans:
            if end > start:
                known[start:end] |= is_known
                value = odds.get(term.name, 0.0) / (times[term.name] * len(term.spans))
                share[start:end] += value / (end - start)
    at = 0
    for word in reading.words:
        for start, end in word.spans:
            if start >= at:  # two words of one ligature share a place, which the first of them has
                yield from _between(reading.text, share, at, start)
                yield Stretch(
                    start, end, word.name, float(share[start:end].sum()), bool(known[start:end].any())
                )
                at = end
    yield from _between(reading.text, share, at, len(reading.text))


def _between(
    text: str, share: np.ndarray[Any, np.dtype[np.float64]], start: int, end: int
) -> Iterator[Stretch]:
    """Punctuation and space that terms of characters cover."""
    covered = np.flatnonzero(share[start:end])
    if len(covered):
        first, last = start + int(covered[0]), start + int(covered[-1]) + 1
        yield Stretch(first, last, text[first:last], float(share[first:last].sum()), True)
