"""A text and the model that has read it: what an explanation looks at when asked for more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.learn.calibration import Calibration
from textodds.learn.forms.linear import LinearModel
from textodds.model.explain.place import PlacedTerm, placed_terms, placed_words
from textodds.text import UNKNOWN, TextSettings, Vocabulary

if TYPE_CHECKING:
    from textodds.learn.forms.quadratic import QuadraticModel

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReadText:
    """A text, and the model as it was when it read it; learning more changes the model, not this."""

    text: str
    settings: TextSettings
    vocabulary: Vocabulary
    kernel: _kernels.Linear
    form: LinearModel | QuadraticModel
    calibration: Calibration | None
    label: int
    rival: int | None  # None: whichever class would win
    is_unit: bool = False  # rows are brought to length 1
    counts_unknown: bool = False  # unknown words count as one of their own

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the model."""
        return self.form.classes

    @property
    def linear(self) -> LinearModel | None:
        """The form of a model in which words add up one by one; None of any other."""
        return self.form if isinstance(self.form, LinearModel) else None

    def score(self, texts: list[str]) -> Floats:
        """The scores of texts, (N, K)."""
        if isinstance(self.form, LinearModel):
            return self.calibrated(self.kernel.score(texts, 1)[0])
        from scipy import sparse

        starts, words, values, _ = self.kernel.rows(texts)
        rows = sparse.csr_array((values, words, starts), (len(texts), len(self.vocabulary)))
        return self.calibrated(self.form.scores(rows))

    def calibrated(self, scores: Floats) -> Floats:
        """Scores whose softmax is what the model answers, of its own (N, K)."""
        if self.calibration is None:
            return scores
        prior = self.form.log_prior
        return np.asarray(self.calibration.applied(scores - prior) + prior)

    @property
    def slope(self) -> float:
        """What calibration multiplies the evidence of words with."""
        return 1.0 if self.calibration is None else float(self.calibration.slopes[0])

    @property
    def start(self) -> Floats:
        """Scores of a text without words, (K,)."""
        if not isinstance(self.form, LinearModel):
            return np.asarray(self.score([""])[0])
        return np.asarray(self.calibrated((self.form.log_prior + self.form.intercept)[None])[0])

    @cached_property
    def words(self) -> list[PlacedTerm]:
        """The words of the text in order, stop words left out; each with its one stretch, if found."""
        return placed_words(self.settings, self.text)

    @cached_property
    def terms(self) -> list[tuple[PlacedTerm, bool]]:
        """The terms of the text, named as the model names them, each with whether it knows it."""
        terms = placed_terms(self.settings, self.text)
        if self.settings.hash_bits is not None:
            known = set(self.vocabulary.words(self.kernel.rows([self.text], False)[1]))
            found = [term.name in known for term in terms]
        else:
            found = (self.vocabulary.find([term.name for term in terms]) >= 0).tolist()
        instead = UNKNOWN if self.counts_unknown else None
        return [
            (
                term if known or instead is None else PlacedTerm(instead, term.spans),
                known and term.name != UNKNOWN,
            )
            for term, known in zip(terms, found, strict=True)
        ]

    def without(self, removed: set[str]) -> str:
        """The text without some of its words, and without the white space that they leave."""
        if not all(word.spans for word in self.words):  # rare: then the words stand for the text
            return " ".join(word.name for word in self.words if word.name not in removed)
        gaps = [word.spans[0] for word in self.words if word.name in removed]
        text, kept, end = self.text, [], 0
        for start, stop in _merged(text, gaps):
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


def _merged(text: str, gaps: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
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
