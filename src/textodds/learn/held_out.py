"""Rows held out, and what a model said of them: the ground that choices and promises are made on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.data.named_arrays import Arrays, NamedArrays
from textodds.errors import InputError, LengthMismatch
from textodds.learn.arrays import Floats, Integers, Mask

FOLDS = 5

FEWEST = 100  # documents below which nothing is promised by what was said of them

FEWEST_TO_CHOOSE = 4
"""Documents below which nothing is chosen by what was said of them."""

FEWEST_TO_CALIBRATE = 16
"""Documents below which naive Bayes says what Bayes' rule says, which can be checked by hand."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The true class of N documents, the class that was answered, and the probabilities of both.

    Each document was left out of what was learned, or held out, when it was asked about; so they say how
    the model does on new documents of the same kind.
    """

    truth: NDArray[np.uint32]  # (N,) classes by number
    answer: NDArray[np.uint32]  # (N,)
    p_truth: Floats  # (N,)
    p_answer: Floats  # (N,)

    @classmethod
    def of(cls, log_posterior: Floats, truth: NDArray[np.integer]) -> HeldOut:
        """What log-posteriors (N, K) say of documents of known classes (N,)."""
        if len(log_posterior) != len(truth):
            raise LengthMismatch(len(log_posterior), len(truth))
        rows, answer = np.arange(len(truth)), log_posterior.argmax(axis=1)
        return cls(
            truth.astype(np.uint32),
            answer.astype(np.uint32),
            np.exp(log_posterior[rows, truth]),
            np.exp(log_posterior[rows, answer]),
        )

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def right(self) -> Mask:
        """Whether each answer was right, (N,)."""
        return np.asarray(self.truth == self.answer)

    def arrays(self) -> Arrays:
        """As arrays, for a file."""
        return {name: getattr(self, name) for name in ("truth", "answer", "p_truth", "p_answer")}

    @classmethod
    def of_arrays(cls, arrays: NamedArrays, K: int) -> HeldOut:
        """What `arrays` made; refuses what cannot be."""
        kinds = {"truth": "u4", "answer": "u4", "p_truth": "f8", "p_answer": "f8"}
        parts = {}
        for name, kind in kinds.items():
            array = arrays.get(name)
            if array is None or array.dtype != np.dtype(kind) or array.ndim != 1:
                raise InputError(f"the tensor `honest.{name}` is missing, or has the wrong type")
            within = (array < K) if kind == "u4" else ((array >= 0) & (array <= 1 + 1e-9))
            if len(array) != len(arrays["truth"]) or not within.all():
                raise InputError(f"the tensor `honest.{name}` has invalid values")
            parts[name] = array
        return cls(**parts)


def held_out(codes: Integers, enough: int, times: int = 1) -> Iterator[Mask]:
    """Which rows (N,) are held out, fold by fold: each fold as even by class as it can be.

    As many folds as it takes to hold out ``enough`` rows: one of much data, all of little, which is then
    divided anew up to so many ``times``; the same ones every time.
    """
    n = len(codes)
    for fold in range(n_folds(n, enough, times)):
        division, part = divmod(fold, FOLDS)
        order = np.lexsort((np.random.default_rng(division).random(n), codes))
        fold_of = np.empty(n, dtype=np.int64)
        fold_of[order] = np.arange(n) % FOLDS
        held = fold_of == part
        if held.any():
            yield held


def n_folds(n: int, enough: int, times: int = 1) -> int:
    """How many folds it takes to hold out ``enough`` of n rows.

    >>> n_folds(1000, 200), n_folds(100, 200), n_folds(100, 200, times=4), n_folds(16, 200, times=4)
    (1, 5, 10, 20)
    """
    return min(FOLDS, math.ceil(enough * FOLDS / n)) * max(min(times, enough // n), 1)


def mean_by_row(rows: Integers, scores: Floats, weights: Floats) -> tuple[Integers, Floats, Floats]:
    """Of rows held out several times (M,): where each comes first, the mean of its scores, and its weight.

    A row has no weight where all of its class was held out with it, which says nothing; its mean is that of
    the other times.

    >>> mean_by_row(np.array([5, 3, 5]), np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 0.0]))
    (array([0, 1]), array([[1.],
           [2.]]), array([1., 1.]))
    """
    _, first, row = np.unique(rows, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return np.arange(len(rows)), scores, weights
    weight = np.zeros(len(first))
    np.maximum.at(weight, row, weights)
    says = (weights > 0) | (weight[row] == 0)
    total = np.zeros((len(first), scores.shape[1]))
    np.add.at(total, row[says], scores[says])
    times = np.bincount(row[says], minlength=len(first))
    order = np.argsort(first)
    return first[order], (total / times[:, None])[order], weight[order]


def tells_classes_apart(codes: Integers, weights: Floats, held: Mask) -> bool:
    """Whether two classes are left when a fold (N,) is held out, and one of them has rows in it."""
    left = np.bincount(codes[~held], weights[~held], int(codes.max(initial=0)) + 1) > 0
    return bool(np.count_nonzero(left) >= 2 and weights[held][left[codes[held]]].sum() > 0)
