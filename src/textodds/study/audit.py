"""Labels that look wrong: every document under the model of all others, the least believed first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from textodds.data import Batch, Source
from textodds.data.batch import taken
from textodds.errors import InputError, Unsupported
from textodds.learn.recipe import Recipe
from textodds.model.leave_one_out import LeftOut, left_out, supports
from textodds.model.text_model import TextModel
from textodds.training.train import train_on

Watch = Callable[[Iterable[Batch]], Iterable[Batch]]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A document whose label is not believed.

    ``row`` counts from 1, in the order of the data, without rows that were skipped as bad; ``p_label`` is the
    probability of the label it has, and ``suggested`` the label that is the most probable without it.
    """

    row: int
    label: str
    suggested: str
    p_label: float
    p_suggested: float
    text: str


@dataclass(frozen=True, eq=False)
class Audit:
    """The suspects, most suspicious first, and what all documents said when they were left out."""

    suspects: tuple[Suspect, ...]
    left_out: LeftOut
    model: TextModel

    @property
    def disagreements(self) -> int:
        """Documents whose label is not the most probable."""
        return int((self.left_out.log_posterior.argmax(axis=1) != self.left_out.truth).sum())


def audit(
    data: Source,
    recipe: Recipe,
    *,
    most: int = 100,
    threads: int | None = None,
    watch: Watch = lambda batches: batches,
) -> Audit:
    """The documents of a source whose labels look wrong, ``most`` of them.

    The source is read twice: to learn from it, and to leave out each of its documents. Nothing is held out
    and nothing fitted again: the model without a document is exact.
    """
    if not supports(recipe):
        raise Unsupported(
            "labels are looked at by leaving out one document at a time, which takes counts",
            hint="use the learner multinomial, bernoulli or complement",
        )
    if not data.replayable:
        raise InputError(
            f"{data.description} can be read but once, and is read twice here", hint="put it in a file first"
        )
    model = train_on(data, recipe, threads=threads, watch=watch)
    found = left_out(model, watch(data))
    chosen = found.suspects()[:most]
    texts = _texts_at(data, {int(found.rows[i]) for i in chosen})
    best = found.log_posterior.argmax(axis=1)
    p = np.exp(found.log_posterior)
    suspects = tuple(
        Suspect(
            int(found.rows[i]) + 1,
            found.classes[found.truth[i]],
            found.classes[best[i]],
            float(p[i, found.truth[i]]),
            float(p[i, best[i]]),
            texts[int(found.rows[i])],
        )
        for i in chosen.tolist()
    )
    return Audit(suspects, found, model)


def _texts_at(data: Source, rows: set[int]) -> dict[int, str]:
    """The texts of some rows, by another pass that ends with the last of them."""
    return dict(_found(data, rows))


def _found(data: Source, rows: set[int]) -> Iterator[tuple[int, str]]:
    first, left = 0, len(rows)
    for batch in data:
        mine = [i - first for i in rows if first <= i < first + len(batch)]
        texts: Any = taken(batch.texts, mine)
        for i, text in zip(mine, texts, strict=True):
            yield first + i, text
        first, left = first + len(batch), left - len(mine)
        if not left:
            return
