"""One model, trained on some rows and asked about others: how well it did, and what that took."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds.errors import TextoddsError, TextoddsWarning
from textodds.judge.evaluation import Evaluation, evaluate
from textodds.learn.forms.linear import log_softmax
from textodds.learn.registry import as_dict
from textodds.model.text_model import TextModel
from textodds.study.compare.rows import Rows

if TYPE_CHECKING:
    from textodds.study.compare.contenders import Contender

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


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model said of each of N rows.

    ``loss`` is ``-log p(label | row)``, NaN where the model has no such label, which is always wrong.
    """

    right: NDArray[np.bool_]  # (N,)
    loss: NDArray[np.float32]  # (N,)

    def at(self, rows: NDArray[np.int64]) -> Answers:
        """Those on some of the rows."""
        return Answers(self.right[rows], self.loss[rows])

    @property
    def error(self) -> float:
        """Share of wrong answers."""
        return float(1.0 - self.right.mean())

    @property
    def log_loss(self) -> float:
        """Mean loss of the rows whose label the model has."""
        known = ~np.isnan(self.loss)
        return float(self.loss[known].mean(dtype=np.float64)) if known.any() else float("nan")


@dataclass(frozen=True, eq=False)
class Measurement:
    """One model of ``size`` rows, or the reason why there is none.

    Models of all rows have an ``evaluation``, the ``bytes`` of their file, and what was chosen in making
    them; those of fewer rows are points of a learning curve.
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

    @property
    def key(self) -> tuple[str, int, int]:
        """By which it is known among the others."""
        return self.name, self.size, self.repeat

    @property
    def seconds(self) -> float:
        """Seconds of the clock that it took."""
        return self.training.wall + self.predicting.wall


def measured(
    candidate: Contender, rows: Rows, test: Rows, threads: int | None, repeat: int = 0, *, whole: bool = False
) -> Measurement:
    """The model of a candidate, trained on ``rows`` and asked about ``test``.

    If it is of the ``whole`` of the data, it is also saved and weighed, and prediction is timed with care.
    """
    started = _now()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model: Any = rows.model(candidate, threads)
            training = _since(started)
            answers, evaluation, predicting = _asked(model, test, whole=whole)
            size, made = (_saved(model), _made(model)) if whole else (0, "")
        except REFUSALS as error:
            reason = getattr(error, "problem", None) or str(error) or type(error).__name__
            nothing = Duration(0.0, 0.0)
            return Measurement(candidate.name, len(rows), repeat, _since(started), nothing, None, reason)
    notes = []
    for each in caught:
        if issubclass(each.category, TextoddsWarning):
            notes.append(str(each.message))
        elif not issubclass(each.category, (DeprecationWarning, ImportWarning)):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    about = ("", evaluation, size, made, tuple(dict.fromkeys(notes)))
    return Measurement(candidate.name, len(rows), repeat, training, predicting, answers, *about)


def _asked(model: Any, test: Any, *, whole: bool) -> tuple[Answers, Evaluation | None, Duration]:
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
    model: Any, test: Any, *, evaluating: bool = False
) -> tuple[Answers, Evaluation | None, Duration]:
    index = {name: k for k, name in enumerate(model.classes_)}
    right, loss = [np.zeros(0, np.bool_)], [np.zeros(0, np.float32)]
    spent = Duration(0.0, 0.0)

    def scored() -> Iterator[tuple[list[str], NDArray[np.float64], NDArray[np.uint32]]]:
        nonlocal spent
        started = _now()
        for batch in test.batches(model):
            scores, evidence = model.score_batch(batch)
            log_posterior = log_softmax(scores)
            spent += _since(started)
            labels = batch.label_list()
            truth = np.array([index.get(label, -1) for label in labels])
            right.append(log_posterior.argmax(axis=1) == truth)
            own = -log_posterior[np.arange(len(truth)), truth]
            loss.append(np.where(truth >= 0, own, np.nan).astype(np.float32))
            yield labels, log_posterior, evidence
            started = _now()

    evaluation = evaluate(scored(), model.classes_) if evaluating else None
    if not evaluating:
        for _ in scored():
            pass
    return Answers(np.concatenate(right), np.concatenate(loss)), evaluation, spent


def _saved(model: Any) -> int:
    """Bytes of the model as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.textodds"
        model.save(path)
        return path.stat().st_size


def _made(model: Any) -> str:
    """What was chosen in making a model, in a few words."""
    if not isinstance(model, TextModel):
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
