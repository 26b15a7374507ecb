"""What is tried: features and learners, the cheap ones first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from textodds.errors import InputError, suggestion
from textodds.learn.conditionals import Complement
from textodds.learn.recipe import Recipe, recipe_of
from textodds.learn.registry import AUTO, LEARNERS, learner_named, name_of, names_of, resolved
from textodds.text import Weighting
from textodds.text.settings import FEATURES

SHAPE = ("settings", "unit", "ngrams", "characters", "hash_bits", "vocabulary", "sklearn")
"""Settings that say what the features are; given, they are not chosen."""

WEIGHTINGS = {"binary": Weighting("binary"), "counts": Weighting("count", idf=False)}
"""What occurrences may be worth, beside tf-idf; tried with the features and the learner that won."""

GIVEN = "as given"


@dataclass(frozen=True)
class Candidate:
    """Features, and what learns from them."""

    features: str
    recipe: Recipe
    weighting: str = ""  # beside the usual one

    @property
    def learner(self) -> str:
        """The name of the learner."""
        return name_of(self.recipe.learner)

    @property
    def name(self) -> str:
        """How tables call it."""
        return ", ".join(part for part in (self.learner, self.features, self.weighting) if part)

    def reweighted(self) -> list[Candidate]:
        """The same with its occurrences worth something else, for learners that weigh them."""
        if self.recipe.weighting is None:
            learner: Any = self.recipe.learner
            if self.learner != "multinomial" or learner.binary:
                return []
            return [
                replace(
                    self,
                    recipe=replace(self.recipe, learner=replace(learner, binary=True)),
                    weighting="binary",
                )
            ]
        if self.recipe.weighting != Weighting():  # somebody has said what they are worth
            return []
        return [
            replace(self, recipe=replace(self.recipe, weighting=weighting), weighting=name)
            for name, weighting in WEIGHTINGS.items()
        ]


def pins_of(learner: Any, features: Any, recipe: Mapping[str, Any]) -> Pins:
    """What is not left to choose, as `train` is told.

    ``learner`` may be ``"auto"``, or several; ``features`` one name or several, ``"auto"``, or None for that.
    """
    several = isinstance(learner, (list, tuple))
    named = () if features is None or features == AUTO else features
    if not isinstance(named, (str, list, tuple)):
        raise InputError(f"features are {named!r}", hint=f"one or several of {', '.join(FEATURES)}")
    return Pins(
        tuple(learner) if several else () if learner == AUTO else (learner,),
        (named,) if isinstance(named, str) else tuple(named),
        recipe,
    )


@dataclass(frozen=True)
class Pins:
    """What is not left to choose.

    Attributes
    ----------
    learners, features : tuple of str, or a learner; empty for all
        Those that may be chosen.
    recipe : dict
        Options of `recipe_of` that all candidates have.
    """

    learners: tuple[Any, ...] = ()
    features: tuple[str, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)

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
            raise InputError(f"features and `{given}` say the same thing twice", hint="leave one of them out")

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
                    f"{name} does not take part in a choice{suggestion(name, among)}",
                    hint=f"name it alone, without features; a choice is among {', '.join(among)}",
                )
            if names.count(name) > 1:
                raise InputError(f"{name} is named twice", hint="name each learner once")
            conditional = resolved(learner).conditional
            if isinstance(conditional, Complement) and (conditional.norm or conditional.transform):
                raise InputError(f"{name} with transform or norm does not take part in a choice")
        if self.recipe.get("unknown", "ignore") != "ignore":
            raise InputError(
                "what becomes of unknown words is for one learner of words, not for a choice",
                hint="name the learner: `--learner multinomial`",
            )

    @property
    def has_shape(self) -> bool:
        """Whether settings say what the features are."""
        return any(name in self.recipe for name in SHAPE)


def candidates(pins: Pins) -> list[Candidate]:
    """What may be chosen, the cheap ones first."""
    given = dict(pins.recipe)
    all_of_them = names_of(choice=True)
    if "weighting" in given:  # counts are not weighted
        all_of_them = tuple(name for name in all_of_them if LEARNERS[name].needs_documents)
    learners = {_name(learner): learner for learner in pins.learners or all_of_them}
    if pins.has_shape:
        return [_candidate(GIVEN, {}, learner, given) for learner in learners.values()]
    asked = bool(pins.features)  # what somebody asks for is tried, whatever has won elsewhere
    return [
        _candidate(features, FEATURES[features], learners[name], given)
        for features in FEATURES
        for name in learners
        if features in (pins.features if asked else LEARNERS[name].features) and _agree(features, given)
    ]


def _agree(features: str, given: Mapping[str, Any]) -> bool:
    """Whether features go with what is given: there are no words to leave out where there are none."""
    return features != "letters" or not given.get("stop_words")


def usual(pins: Pins) -> Recipe:
    """What is taken where there is too little to choose by: what was asked for first, or naive Bayes."""
    learner = (
        pins.learners[0] if pins.learners else "softmax" if "weighting" in pins.recipe else "multinomial"
    )
    shape = FEATURES[pins.features[0]] if pins.features else {}
    return replace(recipe_of(learner, **{**shape, **pins.recipe}), is_open=False)


def open_candidates(recipe: Recipe) -> list[Candidate]:
    """What a recipe may become whose learner is settled, but not its features."""
    settings = recipe.settings
    return [
        Candidate(name, replace(recipe, settings=replace(settings, **shape), is_open=False))
        for name, shape in FEATURES.items()
        if settings.unit == "words" or "unit" not in shape  # words that are cut otherwise stay words
        if _agree(name, {"stop_words": settings.stop_words})
    ]


def _name(learner: Any) -> str:
    return learner if isinstance(learner, str) else name_of(resolved(learner))


def _candidate(features: str, settings: dict[str, Any], learner: Any, given: dict[str, Any]) -> Candidate:
    if isinstance(learner, str):
        learner = learner_named(learner, **LEARNERS[learner].choice)
    recipe = recipe_of(learner, **{**settings, **given})
    return Candidate(features, replace(recipe, is_open=False))
