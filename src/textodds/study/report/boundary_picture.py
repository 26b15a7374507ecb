"""Three Gaussian classifiers of two numbers side by side, with their regions and ellipses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textodds.errors import InputError
from textodds.study.report.classifiers import MODELS, MaximumLikelihood, margins
from textodds.study.report.legend import draw_keys, head, label, new_sheet
from textodds.study.report.palette import INK, REGION, Style, style
from textodds.study.report.picture import Picture, drawing
from textodds.study.report.points import LabelledPoints

Floats = NDArray[np.float64]

POINTS = 2000  # rows that are drawn, about: with more, a picture shows less
DISTANCES = (1.0, 2.0)  # Mahalanobis distances of the ellipses, in standard deviations
ALIKE = 1 - 1e-9  # two columns that are as correlated in a class are one: an ellipse would be a line

KEY = "black lines: boundaries; ellipses: 1 and 2 standard deviations from the mean"

FINE = 361  # points of the grid along each axis: a cell is then smaller than a line is wide
TAILS = 0.5  # percent of the rows at either end of an axis that need not be in the picture
MARGIN = 0.04  # room around what is drawn, as a share of it
VECTORS = 150  # with more points than this an SVG holds them as an image, which is smaller
COARSER = 3  # regions are filled with fewer corners than their boundaries have, which lie over their edges
LAYERS = 6  # the points of all classes are laid in turns, so that the last class does not hide the others


def boundaries(
    rows: ArrayLike, labels: Sequence[object], names: tuple[str, str], *, points: int = POINTS
) -> Picture:
    """A picture of QDA, LDA and Gaussian naive Bayes on the same rows, with the same axes.

    Regions are in pale colours of their classes, with the boundaries as lines; ellipses are at 1 and 2
    standard deviations (Mahalanobis) from the mean of each class, by the covariance of that model. Models
    are those of largest likelihood, without shrinkage or smoothing; the prior is the shares of the classes.

    Parameters
    ----------
    rows : array (N, 2)
        Rows with a missing number (NaN) are left out, and the picture says so.
    labels : sequence of N
        Of the classes the 8 largest are drawn, and the picture says so.
    names : two str
        What the columns are called.
    points : int, default 2000
        Rows to draw, about, in proportion to the classes; models are fitted to all.

    Examples
    --------
    >>> draw = np.random.default_rng(1)
    >>> rows = np.concatenate([draw.normal(0, 1, (50, 2)), draw.normal(3, 1, (50, 2))])
    >>> picture = boundaries(rows, ["a"] * 50 + ["b"] * 50, ("width", "height"))
    >>> picture.about["accuracy"]["LDA"]
    1.0
    """
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            f"boundaries are drawn over two columns, not over {', '.join(f'`{name}`' for name in names)}",
            hint="name two different columns",
        )
    data = LabelledPoints.of(rows, labels, names)
    _refuse_alike(data)
    models = [MaximumLikelihood.of(name, data) for name in MODELS]
    limits = _limits(data, models)
    shown = data.sample(points)
    notes = (*data.notes, *_left_out(data, limits, sum(map(len, shown))))
    accuracy = {fitted.name: fitted.accuracy(data) for fitted in models}
    with drawing():
        from matplotlib.lines import Line2D

        foot = "; ".join([KEY, *notes])
        figure, panels = new_sheet(10, 4.1, (1, len(models)), foot, sharex=True, sharey=True)
        for axes, fitted in zip(panels, models, strict=True):
            _draw(axes, fitted, data, limits, shown)
            right = f"{accuracy[fitted.name]:.1%} right on these rows"
            head(axes, fitted.name, MODELS[fitted.name][1], right)
            label(axes.xaxis, names[0])
        label(panels[0].yaxis, names[1])
        point: Any = partial(Line2D, [], [], linestyle="", markersize=7.5)
        draw_keys(figure, data.classes, lambda look: point(marker=look.marker, color=look.colour))
    about = {"x": names[0], "y": names[1], "rows": len(data.rows), "classes": list(data.classes)}
    title = f"Decision regions of {', '.join(MODELS)} by {names[0]} and {names[1]}"
    return Picture(figure, title, notes, {**about, "accuracy": accuracy})


def _limits(data: LabelledPoints, models: Sequence[MaximumLikelihood]) -> Floats:
    """Limits (low and high, x and y) that hold all ellipses and nearly all rows, but no far outliers."""
    ellipses = [fitted.ellipse(k, max(DISTANCES)) for fitted in models for k in range(len(data.classes))]
    shown = np.concatenate([np.percentile(data.rows, [TAILS, 100 - TAILS], axis=0), *ellipses])
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = MARGIN * (high - low)
    return np.stack([low - room, high + room])


def _draw(
    axes: Any, fitted: MaximumLikelihood, data: LabelledPoints, limits: Floats, shown: list[Any]
) -> None:
    """One model: regions under points under boundaries under ellipses under means."""
    styles = [style(k) for k in range(len(data.classes))]
    x, y, grid = _margin_grid(fitted, limits)
    coarse = slice(None, None, COARSER)
    for look, margin in zip(styles, grid[:, coarse, coarse], strict=True):
        if margin.max() > 0:
            fill = {"levels": [0, np.inf], "colors": [look.pale(REGION)], "zorder": 0}
            axes.contourf(x[coarse], y[coarse], margin, **fill)
    _scatter(axes, data, shown, styles)
    for margin in grid[:-1]:  # a boundary has two sides: the last class has none of its own
        if margin.min() < 0 < margin.max():
            axes.contour(x, y, margin, levels=[0], colors=[INK], linewidths=1.4, zorder=4)
    for k, look in enumerate(styles):
        for distance in DISTANCES:
            ring = fitted.ellipse(k, distance).T
            axes.plot(*ring, color="white", linewidth=2.6, alpha=0.7, zorder=5)
            axes.plot(*ring, color=look.line, linewidth=1.5, zorder=6)
        mean = {"marker": look.marker, "color": look.colour, "edgecolors": "white", "linewidths": 1.2}
        axes.scatter(*fitted.mean[k], s=72, zorder=7, **mean)
    axes.set(xlim=limits[:, 0], ylim=limits[:, 1], box_aspect=1)


def _margin_grid(fitted: MaximumLikelihood, limits: Floats) -> tuple[Floats, Floats, Floats]:
    """Places along both axes, (X,) and (Y,), and the margin of every class at each of them, (K, Y, X)."""
    x, y = np.linspace(limits[0], limits[1], FINE).T
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return x, y, margins(fitted.model.scores(grid)).T.reshape(-1, FINE, FINE)


def _scatter(axes: Any, data: LabelledPoints, shown: list[Any], styles: list[Style]) -> None:
    few = sum(map(len, shown)) <= VECTORS
    size, alpha = (16, 0.6) if few else (9, 0.38)
    for layer in range(LAYERS):
        for look, rows in zip(styles, shown, strict=True):
            points = data.rows[rows[layer::LAYERS]].T
            point = {"s": size, "marker": look.marker, "color": look.colour, "alpha": alpha, "linewidths": 0}
            axes.scatter(*points, rasterized=not few, zorder=2, **point)


def _left_out(data: LabelledPoints, limits: Floats, shown: int) -> list[str]:
    """What the panels do not show."""
    notes = []
    if shown < len(data.rows):
        notes.append(f"{shown:,} of {len(data.rows):,} rows drawn as points")
    outside = int(((data.rows < limits[0]) | (data.rows > limits[1])).any(axis=1).sum())
    if outside:
        notes.append(f"{outside:,} row{'' if outside == 1 else 's'} beyond the edges")
    return notes


def _refuse_alike(data: LabelledPoints) -> None:
    """Refuse columns that are a line in a class: an ellipse has two axes."""
    for k, name in enumerate(data.classes):
        if abs(np.corrcoef(data.rows[data.codes == k].T)[0, 1]) > ALIKE:
            raise InputError(
                f"columns `{data.names[0]}` and `{data.names[1]}` lie on a line in class `{name}`",
                hint="choose columns that do not follow from one another",
            )
