"""The answers of ``predict`` where a text may have several labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from textodds.cli.output import as_json
from textodds.learn.multilabel.odds import sigmoid
from textodds.model.multilabel.label_answer_rows import JoinedLabels

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.output.answer_rows import UnknownTexts


def answer_lines(
    model: MultiLabelModel,
    batch: Batch,
    unknown: UnknownTexts,
    *,
    proba: bool,
    top: int | None,
    json: bool,
) -> Iterator[str]:
    """The lines of a batch: labels and their probabilities, most probable first."""
    scores, evidence = model.score_batch(batch)
    unknown.see(evidence)
    p = sigmoid(scores)
    given, order = model.given(p), np.argsort(-p, axis=1, kind="stable")
    text = JoinedLabels(model)
    most = len(model.class_names) if proba else top
    for row, mask, ranked, known in zip(
        p.tolist(), given, order.tolist(), evidence[:, 0].tolist(), strict=True
    ):
        own = [k for k in ranked if mask[k]]
        shown = own if most is None else ranked[:most]
        if json:
            probabilities = {model.class_names[k]: row[k] for k in shown}
            about = {"labels": [model.class_names[k] for k in own], "probabilities": probabilities}
            yield as_json({**about, "evidence": known}) + "\n"
            continue
        first = text.separator.join(text.names[k] for k in own)
        if most is None:
            yield f"{first}\t{text.separator.join(f'{row[k]:.4f}' for k in own)}\n"
        else:
            yield "\t".join([first, *(f"{text.names[k]}\t{row[k]:.4f}" for k in shown)]) + "\n"
