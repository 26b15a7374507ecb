"""Pictures of models side by side: each has a colour and a marker of its own, the same in all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textodds.judge.evaluation import Interval, wilson
from textodds.study.report.legend import name_on_axis
from textodds.study.report.palette import COLOURS, FAINT, INK, MARKERS
from textodds.study.report.picture import drawing, empty_figure

if TYPE_CHECKING:
    from textodds.study.compare.comparison import Comparison
    from textodds.study.compare.curves import LearningCurve

WIDE = 10.0  # inches of a picture as wide as the page
NAMES = 34  # letters of the name of a model
ACROSS = 4  # panels beside one another in a picture of many

LINES = (*COLOURS[:6], INK)
"""Colours that lines may have: yellow is too light, and black is the ink of the page, which may be dark."""

NOTE: Any = {"textcoords": "offset points", "fontsize": 7.5, "color": FAINT}
"""How small words within a panel are written, beside their place."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))

SHORT, CROWDED = 4.0, 700.0
"""A logarithmic axis that goes from 1 to less has numbers as others do; to more, at powers of ten only."""

FAR = 2.5  # losses of more times that of knowing nothing but the shares of the classes are beyond the picture
LEAST = 1e-4  # shares below this are drawn there: a logarithmic axis has no zero


@dataclass(frozen=True)
class Look:
    """How a model is drawn."""

    colour: str
    marker: str
    dash: Any


def looks(names: Sequence[str]) -> dict[str, Look]:
    """The looks of the models of a comparison."""
    return {
        name: Look(LINES[k % len(LINES)], MARKERS[k % len(MARKERS)], DASHES[k // len(LINES) % len(DASHES)])
        for k, name in enumerate(names)
    }


@drawing()
def accuracy_dots(found: Comparison) -> Any:
    """Accuracy and log-loss of every model with their intervals, the most accurate on top."""
    figure = empty_figure(WIDE, 1.0 + 0.34 * len(found.rows))
    drawn = looks([row.name for row in found.rows])
    left, right = figure.subplots(1, 2, sharey=True)
    for at, row in enumerate(found.rows):
        look, quality = drawn[row.name], row.evaluation
        _estimate(left, look, 7.5, (quality.accuracy, at), quality.accuracy_interval, across=True)
        if math.isfinite(quality.log_loss):
            _estimate(right, look, 7.5, (quality.log_loss, at), quality.log_loss_interval, across=True)
    left.set_yticks(range(len(found.rows)), [name_on_axis(row.name, NAMES) for row in found.rows])
    left.set_ylim(len(found.rows) - 0.5, -0.5)
    left.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g} %")
    left.set_xlabel("accuracy, right is better")
    right.set_xlabel("log-loss, left is better")
    for axes in (left, right):
        _quiet(axes)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.locator_params(axis="x", nbins=6)
    return figure


def _estimate(
    axes: Any, look: Look, size: float, at: tuple[float, float], interval: Interval, *, across: bool = False
) -> None:
    """A marker at an estimate, and a line along its interval: upwards, or across."""
    line = {
        "color": look.colour,
        "linewidth": 0.2 * size,
        "alpha": 0.6,
        "solid_capstyle": "butt",
        "zorder": 2,
    }
    axes.plot(*(interval, [at[1]] * 2) if across else ([at[0]] * 2, interval), **line)
    axes.plot(*at, color=look.colour, marker=look.marker, markersize=size, linestyle="", zorder=3)


@drawing()
def time_scatter(found: Comparison) -> Any:
    """Accuracy over seconds of training, and over seconds of predicting 1,000 rows."""
    figure = empty_figure(WIDE, 3.9)
    drawn = looks([row.name for row in found.rows])
    panels = figure.subplots(1, 2, sharey=True)
    for row in found.rows:
        taken = (row.training.cpu, row.predicting_thousand.cpu)
        for axes, seconds in zip(panels, taken, strict=True):
            at = max(seconds, 1e-6), row.evaluation.accuracy
            _estimate(axes, drawn[row.name], 8.5, at, row.evaluation.accuracy_interval)
    panels[0].yaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g} %")
    panels[0].set_ylabel("accuracy")
    panels[0].set_xlabel("processor time to train")
    panels[1].set_xlabel(f"processor time to predict 1,000 {found.setting.noun}s")
    for axes in panels:
        axes.set_xscale("log")
        axes.margins(x=0.12, y=0.1)
        _ticks(axes.xaxis, axes.get_xlim(), _duration)
        _quiet(axes, both=True)
    _key(figure, drawn)
    return figure


@drawing()
def learning_curves(found: Comparison) -> Any:
    """Error and log-loss over the number of rows learned from, both axes logarithmic."""
    figure = empty_figure(WIDE, 4.7)
    drawn = looks([row.name for row in found.rows])
    panels = figure.subplots(1, 2)
    for axes, measure in zip(panels, ("error", "log_loss"), strict=True):
        shown = [curve for curve in found.curves if curve.name in drawn and curve.points]
        for curve in shown:
            _curve(axes, curve, measure, drawn[curve.name])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"{found.setting.noun}s learned from")
        axes.set_ylabel("wrong answers" if measure == "error" else "log-loss")
        _quiet(axes, both=True)
        _chance_level(axes, found.setting.classes, measure)
        _ticks(axes.xaxis, axes.get_xlim(), "{:,.0f}".format)
        _ticks(axes.yaxis, axes.get_ylim(), _percent if measure == "error" else "{:.3g}".format)
        _overtaking_lines(axes, found, measure)
    _key(figure, drawn)
    return figure


def _curve(axes: Any, curve: LearningCurve, measure: str, look: Look) -> None:
    """A line through the means, and a band from the least to the most of the repeats."""
    points = [point for point in curve.points if math.isfinite(getattr(point, measure))]
    values = [point.errors if measure == "error" else point.log_losses for point in points]
    sizes = [point.size for point in points]
    low, high = [max(min(each), LEAST) for each in values], [max(max(each), LEAST) for each in values]
    axes.fill_between(sizes, low, high, color=look.colour, alpha=0.13, linewidth=0, zorder=1)
    means = [max(getattr(point, measure), LEAST) for point in points]
    line = {"color": look.colour, "linestyle": look.dash, "linewidth": 1.7, "zorder": 3}
    axes.plot(sizes, means, marker=look.marker, markersize=5.5, **line)


def _chance_level(axes: Any, classes: dict[str, int], measure: str) -> None:
    """Mark what comes of knowing nothing but how frequent each class is."""
    total = sum(classes.values())
    shares = [rows / total for rows in classes.values() if rows]
    level = 1 - max(shares) if measure == "error" else -sum(p * math.log(p) for p in shares)
    low, high = axes.get_ylim()
    axes.set_ylim(low, min(high, FAR * level) if measure == "log_loss" else high)
    axes.axhline(level, color=FAINT, linewidth=0.9, linestyle=(0, (5, 2)), zorder=1)
    at = {"xycoords": axes.get_yaxis_transform(), "ha": "right"}
    axes.annotate("by the shares of the classes alone", (1, level), (0, 3), **at, **NOTE)


def _overtaking_lines(axes: Any, found: Comparison, measure: str) -> None:
    """Mark where one overtakes another, between these sizes."""
    crossed = [each for each in found.overtakings if each.measure == measure and 0 < each.at < math.inf]
    for number, each in enumerate(sorted(crossed, key=lambda each: each.at)):
        axes.axvline(each.at, color=FAINT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=2)
        side = -1 if number % 2 == 0 else 1  # two that are near do not run into one another
        along = {"rotation": 90, "ha": "right" if side < 0 else "left", "va": "bottom"}
        at = {"xycoords": axes.get_xaxis_transform(), **along}
        axes.annotate(f"{each.second} overtakes {each.first}", (each.at, 0), (3 * side, 4), **at, **NOTE)


@drawing()
def reliability_panels(found: Comparison) -> Any:
    """A panel for each model: how often answers are right, by how probable they were said to be."""
    across = min(ACROSS, len(found.rows))
    down = -(-len(found.rows) // across)
    figure = empty_figure(WIDE * across / ACROSS, 0.45 + 2.45 * down)
    drawn = looks([row.name for row in found.rows])
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    flat = panels.ravel().tolist()
    for axes, row in zip(flat, found.rows, strict=False):
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        for rows, said, right in row.evaluation.reliability:
            _estimate(axes, drawn[row.name], 4.5, (said, right), wilson(round(rows * right), rows))
        axes.set_title(name_on_axis(row.name, NAMES), loc="left", fontsize=9.5, color=INK)
        at = {"xycoords": "axes fraction", "ha": "right", "fontsize": 8, "color": FAINT}
        axes.annotate(f"off by {row.evaluation.calibration_error:.3f}", (0.97, 0.05), **at)
        axes.set(xlim=(-0.03, 1.04), ylim=(-0.03, 1.04), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        axes.xaxis.set_tick_params(labelbottom=True)
        _quiet(axes, both=True)
    for axes in flat[len(found.rows) :]:
        axes.remove()
    figure.supxlabel("probability of the answer", fontsize=9.5)
    figure.supylabel("share that is right", fontsize=9.5)
    return figure


def _ticks(axis: Any, limits: tuple[float, float], show: Callable[[float], str]) -> None:
    """Numbers that people read on a logarithmic axis, enough of them also where it is short."""
    from matplotlib.ticker import AutoLocator, LogLocator, NullLocator

    low, high = limits
    if high / low < SHORT:
        axis.set_major_locator(AutoLocator())
    else:
        steps = (1.0, 2.0, 5.0) if high / low < CROWDED else (1.0,)
        axis.set_major_locator(LogLocator(subs=steps, numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: show(value))


def _key(figure: Any, drawn: dict[str, Look]) -> None:
    """Which model is which, under the panels."""
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.dash, markersize=6)
        for look in drawn.values()
    ]
    figure.legend(
        keys,
        [name_on_axis(name, NAMES) for name in drawn],
        loc="outside lower center",
        ncols=min(len(drawn), 7),
        frameon=False,
        fontsize=9,
        handlelength=2.2,
        columnspacing=1.4,
    )


def _quiet(axes: Any, *, both: bool = False) -> None:
    """A faint grid instead of a frame."""
    axes.grid(axis="both" if both else "x", color=FAINT, alpha=0.22, linewidth=0.6)
    axes.set_axisbelow(True)
    if not both:
        axes.spines["left"].set_visible(False)


def _duration(seconds: float) -> str:
    """Time for an axis.

    >>> [_duration(seconds) for seconds in (0.0001, 0.01, 1.0, 100.0)]
    ['0.1 ms', '10 ms', '1 s', '100 s']
    """
    return f"{seconds * 1000:.3g} ms" if seconds < 0.9999 else f"{seconds:.3g} s"


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"
