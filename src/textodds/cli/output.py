"""Words and numbers for people: data on stdout, talk on stderr, colour on a terminal only."""

from __future__ import annotations

import contextlib
import json
import math
import os
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from textodds.errors import TextoddsWarning
from textodds.errors import one_line as one_line


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a line; colour goes where there is a terminal that wants it."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    click.echo(text, err=err, color=None if wanted else False)


def say(text: str = "", *, quiet: bool = False) -> None:
    """Print a line of talk, unless nobody wants to hear it."""
    if not quiet:
        echo(text, err=True)


def warn(text: str) -> None:
    """Print a warning."""
    echo(warning(text), err=True)


def warning(text: str) -> str:
    """A line with a warning, among others."""
    return f"{styled('warning:', fg='yellow', bold=True)} {harmless(text)}"


def styled(text: str, **style: Any) -> str:
    """Text with colours, which `echo` takes out again where they are not wanted."""
    return click.style(text, **style)


def faint(text: str) -> str:
    """Text that steps back."""
    return styled(text, dim=True)


def strong(text: str) -> str:
    """Text that steps forward."""
    return styled(text, bold=True)


@contextlib.contextmanager
def shown_warnings() -> Iterator[None]:
    """While this lasts, our own warnings are talk; those of others are left alone."""
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, TextoddsWarning):
                warn(str(message))
            else:
                before(message, category, *where, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", TextoddsWarning)
        yield


def as_json(value: object) -> str:
    """One line of JSON; what is not a number is null."""
    return json.dumps(without_nan(value), ensure_ascii=False, allow_nan=False)


def show(plain: object, lines: Iterable[str], *, json: bool) -> None:
    """Print plain data as one line of JSON, or its ``lines`` for people."""
    for line in [as_json(plain)] if json else lines:
        echo(line)


def tell(plain: object, lines: Iterable[str], *, json: bool, quiet: bool) -> None:
    """Print plain data as one line of JSON, or say its ``lines``, unless nobody wants to hear them."""
    if json:
        echo(as_json(plain))
        return
    for line in lines:
        say(line, quiet=quiet)


def without_nan(value: object) -> Any:
    """Plain data in which what is not a number is None."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value


def counted(n: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def weight(n: float) -> str:
    """A total of weights, whole unless a weight was not.

    >>> weight(420.0), weight(1234.5)
    ('420', '1,234.5')
    """
    return f"{n:,.0f}" if n == int(n) else f"{n:,.4g}" if n < 1000 else f"{n:,.1f}"


def size(n: float) -> str:
    """Bytes for people.

    >>> size(980), size(44_723), size(2_500_000_000)
    ('980 bytes', '44.7 kB', '2.5 GB')
    """
    if n < 1000:
        return f"{n:.0f} bytes"
    units = ("kB", "MB", "GB", "TB")
    power = min(int(math.log10(n) // 3), len(units))
    return f"{n / 1000**power:.3g} {units[power - 1]}"


def duration(seconds: float) -> str:
    """Time for people.

    >>> duration(0.0042), duration(3.14159), duration(200)
    ('4 ms', '3.14 s', '3 min 20 s')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def harmless(text: str) -> str:
    """Text that quotes data, with its own line ends but no other control characters."""
    return "\n".join(map(one_line, text.split("\n")))


def shortened(text: str, most: int = 60) -> str:
    """Text on one line, cut where it has more than so many characters.

    >>> shortened("see you at six", 8)
    'see you…'
    """
    text = one_line(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def width(text: str) -> int:
    """Columns that a text takes on a terminal, colours apart.

    >>> width("spam"), width("迷惑"), width("e\u0301")
    (4, 4, 1)
    """
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in click.unstyle(text)
    )


def aligned(rows: Sequence[Sequence[str]], *, left: int = 1, gap: int = 3, indent: int = 2) -> list[str]:
    """Lines of a table, its first ``left`` columns to the left and the others to the right.

    >>> aligned([["class", "rows"], ["ham", "290"]])
    ['  class   rows', '  ham      290']
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell + " " * (wide - width(cell)) if at < left else " " * (wide - width(cell)) + cell
            for at, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((" " * indent + (" " * gap).join(cells)).rstrip())
    return lines


def table(names: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1, gap: int = 3) -> list[str]:
    """Lines of a table below the names of its columns, which step back."""
    return aligned([[faint(name) for name in names], *rows], left=left, gap=gap)
