"""How pictures look everywhere: colours, letters, names; and a finished picture, as a file."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textodds.data.written_file import replacing
from textodds.errors import InputError, require
from textodds.judge.notebook import CONTROL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png")

DPI = {"png": 200, "svg": 144}  # dots an inch: of a PNG, and of the image of the points in an SVG

# Okabe and Ito (2008), "Color Universal Design": blue and vermilion first, which differ most for everybody;
# yellow, which white paper swallows, last, and darker as a line. Markers tell classes apart in grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
LINES = (*COLOURS[:7], "#a8a02e")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (9, 2)), (0, (3, 1)))
MOST = len(COLOURS)  # classes that can be told apart

INK, FAINT = "#222222", "#666666"

LONGEST = 24  # letters of the name of a class

LOOK = Path(__file__).parent / "templates" / "picture.mplstyle"


class Style(NamedTuple):
    """How a class, a curve or a model is drawn."""

    colour: str  # of areas and points
    line: str
    marker: str


STYLES = tuple(map(Style, COLOURS, LINES, MARKERS))


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn ``figure`` of matplotlib, to be drawn further on, if need be.

    ``title`` says what it shows to those who cannot see it, and is in SVG files; ``notes`` say what was left
    out, as the foot of the picture does too; ``about`` are the numbers in the picture, as plain data.
    """

    figure: Figure
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
        about = {"Title": self.title, **by}
        buffer = io.BytesIO()
        with drawing():
            self.figure.savefig(buffer, format=format_, facecolor="white", dpi=DPI[format_], metadata=about)
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
            f"`{os.fspath(path)}` is not an .svg or .png file",
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


def empty_figure(width: float, height: float) -> Figure:
    """A figure of so many inches apart from all that pyplot knows of, its parts kept clear of one another."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def head(axes: Axes, name: str, what: str, result: str) -> None:
    """Name of the panel, what it is, and what came of it, on two lines over its left edge."""
    above: Mapping[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(name, (0, 1), (0, 20), fontsize=12, fontweight="bold", color=INK, **above)
    axes.annotate(what, (1, 1), (0, 20.5), fontsize=9, color=FAINT, ha="right", **above)
    axes.annotate(result, (0, 1), (0, 6), fontsize=9, color=INK, in_layout=False, **above)


def short_name(name: str, longest: int = LONGEST) -> str:
    """A name on one line that leaves room for others, as matplotlib shows it.

    >>> short_name("a" * 30)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    name = CONTROL.sub("\ufffd", " ".join(name.split()))
    name = name if len(name) <= longest else name[: longest - 1] + "…"
    return f"\u200b{name}" if name.startswith("_") else name  # which a legend would leave out


def require_matplotlib() -> None:
    """Fail where there is no matplotlib, and say how to get it."""
    require("matplotlib", why="drawing pictures")
