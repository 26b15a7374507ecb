"""Where terms stand in the text they were made of.

A text is brought into a normal form, lower-cased and cut by the kernel, which keeps no places. Here it is
prepared once more, remembering of each character where it came from, and the terms are found in it in
their order. What comes out is compared with what the kernel says: where the two differ (a character newer
than this Python) terms have no place, rather than a wrong one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

from textodds.data.batch import BETWEEN_FIELDS
from textodds.model.explain.fasttext_spans import fasttext_spans, fasttext_words
from textodds.text import UNKNOWN, TextSettings

Origins = list[tuple[int, int]]
"""Of each character of a prepared text the stretch of the original it came from; empty for padding."""

LONG = 2**15  # characters, from which on nothing is kept for the next text
SPACE = re.compile(r"\s+")

ASCII_OR_NOT = re.compile(r"[\x00-\x7f]+(?![^\x00-\x7f])|[\x00-\x7f]?[^\x00-\x7f]+")
"""Runs of ASCII, and of anything else with the character before, which marks may hang on."""


class PlacedTerm(NamedTuple):
    """A term, and the stretches (from, to) of the text that it is made of; none if they were not found."""

    name: str
    spans: tuple[tuple[int, int], ...]


_term = partial(tuple.__new__, PlacedTerm)
"""A term of its two parts, cheaper than calling the class: one is made for each run of characters."""


def placed_words(
    settings: TextSettings, text: str, prepared_text: tuple[str, Origins] | None = None
) -> list[PlacedTerm]:
    """The words of a text in order, stop words left out; ``prepared_text`` if it is known.

    For characters, which know no words, what white space divides, without signs at its ends unless it is
    nothing else.

    Examples
    --------
    >>> [word.name for word in placed_words(TextSettings(unit="characters"), "(Home-made!) :-)")]
    ['home-made', ':-)']
    >>> placed_words(TextSettings(strip_accents=True), "Ça, Zoé!")
    [PlacedTerm(name='ca', spans=((0, 2),)), PlacedTerm(name='zoe', spans=((4, 7),))]
    """
    if settings.fields:
        return list(_of_fields(settings, text, placed_words))
    if settings.buckets is not None:
        return [PlacedTerm(name, (span,)) for name, span in fasttext_words(settings, text)]
    is_characters = settings.unit.startswith("characters")
    plain = plain_words(settings, "whitespace" if is_characters else settings.unit)
    prepared, origins = prepared_text or prepare(settings, text)
    stop_words = frozenset(settings.stop_words)
    at, words = 0, []
    # Between two words stands nothing that could be a word, so the next match is the word itself.
    named = plain.terms(text)
    if text.isascii() and not is_characters and not stop_words:
        for word in named:
            at = prepared.index(word, at)
            words.append(_term((word, ((at, at + len(word)),))))
            at += len(word)
        return words
    for word in named:
        found = prepared.find(word, at)
        spans: tuple[tuple[int, int], ...] = ()
        if found >= 0:
            at = found + len(word)
            first, last = _without_signs(word) if is_characters else (0, len(word))
            (start, after), (before, end) = origins[found + first], origins[found + last - 1]
            is_whole = start < after and before < end
            spans = ((start, end),) if is_whole else _span(origins[found + first : found + last])
            word = word[first:last]
        if word not in stop_words:
            words.append(_term((word, spans)))
    return words


def plain_words(settings: TextSettings, unit: str) -> TextSettings:
    """What cuts a text into such units, prepared as ``settings`` say."""
    return _plain(unit, settings.lower, settings.normal_form, settings.strip_accents)


@lru_cache(maxsize=64)
def _plain(unit: str, lower: bool, normal_form: str | None, strip_accents: bool | str) -> TextSettings:
    return TextSettings(unit=unit, lower=lower, normal_form=normal_form, strip_accents=strip_accents)


def _without_signs(word: str) -> tuple[int, int]:
    """From where to where a word has letters, digits and their marks; all of it if it has none."""
    letters = [i for i, c in enumerate(word) if c.isalnum() or unicodedata.category(c).startswith("M")]
    return (letters[0], letters[-1] + 1) if letters else (0, len(word))


def placed_terms(
    settings: TextSettings, text: str, words: list[PlacedTerm] | None = None
) -> list[PlacedTerm]:
    """The terms of a text as `TextSettings.terms` has them, each with its place; ``words`` if they are known.

    Examples
    --------
    >>> placed_terms(TextSettings(ngrams=(2, 2)), "See  YOU")
    [PlacedTerm(name='see you', spans=((0, 3), (5, 8)))]
    """
    named = settings.terms(text)
    if settings.buckets is not None:
        spans = fasttext_spans(settings, text)
        if len(spans) != len(named):
            return [PlacedTerm(name, ()) for name in named]
        return [PlacedTerm(name, own) for name, own in zip(named, spans, strict=True)]
    made = _terms(settings, text, words)
    if settings.vocabulary is not None:
        inside = frozenset(settings.vocabulary)
        made = [
            term if term.name in inside else PlacedTerm(UNKNOWN, term.spans)
            for term in made
            if settings.count_unknown or term.name in inside
        ]
    if settings.hash_bits is not None:
        plain = replace(settings, hash_bits=None, hash_seed=0).terms(text)
        is_sound = plain == [term.name for term in made] and len(plain) == len(named)
        made = [PlacedTerm(name, term.spans) for name, term in zip(named, made, strict=False)]
    else:
        is_sound = named == [term.name for term in made]
    return made if is_sound else [PlacedTerm(name, ()) for name in named]


def _terms(settings: TextSettings, text: str, words: list[PlacedTerm] | None = None) -> list[PlacedTerm]:
    """Terms in the order of the kernel, not hashed."""
    if settings.fields:
        terms = list(_of_fields(settings, text, _terms))
        of_words = [term for term in terms if not term.name.startswith("~")]
        return of_words + [term for term in terms if term.name.startswith("~")]
    if settings.unit == "characters":
        folded, origins = _fold_spaces(*prepare(settings, text))
        return _grams(folded, origins, settings.ngrams, whole=False)
    found: list[PlacedTerm] = []
    if settings.unit == "characters-in-words":
        for word, origins in _between_spaces(*prepare(settings, text)):
            found += _grams(word, origins, settings.ngrams, whole=True)
        return found
    words = placed_words(settings, text) if words is None else words
    shortest, longest = settings.ngrams
    if shortest == 1:
        found += words
    for n in range(max(shortest, 2), longest + 1):
        for i in range(len(words) - n + 1):
            run = words[i : i + n]
            spans = tuple(word.spans[0] for word in run) if all(word.spans for word in run) else ()
            found.append(PlacedTerm(" ".join(word.name for word in run), spans))
    if settings.characters is not None:
        for word, origins in _between_spaces(*prepare(settings, text)):
            grams = _grams(word, origins, settings.characters, whole=True)
            found += [_term(("~" + name, spans)) for name, spans in grams]
    return found


def _of_fields(
    settings: TextSettings, text: str, each: Callable[[TextSettings, str], Iterable[PlacedTerm]]
) -> Iterator[PlacedTerm]:
    """What ``each`` says of every field of a text, under the name of the field."""
    at, plain = (
        0,
        replace(settings, fields=(), vocabulary=None, count_unknown=False, hash_bits=None, hash_seed=0),
    )
    for field, part in zip(
        settings.fields, text.split(BETWEEN_FIELDS, len(settings.fields) - 1), strict=False
    ):
        for term in each(plain, part):
            mark = "~" if plain.characters is not None and term.name.startswith("~") else ""
            name = f"{mark}{field}:{term.name.removeprefix(mark)}"
            yield PlacedTerm(name, tuple((start + at, end + at) for start, end in term.spans))
        at += len(part) + 1


def _grams(text: str, origins: Origins, ngrams: tuple[int, int], *, whole: bool) -> list[PlacedTerm]:
    """Runs of characters; ``whole``: a text shorter than n counts once, as itself.

    A run of padding alone stands for the whole text that is padded.
    """
    size, all_of_it = len(text), _span(origins)
    found: list[PlacedTerm] = []
    begins, ends = _edges(origins)
    for n in range(ngrams[0], ngrams[1] + 1):
        names = [text[i : i + n] for i in range(size - n + 1)]
        edges = zip(begins, ends[n - 1 :], strict=False)
        spans = [((start, end),) if start < end else all_of_it for start, end in edges]
        found += map(_term, zip(names, spans, strict=True))
        if whole and size <= n:
            if size < n:
                found.append(PlacedTerm(text, all_of_it))
            break
    return found


def _edges(origins: Origins) -> tuple[list[int], list[int]]:
    """Of each character where the original of it and those behind begins, and of it and those before ends.

    >>> _edges([(0, 0), (4, 5), (5, 6), (0, 0)])
    ([4, 4, 5, 6], [0, 5, 6, 6])
    """
    begins, ends, at = [start for start, _ in origins], [], 0
    for start, end in origins:
        at = end if end > start else at
        ends.append(at)
    for i in range(len(origins) - 1, -1, -1):
        start, end = origins[i]
        at = begins[i] = start if end > start else at
    return begins, ends


def _span(origins: Origins) -> tuple[tuple[int, int], ...]:
    """One stretch from the first origin to the last."""
    real = [origin for origin in origins if origin[1] > origin[0]]
    return ((real[0][0], real[-1][1]),) if real else ()


def _fold_spaces(text: str, origins: Origins) -> tuple[str, Origins]:
    """The text with each run of two or more of white space as one space."""
    out, places, end = [], [], 0
    for run in SPACE.finditer(text):
        if run.end() - run.start() > 1:
            out += [text[end : run.start()], " "]
            places += origins[end : run.start()]
            places.append((origins[run.start()][0], origins[run.end() - 1][1]))
            end = run.end()
    return "".join([*out, text[end:]]), places + origins[end:]


def _between_spaces(text: str, origins: Origins) -> Iterator[tuple[str, Origins]]:
    """Each word of the text with a space on either side, which is of no place."""
    at = 0
    for word in text.split():
        at = text.index(word, at)
        yield f" {word} ", [(0, 0), *origins[at : at + len(word)], (0, 0)]
        at += len(word)


def prepare(settings: TextSettings, text: str) -> tuple[str, Origins]:
    """The text in its normal form, case and accents, and where each character came from.

    Examples
    --------
    >>> prepare(TextSettings(normal_form="NFKC"), "ﬁ É")
    ('fi é', [(0, 1), (0, 1), (1, 2), (2, 3)])
    """
    if text.isascii():
        return (text.lower() if settings.lower else text), _one_by_one(len(text))
    out: list[str] = []
    origins: Origins = []
    for run in ASCII_OR_NOT.finditer(text):
        if run[0].isascii():
            out.append(run[0].lower() if settings.lower else run[0])
            origins += [(i, i + 1) for i in range(run.start(), run.end())]
            continue
        for start, end in _clusters(settings, text, run):
            part = _prepare(settings, text[start:end])
            out.append(part)
            origins += [(start, end)] * len(part)
    joined, whole = "".join(out), _prepare(settings, text)
    # A sigma at the end of a word is another letter, of the same length; anything else is given up.
    return (whole, origins) if len(joined) == len(whole) else (whole, [(0, 0)] * len(whole))


def _one_by_one(n: int) -> Origins:
    """The origins of n characters that each came from one."""
    if n >= LONG:
        return [(i, i + 1) for i in range(n)]
    return _doubled(n.bit_length())[:n]


@lru_cache
def _doubled(bits: int) -> Origins:
    """Those of 2ᵇ characters, made once: texts of a few thousand take most of their time for it."""
    return [(i, i + 1) for i in range(2**bits)]


def _clusters(settings: TextSettings, text: str, run: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Stretches of a run that can be prepared by themselves: a character and its marks where that is enough.

    It is not where letters compose, as those of Hangul do: then a run without ASCII is one stretch.
    """
    cuts = [
        i
        for i in range(run.start(), run.end())
        if i == run.start() or not (unicodedata.combining(text[i]) or text[i] == "\u200d")
    ]
    pairs = list(zip(cuts, [*cuts[1:], run.end()], strict=True))
    parts = "".join(_prepare(settings, text[start:end]) for start, end in pairs)
    whole = _prepare(settings, run[0])
    if parts == whole or (settings.lower and len(parts) == len(whole) and "Σ" in run[0]):
        yield from pairs
    else:
        yield run.span()


def _prepare(settings: TextSettings, text: str) -> str:
    if settings.normal_form is not None:
        text = unicodedata.normalize(settings.normal_form, text)  # type: ignore[arg-type]
    if settings.lower:
        text = text.lower()
    if settings.strip_accents and not text.isascii():
        drop = (lambda c: not c.isascii()) if settings.strip_accents == "ascii" else unicodedata.combining
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not drop(c))
    return text
