"""Deciding, which is apart from believing: the action of least expected loss, or none.

A posterior says what is believed. What to do about it depends on what mistakes cost, which no model can
know: so losses come after training, and change without it.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds.data.labels import Label, by_name
from textodds.errors import BadFile, InputError, LengthMismatch, NoData, Unsupported, suggestion
from textodds.judge.evaluation import Interval, numbers_of, wilson
from textodds.learn.arrays import Floats, Integers, Mask

Band = tuple[float, float]
L = TypeVar("L", bound=Label)

ABSTAIN = -1  # the action of not answering
ROUNDING = 1e-12  # losses that differ by less, relative to the largest cost, are equal


@dataclass(frozen=True, eq=False)
class Losses:
    r"""The cost of each answer for each true class: :math:`L_{ij}`, truth i, answer j.

    A pair that is not given costs 0 where the answer is right and 1 where it is wrong. Only the classes
    that are given take memory: ``costs`` has a row for each of ``truths`` and a column for each of
    ``answers``.

    Examples
    --------
    >>> losses = Losses.of_text("ham->spam: 20", ("ham", "spam"))
    >>> losses.matrix
    array([[ 0., 20.],
           [ 1.,  0.]])
    """

    classes: tuple[str, ...]  # (K,)
    truths: Integers  # (A,)
    answers: Integers  # (B,)
    costs: Floats  # (A, B)

    @classmethod
    def of(cls, costs: Mapping[tuple[L, L], float], classes: Sequence[Label]) -> Losses:
        """Losses by (truth, answer): ``{("ham", "spam"): 20}``; labels are of any type."""
        names = tuple(by_name(dict.fromkeys(classes, 0.0)))
        index = {name: k for k, name in enumerate(names)}
        cells: dict[tuple[int, int], float] = {}
        for labels, cost in costs.items():
            pair = [next(iter(by_name({label: 0.0}))) for label in labels]
            for name in pair:
                if name not in index:
                    raise InputError(
                        f"the losses name `{name}`, which is not a class{suggestion(name, names)}",
                        hint=f"the classes are {', '.join(names[:20])}",
                    )
            if not (math.isfinite(cost) and cost >= 0):
                raise InputError(
                    f"the loss of {pair[0]}->{pair[1]} is {cost:g}", hint="a cost is a number of zero or more"
                )
            cells[index[pair[0]], index[pair[1]]] = float(cost)
        truths = sorted({i for i, _ in cells})
        answers = sorted({j for _, j in cells})
        block = np.array([[cells.get((i, j), float(i != j)) for j in answers] for i in truths])
        given = np.array(truths, np.int64), np.array(answers, np.int64)
        return cls(names, *given, block.reshape(len(truths), len(answers)))

    @classmethod
    def zero_one(cls, classes: Sequence[str]) -> Losses:
        """Every mistake costs 1."""
        return cls.of({}, classes)

    @classmethod
    def of_text(cls, text: str, classes: Sequence[str]) -> Losses:
        """Losses as they are written: ``ham->spam: 20, spam->ham: 1``, truth before answer.

        Names of classes with a comma, a colon or an arrow in them do better in a file or a dict.
        """
        return cls.of(_pairs(text), classes)

    @classmethod
    def of_csv(cls, path: str | os.PathLike[str], classes: Sequence[str]) -> Losses:
        """Losses in a CSV file: answers in the header, the truth in the first column of each line."""
        return cls.of(_table(Path(path), classes), classes)

    def __post_init__(self) -> None:
        if not self.classes:
            raise InputError("losses need classes")

    @property
    def matrix(self) -> Floats:
        """All costs, (K, K), those of a truth in a row."""
        K = len(self.classes)
        full: Floats = np.ones((K, K)) - np.eye(K)
        full[np.ix_(self.truths, self.answers)] = self.costs
        return full

    def cost(self, truth: NDArray[np.integer], answer: NDArray[np.integer]) -> Floats:
        """What each answer (N,) cost, the truths being known (N,)."""
        row, column = np.full(len(self.classes), -1), np.full(len(self.classes), -1)
        row[self.truths], column[self.answers] = np.arange(len(self.truths)), np.arange(len(self.answers))
        costs: Floats = (truth != answer).astype(np.float64)
        given = (row[truth] >= 0) & (column[answer] >= 0)
        costs[given] = self.costs[row[truth[given]], column[answer[given]]]
        return costs

    @property
    def most(self) -> float:
        """The largest cost."""
        K = len(self.classes)
        unnamed = int(self._usual.sum()) < K * (K - 1)
        return max(float(self.costs.max(initial=0.0)), 1.0 if unnamed else 0.0)

    @property
    def _usual(self) -> Floats:
        """The costs that pairs have without being given, (A, B)."""
        return np.asarray(self.truths[:, None] != self.answers[None, :], np.float64)

    def expected(self, log_posterior: Floats) -> Floats:
        """The expected loss of every answer, ``Σ_i p_i L_ij``: (N, K)."""
        p = np.exp(log_posterior)
        N, K = p.shape
        if len(self.classes) != K:
            raise InputError(f"posteriors have {K} classes, the losses {len(self.classes)}")
        rows, best = np.arange(N), p.argmax(axis=1)
        wrong = 1.0 - p
        others = p.copy()
        others[rows, best] = 0.0
        wrong[rows, best] = others.sum(axis=1)  # 1 - p has no digits where p is almost 1
        wrong[:, self.answers] += p[:, self.truths] @ (self.costs - self._usual)
        return np.maximum(wrong, 0.0)


def _pairs(text: str) -> dict[tuple[str, str], float]:
    costs: dict[tuple[str, str], float] = {}
    for part in filter(str.strip, text.split(",")):
        names, colon, cost = part.rpartition(":")
        truth, arrow, answer = (word.strip() for word in names.partition("->"))
        try:
            value = float(cost)
        except ValueError:
            colon = ""
        if not (colon and arrow and truth and answer):
            raise InputError(
                f"`{part.strip()}` is not a loss", hint="write truth->answer: cost, as in `ham->spam: 20`"
            )
        if (truth, answer) in costs:
            raise InputError(f"the loss of {truth}->{answer} is given twice", hint="leave out one of the two")
        costs[truth, answer] = value
    if not costs:
        raise InputError("`--loss` names no class", hint="write them as in `ham->spam: 20, spam->ham: 1`")
    return costs


def _table(path: Path, classes: Sequence[str]) -> dict[tuple[str, str], float]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = "no file at" if isinstance(error, FileNotFoundError) else "cannot read losses from"
        raise BadFile(
            f"{reason} `{path}`", hint="write losses as in `ham->spam: 20`, or as a CSV file of all classes"
        ) from error
    header = [cell.strip() for cell in lines[0][1:]] if lines else []
    truths = [line[0].strip() for line in lines[1:]]
    for names, where in ((header, "header"), (truths, "first column")):
        wrong = _naming_problem(names, classes)
        if wrong is not None:
            raise BadFile(
                f"the {where} of `{path}` has {wrong}",
                hint=f"name each of the classes {', '.join(classes[:20])} once in the header (answers) and "
                "once in the first column (truths)",
            )
    costs: dict[tuple[str, str], float] = {}
    for number, (truth, line) in enumerate(zip(truths, lines[1:], strict=True), start=2):
        if len(line) != len(header) + 1:
            raise BadFile(f"`{path}`, row {number}: {len(line) - 1} costs for {len(header)} classes")
        for answer, cell in zip(header, line[1:], strict=True):
            try:
                costs[truth, answer] = float(cell)
            except ValueError as error:
                raise BadFile(
                    f"`{path}`, row {number}: `{cell}` is not a cost", hint="write a number of zero or more"
                ) from error
    return costs


def _naming_problem(names: Sequence[str], classes: Sequence[str]) -> str | None:
    """What is wrong with names that should be all classes, each once."""
    for name in names:
        if name not in classes:
            return f"`{name}`, which is not a class{suggestion(name, classes)}"
        if names.count(name) > 1:
            return f"`{name}` twice"
    return next((f"no `{name}`" for name in classes if name not in names), None)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What is done about N documents: the class that is answered, -1 for none, and what that should cost."""

    action: Integers  # (N,)
    expected_loss: Floats  # (N,)

    @property
    def answered(self) -> Mask:
        """Whether there is an answer, (N,)."""
        return np.asarray(self.action != ABSTAIN)


@dataclass(frozen=True)
class MeanLoss:
    """What decisions cost on documents of known classes; intervals are at 95 %."""

    n: int
    mean: float
    interval: Interval
    answered: float
    answered_interval: Interval

    def as_dict(self) -> dict[str, object]:
        """Plain data with plain keys, for JSON."""
        return {
            "mean_loss": self.mean,
            "mean_loss_interval": list(self.interval),
            "answered": self.answered,
            "answered_interval": list(self.answered_interval),
        }


@dataclass(frozen=True, eq=False)
class Rule:
    r"""The action of least expected loss, or abstention where that is cheaper.

    Model
    -----
    Believing :math:`p_i = p(i \mid x)`, the answer is

    .. math:: \hat\jmath = \arg\min_j R_j, \qquad R_j = \sum_i p_i L_{ij}                 \tag{1}

    and is given only if :math:`R_{\hat\jmath} \le c`, where c is the cost of not answering. With losses of 0
    and 1 that is the most probable class, where its probability is at least 1 - c. Of answers that cost the
    same the more probable is taken. For two classes a and b without cost when right, (1) answers b where

    .. math:: p_b \ge \max\Bigl(\frac{L_{ab}}{L_{ab} + L_{ba}},\; 1 - \frac{c}{L_{ab}}\Bigr)   \tag{2}

    Parameters
    ----------
    losses : Losses
        L in (1).
    abstain : float, optional
        c: what it costs not to answer, in the units of the losses. Without it there always is an answer.

    References
    ----------
    Chow (1970), "On optimum recognition error and reject tradeoff", eq. 3; Elkan (2001), "The foundations
    of cost-sensitive learning", eq. 2.

    Examples
    --------
    >>> rule = Rule(Losses.of({("ham", "spam"): 20}, ("ham", "spam")), abstain=0.5)
    >>> decisions = rule.decide(np.log([[0.03, 0.97], [0.1, 0.9], [0.99, 0.01]]))
    >>> decisions.action
    array([-1, -1,  0])
    >>> decisions.expected_loss
    array([0.5 , 0.5 , 0.01])
    >>> rule.told()
    'answers ham from p(ham) = 0.5, spam from p(spam) = 0.975, and nothing in between'
    """

    losses: Losses
    abstain: float | None = None

    def __post_init__(self) -> None:
        if self.abstain is not None and not (math.isfinite(self.abstain) and self.abstain >= 0):
            raise InputError(
                f"the cost of not answering is {self.abstain:g}", hint="a cost is a number of zero or more"
            )

    @property
    def _slack(self) -> float:
        return ROUNDING * max(self.losses.most, self.abstain or 0.0)

    def decide(self, log_posterior: Floats) -> Decisions:
        """What to do about documents whose log-posteriors (N, K) are given."""
        risk = self.losses.expected(log_posterior)  # (1)
        least = risk.min(axis=1, initial=np.inf)
        cheap = risk <= least[:, None] + self._slack
        action = np.where(cheap, log_posterior, -np.inf).argmax(axis=1).astype(np.int64)
        if self.abstain is not None:
            silent = least > self.abstain + self._slack
            action[silent] = ABSTAIN
            least = np.where(silent, self.abstain, least)
        return Decisions(action, least)

    def threshold(self) -> dict[str, Band | None]:
        """Of two classes, from where to where the probability of each must be for it to be answered.

        None for a class that never is. Between the two bands, if there is a between, is no answer.
        """
        if len(self.losses.classes) != 2:
            raise Unsupported("a threshold is implied only where there are two classes")
        costs = self.losses.matrix
        bands: dict[str, Band | None] = {}
        for k, name in enumerate(self.losses.classes):
            other = 1 - k
            mine, theirs = (costs[k, k], costs[other, k]), (costs[k, other], costs[other, other])
            low, high = 0.0, 1.0  # of p_k; its answer costs p mine[0] + (1 - p) mine[1]
            limits = [theirs] if self.abstain is None else [theirs, (self.abstain, self.abstain)]
            for sure, never in limits:  # where the difference p a + (1 - p) b is not above zero
                a, b = mine[0] - sure, mine[1] - never
                if a > 0 and b > 0:
                    low = np.inf
                elif a == 0 == b and (sure, never) == theirs:  # all the same: the more probable
                    low = max(low, 0.5)
                elif b > 0:
                    low = max(low, b / (b - a))
                elif a > 0:
                    high = min(high, b / (b - a))
            bands[name] = (float(low), float(high)) if low <= high else None
        return bands

    def told(self) -> str:
        """The threshold in words."""
        parts, bands = [], self.threshold()
        for name, band in bands.items():
            if band is None:
                parts.append(f"never {name}")
            elif band[1] == 1.0:
                parts.append(f"{name} from p({name}) = {band[0]:.4g}")
            else:
                parts.append(f"{name} where p({name}) is from {band[0]:.4g} to {band[1]:.4g}")
        covered = sum(0.0 if band is None else band[1] - band[0] for band in bands.values())
        between = ", and nothing in between" if covered < 1 - ROUNDING else ""
        return f"answers {', '.join(parts)}{between}"

    def expected_loss(self, decisions: Decisions, truth: NDArray[np.integer]) -> MeanLoss:
        r"""The mean loss of decisions on documents of known classes (N,), and the share answered.

        The mean is :math:`\sum_c c\,\hat\pi_c` over the costs c that were met, each in a share
        :math:`\hat\pi_c` of documents with Wilson's interval :math:`(l_c, u_c)`. From these its own comes as

        .. math:: \sum_c c\,\hat\pi_c \pm \Bigl(\sum_c c^2 (\hat\pi_c - l_c)^2\Bigr)^{1/2}

        with :math:`u_c - \hat\pi_c` above (Zou and Donner 2008, eq. 6 without its covariances: shares of a
        whole have negative ones, so the interval is rather too wide). The largest cost that there is counts
        among them even if it was never met: what has not happened in n documents may be about to.
        """
        N = len(decisions.action)
        if len(truth) != N:
            raise LengthMismatch(N, len(truth))
        if N == 0:
            raise NoData("there are no rows to measure decisions on")
        answered = decisions.answered
        costs = np.full(N, 0.0 if self.abstain is None else self.abstain)
        costs[answered] = self.losses.cost(np.asarray(truth)[answered], decisions.action[answered])
        most = max(self.losses.most, self.abstain or 0.0)
        values, counts = np.unique(costs, return_counts=True)
        met = dict(zip(values.tolist(), counts.tolist(), strict=True))
        below = above = 0.0
        for cost in {*met, most}:
            low, high = wilson(met.get(cost, 0), N)
            share = met.get(cost, 0) / N
            below += (cost * (share - low)) ** 2
            above += (cost * (high - share)) ** 2
        mean = float(costs.mean())
        interval = max(mean - math.sqrt(below), 0.0), min(mean + math.sqrt(above), most)
        return MeanLoss(N, mean, interval, float(answered.mean()), wilson(int(answered.sum()), N))


class DecisionCosts:
    """Decides by a rule as scored documents pass, and keeps what that cost where their label is known."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._parts: list[tuple[Integers, Decisions]] = []  # true classes and what was decided

    def __call__(self, labels: Iterable[str], log_posterior: Floats) -> None:
        """Decide on documents of these labels (N,) and log-posteriors (N, K)."""
        truth = numbers_of(labels, self._rule.losses.classes)
        self._parts.append((truth, self._rule.decide(log_posterior)))

    def mean_loss(self) -> MeanLoss | None:
        """The mean loss of all that has passed; None where no label was one of the model's."""
        truth = np.concatenate([np.zeros(0, np.int64), *(truth for truth, _ in self._parts)])
        known = truth >= 0
        if not known.any():
            return None
        action = np.concatenate([decisions.action for _, decisions in self._parts])
        expected = np.concatenate([decisions.expected_loss for _, decisions in self._parts])
        return self._rule.expected_loss(Decisions(action[known], expected[known]), truth[known])


def must_be_posterior(model: object, use: str) -> None:
    """Refuse a model whose scores are not probabilities, which ``use`` says what for."""
    if not getattr(getattr(model, "form", None), "is_posterior", True):
        raise Unsupported(
            f"a complement model has scores, not probabilities that {use}",
            hint="train with another learner, such as multinomial",
        )
