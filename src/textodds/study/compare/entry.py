"""`textodds.compare`: from any source of labelled rows to a comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from textodds.data import Observer, ReadOptions, Source, read
from textodds.errors import InputError, NoData
from textodds.learn.recipe import SpelledLearner, spelled
from textodds.learn.registry import AUTO, LEARNERS, learner_named, names_of, resolved
from textodds.study.compare.comparison import Comparison
from textodds.study.compare.curves import usual_sizes
from textodds.study.compare.laboratory import REPEATS, Laboratory
from textodds.study.compare.measurement import Documents
from textodds.training.choose.candidates import SHAPE, Candidate
from textodds.training.choose.pool import Pool, TablePool, split
from textodds.training.labels import must_have_one_label
from textodds.training.plan import plan_of, textbook_learner, textbook_words, texts_or_table
from textodds.training.table_columns import kinds_of

FEWEST = 10
"""Rows to learn from, and rows to hold out, without which nothing can be compared."""


def compare(
    source: object,
    labels: object = None,
    *,
    test: object = None,
    test_labels: object = None,
    models: object = None,
    held_out: float = 0.2,
    sizes: Sequence[int] | None = None,
    repeats: int = REPEATS,
    budget: float | None = None,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    textbook: bool = False,
    threads: int | None = None,
    keep: str | os.PathLike[str] | None = None,
    observer: Observer | None = None,
    **options: object,
) -> Comparison:
    """A comparison of models on the same rows: quality, calibration, time and learning curves.

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
        learners. Smoothing is chosen by leaving out one text at a time. ``"auto"`` is what `train` chooses
        from the same rows. By default all learners that there are and, of texts, ``"auto"``; unless
        ``textbook``, which chooses nothing.
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
    textbook : bool, default False
        Whether learners choose and calibrate nothing, as in `textodds.train`.
    keep : path, optional
        A file in which every measurement is kept as it comes. A later call with the same data goes on from
        there.
    observer : Observer, optional
        Receives the progress.

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
    said = plan_of(None, None, {}, columns=columns, textbook=textbook).columns or {}
    pool, about = rows_of_source(source, labels, reading, models, said, observer, textbook=textbook)
    candidates = candidates_for(pool, models, reading, textbook=textbook)
    others = vars(reading.of_other_data())
    if test is None:
        if not 0 < held_out < 1:
            raise InputError(
                f"the share to hold out cannot be {held_out:g}", hint="give one between 0 and 1, such as 0.2"
            )
        learned, held = split(pool.codes, held_out, seed)
        pool, asked = pool.at(learned), pool.at(held)
        told = f"{100 * held_out:g} % of every class, drawn with seed {seed}"
    elif isinstance(pool, TablePool):
        asked, told = _table(read(test, test_labels, schema=pool.schema, **others), said, observer)
    else:
        asked, told = _texts(read(test, test_labels, **others), observer)
    must_do(pool, asked)
    points = _sizes(sizes, pool)
    how = repeats, seed, budget, threads, keep
    work = Laboratory(pool, asked, candidates, about, told, points, *how)
    try:
        work.run(observer.task)
    except KeyboardInterrupt:
        found = work.comparison()
        if not found.rows:
            raise
        return replace(found, is_stopped=True)
    return work.comparison()


def rows_of_source(
    source: object,
    labels: object,
    reading: ReadOptions,
    models: object,
    said: Mapping[str, str],
    observer: Observer,
    *,
    textbook: bool = False,
    group: bool = False,
) -> tuple[Documents, str]:
    """All texts or rows of a source, in memory, and what it is; refuses models that do not suit it.

    ``said`` is what columns are; with a ``group`` that does not make a table of it.
    """
    named = () if models is None else contenders(models, textbook=textbook)
    is_of_tables = any(not each.learner.entry.is_of_texts for each in named)
    columns = None if group and len(said) == 1 else said
    plan = plan_of("mixed" if is_of_tables else None, None, {}, columns=columns, textbook=textbook)
    _must_suit(named, of_tables=plan.is_of_tables)  # refused before all is read

    def of_rows() -> tuple[Documents, str]:
        return _table(read(source, labels, columns=kinds_of(said), **vars(reading)), said, observer)

    of_texts = partial(_texts, observer=observer)
    return texts_or_table(source, labels, None, reading, plan, of_texts=of_texts, of_rows=of_rows)


def candidates_for(
    pool: Documents, models: object, reading: ReadOptions, *, textbook: bool = False
) -> tuple[Candidate, ...]:
    """The models that are named, or else all that learn from such rows, as these are read."""
    of_tables = isinstance(pool, TablePool)
    named = _usual(of_tables=of_tables, textbook=textbook) if models is None else models
    candidates = contenders(named, textbook=textbook)
    _must_suit(candidates, of_tables=of_tables)
    if of_tables:
        return tuple(map(_of_columns, candidates))
    return tuple(replace(each, words={**each.words, **reading.fields}) for each in candidates)


def _usual(*, of_tables: bool, textbook: bool) -> tuple[str, ...]:
    """What is compared where nothing is named: all learners, and last what `train` chooses among them."""
    names = names_of(tables=of_tables, texts=not of_tables)
    return names if of_tables or textbook else (*names, AUTO)


def contenders(models: object, *, textbook: bool = False) -> tuple[Candidate, ...]:
    """The candidates that are named, as textbooks have them if so.

    ``models`` are names separated by commas, each perhaps with settings after colons, or a list of such
    names and of learners.

    >>> [found.name for found in contenders("bernoulli, softmax:ngrams=1-2:C=10")]
    ['bernoulli', 'softmax:ngrams=1-2:C=10']
    """
    found: list[Candidate] = []
    for each in [models] if isinstance(models, str) or not isinstance(models, Iterable) else models:
        if not isinstance(each, str):
            learner = resolved(each)
            settings = (f"{name}={value}" for name, value in learner.settings().items())
            name = ":".join([learner.entry.name, *settings])
            found.append(Candidate(name, learner, learner.entry.usual))
        elif each.strip(", "):
            found += map(_as_written, spelled(each, side_by_side=True))
    if not found:
        raise InputError("no model is named", hint=f"name some of {', '.join(names_of())}")
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the model `{name}` is named twice", hint="leave out one of the two")
    return tuple(map(_of_textbook, found)) if textbook else tuple(found)


def _of_textbook(candidate: Candidate) -> Candidate:
    """The candidate with nothing to choose."""
    if candidate.is_open:
        raise InputError(
            "`textbook` chooses nothing, and `auto` would choose", hint="leave out one of the two"
        )
    learner = textbook_learner(candidate.learner)
    usual = learner.entry.usual.items()  # pairs of words, which are not said by the user
    words = {name: value for name, value in candidate.words.items() if (name, value) not in usual}
    if learner.entry.is_of_texts:
        words = dict(textbook_words(learner, words))
    return replace(candidate, learner=learner, words=words, textbook=True)


def _as_written(given: SpelledLearner) -> Candidate:
    if given.text == AUTO:
        return Candidate(AUTO, learner_named("multinomial"), features=AUTO)
    if given.name not in LEARNERS:
        raise InputError(f"`{given.name}` is not a model that can be compared", hint="name learners")
    entry = LEARNERS[given.name]
    learner = given.learner()
    # Features are those of the learner at every size of a learning curve, rather than chosen.
    usual = {} if any(key in given.words for key in SHAPE) else entry.usual
    candidate = Candidate(given.text, learner, {**given.words, **usual})
    if entry.is_of_texts:
        _ = candidate.recipe  # refuses now what there is not
    elif candidate.words and entry.name != "mixed":
        raise InputError(
            f"{entry.name} has no {next(iter(candidate.words))}",
            hint="it learns from tables, not from texts",
        )
    return candidate


def _of_columns(candidate: Candidate) -> Candidate:
    """The candidate for a table: of a learner of texts too, without what is usual of its texts."""
    learner, words = candidate.learner, candidate.words
    if learner.entry.name == "mixed":
        return candidate
    usual = textbook_words(learner, {}) if candidate.textbook else learner.entry.usual
    own = [name for name, value in words.items() if usual.get(name) != value]
    if own:
        raise InputError(
            f"`{own[0]}` is about texts, and the data has no column of texts", hint=f"leave out `{own[0]}`"
        )
    return replace(candidate, words={})


def _must_suit(candidates: Iterable[Candidate], *, of_tables: bool) -> None:
    """Refuse what does not learn from tables, or from texts."""
    usual = names_of(tables=of_tables, texts=not of_tables)
    for each in candidates:
        name = each.learner.entry.name
        if of_tables and each.is_open:
            raise InputError(
                "`auto` chooses a model of texts", hint="of tables `train` takes mixed: name that"
            )
        if of_tables and name not in usual:
            raise InputError(
                f"{name} learns from texts, and the data has no column of texts",
                hint=f"name some of {', '.join(usual)}, or the column: `--text COLUMN` (text='COLUMN')",
            )
        if name not in usual:
            raise InputError(
                f"{name} does not learn from labelled texts", hint=f"name some of {', '.join(usual)}"
            )


def _texts(data: Source, observer: Observer) -> tuple[Documents, str]:
    """The texts of a source, in memory, and what it is."""
    must_have_one_label(data, "compare", "`train` each model, and `evaluate` it on the same data")
    return Pool.whole(observer.watched(data, data.ahead(), "reading")), data.description


def _table(data: Source, said: Mapping[str, str], observer: Observer) -> tuple[Documents, str]:
    """The rows of a source, in memory, and what it is."""
    rows = list(observer.watched(data, data.ahead(), "reading"))  # in the pass that finds the schema
    return TablePool.whole(rows, data.schema, said), data.description


def must_do(pool: Documents, test: Documents) -> None:
    """Refuse so little data, or so few classes, that nothing could be said."""
    for what, some in (("learn from", pool), ("hold out", test)):
        if len(some) < FEWEST:
            raise NoData(
                f"there are {len(some)} {pool.noun}s to {what}, and at least {FEWEST} are needed",
                hint="give more data; of so little, every model would look as good as any other",
            )
    if len(pool.classes) < 2:
        raise NoData(
            f"every {pool.noun} to learn from is of the class `{pool.classes[0]}`",
            hint="give rows of two classes or more, or name another column with `--label` (label=)",
        )


def _sizes(sizes: Sequence[int] | None, pool: Documents) -> tuple[int, ...]:
    """The sizes that are wanted, in order, and all documents, which every curve ends with."""
    n_classes = len(pool.classes)
    if sizes is None:
        return usual_sizes(len(pool), n_classes)
    for size in sizes:
        if not n_classes <= size <= len(pool):
            raise InputError(
                f"a learning curve cannot have a point at {size:,} {pool.noun}s",
                hint=f"give sizes from {n_classes:,}, one of each class, to {len(pool):,}",
            )
    return tuple(sorted({*sizes, len(pool)}))
