"""Which classes are told apart and which are not: confusions, precision, recall and F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds.judge.evaluation import Evaluation, wilson
from textodds.study.report import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MATRIX = 25  # classes of which a whole matrix is drawn; of more, the matrix of the most confused
MOST_CONFUSED = 20  # classes in a matrix that is not whole
WORST = 20  # pairs of classes that are listed
DRAWN = 30  # classes whose measures are drawn; of more, those with the lowest F1


@dataclass(frozen=True)
class ClassScores:
    r"""Precision, recall and F1 of a class, with Wilson's intervals; None where there is nothing to measure.

    With :math:`J` the share of right rows among those that are of the class or called so,
    :math:`F_1 = 2J / (1 + J)`, which rises with J: the interval of F1 is that of J, taken along.
    """

    label: str
    rows: int
    precision: figures.Estimate | None
    recall: figures.Estimate | None
    f1: figures.Estimate

    @classmethod
    def of(cls, label: str, right: int, rows: int, answered: int) -> ClassScores:
        """The measures by rows: right ones, those of the class, and those that were called so."""

        def share(n: int) -> figures.Estimate | None:
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


def classes_figure(classes: Sequence[ClassScores]) -> Figure:
    """Precision and recall of the classes with the lowest F1."""
    drawn = classes[:DRAWN]
    return figures.by_class(
        [each.label for each in drawn],
        {"precision": [each.precision for each in drawn], "recall": [each.recall for each in drawn]},
    )


def confusion(evaluation: Evaluation) -> dict[str, object]:
    """The matrix of all classes or of the most confused, and the most frequent confusions."""
    labels, counts = _matrix(evaluation)
    totals = counts.sum(axis=1)
    some = most_confused(counts, MOST_CONFUSED) if len(labels) > MATRIX else list(range(len(labels)))
    wrong = [(rows, pair) for pair, rows in evaluation.confusion.items() if pair[0] != pair[1]]
    of_label = dict(zip(labels, totals.tolist(), strict=True))
    worst = sorted(wrong, key=lambda found: (-found[0], found[1]))[:WORST]
    return {
        "figure": figures.confusion([labels[i] for i in some], counts[np.ix_(some, some)], totals[some]),
        "n_drawn": len(some),
        "n_pairs": len(wrong),
        "worst": [(label, answer, rows, rows / of_label[label]) for rows, (label, answer) in worst],
    }


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
