"""Pictures of how good a model is, for a page: curves, intervals by class, and the confusion matrix.

What matters is never said by colour alone: curves have dashes and names of their own, cells hold numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.judge.evaluation import Interval
from textodds.study.report.legend import name_on_axis
from textodds.study.report.palette import FAINT, INK, style
from textodds.study.report.picture import drawing, empty_figure

Floats = NDArray[np.float64]

WIDTH = 4.6  # inches of a picture that fits a phone, and twice on a desk
GRAIN = 400  # steps along an axis that a curve is drawn in: finer than a line is wide

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (9, 2)), (0, (3, 1)))

RIGHT, WRONG = "#00639c", "#c45500"
"""Blue and orange of cells: so dark that white letters can be read on them, on a dark page as well."""

SHADE, DEEP = 0.9, 0.6  # how dark the fullest cell is, of 1, and from where on its letters are white

UNITS = ((1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"))

GUIDE = {"color": FAINT, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1}  # a line to compare with


@drawing()
def curves(
    drawn: Mapping[str, tuple[Floats, Floats]], names: tuple[str, str], *, diagonal: bool = False
) -> Any:
    """Curves in the unit square, by their names; ``diagonal`` draws what chance would give."""
    figure = empty_figure(WIDTH, WIDTH - 0.4)
    axes = figure.subplots()
    if diagonal:
        axes.plot([0, 1], [0, 1], **GUIDE)
    for k, (label, (x, y)) in enumerate(drawn.items()):
        _line(axes, x, y, k, name_on_axis(label))
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=names[0], ylabel=names[1])
    axes.set_aspect("equal")
    if len(drawn) > 1:
        where = "lower right" if diagonal else "lower left"
        axes.legend(loc=where, frameon=False, fontsize=8.5, handlelength=2.6, labelspacing=0.3)
    return figure


@drawing()
def coverage(share: Floats, right: Floats) -> Any:
    """How many answers are right if only the surest share is answered."""
    figure = empty_figure(WIDTH, 3.2)
    axes = figure.subplots()
    many = share >= min(0.02, share[-1])  # of the first few rows one mistake would be most of the picture
    share, right = share[many], right[many]
    _line(axes, share, right, 0, "")
    axes.axhline(right[-1], **GUIDE)
    low = float(right.min())
    axes.set(xlim=(0, 1.01), ylim=(low - 0.06 * (1.001 - low), 1 + 0.04 * (1.001 - low)))
    axes.set(xlabel="share answered, the surest first", ylabel="right among these")
    place = {"xytext": (0, 3), "textcoords": "offset points"}
    axes.annotate("all answered", (0.02, right[-1]), fontsize=8, color=FAINT, **place)
    return figure


@drawing()
def reliability(bins: Sequence[tuple[int, float, float]], intervals: Sequence[Interval], n_bins: int) -> Any:
    """How often answers are right, by how probable they were said to be; below, how many said so."""
    figure = empty_figure(WIDTH, WIDTH + 0.5)
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    rows, said, right = (np.array(part, dtype=np.float64) for part in zip(*bins, strict=True))
    low, high = np.array(intervals).T
    top.plot([0, 1], [0, 1], **GUIDE)
    dots = {"marker": "o", "markersize": 5, "linestyle": "", "elinewidth": 1.2, "capsize": 2.5}
    ends = [np.maximum(right - low, 0), np.maximum(high - right, 0)]
    top.errorbar(said, right, ends, color=style(0).colour, **dots)
    small = {"xycoords": "axes fraction", "fontsize": 8, "color": FAINT}
    top.annotate("too timid above the line", (0.04, 0.96), **small)
    top.annotate("too sure below it", (0.96, 0.04), ha="right", **small)
    top.set(xlim=(-0.01, 1.01), ylim=(-0.02, 1.02), ylabel="share that is right")
    place = np.minimum((said * n_bins).astype(np.intp), n_bins - 1)
    below.bar((place + 0.5) / n_bins, rows, 0.86 / n_bins, color=style(0).colour, alpha=0.6)
    below.set(xlabel="probability of the answer", ylabel="rows")
    below.locator_params(axis="y", nbins=3)
    figure.align_ylabels([top, below])
    return figure


@drawing()
def by_class(labels: Sequence[str], measures: Mapping[str, Sequence[tuple[float, Interval] | None]]) -> Any:
    """Measures of each class with their intervals, a line for each class, the first on top."""
    figure = empty_figure(5.2, 0.9 + 0.36 * len(labels))
    axes = figure.subplots()
    apart = np.linspace(-0.2, 0.2, len(measures))
    for k, (name, values) in enumerate(measures.items()):
        look = style(k)
        at = [i for i, value in enumerate(values) if value is not None]
        known = [value for value in values if value is not None]
        middle = np.array([value for value, _ in known])
        low, high = np.array([interval for _, interval in known]).reshape(-1, 2).T
        dots = {"marker": look.marker, "markersize": 5, "linestyle": "", "elinewidth": 1.2}
        ends = [np.maximum(middle - low, 0), np.maximum(high - middle, 0)]
        axes.errorbar(middle, np.array(at) + apart[k], xerr=ends, color=look.line, label=name, **dots)
    axes.set_yticks(range(len(labels)), [name_on_axis(label) for label in labels])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(right=1.005)
    axes.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.6)
    axes.spines[:].set_visible(False)
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    axes.legend(ncols=len(measures), frameon=False, **above)
    return figure


@drawing()
def confusion(labels: Sequence[str], counts: NDArray[np.integer], totals: NDArray[np.integer]) -> Any:
    """Rows by true label (down) and answer (across), shaded by the share of the label's ``totals``."""
    K = len(labels)
    cell = 0.62 if K <= 6 else 0.46 if K <= 12 else 0.36
    small = 9.5 if K <= 6 else 8.5 if K <= 12 else 7.5
    names = [name_on_axis(label) for label in labels]
    margin = 0.5 + 0.085 * max(map(len, names))
    figure = empty_figure(cell * K + margin, cell * K + margin)
    axes = figure.subplots()
    from matplotlib.patches import Rectangle

    shares = counts / np.maximum(totals, 1)[:, None]
    for i in range(K):
        for j in range(K):
            shade = SHADE * math.sqrt(shares[i, j])  # so that the few wrong ones are seen, too
            place: Any = (j - 0.48, i - 0.48), 0.96, 0.96
            if counts[i, j]:
                colour = RIGHT if i == j else WRONG
                axes.add_patch(Rectangle(*place, facecolor=colour, alpha=shade, linewidth=0))
            if i == j:
                axes.add_patch(Rectangle(*place, fill=False, edgecolor=FAINT, linewidth=0.7))
            number = short_number(int(counts[i, j])) if counts[i, j] else "·"
            ink = FAINT if not counts[i, j] else "white" if shade > DEEP else INK
            axes.text(j, i, number, ha="center", va="center", fontsize=small, color=ink)
    axes.set_xticks(range(K), names, rotation=0 if max(map(len, names)) * 0.09 < cell else 90)
    axes.set_yticks(range(K), names)
    axes.tick_params(length=0, labelcolor=INK, labelsize=small if K > 12 else 9)
    axes.set(xlim=(-0.5, K - 0.5), ylim=(K - 0.5, -0.5), xlabel="answered", ylabel="true label")
    axes.set_aspect("equal")
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
    power, unit = next((power, unit) for power, unit in UNITS if n < 999.5 * power)
    return f"{n / power:.1f}{unit}" if n < 9.95 * power else f"{n / power:.0f}{unit}"


def _line(axes: Any, x: Floats, y: Floats, k: int, name: str) -> None:
    """A curve of the k-th style, without corners that nobody could see."""
    there = np.round(np.stack([x, y]) * GRAIN)
    moved = np.abs(np.diff(there, axis=1)).max(axis=0) > 0 if len(x) > 1 else np.zeros(0, dtype=bool)
    kept = np.concatenate([[True], moved])
    kept[:-1] |= kept[1:]  # both ends of a step
    kept[-1] = True
    line = {"color": style(k).line, "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.6}
    axes.plot(x[kept], y[kept], label=name, marker="o" if len(x) == 1 else None, **line)
