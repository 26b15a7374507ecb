"""A source of batches, whatever it is made of; who is told how far it was read, and reading ahead."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

from textodds.data.admission import Part, Parts, admit
from textodds.data.batch import BATCH_BYTES, BATCH_ROWS, Batch
from textodds.data.columns import ColumnRequest
from textodds.data.dialect import Dialect
from textodds.data.kept_rows import KeptRows, kept_rows
from textodds.data.label_sets import look
from textodds.data.labels import LabelType
from textodds.data.rejects import Rejects
from textodds.data.schema import Schema
from textodds.errors import InputError, TextoddsError, Unsupported

T = TypeVar("T")

# Kinds are found from this much at most: a batch, for rows as long as they usually are.
LOOK_BYTES = 4 * BATCH_BYTES

# A read of a pipe on which nothing comes cannot be interrupted; then the thread is left to the end of
# the process, which does not wait for it.
PATIENCE = 2.0  # seconds

_END = object()

# What to do instead of giving an option that could only be ignored.
_INSTEAD = {
    "labels": "name the column of the labels: label='COLUMN'",
    "weights": "name the column of the weights: weight='COLUMN'",
    "format": "leave out `format`, which is for files",
    "quoting": "leave out `quoting`, which is for CSV and TSV files",
    "header": "leave out `header`, which is for CSV and TSV files",
    "encoding": "leave out `encoding`, which is for files",
    "sheet": "leave out `sheet`, which is for Excel files",
}


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


class Source:
    """An iterable of batches; made by `read`.

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
    notes : sequence of str
        What was found out about how it is read, and should be said.
    dialect : Dialect or None
        How its first file is written, where that is known.
    """

    def __init__(
        self,
        request: ColumnRequest,
        description: str,
        parts: Callable[[Rejects, Position], Parts],
        rejects: Rejects,
        *,
        replayable: bool = True,
        size: int | None = None,
        notes: Sequence[str] = (),
        dialect: Dialect | None = None,
    ) -> None:
        self.description = description
        self.notes, self.dialect = notes, dialect
        self.replayable = replayable
        self.size = size
        self.rejects = rejects
        self._request = request
        self._parts = parts
        self._progress = Position()
        self._is_spent = False
        self._begun: Parts | None = None  # the pass in which the schema was found
        self.label_name: Callable[[str], str] | None = None  # the label of a model that one is, where it is
        self.takes_label_sets = False  # whether whoever reads it knows what to do with several labels a row

    @property
    def is_of_texts(self) -> bool:
        """Whether its batches have one column of texts, rather than the columns of a table."""
        return self._request.is_of_texts

    @property
    def has_label_sets(self) -> bool:
        """Whether a row may have several labels: so it was said, or the first rows have lists of them.

        Whoever asks takes sets of labels; to others rows of several labels are an error.
        """
        self.takes_label_sets = True
        if self._request.label_sets is None and self._begun is None:
            self._look()
        return self._request.label_sets is not None

    @property
    def label_notes(self) -> list[str]:
        """What was found out about rows of several labels in the last pass."""
        return [] if self._request.label_sets is None else self._request.label_sets.notes

    @property
    def label_row_notes(self) -> list[str]:
        """The same of rows alone, for data whose separator was given for other data."""
        return [] if self._request.label_sets is None else self._request.label_sets.row_notes

    @property
    def label_type(self) -> LabelType:
        """Of what type the labels are that were read: text, unless they come as something else."""
        return self._request.label_types.found

    def refuse_mixed_labels(self) -> None:
        """Fail where labels of several types come, such as 1 and "1", which would be one within a model."""
        self._request.label_types.must_be_one = True

    @property
    def schema(self) -> Schema:
        """The columns, with their kinds, and the label, by name.

        Where they were not given, they are found when first asked for or when reading begins: of a table
        from the first rows, of texts from the names of the columns. Texts without names (plain lines, a list)
        have none, and the schema is empty.
        """
        if self._request.schema is None:
            self._look()
            self._request.have_no_names()
        schema = self._request.schema
        assert schema is not None
        return schema

    def _look(self) -> None:
        """Read the first rows, which stay to be read."""
        self._begin()
        try:
            self._begun = self._looked(self._parts(self.rejects, self._progress))
        except BaseException:
            self.rejects.close()
            raise

    def __iter__(self) -> Iterator[Batch]:
        begun, self._begun = self._begun, None  # rows that were looked at are not read again, nor lost
        if begun is None:
            self._begin()
            begun = self._parts(self.rejects, self._progress)
        return self._pass(begun)

    def _begin(self) -> None:
        if self._is_spent:
            raise InputError(
                f"{self.description} can be read only once, and has been",
                hint="to read it again, put it in a list or in a file first",
            )
        self._is_spent = not self.replayable
        self.rejects.begin()
        self._progress.begin()
        if self._request.label_sets is not None:
            self._request.label_sets.begin()

    @property
    def is_stdin(self) -> bool:
        """Whether it is what is piped in or typed."""
        return self.description == "stdin"

    def ahead(self) -> Iterable[Batch]:
        """The batches, read ahead in a thread if they come from files or from stdin.

        A pipe on which nothing comes is waited for in that thread, or Ctrl-C would not be heard.
        """
        return prefetched(iter(self)) if self.size is not None or self.is_stdin else self

    def __repr__(self) -> str:
        return f"<Source: {self.description}>"

    @property
    def bytes_read(self) -> int:
        """Bytes consumed by the pass at hand; may be polled while another thread iterates."""
        return self._progress.finished + self._progress.current

    def _pass(self, parts: Parts) -> Iterator[Batch]:
        try:
            if self._request.needs_rows:
                parts = self._looked(parts)
            for part in parts:
                batch = part if isinstance(part, Batch) else admit(part, self._request, self.rejects)
                del part  # while a batch is counted, its rows need not be held
                if self._request.label_sets is not None and not self.takes_label_sets:
                    self._refuse_sets(batch)
                if batch is not None:
                    yield batch if self.label_name is None else batch.relabelled(self.label_name)
            self._request.have_no_names()
        finally:
            parts.close()
            self.rejects.close()

    def _refuse_sets(self, batch: Batch | None) -> None:
        """Fail for labels that are sets, where one label a row is expected."""
        if batch is not None and batch.labels is not None:
            raise Unsupported(
                f"the rows of {self.description} may have several labels, and this is for one label a row",
                hint="`textodds train`, `predict`, `evaluate`, `explain`, `learn` and `audit` take several",
            )

    def with_rows(self) -> Iterator[KeptRows]:
        """The rows as they came, each with its place in a batch; all columns if it was read to keep them."""
        begun, self._begun = self._begun, None
        if begun is None:
            self._begin()
            begun = self._parts(self.rejects, self._progress)
        try:
            for part in begun:
                yield kept_rows(part, self._request, self.rejects)
            self._request.have_no_names()
        finally:
            begun.close()
            self.rejects.close()

    @property
    def names(self) -> Sequence[str]:
        """All columns of its first file or table, once that was opened; none where they have no names."""
        return self._request.names

    def keep(self, rows: bool | Sequence[str]) -> None:
        """Have `with_rows` keep all columns, or those that are named."""
        self._request.keep(rows)

    @property
    def kept_names(self) -> list[str]:
        """Those of `names` that `with_rows` has."""
        if self._request.kept is None:
            return list(self.names)
        return [self.names[at] for at in sorted(set(self._request.kept_among(self.names)))]

    @property
    def left(self) -> list[str]:
        """The columns, among `names`, that are not read."""
        taken = {*self._request.fields, *(each.name for each in self.schema.columns), self._request.weight}
        return [name for name in self.names if name not in taken]

    def _looked(self, parts: Parts) -> Parts:
        """The same ``parts``, of which so many are taken that the schema can be found."""
        taken: list[Part | Batch] = []
        rows_looked_at: list[Part] = []
        failure: TextoddsError | None = None
        rows = size = 0
        try:
            for part in parts:
                taken.append(part)
                if len(taken) == 1:
                    look(self._request, part)
                if isinstance(part, Batch) or not self._request.needs_rows:
                    break  # its columns were named when it was opened
                if rows_looked_at and not _is_alike(part, rows_looked_at[0]):
                    break
                rows_looked_at.append(part)
                rows += part.length
                size += part.size
                if rows >= BATCH_ROWS or size >= LOOK_BYTES:
                    break
        except TextoddsError as error:
            if not taken:
                raise
            failure = error  # a row before may be bad too, and is to be named first
        if self._request.needs_rows:
            self._request.learn(rows_looked_at)
        return _resumed(taken, parts, failure)


def _is_alike(part: Part, first: Part) -> bool:
    return part.origin == first.origin or part.names == first.names


def _resumed(taken: list[Part | Batch], parts: Parts, failure: TextoddsError | None) -> Parts:
    taken.reverse()
    while taken:  # popped, so that no part is held longer than it takes
        yield taken.pop()
    if failure is not None:
        raise failure
    yield from parts


def refuse(what: str, **given: object) -> None:
    """Fail for an option that could only be ignored, since the source is ``what``."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise InputError(f"`{option}` does not apply: the source is {what}", hint=_INSTEAD[option])


def prefetched(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """The same ``items``, of which up to ``depth`` are made ready in a background thread.

    An exception in ``items`` is raised here, after what came before it. Closing this iterator stops
    the thread after the item it is at, and closes ``items`` in the thread that made them.

    >>> list(prefetched(range(3)))
    [0, 1, 2]
    """
    assert depth >= 1, "nothing would ever be made ready"
    ready: SimpleQueue[tuple[object, BaseException | None]] = SimpleQueue()
    room = threading.Semaphore(depth)
    stopped = threading.Event()

    def produce() -> None:
        error: BaseException | None = None
        try:
            iterator = iter(items)
            try:
                while room.acquire() and not stopped.is_set():
                    ready.put((next(iterator), None))
            except StopIteration:
                pass
            finally:
                if hasattr(iterator, "close"):
                    iterator.close()
        except BaseException as raised:  # whatever it is, it belongs to the consumer
            error = raised
        ready.put((_END, error))

    thread = threading.Thread(target=produce, name="textodds-prefetch", daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            room.release()
            yield item  # type: ignore[misc]
            del item
    finally:
        stopped.set()
        room.release()
        thread.join(PATIENCE)


class Observer:
    """Receives the progress of `textodds.train`, `compare` and `audit`, on one machine or on Spark.

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
    >>> rows = ["free phone", "see you at six"], ["spam", "ham"]
    >>> model = textodds.train(*rows, learner="multinomial", observer=seen)
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

    def watched(self, source: object, batches: Iterable[T], doing: str) -> Iterator[T]:
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
