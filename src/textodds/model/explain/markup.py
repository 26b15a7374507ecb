"""An explanation as HTML: the text with its words highlighted, and the sum as a table with bars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textodds.judge.notebook import shown

if TYPE_CHECKING:
    from textodds.model.explain.by_word import Stretch
    from textodds.model.explain.explanation import Explanation

FOR, AGAINST = "0,114,90", "194,65,12"  # green and orange-red that the colour-blind tell apart
FAINTEST, DEEPEST = 0.08, 0.55  # tint of the text: what stands on it stays readable, light or dark
BARS = 30  # so many words have a line of their own; the others are one line, so that the table still adds up

STYLE = (
    "font-family:system-ui,sans-serif;line-height:1.6;max-width:48rem",
    "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;margin:.5rem 0",
    "border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9em",
)


def fragment(explanation: Explanation, *, parts: bool = False) -> str:
    """A ``<section>`` with its styles within; every text in it is escaped. With ``parts``, by feature."""
    whole, text, table = STYLE
    label, rival = shown(explanation.label), shown(explanation.rival)
    return "".join(
        [
            f'<section class="textodds" style="{whole}">',
            f'<p style="margin:.5rem 0"><strong>{label}</strong> ({explanation.probability:.4f}) rather than '
            f"{rival}: log-odds {explanation.log_odds:+.2f}</p>",
            f'<p dir="auto" style="{text}">',
            *_text(explanation),
            "</p>",
            f'<p style="margin:.5rem 0;font-size:.85em">{_mark("solid", FOR, "for " + label)} '
            f"{_mark('dashed', AGAINST, 'for ' + rival)}; a stronger tint says more; dotted is unknown</p>",
            f'<table style="{table}"><thead><tr><th scope="col" style="text-align:left">'
            f"{explanation.noun(parts=parts)}</th>"
            '<th scope="col" style="text-align:right;white-space:nowrap">log-odds</th>'
            '<th aria-hidden="true"></th></tr></thead>',
            "<tbody>",
            *_rows(explanation, parts=parts),
            '</tbody><tfoot><tr><th scope="row" style="text-align:left">sum</th>',
            f"{_number(explanation.log_odds)}<td></td></tr></tfoot></table>",
            "</section>",
        ]
    )


def page(explanation: Explanation, *, parts: bool = False) -> str:
    """A whole document of the fragment, in which nothing may run and nothing is fetched."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>why {shown(explanation.label)}</title></head>\n"
        f"<body>{fragment(explanation, parts=parts)}</body></html>\n"
    )


def _text(explanation: Explanation) -> Iterator[str]:
    """The text, its stretches marked: tint and line say for or against, the title says how much."""
    assert explanation.reading is not None
    text, end = explanation.reading.shown, 0
    most = max((abs(stretch.log_odds) for stretch in explanation.stretches), default=0.0)
    for stretch in explanation.stretches:
        yield shown(text[end : stretch.start])
        words = shown(text[stretch.start : stretch.end])
        if stretch.known or stretch.log_odds:
            yield mark(explanation, stretch, words, most)
        else:
            yield f'<span title="unknown" style="text-decoration:underline dotted">{words}</span>'
        end = stretch.end
    yield shown(text[end:])


def mark(explanation: Explanation, stretch: Stretch, words: str, most: float) -> str:
    """Words of a stretch: solid and green where they speak for the label, dashed and orange for its rival."""
    if not stretch.log_odds:
        return words
    side, line, colour = (explanation.label, "solid", FOR)
    if stretch.log_odds < 0:
        side, line, colour = (explanation.rival, "dashed", AGAINST)
    depth = FAINTEST + (DEEPEST - FAINTEST) * abs(stretch.log_odds) / most
    return _mark(line, colour, words, f"{stretch.log_odds:+.2f}, for {side}", depth)


def _mark(line: str, colour: str, words: str, title: str = "", depth: float = 0.3) -> str:
    titled = f' title="{shown(title)}"' if title else ""
    style = f"background:rgba({colour},{depth:.2f});border-bottom:2px {line} rgb({colour});color:inherit"
    return f'<mark{titled} style="{style}">{words}</mark>'


def _rows(explanation: Explanation, *, parts: bool) -> Iterator[str]:
    """A line for each part of the sum, words past the first ``BARS`` in one."""
    told = [(name, odds) for name, odds, _ in explanation.sum_lines(BARS, parts=parts)]
    most = max(abs(odds) for _, odds in told) or 1.0
    for name, odds in told:
        width = 50 * abs(odds) / most
        at = "left:50%" if odds >= 0 else "right:50%"
        colour = FOR if odds >= 0 else AGAINST
        yield (
            f'<tr><th scope="row" style="text-align:left;font-weight:normal"><bdi>{shown(name)}</bdi></th>'
            f"{_number(odds)}"
            '<td aria-hidden="true" style="width:14rem"><div style="position:relative;height:.8em">'
            f'<div style="position:absolute;{at};width:{width:.1f}%;height:100%;background:rgb({colour})">'
            "</div></div></td></tr>"
        )
    if unknown := explanation.unknown_told:
        yield (
            '<tr><th scope="row" style="text-align:left;font-weight:normal">'
            f'{unknown}</th><td></td><td aria-hidden="true"></td></tr>'
        )


def _number(odds: float) -> str:
    return f'<td style="text-align:right;padding:0 .8em">{odds:+.2f}</td>'
