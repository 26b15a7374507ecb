"""The report of an evaluation: one page that says how good a model is, where it fails, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textodds.judge.evaluation import BINS, RESAMPLES, Evaluation, Interval, Reliability, wilson
from textodds.model.explain import visible
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel
from textodds.study.report import card, figures
from textodds.study.report.evaluation_classes import DRAWN, class_measures, classes_figure, confusion
from textodds.study.report.evaluation_data import EvaluationData, measured
from textodds.study.report.evaluation_mistakes import WORDS, mistakes
from textodds.study.report.page import render
from textodds.study.report.picture import MOST
from textodds.study.report.ranking_curves import DISTINCT, RankingCurve

if TYPE_CHECKING:
    from textodds.model.file import AnyModel
    from textodds.model.tables.table_model import TableModel

SHARES = (1.0, 0.99, 0.95, 0.9, 0.8, 0.5)  # shares of the rows of which it is said how they do


def evaluation_report(
    model: AnyModel, source: object, labels: object = None, *, called: str = "the model", **reading: object
) -> str:
    """The report of `textodds evaluate --report`: one HTML file, with figures and without scripts.

    Parameters
    ----------
    model : TextModel, TableModel or MultiLabelModel
        What is measured.
    source, labels, **reading
        Labelled data, as `textodds.read` takes it.
    called : str
        The name of the model on the page.
    """
    data = model.read(source, labels, labelled=True, **reading)
    if isinstance(model, MultiLabelModel):
        from textodds.study.report.label_data import measured_labels
        from textodds.study.report.label_page import label_page

        return label_page(model, *measured_labels(model, data), called=called, data=data.description)
    evaluation, found = measured(model, data)
    return evaluation_page(model, evaluation, found, called=called, data=data.description)


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
    classes = class_measures(evaluation)
    recipe = model.recipe.as_dict()
    return render(
        "evaluation.html",
        title=f"How good is {called}?",
        data=data,
        evaluation=evaluation,
        is_table=not isinstance(model, TextModel),
        headline=_headline(evaluation),
        unknown_labels=sorted(evaluation.unknown_labels.items(), key=lambda found: (-found[1], found[0])),
        confusion=confusion(evaluation),
        classes=classes,
        classes_figure=classes_figure(classes),
        n_drawn=DRAWN,
        reliability=_reliability(evaluation),
        coverage=_coverage(gathered.of_answers),
        ranking=_ranking(gathered.of_class),
        most_curves=MOST,
        words=_words(model),
        has_words=not isinstance(model, TextModel) or model.recipe.settings.has_words,
        per=model.words.per if isinstance(model, TextModel) else "use",
        mistakes=mistakes(model, gathered.mistakes),
        n_mistakes=len(gathered.mistakes),
        n_wrong=sum(rows for (label, answer), rows in evaluation.confusion.items() if label != answer),
        facts=[*card.facts(model), *more],
        choices=getattr(model.recipe, "choices", ()),
        recipe=json.dumps(recipe, indent=1, ensure_ascii=False, default=str),
    )


def _words(model: TextModel | TableModel) -> dict[str, list[tuple[str, float]]]:
    """The words that speak most for each class; nothing where a model has no such words."""
    found = model.words.top_of(model.class_names, WORDS) if isinstance(model, TextModel) else {}
    named = {label: [(visible(word), odds) for word, odds in words] for label, words in found.items()}
    return named if any(named.values()) else {}


def calibration_interval(reliability: Reliability) -> Interval:
    """An interval of the calibration error: rows are drawn again, with replacement, within its bins.

    Errors of drawn rows are too large by about as much as the error itself is, since chance adds to both;
    so the quantiles are taken from twice the error (the basic bootstrap: Davison and Hinkley 1997, 5.2).
    """
    n = sum(rows for rows, _, _ in reliability)
    if not n:
        return math.nan, math.nan
    rows, said, right = np.array(reliability).T
    error = float(np.sum(rows * np.abs(said - right)) / n)
    shares = np.clip(np.concatenate([rows * right, rows * (1 - right)]) / n, 0, 1)
    drawn = np.random.default_rng(0).multinomial(n, shares / shares.sum(), size=RESAMPLES)
    hits, misses = drawn[:, : len(rows)], drawn[:, len(rows) :]
    errors = np.abs(said * (hits + misses) - hits).sum(axis=1) / n
    low, high = np.quantile(errors, [0.025, 0.975])
    return max(2 * error - float(high), 0.0), min(max(2 * error - float(low), 0.0), 1.0)


def _headline(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """The measures at large, each with its interval."""
    measures = [
        ("accuracy", evaluation.accuracy, evaluation.accuracy_interval),
        ("macro-F1", evaluation.macro_f1, evaluation.macro_f1_interval),
        ("log-loss", evaluation.log_loss, evaluation.log_loss_interval),
        ("calibration error", evaluation.calibration_error, calibration_interval(evaluation.reliability)),
    ]
    boxes = [
        (name, "–", "no row has a label of the model")
        if math.isnan(value)
        else (name, f"{value:.4f}", f"{low:.4f} to {high:.4f}")
        for name, value, (low, high) in measures
    ]
    alone = evaluation.baseline
    boxes.insert(1, ("largest class alone", f"{alone.accuracy:.4f}", f"always {alone.label}"))
    return boxes


def _reliability(evaluation: Evaluation) -> dict[str, object]:
    """Whether probabilities can be believed."""
    bins = [
        (rows, said, right, wilson(round(right * rows), rows)) for rows, said, right in evaluation.reliability
    ]
    said = sum(rows * said for rows, said, _, _ in bins) / evaluation.n
    return {"bins": bins, "n_bins": BINS, "said": said, "figure": figures.reliability(evaluation.reliability)}


def _coverage(answers: RankingCurve) -> dict[str, object]:
    """How many answers are right if only the surest are given."""
    n = answers.n_positives + answers.n_negatives
    shares = []
    for share in SHARES:
        answered, right = round(share * n), answers.above(share)
        interval = wilson(round(right * answered), max(answered, 1))
        shares.append((share, answered, right, interval, 1 / (1 + math.exp(-answers.least(share)))))
    return {"shares": shares, "figure": figures.coverage(*answers.coverage())}


def _ranking(of_class: dict[str, RankingCurve]) -> dict[str, object]:
    """ROC and precision-recall curves of each class that has rows; nothing of too many classes."""
    curves = {label: curve for label, curve in of_class.items() if curve.n_positives and curve.n_negatives}
    if not curves:
        return {"curves": curves} if of_class else {}
    axes = ("false positive rate", "true positive rate")
    pairs = {label: curve.precision_recall() for label, curve in curves.items()}
    return {
        "curves": curves,
        "roc": figures.curves({label: curve.roc() for label, curve in curves.items()}, axes, diagonal=True),
        "precision_recall": figures.curves(pairs, ("recall", "precision")),
        "absent": [label for label in of_class if label not in curves],
        "is_exact": all(curve.is_exact for curve in curves.values()),
        "distinct": DISTINCT,
    }
