"""What a model goes by: the words of each class, and its surest mistakes with what led to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textodds.errors import TextoddsError
from textodds.judge.evaluation import Evaluation
from textodds.model.text_model import TextModel
from textodds.study.report.evaluation_data import EvaluationData, Mistake
from textodds.study.report.highlight import clip, excerpt, strongest
from textodds.study.report.html import Markup, beside, details, joined, name, paragraph, section, table

if TYPE_CHECKING:
    from textodds.model.table_model import TableModel

WORDS = 12  # words of each class
OPEN = 20  # classes whose words are shown at once; those of more are unfolded when asked for
COLUMNS = 8  # columns of a row that are shown, those that said most
LONGEST = 120  # letters of the value of a column


def words_section(model: TextModel | TableModel) -> Iterator[Markup]:
    """The words that speak most for each class, if the model has such words."""
    found = model.words.top_of(model.classes_, WORDS) if isinstance(model, TextModel) else {}
    if not any(found.values()):
        return
    listed = table(
        ["class", "words, with their log-odds"],
        [[name(label), _words(words)] for label, words in found.items()],
        numeric=False,
    )
    yield section(
        "The words of each class",
        "What one occurrence of a word adds to the log-odds of a class against the mean of the others: 0.7 "
        "doubles the odds, 2.3 makes them ten times as high.",
        listed if len(found) <= OPEN else details(f"The words of all {len(found)} classes", listed),
    )


def mistakes_section(
    model: TextModel | TableModel, evaluation: Evaluation, gathered: EvaluationData
) -> Markup:
    """The wrong answers that the model was surest of, each with what led to it."""
    heading = "The surest mistakes"
    distinct: dict[tuple[str, str, str], list[Mistake]] = {}
    for mistake in gathered.mistakes:
        distinct.setdefault((mistake.label, mistake.answer, repr(mistake.given)), []).append(mistake)
    if not distinct:
        return section(heading, "There is none: every row was answered rightly.")
    wrong = evaluation.n - sum(
        rows for (label, answer), rows in evaluation.confusion.items() if label == answer
    )
    shown_ = [_mistake(model, at, same) for at, same in enumerate(distinct.values(), start=1)]
    is_marked = isinstance(model, TextModel)  # words are, in the text
    which = f"The {len(gathered.mistakes)} wrong answers, of {wrong:,}, that the model was surest of."
    if wrong == len(gathered.mistakes):
        which = "Every wrong answer, the surest first."
    return section(
        heading,
        f"{which} Look here for labels that are wrong themselves, for {model.noun}s that belong to two "
        f"classes, and for {model.extent[1]}s that mislead."
        + (" Solid green speaks for the answer, dashed orange for the true label." if is_marked else ""),
        Markup("".join(shown_)) if is_marked else beside(*shown_),
    )


def _mistake(model: TextModel | TableModel, at: int, same: list[Mistake]) -> Markup:
    first = same[0]
    rows = ", ".join(f"{mistake.row:,}" for mistake in same)
    head = joined(
        f"{at}. called ",
        Markup(f"<b>{name(first.answer)}</b>"),
        f" ({first.probability:.4f}), is ",
        Markup(f"<b>{name(first.label)}</b>"),
        Markup(f' <span class="note">row{"s" * (len(same) > 1)} {rows}</span>'),
    )
    body = _text(model, first) if isinstance(model, TextModel) else _columns(model, first)
    return Markup(f'<div class="mistake">{paragraph(head)}{body}</div>')


def _text(model: Any, mistake: Mistake) -> Markup:
    why = _explanation(model, mistake)
    return clip(mistake.given) if why is None else Markup(excerpt(why) + strongest(why))


def _columns(model: Any, mistake: Mistake) -> Markup:
    why = _explanation(model, mistake)
    if why is None:
        rows = [[column, _value(value)] for column, value in mistake.given.items()]
        return table(["column", "value"], rows[:COLUMNS], numeric=False)
    told = [[column, _value(value), f"{odds:+.2f}"] for column, value, odds in why.columns[:COLUMNS]]
    if rest := why.columns[COLUMNS:]:
        told.append([f"{len(rest)} others", "", f"{sum(odds for _, _, odds in rest):+.2f}"])
    told += [["before reading", "", f"{why.prior:+.2f}"], ["together", "", f"{why.log_odds:+.2f}"]]
    return table(["column", "value", f"log-odds against {why.rival}"], told)


def _explanation(model: Any, mistake: Mistake) -> Any:
    """Why the answer rather than the true label, or than the runner-up; None if there is no saying."""
    rival = mistake.label if mistake.label in model.classes_ else None
    try:
        return model.explain(mistake.given, mistake.answer, rival)
    except TextoddsError:  # a single class, or a row that cannot be read again: the report goes on without
        return None


def _words(words: list[tuple[str, float]]) -> Markup:
    return Markup(" · ".join(f"{name(word)} <small>{odds:+.2f}</small>" for word, odds in words))


def _value(value: Any) -> str:
    told = "missing" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return told if len(told) <= LONGEST else told[: LONGEST - 1] + "…"
