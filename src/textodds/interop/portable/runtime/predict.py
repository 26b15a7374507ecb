"""A text classifier by textodds, in one file of Python's standard library.

    python model.py "a text"           the label, and how probable it is
    python model.py < texts.txt        the same for every line

In Python: ``from model import predict``; ``predict("a text")`` gives the label and all probabilities.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

DATA = "{}"

CR, LF, NEWLINE, EXTEND, JOINER = range(1, 6)  # classes of characters that rules of word boundaries name
SINGLE, BLANK, FIRST_SIGN, LAST_SIGN, BREAK, REWIND = 0, 7, 8, 10, 12, 13  # states of these rules
CLASS, PICTURE, ALPHANUMERIC, CASED, IGNORED, WORD, SPACE = 31, 32, 64, 128, 256, 512, 1024
SYLLABLE, LEAD, VOWEL, TAIL, SYLLABLES = 0xAC00, 0x1100, 0x1161, 0x11A7, 11172  # Hangul follows arithmetic
SIGMA, SMALL_SIGMA, FINAL_SIGMA = 0x3A3, 0x3C3, 0x3C2


class Ranges(dict[int, int]):
    """Values by character, 0 where there is none, of gap, length and value one after the other."""

    def __init__(self, flat: list[int]) -> None:
        self.firsts, self.ends, at = array("l"), array("l"), 0
        self.values_of = flat[2::3]
        for gap, length in zip(flat[::3], flat[1::3], strict=True):
            self.firsts.append(at + gap)
            at += gap + length
            self.ends.append(at)

    def __missing__(self, c: int) -> int:
        place = bisect_right(self.firsts, c) - 1
        self[c] = self.values_of[place] if place >= 0 and c < self.ends[place] else 0
        return self[c]


def mappings(flat: list[int]) -> dict[int, list[int]]:
    """Characters by the character that they stand for: gap, how many, and each less the character."""
    out, at, place = {}, 0, 0
    while place < len(flat):
        at, many = at + flat[place], flat[place + 1]
        out[at] = [at + each for each in flat[place + 2 : place + 2 + many]]
        place += 2 + many
    return out


def numbers(packed: str | None, kind: str = "d") -> array[Any]:
    """Numbers of base64, lowest byte first; none of nothing."""
    out = array(kind)
    out.frombytes(base64.b64decode(packed or ""))
    if sys.byteorder == "big":
        out.byteswap()
    return out


class Tokeniser:
    """From a text to its terms: those of words, and those of characters beside them."""

    def __init__(self, plan: dict[str, Any], tables: dict[str, list[int]], rules: list[list[int]]) -> None:
        self.plan, self.rules, self.stop_words = plan, rules, frozenset(plan["stop_words"])
        self.kinds, self.combining = Ranges(tables["kinds"]), Ranges(tables["combining"])
        self.lower, self.canonical = mappings(tables["lower"]), mappings(tables["canonical"])
        self.compatible = {**self.canonical, **mappings(tables["compatible"])}
        triples = zip(*(tables["composed"][place::3] for place in range(3)), strict=True)
        self.composed = {(first, second): whole for first, second, whole in triples}

    def terms(self, text: str) -> tuple[list[str], list[str]]:
        """The terms of a text."""
        prepared, plan = self.prepared(text), self.plan
        if plan["unit"] == "characters":
            return list(runs_of(self.folded(prepared), *plan["ngrams"])), []
        if plan["unit"] == "characters-in-words":
            return list(self.in_words(prepared, *plan["ngrams"])), []
        found = self.words(prepared) if plan["unit"] == "words" else self.runs(prepared)
        tokens = [token for token in found if token not in self.stop_words]
        first, last = plan["ngrams"]
        counts = range(first, min(last, len(tokens)) + 1)
        joined = [" ".join(tokens[at : at + n]) for n in counts for at in range(len(tokens) - n + 1)]
        beside = self.in_words(prepared, *plan["characters"]) if plan["characters"] else ()
        return joined, ["~" + each for each in beside]

    def prepared(self, text: str) -> list[int]:
        """The characters of a text: in normal form, in lower case, without accents, if so planned."""
        points, plan = list(map(ord, text)), self.plan
        if plan["form"]:
            points = self.together(
                self.apart(points, self.compatible if plan["form"] == "NFKC" else self.canonical)
            )
        if plan["lower"]:
            points = [small for at, c in enumerate(points) for small in self.small(points, at, c)]
        if plan["accents"]:
            points = self.apart(points, self.compatible)
            keeps = (lambda c: c < 128) if plan["accents"] == "ascii" else (lambda c: not self.combining[c])
            points = [c for c in points if keeps(c)]
        return points

    def apart(self, points: list[int], table: dict[int, list[int]]) -> list[int]:
        """Characters decomposed, marks in their order."""
        out: list[int] = []
        for c in points:
            if SYLLABLE <= c < SYLLABLE + SYLLABLES:
                rest, tail = divmod(c - SYLLABLE, 28)
                out += [LEAD + rest // 21, VOWEL + rest % 21] + ([TAIL + tail] if tail else [])
            else:
                out += table.get(c, (c,))
        start = 0  # of marks behind a letter
        for at, c in enumerate([*out, 0]):
            if not self.combining[c]:
                out[start:at] = sorted(out[start:at], key=self.combining.__getitem__)
                start = at + 1
        return out

    def together(self, points: list[int]) -> list[int]:
        """Characters composed: each with the last letter, unless another mark stands between."""
        out: list[int] = []
        start, last = -1, 0  # where that letter stands, and the class of what was kept behind it
        for c in points:
            own = self.combining[c]
            if start >= 0 and (last < own or start == len(out) - 1):
                whole = self.pair(out[start], c)
                if whole is not None:
                    out[start] = whole
                    continue
            if own == 0:
                start = len(out)
            last = own
            out.append(c)
        return out

    def pair(self, first: int, second: int) -> int | None:
        """What two characters compose to, if to anything."""
        if LEAD <= first < LEAD + 19 and VOWEL <= second < VOWEL + 21:
            return SYLLABLE + ((first - LEAD) * 21 + second - VOWEL) * 28
        place = first - SYLLABLE
        if 0 <= place < SYLLABLES and place % 28 == 0 and TAIL < second < TAIL + 28:
            return first + second - TAIL
        return self.composed.get((first, second))

    def small(self, points: list[int], at: int, c: int) -> Iterable[int]:
        """The lower case of a character; a sigma is final behind a letter and before none."""
        if c != SIGMA:
            return self.lower.get(c, (c,))
        is_final = self.meets_letter(points, at, -1) and not self.meets_letter(points, at, 1)
        return (FINAL_SIGMA if is_final else SMALL_SIGMA,)

    def meets_letter(self, points: list[int], at: int, step: int) -> bool:
        """Whether the next character that is not passed over has a case."""
        at += step
        while 0 <= at < len(points) and self.kinds[points[at]] & IGNORED:
            at += step
        return 0 <= at < len(points) and self.kinds[points[at]] & CASED != 0

    def words(self, points: list[int]) -> Iterator[str]:
        """Segments after Unicode Standard Annex #29 that hold a letter or digit."""
        kinds, start = [self.kinds[c] for c in points], 0
        while start < len(points):
            end = self.segment_end(kinds, start)
            if any(kind & ALPHANUMERIC for kind in kinds[start:end]):
                yield "".join(map(chr, points[start:end]))
            start = end

    def segment_end(self, kinds: list[int], start: int) -> int:
        """Where the segment that begins at ``start`` ends."""
        own = kinds[start] & CLASS
        if own in (CR, LF, NEWLINE):
            is_pair = own == CR and start + 1 < len(kinds) and kinds[start + 1] & CLASS == LF
            return start + 2 if is_pair else start + 1
        state, sign, has_marks = self.rules[BREAK][own], start, False
        for at in range(start + 1, len(kinds)):
            own = kinds[at] & CLASS
            if own in (EXTEND, JOINER):
                has_marks = True
                continue
            if kinds[at] & PICTURE and kinds[at - 1] & CLASS == JOINER:
                state = SINGLE
                continue
            after = self.rules[state][own]
            if after == BREAK or (state == BLANK and has_marks):
                return at
            if after == REWIND:
                return sign
            if FIRST_SIGN <= after <= LAST_SIGN:
                sign = at
            state = after
        return sign if FIRST_SIGN <= state <= LAST_SIGN else len(kinds)

    def runs(self, points: list[int]) -> Iterator[str]:
        """Runs of so many characters at least of a set; the whole run of word characters, if so planned."""
        belongs, least = self.plan["set"], self.plan["least"]
        is_ascii, is_whole = belongs not in ("word", "visible"), self.plan["whole"]

        def of_set(c: int) -> bool:
            if is_ascii:
                return chr(c) in belongs
            return bool(self.kinds[c] & WORD) if belongs == "word" else not self.kinds[c] & SPACE

        within = (lambda c: bool(self.kinds[c] & WORD)) if is_whole else of_set
        for is_run, run in groupby(points, within):
            found = list(run)
            if is_run and len(found) >= least and (not is_whole or all(map(of_set, found))):
                yield "".join(map(chr, found))

    def folded(self, points: list[int]) -> str:
        """The text, white space of several characters made one space."""
        out = []
        for is_space, run in groupby(points, lambda c: bool(self.kinds[c] & SPACE)):
            found = "".join(map(chr, run))
            out.append(" " if is_space and len(found) > 1 else found)
        return "".join(out)

    def in_words(self, points: list[int], first: int, last: int) -> Iterator[str]:
        """Runs of characters of each word between white space, a space on either side of it."""
        for is_space, run in groupby(points, lambda c: bool(self.kinds[c] & SPACE)):
            if not is_space:
                word = " " + "".join(map(chr, run)) + " "
                yield from runs_of(word, first, min(last, len(word)))
                if first > len(word):
                    yield word


def runs_of(text: str, first: int, last: int) -> Iterator[str]:
    """Runs of so many characters of a text."""
    for n in range(first, last + 1):
        for at in range(len(text) - n + 1):
            yield text[at : at + n]


class Model:
    """A classifier of texts."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes, self.data, weights = data["classes"], data, data["weights"]
        self.number = {term: place for place, term in enumerate(data["terms"])}
        self.tokeniser = Tokeniser(data["text"], data["characters"], data["rules"])
        self.scale = numbers(data["scale"])
        self.dense, self.cells, self.base = (
            numbers(weights.get(name)) for name in ("dense", "cells", "base")
        )
        self.starts, self.class_of = (numbers(weights.get(name), "I") for name in ("starts", "class_of"))
        self.default, self.slope = weights.get("default"), weights.get("slope")

    def values(self, text: str) -> tuple[list[tuple[int, float]], int]:
        """What each term of a text is worth, by its number; and how many of its terms are known."""
        data, unknown, known = self.data, self.data["unknown"], 0
        words, characters = self.tokeniser.terms(text)
        values: list[tuple[int, float]] = []
        for block in [words, characters] if data["blocks"] == 2 else [words + characters]:
            found = [self.number.get(term, unknown) for term in block]
            known += sum(number != unknown and number >= 0 for number in found)
            counts = Counter(number for number in found if number >= 0)
            own = [(number, self.worth(number, n)) for number, n in counts.items()]
            is_l1 = data["norm"] == "l1"
            total = math.fsum(abs(x) if is_l1 else x * x for _, x in own) if data["norm"] else 0.0
            length = total if is_l1 else math.sqrt(total * data["blocks"])
            values += [(number, x / length if length else x) for number, x in own]
        return values, known

    def worth(self, number: int, n: int) -> float:
        """What n occurrences of a term are worth."""
        frequency = self.data["frequency"]
        x = 1.0 if self.data["presence"] or frequency == "binary" else float(n)
        if frequency == "log" and n > 1:
            x = 1.0 + math.log(n)
        return x * self.scale[number] if self.scale else x

    def scores(self, text: str) -> list[float]:
        """Joint log-probabilities, up to a constant; of several labels the log-odds of each."""
        values, known = self.values(text)
        if self.data["prior"] is not None and not known:
            return list(self.data["prior"])
        scores, classes = list(self.data["bias"]), len(self.classes)
        if self.dense:
            for number, x in values:
                for k, weight in enumerate(self.dense[number * classes : (number + 1) * classes]):
                    scores[k] += x * weight
            return scores
        for number, x in values:
            cells = slice(self.starts[number], self.starts[number + 1])
            for k, weight in zip(self.class_of[cells], self.cells[cells], strict=True):
                scores[k] += x * weight
        total = math.fsum(x for _, x in values)
        based = math.fsum(x * self.base[number] for number, x in values) if self.base else 0.0
        slopes = self.slope or [0.0] * classes
        return [z + total * d + based * s for z, d, s in zip(scores, self.default, slopes, strict=True)]

    def probabilities(self, text: str) -> dict[str, float]:
        """The probability of each class; of several labels each by itself."""
        scores = self.scores(text)
        if self.data["thresholds"] is not None:
            return {name: sigmoid(z) for name, z in zip(self.classes, scores, strict=True)}
        most = max(scores)
        shares = [math.exp(z - most) for z in scores]
        total = math.fsum(shares)
        return {name: share / total for name, share in zip(self.classes, shares, strict=True)}

    def predict(self, text: str) -> tuple[Any, dict[str, float]]:
        """The label, or of several labels a list of those given, and all probabilities."""
        found = self.probabilities(text)
        if self.data["thresholds"] is None:
            return max(self.classes, key=found.__getitem__), found
        given = [
            name
            for name, least in zip(self.classes, self.data["thresholds"], strict=True)
            if found[name] >= least
        ]
        return sorted(given, key=lambda name: -found[name]), found


def sigmoid(z: float) -> float:
    """The probability of log-odds."""
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0 else math.exp(z) / (1.0 + math.exp(z))


def predict(text: str) -> tuple[Any, dict[str, float]]:
    """The label of a text, and the probability of every class."""
    global _model
    if _model is None:
        _model = Model(json.loads(DATA))
    return _model.predict(text)


_model: Model | None = None


def main() -> None:
    """Answer for the texts of the command line, or for each line of what is read."""
    for text in sys.argv[1:] or (line.rstrip("\n") for line in sys.stdin):
        label, found = predict(text)
        is_one = isinstance(label, str)
        answer = {"label": label, "probability": found[label]} if is_one else {"labels": label}
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
