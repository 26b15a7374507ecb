"""The work of a comparison: which models are trained on what, in which order, and what was not done."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from textodds.learn.registry import LEARNERS
from textodds.study.compare.cache import MeasurementCache, fingerprint
from textodds.study.compare.comparison import Comparison, Row, Setting
from textodds.study.compare.curves import PAIRS, Crossover, LearningCurve, nested, overtaking
from textodds.study.compare.measurement import Documents, Measurement, Task, measured
from textodds.study.compare.pairs import paired_tests

if TYPE_CHECKING:
    from textodds.training.choose import Candidate
    from textodds.training.choose.trial import Answers

Tell = Callable[[str, int, int], object]
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


@dataclass(eq=False)
class Laboratory:
    """Documents, models, and what has been measured so far.

    Work may be stopped at any moment, by an interrupt too: `comparison` is then of what there is.
    ``source`` and ``held_out`` say where the documents come from; the others are as in `textodds.compare`.
    """

    pool: Documents
    test: Documents
    candidates: Sequence[Candidate]
    source: str
    held_out: str
    sizes: tuple[int, ...]
    repeats: int
    seed: int
    budget: float | None
    threads: int | None
    keep: str | os.PathLike[str] | None

    def __post_init__(self) -> None:
        pool, test = self.pool, self.test
        self._curve_rows = np.sort(nested(test.codes, [self.seed])[:CURVE_ROWS])
        self._curve_test = test if len(self._curve_rows) == len(test) else test.at(self._curve_rows)
        known, contents = set(pool.classes), set(pool.contents())
        self.setting = Setting(
            self.source,
            pool.noun,
            len(pool),
            len(test),
            dict(zip(pool.classes, np.bincount(pool.codes).tolist(), strict=True)),
            self.held_out,
            self.seed,
            sum(content in contents for content in test.contents()),
            sum(label not in known for label in test.labels),
            len(self._curve_rows),
        )
        self._candidates = {each.name: each for each in self.candidates}
        self._done: dict[Task, Measurement] = {}
        self._cache: MeasurementCache | None = None
        if self.keep is not None:
            from textodds import __version__

            about = {"version": __version__, "train": fingerprint(pool), "test": fingerprint(test)}
            how: dict[str, object] = {"seed": self.seed}
            if any(each.textbook for each in self.candidates):
                how["textbook"] = True
            self._cache = MeasurementCache(self.keep, {**about, **how})
            self._done |= self._cache.found

    def run(self, tell: Tell = lambda *_: None) -> None:
        """Measure all models on all rows, then their learning curves while there is time."""
        tasks = [*self._whole(), *self._curve()]
        spent = 0.0
        for done, task in enumerate(tasks):
            is_whole = task.size == len(self.pool)
            if task in self._done or self._is_hopeless(task):
                continue
            if is_whole and not self._candidates[task.name].is_open:  # which comes last
                self._warm(self._candidates[task.name])
            elif spent + self._estimate(task) > self._time():
                continue
            tell(f"{task.name} on {task.size:,} {self.setting.noun}s", done, len(tasks))
            started = time.perf_counter()
            self._measure(task)
            spent += 0.0 if is_whole else time.perf_counter() - started
        tell("done", len(tasks), len(tasks))

    def _whole(self) -> list[Task]:
        return [Task(name, len(self.pool), 0) for name in self._candidates]

    def _curve(self) -> list[Task]:
        """Every size once, then every size again: where time ends, all sizes have as many repeats, about.

        What `train` chooses has no curve: it would choose something else at every size.
        """
        sizes = [size for size in self.sizes if size < len(self.pool)]
        settled = [name for name, each in self._candidates.items() if not each.is_open]
        points = product(range(self.repeats), sizes, settled)
        return [Task(name, size, repeat) for repeat, size, name in points]

    def _time(self) -> float:
        """Seconds that learning curves may take."""
        if self.budget is not None:
            return self.budget
        settled = [task for task in self._whole() if not self._candidates[task.name].is_open]
        return max(LEAST, TIMES * sum(self._done[task].seconds for task in settled if task in self._done))

    def _is_hopeless(self, task: Task) -> bool:
        """Whether the model could not be made of all rows, or of as many before."""
        before = (self._done.get(Task(task.name, size, 0)) for size in (len(self.pool), task.size))
        return any(found is not None and found.answers is None for found in before)

    def _estimate(self, task: Task) -> float:
        """Seconds that a point of a curve may take, from what larger and smaller ones have taken.

        Training of all rows takes time in proportion to them or more; of few there is also what it takes to
        begin with.
        """
        n = len(self.pool)
        first = {size: self._done.get(Task(task.name, size, 0)) for size in (*self.sizes, n)}
        if (whole := first[n]) is None:
            return 0.0
        smaller = [each.seconds for size, each in first.items() if each is not None and size <= task.size]
        least = smaller[-1] if smaller else 0.0
        share = len(self._curve_rows) / len(self.test)
        return max(whole.training.wall * task.size / n + whole.predicting.wall * share, least)

    def _measure(self, task: Task) -> None:
        candidate = self._candidates[task.name]
        if task.size == len(self.pool):
            found = measured(candidate, self.pool, self.test, self.threads, whole=True)
        else:
            beginning = np.sort(nested(self.pool.codes, [self.seed, task.repeat])[: task.size])
            some = self.pool.at(beginning)
            found = measured(candidate, some, self._curve_test, self.threads, task.repeat)
        self._done[task] = found
        if self._cache is not None:
            self._cache.add(found)

    def _warm(self, candidate: Candidate) -> None:
        few = self.pool.at(nested(self.pool.codes, [self.seed, 0])[:WARM])
        measured(candidate, few, self.test.at(np.arange(1)), self.threads)

    def comparison(self) -> Comparison:
        """What came of what has been measured so far."""
        whole = {task.name: self._done[task] for task in self._whole() if task in self._done}
        answers = {name: each.answers for name, each in whole.items() if each.answers is not None}
        settled = [name for name in answers if not self._candidates[name].is_open]
        by_size = {name: self._by_size(name) for name in settled}
        absent = [name for name in self._candidates if name not in whole]
        return Comparison(
            self.setting,
            self._table(whole),
            {name: each.reason for name, each in whole.items() if each.answers is None},
            paired_tests(answers),
            tuple(LearningCurve.of(name, found) for name, found in by_size.items() if len(self.sizes) > 1),
            tuple(self._overtakings(by_size)),
            tuple(self._missing(absent, made=set(settled))),
            not absent,
        )

    def _table(self, whole: dict[str, Measurement]) -> tuple[Row, ...]:
        rows = []
        for name, each in whole.items():
            if each.evaluation is not None:
                candidate = self._candidates[name]
                entry = LEARNERS[_first_word(each.made)] if candidate.is_open else candidate.learner.entry
                about = (name, entry.name, entry.family, each.made, each.evaluation)
                took = each.training, each.predicting, each.bytes
                rows.append(Row(*about, *took, each.notes, each.parameters))
        return tuple(sorted(rows, key=lambda row: (-row.evaluation.accuracy, row.evaluation.log_loss)))

    def _by_size(self, name: str) -> dict[int, list[Answers]]:
        """What a model answered on the rows of learning curves, repeat by repeat."""
        found: dict[int, list[Answers]] = {}
        for size in self.sizes:
            is_whole = size == len(self.pool)
            for repeat in range(1 if is_whole else self.repeats):
                each = self._done.get(Task(name, size, repeat))
                if each is not None and each.answers is not None:
                    answers = each.answers.at(self._curve_rows) if is_whole else each.answers
                    found.setdefault(size, []).append(answers)
        return found

    def _overtakings(self, by_size: dict[str, dict[int, list[Answers]]]) -> Iterator[Crossover]:
        kinds = {name: self._candidates[name].learner.entry.name for name in by_size}
        for pair in PAIRS[self.setting.noun]:
            firsts, seconds = (
                [(name, by_size[name]) for name in kinds if kinds[name] == kind] for kind in pair
            )
            for first, second, measure in product(firsts, seconds, ("error", "log_loss")):
                if (found := overtaking(measure, first, second)) is not None:
                    yield found

    def _missing(self, absent: list[str], made: set[str]) -> Iterator[str]:
        if absent:
            yield f"stopped before these models were trained: {', '.join(absent)}"
        points = [task for task in self._curve() if task.name in made]
        short: dict[int, list[str]] = {}
        for task in points:
            if task.repeat == 0 and task not in self._done:
                short.setdefault(task.size, []).append(task.name)
        for size, names in short.items():
            whose = "all models" if len(names) == len(made) else ", ".join(names)
            told = f"learning curves have no point at {size:,} {self.setting.noun}s of {whose}"
            yield f"{told}, because time ran out"
        done = sum(task in self._done for task in points)
        if done < len(points):
            yield (
                f"{done:,} of {len(points):,} points of learning curves were measured, within "
                f"{self._time():.0f} s; more time adds repetitions"
            )


def _first_word(made: str) -> str:
    """The learner that was chosen.

    >>> _first_word("nb-softmax, letters; characters-in-words 1–5")
    'nb-softmax'
    """
    return re.split("[,;]", made, maxsplit=1)[0]
