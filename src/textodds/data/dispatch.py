"""What is given as a source, and which reader it goes to."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from textodds.data import fileset, frames, objects
from textodds.data.columns import ColumnNames
from textodds.data.fileset import FileOptions
from textodds.data.objects import refuse
from textodds.data.options import ReadOptions
from textodds.data.schema import Schema
from textodds.data.sought import ColumnRequest, Sought
from textodds.data.source import Source
from textodds.data.table_source import TableSource
from textodds.errors import InputError


def read(
    source: Any,
    labels: Any | None = None,
    weights: Any | None = None,
    *,
    labelled: bool = True,
    **options: Any,
) -> Source:
    """A `Source` of the labelled texts in ``source``.

    Parameters
    ----------
    source : path, table, column, iterable, Source or None
        A path (``str`` or ``os.PathLike``), or a list of ``os.PathLike``: a file, plain or gzipped; a
        glob such as ``logs/*.csv``; a folder with a sub-folder per class, in which every file is a
        document; a DuckDB or SQLite file; or ``-`` for stdin, one text a line unless ``labelled``.
        A pyarrow, polars or pandas table or column, or anything with ``__arrow_c_stream__`` or
        ``__arrow_c_array__``. An iterable of texts (a list of ``str`` is one of texts, not of paths), of
        (text, label) or (text, label, weight), or of dicts. None where ``query`` names its own files.
    labels, weights : column or iterable, optional
        One per text, where ``source`` is a column or an iterable of texts.
    text, label, weight : str, optional
        Names of the columns, or of the keys. A text or a label that is not named is the first there
        is of those in `columns.TEXT_NAMES` and `columns.LABEL_NAMES`, in upper or lower case; a weight
        is never guessed. Files without a header have columns `1`, `2`, ….
    format : str, optional
        One of `formats.FORMATS`; otherwise the name of a file tells, or else its first bytes.
    query : str, optional
        SQL for the database file ``source``, or for DuckDB in memory.
    quoting, header : bool
        Whether CSV and TSV files quote fields with `"`, and begin with the names of their columns.
    labelled : bool
        Whether every row must have a label. If not, batches have labels only where ``label`` or
        ``labels`` says so.
    bad_rows : "stop" or "skip"
        Whether the first bad row raises `BadRow`, or bad rows are left out, counted and written to a
        file. Bad is a row that cannot be taken apart, or whose text is null or not UTF-8, whose label
        is null or empty, or whose weight is not a number from 0 to 2^32. An empty text is
        a document like any other.
    rejects_path : path, optional
        The file for skipped rows; otherwise the name of the source and ``.rejected.jsonl``, in the
        current folder. It is made when there is a first one to write, and made anew in every pass.

    Labels become text: 3 and 3.0 become ``"3"``, True becomes ``"true"``. Files and options that cannot be
    used raise here; what lies in the files raises when the source is iterated.

    >>> [(batch.texts, batch.labels) for batch in read(["win a phone", "see you at six"], ["spam", "ham"])]
    [(['win a phone', 'see you at six'], ['spam', 'ham'])]
    """
    how = ReadOptions.of(options)
    if isinstance(source, Source) and labels is None and weights is None and how == ReadOptions():
        return source
    wanted = ColumnNames(how.text, how.label, how.weight, labelled)
    texts: Source = _open(source, labels, weights, how, wanted)
    return texts


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
    table: TableSource = _open(source, labels, weights, how, sought)
    return table


def _open(source: Any, labels: Any, weights: Any, how: ReadOptions, wanted: ColumnRequest) -> Any:
    """The source of texts or of rows that ``source`` is: the answer to a query, files, or an object."""
    source, first = begun(source)
    paths = paths_of(source, first)
    make = partial(TableSource, wanted) if isinstance(wanted, Sought) else Source
    if how.query is not None:
        given = how.of_files
        if how.format == "database":
            given.pop("format")
        refuse("a query", labels=labels, weights=weights, **given)
        if paths is None and source is not None:
            raise InputError(
                "a query reads a database file, or files that it names, and the source is neither",
                hint="leave out the source, and write `SELECT text, label FROM 'mail.csv'`",
            )
        return fileset.query_source(paths, str(how.query), wanted, how.rejecting, make)
    if paths is not None:
        refuse("a file", labels=labels, weights=weights)
        reading = FileOptions(how.format, how.quoting, how.header, wanted)
        return fileset.file_source(paths, reading, how.rejecting, make)
    refuse("not a file", **how.of_files)
    if isinstance(wanted, Sought):
        return objects.table_object_source(source, first, labels, weights, wanted, how.rejecting)
    return objects.text_object_source(source, first, labels, weights, wanted, how.rejecting)


def begun(source: Any) -> tuple[Any, object]:
    """``source``, and its first item that is not null if it is an iterable of Python objects.

    What was taken from an iterator is put back in front of it.
    """
    if isinstance(source, (str, bytes, os.PathLike, Mapping)) or frames.speaks_arrow(source):
        return source, None
    if not isinstance(source, Iterable):
        return source, None
    taken: list[object] = []
    for item in source:
        taken.append(item)
        if item is not None:
            break
    first = taken[-1] if taken else None
    return (itertools.chain(taken, source) if isinstance(source, Iterator) else source), first


def paths_of(source: Any, first: object) -> list[str] | None:
    """The paths that ``source`` is or holds, or None if it is something else."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fsdecode(source)]
    if not isinstance(first, os.PathLike):
        return None
    items = list(source)
    others = [item for item in items if not isinstance(item, os.PathLike)]
    if others:
        raise InputError(
            f"a list of files holds {others[0]!r}, which is not a path object",
            hint="a list of texts holds only `str`, a list of files only `pathlib.Path`",
        )
    return [os.fsdecode(item) for item in items]
