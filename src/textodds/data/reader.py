"""What is given as a source, how it is to be read, and which reader it goes to."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from textodds.data import files
from textodds.data.admission import Parts
from textodds.data.columns import ColumnRequest
from textodds.data.dialect import Dialect
from textodds.data.files import File, Spool
from textodds.data.label_sets import LabelSets
from textodds.data.read_options import FORM, ReadOptions
from textodds.data.rejects import Rejects
from textodds.data.schema import Schema
from textodds.data.source import Position, Source, refuse
from textodds.data.table_request import TableRequest
from textodds.errors import BadFile, InputError


def read(
    source: Any,
    labels: Any | None = None,
    weights: Any | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    schema: Schema | None = None,
    like: Schema | None = None,
    labelled: bool = True,
    before: Mapping[str, Any] | None = None,
    keep_rows: bool | Sequence[str] = False,
    several_labels: bool = False,
    **options: Any,
) -> Source:
    """A `Source` of the labelled texts in ``source`` or, with ``columns`` or a ``schema``, of a table.

    Parameters
    ----------
    source : path, table, column, iterable, Source or None
        A path (``str`` or ``os.PathLike``), or a list of ``os.PathLike``: a file, plain or gzipped; a
        glob such as ``logs/*.csv``; a folder with a sub-folder per class, in which every file is a
        document; files and folders of mail; a DuckDB or SQLite file; or ``-`` for stdin, one text a line
        unless ``labelled``.
        A pyarrow, polars or pandas table or column, or anything with ``__arrow_c_stream__`` or
        ``__arrow_c_array__``; a dict of columns; a ``Dataset`` of `datasets`, or a ``DatasetDict``, of which
        the split ``train`` is read. An iterable of texts (a list of ``str`` is one of texts,
        not of paths), of (text, label) or (text, label, weight), or of dicts. None where ``query`` names
        its own files. A table is also a 2-D NumPy array or an iterable of equally long rows, whose columns
        are called `1`, `2`, …; it is never a folder, fastText or plain lines.
    labels, weights : column or iterable, optional
        One per text, where ``source`` is a column or an iterable of texts; one per row of a table in
        memory, where they are not among its columns.
    columns : dict, optional
        Read a table: every column, of a kind found from its type or from the first `BATCH_ROWS` rows,
        except those named here, which are one of `KINDS`. An empty dict names none.
    schema : Schema, optional
        Read a table: these columns, by name and as their kinds; those of an array by their order. Columns
        that it does not name are left out.
    like : Schema, optional
        The columns of an earlier source of texts: those are read where they are there and no others are
        named. A model has them in `TextModel.schema`.
    before : dict, optional
        How the files of a model's training were read (`ReadOptions.remembered`); so are these, where no
        option says otherwise. A model has it in ``info["reading"]``.
    keep_rows : bool or list of str
        Whether `Source.with_rows` has all columns, as they came; or which of them it has.
    text : str or list of str, optional
        The name of the column of texts, or the key. ``"subject+body"`` joins two columns to one text, by a
        newline, unless there is a column of just that name. ``"ticket.body"`` is a field within a field of
        JSON and Parquet, unless there is a column of just that name. Several names are texts of several
        fields, each with words of its own. If none is given, it is the first there is of those in
        `columns.TEXT_NAMES`, in upper or lower case. Files without a header have columns `1`, `2`, ….
    label, weight : str, optional
        Names of these columns. A label that is not named is that of the schema, or else the first of
        `columns.LABEL_NAMES`; a weight is never guessed. Several names of labels are indicators: 1 where a
        row has the label, 0 or nothing where not.
    label_separator : str, optional
        What stands between the labels of a row, such as ``|``. Lists of labels, indicators and several
        ``__label__`` on a line need none. A set of labels is then one label of the batch:
        see `textodds.data.label_sets`. ``several_labels`` says that rows may have several.
    format : str, optional
        One of `files.FORMATS`; otherwise the name of a file tells, or else its first bytes.
    query : str, optional
        SQL for the database file ``source``, or for DuckDB in memory.
    quoting, header : bool
        Whether CSV and TSV files quote fields with `"`, and begin with the names of their columns.
    encoding : str, optional
        The encoding of files of text that are not in UTF-8: ``cp1252``, ``latin-1``, ``utf-16``, …. Files,
        not stdin, are read in that of a model's training where ``before`` has one; ``utf-8`` says otherwise.
    sheet : str or int, optional
        The sheet of an Excel file, by its name or its number from 1; the first otherwise.
    labelled : bool
        Whether every row must have a label. If not, batches have labels only where ``label`` or
        ``labels`` says so.
    bad_rows : "stop" or "skip"
        Whether the first bad row raises `BadRow`, or bad rows are left out and counted. Bad is a row that
        cannot be taken apart, or whose text is null or not UTF-8, whose label is null or empty, or whose
        weight is not a number from 0 to 2^32. An empty text is a document like any other; of columns that
        are joined, a null is empty unless all of a row are null. In a table bad is also a value in a column
        of numbers that is no number or beyond 1e100 in size.
    rejects_path : path, optional
        The file for skipped rows, with their reasons; otherwise they are not kept. It is made when there
        is a first one to write, and made anew in every pass.

    Labels become text: 3 and 3.0 become ``"3"``, True becomes ``"true"``; ``source.label_type`` has the type
    that they had, with which a model answers. So do categories of a table, the
    text ``"3.0"`` included. In a table a value is missing where it is null or NaN, or one of the strings
    in `arrow.MISSING`; that is never bad, and a text that is missing is empty. Files and options that cannot
    be used raise here; what lies in the files raises when the source is iterated.

    Examples
    --------
    >>> [(batch.texts, batch.labels) for batch in read(["win a phone", "see you at six"], ["spam", "ham"])]
    [(['win a phone', 'see you at six'], ['spam', 'ham'])]

    >>> table = {"size": [1.5, 2.0, 4.0], "colour": ["red", None, "blue"]}
    >>> source = read(table, ["a", "b", "a"], columns={})
    >>> [(column.name, column.kind, column.why) for column in source.schema.columns]
    [('size', 'number', 'numbers, 3 different'), ('colour', 'category', '2 different values')]
    >>> [(batch.columns["size"].tolist(), batch.label_list()) for batch in source]
    [([1.5, 2.0, 4.0], ['a', 'b', 'a'])]
    """
    how = ReadOptions.of(options)
    is_table = columns is not None or schema is not None
    is_as_it_is = labels is None and weights is None and not is_table and how == ReadOptions()
    if isinstance(source, Source) and is_as_it_is:
        return source
    if is_table and how.text is not None:
        raise InputError(
            "`text` names the one column of texts, but all columns of a table are read",
            hint="leave it out, or say what the column is: `--columns NAME=text` (columns={'NAME': 'text'})",
        )
    request: ColumnRequest
    if is_table:
        is_beside = labels is not None
        if how.label_sets is not None:
            raise InputError(
                "several labels a row are for texts, and this is a table",
                hint="name the column of texts: `--text COLUMN` (text='COLUMN')",
            )
        label = how.label if isinstance(how.label, str) else None
        request = TableRequest(
            label, how.weight, columns=columns, schema=schema, labelled=labelled, labels_beside=is_beside
        )
        _refuse_two_weights(how, weights)
    else:
        how = how.with_labels_of(before or {}) if labelled else how
        sets = how.label_sets or (LabelSets() if several_labels else None)
        label = how.label if isinstance(how.label, str) else None
        request = ColumnRequest(
            how.text_names, label, how.weight, label_sets=sets, like=like, labelled=labelled
        )
    request.keep(keep_rows)
    opened = _opened(source, labels, weights, how, request, before, options)
    opened.keep(keep_rows)  # of a folder or texts in memory, whose request is another
    opened.takes_label_sets = several_labels
    return opened


def _opened(
    source: object,
    labels: object,
    weights: object,
    how: ReadOptions,
    request: ColumnRequest,
    before: Mapping[str, object] | None,
    options: Mapping[str, object],
) -> Source:
    """The source of what is asked for."""
    source, first = _begun(source)
    paths = _paths_of(source, first)
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
        return _query_source(paths, how, request)
    if paths is not None:
        refuse("a file", labels=labels, weights=weights)
        return _file_source(
            paths,
            how,
            request,
            {name: value for name, value in (before or {}).items() if options.get(name) is None},
        )
    refuse("not a file", **how.of_files)
    from textodds.data import objects

    return objects.object_source(source, first, labels, weights, request, how.rejects())


def _refuse_two_weights(how: ReadOptions, weights: object) -> None:
    if how.weight is not None and weights is not None:
        raise InputError(
            "`weight` names a column, but weights are given beside the table",
            hint="leave out one of the two",
        )


def _begun(source: object) -> tuple[Any, object]:
    """``source``, and its first item that is not null if it is an iterable of Python objects.

    What was taken from an iterator is put back in front of it.
    """
    if isinstance(source, (str, bytes, os.PathLike, Mapping)):
        return source, None
    from textodds.data import frames

    if frames.speaks_arrow(source):
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


def _paths_of(source: Any, first: object) -> list[str] | None:
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


def _encoding_notes(file: File, asked: ReadOptions, how: ReadOptions) -> list[str]:
    """What to say where a file, or a folder of files, is read in the encoding of training."""
    if asked.encoding == how.encoding:
        return []
    from textodds.data.encoding import is_utf8

    note = f"read as in training: `--encoding {how.encoding}`"
    if files.is_folder(file.path) or not is_utf8(files.head(file.path)):
        return [note]
    return [f"{note}, though {file.name} looks like UTF-8; if it is: `--encoding utf-8`"]


def _file_source(
    paths: list[str], how: ReadOptions, request: ColumnRequest, before: Mapping[str, object]
) -> Source:
    """The source of what ``paths`` mean: files, patterns, one folder, or one pipe."""
    encoded = how.in_encoding_of(before)
    found = [encoded.file(path) for given in paths for path in files.found(given)]
    folders = [file for file in found if files.is_folder(file.path)]
    if folders and (how.format == "mail" or (how.format is None and all(map(_is_mail_folder, found)))):
        return _mail_source(found, how, request)
    if len(found) == 1 and folders and how.format in (None, "folder"):
        notes = _encoding_notes(found[0], how, encoded)
        return _folder_source(found[0].path, encoded, request, notes)
    for file in found:
        if files.is_folder(file.path):
            raise files.folder_instead(file.name)
        if how.format == "folder":
            raise BadFile(f"`{file.name}` is a file, not a folder", hint="leave out `--format` (format=)")
    if any(file.is_pipe for file in found):
        if len(found) > 1:
            raise InputError("a pipe cannot be read together with other files", hint="join them with `cat`")
        return _pipe_source(how.file(found[0].path), how, request, before)

    formats = [_format_of(file, _format_before(file, how, before), request) for file in found]
    if set(formats) == {"mail"}:
        return _mail_source(found, how, request)
    if "database" in formats and isinstance(query := before.get("query"), str):
        raise InputError(
            f"the model was trained by a query, and `{found[formats.index('database')].name}` comes without",
            hint=f"give it again, if it is as you want it: --query {shlex.quote(query)}",
        )
    asked, how = how, (encoded if set(formats) & set(files.STREAMED) else how).in_form_of(formats, before)
    notes = _encoding_notes(found[0], asked, how)
    notes += [f"read as in training: `--no-{name}`" for name in FORM if vars(asked)[name] != vars(how)[name]]
    notes += [
        f"read as in training: `--format {formats[0]}`"
        for _ in formats[:1]
        if _is_before(found[0], asked, before)
    ]
    _refuse_dialect(how, formats)
    rejects = how.rejects()
    rejects.refuse_to_overwrite(file.path for file in found)
    by_name = {file.name: file for file in found}
    rejects.advise = lambda where, row: files.encoding_hint(by_name[where], row)

    def parts(rejects: Rejects, progress: Position) -> Parts:
        for file, format_ in zip(found, formats, strict=True):
            yield from _file_parts(file, format_, how, request, rejects, progress)
            progress.finish(file.size)

    description = found[0].name if len(found) == 1 else f"{len(found):,} files"
    begun = files.head(found[0].path) if request.keeps_rows and formats[0] in files.DELIMITED else b""
    dialect = Dialect(formats[0], how.quoting, how.header, begun)
    size = sum(file.size for file in found)
    return Source(request, description, parts, rejects, size=size, notes=notes, dialect=dialect)


def _is_before(file: File, how: ReadOptions, before: Mapping[str, object]) -> bool:
    """Whether the format of a file is that of training, since its name says what that of training did."""
    if how.format is not None or before.get("format") not in files.FORMATS:
        return False
    return before.get("named") == files.format_of_name(file.name)


def _format_before(file: File, how: ReadOptions, before: Mapping[str, Any]) -> ReadOptions:
    return replace(how, format=before["format"]) if _is_before(file, how, before) else how


def _format_of(file: File, how: ReadOptions, request: ColumnRequest) -> str:
    """The format of ``file``: as said, by its name, or by its content; checked to make sense."""
    format_ = how.format or files.format_of_name(file.name)
    if format_ is None:
        format_ = files.format_of_content(file, tabular=request.is_tabular)
    if format_ in ("fasttext", "lines"):
        request.refuse_names(f"`{file.name}`, read as {format_},")
    if format_ == "lines" and request.reads_labels:
        raise InputError(
            f"`{file.name}` is read as plain lines, which have no labels",
            hint="write `__label__spam text` on each line and read it with `--format fasttext`",
        )
    return format_


def _file_parts(
    file: File,
    format_: str,
    how: ReadOptions,
    request: ColumnRequest,
    rejects: Rejects,
    progress: Position,
) -> Parts:
    """What one file holds."""
    if format_ == "jsonl":
        from textodds.data import jsonl

        return jsonl.parts(file, request, rejects, progress)
    if format_ == "mail":
        from textodds.data import mail

        return mail.parts([file], request, progress)
    if format_ == "excel":
        from textodds.data import excel

        return excel.parts(file, how.sheet, request, header=how.header)
    if format_ == "parquet":
        from textodds.data import parquet

        return parquet.parts(file, request, progress)
    if format_ == "database":
        from textodds.data import database

        return database.parts(file, None, request)
    from textodds.data import lines

    return lines.parts(file, Dialect(format_, how.quoting, how.header), request, rejects, progress)


def _query_source(paths: list[str] | None, how: ReadOptions, request: ColumnRequest) -> Source:
    """The source of the rows of a query to a database file, or to DuckDB in memory."""
    from textodds.data import database

    file = None
    if paths is not None:
        found = [path for given in paths for path in files.found(given)]
        if len(found) > 1:
            raise InputError(f"a query reads one database, and there are {len(found):,} files")
        file = files.named(found[0])
        if files.is_folder(file.path):
            raise files.folder_instead(file.name)
        if files.format_of_name(file.path) in ("csv", "tsv", "jsonl", "parquet"):
            raise InputError(
                f"a query reads a database, and `{file.name}` is not one",
                hint=f"name the file in the query, and leave it out before: `SELECT … FROM '{file.name}'`",
            )
    description = "a query" if file is None else f"a query to {file.name}"
    rejects = how.rejects()
    return Source(request, description, lambda *_: database.parts(file, str(how.query), request), rejects)


def _folder_source(path: str, how: ReadOptions, request: ColumnRequest, notes: list[str]) -> Source:
    from textodds.data import folder

    request.refuse_names(f"`{path}`, a folder of documents,")
    labelled = request.reads_labels
    _refuse_dialect(how, ["folder"])

    def parts(rejects: Rejects, progress: Position) -> Parts:
        return folder.parts(path, progress, labelled=labelled, encoding=how.file(path).encoding)

    rejects = how.rejects()
    rejects.advise = lambda where, row: files.encoding_hint(how.file(where), row)
    return Source(ColumnRequest.without_names(), path, parts, rejects, size=folder.size(path), notes=notes)


def _is_mail_folder(file: File) -> bool:
    if not files.is_folder(file.path):
        return False
    from textodds.data import mail

    return mail.is_mail_folder(file.path)


def _mail_source(found: list[File], how: ReadOptions, request: ColumnRequest) -> Source:
    """The source of the messages in files and folders."""
    from textodds.data import mail

    _refuse_dialect(how, ["mail"])
    groups = [
        (mail.in_folder(file.path), file.path) if files.is_folder(file.path) else ([file], None)
        for file in found
    ]

    def parts(rejects: Rejects, progress: Position) -> Parts:
        for below, each in itertools.groupby(groups, key=lambda group: group[1]):
            yield from mail.parts([file for group, _ in each for file in group], request, progress, below)

    description = found[0].name if len(found) == 1 else f"{len(found):,} files"
    size = sum(file.size for group, _ in groups for file in group)
    return Source(request, description, parts, how.rejects(), size=size)


def _pipe_source(
    pipe: File, how: ReadOptions, request: ColumnRequest, before: Mapping[str, object]
) -> Source:
    """The source of a pipe: as it comes if its format is known, else by way of a temporary file.

    The temporary file is what allows to look at the first bytes; it can also be read twice.
    """
    known = how.format or files.format_of_name(pipe.name)
    notes, begun = [], b""
    if known is None and pipe.path == files.STDIN and request.is_of_texts and not request.labelled:
        from textodds.data import stdin

        begun = stdin.unpacked(stdin.beginning())
        known, shows = stdin.format_of(begun, request.wanted) or (None, "")
        if known is not None:
            notes = [f"stdin is read as {known}: {shows}; `--format lines` reads every line as a text"]
        elif not request.is_tabular:
            known = "lines"  # where there need be no labels
            if begun.partition(b"\n")[0].strip().decode(errors="replace") in request.wanted:
                notes = [
                    "the first line of stdin is a text, though a column is called so; or: `--format csv`"
                ]
    rejects = how.rejects()
    rejects.advise = lambda where, row: files.encoding_hint(pipe, row)
    if known in files.STREAMED:
        how = replace(how, format=known).in_form_of([known], before)
        format_ = _format_of(pipe, how, request)
        _refuse_dialect(how, [format_])
        return Source(
            request,
            pipe.name,
            lambda rejects, progress: _file_parts(pipe, format_, how, request, rejects, progress),
            rejects,
            replayable=False,
            notes=notes,
            dialect=Dialect(format_, how.quoting, how.header, begun),
        )
    spool = Spool(pipe)

    def parts(rejects: Rejects, progress: Position) -> Parts:
        format_ = _format_of(spool.file, how, request)
        file = spool.named_file if format_ == "database" else spool.file
        return _file_parts(file, format_, how.in_form_of([format_], before), request, rejects, progress)

    return Source(request, pipe.name, parts, rejects, notes=notes)


def _refuse_dialect(how: ReadOptions, formats: list[str]) -> None:
    """Fail for an option that none of the formats has."""
    for option, is_given, having, what in (
        ("quoting", not how.quoting, files.DELIMITED, "CSV and TSV"),
        ("header", not how.header, (*files.DELIMITED, "excel"), "CSV, TSV and Excel"),
        ("encoding", how.encoding is not None, (*files.STREAMED, "folder"), "files of text"),
        ("sheet", how.sheet is not None, ("excel",), "Excel"),
    ):
        if is_given and not set(formats) & set(having):
            written = f"--no-{option}" if option in ("quoting", "header") else f"--{option}"
            raise InputError(
                f"`{option}` is for {what}, and the source is in the format {formats[0]}",
                hint=f"leave out `{written}` ({option}=)",
            )
