"""The words of a picture: heads of panels, keys to the classes, and a foot with what was left out."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from textodds.model.explain.markup import CONTROL
from textodds.study.report.palette import BAR, FAINT, INK, style

LONGEST = 24  # letters of the name of a class
LEFT = 0.8  # inches left of panels and words
EDGE = 0.12  # inches between words and the edge of the picture
KEY_LINE, FOOT_LINE = 0.24, 0.165  # inches that a row of keys and a line of the foot take


@dataclass(frozen=True)
class Caption:
    """What stands under the panels: keys to the classes and, small, to the lines, and what was left out."""

    classes: tuple[str, ...]
    lines: str
    notes: tuple[str, ...]
    width: float  # inches

    @property
    def height(self) -> float:
        """Inches that they take."""
        rows = -(-len(self.classes) // self._across)
        return EDGE + rows * KEY_LINE + len(self._foot) * FOOT_LINE

    @property
    def _across(self) -> int:
        """Keys beside one another, as many as there is room for."""
        widest = max(len(shorten(name)) for name in self.classes)
        return max(1, min(len(self.classes), int((self.width - 1) / (0.42 + 0.088 * widest))))

    @property
    def _foot(self) -> list[str]:
        return textwrap.wrap("; ".join([self.lines, *self.notes]), int((self.width - 0.8) / 0.066))

    def draw(self, figure: Any, *, ellipses: bool) -> None:
        """Put them at the bottom of the figure, its classes shown as points or as bars."""
        height = figure.get_figheight()
        left = LEFT / self.width
        figure.legend(
            [_point(k) if ellipses else _bar(k) for k in range(len(self.classes))],
            [shorten(name) for name in self.classes],
            loc="lower left",
            bbox_to_anchor=(left, (EDGE + 0.02 + len(self._foot) * FOOT_LINE) / height),
            ncols=self._across,
            frameon=False,
            fontsize=10,
            handlelength=1.1,
            handletextpad=0.4,
            columnspacing=1.5,
            labelspacing=0.4,
            borderpad=0,
            borderaxespad=0,
        )
        for at, line in enumerate(reversed(self._foot)):
            figure.text(left, (EDGE + at * FOOT_LINE) / height, line, fontsize=8, color=FAINT)


def head(axes: Any, name: str, what: str, result: str) -> None:
    """Name of the panel, what it is, and what came of it, on two lines over its left edge."""
    above = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(name, (0, 1), (0, 20), fontsize=12, fontweight="bold", color=INK, **above)
    axes.annotate(what, (1, 1), (0, 20.5), fontsize=9, color=FAINT, ha="right", **above)
    axes.annotate(result, (0, 1), (0, 6), fontsize=9.5, color=INK, **above)


def shorten(name: str, longest: int = LONGEST) -> str:
    """A name that leaves room for others.

    >>> shorten("a" * 30)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    name = " ".join(name.split())
    return name if len(name) <= longest else name[: longest - 1] + "…"


def name_on_axis(name: str, longest: int = LONGEST) -> str:
    """A name on one short line, as matplotlib shows it."""
    short = CONTROL.sub("\ufffd", shorten(name, longest))
    return f"\u200b{short}" if short.startswith("_") else short  # which a legend would leave out


def _point(k: int) -> Any:
    from matplotlib.lines import Line2D

    look = style(k)
    return Line2D([], [], linestyle="", marker=look.marker, markersize=7.5, color=look.colour)


def _bar(k: int) -> Any:
    from matplotlib.patches import Patch

    look = style(k)
    return Patch(facecolor=look.pale(BAR), edgecolor=look.line, linewidth=1.6)
