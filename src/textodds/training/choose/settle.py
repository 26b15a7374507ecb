"""From a source and what is not left to choose to a recipe, and to what is then learned from."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textodds.data import Observer
from textodds.errors import InputError
from textodds.learn.held_out import FEWEST
from textodds.stats.tally import MEMORY
from textodds.training.choose.candidates import candidates, usual
from textodds.training.choose.pool import Pool
from textodds.training.choose.race import BUDGET, can_tell, race

if TYPE_CHECKING:
    from textodds.data import Batch, Source
    from textodds.learn.recipe import Recipe
    from textodds.training.choose.candidates import Candidate, Pins
    from textodds.training.choose.choice import Choice


@dataclass(frozen=True, eq=False)
class PooledSource:
    """A pool, and how the source is read for learning.

    Attributes
    ----------
    batches : iterable of Batch or None
        What to learn from instead of the source, which cannot be read again.
    is_endless : bool
        Whether texts are left that were never looked at: more than memory holds, of a stream.
    seconds : float
        What reading took.
    """

    pool: Pool
    batches: Iterable[Batch] | None
    is_endless: bool
    seconds: float


@dataclass(frozen=True, eq=False)
class SettledRecipe:
    """A recipe, how it was chosen if it was, and what to learn from instead of the source, if need be."""

    recipe: Recipe
    choice: Choice | None
    batches: Iterable[Batch] | None


def settle(
    pooled: PooledSource,
    pins: Pins,
    *,
    budget: float = BUDGET,
    threads: int,
    calibrate: bool = True,
    observer: Observer | None = None,
) -> SettledRecipe:
    """The best recipe that is not ruled out; the usual one if there is too little to choose by."""
    field = candidates(pins)
    if pooled.is_endless:  # what has to be read once, and does not fit, can only be counted
        field = [one for one in field if not one.recipe.learner.entry.needs_documents] or field[:1]
    how: dict[str, Any] = {"threads": threads, "calibrate": calibrate, "observer": observer}
    choice = chosen(pooled.pool, field, budget=budget, spent=pooled.seconds, **how)
    return SettledRecipe(usual(pins) if choice is None else choice.recipe, choice, pooled.batches)


def pool_of(data: Source, observer: Observer | None = None, *, memory: int = MEMORY) -> PooledSource:
    """The pool of a source, read once; of a stream as much as memory holds, and that is kept."""
    began = time.perf_counter()
    batches = (observer or Observer()).watched(data, data.ahead(), "reading")
    if data.replayable:
        pool = Pool.of(batches)
        return PooledSource(pool, None, False, time.perf_counter() - began)
    stream, size = iter(batches), 0
    kept: list[Batch] = []
    for batch in stream:
        kept.append(batch)
        size += _size(batch)
        if size > memory:
            break
    is_endless = size > memory
    left = itertools.chain(kept, stream) if is_endless else kept
    return PooledSource(Pool.of(kept), left, is_endless, time.perf_counter() - began)


def chosen(
    pool: Pool,
    field: Sequence[Candidate],
    *,
    budget: float = BUDGET,
    threads: int,
    calibrate: bool = True,
    spent: float = 0.0,
    observer: Observer | None = None,
) -> Choice | None:
    """The best candidate; None if there is none to choose from, or too little to choose by."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget >= 0:
        raise InputError(f"the budget is {budget!r}", hint="give seconds, such as 60")
    if len(pool.classes) == 2:  # the complement of one class is the other
        named = {one.learner for one in field}
        field = [one for one in field if one.learner != "complement" or "multinomial" not in named]
    if len(field) < 2 or len(pool) < FEWEST or not can_tell(pool):
        return None
    how: dict[str, Any] = {"threads": threads, "calibrate": calibrate, "spent": spent, "observer": observer}
    return race(pool, field, budget=budget, **how)


def _size(batch: Batch) -> int:
    texts = batch.texts
    return sum(map(len, texts)) if isinstance(texts, list) else int(getattr(texts, "nbytes", 64 * len(texts)))
