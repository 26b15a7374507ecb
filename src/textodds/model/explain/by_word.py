"""What each word of a text adds, whatever the features are: words, pairs, letters, or a mixture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textodds.data.batch import BETWEEN_FIELDS
from textodds.model.explain.contribution import Contribution, Contributions
from textodds.model.explain.place import placed_words, prepare
from textodds.model.explain.read_text import ReadText
from textodds.model.explain.spans import Spans, spans_of
from textodds.text import TextSettings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RUN = re.compile(r"\S+|\s+")
"""What stands between words: signs, or white space."""

WORD, SIGNS, SPACE = range(3)

BRIEF = 8  # characters between words that are remembered from text to text


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


_stretch = partial(tuple.__new__, Stretch)


class _Piece(NamedTuple):
    start: int
    end: int
    name: str
    kind: int
    is_stop_word: bool


class _Shares(NamedTuple):
    """Spans of the text (S, 2) that terms have, what each adds (S,), and whether the model knows its term."""

    spans: Integers
    values: Floats
    are_known: NDArray[np.bool_]


_piece = partial(tuple.__new__, _Piece)  # cheaper than calling the class: there is one for each word and gap


def stretches_of(reading: ReadText, parts: Sequence[Contribution]) -> tuple[list[Stretch], dict[str, float]]:
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
    pieces = _pieces(reading)
    usual = spans_of(reading) if isinstance(parts, Contributions) else None
    if usual is not None and isinstance(parts, Contributions):
        shares, elsewhere = _numbered(reading, usual, parts), dict[str, float]()
    else:
        shares, elsewhere = _named(reading, {part: odds for part, _, odds in parts})
    share, known = _by_piece(pieces, len(reading.text), shares)
    found = [
        _stretch((piece.start, piece.end, piece.name, odds, is_known))
        for piece, odds, is_known in zip(pieces, share.tolist(), known.tolist(), strict=True)
        if odds or (piece.kind == WORD and (is_known or not piece.is_stop_word))
    ]
    return found, elsewhere


def _numbered(reading: ReadText, usual: Spans, parts: Contributions) -> _Shares:
    """The shares of all terms by their numbers."""
    places, counts = reading.row.places, reading.row.counts
    is_known = places >= 0
    each = np.append(parts.log_odds / counts, 0.0)[places]  # the last is that of unknown terms
    shares = each / np.maximum(usual.sizes, 1)
    return _Shares(usual.spans, np.repeat(shares, usual.sizes), np.repeat(is_known, usual.sizes))


def _named(reading: ReadText, odds: Mapping[str, float]) -> tuple[_Shares, dict[str, float]]:
    """The same by the names of terms, and what terms without a place add."""
    times = Counter([term[0] for term, _ in reading.terms])
    elsewhere = {name: value for name, value in odds.items() if name not in times}
    each = {name: odds.get(name, 0.0) / n for name, n in times.items()}
    spans: list[tuple[int, int]] = []
    values: list[float] = []
    are_known: list[bool] = []
    for (name, own), is_known in reading.terms:
        if not own and name in odds:
            elsewhere[name] = elsewhere.get(name, 0.0) + each[name]
        spans += own
        values += [each[name] / max(len(own), 1)] * len(own)
        are_known += [is_known] * len(own)
    where = np.fromiter(chain.from_iterable(spans), np.int64, 2 * len(spans)).reshape(-1, 2)
    return _Shares(where, np.array(values), np.array(are_known, dtype=bool)), elsewhere


def _by_piece(pieces: Sequence[_Piece], length: int, shares: _Shares) -> tuple[Floats, NDArray[np.bool_]]:
    """What terms add to each piece (P,) of a text of so many characters, and which the model knows."""
    share, known = np.zeros(len(pieces)), np.zeros(len(pieces), dtype=bool)
    spans, values, are_known = shares
    if not len(spans):
        return share, known
    owner = np.full(length, -1, dtype=np.int64)
    kind = np.full(length, -1, dtype=np.int64)
    start, end, kinds = np.array([(piece.start, piece.end, piece.kind) for piece in pieces]).T
    sizes = end - start
    at = np.arange(sizes.sum()) + np.repeat(start - (np.cumsum(sizes) - sizes), sizes)
    owner[at], kind[at] = np.repeat(np.arange(len(pieces)), sizes), np.repeat(kinds, sizes)
    rest = np.arange(len(spans))  # spans that have no owner yet
    for wanted in (WORD, SIGNS, SPACE):
        is_wanted = kind == wanted
        before = np.concatenate([[0], np.cumsum(is_wanted)])  # of such characters, (length + 1,)
        of = owner[is_wanted]
        # Pieces have no gaps: without such a character the next piece lies behind the one before.
        begin = np.append(of, len(pieces))[before][spans[rest, 0]]
        end = np.append(-1, of)[before][spans[rest, 1]]
        alone, several = begin == end, rest[begin < end]
        here = rest[alone]
        share += np.bincount(begin[alone], values[here], len(pieces))
        known[begin[alone][are_known[here]]] = True
        if len(several):
            reaching = _Shares(before[spans[several]], values[several], are_known[several])
            _share_letters(of, reaching, share, known)
        rest = rest[begin > end]
        if not len(rest):
            break
    return share, known


def _share_letters(owner: Integers, shares: _Shares, share: Floats, known: NDArray[np.bool_]) -> None:
    """Add the values of spans that reach into several pieces to these, by the letters in each."""
    spans, values, are_known = shares
    sizes = spans[:, 1] - spans[:, 0]
    ends = np.cumsum(sizes)
    at = np.arange(ends[-1]) + np.repeat(spans[:, 0] - (ends - sizes), sizes)
    both = np.repeat(np.arange(len(spans)), sizes) * len(share) + owner[at]
    pairs, letters = np.unique(both, return_counts=True)  # of a span and a piece
    which, pieces = np.divmod(pairs, len(share))
    np.add.at(share, pieces, values[which] * letters / sizes[which])
    known[pieces[are_known[which]]] = True


def _pieces(reading: ReadText) -> list[_Piece]:
    """The text cut into words, stop words too, and what stands between them, which does not overlap."""
    settings, text = reading.model.recipe.settings, reading.text
    stop_words = frozenset(settings.stop_words)
    words = placed_words(replace(settings, stop_words=()), text) if stop_words else reading.words
    fields, at = _fields(reading), 0
    gaps: dict[str, list[tuple[int, int, str, int]]] = {}
    pieces: list[_Piece] = []
    add = pieces.append

    def fill(start: int, end: int) -> None:
        for prefix, first, last in fields:
            begin = max(start, first)
            written = text[begin : max(begin, min(end, last))]
            if (runs := gaps.get(prefix + written)) is None:
                runs = gaps[prefix + written] = _runs(settings, prefix, written)
            for come, go, name, kind in runs:
                add(_piece((begin + come, begin + go, name, kind, False)))

    for name, spans in words:
        for start, end in spans:
            if start < at:  # two words of one ligature share a place, which the first of them has
                continue
            if start == at + 1 and text[at] == " " and not settings.fields:  # nearly always
                add(_piece((at, start, " ", SPACE, False)))
            elif start > at:
                fill(at, start)
            plain = name.partition(":")[2] if settings.fields else name
            add(_piece((start, end, name, WORD, plain in stop_words)))
            at = end
    fill(at, len(text))
    return pieces


def _runs(settings: TextSettings, prefix: str, written: str) -> list[tuple[int, int, str, int]]:
    """Signs and white space between words: from, to, the name under that of the field, and the kind."""
    if len(written) <= BRIEF and written.isascii():
        return _brief_runs(settings.lower, prefix, written)
    return [_run(run, prefix + prepare(settings, run[0])[0]) for run in RUN.finditer(written)]


def _run(run: re.Match[str], name: str) -> tuple[int, int, str, int]:
    return (*run.span(), name, SPACE if run[0].isspace() else SIGNS)


@lru_cache(maxsize=4096)
def _brief_runs(lower: bool, prefix: str, written: str) -> list[tuple[int, int, str, int]]:
    """The same of what stands between words in nearly every text."""
    return [_run(run, prefix + (run[0].lower() if lower else run[0])) for run in RUN.finditer(written)]


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
