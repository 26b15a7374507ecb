"""Who is told how far work has come: rows read, candidates tried, steps taken, tasks done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

B = TypeVar("B")


class Observer:
    """Is told how far `textodds.train`, `compare` and `audit` have come, on one machine or on Spark.

    All methods do nothing: override those that matter. They are called from the thread that works, and what
    they raise ends the work.

    Examples
    --------
    >>> class Rows(Observer):
    ...     total = 0
    ...     def rows(self, source, n):
    ...         self.total += n
    >>> seen = Rows()
    >>> import textodds
    >>> model = textodds.train(["free phone", "see you at six"], ["spam", "ham"], observer=seen)
    >>> seen.total
    2
    """

    def begin(self, source: Any, doing: str) -> None:
        """A pass over a source begins: ``reading``, ``learning``, ``looking`` or ``measuring``."""

    def rows(self, source: Any, n: int) -> None:
        """So many more rows of it have passed."""

    def end(self, source: Any) -> None:
        """The pass is over."""

    def candidate(self, name: str, texts: int, number: int, of: int) -> None:
        """A candidate is tried on so many texts, the so-manieth of this round."""

    def penalty(self, C: float, log_loss: float) -> None:
        """A penalty was tried on held-out rows."""

    def step(self, number: int, gap: float) -> None:
        """An optimiser has taken a step and is within that relative gap, or residual, of the optimum."""

    def task(self, name: str, done: int, of: int) -> None:
        """Of the tasks there are, so many are done, and this one is at hand."""

    def watched(self, source: Any, batches: Iterable[B], doing: str) -> Iterator[B]:
        """The batches of a source, told of as they pass."""
        self.begin(source, doing)
        try:
            for batch in batches:
                yield batch
                self.rows(source, len(batch))  # type: ignore[arg-type]
        finally:
            close = getattr(batches, "close", None)  # what reads ahead ends with the pass
            if close is not None:
                close()
            self.end(source)
