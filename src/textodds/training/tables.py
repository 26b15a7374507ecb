"""Training on tables: from any source of labelled rows to a model."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from textodds.data import Batch, Observer, ReadOptions, Source, read
from textodds.data.batch import joined_rows
from textodds.errors import InputError
from textodds.learn.registry import Learner, learner_named, name_of
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.learn.tables import MixedLearner
from textodds.model.tables.linear_table import LinearTableModel
from textodds.model.tables.table_model import TableModel, TableRecipe
from textodds.model.tables.table_tally import TableTally
from textodds.stats.corpus import MOST
from textodds.stats.rows import RowKeeper
from textodds.stats.sample import Reservoir, offer_rows
from textodds.training.plan import (
    OF_VECTORS,
    Plan,
    Running,
    nothing_in,
    plan_of,
    textbook_words,
    why_not_kept,
)
from textodds.training.table_columns import Columns, as_read, kinds_of
from textodds.training.table_scales import with_scales


def open_table(
    source: object, labels: object, weights: object, *, plan: Plan, reading: ReadOptions
) -> Source:
    """The source of a table, its columns read as a plan needs them."""
    learner = plan.table_learner()
    options = vars(reading)
    if plan.like is not None:
        return read(source, labels, weights, schema=plan.like.schema, **options)
    kinds = kinds_of(plan.columns or {})
    found = read(source, labels, weights, columns=kinds, **options)
    needed = {name: kind for name, kind in as_read(learner, found.schema).items() if name not in kinds}
    if needed and (not found.replayable or found.is_stdin):
        raise InputError(
            f"{found.description} can be read only once, and `{next(iter(needed))}` seems to be numbers",
            hint="say what it is: `--columns NAME=category` (columns={'NAME': 'category'})",
        )
    return read(source, labels, weights, columns={**kinds, **needed}, **options) if needed else found


def train_table(
    source: object,
    labels: object = None,
    weights: object = None,
    *,
    learner: object = None,
    columns: Mapping[str, str] | None = None,
    like: TableModel | None = None,
    typical: bool = False,
    words: Mapping[str, object] | None = None,
    textbook: bool = False,
    documents: bool = True,
    **reading: object,
) -> TableModel:
    """A model trained on any source of labelled rows: `textodds.train` where it is surely a table.

    Parameters
    ----------
    source, labels, weights, **reading
        The data; see `textodds.read`.
    learner : learner, default MixedNB()
        Which class-conditionals the columns have.
    columns : dict, optional
        What columns are, by name: ``number`` (Gaussian or intervals, whichever suits), ``gaussian``,
        ``bins``, ``category``, ``text`` or ``ignore``. The others are found by type.
    like : TableModel, optional
        Make all choices as this model did, so that the two can be merged.
    typical : bool, default False
        Whether to keep how surprising typical rows are; see `TableModel.familiarity`.
    words : dict, optional
        How the texts of text columns are cut and which words are kept, as in `textodds.train`:
        ``ngrams``, ``min_df`` and so on.
    textbook : bool, default False
        Whether to choose and to weigh nothing; see `textodds.train`.
    documents : bool, default True
        Whether the model keeps its rows, compactly; see `textodds.train`.

    Examples
    --------
    >>> table = {"height": [1.9, 1.8, 1.6, 1.7], "hair": ["short", "short", "long", "long"]}
    >>> model = train_table(table, ["m", "m", "f", "f"])
    >>> model({"height": 1.85, "hair": "short"}).label
    'm'
    """
    chosen = None if like is not None else learner  # which is that of the other model
    how: Running = {"typical": typical, "textbook": textbook, "documents": documents}
    plan = plan_of(chosen, None, words or {}, columns=columns, like=like, **how)
    options = ReadOptions.of(reading)
    return train_table_on(open_table(source, labels, weights, plan=plan, reading=options), plan)


def train_table_on(source: Source, plan: Plan, observer: Observer | None = None) -> TableModel:
    """A model trained on an opened source of rows."""
    learner = plan.table_learner()
    if plan.learner is None and source.schema.names("vector") and not plan.textbook:
        learner = learner_named(OF_VECTORS)
    batches = source.ahead() if source.is_stdin else source  # rows are large: none is read ahead
    passing = iter((observer or Observer()).watched(source, batches, "learning"))
    if plan.like is not None:
        recipe = replace(plan.like.recipe, calibrate=plan.like.recipe.calibrate and plan.calibrate)
    else:
        first, passing = _begun(passing, source)
        said = dict(plan.columns or {})
        if plan.textbook and isinstance(learner, MixedLearner):  # no number is cut into intervals
            said |= dict.fromkeys(source.schema.names("number"), "gaussian")
        columns = Columns(source.schema, first, said, _words(plan, learner))
        blocks, choices = columns.blocks(learner)
        weighs = isinstance(learner, MixedLearner) and learner.calibrate
        name = name_of(learner)
        linear = learner if isinstance(learner, SoftmaxLearner) else None
        flags = plan.calibrate, weighs, linear
        recipe = TableRecipe(source.schema, name, blocks, choices, learner.prior, *flags)
    # Softmax regression learns from all rows at once, be they kept in the model or not.
    sample, keeper = Reservoir(), RowKeeper(recipe.kinds, **({"most": None} if recipe.linear else {}))
    passing = _sampled(keeper.passed(passing), sample)
    tally = TableTally.count(passing, recipe.blocks, threads=plan.threads, memory=plan.bytes)
    info = {"source": source.description, "documents": tally.n_documents, "rejected": source.rejects.count}
    info |= {"textbook": True} if plan.textbook else {}
    if recipe.linear is None:
        model = TableModel(recipe, tally, info)
        model.corpus = keeper.rows()
    else:
        rows = keeper.rows()
        assert rows is not None  # which it is only of more than it may keep
        if plan.like is None:
            recipe = with_scales(recipe, tally, rows)
        model = LinearTableModel.trained(recipe, tally, rows, info, observer)
    model.labels = source.label_type
    model.find(sample.kept, typical=plan.typical)
    is_large = recipe.linear is not None and model.corpus is not None and model.corpus.size > MOST
    if plan.documents and (tally.is_pruned or not model.has_documents or is_large):
        model.info["not_kept"] = why_not_kept(tally.is_pruned)
    if not plan.documents or tally.is_pruned or is_large:
        model.corpus = None
    return model


def _words(plan: Plan, learner: Learner) -> Mapping[str, object]:
    """What was said of texts, without what textbooks have of the texts of a learner."""
    usual = textbook_words(learner, {}) if plan.textbook else {}
    return {name: value for name, value in plan.words.items() if usual.get(name) != value}


def _begun(batches: Iterator[Batch], source: Source) -> tuple[Batch, Iterator[Batch]]:
    """Some rows to choose by, and all of the rows."""
    taken: list[Batch] = []
    rows = 0
    for batch in batches:
        taken.append(batch)
        rows += len(batch)
        if rows >= 16_384:
            break
    if not taken:
        raise nothing_in(source)
    return joined_rows(taken) if len(taken) > 1 else taken[0], itertools.chain(taken, batches)


def _sampled(batches: Iterable[Batch], sample: Reservoir) -> Iterator[Batch]:
    for batch in batches:
        offer_rows(sample, batch)
        yield batch
