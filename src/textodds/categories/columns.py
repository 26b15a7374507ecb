"""Columns by name, as they come from the caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from textodds.categories.coded import Coded
from textodds.errors import InputError, LengthMismatch, NoData, suggestion


def coded_columns(columns: Any, wanted: Sequence[str] | None = None) -> dict[str, Coded]:
    """Columns of equal length by name, sorted; exactly the ``wanted`` ones, if that is given.

    ``columns`` is a mapping, a table of pandas, polars or pyarrow, a matrix (N, J), or a sequence of
    columns. Those without a name are called x0, x1 and so on, with zeros before so that they sort.

    Examples
    --------
    >>> list(coded_columns({"wind": ["weak"], "sky": ["clear"]}))
    ['sky', 'wind']
    >>> list(coded_columns([["weak"], ["clear"]]))
    ['x0', 'x1']
    """
    named = dict(_named(columns))
    if wanted is not None:
        _check_wanted(list(named), wanted)
    if not named:
        raise NoData("there are no columns")
    coded = {}
    for name in sorted(named):
        try:
            coded[name] = Coded.of(named[name])
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


def coded_labels(labels: Any, N: int) -> Coded:
    """The labels of N rows, none missing."""
    try:
        coded = Coded.of(labels)
    except InputError as error:
        raise InputError(f"labels: {error.problem}", hint=error.hint) from error
    if len(coded) != N:
        raise LengthMismatch(N, len(coded))
    unnamed = coded.names.index("") if "" in coded.names else -1
    lacking = np.flatnonzero((coded.codes == -1) | (coded.codes == unnamed))
    if len(lacking):
        raise InputError(f"row {lacking[0]} has no label", hint="leave out rows without a label")
    return coded


def _named(columns: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(columns, "items"):  # a mapping, a table of pandas
        pairs = list(columns.items())
    elif hasattr(columns, "__arrow_c_stream__"):
        import pyarrow as pa

        table = pa.table(columns)
        pairs = list(zip(table.column_names, table.columns, strict=True))
    else:
        if isinstance(columns, np.ndarray) and columns.ndim == 2:
            columns = columns.T
        width = len(str(len(columns) - 1))
        pairs = [(f"x{at:0{width}}", column) for at, column in enumerate(columns)]
    seen = set()
    for name, column in pairs:
        if not isinstance(name, str):
            raise InputError(f"a column is named {name!r}, which is not text", hint="rename it")
        if name in seen:
            raise InputError(f"two columns are named `{name}`", hint="rename one of them")
        seen.add(name)
        yield name, column


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
