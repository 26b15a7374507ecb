"""Classifiers of numbers drawn: the regions of two columns, and the densities of each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from textodds.errors import InputError
from textodds.learn.arrays import Floats
from textodds.study.report.gaussian_fits import (
    MODELS,
    Crossing,
    Integers,
    LabelledPoints,
    MaximumLikelihood,
    count_rows,
    crossings,
    margins,
)
from textodds.study.report.logistic_fit import LogisticFit
from textodds.study.report.picture import (
    FAINT,
    INK,
    STYLES,
    Picture,
    Style,
    drawing,
    empty_figure,
    head,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LONGEST_AXIS = 28  # letters of the name of an axis
KEY_LINE, FOOT_LINE = 0.25, 0.165  # inches that a row of keys and a line of the foot take

REGION, BAR = 0.16, 0.30  # how strong the colours of areas are, which step back

POINTS = 2000  # rows that are drawn, about: with more, a picture shows less
DISTANCES = (1.0, 2.0)  # Mahalanobis distances of the ellipses, in standard deviations
ALIKE = 1 - 1e-9  # two columns that are as correlated in a class are one: an ellipse would be a line
FINE = 361  # points of the grid along each axis: a cell is then smaller than a line is wide
TAILS = 0.5  # percent of the rows at either end of an axis that need not be in the picture
MARGIN = 0.04  # room around what is drawn, as a share of it
VECTORS = 150  # with more points than this an SVG holds them as an image, which is smaller
COARSER = 3  # regions are filled with fewer corners than their boundaries have, which lie over their edges
LAYERS = 6  # the points of all classes are laid in turns, so that the last class does not hide the others

ACROSS = 3  # densities beside one another
BARS = (12, 60)  # the fewest and the most bars of a panel
SMOOTH = 600  # points of a curve
REACH = 3.2  # standard deviations around the mean of each class that a panel shows
BAND = 0.035  # height of the band of decisions, as a share of its panel
LETTER = 0.085  # inches for each letter of the numbers over a panel
FLAT = 0.002  # a curve below this share of the highest is not drawn: it would only cover the axis

ASSUMED = {**{name: said for name, (_, said) in MODELS.items()}, "logistic": "the boundary alone"}
"""What each model of `boundaries` estimates, in words."""

BOUNDARY_KEY = "black lines: boundaries; ellipses: 1 and 2 standard deviations from the mean"
DENSITY_KEY = "curves: fitted normal densities; band: the likeliest class; dashed: where it changes"


def boundaries(
    rows: ArrayLike, labels: Sequence[object], names: tuple[str, str], *, points: int = POINTS
) -> Picture:
    """A picture of QDA, LDA, Gaussian naive Bayes and logistic regression on the same rows and axes.

    Regions are in pale colours of their classes, with the boundaries as lines; ellipses are at 1 and 2
    standard deviations (Mahalanobis) from the mean of each class, by the covariance of that model. Models
    are those of largest likelihood, without shrinkage or smoothing; the prior is the shares of the classes.
    Logistic regression has no ellipses: it does not say how the numbers of a class are spread.

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
    gaussians = [MaximumLikelihood.of(name, data) for name in MODELS]
    logistic = LogisticFit.of(data)
    models: list[MaximumLikelihood | LogisticFit] = [*gaussians, logistic]
    limits = _limits(data, gaussians)
    shown = data.sample(points)
    notes = (*data.notes, *logistic.notes, *_left_out(data, limits, sum(map(len, shown))))
    accuracy = {fitted.name: fitted.accuracy(data) for fitted in models}
    with drawing():
        from matplotlib.lines import Line2D

        figure, panels = sheet(10, 5.0, (2, 2), [BOUNDARY_KEY, *notes], sharex=True, sharey=True)
        for place, (axes, fitted) in enumerate(zip(panels, models, strict=True)):
            _draw_regions(axes, fitted, data, limits, shown)
            right = f"{accuracy[fitted.name]:.1%} accuracy on these rows"
            head(axes, fitted.name, ASSUMED[fitted.name], right)
            name_axis(axes.xaxis, names[0])
            if place % 2 == 0:
                name_axis(axes.yaxis, names[1])
        point: Any = {"linestyle": "", "markersize": 7.5}
        _keys(figure, data, lambda look: Line2D([], [], marker=look.marker, color=look.colour, **point))
    about = {"x": names[0], "y": names[1], "rows": len(data.rows), "classes": list(data.classes)}
    title = f"Decision regions of {', '.join(ASSUMED)} by {names[0]} and {names[1]}"
    return Picture(figure, title, notes, {**about, "accuracy": accuracy})


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
    notes = (*data.notes, *(note for column in columns for note in column.notes))
    across = min(ACROSS, len(names))
    shape = -(-len(names) // across), across
    told: dict[str, object] = {}
    with drawing():
        from matplotlib.patches import Patch

        figure, panels = sheet(6.5 if across == 1 else 10.0, 3.7, shape, [DENSITY_KEY, *notes])
        for axes in panels[len(names) :]:
            axes.remove()
        for v, (name, fitted, column) in enumerate(zip(names, fits, columns, strict=True)):
            found, right = crossings(fitted), fitted.accuracy(column)
            told[name] = {"accuracy": right, "decisions": [vars(point) for point in found]}
            _draw_densities(panels[v], fitted, column, found)
            result = f"{right:.1%} accuracy on these rows, by this column alone"
            head(panels[v], short_name(name, 60 // across), "", result)
            if v % across == 0:
                panels[v].set_ylabel("density in the class, p(x | k)")
        bar = partial(Patch, linewidth=1.6)
        _keys(figure, data, lambda look: bar(facecolor=(look.colour, BAR), edgecolor=look.line))
    about = {"rows": len(data.rows), "classes": list(data.classes), "columns": told}
    return Picture(figure, f"Densities of {', '.join(names)} in each class", notes, about)


def sheet(
    width: float, tall: float, shape: tuple[int, int], notes: Sequence[str], **panels: Any
) -> tuple[Figure, list[Axes]]:
    """A figure ``width`` inches wide with notes at its foot, and its panels, each ``tall`` inches high."""
    lines = textwrap.wrap("; ".join(notes), int((width - 0.8) / 0.066))
    figure = empty_figure(width, shape[0] * tall + KEY_LINE + len(lines) * FOOT_LINE)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    axes: list[Axes] = figure.subplots(*shape, squeeze=False, **panels).ravel().tolist()
    for each in axes:
        each.locator_params(nbins=5)
        each.tick_params(length=3)
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=8, color=FAINT, linespacing=1.4)
    return figure, axes


def _keys(figure: Figure, data: LabelledPoints, key: Callable[[Style], Artist]) -> None:
    """A ``key`` to each of the classes over the panels, as many beside one another as there is room for."""
    names = [short_name(name) for name in data.classes]
    room = (figure.get_figwidth() - 1) / (0.42 + 0.088 * max(map(len, names)))
    across = max(1, min(len(names), int(room)))
    figure.set_figheight(figure.get_figheight() + (-(-len(names) // across) - 1) * KEY_LINE)
    gaps = {"handlelength": 1.1, "handletextpad": 0.4, "columnspacing": 1.5, "labelspacing": 0.4}
    keys = [key(look) for look in STYLES[: len(names)]]
    figure.legend(keys, names, loc="outside upper left", ncols=across, fontsize=10, **gaps)


def name_axis(axis: Axis, name: str) -> None:
    """Name an axis, with a factor or offset of its numbers beside the name.

    Limits must be set before. Matplotlib would put the factor over the panel, where its head is.
    """
    numbers = axis.get_major_formatter()
    numbers.set_locs(axis.get_majorticklocs().tolist())
    factor = numbers.get_offset()
    axis.get_offset_text().set_visible(False)
    times = factor if factor.startswith(("+", "-", "−")) else f"×{factor}"
    short = short_name(name, LONGEST_AXIS)
    axis.set_label_text(f"{short} ({times})".lstrip() if factor else short)


def _limits(data: LabelledPoints, models: Sequence[MaximumLikelihood]) -> Floats:
    """Limits (low and high, x and y) that hold all ellipses and nearly all rows, but no far outliers."""
    ellipses = [fitted.ellipse(k, max(DISTANCES)) for fitted in models for k in range(len(data.classes))]
    shown = np.concatenate([np.percentile(data.rows, [TAILS, 100 - TAILS], axis=0), *ellipses])
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = MARGIN * (high - low)
    return np.stack([low - room, high + room])


def _draw_regions(
    axes: Axes,
    fitted: MaximumLikelihood | LogisticFit,
    data: LabelledPoints,
    limits: Floats,
    shown: list[Integers],
) -> None:
    """One model: regions under points under boundaries under ellipses under means."""
    x, y, grid = _margin_grid(fitted, limits)
    coarse = slice(None, None, COARSER)
    for look, margin in zip(STYLES, grid[:, coarse, coarse], strict=False):
        if margin.max() > 0:
            fill: Any = {"levels": [0, np.inf], "colors": [(look.colour, REGION)], "zorder": 0}
            axes.contourf(x[coarse], y[coarse], margin, **fill)
    _scatter(axes, data, shown)
    for margin in grid[:-1]:  # a boundary has two sides: the last class has none of its own
        if margin.min() < 0 < margin.max():
            axes.contour(x, y, margin, levels=[0], colors=[INK], linewidths=1.4, zorder=4)
    if isinstance(fitted, MaximumLikelihood):
        _draw_ellipses(axes, fitted)
    axes.set(xlim=limits[:, 0], ylim=limits[:, 1], box_aspect=1)


def _draw_ellipses(axes: Axes, fitted: MaximumLikelihood) -> None:
    for k, look in enumerate(STYLES[: len(fitted.mean)]):
        for distance in DISTANCES:
            ring = fitted.ellipse(k, distance).T
            axes.plot(*ring, color="white", linewidth=2.6, alpha=0.7, zorder=5)
            axes.plot(*ring, color=look.line, linewidth=1.5, zorder=6)
        mean: Any = {"marker": look.marker, "color": look.colour, "edgecolors": "white", "linewidths": 1.2}
        axes.scatter(fitted.mean[k, :1], fitted.mean[k, 1:], s=72, zorder=7, **mean)


def _margin_grid(fitted: MaximumLikelihood | LogisticFit, limits: Floats) -> tuple[Floats, Floats, Floats]:
    """Places along both axes, (X,) and (Y,), and the margin of every class at each of them, (K, Y, X)."""
    x, y = np.linspace(limits[0], limits[1], FINE).T
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return x, y, margins(fitted.scores(grid)).T.reshape(-1, FINE, FINE)


def _scatter(axes: Axes, data: LabelledPoints, shown: list[Integers]) -> None:
    few = sum(map(len, shown)) <= VECTORS
    size, alpha = (16, 0.6) if few else (9, 0.38)
    for layer in range(LAYERS):
        for look, rows in zip(STYLES, shown, strict=False):
            x, y = data.rows[rows[layer::LAYERS]].T
            point: Any = {"s": size, "marker": look.marker, "color": look.colour, "alpha": alpha}
            axes.scatter(x, y, linewidths=0, rasterized=not few, zorder=2, **point)


def _left_out(data: LabelledPoints, limits: Floats, shown: int) -> list[str]:
    """What the panels do not show."""
    notes = []
    if shown < len(data.rows):
        notes.append(f"{shown:,} of {len(data.rows):,} rows drawn as points")
    outside = int(((data.rows < limits[0]) | (data.rows > limits[1])).any(axis=1).sum())
    if outside:
        notes.append(f"{count_rows(outside)} beyond the edges")
    return notes


def _refuse_alike(data: LabelledPoints) -> None:
    """Refuse columns that are a line in a class: an ellipse has two axes."""
    for k, name in enumerate(data.classes):
        if abs(np.asarray(np.corrcoef(data.of_class(k).T))[0, 1]) > ALIKE:
            raise InputError(
                f"columns `{data.names[0]}` and `{data.names[1]}` are collinear in class `{name}`",
                hint="choose other columns",
            )


def _draw_densities(
    axes: Axes, fitted: MaximumLikelihood, data: LabelledPoints, found: list[Crossing]
) -> None:
    """One column: bars under curves, the band of decisions under both, and its ends marked."""
    mean, deviation = fitted.mean[:, 0], np.sqrt(fitted.covariance[:, 0, 0])
    left, right = float((mean - REACH * deviation).min()), float((mean + REACH * deviation).max())
    x = np.linspace(left, right, SMOOTH)
    curves = np.exp(fitted.model.gaussians.log_density(x[:, None]))  # (SMOOTH, K)
    curves[curves < FLAT * curves.max()] = np.nan
    parts = [data.of_class(k)[:, 0] for k in range(len(data.classes))]
    edges = _edges(parts, left, right)
    top = np.nanmax(curves)
    for look, own, curve in zip(STYLES, parts, curves.T, strict=False):
        heights = np.histogram(own, edges)[0] / (len(own) * np.diff(edges))
        axes.stairs(heights, edges, fill=True, color=look.colour, alpha=BAR, linewidth=0, zorder=1)
        axes.plot(x, curve, color=look.line, linewidth=2, zorder=3)
        top = max(top, heights.max())
    top *= 1.16
    low = -BAND * top
    axes.set(xlim=(left, right), ylim=(low, top))
    shown = [point.at for point in found if left < point.at < right]
    for part in pairwise([left, *shown, right]):
        best = fitted.model.scores([[sum(part) / 2]]).argmax()
        axes.fill_between(part, low, 0, color=STYLES[best].colour, linewidth=0, zorder=2)
    axes.vlines(shown, low, top * 0.93, color=INK, linewidth=1, linestyle=(0, (3, 2)), zorder=4)
    _write_numbers(axes, shown, top * 0.945)
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(lambda height, _: f"{height:g}")
    name_axis(axes.xaxis, "")


def _write_numbers(axes: Axes, places: list[float], height: float) -> None:
    """Numbers at their places; those that would run into one another are left out."""
    numbers = axes.xaxis.get_major_formatter()
    left, right = axes.get_xlim()
    inches = axes.bbox.width / axes.figure.dpi / (right - left)
    taken = -np.inf
    for at in places:
        text = numbers.format_data_short(at).strip()
        half = LETTER * len(text) / 2 / inches
        if at - half > taken:
            axes.text(at, height, text, ha="center", fontsize=9, color=INK)
            taken = at + half


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
