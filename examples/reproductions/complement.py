"""Complement naive Bayes and its weighted forms against the multinomial model.

    python examples/reproductions/complement.py

Rennie, Shih, Teevan and Karger (2003), "Tackling the poor assumptions of naive Bayes text classifiers": a
class is known by the words of all others (CNB), its weights are normalised (WCNB), and counts are
transformed as for a search engine (TWCNB). What it is for are classes of unequal size, so that newsgroups
are tried as they are and with training posts that get fewer from group to group.
"""

from __future__ import annotations

import random
from typing import Any

import textodds
from data_sets import Rows, rows_of
from results import Cell, Results, Share, Table
from script import main
from textodds.learn.naive_bayes import ComplementLearner, MultinomialLearner

LEARNERS: dict[str, MultinomialLearner | ComplementLearner] = {
    "multinomial": MultinomialLearner(1.0),
    "CNB": ComplementLearner(1.0),
    "WCNB": ComplementLearner(norm=True),
    "TWCNB": ComplementLearner(norm=True, transform=True),
    "TWCNB, alpha 0.1": ComplementLearner(alpha=0.1, norm=True, transform=True),
    "TWCNB, alpha 0.01": ComplementLearner(alpha=0.01, norm=True, transform=True),
}
"""Alpha is 1 where nothing else is said, as in the paper."""

PUBLISHED = {"multinomial": 84.8, "TWCNB": 86.1}
"""Accuracy on 20 Newsgroups, in percent, over random splits; a support vector machine had 86.2."""

RAREST = 0.05
"""Share of its posts that the last of the skewed groups keeps; the first keeps all of them."""


def pooled(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Four fifths of all posts at random to learn from, and the others to test on."""
    rows = [row for part in (train, test) for row in zip(*part, strict=True)]
    random.Random(0).shuffle(rows)
    cut = len(rows) // 5
    return columns(rows[cut:]), columns(rows[:cut])


def skewed(rows: Rows) -> Rows:
    """The rows with fewer and fewer of each class, in the order of their names, by a constant factor."""
    classes = sorted(set(rows[1]))
    share = {name: RAREST ** (k / (len(classes) - 1)) for k, name in enumerate(classes)}
    chance = random.Random(0)
    return columns([row for row in zip(*rows, strict=True) if chance.random() < share[row[1]]])


def columns(rows: list[tuple[str, str]]) -> Rows:
    """The texts and the labels of rows."""
    return [text for text, _ in rows], [label for _, label in rows]


def run(quick: bool) -> Results:
    """Accuracy and macro-averaged F1 of each model on four tasks."""
    news = rows_of("20newsgroups", quick=quick), rows_of("20newsgroups", "test", quick=quick)
    tasks = {
        "at random": pooled(*news),
        "by date": news,
        "by date, skewed": (skewed(news[0]), news[1]),
        "R8": (rows_of("reuters_r8", quick=quick), rows_of("reuters_r8", "test", quick=quick)),
    }
    accuracy: list[tuple[Cell, ...]] = []
    macro_f1: list[tuple[Cell, ...]] = []
    for name, learner in LEARNERS.items():
        how: dict[str, Any] = {"learner": learner, "sklearn": True, "calibrate": False}
        found = [textodds.train(*train, **how).evaluate(*test) for train, test in tasks.values()]
        accuracy.append((name, PUBLISHED.get(name), *(Share.right(one) for one in found)))
        macro_f1.append((name, *(100 * one.macro_f1 for one in found)))
    percent = dict.fromkeys((f"{task} %" for task in tasks), ".2f")
    return Results(
        {
            "Accuracy": Table({"model": "", "published, at random %": ".1f", **percent}, tuple(accuracy)),
            "Macro-averaged F1": Table({"model": "", **percent}, tuple(macro_f1)),
        }
    )


if __name__ == "__main__":
    raise SystemExit(main(run, __doc__))
