"""Timings of contenders that take turns, so that a busy minute hurts them all alike."""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

LAUNCHER = Path(__file__).with_name("launch.py")

Basis = Literal["cpu", "wall"]


class ChildFailed(Exception):
    """A measured command ended with an error."""


@dataclass(frozen=True)
class Timing:
    """Seconds one run took, and the round it belongs to."""

    round: int
    cpu: float
    wall: float


class Contender(Protocol):
    """Something to be timed."""

    name: str
    times: int  # runs in each round
    rounds: int | None  # take part in the first so many rounds only

    def time(self) -> tuple[float, float]:
        """CPU and wall seconds of one run."""


@dataclass
class InProcess:
    """A function of this process: CPU seconds are those of all its threads.

    ``prepare`` makes the argument of ``run`` and is not timed. The last ``result`` is kept, so that
    its quality can be looked at.
    """

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = lambda: None
    times: int = 1
    rounds: int | None = None
    result: Any = None

    def time(self) -> tuple[float, float]:
        self.result = None
        argument = self.prepare()
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        self.result = self.run(argument)
        return time.process_time() - cpu, time.perf_counter() - wall


@dataclass(frozen=True)
class ChildRun:
    """What a command used and said; ``peak`` is its largest resident memory in bytes."""

    cpu: float
    wall: float
    peak: int
    out: str


@dataclass
class Child:
    """A command in a process of its own: CPU seconds are those of that process, from start to end."""

    name: str
    argv: Sequence[str]
    stdin: str = ""
    env: dict[str, str] = field(default_factory=dict)
    times: int = 1
    rounds: int | None = None
    runs: list[ChildRun] = field(default_factory=list)

    def time(self) -> tuple[float, float]:
        run = run_child(self.argv, stdin=self.stdin, env=self.env)
        self.runs.append(run)
        return run.cpu, run.wall


def run_child(argv: Sequence[str], *, stdin: str = "", env: dict[str, str] | None = None) -> ChildRun:
    """What one command used, run to its end."""
    order = json.dumps({"argv": list(argv), "stdin": stdin, "env": env or {}})
    launched = subprocess.run(
        [sys.executable, "-S", "-E", str(LAUNCHER)], input=order, capture_output=True, text=True, check=True
    )
    told = json.loads(launched.stdout)
    if told["code"] != 0:
        raise ChildFailed(f"{' '.join(argv)[:200]} ended with {told['code']}: {told['err'].strip()[-500:]}")
    return ChildRun(told["cpu"], told["wall"], told["peak"], told["out"])


@dataclass(frozen=True)
class Series:
    """All timings of one contender."""

    name: str
    timings: tuple[Timing, ...]

    def seconds(self, basis: Basis = "cpu") -> list[float]:
        return [getattr(timing, basis) for timing in self.timings]

    def median(self, basis: Basis = "cpu") -> float:
        return statistics.median(self.seconds(basis))

    def best(self, basis: Basis = "cpu") -> float:
        return min(self.seconds(basis))

    def of_round(self, number: int, basis: Basis = "cpu") -> float | None:
        """The median of one round, if it took part."""
        values = [getattr(timing, basis) for timing in self.timings if timing.round == number]
        return statistics.median(values) if values else None


@dataclass(frozen=True)
class Ratio:
    """How many times faster one contender was than another.

    ``value`` is the ratio of the medians, ``low`` and ``high`` the extremes among the rounds, ``best``
    the ratio of the fastest runs.
    """

    value: float
    low: float
    high: float
    best: float

    @classmethod
    def of(cls, slower: Series, faster: Series, basis: Basis = "cpu") -> Ratio:
        rounds = sorted(
            {timing.round for timing in slower.timings} & {timing.round for timing in faster.timings}
        )
        each = []
        for number in rounds:
            a, b = slower.of_round(number, basis), faster.of_round(number, basis)
            if a is not None and b is not None:
                each.append(a / b)
        return cls(
            slower.median(basis) / faster.median(basis),
            min(each),
            max(each),
            slower.best(basis) / faster.best(basis),
        )


def interleaved(contenders: Iterable[Contender], rounds: int) -> dict[str, Series]:
    """Timings of contenders that run A B C, A B C, …; by name."""
    contenders = list(contenders)
    timings: dict[str, list[Timing]] = {contender.name: [] for contender in contenders}
    for number in range(rounds):
        for contender in contenders:
            if contender.rounds is not None and number >= contender.rounds:
                continue
            for _ in range(contender.times):
                timings[contender.name].append(Timing(number, *contender.time()))
    return {name: Series(name, tuple(runs)) for name, runs in timings.items()}


def percentiles(microseconds: Sequence[float]) -> tuple[float, float]:
    """The 50th and the 99th percentile."""
    cuts = statistics.quantiles(microseconds, n=100)
    return cuts[49], cuts[98]
