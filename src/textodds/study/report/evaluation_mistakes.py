"""What a model goes by: the words of each class, and its surest mistakes with what led to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from textodds.errors import TextoddsError
from textodds.judge.notebook import shown
from textodds.model.explain import Explanation, Stretch, visible
from textodds.model.explain.markup import mark
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.model.tables.table_model import TableModel
    from textodds.study.report.evaluation_data import Mistake

WORDS = 12  # words of each class
COLUMNS = 8  # columns of a row that are shown, those that said most
LONGEST_VALUE = 120  # letters of the value of a column
LONGEST = 700  # characters of a text that is shown whole
AROUND = 70  # characters either side of a word that matters, in a longer one

GAP = '<span class="note">[…]</span>'


def mistakes(model: TextModel | TableModel, wrong: Iterable[Mistake]) -> list[dict[str, object]]:
    """Wrong answers, those alike together with their rows, each with what led to it."""
    alike: dict[tuple[str, str, str], list[Mistake]] = {}
    for mistake in wrong:
        alike.setdefault((mistake.label, mistake.answer, repr(mistake.given)), []).append(mistake)
    return [
        {"first": same[0], "rows": [mistake.row for mistake in same], **_evidence(model, same[0])}
        for same in alike.values()
    ]


def _evidence(model: TextModel | TableModel, mistake: Mistake) -> dict[str, object]:
    """Why the answer rather than the true label, or than the runner-up: words of a text, or columns."""
    try:
        why = model.explain(
            mistake.given, mistake.answer, mistake.label if mistake.label in model.class_names else None
        )
    except TextoddsError:  # a single class, or a row that cannot be read again: the report goes on without
        if isinstance(mistake.given, str):
            return {"excerpt": clip(mistake.given), "why": None}
        given = [(column, _value(value)) for column, value in mistake.given.items()]
        return {"columns": given[:COLUMNS], "why": None}
    if isinstance(why, Explanation):
        odds = [(visible(word), odds) for word, _, odds in why.words]
        speaking_for = {why.label: [each for each in odds if each[1] > 0]}
        speaking_for |= {why.rival: [each for each in odds if each[1] < 0]}
        return {"excerpt": excerpt(why), "sides": speaking_for, "why": why}
    told = [(column, _value(value), f"{odds:+.2f}") for column, value, odds in why.columns[:COLUMNS]]
    if rest := why.columns[COLUMNS:]:
        told.append((f"{len(rest)} others", "", f"{sum(odds for _, _, odds in rest):+.2f}"))
    told += [(name, "", f"{odds:+.2f}") for name, odds in why.start_lines]
    told.append(("together", "", f"{why.log_odds:+.2f}"))
    return {"columns": told, "why": why}


def _value(value: object) -> str:
    told = "missing" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return told if len(told) <= LONGEST_VALUE else told[: LONGEST_VALUE - 1] + "…"


def clip(text: str) -> str:
    """A text as HTML without marks, its beginning if it is long."""
    return shown(text[:LONGEST]) + (f" {GAP}" if len(text) > LONGEST else "")


def excerpt(why: Explanation) -> str:
    """The text as HTML, words for and against the answer marked; a long one where the strongest are."""
    assert why.reading is not None
    text = why.reading.shown
    spans = _spans(text, why.stretches)
    parts = ["".join(_marks(why, text, *span)) for span in spans]
    before = f"{GAP} " if spans[0][0] > 0 else ""
    after = f" {GAP}" if spans[-1][1] < len(text) else ""
    return before + f" {GAP} ".join(parts) + after


def _spans(text: str, stretches: Sequence[Stretch]) -> list[tuple[int, int]]:
    """The parts of a text to show: all of it, or what is around the strongest words, up to a length."""
    if len(text) <= LONGEST:
        return [(0, len(text))]
    chosen: list[tuple[int, int]] = []
    room = LONGEST
    for each in sorted(stretches, key=lambda stretch: (-abs(stretch.log_odds), stretch.start)):
        start, end = _at_spaces(text, each.start - AROUND, each.end + AROUND)
        room -= end - start
        if not each.log_odds or room < 0:
            break
        chosen.append((start, end))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(chosen):
        if merged and start <= merged[-1][1] + 1:
            start, end = merged[-1][0], max(end, merged.pop()[1])
        merged.append((start, end))
    return merged or [(0, LONGEST)]


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


def _marks(why: Explanation, text: str, start: int, end: int) -> Iterator[str]:
    """A part of the text, its stretches marked."""
    most = max((abs(stretch.log_odds) for stretch in why.stretches), default=0.0)
    for each in why.stretches:
        if each.start < end and each.end > start:
            first, last = max(each.start, start), min(each.end, end)
            yield shown(text[start:first])
            yield mark(why, each, shown(text[first:last]), most)
            start = last
    yield shown(text[start:end])
