"""``sample``: draw texts or rows from a model."""

from __future__ import annotations

import csv
import sys

from textodds.cli.commands import argument, command, option
from textodds.cli.options import COUNT, number
from textodds.model.file import load_one_label

SECTION = "What to draw"
MEAN = "Mean number of words of a text.  [default: the class's in training]"
LENGTH = number(int, "a whole number of words", lambda n: n >= 0)
SEED = number(int, "a whole number", lambda n: n >= 0)


@command(
    "sample",
    examples=[
        "textodds sample mail.textodds -n 5 --label spam",
        "textodds sample people.textodds -n 1000 --seed 1 > people.csv",
    ],
)
@argument("model", "A model file made by `train`, of naive Bayes or of a table.")
@option(SECTION, "-n", "--number", type=COUNT, default=10, metavar="N", help="Number of texts or rows.")
@option(SECTION, "--label", metavar="LABEL", help="Sample this class only.  [default: by class proportions]")
@option(SECTION, "--length", type=LENGTH, metavar="WORDS", help=MEAN)
@option("Running", "--seed", type=SEED, default=0, metavar="SEED", help="Random seed.")
def sample(model: str, number: int, label: str | None, length: int | None, seed: int) -> None:
    """Sample texts or rows from a model.

    Prints CSV: label and text, or label and columns. The words of a text are drawn independently, so that
    it has the topics of its class, but no grammar.
    """
    from textodds.study.generate import sample as drawn_from

    opened = load_one_label(model)
    drawn, labels = drawn_from(opened, number, label, seed, length=length)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if isinstance(drawn, list):
        writer.writerow(["label", "text"])
        writer.writerows(zip(labels, drawn, strict=True))
        return
    given = opened.schema.label
    writer.writerow([given or ("class" if "label" in drawn else "label"), *drawn])
    writer.writerows(zip(labels, *drawn.values(), strict=True))
