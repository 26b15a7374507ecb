"""A text with the words highlighted that decided, shortened to those places; and the words by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textodds.model.explain.markup import mark, shown
from textodds.study.report.html import Markup, joined, name

if TYPE_CHECKING:
    from textodds.model.explain import Explanation, Stretch

LONGEST = 700  # characters of a text that is shown whole
AROUND = 70  # characters either side of a word that matters, in a longer one
WORDS = 8  # words for an answer, and against it, that are named

GAP = Markup(' <span class="note">[…]</span> ')


def excerpt(explanation: Explanation) -> Markup:
    """The text with its words marked for and against the answer; a long one where the strongest are."""
    assert explanation.reading is not None
    text, stretches = explanation.reading.text, explanation.stretches
    most = max((abs(stretch.log_odds) for stretch in stretches), default=0.0)
    spans = _spans(text, stretches)
    parts = []
    for start, end in spans:
        within = [each for each in stretches if each.start < end and each.end > start]
        parts.append("".join(_marks(explanation, within, start, end, most)))
    body = GAP.join(parts)
    before = GAP.lstrip() if spans and spans[0][0] > 0 else ""
    after = GAP.rstrip() if spans and spans[-1][1] < len(text) else ""
    return Markup(f'<p class="text" dir="auto">{before}{body}{after}</p>')


def clip(text: str) -> Markup:
    """A text without marks, its beginning if it is long."""
    cut = GAP.rstrip() if len(text) > LONGEST else ""
    return Markup(f'<p class="text" dir="auto">{shown(text[:LONGEST])}{cut}</p>')


def strongest(explanation: Explanation) -> Markup:
    """The words that said most for the answer and for its rival, with their log-odds, on a line each."""
    lines: list[str] = [
        _side(explanation.label, [(word, odds) for word, _, odds in explanation.words if odds > 0]),
        _side(explanation.rival, [(word, odds) for word, _, odds in explanation.words if odds < 0]),
    ]
    start = f"before reading: {explanation.start:+.2f} · together: {explanation.log_odds:+.2f}"
    return Markup("".join(f'<p class="note">{line}</p>' for line in [*lines, shown(start)] if line))


def _side(side: str, words: Sequence[tuple[str, float]]) -> str:
    if not words:
        return ""
    told = [joined(name(word), f" {odds:+.2f}") for word, odds in words[:WORDS]]
    if rest := words[WORDS:]:
        told.append(joined(f"{len(rest)} other{'s' * (len(rest) > 1)} {sum(odds for _, odds in rest):+.2f}"))
    return joined("for ", Markup(f"<b>{name(side)}</b>"), ": ", Markup(" · ".join(told)))


def _spans(text: str, stretches: Sequence[Stretch]) -> list[tuple[int, int]]:
    """The parts of a text to show: all of it, or what is around the strongest words, up to a length."""
    if len(text) <= LONGEST:
        return [(0, len(text))]
    chosen: list[tuple[int, int]] = []
    room = LONGEST
    for each in sorted(stretches, key=lambda stretch: (-abs(stretch.log_odds), stretch.start)):
        span = _at_spaces(text, each.start - AROUND, each.end + AROUND)
        if not each.log_odds or room < span[1] - span[0]:
            break
        chosen.append(span)
        room -= span[1] - span[0]
    if not chosen:
        return [(0, LONGEST)]
    merged = [min(chosen)]
    for start, end in sorted(chosen)[1:]:
        if start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _at_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch moved to where words begin and end, if they do so nearby."""
    start, end = max(start, 0), min(end, len(text))
    if start > 0 and (found := text.find(" ", start, start + 20)) >= 0:
        start = found + 1
    if end < len(text) and (found := text.rfind(" ", end - 20, end)) >= 0:
        end = found
    within = text[start:end]
    start += len(within) - len(within.lstrip())
    return start, start + len(within.strip())


def _marks(
    explanation: Explanation, stretches: Sequence[Stretch], start: int, end: int, most: float
) -> Iterator[str]:
    text = explanation.reading.text if explanation.reading is not None else ""
    at = start
    for each in stretches:
        first, last = max(each.start, at), min(each.end, end)
        yield shown(text[at:first])
        yield mark(explanation, each, shown(text[first:last]), most)
        at = last
    yield shown(text[at:end])
