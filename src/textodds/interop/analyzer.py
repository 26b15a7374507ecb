"""Our tokeniser as scikit-learn's vectorisers take one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from textodds.text import UNKNOWN, TextSettings


@dataclass(frozen=True)
class Analyzer:
    """The terms of a text: an ``analyzer`` for scikit-learn's vectorisers that can be pickled.

    Where ``known`` are given, every other term is ``<UNK>``.

    Examples
    --------
    >>> Analyzer(TextSettings(ngrams=(1, 2)))("Don't panic!")
    ["don't", 'panic', "don't panic"]
    >>> Analyzer(TextSettings(), frozenset(["panic"]))("Don't panic!")
    ['<UNK>', 'panic']
    """

    settings: TextSettings
    known: frozenset[str] | None = field(default=None, repr=False)

    def __call__(self, text: str) -> list[str]:
        """The terms of one text."""
        terms = self.settings.terms(text)
        if self.known is None:
            return terms
        return [term if term in self.known else UNKNOWN for term in terms]

    def __reduce__(self) -> tuple[Callable[..., Analyzer], tuple[object, ...]]:
        return _terms, (self.settings.as_dict(), self.known)  # the kernel behind the settings has no copy


def _terms(settings: dict[str, Any], known: frozenset[str] | None) -> Analyzer:
    return Analyzer(TextSettings(**settings), known)
