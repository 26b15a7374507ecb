"""What is asked of a model for every row of some data: which answers, and how they are decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from textodds.model.multilabel.label_refusals import refuse, refuse_of_one
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.output.answer_rows import AnswerRows
from textodds.model.output.answers import AnswerColumns
from textodds.model.output.decision import Decision

if TYPE_CHECKING:
    from textodds.judge.thresholds import Goal
    from textodds.model.file import AnyModel, Model


@dataclass(frozen=True)
class AnswerSource:
    """A model that answers as it was asked to; ``begin`` starts a file, ``notes`` should be said."""

    model: AnyModel
    begin: Callable[[], AnswerRows]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerRequest:
    """The options of ``predict`` that say what an answer is; see there."""

    decision: Decision = field(default_factory=Decision)
    proba: bool = False
    top: int | None = None
    familiarity: bool = False
    prior: str | dict[str, float] | None = None
    goal: Goal | None = None

    def of(self, model: AnyModel) -> AnswerSource:
        """The model that answers so; refuses what it cannot."""
        if isinstance(model, MultiLabelModel):
            return self._of_labels(model)
        return self._of_one_label(model)

    def _of_one_label(self, model: Model) -> AnswerSource:
        refuse_of_one({"goal": self.goal})
        if self.prior is not None:
            model = model.with_prior(self.prior)
        decide, notes = self.decision.of(model, self.prior)
        threshold = None if self.decision.tree else self.decision.threshold
        wanted = AnswerColumns(model.class_names, proba=self.proba, top=self.top, threshold=threshold)
        if threshold is not None:
            decide = None

        def begin() -> AnswerRows:
            return AnswerRows(model, wanted, decide, familiarity=self.familiarity)

        return AnswerSource(model, begin, notes)

    def _of_labels(self, model: MultiLabelModel) -> AnswerSource:
        from textodds.model.multilabel.label_answer_rows import LabelAnswerRows, with_decision
        from textodds.model.multilabel.label_answers import LabelAnswerColumns

        given = {each.name: getattr(self.decision, each.name) for each in fields(self.decision)}
        threshold = given.pop("threshold")
        refuse({**given, "familiarity": self.familiarity, "prior": self.prior})
        answering = with_decision(model, threshold, self.goal)
        columns = LabelAnswerColumns(answering, proba=self.proba, top=self.top)
        return AnswerSource(answering, lambda: LabelAnswerRows(answering, columns))
