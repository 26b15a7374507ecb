"""What endpoints take and give where the model reads rows, or gives several labels, with examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from textodds.serve import tensors
from textodds.serve.endpoint import Shapes
from textodds.serve.protocol import label_messages, look_messages, row_messages, tensor_messages

SPAM = "win a free phone now"
TWO = [SPAM, "see you at noon"]
CASE = "case-4711"
NO_DECISION = (
    "the model gives several labels: `prior`, `costs` and `abstain` are for models of one label; thresholds "
    "are chosen by the goal of training"
)
NO_RIVAL = "the model gives several labels, each by itself: leave out `rival`"
SEVERAL = "the model gives several labels: send `labels`, a list, in the place of `label`"

Kinds = dict[str, Shapes]
Row = Mapping[str, object]


def _kinds(
    rows: type[msgspec.Struct],
    labels: type[msgspec.Struct],
    label_rows: type[msgspec.Struct],
    *,
    text: Callable[[Row], object],
    row: Callable[[Row], object],
    hint: str,
    gives: tuple[type[msgspec.Struct] | None, type[msgspec.Struct] | None, type[msgspec.Struct] | None],
) -> Kinds:
    """Shapes of rows, of texts with several labels and of rows with them, and examples of each."""
    of_rows, of_labels, of_both = gives
    return {
        "rows": Shapes(rows, of_rows, row),
        "labels": Shapes(labels, of_labels, text, hint),
        "label_rows": Shapes(label_rows, of_both, row, hint),
    }


def _learned_row(row: Row) -> object:
    return {"documents": [{"id": CASE, "row": row, "label": "…"}]}


def _learned_set(row: Row) -> object:
    return {"documents": [{"id": CASE, **row, "labels": []}]}


def _learned_row_set(row: Row) -> object:
    return {"documents": [{"id": CASE, "row": row, "labels": []}]}


def _forgotten(row: Row) -> object:
    return {"documents": [{"id": CASE}]}


def _labels_infer(row: Row) -> object:
    wanted = ("labels", "probabilities", "classes")
    return {**tensors.example(row), "outputs": [{"name": name} for name in wanted]}


_INFER: Kinds = {
    "rows": Shapes(tensor_messages.InferRequest, example=tensors.example),
    "labels": Shapes(tensor_messages.InferRequest, example=_labels_infer),
}

OF_KINDS: Mapping[str, Kinds] = {
    "/v1/classify": _kinds(
        row_messages.ClassifyRowRequest,
        label_messages.ClassifyLabelsRequest,
        label_messages.ClassifyRowLabelsRequest,
        text=lambda row: row,
        row=lambda row: {"row": row},
        hint=NO_DECISION,
        gives=(None, label_messages.ClassifyLabelsAnswer, label_messages.ClassifyLabelsAnswer),
    ),
    "/v1/classify/batch": _kinds(
        row_messages.ClassifyRowsRequest,
        label_messages.BatchLabelsRequest,
        label_messages.ClassifyRowsLabelsRequest,
        text=lambda row: {"texts": TWO},
        row=lambda row: {"rows": [row, row]},
        hint=NO_DECISION,
        gives=(None, label_messages.BatchLabelsAnswer, label_messages.BatchLabelsAnswer),
    ),
    "/v1/explain": _kinds(
        row_messages.ExplainRowRequest,
        label_messages.ExplainLabelRequest,
        label_messages.ExplainRowLabelRequest,
        text=lambda row: row,
        row=lambda row: {"row": row},
        hint=NO_RIVAL,
        gives=(row_messages.ExplainRowAnswer, None, row_messages.ExplainRowAnswer),
    ),
    "/v1/explain/flip": {"labels": Shapes(label_messages.FlipLabelRequest, None, lambda row: row, NO_RIVAL)},
    "/v1/learn": {
        "rows": Shapes(row_messages.LearnRowsRequest, example=_learned_row),
        "labels": Shapes(label_messages.LearnLabelsRequest, None, _learned_set, SEVERAL),
        "label_rows": Shapes(label_messages.LearnRowLabelsRequest, None, _learned_row_set, SEVERAL),
    },
    "/v1/forget": _kinds(
        row_messages.ForgetRowsRequest,
        label_messages.ForgetLabelsRequest,
        label_messages.ForgetRowLabelsRequest,
        text=_forgotten,
        row=_forgotten,
        hint=SEVERAL,
        gives=(None, None, None),
    ),
    "/v1/compare/batch": {
        "rows": Shapes(row_messages.ClassifyRowsRequest, example=lambda row: {"rows": [row, row]})
    },
    "/v1/learn/copies": {
        "rows": Shapes(look_messages.CopiesRowRequest, example=lambda row: {"row": row, "label": "…"})
    },
    "/v1/corrections": {
        "rows": Shapes(None, row_messages.RowCorrectionsAnswer),
        "labels": Shapes(None, label_messages.LabelsCorrectionsAnswer),
    },
    "/v1/model": {"labels": Shapes(None, label_messages.LabelsCard)},
    "/v1/suggest": {
        "rows": Shapes(row_messages.SuggestRowsRequest, example=lambda row: {"rows": [row, row], "limit": 1})
    },
    "/v1/evaluate": {"labels": Shapes(None, label_messages.EvaluateLabelsAnswer)},
    "/v2/models/{name}/infer": _INFER,
    "/v2/models/{name}/versions/{version}/infer": _INFER,
}
"""By the path of an endpoint, and by the field of `Endpoint` that a shape belongs in."""
