"""Which classes are told apart and which are not: confusions, precision, recall and F1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.judge.evaluation import Evaluation, Interval, wilson
from textodds.study.report import figures, html
from textodds.study.report.html import Markup
from textodds.study.report.inline import svg

MATRIX = 25  # classes of which a whole matrix is drawn; of more, the matrix of the most confused
MOST_CONFUSED = 20  # classes in a matrix that is not whole
WORST = 20  # pairs of classes that are listed
DRAWN = 30  # classes whose measures are drawn; of more, those with the lowest F1
OPEN = 40  # classes whose measures are listed at once; those of more are unfolded when asked for

Estimate = tuple[float, Interval]


@dataclass(frozen=True)
class ClassScores:
    r"""Precision, recall and F1 of a class, with Wilson's intervals; None where there is nothing to measure.

    With :math:`J` the share of right rows among those that are of the class or called so,
    :math:`F_1 = 2J / (1 + J)`, which rises with J: the interval of F1 is that of J, taken along.
    """

    label: str
    rows: int
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate

    @classmethod
    def of(cls, label: str, right: int, rows: int, answered: int) -> ClassScores:
        """The measures by rows: right ones, those of the class, and those that were called so."""

        def share(n: int) -> Estimate | None:
            return (right / n, wilson(right, n)) if n else None

        either = rows + answered - right
        low, high = (2 * end / (1 + end) for end in wilson(right, either))
        return cls(label, rows, share(answered), share(rows), (2 * right / (rows + answered), (low, high)))


def class_measures(evaluation: Evaluation) -> list[ClassScores]:
    """The measures of each label, the lowest F1 first."""
    labels, counts = _matrix(evaluation)
    found = [
        ClassScores.of(label, *map(int, (counts[i, i], counts[i].sum(), counts[:, i].sum())))
        for i, label in enumerate(labels)
    ]
    return sorted(found, key=lambda each: (each.f1[0], each.label))


def classes_section(evaluation: Evaluation) -> Markup:
    """Precision, recall and F1 by class, as a picture and a table."""
    found = class_measures(evaluation)
    drawn = found[:DRAWN]
    picture = figures.by_class(
        [each.label for each in drawn],
        {"precision": [each.precision for each in drawn], "recall": [each.recall for each in drawn]},
    )
    which = f" The {DRAWN} classes with the lowest F1, of {len(found)}." if len(found) > DRAWN else ""
    rows = [
        [html.name(each.label), f"{each.rows:,}", *map(_estimate, (each.precision, each.recall, each.f1))]
        for each in found
    ]
    listed = html.table(["class", "rows", "precision", "recall", "F1"], rows)
    return html.section(
        "Class by class",
        "Precision: of the rows that are called a class, the share that is of it. Recall: of the rows of a "
        "class, the share that is called so. F1 is between the two. The lowest F1 comes first.",
        html.figure(
            svg(picture),
            f"Precision (round) and recall (triangles) of each class, with 95 % intervals.{which}",
            "Precision and recall of each class with intervals; the table has the same numbers.",
        ),
        listed if len(found) <= OPEN else html.details(f"All {len(found)} classes", listed),
    )


def confusion_section(evaluation: Evaluation) -> Markup:
    """Which classes are taken for which."""
    labels, counts = _matrix(evaluation)
    totals = counts.sum(axis=1)
    caption = (
        "Rows by their true label (down) and the answer (across). Right answers are blue and framed, wrong "
        "ones orange; the stronger the colour, the larger their share of the true label's rows."
    )
    some = list(range(len(labels)))
    if len(labels) > MATRIX:
        some = most_confused(counts, MOST_CONFUSED)
        caption += f" The {len(some)} classes with the most wrong answers, of {len(labels)}."
    picture = figures.confusion([labels[i] for i in some], counts[np.ix_(some, some)], totals[some])
    parts: list[str] = [html.figure(svg(picture), caption, "Confusion matrix.")]
    wrong = [(rows, pair) for pair, rows in evaluation.confusion.items() if pair[0] != pair[1]]
    if not wrong:
        parts.append(html.paragraph("No row was answered wrongly."))
    elif len(labels) > 2:
        of_label = dict(zip(labels, totals.tolist(), strict=True))
        worst = sorted(wrong, key=lambda found: (-found[0], found[1]))[:WORST]
        rows_ = [
            [html.joined(html.name(a), " → ", html.name(b)), f"{rows:,}", f"{rows / of_label[a]:.1%}"]
            for rows, (a, b) in worst
        ]
        caption = f"The {len(worst)} most frequent confusions, of {len(wrong):,}"
        if len(worst) == len(wrong):
            caption = "All confusions, the most frequent first"
        parts.append(
            html.table(["true label → answer", "rows", "of the label's rows"], rows_, caption=caption)
        )
    return html.section("What is taken for what", html.beside(*parts))


def most_confused(counts: NDArray[np.int64], n: int) -> list[int]:
    """The classes with the most wrong answers, to and from, each beside one that it is confused with.

    >>> most_confused(np.array([[9, 0, 3, 0], [0, 9, 0, 0], [2, 0, 9, 1], [0, 0, 0, 9]]), 3)
    [2, 0, 3]
    """
    wrong = counts - np.diag(np.diag(counts))
    between = wrong + wrong.T
    involved = between.sum(axis=1)
    left = np.argsort(-involved, kind="stable")[:n].tolist()
    order = [left.pop(0)]
    while left:
        order.append(left.pop(int(np.argmax([between[order[-1], each] for each in left]))))
    return order


def _matrix(evaluation: Evaluation) -> tuple[list[str], NDArray[np.int64]]:
    """The labels, and rows by true label and answer, (K, K)."""
    labels = evaluation.labels
    index = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (label, answer), rows in evaluation.confusion.items():
        counts[index[label], index[answer]] = rows
    return labels, counts


def _estimate(estimate: Estimate | None) -> Markup:
    if estimate is None:
        return Markup("–")
    value, (low, high) = estimate
    return Markup(f"{value:.3f} <small>{low:.3f}–{high:.3f}</small>")
