"""What a model of texts knows of one word, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from textodds.model.text_model import TextModel
    from textodds.text import Vocabulary


def word_weights(model: TextModel, given: str) -> dict[str, Any]:
    """Count, weight and log-odds against the mean of the other classes of a word in each class.

    A word that the model does not have as ``given`` is looked for as the model spells it: without capitals,
    or as a hash bucket. Counts are None where the model was saved without them.
    """
    word = given
    if _number(model.vocabulary, word) < 0 and len(terms := model.recipe.settings.terms(given)) == 1:
        word = terms[0]
    number, K = _number(model.vocabulary, word), len(model.classes_)
    known = number >= 0
    weights = model.linear.weights.rows(np.array([number]))[0] if known else np.full(K, np.nan)  # (K,)
    odds = weights - (weights.sum() - weights) / max(K - 1, 1)
    counts = [None] * K if model._tally is None else _occurrences(model, word)
    by_class = {
        label: {"count": count, "weight": float(w), "log_odds": float(o)}
        for label, count, w, o in zip(model.classes_, counts, weights, odds, strict=True)
    }
    return {"word": word, "known": known, "by_class": by_class}


def _number(vocabulary: Vocabulary, word: str) -> int:
    """The number of a word, -1 if it has none."""
    number = int(vocabulary.find([word])[0])
    if number < 0 and word.startswith("#"):  # `find` does not know a hash bucket by its name
        names = vocabulary.words()
        return names.index(word) if word in names else -1
    return number


def _occurrences(model: TextModel, word: str) -> list[float]:
    tally = model.tally
    by_class = np.zeros(len(tally.classes))
    number = _number(tally.vocabulary, word)
    if number >= 0:
        cells = slice(int(tally.starts[number]), int(tally.starts[number + 1]))
        by_class[tally.class_of[cells]] = tally.occurrences[cells] / 2**tally.fraction
    return by_class.tolist()
