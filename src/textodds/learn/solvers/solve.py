"""The solver that is used unless another is asked for: dual ascent, and Newton where that is slow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from textodds.learn.solvers.dual import Ascent
from textodds.learn.solvers.newton import newton
from textodds.learn.solvers.objective import Objective, Parameters
from textodds.learn.solvers.outcome import Outcome

PATIENCE = 50
"""Epochs that dual ascent may still need, by its rate so far, before Newton's method takes over."""

Watch = Callable[[int, float], Any]
"""Told the step and the relative gap, for progress."""


def solve(
    objective: Objective,
    start: Parameters | Ascent | None = None,
    *,
    tolerance: float = 1e-4,
    max_epochs: int = 200,
    seed: int = 0,
    watch: Watch | None = None,
) -> tuple[Outcome, Ascent | None]:
    """The optimum to a proven relative gap, and the dual run, to go on from under a smaller penalty.

    Dual ascent needs an epoch for each digit where penalties are usual and rows of about one length,
    and far too many where the penalty is weak or rows are long. Its rate tells after a few epochs which
    it is; Newton's method takes over where it stands. Without a penalty, and for dense rows, Newton's
    method begins.
    """
    if not objective.penalty or not hasattr(objective.rows, "indptr"):
        given = start.parameters if isinstance(start, Ascent) else start
        begin = objective.zero() if given is None else given
        told = _told(watch, 0)
        return newton(objective, begin, tolerance=tolerance, max_steps=max_epochs, watch=told), None
    run = start if isinstance(start, Ascent) else Ascent.begin(objective, start, seed=seed)
    curve: list[tuple[int, float]] = []
    estimates: list[float] = []
    for epoch in range(1, max_epochs + 1):
        estimates.append(run.epoch())
        if watch is not None:
            watch(epoch, estimates[-1])
        rate = _rate(estimates)
        if estimates[-1] * min(rate, 1.0) > tolerance / 2 and epoch < max_epochs:
            if epoch < 5 or _epochs_left(estimates[-1], rate, tolerance) <= PATIENCE:
                continue
            return _polished(objective, run, epoch, tolerance, max_epochs, watch), run
        value, gap = run.certify()
        curve.append((epoch, value))
        if gap <= tolerance:
            return Outcome(run.parameters, value, gap, None, epoch, True, "dual", tuple(curve)), run
    return _polished(objective, run, max_epochs, tolerance, max_epochs, watch), run


def _told(watch: Watch | None, epochs: int) -> Callable[[Outcome], None] | None:
    """What Newton's method tells, for those who want the step and the gap."""
    if watch is None:
        return None
    return lambda outcome: watch(epochs + outcome.steps, outcome.gap or outcome.gradient_norm or 0.0)


def _rate(estimates: list[float]) -> float:
    """By how much an epoch has lessened the gap of late."""
    if len(estimates) < 2:
        return 1.0
    back = min(3, len(estimates) - 1)
    return float((estimates[-1] / max(estimates[-1 - back], 1e-300)) ** (1.0 / back))


def _epochs_left(gap: float, rate: float, tolerance: float) -> float:
    if gap <= tolerance:
        return 0.0
    return math.inf if rate >= 1.0 else math.log(tolerance / gap) / math.log(rate)


def _polished(
    objective: Objective, run: Ascent, epochs: int, tolerance: float, max_steps: int, watch: Watch | None
) -> Outcome:
    """Newton's method from where dual ascent stands."""
    told = _told(watch, epochs)
    outcome = newton(objective, run.parameters, tolerance=tolerance, max_steps=max_steps, watch=told)
    return replace(
        outcome,
        steps=epochs + outcome.steps,
        method="dual, newton",
        curve=tuple((epochs + step, value) for step, value in outcome.curve),
    )
