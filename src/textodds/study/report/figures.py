"""Pictures of how good a model is, for a page: curves, intervals by class, and the confusion matrix.

What matters is never said by colour alone: curves have dashes and names of their own, cells hold numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.judge.evaluation import BINS, Interval, Reliability, wilson
from textodds.learn.arrays import Floats
from textodds.study.report.picture import DASHES, FAINT, INK, STYLES, Style, drawing, empty_figure, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure

Points = tuple[ArrayLike, ArrayLike]
Estimate = tuple[float, Interval]

WIDTH = 4.6  # inches of a picture that fits a phone, and twice on a desk

RIGHT, WRONG = "#00639c", "#c45500"
"""Blue and orange of cells: so dark that white letters can be read on them, on a dark page as well."""

SHADE, DEEP = 0.9, 0.6  # how dark the fullest cell is, of 1, and from where on its letters are white

GUIDE: Mapping[str, Any] = {"color": FAINT, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1}
"""A line to compare with."""


@drawing()
def curves(
    drawn: Mapping[str, tuple[Floats, Floats]],
    names: tuple[str, str],
    *,
    diagonal: bool = False,
    points: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Curves in the unit square, by their names; ``diagonal`` draws what chance would give.

    Some have ``points`` that are marked.
    """
    figure = empty_figure(WIDTH, WIDTH - 0.4)
    axes = figure.subplots()
    if diagonal:
        axes.plot([0, 1], [0, 1], **GUIDE)
    for k, (label, (x, y)) in enumerate(drawn.items()):
        line: Mapping[str, Any] = {"color": STYLES[k].line, "linestyle": DASHES[k % len(DASHES)]}
        axes.plot(x, y, linewidth=1.6, marker="o" if len(x) == 1 else "", label=short_name(label), **line)
        if points is not None and label in points:
            axes.plot(*points[label], marker=STYLES[k].marker, markersize=7, color=STYLES[k].line)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=names[0], ylabel=names[1], aspect="equal")
    if len(drawn) > 1:
        how: Mapping[str, Any] = {"loc": "lower right" if diagonal else "lower left"}
        axes.legend(fontsize=8.5, handlelength=2.6, labelspacing=0.3, **how)
    return figure


@drawing()
def coverage(share: Floats, right: Floats) -> Figure:
    """How many answers are right if only the surest share is answered."""
    figure = empty_figure(WIDTH, 3.2)
    axes = figure.subplots()
    many = share >= min(0.02, share[-1])  # of the first few rows one mistake would be most of the picture
    share, right = share[many], right[many]
    axes.plot(share, right, color=STYLES[0].line, linewidth=1.6, marker="o" if len(share) == 1 else "")
    axes.axhline(right[-1], **GUIDE)
    low = float(right.min())
    axes.set(xlim=(0, 1.01), ylim=(low - 0.06 * (1.001 - low), 1 + 0.04 * (1.001 - low)))
    axes.set(xlabel="share answered, most confident first", ylabel="right among these")
    beside: Mapping[str, Any] = {"xytext": (0, 3), "textcoords": "offset points"}
    axes.annotate("all answered", (0.02, right[-1]), fontsize=8, color=FAINT, **beside)
    return figure


@drawing()
def reliability(
    bins: Reliability,
    names: tuple[str, str, str] = ("accuracy", "probability of the answer", "rows"),
    *,
    many: bool = False,
) -> Figure:
    """How often answers are right, by how probable they were said to be; below, how many said so.

    Of ``many`` that are nearly all improbable, numbers are on a logarithmic scale.
    """
    figure = empty_figure(WIDTH, WIDTH + 0.5)
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    draw_reliability(top, bins, STYLES[0], 5)
    small: Mapping[str, Any] = {"xycoords": "axes fraction", "fontsize": 8, "color": FAINT}
    top.annotate("underconfident above the line", (0.04, 0.96), **small)
    top.annotate("too sure below it", (0.96, 0.04), ha="right", **small)
    top.set(xlim=(-0.01, 1.01), ylim=(-0.02, 1.02), ylabel=names[0])
    rows, said, _ = np.array(bins).T
    place = np.minimum((said * BINS).astype(np.intp), BINS - 1)
    below.bar((place + 0.5) / BINS, rows, 0.86 / BINS, color=STYLES[0].colour, alpha=0.6)
    below.set(xlabel=names[1], ylabel=names[2])
    if many:
        below.set_yscale("log")
        below.yaxis.set_major_formatter(lambda n, _: short_number(round(n)))
        below.minorticks_off()
    else:
        below.locator_params(axis="y", nbins=3)
    figure.align_ylabels([top, below])
    return figure


def draw_reliability(axes: Axes, bins: Reliability, look: Style, size: float) -> None:
    """The accuracy in each bin over its probability, and the line on which both are the same."""
    axes.plot([0, 1], [0, 1], **GUIDE)
    _, said, right = np.array(bins).T
    intervals = [wilson(round(share * rows), rows) for rows, _, share in bins]
    draw_estimates(axes, look, size, (said, right), intervals)


def draw_estimates(
    axes: Axes, look: Style, size: float, at: Points, intervals: Sequence[Interval], *, across: bool = False
) -> ErrorbarContainer:
    """Markers at estimates, (x, y), and a line along the interval of each: upwards, or ``across``."""
    x, y = at
    values = np.asarray(x if across else y, dtype=np.float64)
    low, high = np.array(intervals).reshape(-1, 2).T
    ends: dict[str, Any] = {"xerr" if across else "yerr": np.maximum([values - low, high - values], 0)}
    line: Any = {"color": look.line, "ecolor": (look.line, 0.6), "elinewidth": 0.22 * size}
    return axes.errorbar(x, y, fmt=look.marker, markersize=size, **line, **ends)


@drawing()
def by_class(labels: Sequence[str], measures: Mapping[str, Sequence[Estimate | None]]) -> Figure:
    """Measures of each class with their intervals, a line for each class, the first on top."""
    figure = empty_figure(5.2, 0.9 + 0.36 * len(labels))
    axes = figure.subplots()
    apart = np.linspace(-0.2, 0.2, len(measures))
    for k, (name, values) in enumerate(measures.items()):
        known = [(value[0], at + apart[k], value[1]) for at, value in enumerate(values) if value is not None]
        x, y, intervals = zip(*known, strict=True) if known else ((), (), ())
        draw_estimates(axes, STYLES[k], 5, (x, y), intervals, across=True).set_label(name)
    name_lines(axes, [short_name(label) for label in labels])
    axes.set_xlim(right=1.005)
    faint_grid(axes, "x")
    axes.spines[:].set_visible(False)
    axes.legend(ncols=len(measures), loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    return figure


def name_lines(axes: Axes, names: Sequence[str]) -> None:
    """Names of lines across the picture, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.set_ylim(len(names) - 0.5, -0.5)


def faint_grid(axes: Axes, axis: str) -> None:
    """Lines under all that is drawn."""
    axes.grid(axis=axis, color=FAINT, alpha=0.22, linewidth=0.6)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


@drawing()
def confusion(
    labels: Sequence[str],
    counts: NDArray[np.integer],
    totals: NDArray[np.integer],
    names: tuple[str, str] = ("answered", "true label"),
) -> Figure:
    """Rows by true label (down) and answer (across), shaded by the share of the label's ``totals``."""
    from matplotlib.patches import Rectangle

    K = len(labels)
    cell, small = (0.62, 9.5) if K <= 6 else (0.46, 8.5) if K <= 12 else (0.36, 7.5)
    shown = [short_name(label) for label in labels]
    longest = max(map(len, shown))
    figure = empty_figure(*[cell * K + 0.5 + 0.085 * longest] * 2)
    axes = figure.subplots()
    for i, j in np.ndindex(K, K):
        count = int(counts[i, j])
        shade = SHADE * math.sqrt(count / max(int(totals[i]), 1))  # so that the few wrong ones are seen, too
        place = (j - 0.48, i - 0.48)
        if count:
            colour = RIGHT if i == j else WRONG
            axes.add_patch(Rectangle(place, 0.96, 0.96, facecolor=colour, alpha=shade, linewidth=0))
        if i == j:
            axes.add_patch(Rectangle(place, 0.96, 0.96, fill=False, edgecolor=FAINT, linewidth=0.7))
        ink = FAINT if not count else "white" if shade > DEEP else INK
        number = short_number(count) if count else "·"
        axes.text(j, i, number, ha="center", va="center", fontsize=small, color=ink)
    axes.set_xticks(range(K), shown, rotation=0 if longest * 0.09 < cell else 90)
    name_lines(axes, shown)
    axes.tick_params(length=0, labelcolor=INK, labelsize=small if K > 12 else 9)
    axes.set(xlim=(-0.5, K - 0.5), xlabel=names[0], ylabel=names[1], aspect="equal")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.spines[:].set_visible(False)
    return figure


def short_number(n: int) -> str:
    """A number in four letters at most.

    >>> [short_number(n) for n in (950, 12_340, 1_480_000)]
    ['950', '12k', '1.5M']
    """
    if n < 10_000:
        return str(n)
    value, units = n / 1000, "kMGT"
    while value >= 999.5:
        value, units = value / 1000, units[1:]
    return f"{value:.1f}{units[0]}" if value < 9.95 else f"{value:.0f}{units[0]}"
