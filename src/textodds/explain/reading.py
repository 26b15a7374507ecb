"""A text and the model that has read it: what an explanation looks at when asked for more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.explain.place import Placed, placed_terms, placed_words
from textodds.linear import LinearModel
from textodds.text import UNKNOWN, TextSettings, Vocabulary

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """A text, and the model as it was when it read it; learning more changes the model, not this."""

    text: str
    settings: TextSettings
    vocabulary: Vocabulary
    kernel: _kernels.Linear
    score: Callable[[list[str]], Floats]  # texts to (N, K)
    classes: tuple[str, ...]
    label: int
    rival: int | None  # None: whichever class would win
    linear: LinearModel | None  # None: words do not add up one by one
    is_unit: bool = False  # rows are brought to length 1
    counts_unknown: bool = False  # unknown words count as one of their own

    @cached_property
    def words(self) -> list[Placed]:
        """The words of the text in order, stop words left out; each with its one stretch, if found."""
        return placed_words(self.settings, self.text)

    @cached_property
    def terms(self) -> list[tuple[Placed, bool]]:
        """The terms of the text where they stand, named as the model names them, and whether it knows them."""
        terms = placed_terms(self.settings, self.text)
        if self.settings.hash_bits is not None:
            known = set(self.vocabulary.words(self.kernel.rows([self.text], False)[1]))
            found = [term.name in known for term in terms]
        else:
            found = (self.vocabulary.find([term.name for term in terms]) >= 0).tolist()
        instead = UNKNOWN if self.counts_unknown else None
        return [
            (
                term if known or instead is None else Placed(instead, term.spans),
                known and term.name != UNKNOWN,
            )
            for term, known in zip(terms, found, strict=True)
        ]

    def without(self, removed: set[str]) -> str:
        """The text without some of its words, a space in place of each."""
        if not all(word.spans for word in self.words):  # rare: then the words stand for the text
            return " ".join(word.name for word in self.words if word.name not in removed)
        kept, end = [], 0
        for word in self.words:
            if word.name in removed:
                start, stop = word.spans[0]
                kept += [self.text[end:start], " "]
                end = stop
        return "".join([*kept, self.text[end:]])
