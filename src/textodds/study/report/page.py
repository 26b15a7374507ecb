"""Pages of HTML that are one file: `templates/` filled with data; nothing in them runs, nothing is fetched.

Whatever comes from data is escaped, and its control characters are replaced. Only what is marked ``safe`` in
a template is HTML already: figures, and texts with their words highlighted.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from textodds.errors import require
from textodds.judge.evaluation import Interval
from textodds.judge.notebook import CONTROL
from textodds.study.report.inline import svg
from textodds.study.report.picture import require_matplotlib

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **data: object) -> str:
    """A whole page, to be written to a file as it is; the same data gives the same page."""
    return environment().get_template(template).render(data, contents=[], version=version("textodds"))


def require_page() -> None:
    """Fail where a package is missing that pages need, and say how to get it."""
    require_matplotlib()
    require("jinja2", why="writing pages")


@cache
def environment() -> Environment:
    """Where templates are found, how they escape, and their filters."""
    require_page()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("textodds.study.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for each in (svg, interval, sentence, p_value, duration, size):
        made.filters[each.__name__] = each
    made.filters["fmt"] = format
    return made


def printable(value: object) -> object:
    r"""What a template shows of a value: text that is not HTML already without control characters.

    >>> printable("a\x00b"), printable(3)
    ('a\ufffdb', 3)
    """
    return CONTROL.sub("\ufffd", value) if type(value) is str else value


def interval(ends: Interval, form: str) -> str:
    """An interval in a table.

    >>> interval((0.25, 0.5), ".3f")
    '0.250–0.500'
    """
    return "–".join(format(end, form) for end in ends)


def sentence(text: str) -> str:
    """A clause as a sentence.

    >>> sentence("in error, a overtakes b")
    'In error, a overtakes b.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def p_value(p: float) -> str:
    """A p-value with as many digits as mean something.

    >>> p_value(0.0314159), p_value(3e-9), p_value(1.0)
    ('0.031', '< 0.0001', '1')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def duration(seconds: float) -> str:
    """Time for people.

    >>> duration(0.00042), duration(0.0424), duration(3.14159), duration(200)
    ('0.42 ms', '42 ms', '3.1 s', '3 min 20 s')
    """
    if seconds < 1:
        return f"{seconds * 1000:.2g} ms" if seconds < 0.0995 else f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def size(n: float) -> str:
    """Bytes for people.

    >>> size(980), size(44_723)
    ('980 bytes', '44.7 kB')
    """
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(int(math.log10(max(n, 1)) // 3), len(units) - 1)
    return f"{n / 1000**power:.3g} {units[power]}"
