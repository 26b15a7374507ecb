"""Columns by name, as they come from the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError, LengthMismatch, NoData, suggestion


def coded_columns(
    columns: Mapping[str, object], wanted: Sequence[str] | None = None
) -> dict[str, CodedColumn]:
    """Columns of equal length by name, sorted; exactly the ``wanted`` ones, if that is given.

    What a column may be says `CodedColumn.of`.

    Examples
    --------
    >>> list(coded_columns({"wind": ["weak"], "sky": ["clear"]}))
    ['sky', 'wind']
    """
    if wanted is not None:
        _check_wanted(list(columns), wanted)
    if not columns:
        raise NoData("there are no columns")
    coded = {}
    for name in sorted(columns):
        try:
            coded[name] = CodedColumn.of(columns[name])
        except InputError as error:
            raise InputError(f"column `{name}`: {error.problem}", hint=error.hint) from error
    first = next(iter(coded))
    for name, column in coded.items():
        if len(column) != len(coded[first]):
            raise InputError(
                f"column `{first}` has {len(coded[first])} rows, column `{name}` {len(column)}",
                hint="each row needs a value in every column; None is a missing one",
            )
    return coded


def coded_labels(labels: object, N: int) -> CodedColumn:
    """The labels of N rows, none missing."""
    try:
        coded = CodedColumn.of(labels)
    except InputError as error:
        raise InputError(f"labels: {error.problem}", hint=error.hint) from error
    if len(coded) != N:
        raise LengthMismatch(N, len(coded))
    unnamed = coded.names.index("") if "" in coded.names else -1
    lacking = np.flatnonzero((coded.codes == -1) | (coded.codes == unnamed))
    if len(lacking):
        raise InputError(f"row {lacking[0]} has no label", hint="leave out rows without a label")
    return coded


def _check_wanted(given: Sequence[str], wanted: Sequence[str]) -> None:
    unknown = [name for name in given if name not in set(wanted)]
    absent = [name for name in wanted if name not in set(given)]
    parts = []
    if absent:
        parts.append(f"{listed(absent)} not there")
    if unknown:
        near = suggestion(unknown[0], absent) if len(unknown) == 1 else ""
        parts.append(f"{listed(unknown)} unknown to the model{near}")
    if parts:
        raise InputError(
            f"got {len(given)} columns, the model has {len(wanted)}: " + "; ".join(parts),
            hint="give the columns the model was trained on, and no other",
        )


def listed(names: Sequence[str]) -> str:
    """``column `a` is``, ``columns `a`, `b` are``; long lists are cut."""
    shown = ", ".join(f"`{name}`" for name in names[:5]) + (" and more" if len(names) > 5 else "")
    return f"column {shown} is" if len(names) == 1 else f"columns {shown} are"


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of N categories as numbers."""

    names: tuple[str, ...]  # the categories, distinct, in any order; some may not occur
    codes: NDArray[np.int32]  # (N,) -1 where missing

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise InputError(f"codes must be a row of whole numbers, got {codes.dtype} {codes.shape}")
        if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(self.names):
            row = int(np.flatnonzero((codes < -1) | (codes >= len(self.names)))[0])
            raise InputError(
                f"row {row} has the code {codes[row]}, and there are {len(self.names)} categories",
                hint="codes count from 0; -1 is a missing value",
            )
        if len(set(self.names)) < len(self.names):
            raise InputError("a category is named twice")
        try:
            "".join(self.names).encode()
        except (TypeError, UnicodeEncodeError):
            raise InputError("categories are text that can be written as UTF-8") from None
        object.__setattr__(self, "codes", codes.astype(np.int32, copy=False))

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, values: object) -> CodedColumn:
        """The column of a list, a NumPy array, or a column of pandas, polars or pyarrow.

        Text stays as it is, the empty text too; whole numbers and truth values become text as one
        would write them by hand; None and NaN are missing values.

        Examples
        --------
        >>> CodedColumn.of(["red", None, "blue", "red"])
        CodedColumn(names=('red', 'blue'), codes=array([ 0, -1,  1,  0], dtype=int32))
        >>> CodedColumn.of([3, 3.0, float("nan")]).names, CodedColumn.of([True]).names
        (('3',), ('true',))
        """
        if isinstance(values, CodedColumn):
            return values
        from textodds.stats.categories.arrow_columns import entries  # heavy, and of no use to texts

        names, indices = entries(values)
        index: dict[str, int] = {}  # a dictionary may hold a name twice, or 0.0 and -0.0
        table = [-1 if name is None else index.setdefault(name, len(index)) for name in names]
        return cls(tuple(index), np.array([*table, -1], dtype=np.int32)[indices])

    def found(self, categories: Mapping[str, int], otherwise: int) -> NDArray[np.int64]:
        """The number of each row's category in ``categories``, (N,); -1 where missing."""
        table = [categories.get(name, otherwise) for name in self.names]
        return np.array([*table, -1], dtype=np.int64)[self.codes]
