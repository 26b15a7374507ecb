"""Choosing by a race: all candidates on few texts, the better ones on more, the best on all."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Required, TypedDict, Unpack

import numpy as np

from textodds.data import Observer
from textodds.errors import InputError
from textodds.judge.baseline import Baseline
from textodds.learn.held_out import FEWEST_TO_CHOOSE, FOLDS, held_out, tells_classes_apart
from textodds.learn.recipe import Recipe
from textodds.learn.registry import name_of
from textodds.learn.softmax.pool_choice import LEAST
from textodds.training.choose.candidates import Candidate, Pins, candidates, open_candidates, usual
from textodds.training.choose.pool import Pool, PooledSource
from textodds.training.choose.trial import VISIT, Trial, Trials

BUDGET = 60.0
"""Seconds of an ordinary core that choosing and learning may take: enough for a million short texts."""

FIRST, FIRST_SIZE = 2500, 3 << 19
"""Texts that all candidates are tried on, or fewer of so many characters, but no fewer than `FEWEST`."""

LAST, LAST_SIZE = 8000, 6 << 20
"""Likewise, of those that the best are tried on: more would not change the choice, only its price."""

FEWEST = 1000

FEW = 300
"""Texts below which words of a single text are kept."""

ENOUGH_FIRST, ENOUGH = 500, 2000
"""Held-out texts in the first lap and in the last, or fewer of a fifth of those characters, but in a last lap
after another no fewer than in the first."""

GROWTH, SLACK = 4, 0.08
"""Share of the best loss by which a candidate may be behind and stay in, if the next lap has `GROWTH` times
the texts. Models of many parameters gain most from more: what is that close now may be ahead then. Where
counts lead, softmax may be behind by what all texts there are may bring: it overtakes them sooner or later
(Ng and Jordan, 2001, "On discriminative vs. generative classifiers")."""

MOST, MOST_COUNTS = 3, 2
"""Kinds of features with which softmax goes on to the next lap, and learners from counts that do."""

SURE = 2.0
"""Standard errors by which a candidate must be behind to be out."""

HOPELESS = 1.2
"""Times the best loss so far at which a learner from counts is not tried on more features."""

FIRST_SHARE = 0.4
"""Share of the budget after which no further candidate enters the first lap."""

FINISH = 3.0
"""Times what a trial took on one fold that learning from all texts takes."""

POOLED, MOST_POOLED = 30.0, 3
"""Times that a visit to every word of a sample takes which a pool with naive Bayes takes, and how many of the
best trials are tried so."""

BEHIND, NO_TIME, NO_ROOM, NO_TERM = "behind", "no time", "no room", "no term"

CELL, TRIAL = 32, 1.5
"""Bytes that a word of a text takes, and how often a trial has them."""

UNKNOWN_MEMORY = 4 << 30
"""Bytes of memory that there are, where nobody says."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The outcome of a race."""

    winner: Trial
    trials: tuple[
        Trial, ...
    ]  # the last of everything that was tried, on most texts and with least loss first
    fate: dict[str, str]  # why a candidate did not go on: `BEHIND`, `NO_TIME`, `NO_ROOM` in memory, `NO_TERM`
    seconds: float  # that an ordinary core takes for the race, by the work that it was
    budget: float  # that it was given

    @property
    def recipe(self) -> Recipe:
        """The recipe that was chosen, its penalty included."""
        return self.winner.recipe

    def report(self) -> dict[str, object]:
        """The choice as plain data, for the model file; without times, so that the file is the same again."""
        return {
            "features": self.winner.candidate.features,
            "learner": self.winner.candidate.learner.entry.name,
            "log_loss": self.winner.log_loss,
            "accuracy": self.winner.answers.accuracy,
            "largest_class": self._baseline().as_dict(),
            "held_out": len(self.winner.answers.loss),
            "texts": self.winner.n,
            "budget": self.budget,
            "tried": [self._line(trial) for trial in self.trials],
            **{
                why.replace(" ", "_"): [name for name, fate in self.fate.items() if fate == why]
                for why in (NO_TIME, NO_ROOM)
            },
        }

    def _baseline(self) -> Baseline:
        """What the largest class alone would get on the held-out texts of the winner, by weight."""
        held, classes = self.winner.held, self.winner.classes
        rows = np.bincount(held.codes, held.weights, len(classes)).tolist()
        return Baseline.of(zip(classes, rows, strict=True))

    def _line(self, trial: Trial) -> dict[str, object]:
        """One candidate: how well it did and, if on the same texts as the winner, how far behind it is."""
        line: dict[str, object] = {
            "name": trial.candidate.name,
            "texts": trial.n,
            "log_loss": trial.log_loss,
            "accuracy": trial.answers.accuracy,
        }
        if trial is not self.winner and len(trial.answers.loss) == len(self.winner.answers.loss):
            behind, error = trial.answers.behind(self.winner.answers)
            line |= {"behind": behind, "error": error, "sure": sureness(behind, error)}
        return line


def sureness(behind: float, error: float) -> float:
    """Probability that what is behind by so much, with this standard error, is behind in truth.

    Examples
    --------
    >>> round(sureness(0.0196, 0.01), 3)
    0.975
    """
    if error == 0:
        return 1.0 if behind > 0 else 0.5
    return 0.5 * math.erfc(-behind / error / math.sqrt(2))


@dataclass
class _Board:
    """The last trial of each candidate, and why those that are out are."""

    budget: float
    spent: float = 0.0
    last: dict[str, Trial] = field(default_factory=dict)
    fate: dict[str, str] = field(default_factory=dict)

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - self.spent


class RaceOptions(TypedDict, total=False):
    """What `race` takes beside the candidates."""

    budget: float
    threads: Required[int]
    calibrate: bool
    spent: float
    observer: Observer | None


def settle(
    pooled: PooledSource, wanted: Pins | Recipe, **limits: Unpack[RaceOptions]
) -> tuple[Recipe, Choice | None]:
    """The best recipe that is not ruled out, and how it was chosen; the usual one if too little tells.

    ``wanted`` is what is not left to choose, or a recipe of which only the features are.
    """
    if isinstance(wanted, Pins):
        field = candidates(wanted)
        if pooled.is_endless:  # what has to be read once, and does not fit, can only be counted
            field = [one for one in field if not one.learner.entry.needs_documents] or field[:1]
    else:
        field = open_candidates(wanted)
    limits["spent"] = pooled.seconds
    choice = chosen(pooled.pool, field, **limits)
    if choice is not None:
        return choice.recipe, choice
    return usual(wanted) if isinstance(wanted, Pins) else replace(wanted, is_open=False), None


def chosen(pool: Pool, field: Sequence[Candidate], **limits: Unpack[RaceOptions]) -> Choice | None:
    """The best candidate; None if there is none to choose from, or too little to choose by."""
    budget = limits.get("budget", BUDGET)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget >= 0:
        raise InputError(f"the budget is {budget!r}", hint="give seconds, such as 60")
    if len(pool.classes) == 2:  # the complement of one class is the other
        named = {name_of(one.learner) for one in field}
        field = [one for one in field if name_of(one.learner) != "complement" or "multinomial" not in named]
    if len(field) < 2 or len(pool) < FEWEST_TO_CHOOSE or not can_tell(pool):
        return None
    if len(pool) < FEW:
        field = [one.of_few() for one in field]
    return race(pool, field, **limits)


def race(
    pool: Pool,
    contenders: Sequence[Candidate],
    *,
    budget: float = BUDGET,
    threads: int,
    calibrate: bool = True,
    spent: float = 0.0,
    observer: Observer | None = None,
) -> Choice | None:
    """The candidate of least held-out log-loss that the budget allows; None if no term is left to any.

    The first lap is run on a few thousand texts with every candidate, the cheap ones first, the last on more
    with the best ones (successive halving). The penalty is sought with the first features. A
    candidate that would take longer than the budget has left, learning from all texts included, does not
    start. Time is reckoned from the work, so that a busy machine is slower and chooses the same.

    References
    ----------
    Jamieson and Talwalkar (2016), "Non-stochastic best arm identification and hyperparameter optimization";
    Maron and Moore (1994), "Hoeffding races", for dropping what is surely worse.
    """
    board, trials = _Board(budget, spent), Trials(pool, threads, calibrate=calibrate)
    running = list(contenders)
    ran: list[Trial] = []
    laps = sizes(pool)
    for n, next_n in zip(laps, [*laps[1:], laps[-1]], strict=True):
        if not (now := _lap(board, trials, running, n, observer)):
            break
        ran = now
        running = _still_in(board, ran, next_n, pool)
    if not ran:
        return None
    winner = _best(board, ran, pool)
    if winner.n == laps[-1]:
        for trial in _near(winner, ran, 1.0):
            ran += _lap(board, trials, trial.candidate.reweighted(), trial.n, observer, like=trial)
        winner = _best(board, ran, pool)
    if calibrate and (pooled := _pooled(board, trials, winner, ran)) is not None:
        winner = pooled
    tried = sorted(board.last.values(), key=lambda trial: (trial is not winner, -trial.n, trial.log_loss))
    return Choice(winner, tuple(tried), dict(board.fate), board.spent, budget)


def sizes(pool: Pool) -> list[int]:
    """How many texts each lap has."""
    first, last = (
        min(max(min(most, int(size / max(pool.mean_size, 1.0))), FEWEST), len(pool))
        for most, size in ((FIRST, FIRST_SIZE), (LAST, LAST_SIZE))
    )
    return [first, last] if 1.5 * first < last and can_tell(pool.head(first)) else [last]


def enough(n: int, pool: Pool) -> int:
    """How many of the n texts of a lap are to be held out; one part of them at least."""
    laps = sizes(pool)
    most = ENOUGH if n == laps[-1] else ENOUGH_FIRST
    size, least = (FIRST_SIZE, 1) if n == laps[0] else (LAST_SIZE, ENOUGH_FIRST)
    return max(min(most, int(size / FOLDS / max(pool.mean_size, 1.0))), least)


def can_tell(pool: Pool) -> bool:
    """Whether there is a fold to hold out that says something about classes."""
    folds = held_out(pool.codes, ENOUGH)
    return any(tells_classes_apart(pool.codes, pool.weights, fold) for fold in folds)


def _lap(
    board: _Board,
    trials: Trials,
    running: Sequence[Candidate],
    n: int,
    observer: Observer | None,
    like: Trial | None = None,
) -> list[Trial]:
    """The trials of one lap, best first, of those for which there is time.

    A candidate without a trial before is expected to take as long as the one it is ``like``.
    """
    ran: list[Trial] = []
    number = 0
    for group in _groups(running):
        those: list[Candidate] = []
        for candidate in group:
            number += 1
            before = board.last.get(candidate.name, like)
            if before is None and _is_hopeless(candidate, ran):
                board.fate[candidate.name] = BEHIND
            elif before is not None and not _has_room(before, n, trials.pool):
                board.fate[candidate.name] = NO_ROOM
            elif _is_late(board, before, n, trials.pool, is_first=not ran):
                board.fate[candidate.name] = NO_TIME
            else:
                those.append(candidate)
                if observer is not None:
                    observer.candidate(candidate.name, n, number, len(running))
        trials_of_group = trials.together(those, n, enough(n, trials.pool))
        board.fate |= dict.fromkeys((one.name for one in those), NO_TERM)  # but for those that have a trial
        for trial in trials_of_group:
            board.last[trial.candidate.name] = trial
            board.spent += trial.seconds
            board.fate.pop(trial.candidate.name, None)
            ran.append(trial)
    return sorted(ran, key=_by_loss)


def _groups(running: Sequence[Candidate]) -> list[list[Candidate]]:
    """Candidates of the same features that learn from documents side by side, others alone; in order."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in running:
        groups.setdefault(_group(candidate), []).append(candidate)
    return list(groups.values())


def _group(candidate: Candidate) -> tuple[str, str]:
    return (candidate.features, "") if candidate.learner.entry.needs_documents else ("", candidate.name)


def _has_room(before: Trial, n: int, pool: Pool) -> bool:
    """Whether memory holds a trial on n texts, and the rows of all."""
    each = before.cells / before.n * CELL
    return each * max(TRIAL * n, pool.total) <= usable_memory()


def _is_late(board: _Board, before: Trial | None, n: int, pool: Pool, *, is_first: bool) -> bool:
    """Whether there is no time for a trial; somebody must start."""
    if before is None:
        return not is_first and board.left < (1 - FIRST_SHARE) * board.budget
    return _expected(before, n) + _finish(before, pool) > board.left


def _is_hopeless(candidate: Candidate, ran: Sequence[Trial]) -> bool:
    """Whether counts have done so badly with other features that these will not help."""
    if candidate.learner.entry.needs_documents:
        return False
    own = [trial.log_loss for trial in ran if trial.candidate.learner.entry is candidate.learner.entry]
    return bool(own) and min(own) > HOPELESS * min(trial.log_loss for trial in ran)


def _still_in(board: _Board, ran: Sequence[Trial], n: int, pool: Pool) -> list[Candidate]:
    """Those that are not clearly behind and have time for n texts, best first."""
    kept: list[Candidate] = []
    groups: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    is_led_by_counts = not ran[0].recipe.learner.entry.needs_documents
    for trial in ran:
        behind, error = trial.answers.behind(ran[0].answers)
        reads = trial.recipe.learner.entry.needs_documents
        more = (pool.total if reads and is_led_by_counts else n) / trial.n
        slack = SLACK * math.log(more, GROWTH) * ran[0].log_loss
        group, others = _group(trial.candidate), groups[reads]
        # Features that are found once serve all that learn from them.
        has_place = group in others or len(others) < (MOST if reads else MOST_COUNTS)
        if n > trial.n and _is_late(board, trial, n, pool, is_first=False):
            board.fate[trial.candidate.name] = NO_TIME  # and no place of those that have
        elif has_place and behind <= max(SURE * error, slack):
            kept.append(trial.candidate)
            others.add(group)
        else:
            board.fate[trial.candidate.name] = BEHIND
    return kept


def _best(board: _Board, ran: Sequence[Trial], pool: Pool) -> Trial:
    """The trial of least loss of a lap, prior odds included, that can be learned from all texts in time."""

    def time(trial: Trial) -> float:
        return _finish(trial, pool)

    in_time = [trial for trial in ran if time(trial) <= max(board.left, 0.0)]
    return min(in_time, key=_by_evidence) if in_time else min(ran, key=time)


def _pooled(board: _Board, trials: Trials, winner: Trial, ran: Sequence[Trial]) -> Trial | None:
    """The best trial that is pooled with naive Bayes, if that is better than the winner.

    Of the features with which softmax regression did best, and of those that are about as good with them.
    """
    open_ones = [
        trial
        for trial in ran
        if trial.candidate.may_pool and trial.n == winner.n and _finish(trial, trials.pool) <= board.left
    ]
    if not open_ones or len(winner.held.codes) < LEAST:
        return None
    first = winner if winner in open_ones else min(open_ones, key=_by_evidence)
    if first.log_loss > (1 + SLACK) * winner.log_loss:
        return None
    found = []
    for trial in _near(first, open_ones, SURE)[:MOST_POOLED]:
        seconds = POOLED * trial.cells * VISIT
        if trial.candidate.features == first.candidate.features and seconds <= board.left:
            board.spent += seconds
            if (pooled := trials.pooled(trial, enough(trial.n, trials.pool))) is not None:
                board.last[pooled.candidate.name] = pooled
                found.append(pooled)
    best = min(found, key=_by_evidence, default=winner)
    return best if _by_evidence(best) < _by_evidence(winner) else None


def _near(best: Trial, ran: Sequence[Trial], errors: float) -> list[Trial]:
    """The trials of a lap that are behind the best by no more than so many standard errors."""
    found = []
    for trial in ran:
        behind, error = trial.answers.behind(best.answers)
        if behind <= error:
            found.append(trial)
    return found


def _by_loss(trial: Trial) -> float:
    """What trials are sorted by; of equal ones, but for rounding, the first to be tried comes first."""
    return round(trial.log_loss, 9)


def _by_evidence(trial: Trial) -> float:
    """The loss per text, prior odds included, by which one trial of a lap is chosen.

    The sum of held-out log-probabilities is the logarithm of a pseudo-Bayes factor (Geisser and Eddy, 1979,
    "A predictive approach to model selection"); prior odds are worth a few texts, and decide where there are
    but few.
    """
    return round(trial.log_loss + trial.candidate.prior_odds / max(float(trial.held.weights.sum()), 1.0), 9)


def _expected(before: Trial, n: int) -> float:
    """Seconds that a trial on n texts will take, from the last one."""
    return before.fixed + (before.seconds - before.fixed) * n / before.n  # fewer folds, but more words


def _finish(trial: Trial, pool: Pool) -> float:
    """Seconds that learning from all texts will take."""
    share = FINISH if trial.recipe.learner.entry.needs_documents else 1.0
    return share * _expected(trial, pool.total) / trial.work


def usable_memory() -> int:
    """Bytes that a choice may take: a third of what the machine has, used or not, to choose the same.

    A few gigabytes where nobody says.
    """
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 3
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY
