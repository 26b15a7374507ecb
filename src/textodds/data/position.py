"""How far a pass over a source has come."""

from __future__ import annotations


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
