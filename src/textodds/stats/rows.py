"""The rows that a model of a table stands on, by column, so that all that follows from them can be found.

Of a row is kept what the model reads: numbers as they came, categories by number, texts as a `Corpus` keeps
them. With it stand label, weight, and a hash of the row, by which it is found when it is to be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch
from textodds.data.named_arrays import AnyArray, Arrays, NamedArrays
from textodds.errors import InputError
from textodds.stats.categories import CodedColumn
from textodds.stats.categories.columns import coded_labels
from textodds.stats.categories.exact import pack, unpack, whole_numbers
from textodds.stats.corpus import MOST, Corpus, Keeper
from textodds.stats.document_set import KeptDocuments, must_have_classes
from textodds.stats.moments import LARGEST
from textodds.stats.sample import TYPICAL, UNIT
from textodds.stats.tally import narrow
from textodds.text import TextSettings

Hashes: TypeAlias = NDArray[np.uint64]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Vector:
    """The kind of a column of vectors of so many numbers."""

    size: int


Kind: TypeAlias = Literal["number", "category"] | Vector | TextSettings
Column: TypeAlias = Floats | CodedColumn | Corpus

ABSENT = np.uint64(0x9AE16A3B2F90404F)  # the hash of a value that is missing
WHOLE = 2**32 - 2  # what whole numbers are below that are stored as such
ODD = np.uint64(0x9E3779B97F4A7C15)


def mixed(numbers: Hashes) -> Hashes:
    """Numbers whose bits all depend on all bits of others.

    References
    ----------
    Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators", figure 16.
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def _hashes_of(values: object) -> Hashes:
    """A hash of each value of a column as it came."""
    if isinstance(values, np.ndarray):
        if values.ndim == 2:
            hashes = np.zeros(len(values), np.uint64)
            for each in values.T:
                hashes = mixed(hashes * ODD + _hashes_of(np.ascontiguousarray(each)))
            return hashes
        bits = (values + 0.0).view(np.uint64)  # -0.0 is 0.0
        return np.where(np.isnan(values), ABSENT, mixed(bits))
    if isinstance(values, CodedColumn):
        own: Hashes = _kernels.text_hashes(list(values.names))
        return np.append(own, ABSENT)[values.codes]
    found: Hashes = _kernels.text_hashes(values)
    return found


@dataclass(frozen=True, eq=False)
class Rows(KeptDocuments):
    r"""N rows of the columns of a model with label and weight, in the order of their hashes.

    Two rows are alike if they have the same hash of 64 bits, which is one of all values that are kept.

    Examples
    --------
    >>> batch = Batch({"height": np.array([1.9, 1.6]), "hair": CodedColumn.of(["short", None])}, ["m", "f"])
    >>> rows = Rows.of([batch], {"height": "number", "hair": "category"})
    >>> len(rows), rows.classes, len(rows + rows - rows)
    (2, ('f', 'm'), 2)
    """

    kinds: Mapping[str, Kind]  # of the columns, by name
    classes: tuple[str, ...]  # (K,) sorted, each with a row
    hashes: Hashes  # (N,) not decreasing
    codes: Integers  # (N,)
    weights: Floats  # (N,)
    columns: Mapping[str, Column]

    @classmethod
    def of(cls, batches: Iterable[Batch], kinds: Mapping[str, Kind]) -> Rows:
        """The rows of a stream of batches."""
        keeper = RowKeeper(kinds, most=None)
        for batch in batches:
            keeper.keep(batch)
        rows = keeper.rows()
        assert rows is not None  # which it is only if they are too many
        return rows

    noun, content = "row", "values"

    @property
    def size(self) -> int:
        """Bytes that the rows take, about."""
        return 8 * len(self) + sum(
            values.size if isinstance(values, Corpus) else _bytes(values) for values in self.columns.values()
        )

    def batch(self, rows: Integers) -> Batch:
        """Some of the rows; texts are prepared, and to be read by `Corpus.reread`."""
        columns = {name: _given(values, rows) for name, values in self.columns.items()}
        labels = [self.classes[k] for k in self.codes[rows].tolist()]
        return Batch(columns, labels, self.weights[rows])

    def sample(self, size: int = TYPICAL) -> Batch:
        """A fair sample, which depends on the rows alone.

        Rows that are alike have different chances of being in it: of a table of few different rows, those of
        the smallest hash would be a sample of one.
        """
        labels: Hashes = _kernels.text_hashes(list(self.classes))
        own = mixed(mixed(self.hashes + labels[self.codes]) ^ mixed(self.weights.view(np.uint64)))
        differs = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])[: len(own)])
        nth = np.arange(len(own)) - np.repeat(differs, np.diff(differs, append=len(own)))
        keys = mixed(own + ODD * nth.astype(np.uint64))
        return self.batch(np.argsort(keys, kind="stable")[:size])

    def _combine(self, other: Rows, sign: int) -> Rows:
        if self.kinds != other.kinds:
            raise InputError("rows have different columns", hint="train the second model like the first")
        return self._with(other) if sign > 0 else self._without(other)

    def _with(self, other: Rows) -> Rows:
        classes, codes = self._classes_with(other)
        hashes = np.concatenate([self.hashes, other.hashes])
        weights = np.concatenate([self.weights, other.weights])
        order = np.lexsort((weights, codes, hashes))
        columns = {name: _joined(values, other.columns[name], order) for name, values in self.columns.items()}
        return Rows(self.kinds, classes, hashes[order], codes[order], weights[order], columns)

    def _shown(self, row: int) -> str:
        values = self.batch(np.array([row])).columns.items()
        known = ((name, _told(value[0])) for name, value in values)
        told = ", ".join(f"{name}={value}" for name, value in known if value is not None)
        return told if len(told) <= 60 else f"{told[:60]}…"

    def _at(self, rows: NDArray[np.intp]) -> Rows:
        columns = {name: _at(values, rows) for name, values in self.columns.items()}
        return replace(self, columns=columns, **self._shared_at(rows))

    def in_order(self) -> Rows:
        """The same by hash, class and weight."""
        return self._at(np.lexsort((self.weights, self.codes, self.hashes)))

    def arrays(self) -> Arrays:
        """The rows as arrays, for a file, without a trace of what is not among them.

        The names of classes and columns go beside them.
        """
        arrays: Arrays = {"hashes": self.hashes, "class_of": narrow(self.codes)}
        if (self.weights != 1.0).any():
            arrays["weights"] = self.weights
        for at, values in enumerate(self.columns.values()):
            own: Arrays
            if isinstance(values, CodedColumn):
                own = _category_arrays(values)
            elif isinstance(values, Corpus):
                own = {name: part for name, part in values.arrays().items() if name != "class_of"}
            else:
                own = _number_arrays(values)
            arrays |= {f"{at}.{name}": array for name, array in own.items()}
        return arrays

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, classes: Sequence[str], kinds: Mapping[str, Kind]) -> Rows:
        """The rows that `arrays` made; refuses arrays that are none."""
        hashes = _checked(arrays, "hashes", "u8")
        n = len(hashes)
        codes = whole_numbers(arrays, "class_of", n)
        weights = _checked(arrays, "weights", "f8", n) if "weights" in arrays else np.ones(n)
        if not ((weights > 0) & (weights <= 2.0**32)).all():
            raise InputError("a weight of the rows is not a number above 0, up to 2^32")
        must_have_classes(codes, classes, "row")
        if (hashes[1:] < hashes[:-1]).any():
            raise InputError("the rows are out of order")
        columns = {}
        for at, (name, kind) in enumerate(kinds.items()):
            prefix = f"{at}."
            own = {key[len(prefix) :]: part for key, part in arrays.items() if key.startswith(prefix)}
            columns[name] = _column_of(own, kind, hashes)
        return cls(kinds, tuple(classes), hashes, codes, weights, columns).in_order()


def _told(value: Any) -> str | None:
    """A value in a few words; None where it is missing."""
    if hasattr(value, "as_py"):
        text = value.as_py()
        return None if text is None else " ".join(text.split())
    if np.ndim(value):
        return None if np.isnan(value).any() else f"[{value[0]:.4g}, …]"
    return None if np.isnan(value) else repr(float(value)).removesuffix(".0")


def _bytes(values: Floats | CodedColumn) -> int:
    if isinstance(values, np.ndarray):
        return values.nbytes
    width = 1 if len(values.names) < 255 else 2 if len(values.names) < 65_535 else 4
    return width * len(values) + sum(map(len, values.names))


def _given(values: Column, rows: Integers) -> Any:
    """Some values of a column as a batch has them."""
    if isinstance(values, np.ndarray):
        return values[rows]
    import pyarrow as pa

    if isinstance(values, Corpus):
        return pa.array(values.texts(rows), pa.string())
    codes = values.codes[rows]
    coded = pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), pa.array(list(values.names), pa.string())
    )
    return coded.cast(pa.string())


def _at(values: Column, rows: NDArray[np.intp]) -> Column:
    if isinstance(values, CodedColumn):
        return CodedColumn(values.names, values.codes[rows])
    return values[rows] if isinstance(values, np.ndarray) else values._at(rows)


def _joined(a: Column, b: Column, order: NDArray[np.intp]) -> Column:
    """Two columns one behind the other, in another order: of texts that of their hashes, which is as good."""
    if isinstance(a, CodedColumn) and isinstance(b, CodedColumn):
        return _at(_one_behind_another([a, b]), order)
    if isinstance(a, Corpus) and isinstance(b, Corpus):
        return a + b
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    return np.concatenate([a, b])[order]


def _one_behind_another(columns: Sequence[CodedColumn]) -> CodedColumn:
    """Columns of categories as one."""
    index: dict[str, int] = {}
    codes = [np.zeros(0, np.int32)]
    for column in columns:
        table = [index.setdefault(name, len(index)) for name in column.names]
        codes.append(np.array([*table, -1], np.int32)[column.codes])
    return CodedColumn(tuple(index), np.concatenate(codes))


def _number_arrays(values: Floats) -> Arrays:
    """A column of numbers; whole ones that are not large take less."""
    if values.ndim == 2:  # most embeddings are of single precision
        narrow_values = values.astype(np.float32)
        is_exact = np.array_equal(narrow_values.astype(np.float64), values, equal_nan=True)
        return {"vectors": (narrow_values if is_exact else values).reshape(-1)}
    gaps = np.isnan(values)
    filled = np.where(gaps, 0.0, values)
    if ((filled >= 0) & (filled < WHOLE) & (filled == np.floor(filled))).all():
        return {"whole": narrow(np.where(gaps, 0, filled.astype(np.int64) + 1))}  # 0 is a missing one
    return {"numbers": values}


def _category_arrays(values: CodedColumn) -> Arrays:
    """A column of categories, with the names that occur, sorted."""
    some = np.flatnonzero(np.bincount(values.codes + 1, minlength=len(values.names) + 1)[1:])
    names = sorted(values.names[at] for at in some.tolist())
    place = {name: at + 1 for at, name in enumerate(names)}  # 0 is a missing one
    table = np.array([*(place.get(name, 0) for name in values.names), 0], np.int64)
    return {"codes": narrow(table[values.codes]), **pack("names", names)}


def _checked(arrays: NamedArrays, name: str, kind: str, n: int | None = None) -> AnyArray:
    """An array of a file, if it has the type and the length that it must."""
    array = arrays.get(name)
    if array is None or array.ndim != 1 or (n is not None and len(array) != n):
        raise InputError(f"the array `{name}` of the rows is missing, or has the wrong length")
    if array.dtype != np.dtype(kind):
        raise InputError(f"the array `{name}` of the rows has the wrong type")
    return array


def _column_of(own: NamedArrays, kind: Kind, hashes: Hashes) -> Column:
    """A column that stands in a file."""
    n = len(hashes)
    if isinstance(kind, Vector):
        return _vectors_of(own, n, kind.size)
    if kind == "number":
        if "whole" in own:
            whole = whole_numbers(own, "whole", n)
            if (whole > WHOLE).any():
                raise InputError("a whole number of the rows is too large")
            return np.where(whole > 0, whole - 1.0, np.nan)
        numbers = _checked(own, "numbers", "f8", n)
        if not (np.isnan(numbers) | (np.abs(numbers) < LARGEST)).all():
            raise InputError(f"a number of the rows is not below {LARGEST:g}")
        return numbers
    if kind == "category":
        codes = whole_numbers(own, "codes", n)
        names = tuple(unpack(own, "names"))
        if n and int(codes.max()) > len(names):
            raise InputError("a category of the rows has no name")
        return CodedColumn(names, (codes - 1).astype(np.int32))
    texts = Corpus.of_arrays({**own, "class_of": np.zeros(n, np.uint8)}, ("",) if n else (), kind)
    if not np.array_equal(texts.hashes, hashes) or "weights" in own:
        raise InputError("the texts of the rows are not those of the other columns")
    return texts


def _vectors_of(own: NamedArrays, n: int, size: int) -> Floats:
    """A column of vectors that stands in a file, of single precision or of double."""
    is_single = "vectors" in own and own["vectors"].dtype == np.float32
    flat = _checked(own, "vectors", "f4" if is_single else "f8", n * size).astype(np.float64)
    vectors = flat.reshape(n, size)
    gaps = np.isnan(vectors)
    if not (gaps.all(axis=1) | (np.abs(vectors) < LARGEST).all(axis=1)).all():
        raise InputError(f"a number of the vectors is missing, or not below {LARGEST:g}")
    return vectors


class RowKeeper:
    """Keeps the rows of batches that pass by, up to so many bytes; of more, none."""

    def __init__(self, kinds: Mapping[str, Kind], most: int | None = MOST) -> None:
        self._kinds, self._most = kinds, most
        self.is_full = False  # whether there were more, so that none are kept
        self._texts = {
            name: Keeper(kind, most) for name, kind in kinds.items() if isinstance(kind, TextSettings)
        }
        self._rows: list[tuple[CodedColumn, Hashes, Floats, dict[str, Floats | CodedColumn]]] = []
        self._bytes = 0

    def passed(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, each kept on its way."""
        for batch in batches:
            self.keep(batch)
            yield batch

    def keep(self, batch: Batch) -> None:
        """Keep a batch; weights are rounded as counts have them, and rows that weigh nothing are left out."""
        if self.is_full or batch.labels is None:  # whoever learns from it says that there are none
            return
        weights = np.ones(len(batch)) if batch.weights is None else np.round(batch.weights / UNIT) * UNIT
        if not weights.all():
            some = np.flatnonzero(weights)
            batch, weights = batch.take(some), weights[some]
        if not len(batch):
            return
        hashes = np.zeros(len(batch), np.uint64)
        columns: dict[str, Floats | CodedColumn] = {}
        for name in sorted(self._kinds):  # whatever the order of the columns
            values = batch.columns[name]
            if self._kinds[name] == "category":
                values = CodedColumn.of(values)
            hashes = mixed(hashes * ODD + _hashes_of(values))
            if name in self._texts:
                self._texts[name].keep(Batch(values, [""] * len(batch), None))
            else:
                columns[name] = values
                self._bytes += _bytes(values)
        self._rows.append((coded_labels(batch.labels, len(batch)), hashes, weights, columns))
        self._bytes += hashes.nbytes
        too_long = any(texts.is_full for texts in self._texts.values())
        if too_long or (self._most is not None and self._bytes > self._most):
            self.is_full, self._rows, self._texts = True, [], {}

    def rows(self) -> Rows | None:
        """What was kept; None if it was too much."""
        if self.is_full:
            return None
        labels = _one_behind_another([row[0] for row in self._rows])
        classes = tuple(sorted(labels.names))
        codes = labels.found({name: k for k, name in enumerate(classes)}, -1)
        hashes = np.concatenate([np.zeros(0, np.uint64), *(row[1] for row in self._rows)])
        weights = np.concatenate([np.zeros(0), *(row[2] for row in self._rows)])
        columns = {name: self._column(name, kind, hashes) for name, kind in self._kinds.items()}
        rows = Rows(self._kinds, classes, hashes, codes, weights, columns).in_order()
        return rows if self._most is None or rows.size <= self._most else None

    def _column(self, name: str, kind: Kind, hashes: Hashes) -> Column:
        """A column of all batches; texts have the hashes of their rows."""
        if isinstance(kind, TextSettings):
            texts = self._texts[name].corpus()
            assert texts is not None  # or the keeper were full
            zeros = np.zeros(len(hashes), np.int64)
            places = np.arange(len(hashes))
            return Corpus(kind, ("",), hashes, zeros, np.ones(len(hashes)), places, texts.stores)
        if isinstance(kind, Vector):
            return np.concatenate([np.zeros((0, kind.size)), *(row[3][name] for row in self._rows)])
        if kind == "number":
            return np.concatenate([np.zeros(0), *(row[3][name] for row in self._rows)])
        return _one_behind_another([row[3][name] for row in self._rows])  # type: ignore[misc]
