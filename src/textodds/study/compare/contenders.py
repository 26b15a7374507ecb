"""What is compared: learners with their settings, each under a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textodds.errors import InputError
from textodds.learn.recipe import SpelledLearner, recipe_of, spelled
from textodds.learn.registry import LEARNERS, Entry, Learner, names_of, resolved
from textodds.training.choose.candidates import SHAPE


@dataclass(frozen=True, eq=False)
class Contender:
    """A learner with its settings; ``words`` are those of how texts are cut and which words are kept."""

    name: str
    learner: Learner
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entry(self) -> Entry:
        """What the learner can do."""
        return self.learner.entry


def contenders(models: Any, *, of_tables: bool) -> tuple[Contender, ...]:
    """The contenders that are named, or all that there are for texts or for tables.

    ``models`` are names separated by commas, each perhaps with settings after colons, or a list of such
    names and of learners.

    >>> [found.name for found in contenders("bernoulli, softmax:ngrams=1-2:C=10", of_tables=False)]
    ['bernoulli', 'softmax:ngrams=1-2:C=10']
    """
    usual = names_of(tables=of_tables, texts=not of_tables)
    found = [_contender(each) for each in _listed(usual if models is None else models)]
    if not found:
        raise InputError("no model is named", hint=f"name some of {', '.join(usual)}")
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the model `{name}` is named twice", hint="leave out one of the two")
    for each in found:
        if of_tables and not each.entry.is_of_tables:
            raise InputError(
                f"{each.entry.name} learns from texts, and the data has no column of texts",
                hint=f"name some of {', '.join(usual)}, or the column: `--text COLUMN` (text='COLUMN')",
            )
        if not of_tables and each.entry.name not in usual:
            raise InputError(
                f"{each.entry.name} does not learn from labelled texts",
                hint=f"name some of {', '.join(usual)}",
            )
    return tuple(found)


def are_of_tables(models: Any) -> bool:
    """Whether a model is named that learns from tables only."""
    if models is None:
        return False
    return any(not _contender(each).entry.is_of_texts for each in _listed(models))


def _listed(models: Any) -> list[Any]:
    """Every model by itself."""
    found: list[Any] = []
    for each in [models] if isinstance(models, str) or not isinstance(models, Iterable) else models:
        if not isinstance(each, str):
            found.append(each)
        elif each.strip(", "):
            found += spelled(each)
    return found


def _contender(given: SpelledLearner | Learner | Any) -> Contender:
    if not isinstance(given, SpelledLearner):
        learner = resolved(given)
        settings = (f"{name}={value}" for name, value in learner.settings().items())
        return Contender(":".join([learner.entry.name, *settings]), learner, learner.entry.usual)
    if given.name not in LEARNERS:
        raise InputError(f"`{given.name}` is not a model that can be compared", hint="name learners")
    entry = LEARNERS[given.name]
    # Smoothing is chosen by leaving out one text at a time; features are those of the learner at every size
    # of a learning curve, rather than chosen.
    learner = given.learner(**{name: None for name, value in entry.choice.items() if value is None})
    words = dict(given.words)
    if not any(key in words for key in SHAPE):
        words |= entry.usual
    if entry.is_of_texts:
        recipe_of(learner, **words)  # refuses now what there is not
    elif words and entry.name != "mixed":
        raise InputError(
            f"{entry.name} has no {next(iter(words))}", hint="it learns from tables, not from texts"
        )
    return Contender(given.text, learner, words)
