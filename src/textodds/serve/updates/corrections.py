"""What corrections change, and whether they may: checked before anything is put on disk."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from textodds.data.label_sets import MARK, labels_of_sets
from textodds.data.labels import plain_label
from textodds.errors import Conflict, InputError, Unsupported, suggestion
from textodds.serve.labelling.acts import ActRequest
from textodds.serve.protocol.label_messages import (
    ForgetLabelsRequest,
    ForgetRowLabelsRequest,
    ForgottenLabels,
    ForgottenRowLabels,
    LabelsDocument,
    LabelsRowDocument,
    LearnLabelsRequest,
    LearnRowLabelsRequest,
)
from textodds.serve.protocol.messages import (
    Changed,
    Document,
    ForgetRequest,
    Forgotten,
    LearnDocuments,
    LearnRequest,
)
from textodds.serve.protocol.row_messages import (
    ForgetRowsRequest,
    ForgottenRow,
    LearnRowsRequest,
    RowDocument,
)
from textodds.serve.records.journal import Change, Journal, JournalEntry, State
from textodds.serve.rows import checked, written
from textodds.serve.updates.fold import AnyBasis, told_label, without
from textodds.serve.updates.live_model import Live

OfLabels = LearnLabelsRequest | LearnRowLabelsRequest | ForgetLabelsRequest | ForgetRowLabelsRequest
OfRows = LearnRowsRequest | ForgetRowsRequest | LearnRowLabelsRequest | ForgetRowLabelsRequest
Changes: TypeAlias = LearnRequest | ForgetRequest | ActRequest | OfLabels | OfRows
Learned = Document | RowDocument | LabelsDocument | LabelsRowDocument
AnyForgotten = Forgotten | ForgottenRow | ForgottenLabels | ForgottenRowLabels


class Group:
    """Requests that go to disk together, each checked against what those before it will have changed."""

    def __init__(self, live: Live, journal: Journal, requests: Iterable[Changes]) -> None:
        self._live = live
        ids = [document.id for request in requests for document in request.documents]
        self._states = journal.states(name for name in ids if name is not None)
        self._classes, self._waiting = live.labels()
        self._cannot = live.base.cannot_learn
        self.changes: list[Change] = []
        self.rest: AnyBasis | None = None

    def check(self, request: Changes) -> tuple[list[Changed], list[Change]]:
        """What becomes of each document, and what that changes; an error, if one cannot be done."""
        if self._cannot is not None:
            raise Unsupported(
                self._cannot, hint="serve a model that keeps its documents, as `textodds train DATA` makes it"
            )
        self._must_be_read_so(request)
        self._trial: dict[str, State] = {}
        self._trial_rest = self.rest
        outcomes: list[Changed] = []
        changes: list[Change] = []
        if isinstance(request, LearnDocuments):
            learned = [document for document in request.documents if isinstance(document, Learned)]
            self._must_be_labels(_labels(learned), new=request.new_labels)
        for document in request.documents:
            if isinstance(document, Learned):
                name = document.id or uuid.uuid4().hex
                change = self._learning_change(name, document)
            else:
                name, change = document.id, self._forgetting_change(document)
            outcomes.append(Changed(name, change is not None))
            if change is not None:
                changes.append(change)
                was = self._state(name)
                forgotten = change.sign < 0 or (was is not None and was.was_forgotten)
                self._trial[name] = State(JournalEntry(0, *change, ""), forgotten)
        return outcomes, changes

    def accept(self, changes: Iterable[Change]) -> None:
        """The request that was checked last will be on disk with the group."""
        self._states |= self._trial
        self.rest = self._trial_rest
        self.changes += changes
        for change in changes:
            if change.sign > 0:
                self._waiting[change.id] = change.label
            else:
                self._waiting.pop(change.id, None)

    def _must_be_read_so(self, request: Changes) -> None:
        """Refuse documents of another kind than those of the model, which may have just come."""
        if (isinstance(request, OfRows), isinstance(request, OfLabels)) != self._live.base.kind:
            raise Conflict(
                "the model file has been replaced by one that reads other documents", hint="send it again"
            )

    def _text(self, document: Learned | AnyForgotten) -> str | None:
        """The text of a document as the journal keeps it, which of a row is JSON; None if it has none."""
        if isinstance(document, Document | Forgotten | LabelsDocument | ForgottenLabels):
            return document.text
        if document.row is None:
            return None
        where = "row" if document.id is None else f"row of {document.id}"
        return written(checked(self._live.base.model, document.row, where))

    def _state(self, name: str) -> State | None:
        return self._trial.get(name) or self._states.get(name)

    def _label(self, name: str) -> str | None:
        """The label under which a document is learned, here or in training; None if it is not."""
        state = self._state(name)
        if state is None:
            return self._live.base.label_of(name)
        return state.last.label if state.last.sign > 0 else None

    def _must_be_labels(self, labels: set[str], *, new: bool) -> None:
        known = {*self._classes, *self._waiting.values()}
        if self._live.base.several_labels:
            known = {*self._classes, *labels_of_sets(self._waiting.values())}
        alike = {plain_label(label): label for label in known}
        for label in sorted(labels - known):
            if not new:
                raise InputError(
                    f"there is no class `{label}`{suggestion(label, known)}",
                    hint="for a new class send `new_labels: true`",
                )
            if not plain_label(label):
                raise InputError("the label of a new class is blank", hint="give it a visible name")
            other = alike.setdefault(plain_label(label), label)
            if other != label:
                raise InputError(
                    f"the new label {label!a} looks like {other!a}, and differs in its normal form "
                    "or in spaces around it",
                    hint="send the existing label",
                )

    def _learning_change(self, name: str, document: Learned) -> Change | None:
        """The change that learns a document; None if it was learned before."""
        state, before, text = self._state(name), self._label(name), self._text(document)
        if before is None:
            return Change(1, name, document.label, text)
        if before != document.label:
            raise Conflict(
                f"document `{name}` was learned as {told_label(before)}, and now comes as "
                f"{told_label(document.label)}",
                hint=f"forget it first, then learn it under the new {self._label_noun}",
            )
        if state is not None and state.last.text != text:
            raise Conflict(
                f"document `{name}` was learned with another {self._noun}",
                hint="give every document an id of its own",
            )
        return None

    @property
    def _noun(self) -> str:
        return "row" if self._live.base.reads_rows else "text"

    @property
    def _label_noun(self) -> str:
        return "labels" if self._live.base.several_labels else "label"

    def _forgetting_change(self, document: AnyForgotten) -> Change | None:
        """The change that forgets a document; None if it is not there."""
        name, state, label = document.id, self._state(document.id), self._label(document.id)
        if label is None:
            return None
        given = self._text(document)
        text = given if state is None else state.last.text
        if document.label is not None and document.label != label:
            raise Conflict(
                f"document `{name}` was learned as {told_label(label)}, and is to be forgotten as "
                f"{told_label(document.label)}",
                hint=f"give the {self._label_noun} under which it was learned, or none",
            )
        if text is None:
            raise InputError(
                f"document `{name}` was learned in training, and only its id is known here",
                hint=f"send its {self._noun} and its {self._label_noun} too",
            )
        if given is not None and given != text:
            noun = self._noun
            raise Conflict(f"document `{name}` was learned with another {noun}", hint=f"leave the {noun} out")
        change = Change(-1, name, label, text)
        was_forgotten = state is not None and state.was_forgotten
        if self._live.base.label_of(name) is not None and not was_forgotten:
            rest = self._live.rest() if self._trial_rest is None else self._trial_rest
            self._trial_rest = without(self._live.base.model, rest, JournalEntry(0, *change, ""))
        return change


def _labels(documents: Sequence[Learned]) -> set[str]:
    """All labels of documents; refuses one that comes twice in a list, or that would be read as several."""
    found: set[str] = set()
    for at, document in enumerate(documents):
        if isinstance(document, Document | RowDocument):
            found.add(document.label)
            continue
        for place, label in enumerate(document.labels):
            where = f"`documents[{at}].labels[{place}]`"
            if MARK in label:
                raise InputError(
                    f"{where} has a record separator (U+001E) in it", hint="give it another name"
                )
            if label in document.labels[:place]:
                raise InputError(f"{where}: `{label}` comes twice", hint="send every label once")
        found |= {*document.labels}
    return found
