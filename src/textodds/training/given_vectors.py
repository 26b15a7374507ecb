"""Word vectors of a file as terms of a model: those of its most frequent words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textodds.data.word_vectors import Matrix, VectorEntries, entries_of
from textodds.errors import BadFile, InputError, Unsupported
from textodds.text import TextSettings
from textodds.text.vocabulary import UNKNOWN

MOST_WORDS = 100_000
"""Words that are taken from a file at most: the first, which are the most frequent. Which they are does not
depend on the texts, so that a model that forgets a text keeps nothing of it."""


@dataclass(frozen=True, eq=False)
class GivenVectors:
    """Words as texts are cut into them, each once, and their vectors."""

    words: list[str]  # (W,)
    matrix: Matrix  # (W, D)

    @classmethod
    def of(cls, path: str, settings: TextSettings, most: int = MOST_WORDS) -> GivenVectors:
        """The vectors in a file of so many words."""
        reader = _Terms(settings)
        taken: dict[str, None] = {}
        spellings: set[str] = set()
        parts: list[Matrix] = []
        for entries in entries_of(path):
            chosen = []
            for place, word, term in reader.terms_of(entries):
                if term not in taken and len(taken) == most:
                    continue
                if word in spellings:
                    raise entries.at.bad(entries.numbers[place], f"the word `{word}` for the second time")
                spellings.add(word)
                if term not in taken:  # of `The` and `the` the first, which is the more frequent
                    taken[term] = None
                    chosen.append(place)
            if chosen:
                parts.append(_alike(entries, chosen, parts))
        if not taken:
            raise no_word_of(path)
        return cls(list(taken), np.concatenate(parts))


def no_word_of(path: str) -> InputError:
    """The error of texts of whose words none has a vector."""
    return InputError(
        f"no word of the texts has a vector in `{path}`",
        hint="take vectors of the same language, and of words that are cut alike",
    )


def _alike(entries: VectorEntries, chosen: Sequence[int], parts: Sequence[Matrix]) -> Matrix:
    """The vectors of some entries, if they are as long as those before."""
    found = entries.vectors(chosen)
    if parts and parts[0].shape[1] != found.shape[1]:
        raise BadFile(f"{entries.at.path} has vectors of several lengths", hint="fetch the file again")
    return found


class _Terms:
    """How words of a file become terms: as texts do, where one word is one whole term."""

    def __init__(self, settings: TextSettings) -> None:
        must_be_of_words(settings)
        self.plain = replace(settings, ngrams=(1, 1), characters=None)

    def terms_of(self, entries: VectorEntries) -> Iterator[tuple[int, str, str]]:
        """Place, word and term of each entry that is one."""
        cut = self.plain.analyser.terms([word or "" for word in entries.words])
        for place, (word, terms) in enumerate(zip(entries.words, cut, strict=True)):
            if word and len(terms) == 1 and len(terms[0]) == len(word) and terms[0] != UNKNOWN:
                yield place, word, terms[0]


def must_be_of_words(settings: TextSettings) -> None:
    """Refuse settings whose terms are no words that a file could name."""
    if settings.hash_bits is not None or settings.buckets is not None:
        raise Unsupported("hashed words have no vectors", hint="leave out hash_bits or the vectors")
    if settings.unit.startswith("characters") or settings.ngrams[0] > 1:
        raise Unsupported(
            "vectors are of words, and these features have none", hint="use `--features words` (features=)"
        )
    if settings.fields:
        raise Unsupported(
            "vectors are for texts of one column, and these have several",
            hint="name one column: `--text COLUMN` (text='COLUMN')",
        )
