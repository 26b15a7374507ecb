"""How far work has come, on a terminal: bars and lines that vanish; and how many rows have passed."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from textodds.cli.options import portions
from textodds.cli.output import counted, one_line, say
from textodds.data import Observer

if TYPE_CHECKING:
    from textodds.cli.bars import Display, Kind
    from textodds.data import Batch, Source


# Sooner a bar is only a flicker, and loading what draws it costs a tenth of a second.
DELAY = 0.5  # seconds

REASONS = 3  # why rows were skipped: those that are said; the file has all


class Progress(Observer):
    """Draws what it is told on stderr if that is a terminal, and counts the rows of the last pass."""

    def __init__(self, *, quiet: bool, shown: bool) -> None:
        self.rows_read = self.bytes_read = 0
        self.sources: list[Source] = []
        self._quiet, self._shown, self._doing = quiet, shown, ""
        self._display: Display | None = None
        self._began = 0.0

    @property
    def source(self) -> Source:
        """The source of the last pass."""
        return self.sources[-1]

    def begin(self, source: Source, doing: str) -> None:
        """A bar for the pass, which appears once it takes a while."""
        self.clear()
        if all(source is not other for other in self.sources):
            self.sources.append(source)
            if source.is_stdin and sys.stdin is not None and sys.stdin.isatty():
                say("reading from the terminal, one text a line; end with Ctrl-D", quiet=self._quiet)
            for note in getattr(source, "notes", ()):  # a DataFrame of Spark has none
                say(one_line(note), quiet=self._quiet)
        self.rows_read = self.bytes_read = 0
        self._doing, self._began = doing, time.monotonic()

    def rows(self, source: Source, n: int) -> None:
        """So many more rows have passed."""
        self.rows_read += n
        self.bytes_read = source.bytes_read
        if not self._shown or (self._display is None and time.monotonic() - self._began < DELAY):
            return
        if self._display is None:
            self._draw("rows", source.size or None)
        rate_now = self.rows_read / max(time.monotonic() - self._began, 1e-9)
        self._update(completed=self.bytes_read, rows=self.rows_read, rate=rate_now)

    def end(self, source: Source) -> None:
        """The bar vanishes."""
        self.bytes_read, self._doing = source.bytes_read, ""
        self.clear()

    def candidate(self, name: str, texts: int, number: int, of: int) -> None:
        """What is tried, on one line."""
        self._say(f"trying {number} of {of} on {texts:,} texts: {name}")

    def penalty(self, C: float, log_loss: float) -> None:
        """The penalty that was tried, on one line."""
        self._say(f"choosing the penalty: C = {C:.3g}, held-out log-loss {log_loss:.4f}")

    def step(self, number: int, gap: float) -> None:
        """How far the optimiser is, on one line."""
        self._say(f"fitting: pass {number}, within {gap:.1e} of the optimum")

    def task(self, name: str, done: int, of: int) -> None:
        """A bar of tasks."""
        if not self._shown:
            return
        if self._display is None:
            self._draw("tasks", of)
        what = ", ".join(part for part in (self._doing, name) if part)
        self._update(completed=done, total=of, description=what, refresh=True)

    def _say(self, what: str) -> None:
        """One line, or the words beside the bar that there is."""
        self._doing = what
        if not self._shown:
            return
        if self._display is None:
            self._draw("words", None)
        self._update(description=what)

    def _draw(self, kind: Kind, total: int | None) -> None:
        from textodds.cli.bars import display

        self._display = display(kind, self._doing, total)

    def _update(self, **fields: object) -> None:
        if self._display is not None:
            self._display.update(0, **fields)

    def clear(self) -> None:
        """Take away what is drawn."""
        if self._display is not None:
            self._display.stop()
            self._display = None


@contextlib.contextmanager
def progress(*, quiet: bool, bar: bool = True) -> Iterator[Progress]:
    """An observer that draws on a terminal, unless ``quiet`` or not ``bar``.

    Says afterwards which rows were skipped. Where the work is interrupted, the file of these rows goes too.
    """
    found = Progress(quiet=quiet, shown=bar and not quiet and sys.stderr.isatty())
    try:
        yield found
    except KeyboardInterrupt:
        for source in found.sources:
            if source.rejects.path is not None:
                source.rejects.path.unlink(missing_ok=True)
        raise
    finally:
        found.clear()
    for source in found.sources:
        rejects = source.rejects
        for reason, rows in rejects.reasons.most_common(REASONS):
            say(f"skipped {counted(rows, 'row')}: {one_line(reason)}", quiet=quiet)
        if rejects.count and rejects.path is not None:
            say(f"{counted(rejects.count, 'skipped row')} in {rejects.path}", quiet=quiet)
        elif rejects.count and rejects.may_be_kept and _takes_rejects():
            say(
                f"{counted(rejects.count, 'skipped row')} not kept; to keep them: `--rejects FILE`",
                quiet=quiet,
            )


def _takes_rejects() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and "rejects_path" in context.params


@contextlib.contextmanager
def watched(
    source: Source, doing: str, *, quiet: bool, bar: bool = True, classes: int | None = None
) -> Iterator[Iterator[Batch]]:
    """The batches of one source, read ahead, the pass drawn as `progress` does.

    They are small enough to be scored for so many ``classes``, if these are given.
    """
    with progress(quiet=quiet, bar=bar) as observer:
        batches = observer.watched(source, source.ahead(), doing)
        yield batches if classes is None else portions(batches, classes)
