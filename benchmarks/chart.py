"""A bar chart in SVG: how many times faster, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from result import Bar

COLOURS = {"scikit-learn": "#2a6f97", "fastText": "#c77d0a", "Vowpal Wabbit": "#7a4fa3", "wc -w": "#5b7f3b"}
BAD = "#b3261e"
LEFT, WIDTH, ROW, TOP, BOTTOM = 330, 560, 22, 58, 34


def bars(title: str, data: Sequence[Bar]) -> str:
    """The chart; a bar to the left of 1 is a loss, and a tick on a bar its target."""
    values = [bar.value for bar in data] + [bar.target for bar in data if bar.target]
    marks = [step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5)]
    low = max(mark for mark in marks if mark <= min(1, *values))
    high = min(mark for mark in marks if mark >= max(10, *values))

    def x(value: float) -> float:
        return LEFT + WIDTH * math.log(value / low) / math.log(high / low)

    height = TOP + ROW * len(data) + BOTTOM
    full = LEFT + WIDTH + 90
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} {height}" '
        f'width="{full}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{full}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="600" fill="#1b1b1b">{escape(title)}</text>',
        _legend(data),
    ]
    bottom = TOP + ROW * len(data)
    for mark in marks:
        if low <= mark <= high:
            at = x(mark)
            stroke = "#9a9a9a" if mark == 1 else "#e4e4e4"
            out.append(
                f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 4}" y2="{bottom}" stroke="{stroke}"/>'
                f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#444444">{mark:g}</text>'
            )
    for number, bar in enumerate(data):
        y = TOP + ROW * number
        begin, end = sorted((x(1), x(bar.value)))
        colour = COLOURS.get(bar.against, "#555555")
        told = f"{bar.value:.0f}" if bar.value >= 9.95 else f"{bar.value:.2g}"
        out.append(
            f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end" '
            f'fill="#1b1b1b">{escape(bar.label)}</text>'
            f'<rect x="{begin:.1f}" y="{y + 4}" width="{max(end - begin, 1):.1f}" height="{ROW - 8}" '
            f'fill="{colour}"/>'
        )
        beyond = max(end, x(bar.target)) if bar.target else end
        if bar.target:
            at = x(bar.target)
            out.append(
                f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y + 1}" y2="{y + ROW - 1}" '
                'stroke="#1b1b1b" stroke-width="2"/>'
            )
        verdict = _verdict(bar)
        ink = f'fill="{BAD}" font-weight="600"' if verdict else 'fill="#1b1b1b"'
        out.append(f'<text x="{beyond + 6:.1f}" y="{y + 15}" {ink}>{told}{verdict}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def _verdict(bar: Bar) -> str:
    if bar.value < 1:
        return " loss"
    return "" if bar.target is None or bar.value >= bar.target else " missed"


def _legend(data: Sequence[Bar]) -> str:
    parts, x = [], 12
    for against in dict.fromkeys(bar.against for bar in data):
        parts.append(
            f'<rect x="{x}" y="34" width="11" height="11" fill="{COLOURS.get(against, "#555555")}"/>'
            f'<text x="{x + 16}" y="44" fill="#1b1b1b">against {escape(against)}</text>'
        )
        x += 84 + 7 * len(against)
    parts.append(
        f'<line x1="{x + 4}" x2="{x + 4}" y1="32" y2="47" stroke="#1b1b1b" stroke-width="2"/>'
        f'<text x="{x + 14}" y="44" fill="#1b1b1b">target</text>'
    )
    return "".join(parts)
