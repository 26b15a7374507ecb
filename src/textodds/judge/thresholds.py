r"""Which labels a text gets: those at least as probable as their threshold, chosen on held-out texts.

With a probability for each label, a threshold is a decision: 0.5 counts false alarms and misses alike, and
does badly by F1, since a rare label is seldom more probable than not. Thresholds are chosen for a goal, on
texts that the model has not learned, and never on those it is measured on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.errors import InputError, NoData, suggestion
from textodds.learn.arrays import Floats, Mask
from textodds.learn.held_out import HeldOut
from textodds.stats.distributions import binomial_cdf

KINDS = ("f1", "micro-f1", "macro-f1", "precision", "recall", "cost", "half")
HELP = (
    "f1 (micro- and macro-F1 together), micro-f1, macro-f1, precision=0.9, recall=0.9, "
    "cost=1:5 (a false alarm against a miss), or half"
)
CONFIDENCE = 0.95
ROUNDS = 50
NEVER = 2.0  # above every probability: the label is not given
UNTOLD = 0.5  # the threshold for F1 of a label that no held-out text has


@dataclass(frozen=True)
class Goal:
    """What thresholds are chosen for: a kind, and its number or numbers.

    >>> Goal.of("precision=0.9"), Goal.of("cost=1:5").values
    (Goal(kind='precision', values=(0.9,)), (1.0, 5.0))
    """

    kind: str = "f1"
    values: tuple[float, ...] = ()

    @classmethod
    def of(cls, text: str | Goal) -> Goal:
        """The goal that a text says."""
        if isinstance(text, Goal):
            return text
        kind, equals, rest = (part.strip() for part in str(text).partition("="))
        kind = kind.lower().replace("_", "-")
        if kind not in KINDS:
            raise InputError(f"unknown goal `{text}`{suggestion(kind, KINDS)}", hint=f"one of {HELP}")
        try:
            values = tuple(float(part) for part in rest.split(":")) if equals else ()
        except ValueError:
            values = (float("nan"),)
        wanted = {"precision": 1, "recall": 1, "cost": 2}.get(kind, 0)
        sound = len(values) == wanted and all(value > 0 for value in values)
        if not sound or (wanted == 1 and not values[0] < 1):
            raise InputError(f"`{text}` is not a goal", hint=f"one of {HELP}")
        return cls(kind, values)

    def __str__(self) -> str:
        return self.kind + ("=" + ":".join(f"{value:g}" for value in self.values) if self.values else "")


def chosen(goal: Goal, p: Floats, truth: Mask) -> Floats:
    """The thresholds (K,) for a goal, by probabilities of N held-out texts and whether they have each label.

    Examples
    --------
    >>> p = np.array([[0.4], [0.3], [0.2], [0.1]])
    >>> chosen(Goal.of("f1"), p, np.array([[True], [True], [False], [False]])).round(2)
    array([0.25])
    >>> chosen(Goal.of("cost=1:4"), p, np.zeros((4, 1), bool))  # 1 / (1 + 4)
    array([0.2])
    """
    K = p.shape[1]
    if goal.kind == "half":
        return np.full(K, 0.5)
    if goal.kind == "cost":
        alarm, miss = goal.values
        return np.full(K, alarm / (alarm + miss))
    if goal.kind == "precision":
        return np.array([_precise(p[:, k], truth[:, k], goal.values[0]) for k in range(K)])
    if goal.kind == "recall":
        return np.array([_complete(p[:, k], truth[:, k], goal.values[0]) for k in range(K)])
    shares = {"f1": (1.0, 1.0), "micro-f1": (1.0, 0.0), "macro-f1": (0.0, 1.0)}[goal.kind]
    return _best_f1(p, truth, *shares)


def _precise(p: Floats, truth: Mask, least: float) -> float:
    """The lowest threshold at which a share of ``least`` of those given is right, with 95 % confidence."""
    from textodds.judge.guarantees import at_most

    there = np.ones(len(p), np.uint32)
    try:
        return at_most(HeldOut(truth.astype(np.uint32), there, p, p), 1.0 - least, CONFIDENCE).threshold
    except (InputError, NoData):  # it cannot be promised
        return NEVER


def _complete(p: Floats, truth: Mask, least: float) -> float:
    """The highest threshold at which a share of ``least`` of a label's texts is found, with 95 % confidence.

    Thresholds rise from zero, at which all are found, and the last is taken before the first at which so few
    misses could be chance: fixed sequence testing, as in `textodds.judge.guarantees.at_most`.
    """
    own = np.sort(p[truth])
    found = 0.0
    for threshold in np.linspace(0.0, 1.0, 401)[1:]:
        missed = int(np.searchsorted(own, threshold))
        if not len(own) or binomial_cdf(missed, len(own), 1.0 - least) > 1.0 - CONFIDENCE:
            break
        found = float(threshold)
    return found


def _best_f1(p: Floats, truth: Mask, micro: float, macro: float) -> Floats:
    r"""The thresholds at which ``micro`` times micro-F1 and ``macro`` times macro-F1 is largest.

    .. math::
        F = \frac{2 \sum_k t_k}{\sum_k (m_k + n_k)} + \frac1K \sum_k \frac{2 t_k}{m_k + n_k}      \tag{1}

    with :math:`m_k` texts given label k, :math:`t_k` of them rightly, of :math:`n_k` that have it. Each label
    in turn is set to where (1) is largest, the others held, until none moves. A label that no held-out text
    has, as most have where there are thousands, is given where it is more probable than not.
    """
    known = truth.any(axis=0)
    found = np.full(p.shape[1], UNTOLD)
    if known.any():
        found[known] = _best_of_known(p[:, known], truth[:, known], micro, macro)
    return found


def _best_of_known(p: Floats, truth: Mask, micro: float, macro: float) -> Floats:
    """(1) of labels that some texts have."""
    N, K = p.shape
    order = np.argsort(-p, axis=0, kind="stable")
    ranked = np.take_along_axis(p, order, axis=0)
    right = np.vstack(
        [np.zeros((1, K)), np.cumsum(np.take_along_axis(truth, order, axis=0), axis=0)]
    )  # (N + 1, K)
    given, there = np.arange(N + 1.0), right[-1]
    # Texts of the same probability are given the label together.
    may_end = np.vstack([np.ones((1, K), bool), np.vstack([ranked[:-1] > ranked[1:], np.ones((1, K), bool)])])
    alone = np.where(may_end, 2.0 * right / np.maximum(given[:, None] + there, 1.0), -1.0)  # F1 of a label
    at = alone.argmax(axis=0)
    if micro:
        at = _settled(at, right, given, there, np.where(may_end, 0.0, -np.inf), alone * (macro / K), micro)
    # Between the last that is given the label and the first that is not: 0.5 if it lies there, or the middle.
    middle = 0.5 * (ranked[:-1] + ranked[1:])
    middle = np.where((ranked[:-1] >= 0.5) & (ranked[1:] < 0.5), 0.5, middle)
    middle = np.vstack([np.ones((1, K)), middle, np.zeros((1, K))])
    found = np.take_along_axis(middle, at[None], axis=0)[0]
    return np.asarray(np.where(at == 0, 0.5 * (1.0 + ranked[0]), found))


def _settled(
    at: np.ndarray, right: Floats, given: Floats, there: Floats, barred: Floats, own: Floats, micro: float
) -> np.ndarray:
    at, K = at.copy(), right.shape[1]
    hits, size = float(right[at, np.arange(K)].sum()), float(given[at].sum() + there.sum())
    for _ in range(ROUNDS):
        before = at.copy()
        for k in range(K):
            others, rest = hits - right[at[k], k], size - given[at[k]]
            at[k] = (
                micro * 2.0 * (others + right[:, k]) / np.maximum(rest + given, 1.0)
                + own[:, k]
                + barred[:, k]
            ).argmax()
            hits, size = others + right[at[k], k], rest + given[at[k]]
        if (before == at).all():
            break
    return at
