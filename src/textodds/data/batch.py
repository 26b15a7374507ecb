"""The one thing every source yields: some documents, with their labels and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.errors import NoData


class ArrowArray(Protocol):
    """An Arrow array of some producer's, handed over without a copy."""

    def __len__(self) -> int: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Texts: TypeAlias = list[str] | ArrowArray

# Streams are cut at whichever comes first. A batch lives three times at once (being read, waiting,
# being counted), so these bound the memory of a run whatever the size of its data.
BATCH_BYTES = 4 << 20
BATCH_ROWS = 16_384

# What is in memory already is not copied, only sliced, so that a slice may be larger.
SLICE_ROWS = 65_536

# Stands between the columns of a text that has several; the kernel knows it too.
BETWEEN_FIELDS = "\x1f"

# No document comes near this; a file without line ends (a disc image, say) would otherwise fill memory.
RECORD_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Batch:
    """N documents with N labels and N weights, each of the latter two optional.

    ``texts`` and ``labels`` are lists of ``str`` or Arrow arrays (utf8, large_utf8, utf8_view, or a
    dictionary of one of these) without nulls and of valid UTF-8; no label is empty. ``weights`` are
    from 0 to 2^32.
    """

    texts: Texts  # (N,)
    labels: Texts | None  # (N,)
    weights: NDArray[np.float64] | None  # (N,)

    def __len__(self) -> int:
        return len(self.texts)

    def label_list(self) -> list[str]:
        """The labels as a list."""
        return label_list(self.labels, "texts")


def label_list(labels: Texts | None, rows: str) -> list[str]:
    """The labels of ``rows`` as a list."""
    if labels is None:
        raise NoData(f"there are {rows} but no labels")
    if isinstance(labels, list):
        return labels
    if hasattr(labels, "to_list"):
        return list(labels.to_list())
    import pyarrow

    return [str(label) for label in pyarrow.array(labels).to_pylist()]


def taken(column: Any, rows: list[int]) -> list[str] | None:
    """The strings of a column at some rows."""
    if column is None:
        return None
    if not rows:
        return []
    if isinstance(column, list):
        return [str(column[i]) for i in rows]
    if isinstance(column, _kernels.Strings):
        return column.take(rows)
    import pyarrow

    array = pyarrow.array(column)
    if str(array.type) == "string_view":  # without `take` in pyarrow 26; a cast would copy every text
        return [str(array[i]) for i in rows]
    return [str(value) for value in array.take(rows).to_pylist()]
