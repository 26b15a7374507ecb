"""What corrections change, and whether they may: checked before anything is put on disk."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from textodds.errors import Conflict, InputError, Unsupported, suggestion
from textodds.serve.journal import Change, Journal, JournalEntry, State
from textodds.serve.live_model import Live
from textodds.serve.messages import Changed, Document, ForgetRequest, Forgotten, LearnRequest
from textodds.stats.tally import Tally


class Group:
    """Requests that go to disk together, each checked against what those before it will have changed."""

    def __init__(
        self, live: Live, journal: Journal, requests: Iterable[LearnRequest | ForgetRequest]
    ) -> None:
        self._live = live
        ids = [document.id for request in requests for document in request.documents]
        self._states = journal.states(name for name in ids if name is not None)
        self._classes, self._waiting = live.labels()
        self._cannot = live.base.cannot_learn
        self.changes: list[Change] = []
        self.rest: Tally | None = None

    def check(self, request: LearnRequest | ForgetRequest) -> tuple[list[Changed], list[Change]]:
        """What becomes of each document, and what that changes; an error, if one cannot be done."""
        if self._cannot is not None:
            raise Unsupported(
                self._cannot, hint="serve a model of naive Bayes: `textodds train DATA --learner multinomial`"
            )
        self._trial: dict[str, State] = {}
        self._trial_rest = self.rest
        outcomes: list[Changed] = []
        changes: list[Change] = []
        if isinstance(request, LearnRequest) and not request.new_labels:
            self._must_be_labels({document.label for document in request.documents})
        for document in request.documents:
            if isinstance(document, Document):
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

    def _state(self, name: str) -> State | None:
        return self._trial.get(name) or self._states.get(name)

    def _must_be_labels(self, labels: set[str]) -> None:
        known = {*self._classes, *self._waiting.values()}
        for label in sorted(labels - known):
            raise InputError(
                f"there is no class `{label}`{suggestion(label, known)}",
                hint="for a new class send `new_labels: true`",
            )

    def _learning_change(self, name: str, document: Document) -> Change | None:
        """The change that learns a document; None if it was learned before."""
        state = self._state(name)
        if state is None:
            document_ids = self._live.base.model.document_ids
            label = None if document_ids is None else document_ids.label_of(name)
            if label is not None and label != document.label:
                raise _conflict(name, label, document.label)
            fresh = label is None
        elif state.last.sign < 0:
            fresh = True
        else:
            if state.last.label != document.label:
                raise _conflict(name, state.last.label, document.label)
            if state.last.text != document.text:
                raise Conflict(
                    f"document `{name}` was learned with another text",
                    hint="give every document an id of its own",
                )
            fresh = False
        return Change(1, name, document.label, document.text) if fresh else None

    def _forgetting_change(self, document: Forgotten) -> Change | None:
        """The change that forgets a document; None if it is not there."""
        name, state, base = document.id, self._state(document.id), self._live.base
        text: str | None
        if state is not None and state.last.sign < 0:
            return None
        of_training = base.has(name) and not (state is not None and state.was_forgotten)
        if state is not None:
            label, text = state.last.label, state.last.text
        elif of_training:
            label = base.model.document_ids.label_of(name) or ""  # type: ignore[union-attr]
            text = document.text
        else:
            return None
        if document.label is not None and document.label != label:
            raise Conflict(
                f"document `{name}` was learned as `{label}`, and is to be forgotten as `{document.label}`",
                hint="give the label under which it was learned, or none",
            )
        if text is None:
            raise InputError(
                f"document `{name}` was learned in training, and only its id is known here",
                hint="send its text and its label too",
            )
        if document.text is not None and document.text != text:
            raise Conflict(f"document `{name}` was learned with another text", hint="leave the text out")
        change = Change(-1, name, label, text)
        if of_training:
            rest = self._live.rest() if self._trial_rest is None else self._trial_rest
            self._trial_rest = self._live.without(rest, JournalEntry(0, *change, ""))
        return change


def _conflict(name: str, before: str, now: str) -> Conflict:
    return Conflict(
        f"document `{name}` was learned as `{before}`, and now comes as `{now}`",
        hint="forget it first, then learn it under the new label",
    )
