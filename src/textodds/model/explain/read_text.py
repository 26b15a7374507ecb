"""A text and the model that has read it: what an explanation looks at when asked for more, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.batch import BETWEEN_FIELDS, Batch
from textodds.learn.calibration import Calibration
from textodds.learn.forms.linear import LinearModel
from textodds.learn.forms.low_rank import FactoredModel
from textodds.model.explain.place import Origins, PlacedTerm, placed_terms, placed_words, prepare
from textodds.text import UNKNOWN

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel

Floats = NDArray[np.float64]


class Row(NamedTuple):
    """A text as numbers: its features, increasing, with counts and values; and which each term is."""

    places: NDArray[np.int32]  # of each term in order, among the features; -1 for none
    features: NDArray[np.int32]
    counts: Floats
    values: Floats
    unknown: int  # terms that are no feature


@dataclass(frozen=True, eq=False)
class ReadText:
    """A text, and the model as it was when it read it; learning more changes the model, not this."""

    text: str
    model: TextModel  # a copy, without its calibration if that is not asked for
    label: int
    rival: int | None  # None: whichever class would win

    @property
    def kernel(self) -> _kernels.Linear:
        """What cuts texts into terms, and scores them."""
        return self.model.scorer.kernel

    @property
    def shown(self) -> str:
        """The text as it is shown, character by character: of several fields, each begins a line."""
        return self.text.replace(BETWEEN_FIELDS, "\n") if self.model.recipe.settings.fields else self.text

    @property
    def is_unit(self) -> bool:
        """Whether rows are brought to length 1."""
        weighting = None if self.model.scale is None else self.model.recipe.weighting
        return weighting is not None and weighting.unit

    def score(self, texts: list[str]) -> Floats:
        """The scores of texts, (N, K)."""
        return self.model.score_batch(Batch(texts))[0]

    @property
    def calibration(self) -> Calibration:
        """What calibration makes of the evidence of words."""
        return self.model.calibration or Calibration.none()

    @property
    def start(self) -> Floats:
        """Scores of a text without words, (K,)."""
        form = self.model.form
        if isinstance(form, FactoredModel):
            return form.log_prior + self.calibration.applied(form.nothing)
        if not isinstance(form, LinearModel):
            return np.asarray(self.score([""])[0])
        return form.log_prior + self.calibration.applied(form.intercept)

    @property
    def without_words(self) -> Floats:
        """Scores of a text of which the model knows no word, (K,)."""
        return self.model.form.log_prior if self.model.has_prior_without_words else self.start

    @property
    def intercept(self) -> Floats:
        """What the model adds to the prior before reading and before it is calibrated, (K,)."""
        form = self.model.form
        if isinstance(form, LinearModel):
            return form.intercept
        if isinstance(form, FactoredModel):
            return form.nothing
        return np.asarray(self.model.score_batch(Batch([""]), calibrate=False)[0][0] - form.log_prior)

    @cached_property
    def row(self) -> Row:
        """The features of the text, and which of them each of its terms is."""
        return Row(*self.kernel.reading(self.text))

    @cached_property
    def prepared(self) -> tuple[str, Origins]:
        """The text in its normal form, and where each character came from."""
        return prepare(self.model.recipe.settings, self.text)

    @cached_property
    def words(self) -> list[PlacedTerm]:
        """The words of the text in order, stop words left out; each with its one stretch, if found."""
        settings = self.model.recipe.settings
        is_apart = bool(settings.fields) or settings.buckets is not None  # these are prepared part by part
        return placed_words(settings, self.text, None if is_apart else self.prepared)

    @cached_property
    def terms(self) -> list[tuple[PlacedTerm, bool]]:
        """The terms of the text, named as the model names them, each with whether it knows it."""
        recipe, vocabulary = self.model.recipe, self.model.vocabulary
        terms = placed_terms(recipe.settings, self.text, self.words)
        if recipe.settings.hash_bits is not None or recipe.settings.buckets is not None:
            names = set(vocabulary.words(self.kernel.rows([self.text], False)[1]))
            known = [term.name in names for term in terms]
        else:
            known = (vocabulary.find([term.name for term in terms]) >= 0).tolist()
        counts_unknown = recipe.unknown != "ignore"  # as one word of their own
        if not counts_unknown and not recipe.settings.count_unknown:
            return list(zip(terms, known, strict=True))
        return [
            (
                PlacedTerm(UNKNOWN, term.spans) if counts_unknown and not is_known else term,
                is_known and term.name != UNKNOWN,
            )
            for term, is_known in zip(terms, known, strict=True)
        ]

    def without(self, removed: set[str]) -> str:
        """The text without some of its words, and without the white space that they leave."""
        if not all(word.spans for word in self.words):  # rare: then the words stand for the text
            return self._of_words([word.name for word in self.words if word.name not in removed])
        gaps = [word.spans[0] for word in self.words if word.name in removed]
        if not self.model.recipe.settings.fields:
            return _cut(self.text, gaps)
        parts, at = [], 0  # what stands between fields is not white space
        for part in self.text.split(BETWEEN_FIELDS):
            end = at + len(part)
            parts.append(_cut(part, [(start - at, stop - at) for start, stop in gaps if at <= start < end]))
            at = end + 1
        return BETWEEN_FIELDS.join(parts)

    def _of_words(self, words: list[str]) -> str:
        """A text of these words, each in its field."""
        fields = self.model.recipe.settings.fields
        if not fields:
            return " ".join(words)
        named = [(name.partition(":")[0], name.partition(":")[2]) for name in words]
        return BETWEEN_FIELDS.join(" ".join(word for own, word in named if own == field) for field in fields)


def _cut(text: str, gaps: list[tuple[int, int]]) -> str:
    """The text without some stretches, and without the white space that they leave."""
    kept, end = [], 0
    for start, stop in _merge_gaps(text, gaps):
        begins = start == 0 or text[start - 1].isspace()
        ends = stop == len(text) or text[stop].isspace()
        kept.append(text[end:start])
        if not (begins and ends):
            kept.append(" ")  # or its neighbours would become one word
        elif stop == len(text):
            kept[-1] = kept[-1].rstrip()
        end = stop
        while begins and end < len(text) and text[end].isspace():
            end += 1
    return "".join([*kept, text[end:]])


def _merge_gaps(text: str, gaps: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The gaps, those with nothing but white space between them as one."""
    start, stop = -1, -1
    for first, last in gaps:
        if start >= 0 and not text[stop:first].strip():
            stop = max(stop, last)
            continue
        if start >= 0:
            yield start, stop
        start, stop = first, last
    if start >= 0:
        yield start, stop
