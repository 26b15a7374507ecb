"""A source of batches, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from textodds.data.batch import Batch
from textodds.data.prefetch import prefetched
from textodds.data.rejects import Rejects
from textodds.errors import InputError

T = TypeVar("T")


class Position:
    """Bytes of input consumed, written by the reader and polled by whoever shows a bar."""

    __slots__ = ("current", "finished")

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start a new pass."""
        self.finished = 0  # bytes of the files that are done
        self.current = 0  # bytes consumed of the file at hand

    def finish(self, size: int) -> None:
        """Count the file at hand, of ``size`` bytes, as done."""
        self.finished += size
        self.current = 0

    @property
    def bytes_read(self) -> int:
        """Bytes consumed so far in this pass, as they lie on disk."""
        return self.finished + self.current


class Stream(Generic[T]):
    """An iterable of batches.

    Attributes
    ----------
    description : str
        What it is, for messages: `mail.csv`, `3 files`, `a list of 40 texts`.
    replayable : bool
        Whether it can be iterated again. Generators, Arrow streams and pipes cannot; a second pass
        over one of these is an error, never an empty one.
    size : int or None
        Bytes of its files, which ``bytes_read`` counts up to; None for anything else.
    rejects : Rejects
        The bad rows of the pass at hand, or of the last one.
    """

    def __init__(
        self,
        description: str,
        batches: Callable[[Rejects, Position], Iterator[T]],
        rejects: Rejects,
        *,
        replayable: bool = True,
        size: int | None = None,
    ) -> None:
        self.description = description
        self.replayable = replayable
        self.size = size
        self.rejects = rejects
        self._batches = batches
        self._progress = Position()
        self._is_spent = False

    def __iter__(self) -> Iterator[T]:
        self._begin()
        return self._pass(self._batches(self.rejects, self._progress))

    def _begin(self) -> None:
        if self._is_spent:
            raise InputError(
                f"{self.description} can be read only once, and has been",
                hint="to read it again, put it in a list or in a file first",
            )
        self._is_spent = not self.replayable
        self.rejects.begin()
        self._progress.begin()

    @property
    def is_stdin(self) -> bool:
        """Whether it is what is piped in or typed."""
        return self.description == "stdin"

    def ahead(self) -> Iterable[T]:
        """The batches, read ahead in a thread if they come from files or from stdin.

        A pipe on which nothing comes is waited for in that thread, or Ctrl-C would not be heard.
        """
        return prefetched(iter(self)) if self.size is not None or self.is_stdin else self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"

    @property
    def bytes_read(self) -> int:
        """Bytes consumed by the pass at hand; may be polled while another thread iterates."""
        return self._progress.bytes_read

    def _pass(self, batches: Iterator[T]) -> Iterator[T]:
        try:
            yield from batches
        finally:
            self.rejects.close()


class Source(Stream[Batch]):
    """An iterable of batches of labelled texts; made by `read`."""
