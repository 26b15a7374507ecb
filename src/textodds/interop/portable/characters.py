"""What the tokeniser knows of characters, as plain lists for other languages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import NamedTuple

from textodds import _kernels
from textodds.text import TextSettings

CLASS, PICTURE, ALPHANUMERIC, CASED, IGNORED, WORD, SPACE = 31, 32, 64, 128, 256, 512, 1024
"""Bits of a kind: its class of word boundaries, and flags; as in `rust/core/src/characters.rs`."""


Range = tuple[int, int, int]
Mapping = tuple[int, list[int]]


class Characters(NamedTuple):
    """Tables by character; what is not in one is 0, or stands for itself."""

    kinds: list[Range]
    combining: list[Range]
    lower: list[Mapping]
    canonical: list[Mapping]
    compatible: list[Mapping]
    composed: list[Range]

    def plain(self) -> dict[str, list[int]]:
        """Flat lists: ranges as gap, length and value, mappings as gap, number of characters, characters."""
        return {
            "kinds": flat_ranges(self.kinds),
            "combining": flat_ranges(self.combining),
            "lower": flat_mappings(self.lower),
            "canonical": flat_mappings(self.canonical),
            "compatible": flat_mappings(self.compatible),
            "composed": list(chain.from_iterable(self.composed)),
        }


@cache
def all_characters() -> Characters:
    """The tables of the tokeniser that is installed."""
    return Characters(*_kernels.character_tables())


def needed(settings: TextSettings) -> Characters:
    """The tables that texts cut by these settings need; the others are empty."""
    every = all_characters()
    forms = settings.normal_form is not None
    folds = settings.normal_form == "NFKC" or settings.accents is not None
    mask = WORD | SPACE | (CASED | IGNORED if settings.lower else 0)
    if settings.unit == "words":
        mask |= CLASS | PICTURE | ALPHANUMERIC
    return Characters(
        joined((first, last, kind & mask) for first, last, kind in every.kinds),
        every.combining if forms or folds else [],
        every.lower if settings.lower else [],
        every.canonical if forms or folds else [],
        every.compatible if folds else [],
        every.composed if forms else [],
    )


def joined(ranges: Iterable[Range]) -> list[Range]:
    """Ranges without those of 0, neighbours of one value made one.

    >>> joined([(1, 2, 5), (3, 3, 5), (4, 9, 0), (11, 11, 5)])
    [(1, 3, 5), (11, 11, 5)]
    """
    out: list[Range] = []
    for first, last, value in ranges:
        if value and out and out[-1][1] + 1 == first and out[-1][2] == value:
            out[-1] = (out[-1][0], last, value)
        elif value:
            out.append((first, last, value))
    return out


def flat_ranges(ranges: Iterable[Range]) -> list[int]:
    """Ranges as one list: how many characters lie between, how many there are, and the value.

    >>> flat_ranges([(65, 90, 9), (97, 122, 9)])
    [65, 26, 9, 6, 26, 9]
    """
    out, at = [], 0
    for first, last, value in ranges:
        out += [first - at, last - first + 1, value]
        at = last + 1
    return out


def flat_mappings(mappings: Iterable[Mapping]) -> list[int]:
    """Mappings as one list: the distance from the last, how many characters there are, and these less it.

    >>> flat_mappings([(65, [97]), (304, [105, 775])])
    [65, 1, 32, 239, 2, -199, 471]
    """
    out, at = [], 0
    for number, characters in mappings:
        out += [number - at, len(characters), *(each - number for each in characters)]
        at = number
    return out


_NAMES = "single letter hebrew numeric katakana connector flag blank".split()
_BREAK, _REWIND = 12, 13


@cache
def word_rules() -> list[list[int]]:
    """Unicode Standard Annex #29 as an automaton: the state after each class of characters, by state.

    States 0 to 7 stand behind one character of a kind; 8 to 10 behind a sign that belongs to the word if the
    right character follows, and is given back otherwise; 11 behind a quote that belongs to it anyhow. 12 is
    the end of the segment before the character, 13 its end before the sign. Row 12 has the states that a
    segment begins with. Marks and joiners change no state; see `segment_end` in `runtime/predict.py`.
    """
    classes = {name: number for number, name in enumerate(_kernels.character_classes())}
    state = {name: number for number, name in enumerate(_NAMES)}
    words = {"letter": 1, "hebrew": 2, "numeric": 3, "connector": 5}
    mid = dict.fromkeys(("middle of letters", "middle of both", "single quote"), 8)
    between = dict.fromkeys(("middle of numbers", "middle of both", "single quote"), 10)
    letters = {"letter": 1, "hebrew": 2}
    rows: list[tuple[int, dict[str, int]]] = [
        (_BREAK, {}),
        (_BREAK, words | mid),
        (_BREAK, words | mid | {"double quote": 9, "single quote": 11}),
        (_BREAK, words | between),
        (_BREAK, {"katakana": 4, "connector": 5}),
        (_BREAK, words | {"katakana": 4}),
        (_BREAK, {"regional": 0}),
        (_BREAK, {"space": 7}),
        (_REWIND, letters),
        (_REWIND, {"hebrew": 2}),
        (_REWIND, {"numeric": 3}),
        (_BREAK, letters),
        (0, words | {"katakana": state["katakana"], "regional": state["flag"], "space": state["blank"]}),
    ]
    return [[row.get(name, usual) for name in classes] for usual, row in rows]
