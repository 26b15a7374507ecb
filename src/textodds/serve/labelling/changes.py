"""What an act changes: requests to the writer, which puts them on disk whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textodds.data.labels import plain_label
from textodds.errors import Conflict, InputError
from textodds.serve.labelling.acts import Act, ActRequest, Change3
from textodds.serve.labelling.ledger import Ledger
from textodds.serve.labelling.pool import PoolText
from textodds.serve.protocol.messages import Document, Forgotten


class Lease(NamedTuple):
    """A text that somebody has before them, why, and what the model said of it."""

    by: str
    until: float
    chosen: str
    guess: str | None


class Changes(Ledger):
    """Requests for every kind of act; which text somebody has before them is kept in memory, and lapses."""

    leases: dict[str, Lease]

    def _text(self, name: str) -> PoolText:
        found = self.pool.texts.get(name)
        if found is None:
            raise InputError(f"there is no text `{name}`", hint="drop its file again")
        return found

    def labelling(self, by: str, name: str, label: str | None, *, alike: bool = False) -> ActRequest:
        """The request that gives a text a label, or takes it away; ``alike`` also gives it to its like."""
        with self._lock:
            here, lease = self._text(name), self.leases.get(name)
            names = [name]
            if alike and label is not None:
                names += [other.id for other in self.pool.alike(name) if other.id not in self.labels]
            changes = [(each, self.label(each), label) for each in names]
            changes = [each for each in changes if each[1] != each[2]]
            is_mine = lease is not None and lease.by == by
            guess, chosen = (lease.guess, lease.chosen) if lease is not None and is_mine else (None, "edit")
            if self.label(name) is not None and chosen != "second":
                guess, chosen = None, "edit"
        act = Act(by, "label", here.id, label, guess, chosen, tuple(changes))
        return self._request(act)

    def opinion(self, by: str, name: str, label: str) -> ActRequest:
        """The request that keeps a second opinion, which changes no label."""
        return self._request(Act(by, "opinion", self._text(name).id, label, None, "second"))

    def skipping(self, by: str, name: str) -> ActRequest:
        """The request that passes a text over."""
        return self._request(Act(by, "skip", self._text(name).id))

    def checking(self, by: str, label: str, ids: Sequence[str]) -> ActRequest:
        """The request that begins to estimate the precision of a class."""
        return self._request(Act(by, "check", "", label, changes=tuple((name, None, None) for name in ids)))

    def naming(self, by: str, label: str) -> ActRequest:
        """The request that adds a class, which has no text yet."""
        label = label.strip()
        known = {plain_label(each): each for each in (*self.classes, *self.counts)}
        if not plain_label(label):
            raise InputError("the label of a new class is blank", hint="give it a visible name")
        if plain_label(label) in known:
            raise Conflict(f"there is a class `{known[plain_label(label)]}` already", hint="use that")
        return self._request(Act(by, "class", "", label))

    def last_of(self, by: str) -> Act | None:
        """The last act of somebody that can be taken back."""
        for act in reversed(self.acts):
            if act.by == by and act.kind in ("label", "skip", "opinion", "back") and act.n not in self.undone:
                return act
        return None

    def undoing(self, by: str) -> ActRequest:
        """The request that takes back the last act of somebody, and nothing else."""
        last = self.last_of(by)
        if last is None:
            raise Conflict("there is nothing to undo", hint="only your own acts are undone")
        for name, _, after in last.changes:
            if self.label(name) != after:
                raise Conflict(
                    "the label has been changed since, by somebody else or in the history",
                    hint="change it there",
                )
        changes = tuple((name, after, before) for name, before, after in last.changes)
        return self._request(Act(by, "undo", last.text, changes=changes, undoes=last.n))

    def going_back(self, by: str, n: int) -> ActRequest:
        """The request that puts every label as it was after an act; it can be undone like any other."""
        if n:
            self.act(n)
        then: dict[str, str | None] = {}
        for act in self.acts:
            if act.kind == "check":
                continue
            for name, before, after in act.changes:
                if act.n <= n:
                    then[name] = after
                else:
                    then.setdefault(name, before)
        changes: list[Change3] = []
        for name, label in then.items():
            if self.label(name) != label and name in self.pool.texts:
                changes.append((name, self.label(name), label))
        if not changes:
            raise Conflict("the labels are as they were then", hint="choose an earlier state")
        return self._request(Act(by, "back", "", str(n), changes=tuple(changes)))

    def _request(self, act: Act) -> ActRequest:
        documents: list[Forgotten | Document] = []
        for name, before, after in act.changes:
            if before is not None:
                documents.append(Forgotten(id=name, label=before))
            if after is not None:
                documents.append(Document(id=name, text=self._text(name).text, label=after))
        return ActRequest(documents=documents, act=act, new_labels=True)
