"""A running service: the model that answers, the writer, the requests under way, and their limits."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import ParamSpec, TypeVar

from textodds.errors import Unsupported
from textodds.serve.blank import NothingLearned, is_blank
from textodds.serve.bodies import Bodies
from textodds.serve.comparison import ComparedModel
from textodds.serve.first_look import Examples
from textodds.serve.labelling.desk import Desk
from textodds.serve.labelling.pool import TextPool
from textodds.serve.metrics import Metrics
from textodds.serve.protocol import problems
from textodds.serve.protocol.problems import too_large
from textodds.serve.records.audit import AuditLog
from textodds.serve.records.journal import Journal
from textodds.serve.records.snapshot import must_be_new
from textodds.serve.rows import length_of, warm_up
from textodds.serve.settings import Settings
from textodds.serve.tokens import Tokens
from textodds.serve.updates.fold import Base, ServedModel, new_model, open_model
from textodds.serve.updates.live_model import Live
from textodds.serve.updates.solver import Solver
from textodds.serve.updates.solver_process import SolverProcess
from textodds.serve.updates.writer import Writer
from textodds.serve.uploads import Uploads

P = ParamSpec("P")
T = TypeVar("T")

BRIEF = 100_000  # characters that are read so quickly that nobody need step aside for them
BODIES = 16  # large bodies that may be awaited at the same time
SWEEP = 0.25  # seconds between looks at what has taken too long


class Service:
    """Everything that requests share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokens = Tokens(settings)
        self.audit = None if settings.audit is None else AuditLog(settings.audit)
        base = new_model() if settings.new else open_model(settings.model)
        if settings.new:
            must_be_new(settings, base.digest)
        is_new = not settings.journal.exists()
        base = base._replace(fixed=_why_fixed(settings, base))
        self.journal = Journal(settings.journal if base.fixed is None else ":memory:")
        self._beside = SolverProcess()
        try:
            self.live = Live(settings, self.journal, base, self._beside)
        except BaseException:
            self.journal.close()
            if is_new and base.fixed is None:  # the place stays free for the one that is missing
                settings.journal.unlink(missing_ok=True)
            raise
        warm_up(self.live.serving.model)
        every = settings.snapshot_every
        self.writer = Writer(self.live, self.journal, snapshot_every=every, audit=self.audit)
        self.solver = Solver(self.live)
        self.under_way: set[asyncio.Task[object]] = set()  # requests that are being answered
        self._until: dict[asyncio.Task[object], float] = {}  # how long each may take, sent or answered
        self._overdue: set[asyncio.Task[object]] = set()
        self._folding: asyncio.Future[ServedModel] | None = None
        self._pool = ThreadPoolExecutor(2, "textodds-reader")
        self._long = ThreadPoolExecutor(2, "textodds-long")  # for what may take seconds: others need not wait
        self._sweeping: asyncio.Task[None] | None = None
        self.uploads = Uploads()
        self._desk: Desk | None = None
        self.examples = Examples(settings, base.model)
        self.comparison = ComparedModel(settings.compare, base)
        self.bodies = Bodies(BODIES * settings.body)
        self.metrics = Metrics(self)
        self.is_stopping = False

    def desk(self) -> Desk:
        """Who labels what, as it is on disk now; refuses models whose documents cannot be labelled here."""
        base = self.live.base
        if base.reads_rows or base.several_labels:
            kind = "reads rows" if base.reads_rows else "gives several labels a text"
            raise Unsupported(
                f"texts are labelled with one label each, and the model {kind}",
                hint="correct its answers on the page, or send /v1/learn",
            )
        if base.cannot_learn is not None:
            raise Unsupported(
                f"the model cannot learn labels: {base.cannot_learn}",
                hint="label for a new model: `textodds serve NEW.textodds --new`",
            )
        if self._desk is None:
            path = self.settings.journal
            self._desk = Desk(
                self.journal, TextPool(path.with_name(f"{path.name}.texts")), self.settings.classes
            )
        else:
            self._desk.refresh()
        return self._desk

    async def start(self) -> None:
        """Begin to take corrections, to solve what they change, and to look at the clock."""
        self.writer.start()
        self.solver.start()
        self._sweeping = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        """Finish what was taken, save a snapshot and close the journal."""
        self.is_stopping = True
        self.solver.stop()
        if self._sweeping is not None:
            self._sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeping
        if self.journal.last > self.live.saved and self.live.base.cannot_learn is None:
            with contextlib.suppress(Exception):  # all that it would hold is in the journal
                await self.writer.submit(self.writer.save)
        await self.writer.submit(None)
        self.writer.join()
        self._beside.close()
        for pool in (self._pool, self._long):
            pool.shutdown(wait=False, cancel_futures=True)  # nobody waits for what is left in them
        if self._desk is not None:
            self._desk.pool.close()
        self.journal.close()
        if self.audit is not None:
            self.audit.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            now = perf_counter()
            for task, until in list(self._until.items()):
                if now > until and task not in self._overdue:
                    self._overdue.add(task)
                    task.cancel()

    def expect(self, task: asyncio.Task[object], until: float) -> None:
        """Wait for what a request has to say, and for its answer, until then and no longer."""
        self._until[task] = until

    def admit(self, task: asyncio.Task[object]) -> None:
        """Let a request in that has been read, unless there are too many."""
        if len(self.under_way) >= self.settings.requests:
            raise problems.unavailable(
                "limit.requests", f"{self.settings.requests} requests are being answered already"
            )
        self.under_way.add(task)

    def dismiss(self, task: asyncio.Task[object]) -> None:
        """A request is answered."""
        self.under_way.discard(task)
        self._until.pop(task, None)
        self._overdue.discard(task)

    def is_overdue(self, task: asyncio.Task[object]) -> bool:
        """Whether a request was ended because it took too long."""
        return task in self._overdue

    async def serving(self) -> ServedModel:
        """The model that holds every correction acknowledged so far; refuses one that has learned nothing."""
        serving = await self.standing()
        if is_blank(serving.model):
            raise NothingLearned
        return serving

    async def standing(self) -> ServedModel:
        """The model that holds every correction acknowledged so far, which may be blank."""
        if not self.live.waiting:
            return self.live.serving
        wanted = self.live.acknowledged
        while self.live.serving.seq < wanted:
            if self._folding is None or self._folding.done():
                loop = asyncio.get_running_loop()
                self._folding = loop.run_in_executor(self._pool, self.live.fold)
            await asyncio.shield(self._folding)
        return self.live.serving

    async def aside(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function returns, which takes its time beside other requests."""
        return await asyncio.wrap_future(self._pool.submit(work, *args, **kwargs))

    async def at_length(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function returns, which may take seconds."""
        return await asyncio.wrap_future(self._long.submit(work, *args, **kwargs))

    def must_be_short(self, texts: Iterable[str], most: int | None = None) -> int:
        """The characters of texts; refuses one that is too long."""
        most = self.settings.text if most is None else most
        lengths = [len(text) for text in texts]
        if max(lengths, default=0) > most:
            row = next(row for row, length in enumerate(lengths) if length > most)
            raise too_large(
                "text",
                f"text {row} has {lengths[row]:,} characters, and may have {most:,}",
                "shorten it; the beginning of a text usually decides",
            )
        return sum(lengths)

    def must_be_short_rows(self, rows: Iterable[Mapping[str, object]], most: int | None = None) -> None:
        """Refuse a row whose texts are too long."""
        most = self.settings.text if most is None else most
        for at, row in enumerate(rows):
            if (length := length_of(row)) > most:
                problem = f"row {at} has {length:,} characters, and may have {most:,}"
                raise too_large("text", problem, "shorten its texts")

    def must_have_room(self) -> None:
        """Refuse to be called ready while the disk of the journal has no room for another request."""
        if self.live.base.cannot_learn is not None:
            return
        free = shutil.disk_usage(self.settings.journal.parent).free
        if free < self.settings.body:
            raise problems.unavailable(
                "journal",
                f"the disk of the journal has {free:,} bytes left, and a request may have "
                f"{self.settings.body:,}",
                "make room on it: it answers, and learns what fits",
            )

    def must_be_few(self, number: int) -> None:
        """Refuse too many texts or documents at once."""
        if number > self.settings.batch:
            raise too_large(
                "batch",
                f"the request has {number:,} texts, and may have {self.settings.batch:,}",
                "send them in several requests",
            )


def _why_fixed(settings: Settings, base: Base) -> str | None:
    """Why a service needs no journal; None if it needs one."""
    if settings.read_only:
        return "the service was started with `--read-only`"
    is_there = settings.journal.exists() or settings.snapshot.exists()
    if base.cannot_learn is None or is_there:
        return None
    return "the service was started with a model that cannot learn, and has no journal: start it again"
