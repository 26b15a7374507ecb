"""The one thing every source yields: rows by column, with their labels and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

import textodds._kernels as _kernels
from textodds.errors import InputError, NoData


class ArrowArray(Protocol):
    """An Arrow array of some producer's, handed over without a copy."""

    def __len__(self) -> int: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Texts: TypeAlias = list[str] | ArrowArray

TEXT = "text"  # the column of texts that come without a name

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


@dataclass(init=False, eq=False, slots=True)
class Batch:
    """N rows, with N labels and N weights, each of the latter two optional.

    Texts alone are a table with one column: ``Batch(texts, labels, weights)``. What was in memory already
    is not copied where it need not be: do not write to it.

    Attributes
    ----------
    columns : dict
        The columns, (N,) each, by name and in the order of the schema, without those it ignores. Numbers
        are float64, NaN where one is missing; vectors (N, D), NaN all over where one is missing; categories
        an Arrow array of utf8, null where one is missing. Texts are a list of ``str`` or an Arrow array
        (utf8, large_utf8, utf8_view, or a dictionary of one of these; of tables the first two only) without
        nulls and of valid UTF-8.
    labels : list or Arrow array, (N,), or None
        Strings as those of texts; none is empty.
    weights : array (N,) or None
        From 0 to 2^32.
    """

    columns: dict[str, Any]
    labels: Texts | None
    weights: NDArray[np.float64] | None
    _hashes: NDArray[np.uint64] | None = field(init=False, repr=False)

    def __init__(
        self,
        columns: dict[str, Any] | Texts,
        labels: Texts | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.columns = columns if isinstance(columns, dict) else {TEXT: columns}
        self.labels = labels
        self.weights = weights
        self._hashes = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def texts(self) -> Texts:
        """Its one column, which is of texts."""
        if len(self.columns) != 1:
            raise InputError(
                f"expected texts, got rows of {len(self.columns)} columns: {', '.join(self.columns)}",
                hint="name the column of texts: `--text COLUMN` (text='COLUMN')",
            )
        texts: Texts = next(iter(self.columns.values()))
        return texts

    def hashes(self, threads: int = 1) -> NDArray[np.uint64]:
        """The hashes of its texts, (N,), made when they are first asked for."""
        if self._hashes is None:
            self._hashes = _kernels.text_hashes(self.texts, threads)
        return self._hashes

    def label_list(self) -> list[str]:
        """The labels as a list."""
        labels = self.labels
        if labels is None:
            is_of_texts = not any(isinstance(values, np.ndarray) for values in self.columns.values())
            raise NoData(
                f"there are {'texts' if len(self.columns) == 1 and is_of_texts else 'rows'} but no labels"
            )
        return _listed(labels)

    def relabelled(self, name_of: Callable[[str], str]) -> Batch:
        """The same rows, each label by the name that ``name_of`` has for it."""
        if self.labels is None:
            return self
        labels = self.label_list()
        names = {label: name_of(label) for label in set(labels)}
        if all(label == name for label, name in names.items()):
            return self
        return Batch(self.columns, [names[label] for label in labels], self.weights)

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Batch:
        """Some of the rows."""
        numbers = rows if isinstance(rows, range) else [int(row) for row in rows]
        columns = {name: _values_at(values, numbers) for name, values in self.columns.items()}
        labels = None if self.labels is None else taken(self.labels, numbers)
        return Batch(columns, labels, None if self.weights is None else self.weights[numbers])

    def inserted(self, before: Sequence[int], other: Batch) -> Batch:
        """The rows with those of ``other`` among them, so many ``before`` each; of texts.

        >>> Batch(["a", "c"], ["x", "z"]).inserted([1, 2], Batch(["b", "d"], ["y", "y"])).label_list()
        ['x', 'y', 'z', 'y']
        """

        def column(mine: Texts, theirs: Texts) -> list[str]:
            listed, rows = _listed(mine), list[str]()
            for start, stop, value in zip([0, *before], before, _listed(theirs), strict=False):
                rows += [*listed[start:stop], value]
            return rows + listed[before[-1] :]

        columns = {name: column(texts, other.columns[name]) for name, texts in self.columns.items()}
        labels = weights = None
        if self.labels is not None and other.labels is not None:
            labels = column(self.labels, other.labels)
        if self.weights is not None and other.weights is not None:
            weights = np.insert(self.weights, before, other.weights)
        return Batch(columns, labels, weights)

    def parts(self, most: int) -> Iterator[Batch]:
        """The rows in their order, at most so many at once."""
        if len(self) <= most:
            yield self
            return
        for first in range(0, len(self), most):
            yield self.take(range(first, min(first + most, len(self))))

    @property
    def values_there(self) -> NDArray[np.float64]:
        """How many columns of each row have a value, (N,); an empty text has none."""
        there = np.zeros(len(self))
        for values in self.columns.values():
            if isinstance(values, np.ndarray):
                there += ~np.isnan(values if values.ndim == 1 else values[:, 0])
            else:
                import pyarrow.compute as pc

                there += np.asarray(pc.fill_null(pc.greater(pc.binary_length(values), 0), False))
        return there


def as_fields(columns: Sequence[Sequence[str]], separator: str = BETWEEN_FIELDS) -> list[str]:
    r"""The texts of several columns, row by row as the fields of one text, or with another ``separator``.

    >>> as_fields([["free phone", ""], ["see me", "six"]])
    ['free phone\x1fsee me', '\x1fsix']
    """
    # A separator within a text would move what stands behind it to the next field.
    if separator == BETWEEN_FIELDS:
        columns = [[text.replace(separator, " ") for text in column] for column in columns]
    return [separator.join(row) for row in zip(*columns, strict=True)]


def _listed(texts: Texts) -> list[str]:
    """Strings as a list of Python's."""
    if isinstance(texts, list):
        return texts
    if hasattr(texts, "to_list"):
        return list(texts.to_list())
    import pyarrow

    return [str(text) for text in pyarrow.array(texts).to_pylist()]


def _values_at(values: Any, rows: Sequence[int]) -> Any:
    if isinstance(values, np.ndarray):
        return values[rows]
    if isinstance(values, (list, _kernels.Strings)) or str(values.type) == "string_view":
        return taken(values, rows)
    import pyarrow

    return values.take(pyarrow.array(rows, pyarrow.int64()))


def _is_run(rows: Sequence[int]) -> TypeGuard[range]:
    return isinstance(rows, range) and rows.step == 1


def taken(column: Texts | None, rows: Sequence[int]) -> list[str] | None:
    """The strings of a column at some rows."""
    if column is None:
        return None
    if not rows:
        return []
    if isinstance(column, list):
        return column[rows.start : rows.stop] if _is_run(rows) else [str(column[i]) for i in rows]
    if isinstance(column, _kernels.Strings):
        return column.take(list(rows))
    import pyarrow

    array = pyarrow.array(column)
    if str(array.type) == "string_view":  # without `take` in pyarrow 26; a cast would copy every text
        return [str(array[i]) for i in rows]
    return [str(value) for value in array.take(rows).to_pylist()]


def joined_rows(batches: list[Batch]) -> Batch:
    """The rows of several batches of a table in one."""
    import pyarrow as pa

    def column(name: str) -> Any:
        parts = [batch.columns[name] for batch in batches]
        if isinstance(parts[0], list):
            return [value for part in parts for value in part]
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else pa.concat_arrays(parts)

    labels = weights = None
    if batches[0].labels is not None:
        labels = [label for batch in batches for label in batch.label_list()]
    if batches[0].weights is not None:
        weights = np.concatenate([batch.weights for batch in batches if batch.weights is not None])
    return Batch({name: column(name) for name in batches[0].columns}, labels, weights)


def gathered(sample: list[tuple[Batch, int]]) -> Batch:
    """The rows of a sample of a table in one batch."""
    groups: dict[int, tuple[Batch, list[int]]] = {}
    for batch, number in sample:
        groups.setdefault(id(batch), (batch, []))[1].append(number)
    return joined_rows([batch.take(numbers) for batch, numbers in groups.values()])
