"""Whole tables as a source: any number of named columns, each read as its kind."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from textodds.data import database, fileset, formats, table_objects
from textodds.data.dispatch import begun, paths_of, refuse_query_of, rejecting
from textodds.data.objects import refuse
from textodds.data.schema import Schema
from textodds.data.sought import Sought
from textodds.data.table_files import TableFileOptions
from textodds.data.table_source import TableSource
from textodds.errors import InputError


def read_table(
    source: Any,
    labels: Any | None = None,
    weights: Any | None = None,
    *,
    label: str | None = None,
    weight: str | None = None,
    kinds: Mapping[str, str] | None = None,
    schema: Schema | None = None,
    format: str | None = None,  # noqa: A002 (the word of the command line)
    query: str | None = None,
    quoting: bool = True,
    header: bool = True,
    labelled: bool = True,
    bad_rows: str = "stop",
    rejects_path: str | os.PathLike[str] | None = None,
) -> TableSource:
    """A `TableSource` of the rows in ``source``.

    Parameters
    ----------
    source : path, table, array, iterable or None
        A path or a list of ``os.PathLike``, as for `read`, but not a folder, fastText or plain lines. A
        pyarrow, polars or pandas table, or anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``.
        A dict of columns. An iterable of dicts. A 2-D NumPy array or an iterable of equally long rows,
        whose columns are called `1`, `2`, …. None where ``query`` names its own files.
    labels, weights : column or iterable, optional
        One per row, where ``source`` is in memory and they are not among its columns.
    label, weight : str, optional
        Names of columns. A label that is not named is that of the schema, or else the first there is of
        `columns.LABEL_NAMES`; a weight is never guessed.
    kinds : dict, optional
        One of `KINDS` for each column whose kind is not to be found from its values.
    schema : Schema, optional
        The columns to read, by name and as their kinds; those of an array by their order. Columns that
        it does not name are left out. Otherwise every column is read, and its kind found from its type
        or from the first `BATCH_ROWS` rows.
    format, query, quoting, header, labelled, bad_rows, rejects_path
        As for `read`. Bad is a row that cannot be taken apart or holds what is not UTF-8, one with a
        value in a column of numbers that is no number or beyond 1e100 in size, and one whose label or
        weight is bad.

    A value is missing where it is null or NaN, or one of the strings in `cells.MISSING`; that is never
    bad. Categories become text as labels do: 3, 3.0 and the text ``"3.0"`` become ``"3"``.

    >>> source = read_table({"size": [1.5, 2.0, 4.0], "colour": ["red", None, "blue"]}, ["a", "b", "a"])
    >>> [(column.name, column.kind, column.why) for column in source.schema.columns]
    [('size', 'number', 'numbers, 3 different'), ('colour', 'category', '2 different values')]
    >>> [(batch.columns["size"].tolist(), batch.label_list()) for batch in source]
    [([1.5, 2.0, 4.0], ['a', 'b', 'a'])]
    """
    sought = Sought(label, weight, kinds, schema, labelled=labelled, labels_beside=labels is not None)
    formats.known(format)
    if weight is not None and weights is not None:
        raise InputError(
            "`weight` names a column, but weights are given beside the table", hint="leave out one of the two"
        )
    reject = rejecting(bad_rows, rejects_path)
    source, first = begun(source)
    paths = paths_of(source, first)
    make = partial(TableSource, sought)
    if query is not None:
        refuse("a query", labels=labels, weights=weights, quoting=not quoting, header=not header)
        if format != "database":
            refuse("a query", format=format)
        refuse_query_of(source, paths)
        return fileset.query_source(
            paths, lambda file, rejects: database.parts(file, query, sought), reject, make
        )
    if paths is not None:
        refuse("a file", labels=labels, weights=weights)
        return fileset.file_source(paths, TableFileOptions(format, quoting, header, sought), reject, make)
    refuse("not a file", format=format, quoting=not quoting, header=not header)
    return table_objects.object_source(source, first, labels, weights, sought, reject)
