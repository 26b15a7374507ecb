"""An empty figure: panels of one size, with room for what is written around them."""

from __future__ import annotations

from typing import Any

from textodds.study.report.legend import LEFT, Caption, shorten

RIGHT = 0.15  # inches right of the panels
HEAD = 0.56  # inches over each panel for its head
LONGEST = 40  # letters of the name of an axis


def new_figure(
    words: Caption,
    width: float,
    down: int,
    across: int,
    tall: float,
    *,
    gap: float = 0.16,
    ticks: float = 0.56,
    shared: bool = False,
) -> tuple[Any, list[Any]]:
    """A figure ``width`` inches wide with panels ``tall`` inches high, apart from all that pyplot knows of.

    ``gap`` inches are between panels and ``ticks`` under each, for its numbers; panels may have ``shared``
    axes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    under = words.height + ticks
    height = down * (tall + HEAD) + (down - 1) * ticks + under
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    panels = figure.subplots(down, across, squeeze=False, sharex=shared, sharey=shared).ravel().tolist()
    wide = (width - LEFT - RIGHT - (across - 1) * gap) / across
    figure.subplots_adjust(
        left=LEFT / width,
        right=1 - RIGHT / width,
        top=1 - HEAD / height,
        bottom=under / height,
        wspace=gap / wide,
        hspace=(HEAD + ticks) / tall,
    )
    return figure, panels


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
    times = factor if factor.startswith(("+", "-", "−")) else f"×{factor}"
    axis.set_label_text(f"{shorten(name, LONGEST)} ({times})".lstrip() if factor else shorten(name, LONGEST))
