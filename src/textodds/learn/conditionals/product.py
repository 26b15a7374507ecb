"""Columns of different kinds: the product of a class-conditional for each block of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from textodds.data import Batch
from textodds.errors import InputError
from textodds.learn.arrays import Floats


class Likelihood(Protocol):
    """The fitted class-conditional of a block of columns."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, sorted."""
        ...

    def log_likelihood(self, batch: Batch) -> Floats:
        """``log p(x_b | k)`` of the block's columns in each row, (N, K)."""
        ...

    def log_unseen(self, batch: Batch) -> Floats:
        """What values never seen, which `log_likelihood` leaves out, add if they are not left out, (N, K)."""
        ...

    def by_column(self, batch: Batch) -> dict[str, Floats]:
        """What each column, or a block that is one, contributes: (N, K) by name; they add up."""
        ...


@dataclass(frozen=True, eq=False)
class Product:
    r"""Blocks of columns that are independent given the class.

    Model
    -----
    With :math:`x_b` the columns of block b, which may be numbers, categories or a text,

    .. math:: \log p(x \mid k) = \sum_b \log p_b(x_b \mid k)                        \tag{1}

    General naive Bayes: each :math:`p_b` is whatever suits its columns.
    """

    parts: tuple[Likelihood, ...]

    def __post_init__(self) -> None:
        names = {part.classes for part in self.parts}
        if len(names) > 1:
            raise InputError("the blocks of a model have different classes")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, sorted."""
        return self.parts[0].classes

    def log_likelihood(self, batch: Batch) -> Floats:
        """``log p(x | k)``, (N, K)."""
        return np.asarray(sum(self.by_block(batch)))  # (1)

    def by_block(self, batch: Batch) -> list[Floats]:
        """The terms of (1), (N, K) each."""
        return [part.log_likelihood(batch) for part in self.parts]


def joined(names: Sequence[str]) -> str:
    """One name for columns that speak together."""
    return " × ".join(names)
