"""Spam on real mail: what headers add, and what is lost when a lost message is dear.

    python examples/reproductions/spam_costs.py

SpamAssassin's public corpus holds complete mails. Their headers give away how the corpus was collected
(relays, lists), so that a mail is also read without them, and as a table of its words and of what its sender
chose (`examples/mail_with_headers.py`). Androutsopoulos et al. (2000), "An evaluation of naive Bayesian
anti-spam filtering", say that to lose a wanted mail is as bad as to let 1, 9 or 999 unwanted ones through:
by the rule of least expected loss one model serves them all.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import textodds
from data_sets import Rows, rows_of
from results import Cell, Results, Share, Table, timed
from script import main
from textodds.judge.decisions import Losses, Rule
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.study.report.picture import STYLES, Picture, drawing, head

sys.path.append(str(Path(__file__).resolve().parent.parent))  # of the example that it builds on
from mail_with_headers import columns_of

COSTS = (1, 9, 999)
"""Spams that may as well come through as one wanted mail be lost."""

MOST = 12
"""Wanted mails that may be lost, in the picture."""

Floats = NDArray[np.float64]


def ways(parts: list[Rows]) -> dict[str, tuple[list[Any], dict[str, Any]]]:
    """Ways to read a mail: the rows of both parts, and how they are learned from."""
    whole = [texts for texts, _ in parts]
    tables = [[columns_of(text) for text in texts] for texts in whole]
    bodies = [[str(row["body"]) for row in rows] for rows in tables]
    naive, softmax = {"learner": MultinomialLearner(alpha=None)}, {"learner": "nb-softmax", "ngrams": (1, 2)}
    return {
        "whole mail, multinomial": (whole, naive),
        "whole mail, nb-softmax": (whole, softmax),
        "subject and body, multinomial": (bodies, naive),
        "subject and body, nb-softmax": (bodies, softmax),
        "subject, body and chosen headers": (tables, {"learner": "mixed", "columns": {"body": "text"}}),
    }


def run(quick: bool) -> Results:
    """Each way to read a mail, by accuracy and by what is lost at each cost."""
    parts = [rows_of("spamassassin", part, quick=quick) for part in ("train", "test")]
    labels, truth = parts[0][1], np.array(parts[1][1])
    quality: list[tuple[Cell, ...]] = []
    losses: list[tuple[Cell, ...]] = []
    drawn = {}
    for name, ((rows, new_rows), how) in ways(parts).items():
        model, seconds = timed(textodds.train, rows, labels, **how)
        found = model.evaluate(new_rows, truth.tolist())
        quality.append((name, Share.right(found), found.log_loss, seconds))
        believed = model.predict_log_proba(new_rows)  # (N, K)
        drawn[name] = caught_by_lost(believed[:, model.classes_.index("spam")], truth)
        for cost in COSTS:
            rule = Rule(Losses.of({("ham", "spam"): cost}, model.classes_))
            answers = np.array(model.classes_)[rule.decide(believed).action]
            losses.append((name, cost, *lost(answers, truth), cheaper(answers, truth, cost)))
    formats = {"read as": "", "accuracy %": "", "log-loss": ".4f", "CPU s": ".1f"}
    costs = ("read as", "cost of a lost mail", "wanted mails lost", "spam caught %", "times cheaper")
    return Results(
        {
            "What a mail is read as": Table(formats, tuple(quality)),
            "What is lost at a cost": Table(
                {**dict.fromkeys(costs, ""), "times cheaper": ".1f"}, tuple(losses)
            ),
        },
        {"spam-costs.svg": picture(drawn, int((truth == "ham").sum()))},
    )


def lost(answers: Any, truth: Any) -> tuple[str, Share]:
    """Wanted mails that are lost, of how many; and the share of spam that is caught."""
    ham, spam = truth == "ham", truth == "spam"
    caught = int((answers[spam] == "spam").sum())
    return f"{int((answers[ham] == 'spam').sum())} of {int(ham.sum())}", Share.of(caught, int(spam.sum()))


def cheaper(answers: Any, truth: Any, cost: int) -> float | None:
    """How many times less a filter costs than none, which lets all spam through: TCR of the paper."""
    ham, spam = truth == "ham", truth == "spam"
    paid = cost * int((answers[ham] == "spam").sum()) + int((answers[spam] == "ham").sum())
    return int(spam.sum()) / paid if paid else None


def caught_by_lost(belief: Floats, truth: Any) -> list[float]:
    """The share of spam that is caught when 0, 1, 2, … wanted mails may be lost, in percent."""
    wanted = np.sort(belief[truth == "ham"])[::-1]
    return [100 * float((belief[truth == "spam"] > wanted[allowed]).mean()) for allowed in range(MOST + 1)]


def picture(drawn: dict[str, list[float]], wanted: int) -> Picture:
    """What is caught over what is lost, a line for each way to read a mail."""
    with drawing():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.4, 4.6))
        FigureCanvasAgg(figure)
        panel = figure.subplots()
        figure.subplots_adjust(left=0.1, right=0.97, top=0.88, bottom=0.13)
        for k, (name, caught) in enumerate(drawn.items()):
            look = STYLES[k]
            panel.plot(
                range(len(caught)), caught, color=look.line, marker=look.marker, markersize=5, label=name
            )
        head(panel, "SpamAssassin mail", "", "spam caught, when so many wanted mails may be lost")
        panel.set_xlabel(f"wanted mails lost, of {wanted:,}")
        panel.set_ylabel("spam caught, %")
        panel.set_ylim(0, 102)
        panel.grid(axis="y", color="#e4e4e4", linewidth=0.8)
        panel.set_axisbelow(True)
        panel.legend(loc="lower right", frameon=False, fontsize=9.5)
    return Picture(figure, "Spam caught over wanted mails lost, by what a mail is read as")


if __name__ == "__main__":
    raise SystemExit(main(run, __doc__))
