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
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from textodds.errors import TextoddsError
from textodds.serve.labelling.acts import Act, ActRequest
from textodds.serve.labelling.acts import write as write_acts
from textodds.serve.protocol.messages import ChangeAnswer, ChangeRequest
from textodds.serve.protocol.problems import unavailable
from textodds.serve.records.audit import AuditLog
from textodds.serve.records.journal import Change, Journal, JournalEntry
from textodds.serve.updates.corrections import Group
from textodds.serve.updates.live_model import Live

logger = logging.getLogger("textodds.serve")

GROUP = 4096  # documents that share a commit at most
WINDOW = 1024  # entries that may wait to be folded into the model


class Job(NamedTuple):
    """Something for the writer to do, and who waits for it."""

    work: ChangeRequest | Callable[[], object] | None  # None: stop
    future: asyncio.Future[Any]
    by: str = ""  # who asks


class Writer(threading.Thread):
    """The only thread that changes the journal, and what follows from it."""

    def __init__(
        self, live: Live, journal: Journal, *, snapshot_every: int, audit: AuditLog | None = None
    ) -> None:
        super().__init__(name="textodds-writer", daemon=True)
        self._live, self._journal, self._every, self._audit = live, journal, snapshot_every, audit
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._broken: str | None = None
        self._may_erase = True  # whether the journal may have texts that are not learned any more
        self._attempted = 0  # the last entry when a snapshot was due
        self.commits = self.snapshots = self.failed_snapshots = 0

    @property
    def broken(self) -> str | None:
        """Why nothing can be learned any more; None while all is well."""
        return self._broken

    def submit(self, work: ChangeRequest | Callable[[], object] | None, by: str = "") -> asyncio.Future[Any]:
        """What becomes of a request, or of a function that may not run beside one; None stops the thread."""
        future = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, future, by))
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
            self._commit_all([job for job in jobs if isinstance(job.work, ChangeRequest)])
            for job in jobs:
                if callable(job.work):
                    self._do(job, job.work)
            if stops := [(job, None) for job in jobs if job.work is None]:
                _settle(stops)
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
            results = self._put_on_disk(jobs)
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

    def _put_on_disk(self, jobs: Sequence[Job]) -> list[tuple[Job, object]]:
        """What becomes of each request, once all that they change is on disk."""
        if self._broken is not None:
            return [(job, unavailable("journal", self._broken, "restart the service")) for job in jobs]
        live, first = self._live, self._journal.last
        group = Group(live, self._journal, [job.work for job in jobs])  # type: ignore[misc]
        results: list[tuple[Job, object]] = []
        by: list[str] = []  # who has asked for each change
        acts: list[Act] = []  # of labelling
        for job in jobs:
            try:
                documents, changes = group.check(job.work)  # type: ignore[arg-type]
            except TextoddsError as error:
                results.append((job, error))
                continue
            group.accept(changes)
            by += [job.by] * len(changes)
            acts += [job.work.act] if isinstance(job.work, ActRequest) else []
            version = live.version_after(first + len(group.changes))
            results.append((job, ChangeAnswer(documents, version)))
        if acts and not group.changes:
            self._keep((), (), acts)
        if group.changes:
            numbers = range(first + 1, first + 1 + len(group.changes))
            entries = [JournalEntry(n, *change, "") for n, change in zip(numbers, group.changes, strict=True)]
            live.must_leave_classes(entries)
            trial = live.trial(entries) if live.base.must_try else None
            self._keep(group.changes, by, acts)
            self._may_erase |= any(change.sign < 0 for change in group.changes)
            self.commits += 1
            if trial is None:
                live.take(entries)
            else:
                live.adopt(trial, entries)
            if group.rest is not None:
                live.set_rest(group.rest)
        return results

    def _keep(self, changes: Sequence[Change], by: Sequence[str], acts: Sequence[Act] = ()) -> None:
        """Put changes on disk, each with its line in the audit log, if there is one; or none of them.

        So are the acts of labelling that they come from.
        """
        audit, told = self._audit, list[JournalEntry]()
        if audit is None and not acts:
            self._journal.append(changes)
            return

        def tell(entries: Sequence[JournalEntry]) -> None:
            if acts:
                write_acts(self._journal, acts)
            if audit is not None:
                told.extend(entries)
                audit.write(entries, by)

        try:
            self._journal.append(changes, tell)
        except OSError as error:
            logger.exception("the audit log cannot be written")
            if audit is not None:
                audit.withdraw(told, by)
            problem = f"the audit log cannot be written: {error.strerror or 'no file can be opened'}"
            hint = "send it again later: nothing was learned or forgotten"
            raise unavailable("audit", problem, hint) from error
        except sqlite3.Error:
            if told and audit is not None:
                audit.withdraw(told, by)
            raise

    def _do(self, job: Job, work: Callable[[], object]) -> None:
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
            if self._journal.last - max(self._live.saved, self._attempted) >= self._every:
                self._attempted = self._journal.last  # where that fails, the next is not tried at once
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
            label_of, forgotten = self._live.base.label_of, self._journal.first_forgotten()
            self._journal.erase(entry.seq for entry in forgotten if label_of(entry.id) is not None)
            self._may_erase = False


def _settle(results: Sequence[tuple[Job, object]]) -> None:
    """Tell those who wait, all at once."""
    if results:
        loop = results[0][0].future.get_loop()
        try:
            loop.call_soon_threadsafe(_tell, results)
        except RuntimeError:  # the loop is closed: nobody waits any more
            logger.warning("nobody waited for %d answers", len(results))


def _tell(results: Sequence[tuple[Job, object]]) -> None:
    for job, result in results:
        if job.future.done():  # who waited has gone away
            continue
        if isinstance(result, Exception):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)
