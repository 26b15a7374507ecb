"""A source of tables, and how its schema is found without losing a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from textodds.data.batch import BATCH_BYTES, BATCH_ROWS
from textodds.data.parts import Part
from textodds.data.rejects import Rejects
from textodds.data.schema import Schema
from textodds.data.sought import Sought
from textodds.data.source import Position, Stream
from textodds.data.table_batch import TableBatch, admitted
from textodds.errors import TextoddsError

# Kinds are found from this much at most: a batch, for rows as long as they usually are.
LOOK_BYTES = 4 * BATCH_BYTES


class TableSource(Stream[TableBatch]):
    """An iterable of batches of a table; made by `read_table`."""

    def __init__(
        self,
        sought: Sought,
        description: str,
        parts: Callable[[Rejects, Position], Iterator[Part]],
        rejects: Rejects,
        **options: Any,
    ) -> None:
        super().__init__(description, self._admitted, rejects, **options)
        self._sought = sought
        self._parts = parts
        self._begun: Iterator[Part] | None = None  # the pass in which the schema was found

    @property
    def schema(self) -> Schema:
        """The columns and their kinds: as given, or found from the first rows when first asked for."""
        if self._sought.schema is None:
            self._begin()
            try:
                self._begun = self._looked(self._parts(self.rejects, self._progress))
            except BaseException:
                self.rejects.close()
                raise
        assert self._sought.schema is not None
        return self._sought.schema

    def __iter__(self) -> Iterator[TableBatch]:
        begun, self._begun = self._begun, None  # rows that were looked at are not read again, nor lost
        if begun is None:
            return super().__iter__()
        return self._pass(self._checked(begun))

    def _admitted(self, rejects: Rejects, progress: Position) -> Iterator[TableBatch]:
        return self._checked(self._parts(rejects, progress))

    def _checked(self, parts: Iterator[Part]) -> Iterator[TableBatch]:
        if self._sought.schema is None:
            parts = self._looked(parts)
        for part in parts:
            batch = admitted(part, self._sought, self.rejects)
            if batch is not None:
                yield batch

    def _looked(self, parts: Iterator[Part]) -> Iterator[Part]:
        """The same ``parts``, of which so many are taken that the schema can be found."""
        taken: list[Part] = []
        failure: TextoddsError | None = None
        rows = size = 0
        try:
            for part in parts:
                taken.append(part)
                if not _is_alike(part, taken[0]):
                    break
                rows += part.length
                size += part.size
                if rows >= BATCH_ROWS or size >= LOOK_BYTES:
                    break
        except TextoddsError as error:
            if not taken:
                raise
            failure = error  # a row before may be bad too, and is to be named first
        self._sought.learn([part for part in taken if _is_alike(part, taken[0])])
        return _resumed(taken, parts, failure)


def _is_alike(part: Part, first: Part) -> bool:
    return part.origin == first.origin or part.names == first.names


def _resumed(taken: list[Part], parts: Iterator[Part], failure: TextoddsError | None) -> Iterator[Part]:
    taken.reverse()
    while taken:  # popped, so that no part is held longer than it takes
        yield taken.pop()
    if failure is not None:
        raise failure
    yield from parts
