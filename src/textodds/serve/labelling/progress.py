"""How good a model of labels is: each text by the model of the others, and as many labels ago."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from textodds.data import Batch
from textodds.judge.evaluation import wilson
from textodds.learn.recipe import Recipe
from textodds.model.leave_one_out import left_out, supports
from textodds.model.text_model import TextModel
from textodds.stats.tally import Tally

FEWEST = 10  # labels below which nothing is said
FEWEST_OF_CLASS = 2
POINTS = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
MOST = 10_000  # labels that are looked at: beyond that training measures

Labelled = Sequence[tuple[str, str]]  # texts and labels, in the order in which they were given


class Measured(NamedTuple):
    """Answers to ``n`` texts, each by the model of all others: how many were right, with an interval."""

    n: int
    right: int
    low: float
    high: float
    largest: int  # of the largest class: so many are right by always saying it


def why_not(labels: Sequence[str]) -> str | None:
    """Why nothing can be said of a model of these labels; None if something can.

    >>> why_not(["ham"] * 12)
    'there is one class'
    >>> why_not(["ham", "spam"] * 5) is None
    True
    """
    counts = Counter(labels)
    if len(labels) < FEWEST:
        return f"that takes {FEWEST} labels"
    if len(counts) < 2:
        return "there is one class"
    rare = [label for label, n in counts.items() if n < FEWEST_OF_CLASS]
    return f"`{min(rare)}` has one text" if rare else None


def measured(labelled: Labelled, recipe: Recipe) -> Measured | None:
    """How many texts the model of all others gets right; None where nothing can be said."""
    labels = [label for _, label in labelled]
    if why_not(labels) is not None or not supports(recipe):
        return None
    batch = Batch([text for text, _ in labelled], labels)
    tally = Tally.count([batch], settings=recipe.settings, threads=1)
    model = TextModel.of_tally(tally, recipe, threads=1)
    found = left_out(model, [batch])
    right = int((found.log_posterior.argmax(axis=1) == found.truth).sum())
    n = len(found.truth)
    return Measured(n, right, *wilson(right, n), max(Counter(labels).values()))


class Curve:
    """Measures at some numbers of labels; those of before are not measured again."""

    def __init__(self) -> None:
        self._known: dict[int, Measured | None] = {}  # by the hash of what was measured

    def of(self, labelled: Labelled, recipe: Recipe) -> list[Measured]:
        """The learning curve: measures of the first labels, of more, and of all."""
        n = min(len(labelled), MOST)
        sizes = [*(point for point in POINTS if point < n), n]
        found: dict[int, Measured | None] = {}
        for size in sizes:
            key = hash(tuple(labelled[:size]))
            known = self._known
            found[key] = known[key] if key in known else measured(labelled[:size], recipe)
        self._known = found
        return [each for each in found.values() if each is not None]
