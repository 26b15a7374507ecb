"""Recipes: every choice that makes a model, as options or as it is written, and the making of it from counts.

Learners are written with their settings, ``softmax:C=10:ngrams=1-2, multinomial:binary``: a comma separates
learners, a colon settings. The learner checks its own; those of how texts are cut, and which words are kept,
go with every learner of texts, and with ``auto``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import BadFile, InputError, NoData, Unsupported, suggestion
from textodds.learn import naive_bayes, registry
from textodds.learn.conditionals import Multinomial
from textodds.learn.forms.linear import LinearModel
from textodds.learn.registry import AUTO, LEARNERS, Learner, canonical, learner_named, names_of, settings_of
from textodds.stats.tally import Counts, Tally
from textodds.text import UNKNOWN, Selection, TextSettings, Vocabulary, Weighting
from textodds.text.plain import checked

if TYPE_CHECKING:
    from textodds.learn.word_prior import WordPrior

UNKNOWN_POLICIES = ("ignore", "smooth", "first", "count")

OF_WEIGHTING = {"frequency": "frequency", "idf": "idf", "smooth": "smooth", "unit_length": "unit"}
"""Settings of what occurrences are worth, and the field of `Weighting` that each is."""

OF_TEXTS = (
    *(each.name for each in fields(TextSettings) if each.name not in ("count_unknown", "fields")),
    *(each.name for each in fields(Selection)),
    *("unknown", "sklearn"),
    *OF_WEIGHTING,
)
"""Settings of how texts are cut, which words are kept, and what they are worth."""

FLAGS = ("lower", "strip_accents", "sklearn", "idf", "smooth", "unit_length")
"""Those that may stand alone, for yes."""


@dataclass(frozen=True)
class Recipe:
    """Every choice that makes a model from data."""

    settings: TextSettings
    selection: Selection
    unknown: str
    learner: Learner
    weighting: Weighting | None = None  # None: words count as often as they occur
    is_open: bool = False  # whether training may still add trigrams or characters, if that is better
    calibrate: bool = True  # whether probabilities are calibrated on documents left out
    chooses_smoothing: bool = False  # whether the alpha of the learner was left to be chosen
    neighbours: WordPrior | None = (
        None  # what unlabelled texts or vectors say of words, of softmax regression
    )

    def __post_init__(self) -> None:
        if self.unknown not in UNKNOWN_POLICIES:
            raise InputError(
                f"unknown policy `{self.unknown}`{suggestion(self.unknown, UNKNOWN_POLICIES)}",
                hint=f"words outside the vocabulary: one of {', '.join(UNKNOWN_POLICIES)}",
            )
        if self.chooses_smoothing:
            alpha = getattr(self.learner, "alpha", None)
            if (
                not isinstance(self.learner, naive_bayes.CountLearner)
                or not isinstance(alpha, float)
                or not alpha > 0
            ):
                raise InputError("a smoothing that was chosen is one number, of naive Bayes")
        needs_documents = self.learner.entry.needs_documents
        if self.unknown != "ignore" and (needs_documents or self.learner.rereads):
            raise Unsupported("weighted documents cannot count unknown words", hint="use unknown='ignore'")
        if self.weighting is not None and not needs_documents:
            takers = (name for name in names_of(texts=True) if LEARNERS[name].needs_documents)
            raise Unsupported(
                "naive Bayes learns from counts, which a weighting would change",
                hint=f"leave the weighting out, or use a learner that takes one: {', '.join(takers)}",
            )

    @property
    def asked_learner(self) -> Learner:
        """The learner as it was asked for: with the smoothing open, if it was."""
        return replace(self.learner, alpha=None) if self.chooses_smoothing else self.learner  # type: ignore[type-var]

    def with_smoothing(self, alpha: float, *, chosen: bool = False) -> Recipe:
        """The recipe with this alpha in the place of one that is open, or that was chosen."""
        if not self.learner.is_smoothing_open and not self.chooses_smoothing:
            return self
        learner = replace(self.learner, alpha=alpha)  # type: ignore[type-var]
        return replace(self, learner=learner, chooses_smoothing=chosen)

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return {
            "settings": self.settings.as_dict(),
            "selection": asdict(self.selection),
            "unknown": self.unknown,
            "learner": registry.as_dict(self.learner),
            "weighting": None if self.weighting is None else self.weighting.as_dict(),
            **({} if self.calibrate else {"calibrate": False}),  # most are, and files before said nothing
            **({"smoothing": "chosen"} if self.chooses_smoothing else {}),
            **({} if self.neighbours is None else {"neighbours": self.neighbours.as_dict()}),
        }

    @classmethod
    def of_dict(cls, plain: dict[str, Any]) -> Recipe:
        """The recipe that `as_dict` made plain data of."""
        weighting = plain.get("weighting")  # not in the files of format 1
        recipe = cls(
            TextSettings(**checked(TextSettings, plain["settings"])),
            Selection(**checked(Selection, plain["selection"])),
            str(plain["unknown"]),
            registry.of_dict(plain["learner"]),
            None if weighting is None else Weighting(**checked(Weighting, weighting)),
            calibrate=plain.get("calibrate", True) is True,
            chooses_smoothing=plain.get("smoothing") == "chosen",
        )
        if weighting is None and recipe.learner.entry.needs_documents:
            raise InputError(f"a recipe of {recipe.learner.entry.name} has no weighting")
        return recipe


def why_no_density(recipe: Recipe) -> Unsupported | None:
    """Why what a recipe counts is not a distribution of texts, though its learner is one; None if it is.

    A pair of words brings both of its words, and a word that is counted once cannot come again: the features
    of a text are then not drawn independently, and most counts that the model finds likely have no text.
    """
    settings, conditional = recipe.settings, recipe.learner.conditional
    if isinstance(conditional, Multinomial) and conditional.binary:
        return Unsupported(
            "a binary model counts a word once a text, and does not draw words one by one",
            hint="train without binary, or with the learner bernoulli",
        )
    if settings.ngrams != (1, 1) or settings.characters is not None:
        return Unsupported(
            "terms that overlap, such as pairs of words, are not drawn one by one: a text has no probability",
            hint="train on single words: ngrams=(1, 1), without characters",
        )
    return None


def is_of_documents(recipe: Recipe) -> bool:
    """Whether a recipe needs all documents at once, rather than their counts."""
    return recipe.learner.entry.needs_documents or recipe.learner.rereads


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
    learner = registry.resolved(learner)
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
    must_be_trainable(settings, weighting)
    selection = Selection(1 if min_df is None else min_df, max_df, max_features)
    return Recipe(settings, selection, unknown, learner, weighting, is_open)


def must_be_trainable(settings: TextSettings, weighting: Weighting | None = None) -> None:
    """Refuse features that only models from elsewhere have."""
    if settings.buckets is not None or (weighting is not None and weighting.mean):
        raise Unsupported(
            "the features of fastText are those of a model that comes from there, and are not trained on",
            hint="for its words and pairs: unit='whitespace', lower=False, ngrams=(1, 2)",
        )


def fitted(tally: Tally, recipe: Recipe) -> tuple[Vocabulary, LinearModel]:
    """The words and the fitted form that a recipe makes of counts."""
    counts, vocabulary = words_to_learn(tally, recipe.selection)
    if recipe.unknown != "ignore":
        counts, vocabulary = with_unknown(counts, vocabulary, recipe.unknown)
    assert isinstance(recipe.learner, naive_bayes.CountLearner)
    return vocabulary, naive_bayes.fit(recipe.learner, counts)


def words_to_learn(tally: Tally, selection: Selection) -> tuple[Counts, Vocabulary]:
    """As `selected`, where there is something to learn from."""
    if not tally.classes:
        raise NoData("there is nothing to learn from: no document has a weight above zero")
    counts, vocabulary = selected(tally, selection)
    if not len(vocabulary) and len(tally.vocabulary):
        raise NoData(
            f"no word is left of {len(tally.vocabulary):,}",
            hint="lower min_df, or raise max_df or max_features",
        )
    return counts, vocabulary


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
    class gives up its share of one occurrence, the expectation over all orders. A word that occurs
    once has none left, in any order, and is not a word of the model: it is unknown from then on.
    """
    moved = np.zeros(len(counts.classes))
    if policy == "first":
        shares = []
        for values in (counts.occurrences, counts.documents):
            total = counts.by_feature(values)[counts.feature_of]
            shares.append(values / np.maximum(total, 1.0))
        moved = counts.by_class(shares[0])
        keep = counts.by_feature(counts.occurrences) > 1.0
        left = replace(
            counts,
            occurrences=np.maximum(counts.occurrences - shares[0], 0.0),
            documents=np.maximum(counts.documents - shares[1], 0.0),
        )
        counts, vocabulary = left.select(keep), vocabulary.select(np.flatnonzero(keep))
    grown, place = vocabulary.insert(UNKNOWN)
    return counts.insert(place, moved, new=len(grown) > len(vocabulary)), grown


@dataclass(frozen=True)
class SpelledLearner:
    """A learner as it was written."""

    text: str  # as it was written
    name: str  # of the learner, or ``auto``
    settings: dict[str, Any] = field(default_factory=dict)  # those of the learner itself
    words: dict[str, Any] = field(default_factory=dict)  # how texts are cut and which words kept, for `train`

    def learner(self, **usual: object) -> Learner:
        """The learner, with ``usual`` settings in the place of those that are not given."""
        try:
            return learner_named(self.name, **{**usual, **self.settings})
        except InputError:  # in the words of the learner
            raise
        except (TypeError, ValueError) as error:
            text = next((key for key, value in self.settings.items() if isinstance(value, str)), "")
            raise InputError(
                f"`{text}` cannot be `{self.settings.get(text)}` in `{self.text}`", hint="write a number"
            ) from error


def spelled(text: str, *, side_by_side: bool = False) -> tuple[SpelledLearner, ...]:
    """The learners that are written: to choose from, or ``side_by_side``, where auto may be one of them.

    >>> one, two = spelled("softmax:C=10:ngrams=1-2, multinomial:binary:alpha=0.1")
    >>> one.name, one.settings, one.words
    ('softmax', {'C': 10.0}, {'ngrams': (1, 2)})
    >>> two.learner()
    MultinomialLearner(alpha=0.1, prior='data', binary=True)
    """
    found = tuple(_one(part.strip()) for part in _parts(text, ",") if part.strip())
    if not found:
        raise InputError("no learner is named", hint=f"name one of {', '.join([AUTO, *LEARNERS])}")
    for name in (names := [one.text for one in found]):
        if names.count(name) > 1:
            raise InputError(f"`{name}` is named twice", hint="leave out one of the two")
    if not side_by_side and len(found) > 1 and AUTO in (one.name for one in found):
        raise InputError(
            "auto is any of the learners", hint="write auto alone, or the learners to choose from"
        )
    return found


def _one(text: str) -> SpelledLearner:
    name, *written = (part.strip() for part in _parts(text, ":"))
    if name != AUTO and (known := canonical(name)) != name:
        name, text = known, ":".join([known, *written])
    # The settings of the learner, and their types.
    own = {} if name == AUTO else {each.name: str(each.type) for each in fields(LEARNERS[name].load())}  # type: ignore[arg-type]
    found = SpelledLearner(text, name)
    seen: set[str] = set()
    for setting in written:
        key, equals, value = (part.strip() for part in setting.partition("="))
        key = key.replace("-", "_")
        if not key or (equals and not value) or key in seen:
            raise InputError(
                f"`{text}` is not a learner with settings",
                hint="write each setting once, after a colon: `softmax:ngrams=1-2:C=10`",
            )
        seen.add(key)
        if key not in own and key not in OF_TEXTS:
            raise _unknown(name, key, tuple(own))
        if not equals and key not in (*FLAGS, *_flags_of(name)):
            raise InputError(f"`{key}` needs a value in `{text}`", hint=f"write `{key}=…`")
        place = found.settings if key in own else found.words
        place[key] = _value(key, value, text) if equals else True
        if key in own and type(place[key]) is int and "int" not in own[key]:
            place[key] = float(place[key])
    weighting = {OF_WEIGHTING[key]: found.words.pop(key) for key in OF_WEIGHTING if key in found.words}
    if weighting:
        found.words["weighting"] = Weighting(**weighting)
    if "stop_words" in found.words and found.words["stop_words"] != "english":
        found.words["stop_words"] = words_in(found.words["stop_words"])
    if "vocabulary" in found.words:  # blanks are part of what characters make
        unit = str(found.words.get("unit", ""))
        found.words["vocabulary"] = words_in(
            found.words["vocabulary"], stripped=not unit.startswith("characters")
        )
    if "hash_seed" in found.words and "hash_bits" not in found.words:
        raise InputError(
            "`hash_seed` is the seed of a hash, but words are not hashed", hint=f"write `{text}:hash_bits=22`"
        )
    if name != AUTO:
        found.learner()  # refuses now what cannot be
    return found


def _unknown(name: str, key: str, own: tuple[str, ...]) -> InputError:
    having = [other for other, entry in LEARNERS.items() if key in settings_of(entry.load())]
    if others := [other for other in having if LEARNERS[other].is_named] or having:
        value = "" if key in _flags_of(others[0]) else "=…"
        return InputError(
            f"{name} has no {key}", hint=f"`{key}` goes with {', '.join(others)}: `{others[0]}:{key}{value}`"
        )
    takes = f"it takes {', '.join(own)}; and of texts " if own else "it takes "
    return InputError(
        f"{name} has no {key}{suggestion(key, [*own, *OF_TEXTS])}", hint=takes + ", ".join(OF_TEXTS)
    )


def _flags_of(name: str) -> list[str]:
    """Settings of a learner that are yes or no."""
    own = () if name == AUTO else fields(LEARNERS[name].load())  # type: ignore[arg-type]
    return [each.name for each in own if isinstance(each.default, bool)]


def _parts(text: str, mark: str) -> list[str]:
    """A text cut at a mark, but not within braces, in which a prior may be written as JSON."""
    parts, depth = [""], 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == mark and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _value(key: str, value: str, text: str) -> Any:
    """The value of a setting.

    >>> _value("ngrams", "1-2", ""), _value("alpha", "auto", ""), _value("C", "0.5", "")
    ((1, 2), None, 0.5)
    """
    read, wanted = _READ.get(key, (_plain, ""))
    try:
        return read(value)
    except ValueError as error:
        raise InputError(f"`{key}` cannot be `{value}` in `{text}`", hint=f"write {wanted}") from error


def _plain(text: str) -> Any:
    named = {"auto": None, "none": None, "true": True, "false": False, "yes": True, "no": False}
    if text.lower() in named:
        return named[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _range(text: str) -> tuple[int, int]:
    shortest, dash, longest = text.partition("-")
    return int(shortest), int(longest) if dash else int(shortest)


def prior(text: str, mark: str = "/") -> str | dict[str, float]:
    """``data``, ``uniform``, or a probability for each class.

    >>> prior("spam=0.02/ham=0.98")
    {'spam': 0.02, 'ham': 0.98}
    """
    if text in ("data", "uniform"):
        return text
    if text.lstrip().startswith("{"):  # for labels that hold one of the marks
        return {str(label): float(share) for label, share in json.loads(text).items()}
    pairs = [part.rpartition("=") for part in text.split(mark)]
    given = {label.strip(): float(share) for label, _, share in pairs}
    if len(given) < len(pairs):  # a class that is named twice
        raise ValueError
    return given


def _documents(text: str) -> int | float:
    """A number of documents or, with a decimal point, a share of them."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _number(text: str) -> int | None:
    return None if text == "none" else int(text)


_READ: dict[str, tuple[Callable[[str], Any], str]] = {
    **dict.fromkeys(
        ("min_df", "max_df"), (_documents, "a number of texts such as 5, or a share of them such as 0.5")
    ),
    **dict.fromkeys(("max_features", "hash_bits", "hash_seed"), (_number, "a whole number")),
    "ngrams": (_range, "`1-2` for single words and pairs, `2` for pairs only"),
    "characters": (_range, "`2-5` for runs of two to five characters"),
    "prior": (prior, "`data`, `uniform`, or every class once: `prior=spam=0.02/ham=0.98`"),
    **dict.fromkeys(("unit", "stop_words", "vocabulary"), (str, "")),
}


def words_in(path: str, *, stripped: bool = True) -> list[str]:
    """The words in a file, one a line; blank lines are passed over."""
    from textodds.data import files

    try:
        with files.trouble(files.named(path)):
            lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadFile(f"`{path}` is not UTF-8: {error.reason} at byte {error.start}") from error
    return [word for line in lines if (word := line.strip() if stripped else line)]
