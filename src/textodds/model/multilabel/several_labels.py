"""Whether a model is of several labels a text, without the cost of importing what such a model is made of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from textodds.model.multilabel.multilabel_model import MultiLabelModel


def is_multilabel(model: object) -> TypeIs[MultiLabelModel]:
    """Whether ``model`` is a `MultiLabelModel`: there is none before its module was imported."""
    module = sys.modules.get("textodds.model.multilabel.multilabel_model")
    return module is not None and isinstance(model, module.MultiLabelModel)
