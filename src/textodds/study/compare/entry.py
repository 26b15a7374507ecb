"""`textodds.compare`: from any source of labelled rows to a comparison."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from textodds.data import Observer, ReadOptions, Source, read
from textodds.errors import InputError, NoData
from textodds.learn.labelled_rows import coded
from textodds.study.compare.comparison import Comparison
from textodds.study.compare.contenders import are_of_tables, contenders
from textodds.study.compare.laboratory import REPEATS, Laboratory
from textodds.study.compare.rows import Rows, TableRows, TextRows
from textodds.study.compare.splits import held_out as held_out_rows
from textodds.study.compare.splits import usual_sizes
from textodds.training.plan import Plan, plan_of, texts_or_table
from textodds.training.table_columns import kinds_of

FEWEST = 10
"""Rows to learn from, and rows to hold out, without which nothing can be compared."""


def compare(
    source: Any,
    labels: Any = None,
    *,
    test: Any = None,
    test_labels: Any = None,
    models: Any = None,
    held_out: float = 0.2,
    sizes: Sequence[int] | None = None,
    repeats: int = REPEATS,
    budget: float | None = None,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    keep: str | os.PathLike[str] | None = None,
    observer: Observer | None = None,
    **options: Any,
) -> Comparison:
    """Models side by side on the same rows: how good, how sure, how fast, and how fast they learn.

    All rows are read into memory.

    Parameters
    ----------
    source, labels, **options
        The data and how it is read, as for `textodds.train`; texts or, where no column is one of texts, a
        table.
    test, test_labels : optional
        Data to measure on. Otherwise a share of every class, ``held_out``, is taken from ``source``.
    models : str or list, optional
        Learners by name, perhaps with settings, such as ``"multinomial, softmax:ngrams=1-2:C=10"``, or
        learners; by default all that there are. Smoothing is chosen by leaving out one text at a time.
    sizes : sequence of int, optional
        Rows that learning curves are made of; by default 20, 50, 100, … . An empty one leaves them out.
    repeats : int, default 5
        How often each size is drawn anew.
    budget : float, optional
        Seconds that learning curves may take; by default twice as long as the models of all rows took, and
        half a minute at least. Each size comes once before any comes twice; what would take
        too long is skipped, and `Comparison.missing` says so.
    seed : int, default 0
        Of the rows that are held out, and of those that learning curves begin with.
    columns : dict, optional
        What the columns of a table are; see `textodds.training.tables.train_table`.
    keep : path, optional
        A file in which every measurement is kept as it comes. A later call with the same data goes on from
        there.
    observer : Observer, optional
        Is told how far it has come.

    Returns
    -------
    Comparison
        Stopped with Ctrl-C once a model is measured, it is of what was found so far, and not whole.

    Examples
    --------
    >>> texts = ["free phone", "win a prize", "see you at six", "lunch at noon"] * 20
    >>> found = compare(texts, ["spam", "spam", "ham", "ham"] * 20, models="multinomial, softmax", sizes=())
    >>> [(row.name, row.evaluation.accuracy) for row in found.rows]
    [('softmax', 1.0), ('multinomial', 1.0)]
    >>> print(found.verdicts()[0])
    multinomial and softmax cannot be told apart on these 16 texts (difference -10.9 to 10.9 points)
    """
    reading, observer = ReadOptions.of(options), observer or Observer()
    plan = plan_of("mixed" if are_of_tables(models) else None, None, {}, columns=columns)
    if models is not None:  # refuses before all is read what there is not
        contenders(models, of_tables=plan.is_of_tables)
    rows, about = _rows_of(source, labels, reading, plan, observer)
    test_rows, test_about = None, ""
    if test is not None:
        test_rows, test_about = _rows_like(rows, test, test_labels, reading.of_other_data(), observer)
    work = prepared(
        rows,
        test_rows,
        source=about,
        test_source=test_about,
        models=models,
        share=held_out,
        sizes=sizes,
        repeats=repeats,
        budget=budget,
        seed=seed,
        threads=threads,
        keep=keep,
    )
    try:
        work.run(observer.task)
    except KeyboardInterrupt:
        found = work.comparison()
        if not found.rows:
            raise
        return replace(found, is_stopped=True)
    return work.comparison()


def _rows_of(
    source: Any, labels: Any, reading: ReadOptions, plan: Plan, observer: Observer
) -> tuple[Rows, str]:
    """The rows of a source, and what it is: texts or, where there is no column of texts, those of a table."""
    said = plan.columns or {}

    def of_texts(data: Source) -> tuple[Rows, str]:
        return _in_memory(data, said, observer)

    def of_rows() -> tuple[Rows, str]:
        table = read(source, labels, columns=kinds_of(said), **vars(reading))
        return _in_memory(table, said, observer)

    return texts_or_table(source, labels, None, reading, plan, of_texts=of_texts, of_rows=of_rows)


def _rows_like(
    rows: Rows, source: Any, labels: Any, reading: ReadOptions, observer: Observer
) -> tuple[Rows, str]:
    """The rows of another source, read in the same way, and what it is."""
    if isinstance(rows, TextRows):
        return _in_memory(read(source, labels, **vars(reading)), {}, observer)
    return _in_memory(read(source, labels, schema=rows.schema, **vars(reading)), rows.said, observer)


def _in_memory(source: Source, said: Mapping[str, str], observer: Observer) -> tuple[Rows, str]:
    batches: Any = observer.watched(source, source.ahead(), "reading")
    if source.is_of_texts:
        return TextRows.of(batches), source.description
    return TableRows.of(list(batches), source.schema, said), source.description


def prepared(
    rows: Rows,
    test: Rows | None,
    *,
    source: str,
    models: Any = None,
    share: float = 0.2,
    sizes: Sequence[int] | None = None,
    seed: int = 0,
    test_source: str = "",
    **choices: Any,
) -> Laboratory:
    """The laboratory of rows in memory, of which a share is held out if there are no others to ask about."""
    chosen = contenders(models, of_tables=isinstance(rows, TableRows))
    told = test_source
    if test is None:
        if not 0 < share < 1:
            raise InputError(
                f"the share to hold out cannot be {share:g}", hint="give one between 0 and 1, such as 0.2"
            )
        learned, asked = held_out_rows(coded(rows.labels)[1], share, seed)
        rows, test = rows.at(learned), rows.at(asked)
        told = f"{100 * share:g} % of every class, drawn with seed {seed}"
    for what, some in (("learn from", rows), ("hold out", test)):
        if len(some) < FEWEST:
            raise NoData(
                f"there are {len(some)} {rows.noun}s to {what}, and at least {FEWEST} are needed",
                hint="give more data; of so little, every model would look as good as any other",
            )
    classes = set(rows.labels)
    if len(classes) < 2:
        raise NoData(
            f"every {rows.noun} to learn from is of the class `{next(iter(classes))}`",
            hint="give rows of two classes or more, or name another column with `--label` (label=)",
        )
    wanted = usual_sizes(len(rows), len(classes)) if sizes is None else _sizes(sizes, rows, len(classes))
    return Laboratory(rows, test, chosen, source=source, held_out=told, sizes=wanted, seed=seed, **choices)


def _sizes(sizes: Sequence[int], rows: Rows, n_classes: int) -> tuple[int, ...]:
    """The sizes that are wanted, in order, and all rows, which every curve ends with."""
    for size in sizes:
        if not n_classes <= size <= len(rows):
            raise InputError(
                f"a learning curve cannot have a point at {size:,} {rows.noun}s",
                hint=f"give sizes from {n_classes:,}, one of each class, to {len(rows):,}",
            )
    return tuple(sorted({*sizes, len(rows)}))
