"""Corrections per second that a service acknowledges, each of them on disk before."""

from __future__ import annotations

import itertools
import os
import sqlite3
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import textodds
from bench import Bench
from cases.serve import Asked
from cases.serve_latency import learning
from corpora import TITLES, Corpus, Missing
from measure import Series, interleaved, percentiles
from result import Result, Table, Target, digits
from serving.process import Server, asking, file_system, running, serve
from textodds.serve.records.journal import SCHEMA

MANY = "16 clients"
ONE = "1 client"
SQLITE = "SQLite alone, a commit each"
DISK = "fdatasync alone"
LEAST = 1000.0  # a second
CLAIM = "acknowledged corrections of 16 clients, each on disk"


@dataclass
class Learning(Asked):
    """Clients who teach one document at a time, and wait until it is on disk."""

    commits: list[int] = field(default_factory=list)

    def time(self) -> tuple[float, float]:
        before = self.server.count("textodds_journal_commits"), self.server.count("textodds_journal_entries")
        found = super().time()
        after = self.server.count("textodds_journal_commits"), self.server.count("textodds_journal_entries")
        if after[1] - before[1] != self.n:
            raise RuntimeError(f"{self.n} were acknowledged, and {after[1] - before[1]:g} are in the journal")
        self.commits.append(int(after[0] - before[0]))
        return found

    @property
    def waits(self) -> tuple[float, float]:
        """Milliseconds until the acknowledgement, p50 and p99."""
        return percentiles([1000 * wait for load in self.loads for wait in load.latencies])


@dataclass
class Committing:
    """Rows of the journal's own table, each with a commit of its own, as durable as the journal's."""

    name: str
    path: Path
    rows: Iterator[tuple[str, str]]
    n: int
    times: int = 1
    rounds: int | None = None

    def time(self) -> tuple[float, float]:
        self.path.unlink(missing_ok=True)
        database = sqlite3.connect(self.path, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.executescript(SCHEMA)
        cpu, wall = time.process_time(), time.perf_counter()
        for n in range(self.n):
            text, label = next(self.rows)
            database.execute(
                "INSERT INTO entries VALUES (?, 1, ?, ?, ?, '2026-01-01T00:00:00.000Z', "
                "randomblob(16), randomblob(32), randomblob(32))",  # a seal has as many bytes
                (n + 1, f"alone-{n}", label, text),
            )
        used = time.process_time() - cpu, time.perf_counter() - wall
        database.close()
        return used[0] / self.n, used[1] / self.n


@dataclass
class Syncing:
    """Four kilobytes over others in a file, and then on disk; a file that grows takes longer."""

    name: str
    path: Path
    n: int
    times: int = 1
    rounds: int | None = None

    def time(self) -> tuple[float, float]:
        with self.path.open("wb", buffering=0) as file:
            file.write(b"\0" * 4096 * self.n)
            os.fsync(file.fileno())
            file.seek(0)
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(self.n):
                file.write(b"\1" * 4096)
                os.fdatasync(file.fileno())
            used = time.process_time() - cpu, time.perf_counter() - wall
        return used[0] / self.n, used[1] / self.n


def corrections(bench: Bench) -> Result:
    result = Result(
        "serve-corrections",
        "Corrections that a service acknowledges",
        "Clients who send one document each to `/v1/learn`, under an id of its own, and the next once the "
        "service has acknowledged it, which is when it is on disk. Beside them what the disk allows: rows of "
        "the same table put into SQLite one by one (write-ahead log, full synchronisation, as the journal "
        "has it), and writes of 4 KB over others in a file, each with `fdatasync`.",
    )
    columns = ("data", "who", "a second", "range", "p50 ms", "p99 ms", "documents per commit",
               "server CPU µs each")  # fmt: skip
    result.tables.append(Table("", columns))
    for name in ("sms_spam", "imdb"):
        try:
            with asking() as core:
                _learn(bench, bench.corpora[name], result, core)
        except Missing as missing:
            result.skip(str(missing))
            result.targets.append(Target(f"{CLAIM}, {TITLES[name]}", True, LEAST, None, "a second"))
    kind = file_system(bench.workspace)
    result.notes.append(
        f"Everything is in the folder for temporary files, which is on {kind} here"
        + (": **that is memory, and no disk**." if kind in ("tmpfs", "ramfs") else ".")
        + " The snapshot that is due every 10,000 corrections falls into some of the rounds."
    )
    return result


def _learn(bench: Bench, corpus: Corpus, result: Result, core: int) -> None:
    print(f"  {corpus.title}", flush=True)
    folder = bench.workspace / f"{corpus.name}-corrections"
    folder.mkdir()
    textodds.train(*corpus.train.rows, learner="multinomial").save(folder / "model")
    seconds = 0.4 if bench.quick else 1.2
    pairs = itertools.cycle(zip(corpus.test.texts, corpus.test.labels, strict=True))
    with running(core, {"service": serve(folder / "model", folder / "journal")}) as found:
        server: Server = found["service"]
        contenders = [
            Learning(MANY, server, learning(corpus, "many"), 64, connections=16),
            Learning(ONE, server, learning(corpus, "one"), 16, connections=1),
            Committing(SQLITE, folder / "alone", pairs, 50),
            Syncing(DISK, folder / "plain", 50),
        ]
        for contender in contenders:
            for _ in range(2):  # to warm up, and to see how many fill a round
                contender.n = max(32, int(seconds / contender.time()[1]))
            if isinstance(contender, Learning):
                contender.loads.clear()
                contender.commits.clear()
        series = interleaved(contenders, bench.rounds)
    clients = [who for who in contenders if isinstance(who, Learning)]
    result.record(
        corpus.name,
        series,
        each_round={who.name: who.n for who in contenders},
        commits_by_round={who.name: who.commits for who in clients},
        p50_ms={who.name: who.waits[0] for who in clients},
        p99_ms={who.name: who.waits[1] for who in clients},
    )
    for who in contenders:
        _tell(result, corpus, who, series[who.name])


def _tell(result: Result, corpus: Corpus, who: Learning | Committing | Syncing, seconds: Series) -> None:
    rates = [1 / wall for wall in seconds.seconds("wall")]
    rate = statistics.median(rates)
    row = [corpus.title, who.name, digits(rate), f"{digits(min(rates))} – {digits(max(rates))}"]
    if isinstance(who, Learning):
        shared = who.n * len(who.commits) / sum(who.commits)
        row += [*map(digits, who.waits), digits(shared), digits(1e6 * seconds.median())]
        if who.name == MANY:
            claim = f"{CLAIM}, {corpus.title}"
            result.targets.append(Target(claim, True, LEAST, rate, "a second", min(rates), max(rates)))
    result.tables[0].rows.append(row + [""] * (8 - len(row)))
