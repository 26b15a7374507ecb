"""The numbers of each class as bars, the normal curves fitted to them, and where the decision changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError
from textodds.study.report.classifiers import Crossing, MaximumLikelihood, crossings
from textodds.study.report.legend import draw_keys, head, label, new_sheet, shorten
from textodds.study.report.palette import BAR, INK, style
from textodds.study.report.picture import Picture, drawing
from textodds.study.report.points import LabelledPoints

Floats = NDArray[np.float64]

ACROSS = 3  # panels beside one another
BARS = (12, 60)  # the fewest and the most bars of a panel
SMOOTH = 600  # points of a curve
REACH = 3.2  # standard deviations around the mean of each class that a panel shows
BAND = 0.035  # height of the band of decisions, as a share of its panel
LETTER = 0.085  # inches for each letter of the numbers over a panel
FLAT = 0.002  # a curve below this share of the highest is not drawn: it would only cover the axis

KEY = "curves: fitted normal densities; band: the likeliest class; dashed: where it changes"


def densities(rows: ArrayLike, labels: Sequence[object], names: str | Sequence[str]) -> Picture:
    """A picture of p(x | class) for each column: bars of the rows, and the normal curve fitted to them.

    Each curve has area one, however rare its class. The band under a panel has the colour of the class that
    is the likeliest there, its share of the rows being its prior; ticks on top are where that changes.

    Parameters
    ----------
    rows : array (N,) or (N, V)
    labels : sequence of N
        As for `boundaries`; a row is left out of the panels of its missing numbers only.
    names : str, or V of them
        What the columns are called; each has a panel.

    Examples
    --------
    >>> picture = densities([1.0, 2.0, 3.0, 5.0, 6.0, 7.0], list("aaabbb"), "size")
    >>> picture.about["columns"]["size"]["decisions"]
    [{'at': 4.0, 'before': 'a', 'after': 'b'}]
    """
    names = [names] if isinstance(names, str) else list(names)
    if not names or len(set(names)) < len(names):
        problem = "densities are drawn of one or more columns, each once"
        raise InputError(problem, hint="name each column once")
    data = LabelledPoints.of(rows, labels, names, gaps=True)
    columns = [data.column(v) for v in range(len(names))]
    fits = [MaximumLikelihood.of("GNB", column) for column in columns]
    found = [crossings(fitted) for fitted in fits]
    accuracy = [fitted.accuracy(column) for fitted, column in zip(fits, columns, strict=True)]
    notes = (*data.notes, *(note for column in columns for note in column.notes))
    across = min(ACROSS, len(names))
    wide = 6.5 if across == 1 else 10.0
    with drawing():
        from matplotlib.patches import Patch

        shape = -(-len(names) // across), across
        figure, panels = new_sheet(wide, 3.7, shape, "; ".join([KEY, *notes]))
        for axes in panels[len(names) :]:
            axes.remove()
        for v, axes in enumerate(panels[: len(names)]):
            _draw(axes, fits[v], columns[v], found[v])
            right = f"{accuracy[v]:.1%} right on these rows"
            head(axes, shorten(names[v], 60 // across), "", f"{right}, by this alone")
            if v % across == 0:
                axes.set_ylabel("density in the class, p(x | k)")
        bar = partial(Patch, linewidth=1.6)
        draw_keys(figure, data.classes, lambda look: bar(facecolor=look.pale(BAR), edgecolor=look.line))
    plain = {
        name: {"accuracy": right, "decisions": [vars(point) for point in points]}
        for name, right, points in zip(names, accuracy, found, strict=True)
    }
    about = {"rows": len(data.rows), "classes": list(data.classes), "columns": plain}
    return Picture(figure, f"Densities of {', '.join(names)} in each class", notes, about)


def _draw(axes: Any, fitted: MaximumLikelihood, data: LabelledPoints, found: list[Crossing]) -> None:
    """One column: bars under curves, the band of decisions under both, and its ends marked."""
    values = data.rows[:, 0]
    deviation = np.sqrt(fitted.covariance[:, 0, 0])
    left = float((fitted.mean[:, 0] - REACH * deviation).min())
    right = float((fitted.mean[:, 0] + REACH * deviation).max())
    x = np.linspace(left, right, SMOOTH)
    curves = np.exp(fitted.model.gaussians.log_density(x[:, None]))  # (SMOOTH, K)
    parts = [values[data.codes == k] for k in range(len(data.classes))]
    edges = _edges(parts, left, right)
    top = float(curves.max())
    faint = FLAT * top
    for k, own in enumerate(parts):
        look = style(k)
        heights = np.histogram(own, edges)[0] / (len(own) * np.diff(edges))
        axes.stairs(heights, edges, fill=True, color=look.colour, alpha=BAR, linewidth=0, zorder=1)
        curve = np.where(curves[:, k] < faint, np.nan, curves[:, k])
        axes.plot(x, curve, color=look.line, linewidth=2, zorder=3)
        top = max(top, float(heights.max()))
    top *= 1.16
    low = -BAND * top
    shown = [point.at for point in found if left < point.at < right]
    ends = [left, *shown, right]
    middles = np.array([(a + b) / 2 for a, b in pairwise(ends)])
    best = fitted.model.scores(middles[:, None]).argmax(axis=1)
    for k, part in zip(best, pairwise(ends), strict=True):
        axes.fill_between(part, low, 0, color=style(int(k)).colour, linewidth=0, zorder=2)
    axes.set(xlim=(left, right), ylim=(low, top))
    for at in shown:
        axes.plot([at] * 2, [low, top * 0.93], color=INK, linewidth=1, linestyle=(0, (3, 2)), zorder=4)
    numbers = axes.xaxis.get_major_formatter()
    inches = axes.get_position().width * axes.figure.get_figwidth() / (right - left)
    taken = -np.inf
    for at in shown:
        text = numbers.format_data_short(at).strip()
        half = LETTER * len(text) / 2 / inches
        if at - half > taken:  # numbers that would run into one another are left out
            axes.text(at, top * 0.945, text, ha="center", fontsize=9, color=INK)
            taken = at + half
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(lambda height, _: f"{height:g}")
    label(axes.xaxis, "")


def _edges(parts: list[Floats], left: float, right: float) -> Floats:
    """Edges of bars as narrow as Freedman and Diaconis advise for some class, and whole for whole numbers."""
    fewest, most = BARS
    quarters = [(np.percentile(own, [25, 75]), len(own)) for own in parts]
    width = min(2 * (high - low) / n ** (1 / 3) for (low, high), n in quarters)
    width = float(np.clip(width, (right - left) / most, (right - left) / fewest))
    if all((own == np.rint(own)).all() for own in parts) and width > 0.5:
        width = float(np.rint(width))
        return np.arange(np.floor(left) - 0.5, right + width, width)
    return np.linspace(left, right, int(np.ceil((right - left) / width)) + 1)
