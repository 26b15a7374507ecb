"""Directions that are combinations of the rows of a class, from which they are made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.named_arrays import Arrays
from textodds.errors import InputError
from textodds.stats.compressed_rows import CompressedRows

KINDS = {
    "rows_of": ("u8",),
    "row_lengths": ("u4",),
    "row_words": ("u2", "u4"),
    "row_values": ("f4",),
    "row_shares": ("f4",),
}
MOST_DIRECTIONS = 4096


@dataclass(frozen=True, eq=False)
class Span:
    """Directions ``B = Xᵀ S``: n rows over the W words of a class, and their shares in R directions.

    Texts of a class have fewer words in all than its words have directions, so this is smaller than B.
    """

    rows: CompressedRows  # (n, W), of single precision
    shares: NDArray[np.float32]  # (n, R)

    @classmethod
    def of(cls, rows: CompressedRows, shares: NDArray[np.float32]) -> Span:
        """The span of rows, whose numbers are rounded to single precision."""
        single = rows.data.astype(np.float32).astype(np.float64)
        return cls(CompressedRows((single, rows.indices, rows.indptr), rows.shape), shares)

    @property
    def nbytes(self) -> int:
        """Bytes in a file."""
        return 4 * len(self.rows.indptr) + 8 * len(self.rows.data) + self.shares.nbytes

    @cached_property
    def basis(self) -> NDArray[np.float32]:
        """``B``, (W, R): sums in the order of the rows, with the same bits on every processor."""
        W, R = self.rows.shape[1], self.shares.shape[1]
        found = np.zeros((W, R))
        if R:
            _kernels.add_rows(self.rows.raw, np.ascontiguousarray(self.shares, np.float64), found)
        return found.astype(np.float32)


def arrays_of(spans: Sequence[Span | None]) -> Arrays:
    """The spans of classes as flat arrays, class after class; none where no class has one."""
    held = [span for span in spans if span is not None]
    if not held:
        return {}
    place = np.uint16 if max(span.rows.shape[1] for span in held) <= 1 << 16 else np.uint32
    return {
        "rows_of": np.array([0 if span is None else len(span.shares) for span in spans], dtype=np.uint64),
        "row_lengths": np.concatenate([np.diff(span.rows.indptr).astype(np.uint32) for span in held]),
        "row_words": np.concatenate([span.rows.indices.astype(place) for span in held]),
        "row_values": np.concatenate([span.rows.data.astype(np.float32) for span in held]),
        "row_shares": np.concatenate([span.shares.reshape(-1) for span in held]),
    }


def of_arrays(arrays: Arrays, words_of: Sequence[int], ranks: Sequence[int]) -> tuple[Span | None, ...]:
    """The spans that `arrays_of` made flat, of classes of so many words and directions."""
    K = len(words_of)
    if "rows_of" not in arrays:
        return (None,) * K
    for name, kinds in KINDS.items():
        if name not in arrays or arrays[name].dtype.str[1:] not in kinds or arrays[name].ndim != 1:
            raise InputError(f"the tensor `{name}` is missing, or has the wrong type")
    lengths, words, values, flat = (arrays[name] for name in list(KINDS)[1:])
    rows_of = arrays["rows_of"].tolist()  # Python's numbers, whose sums are no surprise
    sound = (
        len(rows_of) == K
        and sum(rows_of) == len(lengths)
        and int(lengths.sum(dtype=np.uint64)) == len(words) == len(values)
        and sum(n * R for n, R in zip(rows_of, ranks, strict=True)) == len(flat)
        and all(R <= MOST_DIRECTIONS for n, R in zip(rows_of, ranks, strict=True) if n)
        and bool(np.isfinite(values).all() and np.isfinite(flat).all())
    )
    if not sound:
        raise InputError("the rows of its directions do not fit together")
    spans: list[Span | None] = []
    row = cell = share = 0
    for n, W, R in zip(rows_of, words_of, ranks, strict=True):
        if n == 0:
            spans.append(None)
            continue
        starts = np.concatenate([[0], np.cumsum(lengths[row : row + n].astype(np.int64))])
        stored = slice(cell, cell + int(starts[-1]))
        if not (words[stored] < W).all():
            raise InputError("the rows of its directions have words that their class has not")
        own = CompressedRows((values[stored], words[stored].astype(np.int32), starts), (n, W))
        spans.append(Span(own, flat[share : share + n * R].reshape(n, R)))
        row, cell, share = row + n, stored.stop, share + n * R
    return tuple(spans)
