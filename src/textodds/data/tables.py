"""Whole tables as a source: any number of named columns, each read as its kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from textodds.data import database, table_objects
from textodds.data.dispatch import opened
from textodds.data.fileset import TableFileOptions
from textodds.data.options import ReadOptions
from textodds.data.schema import Schema
from textodds.data.sought import Sought
from textodds.data.table_source import TableSource
from textodds.errors import InputError


def read_table(
    source: Any,
    labels: Any | None = None,
    weights: Any | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    schema: Schema | None = None,
    labelled: bool = True,
    **options: Any,
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
    how = ReadOptions.of(options)
    if how.text is not None:
        raise InputError(
            "`text` names the one column of texts, but all columns of a table are read",
            hint="leave it out, or say what the column is: `--columns NAME=text` (columns={'NAME': 'text'})",
        )
    sought = Sought(how.label, how.weight, kinds, schema, labelled=labelled, labels_beside=labels is not None)
    if how.weight is not None and weights is not None:
        raise InputError(
            "`weight` names a column, but weights are given beside the table", hint="leave out one of the two"
        )
    return opened(
        source,
        labels,
        weights,
        how,
        make=partial(TableSource, sought),
        of_query=lambda file, rejects: database.parts(file, str(how.query), sought),
        of_files=TableFileOptions(how.format, how.quoting, how.header, sought),
        of_object=lambda source, first: table_objects.object_source(
            source, first, labels, weights, sought, how.rejecting
        ),
    )
