"""How ``learn`` gives a text that was learned other labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textodds.cli.options import refuse_reading
from textodds.cli.output import counted, one_line
from textodds.cli.texts import said
from textodds.data.label_sets import name_of
from textodds.errors import InputError, Unsupported
from textodds.model.multilabel.multilabel_model import MultiLabelModel

BOTH = '--say "my parcel is late" --add-label urgent'


def relabel(model: Any, texts: Sequence[str], options: Any) -> list[str]:
    """Add and remove labels of texts that the model has learned; lines that say which each now has."""
    add, remove = options["add_label"], options["remove_label"]
    if not isinstance(model, MultiLabelModel):
        raise Unsupported(
            "`--add-label` and `--remove-label` are for several labels a text, and this model gives one",
            hint="`forget` the text with its old label, and `learn` it with the new one",
        )
    if not texts or options["data"]:
        raise InputError(
            "labels are added to and removed from texts given with `--say`", hint=f"write both: {BOTH}"
        )
    others = ("label_is", "document_ids", "id_column")
    for name in others:
        if options[name]:
            called = {"document_ids": "document-id", "id_column": "id"}.get(name, "label-is")
            raise InputError(
                f"`--{called}` cannot be combined with `--add-label` and `--remove-label`",
                hint="leave out one of the two",
            )
    refuse_reading("the text is given with `--say`")
    model.check_classes([name_of(map(model.class_name, add))], new=options["new_class"])
    lines = []
    for text in texts:
        now = model.relabel(said(model, text), add=add, remove=remove)
        shown = ", ".join(one_line(str(label)) for label in now) or "no label"
        lines.append(f"“{one_line(text)}” now has {shown}")
    return [f"relabelled {counted(len(texts), 'text')}", *lines]
