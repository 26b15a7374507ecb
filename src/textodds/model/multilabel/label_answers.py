"""Answers of several labels as columns beside the rows they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.errors import InputError
from textodds.learn.arrays import Floats
from textodds.learn.multilabel.odds import sigmoid

if TYPE_CHECKING:
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

LABELS = "labels"


class LabelAnswerColumns:
    """Which columns an answer has: ``labels``, a list; the ``top`` ones; with ``proba`` all of them."""

    def __init__(self, model: MultiLabelModel, *, proba: bool = False, top: int | None = None) -> None:
        if top is not None and (not isinstance(top, int) or top < 1):
            raise InputError(f"`top` is {top!r}, not a whole number above 0", hint="write top=3")
        self.model, self.proba, self.top = model, proba, top

    def of_scores(self, scores: Floats) -> dict[str, Any]:
        """The columns of log-odds (N, K)."""
        p, names = sigmoid(scores), np.array(self.model.classes_, dtype=object)
        found: dict[str, Any] = {
            LABELS: [list(row) for row in self.model.label_lists(p, self.model.given(p))]
        }
        if self.top is not None:
            order = np.argsort(-p, axis=1, kind="stable")[:, : self.top]
            rows = np.arange(len(p))
            for rank, at in enumerate(order.T, start=1):
                found |= {f"label_{rank}": names[at], f"probability_{rank}": p[rows, at]}
        if self.proba:
            found |= {f"p({name})": p[:, k] for k, name in enumerate(self.model.classes_)}
        return found
