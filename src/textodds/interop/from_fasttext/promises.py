"""Calibration of a converted model by texts that it was not trained on: what its promises rest on."""

from __future__ import annotations

import numpy as np

from textodds.errors import InputError, Unsupported
from textodds.learn.arrays import Floats
from textodds.learn.held_out import FEWEST
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.model.fit import calibrate_held_out
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel


def calibrate(model: TextModel | MultiLabelModel, held_out: object) -> None:
    """Calibrate a model of one label by labelled texts (any source, or texts and labels) it has not seen."""
    if isinstance(model, MultiLabelModel) or not model.form.is_posterior:
        raise Unsupported(
            "only models of -loss softmax and hs are calibrated here",
            hint="leave `--calibrate` (calibrate=) out",
        )
    source, labels = held_out if isinstance(held_out, tuple) and len(held_out) == 2 else (held_out, None)
    scores: list[Floats] = []
    codes: list[int] = []
    for batch in model.read(source, labels, labelled=True):
        scores.append(model.score_batch(batch, calibrate=False)[0])
        codes.extend(model.class_number(label) for label in batch.label_list())
    if len(codes) < FEWEST:
        raise InputError(
            f"calibration takes {FEWEST} labelled texts at least, got {len(codes):,}",
            hint="give more texts that the model was not trained on",
        )
    calibrate_held_out(model, HeldOutScores(np.concatenate(scores), np.array(codes), np.ones(len(codes))))
