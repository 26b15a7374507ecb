"""What is compared: learners with their settings, each under a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textodds.errors import InputError
from textodds.learn.registry import LEARNERS, Learner, learner_named, name_of, names_of, resolved, settings_of

RANGES = ("ngrams", "characters")


@dataclass(frozen=True, eq=False)
class Contender:
    """A learner with its settings; ``words`` are those of how texts are cut and which words are kept."""

    name: str
    learner: Any
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The name of the learner, without its settings."""
        return name_of(self.learner)

    @property
    def family(self) -> str:
        """``generative``, ``discriminative`` or ``hybrid``."""
        return LEARNERS[self.kind].family

    @property
    def takes_categories(self) -> bool:
        """Whether numbers of a table must be read as categories for it."""
        return LEARNERS[self.kind].column_kind == "category"


def candidates(models: Any, *, of_tables: bool) -> tuple[Contender, ...]:
    """The candidates that are named, or all that there are for texts or for tables.

    ``models`` are names separated by commas, each perhaps with settings after colons, or a list of such
    names and of learners.

    >>> [found.name for found in candidates("bernoulli, softmax:ngrams=1-2:C=10", of_tables=False)]
    ['bernoulli', 'softmax:ngrams=1-2:C=10']
    """
    if models is None:
        models = names_of(tables=True) if of_tables else names_of(texts=True)
    if isinstance(models, str):
        models = [part.strip() for part in models.split(",") if part.strip()]
    if not isinstance(models, Iterable):
        models = [models]
    found = [_candidate(each) for each in models]
    if not found:
        raise InputError("no model is named", hint=f"name some of {', '.join(names_of(texts=True))}")
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the model `{name}` is named twice", hint="leave out one of the two")
    for each in found:
        if of_tables and not LEARNERS[each.kind].is_of_tables:
            raise InputError(
                f"{each.kind} learns from texts, and the data has no column of texts",
                hint=f"name some of {', '.join(names_of(tables=True))}, or the column: "
                "`--text COLUMN` (text='COLUMN')",
            )
        if not of_tables and each.kind not in names_of(texts=True):
            raise InputError(
                f"{each.kind} does not learn from labelled texts",
                hint=f"name some of {', '.join(names_of(texts=True))}",
            )
    return tuple(found)


def are_of_tables(models: Any) -> bool:
    """Whether a model is named that learns from tables only."""
    if models is None:
        return False
    if isinstance(models, str):
        models = models.split(",")
    named = [
        each.split(":")[0].strip() if isinstance(each, str) else name_of(resolved(each)) for each in models
    ]
    return any(name in LEARNERS and not LEARNERS[name].is_of_texts for name in named)


def _candidate(given: Any) -> Contender:
    if not isinstance(given, str):
        learner = resolved(given)
        return Contender(_said(learner), learner, learner.entry.usual)
    name, *settings = (part.strip() for part in given.split(":"))
    choices: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not key or not value or key in choices:
            raise InputError(
                f"`{given}` is no model with settings",
                hint="write each setting once, after a colon: `softmax:ngrams=1-2:C=10`",
            )
        choices[key.replace("-", "_")] = _value(key, value, given)
    entry = learner_named(name).entry
    known = settings_of(entry.load())
    if entry.choice.get("alpha", 1) is None:  # smoothing is chosen by leaving out one text at a time
        choices.setdefault("alpha", None)
    own = {key: value for key, value in choices.items() if key in known}
    words = {key: value for key, value in choices.items() if key not in own}
    if not any(key in words for key in ("ngrams", "characters", "unit", "hash_bits", "vocabulary")):
        words |= entry.usual
    if entry.is_of_texts:
        from textodds.learn.recipe import recipe_of

        recipe_of(learner_named(name, **own), **words)  # refuses now what there is not
    elif words:
        raise InputError(f"{name} has no {next(iter(words))}", hint="see `textodds train --help`")
    return Contender(":".join([name, *settings]), learner_named(name, **own), words)


def _value(key: str, text: str, given: str) -> Any:
    """The value of a setting.

    >>> _value("ngrams", "1-2", ""), _value("alpha", "auto", ""), _value("C", "0.5", "")
    ((1, 2), None, 0.5)
    """
    if key in RANGES:
        shortest, dash, longest = text.partition("-")
        try:
            return int(shortest), int(longest) if dash else int(shortest)
        except ValueError as error:
            raise InputError(
                f"`{key}` cannot be `{text}` in `{given}`", hint="write `1-2` for single words and pairs"
            ) from error
    named = {"auto": None, "true": True, "false": False, "yes": True, "no": False}
    if text.lower() in named:
        return named[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _said(learner: Learner) -> str:
    """The name of a learner with the settings that are not as usual."""
    return ":".join([name_of(learner), *(f"{name}={value}" for name, value in learner.settings().items())])
