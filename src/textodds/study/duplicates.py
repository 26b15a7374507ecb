r"""Texts that come more than once, word for word or nearly, and under which labels; in time that is linear.

Texts are the same if their words are, in lower case and without punctuation. They are nearly the same if
most of their runs of three words are: of the set of runs of each text the 32 least values of as many hash
functions are kept, of which two texts share about as large a part as their sets do of all their runs
(Broder 1997). Texts that share four in a row are compared, and are nearly the same from 0.8 on.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch
from textodds.data.batch import taken

HASHES, BAND = 32, 4  # hash functions, and how many in a row must agree for texts to be compared
ALIKE = 0.8  # share of hash functions that agree from which on texts are nearly the same
RUN = 3  # words

_WORD = re.compile(r"\w+")
_FACTORS = np.random.default_rng(0).integers(1, 2**63, HASHES, dtype=np.uint64) | np.uint64(1)  # (H,)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Rows that have one text; they count from 1, as those of `Suspect`.

    ``exact`` is whether their words are the same, rather than nearly.
    """

    rows: tuple[int, ...]
    labels: tuple[str, ...]  # one of each row
    exact: bool
    text: str  # of the first of them

    @property
    def is_contradiction(self) -> bool:
        """Whether the rows have different labels."""
        return len(set(self.labels)) > 1


@dataclass(frozen=True, slots=True)
class Repeats:
    """All texts that come more than once: those under different labels first, then those with most rows."""

    groups: tuple[Repeat, ...]

    @property
    def exact_rows(self) -> int:
        """Rows whose words another row has had before."""
        return sum(len(group.rows) - 1 for group in self.groups if group.exact)

    @property
    def near_rows(self) -> int:
        """Rows whose words another row has nearly had before."""
        return sum(len(group.rows) - 1 for group in self.groups if not group.exact)

    @property
    def contradictions(self) -> int:
        """Texts, word for word or nearly, with more than one label."""
        return sum(group.is_contradiction for group in self.groups)

    def sentence(self) -> str:
        """How many there are, in words; nothing where there are none."""
        if not self.groups:
            return ""
        return (
            f"duplicate texts: {self.exact_rows:,} exact, {self.near_rows:,} near; "
            f"with several labels: {self.contradictions:,}"
        )


def repeats(batches: Iterable[Batch]) -> Repeats:
    """The texts of labelled batches that come more than once."""
    words_of: dict[tuple[int, int], int] = {}  # of distinct texts, by two checksums of their words
    rows: list[list[int]] = []
    texts: list[str] = []
    labels: list[str] = []
    signatures: list[NDArray[np.uint32]] = []
    known: dict[str, int] = {}
    for row, (text, label) in enumerate(_labelled_texts(batches), start=1):
        labels.append(label)
        words = _WORD.findall(text.lower())
        if not words:
            continue
        plain = " ".join(words).encode()
        key = zlib.crc32(plain), zlib.adler32(plain)
        at = words_of.setdefault(key, len(rows))
        if at < len(rows):
            rows[at].append(row)
            continue
        rows.append([row])
        texts.append(text)
        signatures.append(_signature(words, known))
    firsts = _nearly_same(np.array(signatures).reshape(len(rows), HASHES))
    groups: dict[int, list[int]] = {}
    for at, first in enumerate(firsts):
        groups.setdefault(first, []).append(at)
    found = [
        Repeat(all_rows, tuple(labels[row - 1] for row in all_rows), len(group) == 1, texts[first])
        for first, group in groups.items()
        if len(all_rows := tuple(sorted(row for at in group for row in rows[at]))) > 1
    ]
    found.sort(key=lambda each: (not each.is_contradiction, -len(each.rows), each.rows))
    return Repeats(tuple(found))


def rows_in_common(learned: Iterable[Batch], tested: Iterable[Batch]) -> int:
    """How many of the rows ``tested`` are also among those ``learned``, labels apart."""
    wanted = Counter(key for batch in tested for key in _keys(batch))
    found: set[int] = set()
    for batch in learned:
        found |= wanted.keys() & set(_keys(batch))
    return sum(wanted[key] for key in found)


def _keys(batch: Batch) -> list[int]:
    """A number for each row, the same for the same values."""
    columns: list[list[Any]] = []
    for values in batch.columns.values():
        if not isinstance(values, np.ndarray):
            columns.append(taken_values(values))
        else:
            columns.append(values.tolist() if values.ndim == 1 else [row.tobytes() for row in values + 0.0])
    return [hash(row) for row in zip(*columns, strict=True)]


def taken_values(values: object) -> list[str | None]:
    """The strings of a column, None where one is missing."""
    listed = getattr(values, "to_pylist", getattr(values, "to_list", None))
    return list(values) if listed is None else list(listed())  # type: ignore[call-overload]


def _labelled_texts(batches: Iterable[Batch]) -> Iterator[tuple[str, str]]:
    for batch in batches:
        texts = taken(batch.texts, list(range(len(batch)))) or []
        yield from zip(texts, batch.label_list(), strict=True)


def _signature(words: list[str], known: dict[str, int]) -> NDArray[np.uint32]:
    """The least value of each hash function over the runs of a text, (H,)."""
    numbers = np.array([known.setdefault(word, zlib.crc32(word.encode())) for word in words], np.uint64)
    runs = numbers
    if len(numbers) >= RUN:
        runs = numbers[:-2] * np.uint64(0x9E3779B97F4A7C15)
        runs = (runs ^ numbers[1:-1]) * np.uint64(0xC2B2AE3D27D4EB4F) ^ numbers[2:]
    mixed = (runs + np.uint64(1)) * np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    least = (_FACTORS[:, None] * mixed).min(axis=1)  # (H,) of (H, runs)
    return np.asarray(least >> np.uint64(32), np.uint32)


def _nearly_same(signatures: NDArray[np.uint32]) -> list[int]:
    """Of each text the number of the first that it is nearly the same as, or its own."""
    first = list(range(len(signatures)))

    def root(at: int) -> int:
        while first[at] != at:
            first[at] = first[first[at]]
            at = first[at]
        return at

    for band in range(0, HASHES, BAND):
        buckets: dict[bytes, int] = {}
        for at, key in enumerate(np.ascontiguousarray(signatures[:, band : band + BAND])):
            other = buckets.setdefault(key.tobytes(), at)
            if other != at and (signatures[at] == signatures[other]).mean() >= ALIKE:
                low, high = sorted((root(at), root(other)))
                first[high] = low
    return [root(at) for at in range(len(first))]
