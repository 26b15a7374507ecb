"""A bar on the terminal while data passes, and how much has passed."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from textodds.cli.output import counted, one_line, say
from textodds.data import prefetched

if TYPE_CHECKING:
    from textodds.learn.softmax.regression import Watchers

# Sooner a bar is only a flicker, and loading what draws it costs a tenth of a second.
DELAY = 0.5  # seconds

REASONS = 3  # why rows were skipped: those that are said; the file has all

Show = Callable[[int, int], None]  # rows and bytes so far


class Watch:
    """Looks at batches as they pass, and counts them."""

    def __init__(self, source: Any, show: Show | None = None) -> None:
        self.rows = self.bytes = 0
        self._source, self._show = source, show
        self._passing: Iterable[Any] = ()

    def batches(self) -> Iterator[Any]:
        """The batches of the source, read ahead."""
        return self(self._source if self._source.size is None else prefetched(self._source))

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches."""
        # A pipe on which nothing comes is waited for in a thread, or Ctrl-C would not be heard.
        self._passing = batches if self._source.size is not None else prefetched(batches)
        for batch in self._passing:
            yield batch
            self.rows += len(batch)
            self.bytes = self._source.bytes_read
            if self._show is not None:
                self._show(self.rows, self.bytes)
        self.bytes = self._source.bytes_read

    def stop(self) -> None:
        """End what reads ahead, so that it writes nothing any more."""
        if isinstance(self._passing, Generator):
            self._passing.close()


@contextlib.contextmanager
def watched(
    source: Any, doing: str, *, quiet: bool, bar: bool = True, again: bool = False
) -> Iterator[Watch]:
    """A `Watch` over one pass; on a terminal it draws a bar, unless ``quiet`` or not ``bar``.

    Says afterwards which rows were skipped, unless they are read ``again``. Where the pass is interrupted,
    the file of these rows goes too.
    """
    if source.description == "stdin" and sys.stdin is not None and sys.stdin.isatty():
        say("reading what you type, a line at a time; end with Ctrl-D", quiet=quiet)
    with contextlib.ExitStack() as stack:
        show = None
        if bar and not quiet and sys.stderr.isatty():
            show = _drawn(source, doing, stack)
        watch = Watch(source, show)
        stack.callback(watch.stop)
        try:
            yield watch
        except KeyboardInterrupt:
            watch.stop()
            if source.rejects.path is not None:
                source.rejects.path.unlink(missing_ok=True)
            raise
    if source.rejects.count and not again:
        for reason, rows in source.rejects.reasons.most_common(REASONS):
            say(f"skipped {counted(rows, 'row')}: {one_line(reason)}", quiet=quiet)
        say(f"{counted(source.rejects.count, 'skipped row')} in {source.rejects.path}", quiet=quiet)


@contextlib.contextmanager
def fitting(*, quiet: bool) -> Iterator[Watchers | None]:
    """Tells on a terminal how far an optimiser has come, on one line that vanishes; None elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.status import Status

    from textodds.learn.softmax.regression import Watchers

    with Status("fitting", console=Console(stderr=True)) as status:

        def on_path(C: float, loss: float) -> None:
            status.update(f"choosing the penalty: C = {C:.3g}, held-out log-loss {loss:.4f}")

        def on_step(step: int, gap: float) -> None:
            status.update(f"fitting: pass {step}, within {gap:.1e} of the optimum")

        yield Watchers(on_path, on_step)


@contextlib.contextmanager
def racing(*, quiet: bool) -> Iterator[Callable[[str, int, int, int], None] | None]:
    """Tells on a terminal what is tried, on one line that vanishes; None elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("choosing", console=Console(stderr=True)) as status:

        def on_trial(name: str, n: int, number: int, of: int) -> None:
            status.update(f"trying {number} of {of} on {n:,} texts: {name}")

        yield on_trial


def _drawn(source: Any, doing: str, stack: contextlib.ExitStack) -> Show:
    """What draws the bar, which appears after `DELAY` and vanishes with ``stack``."""
    started = time.monotonic()
    draw: Show | None = None

    def show(rows: int, read: int) -> None:
        nonlocal draw
        if draw is None and time.monotonic() - started >= DELAY:
            draw = _bar(source.size or None, doing, started, stack)
        if draw is not None:
            draw(rows, read)

    return show


def _bar(total: int | None, doing: str, started: float, stack: contextlib.ExitStack) -> Show:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    bar = stack.enter_context(
        Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[rows]:,} rows  {task.fields[rate]:,.0f} rows/s"),
            *([TimeElapsedColumn()] if total is None else [TimeRemainingColumn(), TextColumn("left")]),
            console=Console(stderr=True),
            transient=True,
        )
    )
    task = bar.add_task(doing, total=total, rows=0, rate=0.0)

    def draw(rows: int, read: int) -> None:
        seconds = max(time.monotonic() - started, 1e-9)
        bar.update(task, completed=read, rows=rows, rate=rows / seconds)

    return draw
