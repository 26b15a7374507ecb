"""The work of a comparison: which models are trained on what, in which order, and what was not done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from textodds.learn.design import coded
from textodds.study.compare.cache import MeasurementCache
from textodds.study.compare.comparison import Comparison, Row, Setting
from textodds.study.compare.contenders import Contender
from textodds.study.compare.curves import PAIRS, Crossover, LearningCurve, overtaking
from textodds.study.compare.measures import Answers, Measurement, measured
from textodds.study.compare.pairs import paired_tests
from textodds.study.compare.rows import Rows
from textodds.study.compare.splits import nested

Tell = Callable[[str, int, int], Any]
"""Is told what is being done, how much has been done, and how much there is to do."""

CURVE_ROWS = 10_000
"""Held-out rows that points of a learning curve are measured on, at most."""

REPEATS = 5

LEAST = 30.0
"""Seconds that learning curves may take at least, where nothing else is said."""

TIMES = 2.0
"""How many times as long as the models of all rows took their learning curves may take: all sizes once take
about as long again, and what is left goes to repeats of the small ones."""

WARM = 200
"""Rows that each model is trained on once beforehand: its code is then loaded when the clock starts."""


@dataclass(frozen=True)
class Task:
    """A model to be trained on the beginning of an order of the rows."""

    candidate: Contender
    size: int
    repeat: int

    @property
    def key(self) -> tuple[str, int, int]:
        """By which its measurement is known."""
        return self.candidate.name, self.size, self.repeat


class Laboratory:
    """Rows, models, and what has been measured so far.

    Work may be stopped at any moment, by an interrupt too: `comparison` is then of what there is.
    """

    def __init__(
        self,
        rows: Rows,
        test: Rows,
        candidates: Sequence[Contender],
        *,
        source: str,
        held_out: str,
        sizes: Sequence[int],
        repeats: int = REPEATS,
        seed: int = 0,
        budget: float | None = None,
        threads: int | None = None,
        keep: str | os.PathLike[str] | None = None,
    ) -> None:
        self.rows, self.test, self.candidates = rows, test, tuple(candidates)
        self.sizes, self.repeats, self.seed = tuple(sizes), repeats, seed
        self.budget, self.threads = budget, threads
        classes, self._codes = coded(rows.labels)
        self._curve_rows = np.sort(nested(coded(test.labels)[1], [seed])[:CURVE_ROWS])
        self._curve_test = test if len(self._curve_rows) == len(test) else test.at(self._curve_rows)
        known = set(classes)
        self.setting = Setting(
            source,
            rows.noun,
            len(rows),
            len(test),
            dict(zip(classes, np.bincount(self._codes).tolist(), strict=True)),
            held_out,
            seed,
            test.shared_with(rows),  # type: ignore[arg-type]
            sum(label not in known for label in test.labels),
            len(self._curve_rows),
        )
        self._done: dict[tuple[str, int, int], Measurement] = {}
        self._kept: MeasurementCache | None = None
        if keep is not None:
            from textodds import __version__

            about = {"version": __version__, "train": rows.fingerprint(), "test": test.fingerprint()}
            self._kept = MeasurementCache(keep, {**about, "seed": seed})
            self._done |= self._kept.found

    def run(self, tell: Tell = lambda *_: None) -> None:
        """Measure all models on all rows, then their learning curves while there is time."""
        noun = self.setting.noun
        tasks = [*self._whole(), *self._curve()]
        spent = 0.0
        for done, task in enumerate(tasks):
            is_whole = task.size == len(self.rows)
            if task.key in self._done or self._is_hopeless(task):
                continue
            if is_whole:
                self._warm(task.candidate)
            elif spent + self._estimate(task) > self._time():
                continue
            tell(f"{task.candidate.name} on {task.size:,} {noun}s", done, len(tasks))
            started = time.perf_counter()
            self._measure(task)
            spent += 0.0 if is_whole else time.perf_counter() - started
        tell("done", len(tasks), len(tasks))

    def _whole(self) -> Iterator[Task]:
        for candidate in self.candidates:
            yield Task(candidate, len(self.rows), 0)

    def _curve(self) -> Iterator[Task]:
        """Every size once, then every size again: where time ends, all sizes have as many repeats, about."""
        for repeat in range(self.repeats):
            for size in self.sizes:
                if size < len(self.rows):
                    for candidate in self.candidates:
                        yield Task(candidate, size, repeat)

    def _time(self) -> float:
        """Seconds that learning curves may take."""
        if self.budget is not None:
            return self.budget
        whole = [self._done[task.key].seconds for task in self._whole() if task.key in self._done]
        return max(LEAST, TIMES * sum(whole))

    def _is_hopeless(self, task: Task) -> bool:
        """Whether the model could not be made of all rows, or of as many before."""
        before = [(task.candidate.name, len(self.rows), 0), (task.candidate.name, task.size, 0)]
        return any(key in self._done and self._done[key].answers is None for key in before)

    def _estimate(self, task: Task) -> float:
        """Seconds that a point of a curve may take, from what larger and smaller ones have taken.

        Training of all rows takes time in proportion to them or more; of few there is also what it takes to
        begin with.
        """
        name, n = task.candidate.name, len(self.rows)
        whole = self._done.get((name, n, 0))
        if whole is None:
            return 0.0
        smaller = [size for size in self.sizes if size <= task.size and (name, size, 0) in self._done]
        least = self._done[(name, smaller[-1], 0)].seconds if smaller else 0.0
        share = len(self._curve_rows) / len(self.test)
        return max(whole.training.wall * task.size / n + whole.predicting.wall * share, least)

    def _measure(self, task: Task) -> None:
        if task.size == len(self.rows):
            found = measured(task.candidate, self.rows, self.test, self.threads, whole=True)
        else:
            beginning = np.sort(nested(self._codes, [self.seed, task.repeat])[: task.size])
            rows = self.rows.at(beginning)
            found = measured(task.candidate, rows, self._curve_test, self.threads, task.repeat)
        self._done[task.key] = found
        if self._kept is not None:
            self._kept.add(found)

    def _warm(self, candidate: Contender) -> None:
        few = self.rows.at(nested(self._codes, [self.seed, 0])[:WARM])
        measured(candidate, few, self.test.at(np.arange(1)), self.threads)

    def comparison(self) -> Comparison:
        """What came of what has been measured so far."""
        whole = {
            task.candidate.name: self._done[task.key] for task in self._whole() if task.key in self._done
        }
        made = {name: each for name, each in whole.items() if each.answers is not None}
        answers = {name: each.answers for name, each in made.items() if each.answers is not None}
        by_size = {name: self._by_size(name) for name in made}
        absent = [each.name for each in self.candidates if each.name not in whole]
        return Comparison(
            self.setting,
            self._table(made),
            {name: each.reason for name, each in whole.items() if each.answers is None},
            paired_tests(answers),
            tuple(LearningCurve.of(name, found) for name, found in by_size.items() if len(self.sizes) > 1),
            tuple(self._overtakings(by_size)),
            tuple(self._missing(absent, made)),
            not absent,
        )

    def _table(self, made: dict[str, Measurement]) -> tuple[Row, ...]:
        rows = []
        for candidate in self.candidates:
            if (each := made.get(candidate.name)) is None or each.evaluation is None:
                continue
            about = (candidate.name, candidate.entry.name, candidate.entry.family, each.made, each.evaluation)
            rows.append(Row(*about, each.training, each.predicting, each.bytes, each.notes))
        return tuple(sorted(rows, key=lambda row: (-row.evaluation.accuracy, row.evaluation.log_loss)))

    def _by_size(self, name: str) -> dict[int, list[Answers]]:
        """What a model answered on the rows of learning curves, repeat by repeat."""
        found: dict[int, list[Answers]] = {}
        for size in self.sizes:
            is_whole = size == len(self.rows)
            for repeat in range(1 if is_whole else self.repeats):
                each = self._done.get((name, size, repeat))
                if each is not None and each.answers is not None:
                    answers = each.answers.at(self._curve_rows) if is_whole else each.answers
                    found.setdefault(size, []).append(answers)
        return found

    def _overtakings(self, by_size: dict[str, dict[int, list[Answers]]]) -> Iterator[Crossover]:
        kinds = {each.name: each.entry.name for each in self.candidates if each.name in by_size}
        for pair in PAIRS[self.setting.noun]:
            firsts, seconds = (
                [(name, by_size[name]) for name in kinds if kinds[name] == kind] for kind in pair
            )
            for first, second, measure in product(firsts, seconds, ("error", "log_loss")):
                if (found := overtaking(measure, first, second)) is not None:
                    yield found

    def _missing(self, absent: list[str], made: dict[str, Measurement]) -> Iterator[str]:
        noun = self.setting.noun
        if absent:
            yield f"stopped before these models were trained: {', '.join(absent)}"
        short: dict[int, list[str]] = {}
        for task in self._curve():
            if task.repeat == 0 and task.candidate.name in made and task.key not in self._done:
                short.setdefault(task.size, []).append(task.candidate.name)
        for size, names in short.items():
            whose = "all models" if len(names) == len(made) else ", ".join(names)
            yield f"learning curves have no point at {size:,} {noun}s of {whose}, for want of time"
        points = [task for task in self._curve() if task.candidate.name in made]
        done = sum(task.key in self._done for task in points)
        if done < len(points):
            yield (
                f"{done:,} of {len(points):,} points of learning curves were measured, within "
                f"{self._time():.0f} s; more time adds repeats"
            )
