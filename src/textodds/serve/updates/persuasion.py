"""How many copies of a text would change the model's mind, by the quick update of corrections."""

from __future__ import annotations

from typing import Any

from textodds.errors import InputError, suggestion
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.serve import rows
from textodds.serve.answers import one_label
from textodds.serve.protocol.look_messages import CopiesAnswer, CopiesRequest, CopiesRowRequest
from textodds.serve.records.journal import JournalEntry
from textodds.serve.updates.fold import BasisWithIds, Folded, ServedModel, fold_in, form_of

MOST = 512


def copies_needed(serving: ServedModel, request: CopiesRequest | CopiesRowRequest) -> CopiesAnswer:
    """The fewest copies of a text after which the model gives it a label.

    They are folded into the model as corrections are, and the model is asked: doubled until it gives the
    label, then halved between. More copies never speak less for their label.
    """
    model = one_label(serving)
    if request.label not in model.class_names:
        raise InputError(
            f"there is no class `{request.label}`{suggestion(request.label, model.class_names)}",
            hint="name a class of the model",
        )
    if isinstance(request, CopiesRowRequest):
        item: Any = rows.item_of(model, request.row)
        kept = rows.written(rows.checked(model, request.row))
    else:
        item = kept = request.text
    form = form_of(model)

    def is_won(n: int) -> bool:
        copies = [JournalEntry(i + 1, 1, f"\0copy {i}", request.label, kept, "") for i in range(n)]
        begun = Folded(ServedModel(model, serving.digest, 0), form)
        after = fold_in(
            begun, copies, model, lambda: BasisWithIds.of(model).after(model, copies)
        ).serving.model
        assert not isinstance(after, MultiLabelModel)
        return after.answer(item).label == request.label

    if model.answer(item).label == request.label:
        return CopiesAnswer(copies=0, most=MOST, version=serving.version)
    low, high = 0, 1
    while not is_won(high):
        low, high = high, 2 * high
        if high > MOST:
            return CopiesAnswer(copies=None, most=MOST, version=serving.version)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_won(middle) else (middle, high)
    return CopiesAnswer(copies=high, most=MOST, version=serving.version)
