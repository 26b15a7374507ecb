"""The words of a model, in the order of their hash, and how to find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels

T = TypeVar("T", bound=np.generic)

UNKNOWN = "<UNK>"  # the word that stands for all words outside the vocabulary
INLINE = 15  # bytes of a word that is its own key; the bytes of longer ones are in the arena
LONG = 0xFF  # marks the key of such a word, in its highest byte


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """V words with numbers 0 to V - 1.

    Words stand in the order of their hash, which makes the index one small array; ``words`` gives
    them by number. Two vocabularies of the same words are the same arrays.
    """

    keys: NDArray[np.uint64]  # (2V,)
    arena: NDArray[np.uint8]  # bytes of words over 15 bytes

    def __len__(self) -> int:
        return len(self.keys) // 2

    @classmethod
    def of_words(cls, words: Sequence[str]) -> tuple[Vocabulary, NDArray[np.uint32]]:
        """The vocabulary of distinct words, and the place of each of its words among those given.

        >>> vocabulary, places = Vocabulary.of_words(["see", "you", "free"])
        >>> [["see", "you", "free"][place] for place in places] == vocabulary.words()
        True
        """
        encoded = [word.encode() for word in words]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        packed = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        (keys, arena), places = _kernels.NameIndex(packed, ends).vocabulary()
        return cls(keys, arena), places

    @cached_property
    def directory(self) -> NDArray[np.uint32]:
        """Where the words of each hash prefix begin."""
        return _kernels.directory(self.keys, self.arena)

    def words(self, numbers: NDArray[np.integer] | None = None) -> list[str]:
        """The words with these numbers, all by default."""
        wanted = np.arange(len(self)) if numbers is None else numbers
        return _kernels.words(self.keys, self.arena, np.ascontiguousarray(wanted, dtype=np.int64))

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The number of each word, -1 where it is not there."""
        return _kernels.find(self.keys, self.arena, self.directory, list(words))

    def select(self, numbers: NDArray[np.integer]) -> Vocabulary:
        """The words with these increasing numbers."""
        return Vocabulary(*_kernels.select(self.keys, self.arena, np.asarray(numbers, dtype=np.int64)))

    def insert(self, word: str) -> tuple[Vocabulary, int]:
        """The vocabulary with one more word (if it is new), and that word's number."""
        keys, number = _kernels.insert(self.keys, self.arena, word)
        return Vocabulary(keys, self.arena), number

    def grown(self, more: Vocabulary) -> tuple[Vocabulary, NDArray[np.intp]]:
        """The vocabulary with words that it does not have, and before which of its own each stands."""
        places = self.places(more)
        keys = more.keys.reshape(-1, 2).copy()
        keys[keys[:, 1] >> np.uint64(56) == LONG, 0] += np.uint64(len(self.arena))
        both = inserted(self.keys.reshape(-1, 2), places, keys)
        return Vocabulary(both.reshape(-1), np.concatenate([self.arena, more.arena])), places

    def places(self, more: Vocabulary) -> NDArray[np.intp]:
        """Before which of its own each of some words stands that it does not have."""
        shift = 65 - (len(self.directory) - 1).bit_length()
        words, places = more.words(), np.zeros(len(more), dtype=np.intp)
        for row, number in enumerate(map(hash_of, words)):
            first, last = self.directory[number >> shift : (number >> shift) + 2].tolist()
            near = self.words(np.arange(first, last)) if last > first else []
            places[row] = first + sum(hash_of(word) < number for word in near)
        return places


class LazyVocabulary(Vocabulary):
    """A vocabulary of a known number of words that is made when it is looked into."""

    def __init__(self, size: int, make: Callable[[], Vocabulary]) -> None:
        self.__dict__.update(size=size, make=make)

    def __len__(self) -> int:
        return int(self.__dict__["size"])

    @cached_property
    def _made(self) -> Vocabulary:
        made: Vocabulary = self.__dict__["make"]()
        return made

    @property
    def keys(self) -> NDArray[np.uint64]:
        """See `Vocabulary`."""
        return self._made.keys

    @property
    def arena(self) -> NDArray[np.uint8]:
        """See `Vocabulary`."""
        return self._made.arena


def inserted(table: NDArray[T], places: NDArray[np.intp], rows: NDArray[T]) -> NDArray[T]:
    """A table with more rows, each before the row that its place is the number of, in order.

    What `numpy.insert` does, in the time of a copy where rows are few.
    """
    ends = [*places.tolist(), len(table)]
    parts = [table[: ends[0]]]
    for row, (first, last) in enumerate(pairwise(ends)):
        parts += [rows[row : row + 1], table[first:last]]
    return np.concatenate(parts)


def hash_of(word: str) -> int:
    """The hash by which words stand in order; part of the file format, and the kernel's own for long words.

    >>> hex(hash_of("free")), hex(hash_of("pneumonoultramicroscopic"))
    ('0xf7f04274cad8876f', '0x7dfe80bf66e8c98c')
    """
    content = word.encode()
    if len(content) > INLINE:
        return int(_kernels.text_hashes([word])[0])
    key = int.from_bytes(content.ljust(INLINE, b"\0") + bytes([len(content)]), "little")
    low, high = key & (1 << 64) - 1, key >> 64
    product = (low ^ 0x243F6A8885A308D3) * (high ^ 0x13198A2E03707344)
    return product & (1 << 64) - 1 ^ product >> 64
