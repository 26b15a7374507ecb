"""What a model goes by: the words of each class, and its surest mistakes with what led to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textodds.errors import TextoddsError
from textodds.learn.forms.linear import LinearModel
from textodds.model.explain.markup import mark, shown

if TYPE_CHECKING:
    from textodds.model.explain import Explanation, Stretch
    from textodds.model.table_model import TableModel
    from textodds.model.text_model import TextModel
    from textodds.study.report.evaluation_data import Mistake

WORDS = 12  # words of each class
CELLS = 1 << 20  # weights of words that are looked at together
COLUMNS = 8  # columns of a row that are shown, those that said most
LONGEST_VALUE = 120  # letters of the value of a column
LONGEST = 700  # characters of a text that is shown whole
AROUND = 70  # characters either side of a word that matters, in a longer one
SAID = 8  # words for an answer, and against it, that are named

GAP = '<span class="note">[…]</span>'


def top_words(model: TextModel | TableModel, n: int = WORDS) -> dict[str, list[tuple[str, float]]]:
    """What `TextModel.top_words` says of each class, with the weights read once for all of them.

    Log-odds are against the mean of the other classes. Nothing where a model has no weights of words.
    """
    K = len(model.classes_)
    if model.is_table or K < 2 or not len(model.vocabulary) or not isinstance(model.form, LinearModel):
        return {}
    best, words = np.zeros((0, K)), np.zeros((0, K), dtype=np.intp)  # (n, K)
    step, V = max(1, CELLS // K), len(model.vocabulary)
    for start in range(0, V, step):
        numbers = np.arange(start, min(start + step, V))
        rows = model.linear.weights.rows(numbers)
        odds = np.concatenate([best, rows - (rows.sum(axis=1, keepdims=True) - rows) / (K - 1)])
        words = np.concatenate([words, np.repeat(numbers[:, None], K, axis=1)])
        order = np.argsort(-odds, axis=0, kind="stable")[:n]  # of equals the first
        best, words = np.take_along_axis(odds, order, 0), np.take_along_axis(words, order, 0)
    return {
        label: list(zip(model.vocabulary.words(words[:, k]), best[:, k].tolist(), strict=True))
        for k, label in enumerate(model.classes_)
    }


def mistakes(model: TextModel | TableModel, wrong: Iterable[Mistake]) -> list[dict[str, object]]:
    """Wrong answers, those alike together, each with what led to it."""
    alike: dict[tuple[str, str, str], list[Mistake]] = {}
    for mistake in wrong:
        alike.setdefault((mistake.label, mistake.answer, repr(mistake.given)), []).append(mistake)
    evidence = _columns if model.is_table else _text
    return [
        {
            "label": same[0].label,
            "answer": same[0].answer,
            "probability": same[0].probability,
            "rows": [mistake.row for mistake in same],
            **evidence(model, same[0]),
        }
        for same in alike.values()
    ]


def _text(model: TextModel, mistake: Mistake) -> dict[str, object]:
    """The text with its words highlighted, and the words that said most for the answer and for its rival."""
    why = _explanation(model, mistake)
    if why is None:
        return {"excerpt": clip(mistake.given), "sides": [], "start": None}
    odds = [(word, odds) for word, _, odds in why.words]
    sides = [
        _side(why.label, [each for each in odds if each[1] > 0]),
        _side(why.rival, [each for each in odds if each[1] < 0]),
    ]
    said = [side for side in sides if side["words"]]
    return {"excerpt": excerpt(why), "sides": said, "start": why.start, "log_odds": why.log_odds}


def _side(label: str, words: Sequence[tuple[str, float]]) -> dict[str, object]:
    rest = words[SAID:]
    others = sum(odds for _, odds in rest)
    return {"label": label, "words": words[:SAID], "n_others": len(rest), "others": others}


def _columns(model: TableModel, mistake: Mistake) -> dict[str, object]:
    """The columns that said most, with what they said."""
    why = _explanation(model, mistake)
    if why is None:
        given = [(column, _value(value)) for column, value in mistake.given.items()]
        return {"columns": given[:COLUMNS], "rival": None}
    told = [(column, _value(value), f"{odds:+.2f}") for column, value, odds in why.columns[:COLUMNS]]
    if rest := why.columns[COLUMNS:]:
        told.append((f"{len(rest)} others", "", f"{sum(odds for _, _, odds in rest):+.2f}"))
    told += [("before reading", "", f"{why.prior:+.2f}"), ("together", "", f"{why.log_odds:+.2f}")]
    return {"columns": told, "rival": why.rival}


def _explanation(model, mistake: Mistake):
    """Why the answer rather than the true label, or than the runner-up; None if there is no saying."""
    rival = mistake.label if mistake.label in model.classes_ else None
    try:
        return model.explain(mistake.given, mistake.answer, rival)
    except TextoddsError:  # a single class, or a row that cannot be read again: the report goes on without
        return None


def _value(value: object) -> str:
    told = "missing" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return told if len(told) <= LONGEST_VALUE else told[: LONGEST_VALUE - 1] + "…"


def clip(text: str) -> str:
    """A text as HTML without marks, its beginning if it is long."""
    return shown(text[:LONGEST]) + (f" {GAP}" if len(text) > LONGEST else "")


def excerpt(why: Explanation) -> str:
    """The text as HTML, words for and against the answer marked; a long one where the strongest are."""
    assert why.reading is not None
    text, spans = why.reading.text, _spans(why.reading.text, why.stretches)
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
