"""Which settings of ours cut texts as a vectoriser of scikit-learn does."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from textodds._kernels import Analyser
from textodds.errors import InputError
from textodds.text import TextSettings
from textodds.text.units import unit_of

METHODS = ("build_analyzer", "build_preprocessor", "build_tokenizer", "get_stop_words")
"""What users override to cut texts in their own way."""

UNITS = {"char": "characters", "char_wb": "characters-in-words"}


def analyser_of(vectoriser: Any, parent: type) -> Analyser | None:
    """The kernel that finds the terms that a vectoriser of scikit-learn would; None if there is none.

    ``parent`` is scikit-learn's own class, whose methods must be in force.
    """
    if any(getattr(type(vectoriser), name) is not getattr(parent, name) for name in METHODS):
        return None
    choices = (vectoriser.analyzer, vectoriser.preprocessor, vectoriser.tokenizer, vectoriser.strip_accents)
    if any(map(callable, choices)):
        return None
    unit = UNITS.get(vectoriser.analyzer)
    stop_words = None
    if unit is None:
        unit = unit_of(vectoriser.token_pattern) if vectoriser.token_pattern else None
        stop_words = vectoriser.get_stop_words()
    if unit is None:
        return None
    accents = {"unicode": True, "ascii": "ascii"}.get(vectoriser.strip_accents, False)
    try:
        return _analyser(unit, tuple(vectoriser.ngram_range), vectoriser.lowercase, accents, stop_words)
    except (InputError, TypeError):  # more than 16 words in a row, stop words that are no texts, and the like
        return None


@lru_cache(maxsize=64)
def _analyser(
    unit: str, ngrams: tuple[int, int], lower: bool, accents: bool | str, stop_words: frozenset[str] | None
) -> Analyser:
    return TextSettings.sklearn(
        unit=unit, ngrams=ngrams, lower=lower, strip_accents=accents, stop_words=tuple(stop_words or ())
    ).analyser
