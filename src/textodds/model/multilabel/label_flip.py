"""The fewest words without which a label of several would not be given, or would be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.data.labels import Label
    from textodds.model.explain import DecisiveWords
    from textodds.model.multilabel.multilabel_model import MultiLabelModel


def label_flip(model: MultiLabelModel, text: Any, label: Label) -> DecisiveWords | None:
    """The fewest words without which a text would, or would not, be given a label; None if there are none.

    The label wins against its absence from a probability of 0.5 on; here from its threshold on. So the
    log-odds of the threshold are taken from those of the label, and put back in what is returned, whose
    ``probability_after`` is that of the label.
    """
    k = model.class_number(label)
    assert model.thresholds is not None
    threshold = float(model.thresholds[k])
    if not 0 < threshold < 1:  # it is given always, or never
        return None
    view, name = model.of_label(label), model.class_names[k]
    form: Any = view.form
    shift = np.zeros(2)
    shift[form.classes.index(name)] = np.log(threshold) - np.log1p(-threshold)
    shifted = TextModel(
        view.recipe,
        view.vocabulary,
        replace(form, intercept=form.intercept - shift),
        None,
        view.info,
        scale=view.scale,
        threads=view.threads,
    )
    found = shifted.explain(text, name, f"not {name}").flip()
    if found is None:
        return None
    share = float(model.predict_proba([found.text])[0, k])
    return replace(found, probability_after=share)
