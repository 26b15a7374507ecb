"""What is drawn while a command works: a bar of rich's, or one plain line where rich is not installed."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, Literal, Protocol

Kind = Literal["rows", "tasks", "words"]

OFTEN = 0.1  # seconds between two drawings of the line


class Display(Protocol):
    """What is drawn, and taken away at the end."""

    def stop(self) -> None:
        """Take it away."""

    def update(self, task_id: Any, **fields: Any) -> None:
        """Draw how far the work is: `completed`, `total`, `description`, `rows` and their `rate`."""


def display(kind: Kind, doing: str, total: int | None) -> Display:
    """A display on stderr, which is a terminal, begun."""
    try:
        return _bar(kind, doing, total)
    except ModuleNotFoundError:
        return PlainLine(kind, doing, total)


def _bar(kind: Kind, doing: str, total: int | None) -> Display:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    words = TextColumn("{task.description}")
    columns: list[ProgressColumn] = [SpinnerColumn(), words]
    if kind == "rows":
        rate = TextColumn("{task.fields[rows]:,} rows  {task.fields[rate]:,.0f} rows/s")
        left = [TimeRemainingColumn(), TextColumn("left")] if total else [TimeElapsedColumn()]
        columns = [words, BarColumn(), rate, *left]
    elif kind == "tasks":
        tasks = TextColumn("{task.completed:,} of {task.total:,}")
        columns = [BarColumn(20), tasks, TimeElapsedColumn(), words]
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    bar.add_task(doing, total=total, rows=0, rate=0.0)
    return bar


class PlainLine:
    """One line that is written over itself, ten times a second at most."""

    def __init__(self, kind: Kind, doing: str, total: int | None) -> None:
        self._kind, self._last = kind, 0.0
        self._fields: dict[str, Any] = {"description": doing, "total": total, "completed": 0, "rows": 0}

    def update(self, task_id: object, **fields: Any) -> None:
        """Draw how far the work is."""
        self._fields |= fields
        now = time.monotonic()
        if now - self._last >= OFTEN:
            self._last = now
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r{self.text[:width]:<{width}}\r")
            sys.stderr.flush()

    @property
    def text(self) -> str:
        """What the line says.

        >>> line = PlainLine("rows", "learning", 200)
        >>> line.update(0, completed=50, rows=1234)
        >>> line.text
        'learning  25 %  1,234 rows'
        """
        found = self._fields
        said, done, total = str(found["description"]), found["completed"], found["total"]
        if self._kind == "tasks":
            return f"{done:,} of {total:,}  {said}"
        if self._kind == "words":
            return said
        share = f"{min(done / total, 1.0):.0%}".replace("%", " %") if total else ""
        return "  ".join(part for part in (said, share, f"{found['rows']:,} rows") if part)

    def stop(self) -> None:
        """Take the line away."""
        if self._last:
            sys.stderr.write(f"\r{'':<{shutil.get_terminal_size().columns - 1}}\r")
            sys.stderr.flush()
