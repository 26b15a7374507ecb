"""Colours and markers that tell up to eight classes apart: for the colour-blind, and in grey print."""

from __future__ import annotations

from dataclasses import dataclass

# Okabe and Ito (2008), "Color Universal Design": blue and vermilion first, which differ most for everybody;
# yellow, which white paper swallows, last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<")
MOST = len(COLOURS)

INK, FAINT = "#222222", "#666666"

REGION, BAR = 0.16, 0.30  # shares of a colour that is mixed with white, for areas that step back
TOO_LIGHT = 0.45  # a colour of more luminance is darkened to be drawn as a line on white


@dataclass(frozen=True)
class Style:
    """How one class is drawn."""

    colour: str
    line: str
    marker: str

    def pale(self, share: float) -> str:
        """The colour mixed with white.

        >>> Style("#0072B2", "#0072B2", "o").pale(0.5)
        '#80b9d9'
        """
        return _hexadecimal([255 - share * (255 - part) for part in _parts(self.colour)])


def style(k: int) -> Style:
    """The style of class ``k``."""
    red, green, blue = parts = _parts(COLOURS[k])
    luminance = (0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2) / 255**2.2
    darker = COLOURS[k] if luminance < TOO_LIGHT else _hexadecimal([0.7 * part for part in parts])
    return Style(COLOURS[k], darker, MARKERS[k])


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _hexadecimal(parts: list[float]) -> str:
    return "#" + "".join(f"{int(part + 0.5):02x}" for part in parts)
