"""Results as they show themselves in a notebook: small tables that take the colours of the page.

No colour is set but by inheritance, so that light and dark pages are alike readable, and everything that
comes from data is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from textodds.errors import require

if TYPE_CHECKING:
    import pandas

ROWS = 12  # that a table shows; the others are counted
CHARACTERS = 160  # of a text that a cell shows

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_LINE = "border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 25%,transparent)"
_CELL = "padding:.1em .8em .1em 0"


def shown(text: str) -> str:
    """Text that is only shown: markup is escaped, control characters are replaced."""
    return html.escape(CONTROL.sub("\ufffd", text))


def section(title: str, *parts: str) -> str:
    """A fragment of HTML that needs nothing else: a title and its parts, which are HTML already."""
    style = "font-family:system-ui,sans-serif;line-height:1.5;max-width:60rem;color:inherit"
    heading = f'<p style="margin:.4rem 0"><strong>{shown(title)}</strong></p>'
    return f'<section class="textodds" style="{style}">{heading}{"".join(parts)}</section>'


def paragraph(text: str) -> str:
    """A line of text."""
    return f'<p style="margin:.4rem 0;font-size:.9em">{shown(text)}</p>' if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1, most: int = ROWS) -> str:
    """A table of ``most`` rows; the first ``left`` columns hold words, the others numbers."""
    rows = list(rows)

    def cells(tag: str, values: Sequence[object], extra: str = "") -> str:
        return "".join(
            f'<{tag} style="text-align:{"left" if at < left else "right"};{_CELL}{extra}">'
            f"<bdi>{shown(_cut(str(value)))}</bdi></{tag}>"
            for at, value in enumerate(values)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows[:most])
    header = f"<thead><tr>{cells('th', head, ';font-weight:600;' + _LINE)}</tr></thead>" if any(head) else ""
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9em;margin:.3rem 0"
    more = paragraph(f"and {len(rows) - most:,} more") if len(rows) > most else ""
    return f'<table style="{style}">{header}<tbody>{body}</tbody></table>{more}'


def _cut(text: str) -> str:
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"


def frame_of(rows: Iterable[dict[str, Any]], index: str) -> pandas.DataFrame:
    """A pandas frame of rows, one of whose columns is its index; an error where pandas is not installed."""
    require("pandas", why="a data frame", otherwise="take the plain data: `as_dict()`")
    import pandas

    return pandas.DataFrame(list(rows)).set_index(index)
