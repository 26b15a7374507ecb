"""Word vectors of a file as terms of a model: those of its words, and of the most frequent other ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textodds.data.word_vectors import Matrix, VectorEntries, entries_of
from textodds.errors import BadFile, InputError, Unsupported
from textodds.stats.documents import Documents
from textodds.text import TextSettings
from textodds.text.vocabulary import UNKNOWN

MOST_NEW = 100_000
"""Words of no training text that are taken from a file at most: the first, which are the most frequent."""

NAMED = 100_000  # terms whose names are looked at together


@dataclass(frozen=True, eq=False)
class GivenVectors:
    """Words as texts are cut into them, each once, and their vectors."""

    words: list[str]  # (W,)
    matrix: Matrix  # (W, D)

    @classmethod
    def of(
        cls, path: str, settings: TextSettings, seen: Collection[str], most_new: int = MOST_NEW
    ) -> GivenVectors:
        """The vectors in a file of the words that were seen, and of so many others."""
        reader = _Terms(settings)
        taken: dict[str, None] = {}
        spellings: set[str] = set()
        parts: list[Matrix] = []
        left = most_new
        for entries in entries_of(path):
            chosen = []
            for place, word, term in reader.terms_of(entries):
                if term not in seen and term not in taken and not left:
                    continue
                if word in spellings:
                    raise entries.at.bad(entries.numbers[place], f"the word `{word}` for the second time")
                spellings.add(word)
                if term not in taken:  # of `The` and `the` the first, which is the more frequent
                    taken[term] = None
                    left -= term not in seen
                    chosen.append(place)
            if chosen:
                parts.append(_alike(entries, chosen, parts))
        if not taken.keys() & set(seen):
            raise InputError(
                f"no word of the texts has a vector in `{path}`",
                hint="take vectors of the same language, and of words that are cut alike",
            )
        return cls(list(taken), np.concatenate(parts))


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


def words_of(texts: Documents) -> dict[str, int]:
    """Single words among all terms, before any selection, and their numbers as they were gathered."""
    found: dict[str, int] = {}
    n = len(texts.gathered.documents())
    for first in range(0, n, NAMED):
        numbers = np.arange(first, min(first + NAMED, n), dtype=np.uint32)
        pairs = zip(texts.gathered.names(numbers), numbers.tolist(), strict=True)
        found |= {name: number for name, number in pairs if is_word(name)}
    return found


def is_word(term: str) -> bool:
    """Whether a term is a single word, rather than a pair or a run of letters."""
    return " " not in term and not term.startswith("~")
