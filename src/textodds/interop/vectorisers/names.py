"""The names of columns, packed: a vocabulary of a million terms is two arrays, not a million objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.learn.arrays import Integers, Mask


class Names:
    """V names in the order of their columns.

    Examples
    --------
    >>> names = Names.of(["see", "you"])
    >>> len(names), names.words()
    (2, ['see', 'you'])
    """

    def __init__(self, packed: NDArray[np.uint8], ends: Integers) -> None:
        self.packed = packed  # all names, one behind the other, in UTF-8
        self.ends = ends  # (V + 1,)

    @classmethod
    def of(cls, words: Iterable[str]) -> Names:
        """Some names, all of them text."""
        encoded = [word.encode() for word in words]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    @classmethod
    def of_columns(cls, columns: Mapping[str, int]) -> Names | None:
        """The names of a dictionary from name to column; None if they cannot be packed.

        Examples
        --------
        >>> Names.of_columns({"you": 1, "see": 0}).words(), Names.of_columns({"see": 1})
        (['see', 'you'], None)
        """
        try:
            if sorted(columns.values()) != list(range(len(columns))):
                return None
            return cls.of(name for name, _ in sorted(columns.items(), key=itemgetter(1)))
        except (AttributeError, TypeError, UnicodeError):  # what is no text, or half a character
            return None

    def __len__(self) -> int:
        return len(self.ends) - 1

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each name."""
        return {name: column for column, name in enumerate(self.words())}

    def words(self) -> list[str]:
        """The names as strings."""
        return _kernels.name_list(self.packed, self.ends)

    @cached_property
    def index(self) -> _kernels.NameIndex:
        """How the kernels find a name, and its column."""
        return _kernels.NameIndex(self.packed, self.ends)

    def select(self, keep: Mask) -> Names:
        """The names in a mask (V,)."""
        lengths = np.diff(self.ends)
        ends = np.concatenate([[0], np.cumsum(lengths[keep])])
        return Names(self.packed[np.repeat(keep, lengths)], ends)

    def __getstate__(self) -> dict[str, object]:
        return {"packed": self.packed, "ends": self.ends}
