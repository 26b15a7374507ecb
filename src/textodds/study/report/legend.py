"""A sheet of panels and its words: heads, names of axes, keys to the classes, and a foot of notes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from textodds.model.explain.markup import CONTROL
from textodds.study.report.palette import FAINT, INK, Style, style
from textodds.study.report.picture import empty_figure

LONGEST = 24  # letters of the name of a class
LONGEST_AXIS = 40  # letters of the name of an axis
KEY_LINE, FOOT_LINE = 0.25, 0.165  # inches that a row of keys and a line of the foot take


def new_sheet(
    width: float, tall: float, shape: tuple[int, int], foot: str, **panels: Any
) -> tuple[Any, list[Any]]:
    """A figure ``width`` inches wide, and its panels, each ``tall`` inches high with its words."""
    lines = textwrap.wrap(foot, int((width - 0.8) / 0.066))
    figure = empty_figure(width, shape[0] * tall + KEY_LINE + len(lines) * FOOT_LINE)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    axes = figure.subplots(*shape, squeeze=False, **panels).ravel().tolist()
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=8, color=FAINT, linespacing=1.4)
    return figure, axes


def draw_keys(figure: Any, classes: Sequence[str], key: Callable[[Style], Any]) -> None:
    """A ``key`` to each of the classes over the panels, as many beside one another as there is room for."""
    names = [shorten(name) for name in classes]
    room = (figure.get_figwidth() - 1) / (0.42 + 0.088 * max(map(len, names)))
    across = max(1, min(len(names), int(room)))
    figure.set_figheight(figure.get_figheight() + (-(-len(names) // across) - 1) * KEY_LINE)
    gaps = {"handlelength": 1.1, "handletextpad": 0.4, "columnspacing": 1.5, "labelspacing": 0.4}
    keys = [key(style(k)) for k in range(len(names))]
    figure.legend(keys, names, loc="outside upper left", ncols=across, frameon=False, fontsize=10, **gaps)


def label(axis: Any, name: str) -> None:
    """Name an axis, a few ticks on it, with a factor or offset of its numbers beside the name.

    Limits must be set before. Matplotlib would put the factor over the panel, where its head is.
    """
    axis.axes.locator_params(axis=axis.axis_name, nbins=5)
    axis.axes.tick_params(length=3)
    numbers = axis.get_major_formatter()
    numbers.set_locs(axis.get_majorticklocs())
    factor = numbers.get_offset()
    axis.get_offset_text().set_visible(False)
    short = shorten(name, LONGEST_AXIS)
    times = factor if factor.startswith(("+", "-", "−")) else f"×{factor}"
    axis.set_label_text(f"{short} ({times})".lstrip() if factor else short)


def head(axes: Any, name: str, what: str, result: str) -> None:
    """Name of the panel, what it is, and what came of it, on two lines over its left edge."""
    above = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(name, (0, 1), (0, 20), fontsize=12, fontweight="bold", color=INK, **above)
    axes.annotate(what, (1, 1), (0, 20.5), fontsize=9, color=FAINT, ha="right", **above)
    axes.annotate(result, (0, 1), (0, 6), fontsize=9, color=INK, in_layout=False, **above)


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
