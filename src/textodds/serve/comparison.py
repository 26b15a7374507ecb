"""Another model beside the one that is served: how they differ, and what it answers."""

from __future__ import annotations

from pathlib import Path

import msgspec

from textodds.errors import InputError, Unsupported
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.serve.answers import one_label
from textodds.serve.protocol.compare_messages import CompareAnswer
from textodds.serve.rows import names_of
from textodds.serve.updates.fold import Base, ServedModel, open_model

TOP = 20  # words and columns that are named


class ComparedModel:
    """The model that is compared with, if there is one."""

    def __init__(self, file: Path | None, base: Base) -> None:
        self.name = None if file is None else file.name
        self._base = None if file is None else open_model(file)
        if self._base is not None:
            _must_be_alike(self._base, base)

    @property
    def serving(self) -> ServedModel:
        """The other model, as it answers."""
        if self._base is None:
            raise Unsupported(
                "there is no model to compare with", hint="start the service with `--compare FILE`"
            )
        return ServedModel(self._base.model, self._base.digest, 0)

    def difference(self, serving: ServedModel) -> CompareAnswer:
        """How the served model differs from the other one."""
        from textodds.study.diff import diff

        other = self.serving
        found = diff(one_label(other), one_label(serving), top=TOP).as_dict()
        plain = {**found, "other": self.name, "version": serving.version}
        return msgspec.convert(plain, CompareAnswer)


def _must_be_alike(other: Base, base: Base) -> None:
    """Refuse a model that reads something else, or gives several labels."""
    if isinstance(other.model, MultiLabelModel) or isinstance(base.model, MultiLabelModel):
        raise InputError(
            "models of several labels are not compared",
            hint="leave out `--compare`, and evaluate both",
        )
    if other.kind != base.kind or (base.reads_rows and names_of(other.model) != names_of(base.model)):
        raise InputError(
            "the model of `--compare` reads other columns than the one that is served",
            hint="compare models of the same data",
        )
