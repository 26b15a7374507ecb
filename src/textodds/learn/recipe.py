"""Recipes: every choice that makes a model, and the making of it from counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from textodds.errors import InputError, NoData, Unsupported, suggestion
from textodds.learn import naive_bayes
from textodds.learn.forms.linear import LinearModel
from textodds.learn.registry import LEARNERS, Learner, as_dict, names_of, of_dict, resolved
from textodds.stats.tally import Counts, Tally
from textodds.text import UNKNOWN, Selection, TextSettings, Vocabulary, Weighting

UNKNOWN_POLICIES = ("ignore", "smooth", "first", "count")


@dataclass(frozen=True)
class Recipe:
    """Every choice that makes a model from data."""

    settings: TextSettings
    selection: Selection
    unknown: str
    learner: Learner
    weighting: Weighting | None = None  # None: words count as often as they occur
    is_open: bool = False  # whether training may still add trigrams or characters, if that is better

    def __post_init__(self) -> None:
        if self.unknown not in UNKNOWN_POLICIES:
            raise InputError(
                f"unknown policy `{self.unknown}`{suggestion(self.unknown, UNKNOWN_POLICIES)}",
                hint=f"words outside the vocabulary: one of {', '.join(UNKNOWN_POLICIES)}",
            )
        needs_documents = self.learner.entry.needs_documents
        if self.unknown != "ignore" and (needs_documents or self.learner.rereads):
            raise Unsupported(
                "weighted documents have no place for unknown words", hint="use unknown='ignore'"
            )
        if self.weighting is not None and not needs_documents:
            takers = (name for name in names_of(texts=True) if LEARNERS[name].needs_documents)
            raise Unsupported(
                "naive Bayes learns from counts, which a weighting would change",
                hint=f"leave the weighting out, or use a learner that takes one: {', '.join(takers)}",
            )

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return {
            "settings": self.settings.as_dict(),
            "selection": asdict(self.selection),
            "unknown": self.unknown,
            "learner": as_dict(self.learner),
            "weighting": None if self.weighting is None else self.weighting.as_dict(),
        }

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Recipe:
        """The recipe that `as_dict` made plain data of."""
        weighting = plain.get("weighting")  # not in the files of format 1
        return cls(
            TextSettings(**plain["settings"]),
            Selection(**plain["selection"]),
            str(plain["unknown"]),
            of_dict(plain["learner"]),
            None if weighting is None else Weighting(**weighting),
        )


def recipe_of(
    learner: Learner | str = "multinomial",
    *,
    unknown: str = "ignore",
    min_df: int | float | None = None,
    max_df: int | float = 1.0,
    max_features: int | None = None,
    weighting: Weighting | None = None,
    sklearn: bool = False,
    settings: TextSettings | None = None,
    **text_settings: Any,
) -> Recipe:
    """A recipe from the options of `train`; what is not given is as usual for the learner.

    ``learner`` may be its name, or an estimator. ``sklearn`` cuts texts as scikit-learn does.
    """
    learner = resolved(learner)
    entry = learner.entry
    if not entry.is_of_texts:
        raise InputError(
            f"{entry.name} learns from tables, not from texts",
            hint=f"for texts use one of {', '.join(names_of(texts=True))}",
        )
    if settings is not None and (text_settings or sklearn):
        raise InputError("give settings, or single text settings, not both")
    usual = dict(entry.usual)
    is_open = False
    if entry.needs_documents:
        if entry.is_penalised:
            decided = ("ngrams", "characters", "unit", "hash_bits", "vocabulary")
            is_open = settings is None and not any(name in text_settings for name in decided)
        weighting = weighting or Weighting()
        min_df = 2 if min_df is None else min_df
    if settings is None:
        known = [field.name for field in (*fields(TextSettings), *fields(Selection))]
        for name in text_settings:
            if name not in known:
                raise InputError(f"there is no option `{name}`{suggestion(name, [*known, 'unknown'])}")
        if "unit" in text_settings and text_settings["unit"].startswith("characters"):
            usual = {}
        chosen = {**usual, **text_settings, "count_unknown": unknown == "count"}
        settings = TextSettings.sklearn(**chosen) if sklearn else TextSettings(**chosen)
    selection = Selection(1 if min_df is None else min_df, max_df, max_features)
    return Recipe(settings, selection, unknown, learner, weighting, is_open)


def fitted(tally: Tally, recipe: Recipe) -> tuple[Vocabulary, LinearModel]:
    """The words and the fitted form that a recipe makes of counts."""
    if not tally.classes:
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    counts, vocabulary = selected(tally, recipe.selection)
    if not len(vocabulary) and len(tally.vocabulary):
        raise NoData(
            f"no word is left of {len(tally.vocabulary):,}",
            hint="lower min_df, or raise max_df or max_features",
        )
    if recipe.unknown != "ignore":
        counts, vocabulary = with_unknown(counts, vocabulary, recipe.unknown)
    assert isinstance(recipe.learner, naive_bayes.CountLearner)
    return vocabulary, naive_bayes.fit(recipe.learner, counts)


def selected(tally: Tally, selection: Selection) -> tuple[Counts, Vocabulary]:
    """The counts and words that a selection keeps."""
    counts, vocabulary = tally.counts(), tally.vocabulary
    if selection.keeps_all:
        return counts, vocabulary
    occurrences = counts.by_feature(counts.occurrences)
    keep = selection.mask(counts.by_feature(counts.documents), occurrences, tally.n_documents)
    selection.break_ties(keep, occurrences, vocabulary.words)
    return counts.select(keep), vocabulary.select(np.flatnonzero(keep))


def with_unknown(counts: Counts, vocabulary: Vocabulary, policy: str) -> tuple[Counts, Vocabulary]:
    """Counts and words with a row for unknown words.

    ``smooth`` gives it no occurrence, so that it has the weight of a word never seen; ``count`` has
    counted it already. ``first`` takes the first occurrence of each word for it. Which class that
    was depends on the order of the documents, which a tally does not know and should not: each
    class gives up its share of one occurrence, the expectation over all orders.
    """
    moved = np.zeros(len(counts.classes))
    if policy == "first":
        shares = []
        for values in (counts.occurrences, counts.documents):
            total = counts.by_feature(values)[counts.feature_of]
            shares.append(values / np.maximum(total, 1.0))
        moved = counts.by_class(shares[0])
        counts = replace(
            counts,
            occurrences=np.maximum(counts.occurrences - shares[0], 0.0),
            documents=np.maximum(counts.documents - shares[1], 0.0),
        )
    grown, place = vocabulary.insert(UNKNOWN)
    return counts.insert(place, moved, new=len(grown) > len(vocabulary)), grown
