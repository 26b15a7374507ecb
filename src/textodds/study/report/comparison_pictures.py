"""Pictures of models side by side: each has a colour and a marker of its own, the same in all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from textodds.study.report.figures import draw_estimates, draw_reliability, faint_grid, name_lines
from textodds.study.report.picture import DASHES, FAINT, INK, MOST, STYLES, drawing, empty_figure, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from textodds.study.compare.comparison import Comparison
    from textodds.study.compare.curves import LearningCurve

WIDE = 10.0  # inches of a picture as wide as the page
NAMES = 34  # letters of the name of a model
ACROSS = 4  # panels beside one another in a picture of many

NOTE: Mapping[str, Any] = {
    "textcoords": "offset points",
    "fontsize": 7.5,
    "color": FAINT,
    "in_layout": False,  # one that is beyond its panel would take the room of the panel
}
"""How small words within a panel are written, beside their place."""

SHORT, CROWDED = 4.0, 700.0
"""A logarithmic axis that goes from 1 to less has numbers as others do; to more, at powers of ten only."""

FAR = 2.5  # losses of more times that of knowing nothing but the shares of the classes are beyond the picture
LEAST = 1e-4  # shares below this are drawn there: a logarithmic axis has no zero


@drawing()
def accuracy_dots(found: Comparison) -> Figure:
    """Accuracy and log-loss of every model with their intervals, the most accurate on top."""
    figure = empty_figure(WIDE, 1.0 + 0.34 * len(found.rows))
    left, right = figure.subplots(1, 2, sharey=True)
    for k, row in enumerate(found.rows):
        look, quality = STYLES[k % MOST], row.evaluation
        draw_estimates(left, look, 7.5, ([quality.accuracy], [k]), [quality.accuracy_interval], across=True)
        if math.isfinite(loss := quality.log_loss):
            draw_estimates(right, look, 7.5, ([loss], [k]), [quality.log_loss_interval], across=True)
    for axes in (left, right):
        name_lines(axes, [short_name(row.name, NAMES) for row in found.rows])
        faint_grid(axes, "x")
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=6)
    right.tick_params(axis="y", labelleft=False)
    left.xaxis.set_major_formatter(_percent)
    left.set_xlabel("accuracy, right is better")
    right.set_xlabel("log-loss, left is better")
    return figure


@drawing()
def time_scatter(found: Comparison) -> Figure:
    """Accuracy over seconds of training, and over seconds of predicting 1,000 rows."""
    figure = empty_figure(WIDE, 3.9)
    panels = figure.subplots(1, 2, sharey=True)
    for k, row in enumerate(found.rows):
        for axes, taken in zip(panels, (row.training, row.predicting_thousand), strict=True):
            at = [max(taken.cpu, 1e-6)], [row.evaluation.accuracy]
            draw_estimates(axes, STYLES[k % MOST], 8.5, at, [row.evaluation.accuracy_interval])
    panels[0].yaxis.set_major_formatter(_percent)
    panels[0].set(ylabel="accuracy", xlabel="processor time to train")
    panels[1].set_xlabel(f"processor time to predict 1,000 {found.setting.noun}s")
    for axes in panels:
        axes.set_xscale("log")
        axes.margins(x=0.12, y=0.1)
        _number_axis(axes.xaxis, axes.get_xlim(), _duration)
        faint_grid(axes, "both")
    _key(figure, found)
    return figure


@drawing()
def learning_curves(found: Comparison) -> Figure:
    """Error and log-loss over the number of rows learned from, both axes logarithmic."""
    figure = empty_figure(WIDE, 4.7)
    place = {row.name: k for k, row in enumerate(found.rows)}
    for axes, measure in zip(figure.subplots(1, 2), ("error", "log_loss"), strict=True):
        for curve in found.curves:
            if curve.name in place and curve.points:
                _curve(axes, curve, measure, place[curve.name])
        axes.set(xscale="log", yscale="log", xlabel=f"{found.setting.noun}s learned from")
        axes.set_ylabel("wrong answers" if measure == "error" else "log-loss")
        faint_grid(axes, "both")
        _chance_level(axes, found.setting.classes, measure)
        _number_axis(axes.xaxis, axes.get_xlim(), "{:,.0f}".format)
        _number_axis(axes.yaxis, axes.get_ylim(), _percent if measure == "error" else "{:.3g}".format)
        _overtaking_lines(axes, found, measure)
    _key(figure, found)
    return figure


def _curve(axes: Axes, curve: LearningCurve, measure: str, k: int) -> None:
    """A line through the means, and a band from the least to the most of the repeats."""
    points = [point for point in curve.points if math.isfinite(getattr(point, measure))]
    values = [point.errors if measure == "error" else point.log_losses for point in points]
    sizes = [point.size for point in points]
    low, high = [max(min(each), LEAST) for each in values], [max(max(each), LEAST) for each in values]
    axes.fill_between(sizes, low, high, color=STYLES[k % MOST].line, alpha=0.13, linewidth=0, zorder=1)
    means = [max(getattr(point, measure), LEAST) for point in points]
    axes.plot(sizes, means, markersize=5.5, linewidth=1.7, zorder=3, **_line(k))


def _line(k: int) -> dict[str, Any]:
    """How the line of a model is drawn."""
    look = STYLES[k % MOST]
    return {"color": look.line, "marker": look.marker, "linestyle": DASHES[k // MOST % len(DASHES)]}


def _chance_level(axes: Axes, classes: dict[str, int], measure: str) -> None:
    """Mark what comes of knowing nothing but how frequent each class is."""
    total = sum(classes.values())
    shares = [rows / total for rows in classes.values() if rows]
    level = 1 - max(shares) if measure == "error" else -sum(p * math.log(p) for p in shares)
    low, high = axes.get_ylim()
    axes.set_ylim(low, min(high, FAR * level) if measure == "log_loss" else high)
    axes.axhline(level, color=FAINT, linewidth=0.9, linestyle=(0, (5, 2)), zorder=1)
    across = axes.get_yaxis_transform()
    axes.annotate(
        "by the shares of the classes alone", (1, level), (0, 3), xycoords=across, ha="right", **NOTE
    )


def _overtaking_lines(axes: Axes, found: Comparison, measure: str) -> None:
    """Mark where one overtakes another, between these sizes."""
    crossed = [each for each in found.overtakings if each.measure == measure and 0 < each.at < math.inf]
    for number, each in enumerate(sorted(crossed, key=lambda each: each.at)):
        axes.axvline(each.at, color=FAINT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=2)
        side = -1 if number % 2 == 0 else 1  # two that are near do not run into one another
        along = {"rotation": 90, "ha": "right" if side < 0 else "left", "va": "bottom", **NOTE}
        text, up = f"{each.second} overtakes {each.first}", axes.get_xaxis_transform()
        axes.annotate(text, (each.at, 0), (3 * side, 4), xycoords=up, **along)


@drawing()
def reliability_panels(found: Comparison) -> Figure:
    """A panel for each model: how often answers are right, by how probable they were said to be."""
    across = min(ACROSS, len(found.rows))
    down = -(-len(found.rows) // across)
    figure = empty_figure(WIDE * across / ACROSS, 0.45 + 2.45 * down)
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel().tolist()
    for k, row in enumerate(found.rows):
        axes = panels[k]
        draw_reliability(axes, row.evaluation.reliability, STYLES[k % MOST], 4.5)
        axes.set_title(short_name(row.name, NAMES), loc="left", fontsize=9.5, color=INK)
        at = {"xycoords": "axes fraction", "ha": "right", "fontsize": 8, "color": FAINT}
        axes.annotate(f"off by {row.evaluation.calibration_error:.3f}", (0.97, 0.05), **at)
        axes.set(xlim=(-0.03, 1.04), ylim=(-0.03, 1.04), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        axes.xaxis.set_tick_params(labelbottom=True)
        faint_grid(axes, "both")
    for axes in panels[len(found.rows) :]:
        axes.remove()
    figure.supxlabel("probability of the answer", fontsize=9.5)
    figure.supylabel("accuracy", fontsize=9.5)
    return figure


def _number_axis(axis: Axis, limits: tuple[float, float], show: Callable[[float], str]) -> None:
    """Numbers that people read on a logarithmic axis, enough of them also where it is short."""
    from matplotlib.ticker import AutoLocator, LogLocator, NullLocator

    low, high = limits
    steps = (1.0, 2.0, 5.0) if high / low < CROWDED else (1.0,)
    short = high / low < SHORT
    axis.set_major_locator(AutoLocator() if short else LogLocator(subs=steps, numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: show(value))


def _key(figure: Figure, found: Comparison) -> None:
    """Which model is which, under the panels."""
    from matplotlib.lines import Line2D

    keys = [Line2D([], [], markersize=6, **_line(k)) for k in range(len(found.rows))]
    names = [short_name(row.name, NAMES) for row in found.rows]
    gaps = {"fontsize": 9, "handlelength": 2.2, "columnspacing": 1.4}
    figure.legend(keys, names, loc="outside lower center", ncols=min(len(names), 7), **gaps)


def _duration(seconds: float) -> str:
    """Time for an axis.

    >>> [_duration(seconds) for seconds in (0.0001, 0.01, 1.0, 100.0)]
    ['0.1 ms', '10 ms', '1 s', '100 s']
    """
    return f"{seconds * 1000:.3g} ms" if seconds < 0.9999 else f"{seconds:.3g} s"


def _percent(value: float, _: object = None) -> str:
    return f"{100 * value:.4g} %"
