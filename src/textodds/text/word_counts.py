"""A document as its table of word counts, which is all that a bag of words keeps of it."""

from __future__ import annotations

from collections import Counter

from textodds.errors import InputError
from textodds.text.settings import TextSettings


def word_counts(text: str, settings: TextSettings | None = None) -> dict[str, int]:
    """How often each word is in a text, the most frequent first, and of equals that which comes first.

    Parameters
    ----------
    text : str
        One document.
    settings : TextSettings, optional
        How it is cut into words; those of a model are ``model.recipe.settings``.

    Examples
    --------
    >>> word_counts("Grain, oilseed; total grain: wheat and GRAIN")
    {'grain': 3, 'oilseed': 1, 'total': 1, 'wheat': 1, 'and': 1}
    """
    if not isinstance(text, str):
        raise InputError(f"a text must be str, got {type(text).__name__}", hint="give one text at a time")
    return dict(Counter((settings or TextSettings()).terms(text)).most_common())
