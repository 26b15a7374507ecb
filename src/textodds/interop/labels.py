"""Labels of any type, rows that have them, and the names of their classes in the core."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from textodds.data.values import Unusable, label_of
from textodds.errors import InputError
from textodds.learn.arrays import Floats
from textodds.learn.design import LabelledRows, checked_rows, checked_weights

R = TypeVar("R")

LabelArray: TypeAlias = NDArray[np.generic]
"""Labels of any type, one for each row (N,) or class (K,)."""

Label: TypeAlias = Hashable
"""A label as a caller has it in a dictionary."""

Labels: TypeAlias = object
"""y as a caller has it: a list, an array or a column of text, numbers or truth values."""


@dataclass(frozen=True, eq=False)
class LabelledBatch(Generic[R]):
    """Rows that were checked, with the labels that occur in them."""

    rows: R  # (N, V) dense or CSR, or columns by name
    labels: LabelArray  # (K,) sorted
    codes: NDArray[np.intp]  # (N,)
    weights: Floats | None  # (N,)

    @property
    def classes(self) -> tuple[str, ...]:
        """What the core calls the classes."""
        return names(self.labels)

    def labelled_rows(self) -> LabelledRows:
        """The rows as the core takes them, all with a weight."""
        weights = checked_weights(self.weights, len(self.codes))
        return LabelledRows(checked_rows(self.rows), self.classes, self.codes.astype(np.int64), weights)


def distinct(y: Labels) -> tuple[LabelArray, NDArray[np.intp]]:
    """The labels that occur, sorted, and the number of each row's: (K,), (N,).

    Examples
    --------
    >>> distinct(np.array([10, 2, 10]))
    (array([ 2, 10]), array([1, 0, 1]))
    """
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "UO":
        found = _distinct_text(y)
        if found is not None and 2 * len(found[0]) <= len(y):
            return found  # text that repeats is classes: to make sure would sort it once more
    check_classification_targets(y)
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    return labels, codes


def _distinct_text(y: LabelArray) -> tuple[LabelArray, NDArray[np.intp]] | None:
    """What `distinct` says of text; None if it is other things."""
    if y.dtype.kind == "U":
        return np.unique(y, return_inverse=True)
    rows = y.tolist()
    if set(map(type, rows)) != {str}:
        return None
    ordered = sorted(set(rows))  # NumPy would sort all rows, by a call for each comparison
    place = {label: k for k, label in enumerate(ordered)}
    return np.array(ordered, dtype=object), np.fromiter(map(place.__getitem__, rows), np.intp, len(rows))


def joined(known: LabelArray, more: ArrayLike) -> LabelArray:
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


def declared(classes: ArrayLike, batch: LabelArray, known: LabelArray, *, same: bool = False) -> LabelArray:
    """The labels that a caller names, sorted, if they hold those of a batch and all that were known before.

    ``same``: there may be no others among them, as scikit-learn has it from the second batch on.

    Examples
    --------
    >>> declared([3, 1, 2], np.array([1]), np.array([1, 3]))
    array([1, 2, 3])
    """
    labels = joined(known, classes)
    if len(unnamed := np.setdiff1d(batch, classes)):
        raise InputError(
            f"The target label(s) {unnamed.tolist()} in y do not exist in the initial classes "
            f"{np.unique(classes).tolist()}",
            hint="name these too; after the first batch `classes` may be left out",
        )
    if len(np.setdiff1d(known, classes)) or (same and len(np.setdiff1d(classes, joined(known, batch)))):
        raise InputError(
            f"`classes={np.asarray(classes).tolist()}` is not the same as on last call to partial_fit, was: "
            f"{known.tolist()}",
            hint="leave `classes` out: labels that were never named are then welcome"
            if same
            else "name at least the classes that were named or learned before, or none",
        )
    return labels


def names(labels: LabelArray) -> tuple[str, ...]:
    """What the core calls the classes, (K,): as `textodds.train` would write them.

    Examples
    --------
    >>> names(np.array([1.0, 2.0])) == names(np.array([1, 2])) == ("1", "2")
    True
    >>> names(np.array([False, True]))
    ('false', 'true')
    """
    if labels.dtype.kind == "f":  # labels are whole: 1.0 in one batch is 1 in another
        return tuple(str(int(label)) for label in labels)
    return tuple(
        str(label).lower() if isinstance(label, (bool, np.bool_)) else str(label) for label in labels
    )


def name_in(parameter: str, label: object) -> str:
    """What the core calls the class of a label that a parameter has, be there such a class or not.

    Examples
    --------
    >>> name_in("class_prior", True), name_in("class_prior", np.float64(2))
    ('true', '2')
    """
    try:
        return label_of(label)
    except Unusable as error:
        raise InputError(
            f"{parameter}: {error}", hint="it is of labels, which are text or numbers"
        ) from error


def by_label(parameter: str, given: Mapping[Label, float], labels: LabelArray) -> list[float]:
    """What a parameter has for each label, in the order of the labels, which it must have all and no others.

    Examples
    --------
    >>> by_label("class_prior", {1: 0.25, 0: 0.75}, np.array([0, 1]))
    [0.75, 0.25]
    """
    known = labels.tolist()  # as Python has them: 1, 1.0 and np.int8(1) are one key
    missing = [label for label in known if label not in given]
    unknown = [label for label in given if label not in known]
    if missing or unknown:
        raise InputError(
            f"{parameter} has nothing for {missing[0]!r}"
            if missing
            else f"{parameter} has {unknown[0]!r}, which is not a class",
            hint=f"give a probability for each class and no other: {', '.join(map(str, known))}",
        )
    return [given[label] for label in known]


def _kind(labels: LabelArray) -> str:
    kind = labels.dtype.kind
    if kind == "O" and len(labels):
        return _kind(np.asarray(labels[:1].tolist()))
    return {"i": "number", "u": "number", "f": "number", "S": "bytes", "U": "text"}.get(kind, kind)
