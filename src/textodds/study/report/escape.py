"""Text that is HTML already, and text that is not yet."""

from __future__ import annotations

from textodds.model.explain.markup import shown


class Markup(str):
    """Text that is HTML already, and is not escaped again."""

    __slots__ = ()


def escaped(text: str) -> str:
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
    return Markup("".join(escaped(part) for part in parts))
