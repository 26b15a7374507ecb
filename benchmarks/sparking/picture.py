"""Lines in SVG, side by side: one panel for each thing that grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

INK, PALE, LINE = "#1b1b1b", "#e4e4e4", "#2a6f97"
LEFT, TOP, WIDTH, HEIGHT, GAP = 52, 64, 230, 190, 62


@dataclass(frozen=True)
class Panel:
    """Points (x, y) of one line; x on a logarithmic scale, y from 0."""

    title: str
    points: Sequence[tuple[float, float]]
    names: Sequence[str]  # of each x


def lines(title: str, of_y: str, panels: Sequence[Panel]) -> str:
    """The picture; all panels have the same scale of y."""
    step, top = _scale(max(y for panel in panels for _, y in panel.points))
    full, height = LEFT + len(panels) * (WIDTH + GAP), TOP + HEIGHT + 50
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} {height}" width="{full}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{full}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="600" fill="{INK}">{escape(title)}</text>',
        f'<text x="12" y="46" fill="{INK}">{escape(of_y)}</text>',
    ]
    for number, panel in enumerate(panels):
        out += _panel(panel, LEFT + number * (WIDTH + GAP), step, top)
    return "\n".join([*out, "</svg>"]) + "\n"


def _scale(highest: float) -> tuple[float, float]:
    """The distance of the marks of y, and the highest of them."""
    power = 10.0 ** math.floor(math.log10(highest))
    step = next(power * part for part in (0.2, 0.5, 1, 2, 5) if highest <= 6 * power * part)
    return step, step * math.ceil(highest / step)


def _panel(panel: Panel, left: float, step: float, top: float) -> list[str]:
    low, high = math.log(panel.points[0][0]), math.log(panel.points[-1][0])

    def place(x: float, y: float) -> tuple[float, float]:
        return left + WIDTH * (math.log(x) - low) / (high - low), TOP + HEIGHT * (1 - y / top)

    out = []
    for mark in range(round(top / step) + 1):
        _, y = place(panel.points[0][0], mark * step)
        out.append(
            f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{PALE}"/>'
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#444444">{mark * step:g}</text>'
        )
    places = [place(*point) for point in panel.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    out.append(f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    for (x, y), name in zip(places, panel.names, strict=True):
        out.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{LINE}"/>'
            f'<text x="{x:.1f}" y="{TOP + HEIGHT + 17}" text-anchor="middle" '
            f'fill="#444444">{escape(name)}</text>'
        )
    out.append(
        f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle" '
        f'fill="{INK}">{escape(panel.title)}</text>'
    )
    return out
