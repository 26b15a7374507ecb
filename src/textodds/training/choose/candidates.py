"""What is tried: learners with their settings and features, the cheap ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from textodds.errors import InputError, suggestion
from textodds.learn.conditionals import Complement
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.recipe import Recipe, recipe_of
from textodds.learn.registry import AUTO, LEARNERS, Learner, name_of, names_of, resolved
from textodds.text import Weighting
from textodds.text.settings import FEATURES

Named: TypeAlias = Learner | str
"""A learner, or its name."""

SHAPE = ("settings", "unit", "ngrams", "characters", "hash_bits", "vocabulary", "sklearn")
"""Settings that say what the features are; given, they are not chosen."""

WEIGHTINGS = {"binary": Weighting("binary")}
"""What occurrences may be worth, beside tf-idf; tried with the features and the learner that won."""

GIVEN = "as given"

AGAINST = 3.0
"""Logarithm of the prior odds against each departure from what is expected to be best of few labels: softmax
regression of runs of letters, scaled by naive Bayes or not, with tf-idf. It is the sum of held-out log-loss
by which learning from counts, leaving out runs of letters, or binary occurrences have to be ahead."""


@dataclass(frozen=True)
class Candidate:
    """A learner with its settings, under the name that tables give it.

    ``words`` is how texts are cut and which words are kept, as `recipe_of` takes it.
    """

    name: str
    learner: Learner
    words: Mapping[str, object] = field(default_factory=dict)
    features: str = GIVEN
    textbook: bool = False  # whether nothing is chosen or calibrated
    typical: bool = False  # whether it must stay a distribution of texts
    may_pool: bool = False  # whether naive Bayes may be pooled with it: no learner was named

    @property
    def is_open(self) -> bool:
        """Whether it is whatever `train` chooses, rather than a learner with its settings."""
        return self.features == AUTO

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of texts, with no features left to choose."""
        return replace(recipe_with(self.learner, self.words), is_open=False)

    @property
    def prior_odds(self) -> float:
        """Logarithm of the odds against it before any text is seen."""
        settings, weighting = self.recipe.settings, self.recipe.weighting
        departures = (
            settings.characters is None and settings.unit == "words",
            not self.learner.entry.needs_documents,
            getattr(self.learner, "binary", False) if weighting is None else weighting != Weighting(),
        )
        return AGAINST * sum(map(bool, departures))

    def of_few(self) -> Candidate:
        """The same of few texts: with words that are in one text only, unless somebody has said otherwise."""
        if "min_df" in self.words or not self.learner.entry.needs_documents:
            return self
        return replace(self, words={**self.words, "min_df": 1})

    def reweighted(self) -> list[Candidate]:
        """The same with its occurrences worth something else, for learners that weigh them."""
        if self.recipe.weighting is None:
            if not isinstance(self.learner, MultinomialLearner) or self.learner.binary or self.typical:
                return []
            return [replace(self, name=f"{self.name}, binary", learner=replace(self.learner, binary=True))]
        if self.recipe.weighting != Weighting():  # somebody has said what they are worth
            return []
        return [
            replace(self, name=f"{self.name}, {name}", words={**self.words, "weighting": weighting})
            for name, weighting in WEIGHTINGS.items()
        ]


def recipe_with(learner: Named, words: Mapping[str, object]) -> Recipe:
    """The recipe of a learner and of how texts are cut, as `train` is told; see `recipe_of`."""
    options: dict[str, Any] = dict(words)
    return recipe_of(learner, **options)


def candidate_of(recipe: Recipe, features: str = GIVEN, **shape: object) -> Candidate:
    """A recipe as a candidate, with this shape of features."""
    words = {
        "settings": replace(recipe.settings, **shape),  # type: ignore[arg-type]
        **vars(recipe.selection),
        "unknown": recipe.unknown,
        "weighting": recipe.weighting,
    }
    return Candidate(f"{recipe.learner.entry.name}, {features}", recipe.learner, words, features)


def pins_of(learner: Named | Sequence[Named], features: object, recipe: Mapping[str, object]) -> Pins:
    """What is not left to choose, as `train` is told.

    ``learner`` may be ``"auto"``, or several; ``features`` one name or several, ``"auto"``, or None for that.
    """
    several = learner if isinstance(learner, (list, tuple)) else (learner,)
    named = () if features is None or features == AUTO else features
    if not isinstance(named, (str, list, tuple)):
        raise InputError(f"features are {named!r}", hint=f"one or several of {', '.join(FEATURES)}")
    learners = () if learner == AUTO else tuple(several)
    return Pins(learners, (named,) if isinstance(named, str) else tuple(named), recipe)


@dataclass(frozen=True)
class Pins:
    """What is not left to choose."""

    learners: tuple[Named, ...] = ()  # that may be chosen; empty for all
    features: tuple[str, ...] = ()  # that may be chosen; empty for all
    recipe: Mapping[str, object] = field(default_factory=dict)  # options of `recipe_of` for all candidates
    typical: bool = False  # whether what is chosen must be a distribution of texts

    def __post_init__(self) -> None:
        for learner in self.learners:
            if not resolved(learner).entry.is_of_texts:
                raise InputError(
                    f"{_name(learner)} learns from tables, not from texts",
                    hint=f"for texts use one of {', '.join(names_of(choice=True))}",
                )
        if not self.is_settled:
            self._check_learners()
        for name in self.features:
            if name not in FEATURES:
                raise InputError(
                    f"there are no features `{name}`{suggestion(name, list(FEATURES))}",
                    hint=f"one or several of {', '.join(FEATURES)}; or say more by ngrams and unit",
                )
        if self.features and any(name in self.recipe for name in SHAPE):
            given = next(name for name in SHAPE if name in self.recipe)
            raise InputError(f"`features` and `{given}` cannot be combined", hint="leave one of them out")

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to choose: there is one learner, and its features are said."""
        return len(self.learners) == 1 and (len(self.features) == 1 or self.has_shape)

    @property
    def is_likelihood(self) -> bool:
        """Whether all that may be chosen are models of how texts come about."""
        return bool(self.learners) and all(LEARNERS[_name(learner)].is_density for learner in self.learners)

    def _check_learners(self) -> None:
        names = [_name(learner) for learner in self.learners]
        among = names_of(choice=True)
        for name, learner in zip(names, self.learners, strict=True):
            if name not in among:
                raise InputError(
                    f"{name} cannot be selected from{suggestion(name, among)}",
                    hint=f"name it alone, without features; a choice is among {', '.join(among)}",
                )
            if names.count(name) > 1:
                raise InputError(f"{name} is named twice", hint="name each learner once")
            conditional = resolved(learner).conditional
            if isinstance(conditional, Complement) and (conditional.norm or conditional.transform):
                raise InputError(f"{name} with transform or norm cannot be selected from")
        if self.recipe.get("unknown", "ignore") != "ignore":
            raise InputError(
                "`unknown` applies to a named learner, not to model selection",
                hint="name the learner: `--learner multinomial`",
            )

    @property
    def has_shape(self) -> bool:
        """Whether settings say what the features are."""
        return any(name in self.recipe for name in SHAPE)


def candidates(pins: Pins) -> list[Candidate]:
    """What may be chosen, the cheap ones first."""
    all_of_them = names_of(choice=True)
    if "weighting" in pins.recipe:  # counts are not weighted
        all_of_them = tuple(name for name in all_of_them if LEARNERS[name].needs_documents)
    learners = {_name(learner): learner for learner in pins.learners or all_of_them}
    if pins.has_shape:
        return [_candidate(GIVEN, learner, pins.recipe, pins) for learner in learners.values()]
    asked = bool(pins.features)  # what somebody asks for is tried, whatever has won elsewhere
    return [
        _candidate(features, learners[name], {**FEATURES[features], **pins.recipe}, pins)
        for features in FEATURES
        for name in learners
        if features in (pins.features if asked else LEARNERS[name].features)
        if _agree(features, pins.recipe.get("stop_words"))
    ]


def _agree(features: str, stop_words: object) -> bool:
    """Whether features go with what is given: there are no words to leave out where there are none."""
    return features != "letters" or not stop_words


def usual(pins: Pins) -> Recipe:
    """What is taken where there is too little to choose by: what was asked for first, or naive Bayes."""
    learner = (
        pins.learners[0] if pins.learners else "softmax" if "weighting" in pins.recipe else "multinomial"
    )
    shape = FEATURES[pins.features[0]] if pins.features else {}
    return replace(recipe_with(learner, {**shape, **pins.recipe}), is_open=False)


def open_candidates(recipe: Recipe) -> list[Candidate]:
    """What a recipe may become whose learner is settled, but not its features."""
    settings = recipe.settings
    return [
        candidate_of(recipe, name, **shape)
        for name, shape in FEATURES.items()
        if settings.unit == "words" or "unit" not in shape  # words that are cut otherwise stay words
        if _agree(name, settings.stop_words)
    ]


def _name(learner: Named) -> str:
    return learner if isinstance(learner, str) else name_of(resolved(learner))


def _candidate(features: str, learner: Named, words: Mapping[str, object], pins: Pins) -> Candidate:
    learner, name = resolved(learner), f"{_name(learner)}, {features}"
    may_pool = not pins.learners and learner.entry.is_penalised
    return Candidate(name, learner, words, features, typical=pins.typical, may_pool=may_pool)
