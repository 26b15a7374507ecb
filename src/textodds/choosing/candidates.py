"""What is tried: features and learners, the cheap ones first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from textodds.errors import InputError, suggestion
from textodds.learners import AUTO, learner_named, name_of, resolved
from textodds.recipe import Recipe, recipe_of
from textodds.text import Weighting
from textodds.text.features import FEATURES

SHAPE = ("settings", "unit", "ngrams", "characters", "hash_bits", "vocabulary", "sklearn")
"""Settings that say what the features are; given, they are not chosen."""

# Where counts of one kind of feature lead nowhere, others of the same kind do not either: every kind has the
# learners by which it has won before. In order of cost.
FIELD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("words", ("multinomial", "bernoulli", "complement", "softmax", "nb-softmax")),
    ("pairs", ("multinomial", "complement", "softmax", "nb-softmax")),
    ("triples", ("nb-softmax",)),
    ("letters", ("multinomial", "softmax", "nb-softmax")),
    ("characters", ("softmax", "nb-softmax")),
)

LEARNERS = ("multinomial", "bernoulli", "complement", "softmax", "nb-softmax")

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


def pins_of(learner: Any, features: Any, recipe: Mapping[str, Any]) -> Pins | None:
    """What is not left to choose, as `train` is told; None if nothing is left.

    ``learner`` may be ``"auto"``, or several; ``features`` one name or several, or ``"auto"``.
    """
    several = isinstance(learner, (list, tuple))
    if features is None and learner != AUTO and not several:
        return None
    named = () if features is None or features == AUTO else features
    return Pins(
        tuple(learner) if several else () if learner is None or learner == AUTO else (learner,),
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
    def has_shape(self) -> bool:
        """Whether settings say what the features are."""
        return any(name in self.recipe for name in SHAPE)


def candidates(pins: Pins) -> list[Candidate]:
    """What may be chosen, the cheap ones first."""
    given = dict(pins.recipe)
    those = LEARNERS if "weighting" not in given else ("softmax", "nb-softmax")  # counts are not weighted
    learners = {_name(learner): learner for learner in pins.learners or those}
    if pins.has_shape:
        return [_candidate(GIVEN, {}, learner, given) for learner in learners.values()]
    asked = bool(pins.features)  # what somebody asks for is tried, whatever has won elsewhere
    found = [
        _candidate(features, FEATURES[features], learners[name], given)
        for features, others in FIELD
        for name in learners
        if (features in pins.features if asked else name in others) and _agree(features, given)
    ]
    if found:
        return found
    return [
        _candidate(features, FEATURES[features], learner, given)
        for features in pins.features or FEATURES
        for learner in learners.values()
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
    shapes = {name: {"unit": "words", "characters": None, **shape} for name, shape in FEATURES.items()}
    return [
        Candidate(name, replace(recipe, settings=replace(recipe.settings, **shape), is_open=False))
        for name, shape in shapes.items()
    ]


def _name(learner: Any) -> str:
    return learner if isinstance(learner, str) else name_of(resolved(learner))


def _candidate(features: str, settings: dict[str, Any], learner: Any, given: dict[str, Any]) -> Candidate:
    if isinstance(learner, str):
        # Smoothing is chosen with everything else; softmax has its penalty chosen as it is.
        learner = learner_named(learner, **({"alpha": None} if learner in LEARNERS[:3] else {}))
    recipe = recipe_of(learner, **{**settings, **given})
    return Candidate(features, replace(recipe, is_open=False))
