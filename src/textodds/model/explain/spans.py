"""Where all terms of a text stand, as arrays: what `place` finds one by one, for the usual settings.

Of a text of 1,600 characters there are some 6,000 runs of letters. Naming each, and looking each name up,
takes many times as long as asking the kernel for their numbers and reckoning where they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textodds.model.explain.place import PlacedTerm, plain_words

if TYPE_CHECKING:
    from textodds.model.explain.read_text import ReadText

Integers = NDArray[np.int64]


class Spans(NamedTuple):
    """The stretches that terms are made of: from and to (S, 2), and how many each term has (T,)."""

    spans: Integers
    sizes: Integers


def spans_of(reading: ReadText) -> Spans | None:
    """The stretches of all terms of a text; None where settings or text are not the usual ones.

    Those are words and runs of them, runs of characters within words, or both: not hashed, of one field, and
    with no word that stands for unknown ones. See `place` for all others.
    """
    settings = reading.model.recipe.settings
    is_usual = settings.unit != "characters" and not (
        settings.fields
        or settings.buckets is not None
        or settings.hash_bits is not None
        or settings.vocabulary is not None
        or reading.model.recipe.unknown != "ignore"
    )
    if not is_usual:
        return None
    found: list[tuple[Integers, Integers]] = []  # stretches, and how many each term has
    runs = settings.ngrams if settings.unit == "characters-in-words" else settings.characters
    if settings.unit != "characters-in-words":
        if not all(word.spans for word in reading.words):
            return None
        found += _of_words(reading.words, settings.ngrams)
    if runs is not None:
        of_characters = _of_characters(reading, runs)
        if of_characters is None:
            return None
        found.append((of_characters, np.ones(len(of_characters), dtype=np.int64)))
    spans = np.concatenate([each for each, _ in found]) if found else np.zeros((0, 2), np.int64)
    sizes = np.concatenate([size for _, size in found]) if found else np.zeros(0, np.int64)
    if len(sizes) != len(reading.row.places):
        return None
    return Spans(spans, sizes)


def _of_words(words: list[PlacedTerm], ngrams: tuple[int, int]) -> list[tuple[Integers, Integers]]:
    """The stretches of runs of words, the shortest runs first."""
    each = np.array([word.spans[0] for word in words], dtype=np.int64).reshape(-1, 2)
    found = []
    for n in range(ngrams[0], min(ngrams[1], len(words)) + 1):
        first = np.arange(len(words) - n + 1)
        found.append((each[(first[:, None] + np.arange(n)).ravel()], np.full(len(first), n)))
    return found


def _of_characters(reading: ReadText, lengths: tuple[int, int]) -> Integers | None:
    r"""The stretches (T, 2) of runs of characters of words, a space on either side; None if not found.

    A word of :math:`m` characters, spaces included, has :math:`m - n + 1` runs of n; a word that is shorter
    than the shortest run is a run itself. A run of padding alone stands for the whole word.
    """
    prepared, origins = reading.prepared
    words = prepared.split()
    if not words:
        return np.zeros((0, 2), np.int64)
    if reading.text.isascii():
        places = np.arange(len(prepared))[:, None] + [0, 1]
    else:
        if words != plain_words(reading.model.recipe.settings, "whitespace").terms(reading.text):
            return None  # a character newer than this Python
        places = np.array(origins, dtype=np.int64)
        if (places[:, 1] <= places[:, 0]).any():
            return None
    at, starts = 0, []
    for word in words:
        starts.append(at := prepared.index(word, at))
        at += len(word)
    start, length = np.array(starts), np.array([len(word) for word in words]) + 2
    first, last = lengths
    counts = np.stack([length - n + 1 for n in range(first, last + 1)], axis=1)  # (W, sizes)
    counts[:, 0] = counts[:, 0].clip(min=1)
    counts = counts.clip(min=0).ravel()
    sizes = last - first + 1
    cell = np.repeat(np.arange(len(counts)), counts)
    begin = np.arange(len(cell)) - np.repeat(np.cumsum(counts) - counts, counts)  # within the padded word
    of, n = cell // sizes, cell % sizes + first  # its word, and its length
    last_letter = length[of] - 2
    end = np.minimum(begin + n - 1, last_letter)
    begin = np.maximum(begin, 1)
    is_padding = begin > end
    begin[is_padding], end[is_padding] = 1, last_letter[is_padding]
    shift = start[of] - 1
    return np.stack([places[shift + begin, 0], places[shift + end, 1]], axis=1)
