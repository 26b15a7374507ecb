"""The report of an evaluation of several labels a text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textodds.judge.evaluation import BINS, wilson
from textodds.judge.label_evaluation import LabelEvaluation
from textodds.model.explain import visible
from textodds.study.report import card, figures
from textodds.study.report.evaluation_classes import (
    DRAWN,
    MATRIX,
    MOST_CONFUSED,
    WORST,
    ClassScores,
    classes_figure,
    most_confused,
)
from textodds.study.report.evaluation_data import Mistake
from textodds.study.report.evaluation_mistakes import WORDS, mistakes
from textodds.study.report.label_data import LabelData
from textodds.study.report.page import render
from textodds.study.report.picture import MOST

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from textodds.model.multilabel.multilabel_model import MultiLabelModel

LARGE = ("micro_f1", "macro_f1", "sample_f1", "subset_accuracy", "average_precision")
"""The measures at the head of the page."""

NAMES = {"subset_accuracy": "subset accuracy", "average_precision": "ranking precision"}
OF_WORDS = 60  # labels whose words are shown, the most frequent


def label_page(
    model: MultiLabelModel,
    evaluation: LabelEvaluation,
    gathered: LabelData,
    *,
    called: str = "the model",
    data: str = "the data",
    more: Sequence[tuple[str, str]] = (),
) -> str:
    """The page, self-contained; as `evaluation_page`, of a model of several labels a text."""
    assert model.thresholds is not None
    classes = label_measures(evaluation)
    thresholds = dict(zip(model.class_names, model.thresholds.tolist(), strict=True))
    return render(
        "labels.html",
        title=f"How good is {called}?",
        data=data,
        evaluation=evaluation,
        headline=_headline(evaluation),
        measures=evaluation.rows(),
        unknown_labels=sorted(evaluation.unknown_labels.items(), key=lambda found: (-found[1], found[0])),
        classes=classes,
        classes_figure=classes_figure(classes) if classes else None,
        absent=[label for label, row in evaluation.by_label.items() if not row["rows"] and not row["given"]],
        given={label: int(row["given"]) for label, row in evaluation.by_label.items()},
        n_drawn=DRAWN,
        thresholds=thresholds,
        goal=str(model.goal),
        ranking=_ranking(evaluation, gathered),
        reliability=_reliability(evaluation),
        together=_together(evaluation, gathered),
        words=_words(model),
        has_words=model.recipe.settings.has_words,
        wrong=_explained(model, gathered.false),
        missed=_explained(model, gathered.missed),
        facts=[*card.facts(model), ("goal of the thresholds", str(model.goal)), *more],  # type: ignore[arg-type]
        recipe=json.dumps(model.recipe.as_dict(), indent=1, ensure_ascii=False, default=str),
    )


def label_measures(evaluation: LabelEvaluation) -> list[ClassScores]:
    """Precision, recall and F1 of each label that some text has or is given, the lowest F1 first."""
    found = []
    for label, row in evaluation.by_label.items():
        rows, given = int(row["rows"]), int(row["given"])
        if rows or given:
            right = round(row["recall"] * rows) if rows else 0
            found.append(ClassScores.of(label, right, rows, given))
    return sorted(found, key=lambda each: (each.f1[0], each.label))


def _headline(evaluation: LabelEvaluation) -> list[tuple[str, str, str]]:
    """The measures at large, each with its interval."""
    titles = {name: title for name, (title, *_) in zip(evaluation.measures, evaluation.rows(), strict=True)}
    boxes = []
    for name in LARGE:
        if name in evaluation.measures:
            value, (low, high) = evaluation.measures[name]
            boxes.append((NAMES.get(name, titles[name]), f"{value:.4f}", f"{low:.4f} to {high:.4f}"))
    error = evaluation.calibration_error
    return [*boxes, ("calibration error", f"{error:.4f}", "mean gap within groups")]


def _ranking(evaluation: LabelEvaluation, gathered: LabelData) -> dict[str, object]:
    """Precision-recall curves of the most frequent labels, with where their thresholds are."""
    curves = {label: curve for label, curve in gathered.of_label.items() if curve.n_positives}
    if not curves:
        return {}
    by_rows = sorted(curves, key=lambda label: (-curves[label].n_positives, label))
    drawn = {label: curves[label].precision_recall() for label in by_rows[:MOST]}
    rows = evaluation.by_label
    points = {
        label: (rows[label]["recall"], rows[label]["precision"]) for label in drawn if rows[label]["given"]
    }
    return {
        "average": {label: curve.average_precision for label, curve in curves.items()},
        "n_drawn": len(drawn),
        "n": len(curves),
        "figure": figures.curves(drawn, ("recall", "precision"), points=points),
    }


def _reliability(evaluation: LabelEvaluation) -> dict[str, object]:
    """Whether probabilities can be believed, over all labels and texts."""
    bins = [
        (cells, said, there, wilson(round(there * cells), cells))
        for cells, said, there in evaluation.reliability
    ]
    names = ("texts with the label", "probability of a label", "labels × texts")
    drawn = figures.reliability(evaluation.reliability, names, many=True)
    return {"bins": bins, "n_bins": BINS, "figure": drawn}


def _together(evaluation: LabelEvaluation, gathered: LabelData) -> dict[str, object]:
    """Labels that are missed and given in the place of one another, and given wrongly beside others."""
    rows = {label: int(row["rows"]) for label, row in evaluation.by_label.items()}
    return {
        "figure": _instead_figure(evaluation, gathered.instead),
        "instead": _worst(gathered.instead, rows),
        "beside": _worst(gathered.beside, rows),
    }


def _worst(counts: Counter[tuple[str, str]], rows: dict[str, int]) -> list[tuple[str, str, int, float]]:
    """The most frequent pairs, with the number of texts and their share of the first label's texts."""
    ordered = sorted(counts.items(), key=lambda found: (-found[1], found[0]))[:WORST]
    return [(first, second, n, n / max(rows[first], 1)) for (first, second), n in ordered]


def _instead_figure(evaluation: LabelEvaluation, instead: Counter[tuple[str, str]]) -> Figure | None:
    """The matrix of labels that are missed (down) and given instead (across), of all or the most confused."""
    if not instead:
        return None
    involved: Counter[str] = Counter()
    for (missed, given), n in instead.items():
        involved[missed] += n
        involved[given] += n
    every = len(evaluation.labels) <= MATRIX
    some = list(evaluation.labels) if every else [label for label, _ in involved.most_common(MATRIX)]
    index = {label: k for k, label in enumerate(some)}
    counts = np.zeros((len(some), len(some)), dtype=np.int64)
    for label, k in index.items():
        row = evaluation.by_label[label]
        counts[k, k] = round(row["recall"] * row["rows"])
    for (missed, given), n in instead.items():
        if missed in index and given in index:
            counts[index[missed], index[given]] = n
    totals = np.array([int(evaluation.by_label[label]["rows"]) for label in some])
    order = list(range(len(some))) if every else most_confused(counts, MOST_CONFUSED)
    labels = [some[k] for k in order]
    return figures.confusion(labels, counts[np.ix_(order, order)], totals[order], ("given", "true label"))


def _words(model: MultiLabelModel) -> dict[str, list[tuple[str, float]]]:
    """The words that speak most for each of the most frequent labels."""
    by_rows = sorted(model.class_documents.items(), key=lambda found: (-found[1], found[0]))[:OF_WORDS]
    found = {}
    for name, _ in by_rows:
        words = model.of_label(name).words.top(name, WORDS)
        if words:
            found[name] = [(visible(word), odds) for word, odds in words]
    return found


def _explained(model: MultiLabelModel, wrong: Sequence[Mistake]) -> list[dict[str, object]]:
    """Mistakes of single labels, each with the words that led to it."""
    found = []
    for mistake in wrong:
        name = mistake.answer if mistake.answer in model.class_names else mistake.label
        found += mistakes(model.of_label(name), [mistake])
    return found
