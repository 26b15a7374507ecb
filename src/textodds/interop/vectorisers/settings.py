"""Which settings of ours cut texts as a vectoriser of scikit-learn does."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from textodds._kernels import Analyser
from textodds.errors import InputError
from textodds.interop.vectorisers.raw_documents import Vectoriser
from textodds.text import TextSettings
from textodds.text.units import unit_of_pattern

METHODS = (
    "build_analyzer",
    "build_preprocessor",
    "build_tokenizer",
    "decode",
    "get_stop_words",
    "_word_ngrams",
    "_char_ngrams",
    "_char_wb_ngrams",
)
"""What users override to cut texts in their own way."""

DTYPES = "?bBhHiIlLqQfd"  # the kinds of numbers that sparse matrices of SciPy hold, complex ones left out

UNITS = {"char": "characters", "char_wb": "characters-in-words"}
ACCENTS: dict[str | None, bool | str] = {None: False, "unicode": True, "ascii": "ascii"}


def analyser_of(vectoriser: Vectoriser, parent: type) -> Analyser | None:
    """The kernel that finds the terms that a vectoriser of scikit-learn would; None if there is none.

    ``parent`` is scikit-learn's own class, whose methods must be in force. Whatever is odd is left to it.
    """
    kind, own = type(vectoriser), vars(vectoriser)
    if any(getattr(kind, name) is not getattr(parent, name) or name in own for name in METHODS):
        return None
    if vectoriser.preprocessor is not None or vectoriser.tokenizer is not None:
        return None
    try:
        if np.dtype(vectoriser.dtype).char not in DTYPES:
            return None
        accents = ACCENTS[vectoriser.strip_accents]
        unit, stop_words = UNITS.get(vectoriser.analyzer), None
        if unit is None and vectoriser.analyzer == "word":
            unit, stop_words = unit_of_pattern(vectoriser.token_pattern), vectoriser.get_stop_words()
        if unit is None:
            return None
        first, last = vectoriser.ngram_range
        return _analyser(unit, (first, last), bool(vectoriser.lowercase), accents, stop_words)
    except (AttributeError, InputError, KeyError, TypeError, ValueError):
        return None  # scikit-learn knows what to say of it


@lru_cache(maxsize=64)
def _analyser(
    unit: str, ngrams: tuple[int, int], lower: bool, accents: bool | str, stop_words: frozenset[str] | None
) -> Analyser:
    return TextSettings.sklearn(
        unit=unit, ngrams=ngrams, lower=lower, strip_accents=accents, stop_words=tuple(stop_words or ())
    ).analyser
