"""Features by name: the settings of texts that are tried, and that people ask for."""

from __future__ import annotations

from typing import Any

FEATURES: dict[str, dict[str, Any]] = {
    "words": {"ngrams": (1, 1)},
    "pairs": {"ngrams": (1, 2)},
    "triples": {"ngrams": (1, 3)},
    "letters": {"unit": "characters-in-words", "ngrams": (1, 5)},
    "characters": {"ngrams": (1, 2), "characters": (2, 5)},
}
"""Features by name: words; with pairs of words; with three in a row; runs of letters within words, and no
words; words, pairs, and runs of letters beside them."""
