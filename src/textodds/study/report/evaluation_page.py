"""The report of an evaluation: one page that says how good a model is, where it fails, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from textodds.judge.evaluation import Evaluation, Interval
from textodds.model.explain.markup import shown
from textodds.model.text_model import TextModel
from textodds.study.report import card, html
from textodds.study.report.evaluation_classes import classes_section, confusion_section
from textodds.study.report.evaluation_mistakes import mistakes_section, words_section
from textodds.study.report.evaluation_scores import calibration_interval, scores_sections
from textodds.study.report.html import Markup

if TYPE_CHECKING:
    from textodds.model.table_model import TableModel
    from textodds.study.report.evaluation_data import EvaluationData

LABELS = 20  # labels that the model does not have: those that are named


def evaluation_page(
    model: TextModel | TableModel,
    evaluation: Evaluation,
    gathered: EvaluationData,
    *,
    called: str = "the model",
    data: str = "the data",
    more: Sequence[tuple[str, str]] = (),
) -> str:
    """The page, self-contained; the same model and data give the same page.

    ``called`` and ``data`` name the model and what it was measured on; ``more`` is told in the model card.
    """
    return html.document(
        f"How good is {called}?",
        *_headline(evaluation, model),
        confusion_section(evaluation),
        classes_section(evaluation),
        *scores_sections(evaluation, gathered),
        *words_section(model),
        mistakes_section(model, evaluation, gathered),
        _card(model, more),
        html.paragraph(f"Made by textodds {version('textodds')}. All intervals are at 95 %.", note=True),
        lead=html.joined("Measured on ", f"{evaluation.n:,} rows of ", html.name(data)),
    )


def _headline(evaluation: Evaluation, model: TextModel | TableModel) -> Iterator[Markup]:
    interval = calibration_interval(evaluation.reliability)
    yield html.measures(
        [
            ("accuracy", *_measure(evaluation.accuracy, evaluation.accuracy_interval)),
            ("macro-F1", *_measure(evaluation.macro_f1, evaluation.macro_f1_interval)),
            ("log-loss", *_measure(evaluation.log_loss, evaluation.log_loss_interval)),
            ("calibration error", *_measure(evaluation.calibration_error, interval)),
        ]
    )
    if evaluation.no_evidence:
        rows = "1 row has" if evaluation.no_evidence == 1 else f"{evaluation.no_evidence:,} rows have"
        what = {"column": "value in any column", "word": "word that the model knows"}[model.extent[1]]
        yield html.paragraph(f"{rows} no {what}: the prior alone has answered.")
    if evaluation.unknown_labels:
        most = sorted(evaluation.unknown_labels.items(), key=lambda found: (-found[1], found[0]))
        named = [html.joined(html.name(label), f" ({rows:,})") for label, rows in most[:LABELS]]
        if len(most) > LABELS:
            named.append(html.joined(f"{len(most) - LABELS:,} others"))
        told = "Labels that the model does not have, whose rows are always wrong and have no log-loss: "
        yield html.paragraph(html.joined(told, Markup(", ".join(named)), "."))


def _measure(value: float, interval: Interval) -> tuple[str, str]:
    if math.isnan(value):
        return "–", "no row has a label that the model knows"
    low, high = interval
    return f"{value:.4f}", f"{low:.4f} to {high:.4f}"


def _card(model: TextModel | TableModel, more: Sequence[tuple[str, str]]) -> Markup:
    rows = [*card.facts(model), *more]
    parts = [html.table(["what", "is"], rows, numeric=False)]
    if not isinstance(model, TextModel):
        choices = [(choice.column, choice.conditional, choice.why) for choice in model.recipe.choices]
        parts.append(html.table(["column", "taken for", "because"], choices, numeric=False))
    recipe = json.dumps(model.recipe.as_dict(), indent=1, ensure_ascii=False, default=str)
    parts.append(html.details("The whole recipe, as the file has it", Markup(f"<pre>{shown(recipe)}</pre>")))
    return html.section("The model", *parts)
