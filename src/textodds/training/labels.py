"""Labels that look alike: pointed out in training, or joined to the spelling that is the most frequent."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from typing import TypeVar

from textodds.data import Source
from textodds.data.label_sets import is_set, labels_in, likely_separator, name_of
from textodds.data.labels import spellings, told
from textodds.errors import InputError, LabelsRead, SimilarLabels, Unsupported
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.tables.table_model import TableModel
from textodds.model.text_model import TextModel

M = TypeVar("M", TextModel, TableModel, MultiLabelModel)


def must_have_one_label(data: Source, doing: str, hint: str) -> None:
    """Refuse rows that may have several labels, for what is not done with them."""
    if data.has_label_sets:
        raise Unsupported(f"`{doing}` is for one label a row, and these data may have several", hint=hint)


def checked_labels(data: Source, clean: bool) -> Source:
    """The source, whose labels must be of one type; to ``clean`` them joins those that look alike."""
    data.refuse_mixed_labels()
    return _cleaned(data) if clean else data


def _cleaned(data: Source) -> Source:
    """The source, labels that look alike joined; they are counted in a pass of their own."""
    if not data.replayable:
        raise InputError(
            f"{data.description} can be read only once, and labels are counted before they are cleaned",
            hint="put it in a list or in a file first; or leave out `--clean-labels` (clean_labels=)",
        )
    counts: Counter[str] = Counter()
    for batch in data:
        for name in batch.label_list():
            counts.update(labels_in(name) if is_set(name) else (name,))
    joined = {label: name for name, group in spellings(counts).items() for label in group}

    def label_name(name: str) -> str:
        if is_set(name):
            return name_of(joined.get(label, label) for label in labels_in(name))
        return joined.get(name, name)

    data.label_name = label_name
    return data


def with_labels(model: M, data: Source, clean: bool) -> M:
    """The model, which knows the type its labels had; says which of them look alike."""
    model.labels = replace(data.label_type, clean=clean)
    if clean:  # some categories may be others' spellings now
        model.labels = replace(model.labels, categories=None)
    if not clean and model.labels.kind == "text" and (alike := spellings(model.class_documents)):
        warnings.warn(
            f"labels that look alike are learned as different classes: {told(alike)}; "
            "join them with `--clean-labels` (clean_labels=True)",
            SimilarLabels,
            stacklevel=4,
        )
    separator = likely_separator(frozenset(model.class_names)) if isinstance(model, TextModel) else None
    if separator is not None:
        shown = next(name for name in model.class_names if separator in name)
        warnings.warn(
            f"labels such as {shown!a} look like several, and each is learned as one; if they are, use "
            f"`--label-separator '{separator}'` (label_separator='{separator}')",
            LabelsRead,
            stacklevel=4,
        )
    return model
