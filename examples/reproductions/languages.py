"""Which of 79 languages: sentences, pairs of words, single words, by runs of characters.

    python examples/reproductions/languages.py

The test files are those of the detector lingua (Leipzig corpora). The reference is scikit-learn's
`CountVectorizer(analyzer="char_wb", ngram_range=(1, 3), min_df=2)` with `MultinomialNB(alpha=0.1)`,
trained on 80 % of the sentences. The same is done here, then alpha is chosen by leaving out one sentence at a
time, then runs are allowed to be longer. Everything is learned from sentences: no word list, no pairs.
"""

from __future__ import annotations

from typing import Any

import textodds
from data_sets import Rows, rows_of
from results import Cell, Results, Share, Table, timed
from script import main
from textodds.learn.naive_bayes import MultinomialLearner

REFERENCE = (97.29, 86.51, 69.01)
"""Accuracy of scikit-learn in percent, on sentences, pairs and single words."""

TESTS = {"sentences": "test", "pairs": "test_word_pairs", "single words": "test_single_words"}

OPEN = MultinomialLearner(alpha=None)
SAME = {"min_df": 2, "normal_form": None}
RECIPES: dict[str, dict[str, Any]] = {
    "the same: up to 3, alpha 0.1": {**SAME, "learner": MultinomialLearner(0.1), "ngrams": (1, 3)},
    "up to 3": {"learner": OPEN, "ngrams": (1, 3)},
    "up to 4": {"learner": OPEN, "ngrams": (1, 4)},
    "up to 5": {"learner": OPEN, "ngrams": (1, 5)},
    "up to 6": {"learner": OPEN, "ngrams": (1, 6)},
    "up to 5, calibrated": {"learner": OPEN, "ngrams": (1, 5), "calibrate": True},
}
"""How characters are counted, and smoothed; alpha is chosen where it is not given."""

BEST = "up to 6"


def unseen(train: Rows, test: Rows) -> Rows:
    """The test rows of which no word is in a training sentence of the same language."""
    known = {(label, word) for text, label in zip(*train, strict=True) for word in words(text)}
    new = [
        (text, label)
        for text, label in zip(*test, strict=True)
        if not any((label, word) in known for word in words(text))
    ]
    return [text for text, _ in new], [label for _, label in new]


def words(text: str) -> list[str]:
    """The words of a text as `textodds` cuts it."""
    return textodds.TextSettings().terms(text)


def run(quick: bool) -> Results:
    """Accuracy on the three kinds of texts, and on those of which nothing was seen."""
    train = rows_of("langid_lingua", quick=quick)
    tests = {name: rows_of("langid_lingua", part, quick=quick) for name, part in TESTS.items()}
    rows: list[tuple[Cell, ...]] = [("scikit-learn", 0.1, *REFERENCE, None)]
    models: dict[str, Any] = {}
    for name, recipe in RECIPES.items():
        how = {"unit": "characters-in-words", "calibrate": False, **recipe}
        models[name], seconds = timed(textodds.train, *train, **how)
        learner: Any = models[name].recipe.learner
        rows.append((name, learner.alpha, *(right(models[name], test) for test in tests.values()), seconds))
    percent = dict.fromkeys((f"{name} %" for name in TESTS), ".2f")
    accuracy = Table({"characters": "", "alpha": ".4f", **percent, "CPU s": ".1f"}, tuple(rows))
    new = {name: unseen(train, test) for name, test in tests.items() if name != "sentences"}
    rows = [
        (name, len(tests[name][0]), right(models[BEST], tests[name]), len(test[0]), right(models[BEST], test))
        for name, test in new.items()
    ]
    columns = ("texts", "all", "accuracy %", "with no word of training", "accuracy on them %")
    seen = Table(dict.fromkeys(columns, ","), tuple(rows))
    return Results({"79 languages": accuracy, "Words that were never seen": seen})


def right(model: Any, rows: Rows) -> Share:
    """The accuracy of a model."""
    return Share.right(model.evaluate(*rows))


if __name__ == "__main__":
    raise SystemExit(main(run, __doc__))
