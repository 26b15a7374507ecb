"""What each feature of a text adds: numbers first, names when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Contribution(NamedTuple):
    """A word of the text or a feature, how often it counts, and what it adds to the log-odds."""

    word: str
    count: int  # type: ignore[assignment]  # the name that fits, though tuples have a method of it
    log_odds: float


_contribution = partial(tuple.__new__, Contribution)
"""A contribution of its three parts, cheaper than calling the class: one is made for each feature."""


class Contributions(Sequence[Contribution]):
    """Contributions of features, the strongest first. Equal to a tuple of the same.

    Of a text there may be thousands, which are put in order and named when one is looked at.
    """

    def __init__(
        self,
        features: NDArray[np.integer],
        counts: Floats,
        log_odds: Floats,
        names_of: Callable[[NDArray[np.integer]], Sequence[str]],
    ) -> None:
        self.features, self.log_odds = features, log_odds  # in the order of the features
        self._counts, self._names_of = counts, names_of

    @cached_property
    def ranked(self) -> tuple[Contribution, ...]:
        """All of them, named."""
        order = np.argsort(-np.abs(self.log_odds), kind="stable")
        names = self._names_of(self.features[order])
        counts, log_odds = self._counts[order].astype(np.int64).tolist(), self.log_odds[order].tolist()
        return tuple(map(_contribution, zip(names, counts, log_odds, strict=True)))

    @overload
    def __getitem__(self, at: int) -> Contribution: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Contribution, ...]: ...
    def __getitem__(self, at: int | slice) -> Contribution | tuple[Contribution, ...]:
        return self.ranked[at]

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self.ranked)

    def __eq__(self, other: object) -> bool:
        return self.ranked == (other.ranked if isinstance(other, Contributions) else other)

    def __hash__(self) -> int:
        return hash(self.ranked)

    def __repr__(self) -> str:
        return repr(self.ranked)
