"""What models of texts and of tables share: labels, held-out parts of a sample, and the strongest words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError, LengthMismatch, suggestion

T = TypeVar("T")
Floats = NDArray[np.float64]

FOLD = 5  # at most one in so many documents is forgotten at a time, so that the model stays what it is
BLOCK = 65_536  # words whose weights are looked at together: never a full matrix of a large model


def class_number(label: str, classes: Sequence[str]) -> int:
    """The number of a class."""
    if label not in classes:
        raise InputError(
            f"there is no class `{label}`{suggestion(label, classes)}",
            hint=f"the classes are {', '.join(classes[:20])}",
        )
    return classes.index(label)


def of_labels(values: Floats, labels: Sequence[str], classes: Sequence[str]) -> Floats:
    """Of values by class (N, K) those of each row's own label, (N,)."""
    if len(labels) != len(values):
        raise LengthMismatch(len(values), len(labels))
    return np.asarray(values[np.arange(len(values)), [class_number(label, classes) for label in labels]])


def forgettable_parts(sample: Sequence[T], n_documents: float) -> Iterator[list[T]]:
    """A sample of ``n_documents`` in parts so small that a model can forget one and stay what it is."""
    folds = min(len(sample), max(1, int(np.ceil(FOLD * len(sample) / max(n_documents, 1.0)))))
    order = np.random.default_rng(0).permutation(len(sample))  # documents may come class by class in turn
    for fold in range(folds):
        yield [sample[at] for at in order[fold::folds]]


def largest(
    size: Callable[[NDArray[np.int64]], Floats], V: int, n: int, block: int = BLOCK
) -> NDArray[np.int64]:
    """The numbers of the n of V words that are largest by ``size``, the largest first; of equals the first.

    >>> largest(lambda numbers: (numbers % 3).astype(float), 7, 3, block=2)
    array([2, 5, 1])
    """
    best, sizes = np.zeros(0, np.int64), np.zeros(0)
    for start in range(0, V, block):
        numbers = np.arange(start, min(start + block, V))
        numbers, found = np.concatenate([best, numbers]), np.concatenate([sizes, size(numbers)])
        order = np.argsort(-found, kind="stable")[:n]
        best, sizes = numbers[order], found[order]
    return best
