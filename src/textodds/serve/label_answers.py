"""Answers of models that give several labels: which, why, and how good they are known to be."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from textodds.data import Batch
from textodds.data.label_sets import name_of
from textodds.errors import Conflict, Unsupported
from textodds.judge.label_evaluation import evaluate_labels
from textodds.learn.multilabel.odds import sigmoid
from textodds.model.multilabel.label_flip import label_flip
from textodds.model.multilabel.label_prediction import HeldLabels
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.serve import answers, rows
from textodds.serve.protocol import label_messages, messages
from textodds.serve.protocol.row_messages import ExplainRowAnswer
from textodds.serve.updates.fold import ServedModel

if TYPE_CHECKING:
    from textodds.learn.arrays import Floats

TEXTS = 1000  # held-out texts that are measured at once


def several_labels(serving: ServedModel) -> MultiLabelModel:
    """The model, which gives several labels unless another file has just been taken."""
    if not isinstance(serving.model, MultiLabelModel):
        raise Conflict("the model file has been replaced by one that gives one label", hint="send it again")
    return serving.model


def classify(
    serving: ServedModel,
    request: label_messages.ClassifyLabelsRequest | label_messages.ClassifyRowLabelsRequest,
) -> label_messages.ClassifyLabelsAnswer:
    """The labels of one text or row."""
    model = several_labels(serving)
    if isinstance(request, label_messages.ClassifyLabelsRequest):
        item = request.text
    else:
        item = rows.item_of(model, request.row)
    said = model.answer(item)
    probabilities = said.probabilities if request.top is None else dict(said.top(request.top))
    return label_messages.ClassifyLabelsAnswer(
        labels=list(said.labels),
        probabilities=probabilities,
        thresholds={label: said.thresholds[label] for label in probabilities},
        evidence=said.evidence,
        version=serving.version,
    )


def classify_batch(
    serving: ServedModel,
    request: label_messages.BatchLabelsRequest | label_messages.ClassifyRowsLabelsRequest,
) -> label_messages.BatchLabelsAnswer:
    """The labels of several texts or rows, in order."""
    model, found = several_labels(serving), []
    if isinstance(request, label_messages.BatchLabelsRequest):
        items = request.texts
    else:
        items = [rows.item_of(model, row, f"rows[{at}]") for at, row in enumerate(request.rows)]
    names, (p, evidence) = model.class_names, scored(model, items)
    for row, given, known in zip(p, model.given(p), evidence.tolist(), strict=True):
        order = np.argsort(-row, kind="stable")
        there = [names[k] for k in order[given[order]].tolist()]
        shown = order[given[order]] if request.top is None else order[: request.top]
        probabilities = {names[k]: float(row[k]) for k in shown.tolist()}
        found.append(label_messages.LabelsAnswer(labels=there, probabilities=probabilities, evidence=known))
    return label_messages.BatchLabelsAnswer(
        answers=found, thresholds=thresholds_of(model), version=serving.version
    )


def scored(model: MultiLabelModel, items: list[str]) -> tuple[Floats, Any]:
    """The probability of each label (N, K), and how many terms of each text are known (N,)."""
    if not items:
        return np.zeros((0, len(model.class_names))), np.zeros(0, np.uint32)
    scores, evidence = model.score_batch(Batch(list(items)))
    return sigmoid(scores), evidence[:, 0]


def thresholds_of(model: MultiLabelModel) -> dict[str, float]:
    """The threshold of each label."""
    assert model.thresholds is not None
    return dict(zip(model.class_names, model.thresholds.tolist(), strict=True))


def explain(serving: ServedModel, request: label_messages.ExplainLabelRequest) -> messages.ExplainAnswer:
    """What each word adds to the log-odds of a label."""
    model = several_labels(serving)
    why = model.explain(request.text, _asked(model, request))
    return answers.explained(why, serving.version, parts=request.parts)


def flip(serving: ServedModel, request: label_messages.FlipLabelRequest) -> messages.FlipAnswer:
    """The fewest words that decide whether a label is given."""
    model = several_labels(serving)
    name = model.class_names[model.class_number(_asked(model, request))]
    found = label_flip(model, request.text, name)
    if found is not None and found.label_after != name:  # what is said is that of the label
        found = replace(found, probability_after=1.0 - found.probability_after)
    return answers.flipped(found, serving.version)


def _asked(model: MultiLabelModel, request: label_messages.FlipLabelRequest) -> str:
    """The label that is meant: by default the most probable."""
    return request.label or model.answer(request.text).top(1)[0][0]


def explain_row(serving: ServedModel, request: label_messages.ExplainRowLabelRequest) -> ExplainRowAnswer:
    """What each column adds to the log-odds of a label, and each word."""
    model = several_labels(serving)
    why = model.explain(rows.item_of(model, request.row), request.label)
    return answers.explained_texts(model, why, request, serving.version)


def words(serving: ServedModel, label: str, rival: str | None, limit: int) -> messages.WordsAnswer:
    """The words that speak most for a label."""
    if rival is not None:
        raise Unsupported("labels of one text do not compete: a text may have both", hint="leave out `rival`")
    model = several_labels(serving)
    telling = [messages.TellingWord(*pair) for pair in model.top_words(label, limit)]
    return messages.WordsAnswer(label, None, telling, serving.version)


def labels_card(card: messages.Card, serving: ServedModel) -> label_messages.LabelsCard:
    """The card of a model, with what is known of its labels."""
    model = several_labels(serving)
    reading = model.info.get("reading") or {}
    shares = {each.label: each.prior for each in card.classes}
    thresholds = thresholds_of(model)
    return label_messages.LabelsCard(
        **structs.asdict(card),
        labels=[label_messages.LabelCard(name, shares[name], thresholds[name]) for name in model.class_names],
        goal=str(model.goal),
        label_separator=reading.get("label_separator"),
        label_quality=_quality(model),
    )


def _quality(model: MultiLabelModel) -> label_messages.LabelQuality | None:
    """How the model did on held-out texts of training; None if that is not known."""
    held = model.held_labels
    if held is None or not len(held.p):
        return None
    assert model.thresholds is not None
    return _measured(held, model.class_names, tuple(model.thresholds.tolist()))


@lru_cache(maxsize=2)
def _measured(
    held: HeldLabels, names: tuple[str, ...], thresholds: tuple[float, ...]
) -> label_messages.LabelQuality:
    """The measures of held-out answers, which the card needs again and again."""

    def parts() -> Any:
        for start in range(0, len(held.p), TEXTS):
            truth = held.truth[start : start + TEXTS]
            sets = [name_of(names[k] for k in np.flatnonzero(row).tolist()) for row in truth]
            yield held.p[start : start + TEXTS].astype(np.float64), sets

    found = evaluate_labels(parts(), names, np.array(thresholds))
    measures = {
        key: value
        for name in ("micro_f1", "macro_f1", "subset_accuracy")
        for key, value in ((name, found.measures[name][0]), (f"{name}_interval", found.measures[name][1]))
    }
    return label_messages.LabelQuality(
        n=found.n,
        **measures,  # type: ignore[arg-type]
        labels_per_text=found.labels_per_text,
        given_per_text=found.given_per_text,
        calibration_error=found.calibration_error,
        reliability=[messages.Bin(*row) for row in found.reliability],
    )
