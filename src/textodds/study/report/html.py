"""A page of HTML that is one file: sections, tables and figures; nothing in it runs, nothing is fetched.

Whatever comes from data is escaped; what is HTML already is `Markup`, which every function here returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files

from textodds.model.explain.markup import shown
from textodds.study.report.palette import COLOURS, FAINT, INK

CONTENTS = 4  # a page of as many sections begins with a list of them

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may do with the page: read the styles and images that are in it, and nothing else."""

HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)


DARK = ("#4aa8e0", "#f08a4b", "#35c496", "#e0a0c4", "#7cc9f2", "#f0b429", "#e8e8e8", "#f0e442")
"""The colours of the classes where the page is dark, in the order of the palette, with black as white."""


def _colours(colours: tuple[str, ...], ink: str, faint: str, paper: str, line: str, box: str) -> str:
    named = {"ink": ink, "faint": faint, "paper": paper, "line": line, "box": box}
    named |= {f"c{k}": colour for k, colour in enumerate(colours)}
    return ";".join(f"--{key}:{value}" for key, value in named.items())


LIGHT_COLOURS = _colours(COLOURS, INK, FAINT, "#ffffff", "#dddddd", "#f6f6f4")
DARK_COLOURS = _colours(DARK, "#e6e6e3", "#a0a09a", "#18191b", "#3a3b3e", "#222326")

ROOT = f"""
:root{{color-scheme:light dark;{LIGHT_COLOURS}}}
@media screen and (prefers-color-scheme:dark){{:root{{{DARK_COLOURS}}}}}
"""

STYLE = ROOT + "\n" + files("textodds.study.report").joinpath("page.css").read_text(encoding="utf-8")


class Markup(str):
    """Text that is HTML already, and is not escaped again."""

    __slots__ = ()


def escape(text: str) -> str:
    """Text as HTML, unless it is `Markup`, which stays as it is."""
    return text if isinstance(text, Markup) else shown(text)


def name(text: str) -> Markup:
    """A name that comes from data, whichever way its script runs, for use within a line.

    >>> name("R&D")
    '<bdi>R&amp;D</bdi>'
    """
    return Markup(f"<bdi>{shown(text)}</bdi>")


def joined(*parts: str) -> Markup:
    """One line of parts, of which those that are not `Markup` are escaped."""
    return Markup("".join(escape(part) for part in parts))


def document(title: str, *parts: str, lead: str = "") -> str:
    """A whole page, to be written to a file as it is.

    ``lead`` stands under the title. Parts that are not `Markup` become paragraphs.
    """
    body = "\n".join(_block(part) for part in parts)
    headings: list[str] = []

    def anchored(found: re.Match[str]) -> str:
        headings.append(found[1])
        return f'<h2 id="part-{len(headings)}">{found[1]}</h2>'

    body = HEADING.sub(anchored, body)  # what comes from data is escaped, and cannot be a heading
    contents = ""
    if len(headings) >= CONTENTS:
        listed = "".join(
            f'<li><a href="#part-{at}">{text}</a></li>' for at, text in enumerate(headings, start=1)
        )
        contents = f'<nav aria-label="Contents"><ol>{listed}</ol></nav>\n'
    under = f'<p class="lead">{escape(lead)}</p>\n' if lead else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{shown(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{shown(title)}</h1>\n{under}</header>\n{contents}<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


def section(heading: str, *parts: str, level: int = 2) -> Markup:
    r"""Parts under a heading; those that are not `Markup` become paragraphs.

    >>> section("Words", "as <they> come")
    '<section><h2>Words</h2>\n<p>as &lt;they&gt; come</p></section>'
    """
    inner = "\n".join(_block(part) for part in parts)
    return Markup(f"<section><h{level}>{escape(heading)}</h{level}>\n{inner}</section>")


def paragraph(text: str, *, note: bool = False) -> Markup:
    """A paragraph; a ``note`` is smaller and steps back."""
    kind = ' class="note"' if note else ""
    return Markup(f"<p{kind}>{escape(text)}</p>")


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", numeric: bool = True
) -> Markup:
    """A table whose first column names its rows; ``numeric`` sets the others as numbers, to the right.

    Cells are escaped unless they are `Markup`. A table too wide for the page scrolls by itself.
    """
    titled = f"<caption>{escape(caption)}</caption>" if caption else ""
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in others)
        + "</tr>\n"
        for first, *others in rows
    )
    kind = ' class="numbers"' if numeric else ""
    return Markup(
        f'<div class="scroll"><table{kind}>{titled}<thead><tr>{columns}</tr></thead>\n'
        f"<tbody>\n{lines}</tbody></table></div>"
    )


def measures(measured: Iterable[tuple[str, str, str]]) -> Markup:
    """A few figures at large: the name, the value, and what is to be said of it, of each."""
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b><span>{escape(about)}</span></dd></div>"
        for name, value, about in measured
    )
    return Markup(f'<dl class="measures">{cells}</dl>')


def figure(drawn: str, caption: str, alt: str) -> Markup:
    """A picture with its caption; ``alt`` says what it shows to those who cannot see it."""
    told = f'role="img" aria-label="{shown(alt)}"'
    return Markup(
        f'<figure><div class="scroll">{drawn.replace("<svg ", f"<svg {told} ", 1)}</div>\n'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def beside(*parts: str) -> Markup:
    """Parts beside one another where there is room, else under one another."""
    return Markup(f'<div class="beside">{"".join(_block(part) for part in parts)}</div>')


def details(summary: str, *parts: str) -> Markup:
    """Parts that are seen when asked for; a printed page shows them too."""
    inner = "\n".join(_block(part) for part in parts)
    return Markup(f"<details><summary>{escape(summary)}</summary>\n{inner}</details>")


def _block(part: str) -> str:
    return part if isinstance(part, Markup) else paragraph(part)
