"""One model, trained on some rows and asked about others: how well it did, and what that took."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from textodds.data import Batch, read
from textodds.errors import TextoddsError, TextoddsWarning
from textodds.judge.evaluation import Evaluation, EvaluationSums, numbers_of
from textodds.learn.forms.linear import log_softmax
from textodds.learn.registry import AUTO, as_dict
from textodds.model.parameters import parameter_count
from textodds.model.tables.table_model import TableModel
from textodds.stats.tally import checked_threads
from textodds.training.choose.pool import Pool, TablePool
from textodds.training.choose.trial import Answers
from textodds.training.plan import Plan, plan_of
from textodds.training.table_columns import as_read
from textodds.training.train import train_on

if TYPE_CHECKING:
    from textodds.model.file import Model
    from textodds.training.choose import Candidate

Documents: TypeAlias = Pool | TablePool

CELLS = 4 << 20
"""Texts times classes that are scored at once, which bounds memory whatever the number of classes."""

SHORT = 0.2
"""Seconds of work below which it is done again, up to `TIMES`, and the least counts: clocks are coarse."""

TIMES = 3

REFUSALS = (TextoddsError, MemoryError, ArithmeticError, np.linalg.LinAlgError)
"""What says that a model cannot be made of these rows, rather than that something is broken."""


@dataclass(frozen=True)
class Duration:
    """Seconds of the clock, and of all processors together."""

    wall: float
    cpu: float

    def __add__(self, other: Duration) -> Duration:
        return Duration(self.wall + other.wall, self.cpu + other.cpu)


class Task(NamedTuple):
    """A model to be trained on the beginning of an order of the rows, by which its measurement is known."""

    name: str
    size: int
    repeat: int


@dataclass(frozen=True, eq=False)
class Measurement:
    """One model of ``size`` rows, or the reason why there is none.

    Models of all rows have an ``evaluation``, the ``bytes`` of their file, the number of their free
    ``parameters``, and what was chosen in making them; those of fewer rows are points of a learning curve.
    """

    name: str
    size: int
    repeat: int
    training: Duration
    predicting: Duration
    answers: Answers | None
    reason: str = ""
    evaluation: Evaluation | None = None
    bytes: int = 0
    made: str = ""
    notes: tuple[str, ...] = ()
    parameters: int = 0

    @property
    def task(self) -> Task:
        """What was to be measured."""
        return Task(self.name, self.size, self.repeat)

    @property
    def seconds(self) -> float:
        """Seconds of the clock that it took."""
        return self.training.wall + self.predicting.wall


def measured(
    candidate: Candidate,
    pool: Documents,
    test: Documents,
    threads: int | None,
    repeat: int = 0,
    *,
    whole: bool = False,
) -> Measurement:
    """The model of a candidate, trained on a pool and asked about ``test``.

    If it is of the ``whole`` of the data, it is also saved and weighed, and prediction is timed with care.
    """
    started = _now()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = _fitted(candidate, pool, threads)
            training = _since(started)
            answers, evaluation, predicting = _asked(model, test, whole=whole)
            size, made = (_saved(model), _made(model)) if whole else (0, "")
            parameters = parameter_count(model).n if whole else 0
            if candidate.is_open:
                made = f"{_chosen(model)}; {made}"
        except REFUSALS as error:
            reason = getattr(error, "problem", None) or str(error) or type(error).__name__
            nothing = Duration(0.0, 0.0)
            return Measurement(candidate.name, len(pool), repeat, _since(started), nothing, None, reason)
    notes = []
    for each in caught:
        if issubclass(each.category, TextoddsWarning):
            notes.append(str(each.message))
        elif not issubclass(each.category, (DeprecationWarning, ImportWarning)):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    about = ("", evaluation, size, made, tuple(dict.fromkeys(notes)), parameters)
    return Measurement(candidate.name, len(pool), repeat, training, predicting, answers, *about)


def _fitted(candidate: Candidate, pool: Documents, threads: int | None) -> Model:
    """The model that `textodds.train` makes of a pool."""
    learner, words = candidate.learner, candidate.words
    if isinstance(pool, Pool):
        weights = None if (pool.weights == 1.0).all() else pool.weights
        workers = checked_threads(threads)
        if candidate.is_open:
            plan = plan_of(AUTO, None, words, threads=workers)
        else:
            plan = Plan(learner, None, words, threads=workers, calibrate=not candidate.textbook)
        return train_on(read(pool.texts, pool.labels, weights), plan)
    from textodds.training.tables import train_table

    said = {name: choice for name, choice in pool.said.items() if choice != "ignore"}
    columns = pool.kinds | as_read(learner, pool.schema) | said
    table = pool.rows.columns, pool.labels, pool.rows.weights
    return train_table(*table, learner=learner, columns=columns, words=words, textbook=candidate.textbook)


def _batches(model: Model, pool: Documents) -> Iterator[Batch]:
    """The documents as a model reads them, few enough at a time."""
    if isinstance(pool, Pool):
        step = max(1, CELLS // len(model.classes_))
        for at in range(0, len(pool), step):
            yield Batch(pool.texts[at : at + step], pool.labels[at : at + step], None)
    elif isinstance(model, TableModel):
        yield from model.read(pool.rows.columns, pool.labels, labelled=True)


def _asked(model: Model, test: Documents, *, whole: bool) -> tuple[Answers, Evaluation | None, Duration]:
    """What a model says of each row, how good that is if it is wanted, and what saying it took."""
    if not whole:
        return _answered(model, test)
    _answered(model, test.at(np.arange(min(8, len(test)))))  # what is built at the first question
    answers, evaluation, cost = _answered(model, test, evaluating=True)
    for _ in range(1, TIMES):
        if cost.wall >= SHORT:
            break
        cost = min(cost, _answered(model, test)[2], key=lambda each: each.wall)
    return answers, evaluation, cost


def _answered(
    model: Model, test: Documents, *, evaluating: bool = False
) -> tuple[Answers, Evaluation | None, Duration]:
    sums, parts, spent = EvaluationSums(model.class_names), [], Duration(0.0, 0.0)
    started = _now()
    for batch in _batches(model, test):
        scores, evidence = model.score_batch(batch)
        log_posterior = log_softmax(scores)
        spent += _since(started)
        labels = batch.label_list()
        parts.append(Answers.of(log_posterior, numbers_of(labels, model.class_names)))
        if evaluating:
            sums.add(labels, log_posterior, evidence)
        started = _now()
    return Answers.joined(parts), sums.finish() if evaluating else None, spent


def _saved(model: Model) -> int:
    """Bytes of the model as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.textodds"
        model.save(path)
        return path.stat().st_size


def _chosen(model: Model) -> str:
    """The learner and the features that were chosen, or the learner that was taken for want of texts."""
    chosen = model.info.get("chosen")
    return str(model.recipe.as_dict()["learner"]["learner"] if chosen is None else chosen["tried"][0]["name"])


def _made(model: Model) -> str:
    """What was chosen in making a model, in a few words."""
    if isinstance(model, TableModel):
        kinds = [choice.conditional for choice in model.recipe.choices if choice.conditional != "left out"]
        return ", ".join(dict.fromkeys(kinds)) if len(set(kinds)) <= 2 else f"{len(kinds)} columns"
    settings, recipe = model.recipe.settings, model.recipe
    shortest, longest = settings.ngrams
    parts = [f"{settings.unit}" + ("" if longest == 1 else f" {shortest}–{longest}")]
    if settings.characters:
        parts.append("characters {}–{}".format(*settings.characters))
    if recipe.weighting is not None and recipe.weighting.idf:
        parts.append("tf-idf")
    fit = model.info.get("fit") or {}
    for name, value in (("α", as_dict(recipe.learner).get("alpha")), ("C", fit.get("C"))):
        if isinstance(value, (int, float)):
            parts.append(f"{name}\u00a0=\u00a0{value:.3g}")
            break
    return ", ".join(parts)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(started: tuple[float, float]) -> Duration:
    wall, cpu = _now()
    return Duration(wall - started[0], cpu - started[1])
