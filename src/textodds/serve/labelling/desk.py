"""Who labels what: the text that comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from textodds.errors import InputError
from textodds.serve.labelling.changes import Changes, Lease
from textodds.serve.labelling.pool import TextPool
from textodds.serve.labelling.progress import Curve
from textodds.serve.records.journal import Journal

LEASE = 600.0  # seconds for which a text is somebody's
ASK_EVERY = 5  # labels after which the most useful are asked for anew
SAMPLE = 1000  # texts that the next ones are chosen from
CHECKED = 20  # texts by which the precision of a class is estimated

Ranking = Callable[[Sequence[str]], list[int]]


class Desk(Changes):
    """Everything about labelling that requests share."""

    def __init__(self, journal: Journal, pool: TextPool, classes: Sequence[str] = ()) -> None:
        super().__init__(journal, pool, classes)
        self.curve = Curve()
        self.leases: dict[str, Lease] = {}
        self._queues: dict[str, tuple[int, list[str]]] = {}  # by the order: labels when it was made

    def _is_free(self, name: str, by: str, now: float) -> bool:
        """Whether nobody else has a text before them, or one that is nearly the same."""
        for other in self.pool.kin.get(self.pool.texts[name].kin, (name,)):
            lease = self.leases.get(other)
            if lease is not None and lease.by != by and lease.until > now:
                return False
        return True

    def waiting(self, by: str) -> Iterator[str]:
        """Texts that wait for somebody, in no order."""
        now, skipped = monotonic(), self.skipped.get(by, set())
        for name in self.pool.shuffled:
            if name not in self.labels and name not in skipped and self._is_free(name, by, now):
                yield name

    def sample(self, by: str, most: int = SAMPLE) -> list[str]:
        """So many of the texts that wait, at random."""
        return [name for name, _ in zip(self.waiting(by), range(most), strict=False)]

    def choose(self, by: str, order: str, rank: Ranking) -> str | None:
        """The text that comes next; None if none is left. ``rank`` puts texts in order, best first."""
        with self._lock:
            mine = [name for name, lease in self.leases.items() if lease.by == by and lease.chosen == order]
            given, queue = self._queues.get(order, (0, []))
        for name in mine:  # a page that was loaded again goes on where it was
            if name in self.pool.texts and name not in self.labels and self._is_open(name, by):
                return name
        if order == "random":
            return next(self.waiting(by), None)
        found: str | None = next((name for name in queue if self._is_open(name, by)), None)
        if found is None or len(self.labels) - given >= ASK_EVERY:
            sample = self.sample(by)
            texts = [self.pool.texts[name].text for name in sample]
            queue = [sample[at] for at in rank(texts)] if texts else []
            with self._lock:
                self._queues[order] = len(self.labels), queue
            found = next(iter(queue or sample), None)
        return found

    def _is_open(self, name: str, by: str) -> bool:
        if name not in self.pool.texts or name in self.labels or name in self.skipped.get(by, set()):
            return False
        return self._is_free(name, by, monotonic())

    def second(self, by: str) -> str | None:
        """A text that somebody else has labelled, for a second opinion."""
        for name in self.pool.shuffled:
            standing = self.labels.get(name)
            has_own = by in self.opinions.get(name, {})
            if standing is not None and standing.by not in ("", by) and not has_own:
                return name
        return None

    def next_of_check(self, n: int, by: str) -> str | None:
        """The next text of a sample by which the precision of a class is estimated."""
        check = self.checks.get(n)
        if check is None:
            raise InputError(f"there is no check {n}")
        waiting = [name for name in check.ids if self._is_open(name, by)]
        return waiting[0] if waiting else None

    def lease(self, name: str, by: str, chosen: str, guess: str | None) -> None:
        """Put a text before somebody."""
        now = monotonic()
        with self._lock:
            for other in [key for key, lease in self.leases.items() if lease.by == by or lease.until < now]:
                del self.leases[other]
            self.leases[name] = Lease(by, now + LEASE, chosen, guess)
