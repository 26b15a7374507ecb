"""Corrections: checked, on disk, and only then acknowledged; those that wait together share one commit.

One thread changes the journal, so that every check holds until the change is on disk. While it waits for
the disk others queue up, and go to disk together next: the busier, the more share a commit.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from textodds.errors import Conflict, InputError, TextoddsError, Unsupported, suggestion
from textodds.serve.journal import Change, Entry, Journal, State
from textodds.serve.live import Live, version_of
from textodds.serve.messages import ChangeAnswer, Changed, Document, ForgetRequest, Forgotten, LearnRequest
from textodds.serve.problems import unavailable
from textodds.tally import Tally

logger = logging.getLogger("textodds.serve")

GROUP = 4096  # documents that share a commit at most
WINDOW = 1024  # entries that may wait to be folded into the model


class Job(NamedTuple):
    """Something for the writer to do, and who waits for it."""

    work: LearnRequest | ForgetRequest | Callable[[], Any] | None  # None: stop
    future: asyncio.Future[Any]


class Writer(threading.Thread):
    """The only thread that changes the journal, and what follows from it."""

    def __init__(self, live: Live, journal: Journal, *, snapshot_every: int) -> None:
        super().__init__(name="textodds-writer", daemon=True)
        self._live, self._journal, self._every = live, journal, snapshot_every
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._broken: str | None = None
        self._may_erase = True  # whether the journal may have texts that are not learned any more
        self.commits = self.snapshots = self.failed_snapshots = 0

    @property
    def broken(self) -> str | None:
        """Why nothing can be learned any more; None while all is well."""
        return self._broken

    def submit(self, work: LearnRequest | ForgetRequest | Callable[[], Any] | None) -> asyncio.Future[Any]:
        """What becomes of a request, or of a function that may not run beside one; None stops the thread."""
        future = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, future))
        return future

    def run(self) -> None:
        """Do what comes, until told to stop."""
        if self._live.saved == self._journal.last > 0:  # a crash may have come between saving and erasing
            try:
                self._erase()
            except sqlite3.Error:  # there will be another snapshot
                logger.exception("what was forgotten could not be erased")
        while True:
            jobs = [self._jobs.get()]
            while not self._jobs.empty():
                jobs.append(self._jobs.get())
            changes = [job for job in jobs if isinstance(job.work, (LearnRequest, ForgetRequest))]
            self._commit_all(changes)
            for job in jobs:
                if callable(job.work):
                    self._do(job, job.work)
            if any(job.work is None for job in jobs):
                for job in jobs:
                    if job.work is None:
                        _settle([(job, None)])
                return
            self._keep_up()

    def _commit_all(self, jobs: Sequence[Job]) -> None:
        part: list[Job] = []
        documents = 0
        for job in jobs:
            documents += len(job.work.documents)  # type: ignore[union-attr]
            part.append(job)
            if documents >= GROUP:
                self._commit(part)
                part, documents = [], 0
        if part:
            self._commit(part)

    def _commit(self, jobs: Sequence[Job]) -> None:
        """Check requests, put what they change on disk at once, and acknowledge them."""
        try:
            results = self._committed(jobs)
        except TextoddsError as error:  # what they change together cannot be done: one by one, then
            if len(jobs) > 1:
                for job in jobs:
                    self._commit([job])
                return
            results = [(jobs[0], error)]
        except sqlite3.Error as error:
            logger.exception("the journal cannot be written")
            if "full" not in str(error):  # what the disk then has is unknown, but it is whole
                self._broken = f"the journal cannot be written: {error}"
            hint = "send it again later: by its id a document is learned once"
            failed = unavailable("journal", f"the journal cannot be written: {error}", hint)
            results = [(job, failed) for job in jobs]
        except Exception as error:
            logger.exception("a correction failed")
            results = [(job, error) for job in jobs]
        _settle(results)

    def _committed(self, jobs: Sequence[Job]) -> list[tuple[Job, Any]]:
        """What becomes of each request, once all that they change is on disk."""
        if self._broken is not None:
            return [(job, unavailable("journal", self._broken, "restart the service")) for job in jobs]
        live, first = self._live, self._journal.last
        group = _Group(live, self._journal, jobs)
        results: list[tuple[Job, Any]] = []
        for job in jobs:
            try:
                documents, changes = group.checked(job.work)  # type: ignore[arg-type]
            except TextoddsError as error:
                results.append((job, error))
                continue
            group.accept(changes)
            version = version_of(live.base.digest, first + len(group.changes))
            results.append((job, ChangeAnswer(documents, version)))
        if group.changes:
            entries = [Entry(first + n, *change, "") for n, change in enumerate(group.changes, start=1)]
            tried = live.tried(entries) if live.may_be_left_without_words else None
            self._journal.append(group.changes)
            self._may_erase |= any(change.sign < 0 for change in group.changes)
            self.commits += 1
            if tried is None:
                live.take(entries)
            else:
                live.adopt(tried)
            if group.rest is not None:
                live.now_without(group.rest)
        return results

    def _do(self, job: Job, work: Callable[[], Any]) -> None:
        try:
            _settle([(job, work())])
        except sqlite3.Error as error:
            logger.exception("the journal cannot be written")
            _settle([(job, unavailable("journal", f"the journal cannot be written: {error}"))])
        except Exception as error:
            _settle([(job, error)])

    def _keep_up(self) -> None:
        """Fold before too much waits, and save a snapshot now and then."""
        try:
            if self._live.waiting >= WINDOW:
                self._live.fold()
            if self._journal.last - self._live.saved >= self._every:
                self.save()
        except Exception:
            logger.exception("the model could not be brought up to date")

    def save(self) -> str:
        """Write a snapshot, and erase the texts that are forgotten in it; the version that it holds."""
        try:
            serving = self._live.save()
        except Exception:
            self.failed_snapshots += 1
            raise
        self.snapshots += 1
        self._erase()
        return serving.version

    def _erase(self) -> None:
        """Take texts out of the journal that a snapshot no longer needs."""
        if self._may_erase:
            base = self._live.base
            self._journal.erase(entry.seq for entry in self._journal.first_forgotten() if base.has(entry.id))
            self._may_erase = False


class _Group:
    """Requests that go to disk together, each checked against what those before it will have changed."""

    def __init__(self, live: Live, journal: Journal, jobs: Iterable[Job]) -> None:
        self._live = live
        ids = [document.id for job in jobs for document in job.work.documents]  # type: ignore[union-attr]
        self._states = journal.states(name for name in ids if name is not None)
        self._classes, self._waiting = live.labels()
        self._cannot = live.base.cannot_learn
        self.changes: list[Change] = []
        self.rest: Tally | None = None

    def checked(self, request: LearnRequest | ForgetRequest) -> tuple[list[Changed], list[Change]]:
        """What becomes of each document, and what that changes; an error, if one cannot be done."""
        if self._cannot is not None:
            raise Unsupported(
                self._cannot, hint="serve a model of naive Bayes: `textodds train DATA --learner multinomial`"
            )
        self._trial: dict[str, State] = {}
        self._trial_rest = self.rest
        told: list[Changed] = []
        changes: list[Change] = []
        if isinstance(request, LearnRequest) and not request.new_labels:
            self._must_be_labels({document.label for document in request.documents})
        for document in request.documents:
            if isinstance(document, Document):
                name = document.id or uuid.uuid4().hex
                change = self._learned(name, document)
            else:
                name, change = document.id, self._forgotten(document)
            told.append(Changed(name, change is not None))
            if change is not None:
                changes.append(change)
                was = self._state(name)
                forgotten = change.sign < 0 or (was is not None and was.was_forgotten)
                self._trial[name] = State(Entry(0, *change, ""), forgotten)
        return told, changes

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

    def _learned(self, name: str, document: Document) -> Change | None:
        """The change that learns a document; None if it was learned before."""
        state = self._state(name)
        if state is None:
            ledger = self._live.base.model.ledger
            label = None if ledger is None else ledger.label_of(name)
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

    def _forgotten(self, document: Forgotten) -> Change | None:
        """The change that forgets a document; None if it is not there."""
        name, state, base = document.id, self._state(document.id), self._live.base
        text: str | None
        if state is not None and state.last.sign < 0:
            return None
        of_training = base.has(name) and not (state is not None and state.was_forgotten)
        if state is not None:
            label, text = state.last.label, state.last.text
        elif of_training:
            label = base.model.ledger.label_of(name) or ""  # type: ignore[union-attr]
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
            self._trial_rest = self._live.without(rest, Entry(0, *change, ""))
        return change


def _conflict(name: str, before: str, now: str) -> Conflict:
    return Conflict(
        f"document `{name}` was learned as `{before}`, and now comes as `{now}`",
        hint="forget it first, then learn it under the new label",
    )


def _settle(results: Sequence[tuple[Job, Any]]) -> None:
    """Tell those who wait, all at once."""
    if results:
        loop = results[0][0].future.get_loop()
        try:
            loop.call_soon_threadsafe(_tell, results)
        except RuntimeError:  # the loop is closed: nobody waits any more
            logger.warning("nobody waited for %d answers", len(results))


def _tell(results: Sequence[tuple[Job, Any]]) -> None:
    for job, result in results:
        if job.future.done():  # who waited has gone away
            continue
        if isinstance(result, Exception):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)
