"""What the estimators of raw texts share: the choices of a training, and the model as a file in a pickle."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any, Self, cast

from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags

from textodds.errors import InputError, Unsupported
from textodds.interop.estimators.generative import Classifier
from textodds.interop.labels import LabelArray
from textodds.learn.recipe import Recipe
from textodds.learn.registry import AUTO, LEARNERS, learner_named, resolved, settings_of
from textodds.model.file import dumps, loads
from textodds.stats.tally import checked_threads
from textodds.text import TextSettings, Weighting
from textodds.training.plan import Plan, plan_of

SETTINGS = frozenset(field.name for field in fields(TextSettings)) - {"count_unknown", "hash_seed", "fields"}
"""Parameters that are fields of `TextSettings`; None leaves them as is usual for the learner."""

RECIPE = ("unknown", "min_df", "max_df", "max_features", "weighting", "sklearn")
"""Those that `textodds.learn.recipe.recipe_of` takes."""


def learns_on(estimator: TextEstimator) -> bool:
    """Whether what is learned is counts, so that more can be learned and some forgotten."""
    if estimator.learner == AUTO:
        raise Unsupported(
            "a learner is chosen by all texts at once: it neither learns in batches nor forgets",
            hint="name one, such as learner='multinomial'",
        )
    try:
        learner = resolved(estimator.learner)
    except InputError:
        return True  # whoever calls is told what is wrong with it
    if learner.entry.needs_documents or learner.rereads:
        counting = ", ".join(name for name, entry in LEARNERS.items() if entry.is_merged)
        raise Unsupported(
            "this learner needs all texts at once: it neither learns in batches nor forgets",
            hint=f"use one that learns counts: {counting}",
        )
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class TextEstimator(Classifier):
    """An estimator of raw texts, whose parameters are those of `textodds.train`."""

    learner: Any = "multinomial"
    calibrate: bool = True
    threads: int | None = None
    unit: str | None = None
    ngrams: tuple[int, int] | None = None
    characters: tuple[int, int] | None = None
    lower: bool | None = None
    normal_form: str | bool | None = None
    strip_accents: bool | None = None
    stop_words: Sequence[str] | str | None = None
    hash_bits: int | None = None
    vocabulary: Sequence[str] | None = None
    min_df: int | float | None = None
    max_df: int | float = 1.0
    max_features: int | None = None
    weighting: Weighting | None = None
    sklearn: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; if ``deep``, those of the learner too, which may be given by its name."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and not isinstance(self.learner, BaseEstimator) and self.learner != AUTO:
            with suppress(InputError):  # which fit tells of
                learner = resolved(self.learner)
                own = settings_of(type(learner))
                params |= {f"learner__{name}": getattr(learner, name) for name in own}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters of this estimator, and of its learner (``learner__alpha``)."""
        learner = params.get("learner", self.learner)
        own = {name: value for name, value in params.items() if name.startswith("learner__")}
        if own and not isinstance(learner, BaseEstimator):
            if learner == AUTO:
                raise InputError(
                    "a learner that is chosen has no settings", hint="name one, such as learner='multinomial'"
                )
            found = resolved(learner)
            given = {name: getattr(found, name) for name in settings_of(type(found))}
            given |= {name.removeprefix("learner__"): value for name, value in own.items()}
            params = {name: value for name, value in params.items() if name not in own}
            params["learner"] = learner_named(found.entry.name, **given)
        return cast("Self", super().set_params(**params))

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())
        if "model_" in state:  # the file, which is checked when it is read and outlives versions
            state["model_"] = dumps(self.model_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(file := state.get("model_"), bytes):
            state = {**state, "model_": loads(file, state["threads"])}
        super().__setstate__(state)

    @classmethod
    def _parameters_of(cls, recipe: Recipe) -> dict[str, Any]:
        """The parameters that are the choices of a recipe."""
        settings: dict[str, Any] = {name: getattr(recipe.settings, name) for name in SETTINGS}
        settings["normal_form"] = recipe.settings.normal_form or False
        own = {"learner": recipe.asked_learner, "weighting": recipe.weighting}
        return own | asdict(recipe.selection) | settings

    def _words(self, *, usual: bool) -> dict[str, object]:
        """How texts are cut and which words are kept; with ``usual`` also what is said by default."""
        given = {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}
        if self.normal_form is False:
            given["normal_form"] = None
        default = {field.name: field.default for field in fields(type(self))}
        own = {name: getattr(self, name) for name in RECIPE if name in default}
        return given | {name: value for name, value in own.items() if usual or value != default[name]}

    def _plan(self, labels: LabelArray) -> Plan:
        """The choices, as the core takes them."""
        learner = self.learner
        if isinstance(learner, BaseEstimator):
            learner = clone(learner)
            learner.classes_ = labels  # in whose order its priors are
        threads = checked_threads(self.threads)
        if isinstance(learner, str) and learner == AUTO:
            return plan_of(None, None, self._words(usual=False), calibrate=self.calibrate, threads=threads)
        words = self._words(usual=True)
        return Plan(resolved(learner), None, words, calibrate=self.calibrate, threads=threads)
