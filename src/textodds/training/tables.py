"""Training on tables: from any source of labelled rows to a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from textodds.data import Batch, Observer, Source, read
from textodds.data.batch import joined_rows
from textodds.errors import InputError, NoData
from textodds.learn.registry import name_of
from textodds.learn.tables import MixedLearner
from textodds.model.table_model import TableModel, TableRecipe
from textodds.model.table_tally import TableTally
from textodds.stats.reservoir import Reservoir, offer_rows
from textodds.training.plan import Plan, plan_of
from textodds.training.table_columns import as_read, blocks_of, kinds_of


def open_table(source: Any, labels: Any = None, weights: Any = None, *, plan: Plan, **reading: Any) -> Source:
    """The source of a table, its columns read as a plan needs them."""
    learner: Any = plan.table_learner()
    if plan.like is not None:
        return read(source, labels, weights, schema=plan.like.schema, **reading)
    kinds = kinds_of(plan.columns or {})
    found = read(source, labels, weights, columns=kinds, **reading)
    needed = {name: kind for name, kind in as_read(learner, found.schema).items() if name not in kinds}
    if needed and (not found.replayable or found.is_stdin):
        raise InputError(
            f"{found.description} can be read but once, and `{next(iter(needed))}` seems to be numbers",
            hint="say what it is: `--columns NAME=category` (columns={'NAME': 'category'})",
        )
    return read(source, labels, weights, columns={**kinds, **needed}, **reading) if needed else found


def train_table(
    source: Any,
    labels: Any = None,
    weights: Any = None,
    *,
    learner: Any = None,
    columns: Mapping[str, str] | None = None,
    like: TableModel | None = None,
    typical: bool = False,
    words: Mapping[str, Any] | None = None,
    **reading: Any,
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

    Examples
    --------
    >>> table = {"height": [1.9, 1.8, 1.6, 1.7], "hair": ["short", "short", "long", "long"]}
    >>> model = train_table(table, ["m", "m", "f", "f"])
    >>> model({"height": 1.85, "hair": "short"}).label
    'm'
    """
    chosen = None if like is not None else learner  # which is that of the other model
    plan = plan_of(chosen, None, words or {}, columns=columns, like=like, typical=typical)
    return train_table_on(open_table(source, labels, weights, plan=plan, **reading), plan)


def train_table_on(source: Source, plan: Plan, observer: Observer | None = None) -> TableModel:
    """A model trained on an opened source of rows."""
    learner: Any = plan.table_learner()
    batches = source.ahead() if source.is_stdin else source  # rows are large: none is read ahead
    passing = iter((observer or Observer()).watched(source, batches, "learning"))
    if plan.like is not None:
        recipe = plan.like.recipe
    else:
        first, passing = _begun(passing, source)
        blocks, choices = blocks_of(learner, source.schema, first, plan.columns or {}, plan.words)
        recipe = TableRecipe(source.schema, name_of(learner), blocks, choices, learner.prior)
    sample = Reservoir()
    tally = TableTally.count(
        _sampled(passing, sample), recipe.blocks, threads=plan.threads, memory=plan.bytes
    )
    info = {"source": source.description, "documents": tally.n_documents, "rejected": source.rejects.count}
    model = TableModel(recipe, tally, info)
    if plan.calibrate:
        if plan.like is None and isinstance(learner, MixedLearner) and learner.calibrate:
            model = model.calibrated(sample.kept)
        model.learn_held_out(sample.kept)
    if plan.typical:
        model.typical = model.typical_of(sample.kept, seen=True)
    return model


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
        raise NoData(
            f"{source.description} has no row to learn from",
            hint="it is empty, has only a header, or every row was rejected",
        )

    def resumed() -> Iterator[Batch]:
        yield from taken
        yield from batches

    return joined_rows(taken) if len(taken) > 1 else taken[0], resumed()


def _sampled(batches: Iterable[Batch], sample: Reservoir) -> Iterator[Batch]:
    for batch in batches:
        offer_rows(sample, batch)
        yield batch
