"""What each word of a text adds, whatever the features are: words, pairs, letters, or a mixture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textodds.data.batch import BETWEEN_FIELDS
from textodds.model.explain.place import placed_words, prepare
from textodds.model.explain.read_text import ReadText

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RUN = re.compile(r"\S+|\s+")
"""What stands between words: signs, or white space."""

WORD, SIGNS, SPACE = range(3)


class Stretch(NamedTuple):
    """Characters ``start`` to ``end`` of the text, the word they are, and what its terms add in this place.

    ``known`` is whether the model knows any term that has a part in it.
    """

    start: int
    end: int
    word: str
    log_odds: float
    known: bool

    def as_dict(self) -> dict[str, object]:
        """The stretch as plain data."""
        return dict(self._asdict())


class _Piece(NamedTuple):
    start: int
    end: int
    name: str
    kind: int
    is_stop_word: bool


def stretches_of(reading: ReadText, odds: Mapping[str, float]) -> tuple[list[Stretch], dict[str, float]]:
    r"""The words of the text in order with a share of each term's odds, and what terms without a place add.

    The shares of a term add up to its odds, so that those of all words add up to the same log-odds:

    - Each of n occurrences of a term has :math:`1/n` of its odds: the term has one value for the whole text.
    - A pair or a longer run of words is shared equally by its words: it says something of them together, and
      nothing tells which of them said it.
    - Letters that lie in one word belong to that word, together with the punctuation and white space that
      they take in beside it. Where they reach into several words, each has a share by the number of letters.
    - Signs that no word has a part in ("!!!", "£") stand for themselves; so does white space by itself.
      Padding, which is at the edge of a word and not in the text, belongs to the word.

    Terms have no place where the text could not be followed through its normal form; see `place`.
    """
    pieces = list(_pieces(reading))
    share, known = np.zeros(len(pieces)), np.zeros(len(pieces), dtype=bool)
    times = Counter([term[0] for term, _ in reading.terms])
    elsewhere = {name: value for name, value in odds.items() if name not in times}
    each = {name: odds.get(name, 0.0) / n for name, n in times.items()}
    spans: list[tuple[int, int]] = []
    values: list[float] = []
    are_known: list[bool] = []
    if all(len(own) == 1 for (_, own), _ in reading.terms):  # as of words, or of letters
        spans = [own[0] for (_, own), _ in reading.terms]
        values = [each[name] for (name, _), _ in reading.terms]
        are_known = [is_known for _, is_known in reading.terms]
    for (name, own), is_known in () if spans else reading.terms:
        if not own and name in odds:
            elsewhere[name] = elsewhere.get(name, 0.0) + each[name]
        spans += own
        values += [each[name] / max(len(own), 1)] * len(own)
        are_known += [is_known] * len(own)
    if spans:
        where = np.fromiter(chain.from_iterable(spans), np.int64, 2 * len(spans)).reshape(-1, 2)
        _share(pieces, len(reading.text), where, np.array(values), np.array(are_known), share, known)
    found = [
        Stretch(piece.start, piece.end, piece.name, float(share[i]), bool(known[i]))
        for i, piece in enumerate(pieces)
        if share[i] or (piece.kind == WORD and (known[i] or not piece.is_stop_word))
    ]
    return found, elsewhere


def _share(
    pieces: Sequence[_Piece],
    length: int,
    spans: Integers,
    values: Floats,
    are_known: NDArray[np.bool_],
    share: Floats,
    known: NDArray[np.bool_],
) -> None:
    """Add the values (n,) of spans (n, 2) to the shares of pieces (p,), and note which are known."""
    owner = np.full(length, -1, dtype=np.int64)
    kind = np.full(length + 1, -1, dtype=np.int64)
    for i, piece in enumerate(pieces):
        owner[piece.start : piece.end], kind[piece.start : piece.end] = i, piece.kind
    left = np.ones(len(spans), dtype=bool)  # spans that have no owner yet
    for wanted in (WORD, SIGNS, SPACE):
        is_wanted = kind[:length] == wanted
        places = np.flatnonzero(is_wanted)
        before = np.concatenate([[0], np.cumsum(is_wanted)])  # of such characters, (length + 1,)
        first, last = before[spans[:, 0]], before[spans[:, 1]] - 1
        here = np.flatnonzero(left & (first <= last))
        left[here] = False
        if not len(here):
            continue
        begin, end = owner[places[first[here]]], owner[places[last[here]]]
        alone = begin == end
        share += np.bincount(begin[alone], values[here[alone]], len(pieces))
        known[begin[alone & are_known[here]]] = True
        for i in here[~alone].tolist():
            owners, letters = np.unique(owner[places[first[i] : last[i] + 1]], return_counts=True)
            share[owners] += values[i] * letters / letters.sum()
            known[owners] |= are_known[i]


def _pieces(reading: ReadText) -> Iterator[_Piece]:
    """The text cut into words, stop words too, and what stands between them, which does not overlap."""
    settings, fields = reading.model.recipe.settings, _fields(reading)
    stop_words = frozenset(settings.stop_words)
    words = placed_words(replace(settings, stop_words=()), reading.text) if stop_words else reading.words
    at, names = 0, dict[str, str]()
    for word in words:
        for start, end in word.spans:
            if start >= at:  # two words of one ligature share a place, which the first of them has
                yield from _between(reading, fields, at, start, names)
                plain = word.name.partition(":")[2] if settings.fields else word.name
                yield _Piece(start, end, word.name, WORD, plain in stop_words)
                at = end
    yield from _between(reading, fields, at, len(reading.text), names)


def _fields(reading: ReadText) -> list[tuple[str, int, int]]:
    """The stretches of the fields, each with what the names of its words begin with."""
    names = reading.model.recipe.settings.fields
    if not names:
        return [("", 0, len(reading.text))]
    found, at = [], 0
    for name, part in zip(names, reading.text.split(BETWEEN_FIELDS, len(names) - 1), strict=False):
        found.append((f"{name}:", at, at + len(part)))
        at += len(part) + 1
    return found


def _between(
    reading: ReadText, fields: Sequence[tuple[str, int, int]], start: int, end: int, names: dict[str, str]
) -> Iterator[_Piece]:
    """Signs and white space between words, under the name of their field; ``names`` are those known."""
    for prefix, first, last in fields:
        for run in RUN.finditer(reading.text, max(start, first), max(start, first, min(end, last))):
            written = run[0]
            if (name := names.get(written)) is None:
                name = names[written] = prepare(reading.model.recipe.settings, written)[0]
            yield _Piece(*run.span(), prefix + name, SPACE if written.isspace() else SIGNS, False)
