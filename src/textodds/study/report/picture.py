"""A finished picture: how it looks everywhere, and how it becomes a file."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textodds.errors import InputError, Unsupported
from textodds.model.container import replacing
from textodds.study.report.palette import FAINT, INK

FORMATS = (".svg", ".png")

DPI = {"png": 200, "svg": 144}  # dots an inch: of a PNG, and of the image of the points in an SVG

LOOK: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same letters everywhere
    "font.size": 10,
    "text.parse_math": False,  # a `$` in a name is a dollar
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.formatter.limits": (-3, 5),  # longer numbers would push the name of the axis off the page
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "svg.fonttype": "path",
    "svg.hashsalt": "textodds",  # names within the file are those of the last time
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn ``figure`` of matplotlib, to be drawn further on, if need be.

    ``title`` says what it shows to those who cannot see it, and is in SVG files; ``notes`` say what was left
    out, as the foot of the picture does too; ``about`` are the numbers in the picture, as plain data.
    """

    figure: Any
    title: str
    notes: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture whole or not at all, as PNG or SVG by the end of its name.

        The same rows give the same bytes, with the same version of matplotlib.
        """
        drawn = self.encoded(picture_format(path))
        with replacing(path) as temporary:
            temporary.write_bytes(drawn)

    def encoded(self, format_: str) -> bytes:
        """The bytes of a file, `png` or `svg`."""
        by = {"Creator": "textodds", "Date": None} if format_ == "svg" else {"Software": "textodds"}
        how: dict[str, Any] = {"dpi": DPI[format_], "metadata": {"Title": self.title, **by}}
        buffer = io.BytesIO()
        with drawing():
            self.figure.savefig(buffer, format=format_, facecolor="white", **how)
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        return self.encoded("png")


def picture_format(path: str | os.PathLike[str]) -> str:
    """`png` or `svg`, by the end of a name.

    >>> picture_format("people.SVG")
    'svg'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            f"`{os.fspath(path)}` does not end as a picture that can be written",
            hint="name it `*.svg`, for print and the web, or `*.png`",
        )
    return suffix[1:]


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """While this lasts matplotlib draws in our look, whatever the user's settings; they come back after."""
    require_matplotlib()
    from matplotlib import style

    with style.context(["default", LOOK]):
        yield


def empty_figure(width: float, height: float) -> Any:
    """A figure of so many inches apart from all that pyplot knows of, its parts kept clear of one another."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def require_matplotlib() -> None:
    """Fail where there is no matplotlib, and say how to get it."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise Unsupported(
            "to draw pictures the package `matplotlib` is needed, which is not installed",
            hint="pip install 'textodds[plot]'",
        ) from error
