"""The words of a model, in the order of their hash, and how to find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels

UNKNOWN = "<UNK>"  # the word that stands for all words outside the vocabulary


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
