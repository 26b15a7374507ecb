"""Labels of any type, and the names of their classes in the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from textodds.errors import InputError


def distinct(y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels that occur, sorted, and the number of each row's: (K,), (N,).

    Examples
    --------
    >>> distinct(np.array([10, 2, 10]))
    (array([ 2, 10]), array([1, 0, 1]))
    """
    check_classification_targets(y)
    labels, codes = np.unique(y, return_inverse=True)
    return labels, codes


def joined(known: NDArray[Any], more: Any) -> NDArray[Any]:
    """The labels of both, sorted; refuses text beside numbers, which would become text unasked.

    Examples
    --------
    >>> joined(np.array([1, 3]), [2, 3])
    array([1, 2, 3])
    """
    more = np.asarray(more)
    if _kind(known) != _kind(more) and len(known) and len(more):
        raise InputError(
            f"labels are of mixed types: {known[0]!r} before, {more[0]!r} now",
            hint="make them all text, or all numbers",
        )
    return np.union1d(known, more)


def names(labels: NDArray[Any]) -> tuple[str, ...]:
    """What the core calls the classes, (K,): as the user would write them, so that errors can name them.

    Examples
    --------
    >>> names(np.array([1.0, 2.0])) == names(np.array([1, 2])) == ("1", "2")
    True
    """
    if labels.dtype.kind == "f":  # labels are whole: 1.0 in one batch is 1 in another
        return tuple(str(int(label)) for label in labels)
    return tuple(str(label) for label in labels)


def _kind(labels: NDArray[Any]) -> str:
    kind = labels.dtype.kind
    if kind == "O" and len(labels):
        return _kind(np.asarray(labels[:1].tolist()))
    return {"i": "number", "u": "number", "f": "number", "S": "bytes", "U": "text"}.get(kind, kind)
