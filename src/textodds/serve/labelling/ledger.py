"""What stands: the labels of texts, who has given them, and what was skipped, by the journal and the acts.

Whoever has changed them: `Ledger.refresh` reads what has come since.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textodds.errors import InputError
from textodds.serve.labelling import acts as acts_on_disk
from textodds.serve.labelling.acts import Act
from textodds.serve.labelling.pool import PREFIX, PoolText, TextPool
from textodds.serve.records.journal import Journal


class StandingLabel(NamedTuple):
    """A label that stands, who has given it, and when."""

    label: str
    by: str
    at: str
    n: int  # the act; 0 for a label that came another way


class Check(NamedTuple):
    """A sample of the texts that the model gave one label to."""

    n: int
    by: str
    label: str
    ids: tuple[str, ...]
    at: str


class Ledger:
    """Labels, acts and texts."""

    def __init__(self, journal: Journal, pool: TextPool, classes: Sequence[str] = ()) -> None:
        self._journal, self.pool, self._given_classes = journal, pool, tuple(classes)
        self._lock = threading.Lock()
        self._seq = 0
        self.acts: list[Act] = []  # all of them, in order
        self.undone: set[int] = set()
        self.labels: dict[str, StandingLabel] = {}
        self.skipped: dict[str, set[str]] = {}  # by who has skipped them
        self.opinions: dict[str, dict[str, Act]] = {}  # second ones, by text, and by who gave them
        self._decided: dict[str, int] = {}  # the last act that labelled a text
        self.checks: dict[int, Check] = {}
        self._added: list[str] = []  # classes without a text
        self._acts_of: dict[str, list[Act]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read what has come since, whoever has written it."""
        with self._lock:
            for act in acts_on_disk.after(self._journal, self.acts[-1].n if self.acts else 0):
                self._take(act)
            for entry in self._journal.after(self._seq):
                self._seq = entry.seq
                if not entry.id.startswith(PREFIX):
                    continue
                if entry.sign < 0:
                    self.labels.pop(entry.id, None)
                else:
                    who = self._who(entry.id, entry.label)
                    by, n = ("", 0) if who is None else (who.by, who.n)
                    self.labels[entry.id] = StandingLabel(entry.label, by, entry.at, n)

    def _who(self, name: str, label: str) -> Act | None:
        """The act that gave a text the label that it has, rather than one that only brought it back."""
        gave = [
            act
            for act in self._acts_of.get(name, ())
            if any(each[0] == name and each[2] == label for each in act.changes)
        ]
        given = [act for act in gave if act.kind == "label"] or gave
        return given[-1] if given else None

    def _take(self, act: Act) -> None:
        """Note an act that is on disk."""
        self.acts.append(act)
        for name, _, after in act.changes:
            self._acts_of.setdefault(name, []).append(act)  # its entry may have been read before it
            known = self.labels.get(name)
            if known is not None and not known.n and known.label == after:
                self.labels[name] = StandingLabel(known.label, act.by, known.at, act.n)
        if act.undoes is not None:
            self.undone.add(act.undoes)
        if act.kind == "class" and act.label is not None:
            self._added.append(act.label)
        elif act.kind == "check" and act.label is not None:
            ids = tuple(each[0] for each in act.changes)
            self.checks[act.n] = Check(act.n, act.by, act.label, ids, act.at)
        elif act.kind == "skip":
            self.skipped.setdefault(act.by, set()).add(act.text)
        elif act.kind == "opinion":
            self.opinions.setdefault(act.text, {})[act.by] = act
        elif act.kind == "label":
            self._decided[act.text] = act.n
        elif act.kind == "undo" and act.undoes is not None:
            self._take_back(self.act(act.undoes))

    def _take_back(self, act: Act) -> None:
        if act.kind == "skip":
            self.skipped.get(act.by, set()).discard(act.text)
        elif act.kind == "opinion":
            self.opinions.get(act.text, {}).pop(act.by, None)

    def act(self, n: int) -> Act:
        """An act by its number."""
        for act in reversed(self.acts):
            if act.n == n:
                return act
        raise InputError(f"there is no act {n}", hint="GET /v1/labelling/history lists them")

    @property
    def classes(self) -> list[str]:
        """Classes that were named before they had a text."""
        return list(dict.fromkeys([*self._given_classes, *self._added]))

    @property
    def counts(self) -> Counter[str]:
        """How many texts have each label."""
        return Counter(standing.label for standing in self.labels.values())

    def remaining(self, by: str) -> int:
        """How many texts wait for somebody."""
        skipped = self.skipped.get(by, set())
        return sum(1 for name in self.pool.texts if name not in self.labels and name not in skipped)

    def label(self, name: str) -> str | None:
        """The label of a text; None if it has none."""
        standing = self.labels.get(name)
        return None if standing is None else standing.label

    def contradictions(self) -> Iterator[list[tuple[PoolText, str, str]]]:
        """Texts that are the same or nearly, or one text of two people, under different labels."""
        groups: dict[str, list[tuple[PoolText, str, str]]] = {}
        for name, standing in self.labels.items():
            here = self.pool.texts.get(name)
            if here is None:
                continue
            group = groups.setdefault(here.kin, [])
            group.append((here, standing.label, standing.by))
            for by, act in self.opinions.get(name, {}).items():
                is_open = act.n > self._decided.get(name, 0)  # nobody has decided since
                if act.label is not None and act.label != standing.label and is_open:
                    group.append((here, act.label, by))
        for group in groups.values():
            if len({label for _, label, _ in group}) > 1:
                yield group
