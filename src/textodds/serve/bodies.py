"""Bodies of requests that have begun to come: how much memory they may hold, all together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textodds.serve.protocol.problems import unavailable

SMALL = 64 << 10  # bytes of a body that are always waited for: connections are limited, too


class Bodies:
    """What bodies hold that are awaited: any number of small ones, large ones up to ``most`` bytes together.

    A request takes its turn only once its body is here, so that slow ones keep nobody waiting. Those that
    begin to send much and do not go on could still fill the memory; small bodies are not refused for it.
    """

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0

    @contextmanager
    def part(self) -> Iterator[BodyMemory]:
        """The part of one body, until it is here or is given up."""
        part = BodyMemory(self)
        try:
            yield part
        finally:
            part.holds(0)


class BodyMemory:
    """What one body holds."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies, self._size = bodies, 0

    def holds(self, size: int) -> None:
        """Count so many bytes for the body; refuse what would be too much together with the others."""
        bodies, large = self._bodies, max(0, size - SMALL)
        more = large - self._size
        if more > 0 and bodies.held + more > bodies.most:
            raise unavailable(
                "limit.bodies",
                f"requests that are not complete yet hold {bodies.held:,} bytes already",
                "try again in a moment, or send less at once",
            )
        bodies.held += more
        self._size = large
