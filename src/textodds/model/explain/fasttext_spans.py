"""Where the features of fastText stand in a text: its words, and runs of their letters and of themselves."""

from __future__ import annotations

import re

from textodds.text import TextSettings

TOKEN = re.compile(r"[^ \n\r\t\v\f\0]+")
END = "</s>"
LABEL = "__label__"

Span = tuple[int, int]


def fasttext_words(settings: TextSettings, text: str) -> list[tuple[str, Span]]:
    """The words of a text, each with its place; the end of the text, which is one too, has none.

    Examples
    --------
    >>> settings = TextSettings(unit="fasttext:10", lower=False, normal_form=None)
    >>> fasttext_words(settings, "See  __label__x you")
    [('See', (0, 3)), ('you', (16, 19))]
    """
    words, left_out = [], frozenset(settings.stop_words)
    for token in TOKEN.finditer(text):
        name = token[0]
        if not name.startswith(LABEL) and name not in left_out:
            words.append((name, token.span()))
        if name == END:
            break
    return words


def fasttext_spans(settings: TextSettings, text: str) -> list[tuple[Span, ...]]:
    """The places of the terms of a text, in the order of `TextSettings.terms`.

    The end of the text has none, and a run of words that takes it in has those of the others.

    Examples
    --------
    >>> settings = TextSettings(unit="fasttext:10", ngrams=(1, 2), lower=False, normal_form=None)
    >>> fasttext_spans(settings, "See you")
    [((0, 3),), ((4, 7),), (), ((0, 3), (4, 7)), ((4, 7),)]
    """
    words = fasttext_words(settings, text)
    places: list[tuple[Span, ...]] = [(span,) for _, span in words]
    if (not words or words[-1][0] != END) and END not in settings.stop_words:
        places.append(())
    found = list(places) if settings.ngrams[0] == 1 else []
    if not settings.buckets:
        return found
    if settings.characters is not None:
        for name, (start, end) in words:
            if name != END:
                found += _of_letters(start, end, *settings.characters)
    shortest, longest = settings.ngrams
    for i in range(len(places)):
        for n in range(2, longest + 1):
            if shortest <= n <= len(places) - i:
                found.append(tuple(span for own in places[i : i + n] for span in own))
    return found


def _of_letters(start: int, end: int, shortest: int, longest: int) -> list[tuple[Span, ...]]:
    """The places of runs of letters of one word, which stands between two signs that are not in the text."""
    length = end - start + 2
    found: list[tuple[Span, ...]] = []
    for first in range(length):
        for last in range(first + 1, min(first + longest, length) + 1):
            n = last - first
            if n >= shortest and not (n == 1 and (first == 0 or last == length)):
                found.append(((start + max(first - 1, 0), start + min(last - 1, end - start)),))
    return found
