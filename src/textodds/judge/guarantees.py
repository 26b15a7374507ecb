"""Promises about new documents, made on those that the model had not learned: few errors, or sets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from textodds.errors import InputError, NoData
from textodds.judge.evaluation import Interval, wilson
from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.held_out import HeldOut
from textodds.stats.distributions import beta_cdf, binomial_cdf

STEP = 0.125
HIGHEST, LOWEST = 30.0, -12.0  # log-odds; above, 1 - p has too few digits to compare

# From the strictest to that which answers everything; fixed before any document is seen.
THRESHOLDS: Floats = np.append(1 / (1 + np.exp(-np.arange(HIGHEST, LOWEST - STEP / 2, -STEP))), 0.0)

ROOM = 2.1
"""How many times the fewest rows that can prove anything the strictest test has, where there are enough.

With the fewest, one error ends it all; with so many, two are borne.
"""

SHARE = 0.3
"""Of the documents, those at which a second sequence starts where that is far beyond the first.

The surest answers of real texts may be wrong more often than the rest, by labels that are wrong; one
sequence, started there, would end at once.
"""

NEAR = 1 - 1e-12  # a probability that differs by rounding is the same


@dataclass(frozen=True)
class Guarantee:
    """At most so many errors among the documents whose answer is at least so probable.

    Of the ``n`` documents it was made on ``answered`` reach the ``threshold``, ``errors`` of them wrongly;
    ``coverage`` is the share that is answered, with a 95 % interval.
    """

    max_error: float
    confidence: float
    threshold: float
    n: int
    answered: int
    errors: int

    @property
    def coverage(self) -> float:
        """The share of documents that is answered."""
        return self.answered / self.n

    @property
    def coverage_interval(self) -> Interval:
        """The 95 % interval of the share that is answered."""
        return wilson(self.answered, self.n)

    def answers(self, log_posterior: Floats) -> Mask:
        """Whether documents of log-posteriors (N, K) are answered, (N,)."""
        return np.asarray(np.exp(log_posterior.max(axis=1, initial=-np.inf)) >= self.threshold)


def at_most(held_out: HeldOut, max_error: float, confidence: float = 0.95) -> Guarantee:
    r"""The lowest threshold at which the error rate among the answered is proven to be at most ``max_error``.

    Model
    -----
    Let :math:`R(t)` be the share of errors among the documents to come whose answer has a probability of at
    least t. Of the held-out documents :math:`n_t` have that, and :math:`x_t` of these are wrong. If
    :math:`R(t) > \varepsilon`, seeing so few has a probability of at most

    .. math:: P_t = \sum_{j \le x_t} \binom{n_t}{j} \varepsilon^j (1 - \varepsilon)^{n_t - j}        \tag{1}

    Thresholds are tested from the strictest down, and the last before the first with
    :math:`P_t > \delta = 1 -` ``confidence`` is taken.

    It was chosen by looking at the data, and is valid all the same. The thresholds are fixed numbers, so
    each t either deserves the promise or does not. A wrong promise means that the first t in the sequence
    that does not deserve it was passed. There is only one such t, whatever the data, so only one test can
    do the harm, and it does so with a probability of at most :math:`\delta`: nothing is to be corrected for
    the number of tests. That is the fixed sequence testing of "learn then test". Given :math:`n_t`, the
    errors are exactly binomial, so (1) holds for any number of documents, any model, calibrated or not.

    Differs
    -------
    Coverages are no fixed grid: the thresholds that have them would depend on the data, and with them which
    is the first not to deserve the promise. So the grid is one of log-odds, in steps of 1/8. Where a
    sequence starts does depend on the data: at the first t that enough documents reach to prove anything.
    Suppose that less probable answers are no less often wrong, and that the start lies below the first t
    that does not deserve the promise. Then all documents that are counted come from above that t, where
    more than :math:`\varepsilon` are wrong, or from below, where no fewer are; so (1) bounds the test at the
    start too. Only where more probable answers are more often wrong is the argument approximate. Where there
    are many documents a second sequence starts at 30 % of them; each then has :math:`\delta / 2`, and the
    lower threshold of the two is taken.

    Documents to come must be of the same kind: a promise does not survive another prior or another source.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan, Lei (2021), "Learn then test: calibrating predictive algorithms to
    achieve risk control", sections 2 and 3 (for sequences and several starts); Clopper and Pearson (1934).

    Examples
    --------
    >>> sure, unsure = np.full(900, 0.99), np.full(100, 0.6)
    >>> right = np.arange(1000) % 100 > 0  # every hundredth is wrong, and of the unsure every second
    >>> right[900::2] = False
    >>> zero = np.zeros(1000, np.uint32)
    >>> p = np.concatenate([sure, unsure])
    >>> promise = at_most(HeldOut((~right).astype(np.uint32), zero, np.where(right, p, 1 - p), p), 0.02)
    >>> round(promise.threshold, 2), promise.answered, promise.errors, promise.coverage
    (0.62, 900, 9, 0.9)
    """
    for value, name in ((max_error, "the error rate"), (confidence, "the confidence")):
        _inside(value, name)
    if not len(held_out):
        raise NoData("there are no documents to base a guarantee on")
    answered, errors = _counts(held_out)
    passed = _last_pass(answered, errors, max_error, 1 - confidence)
    if passed is None:
        raise _refusal(answered, errors, max_error, confidence)
    return Guarantee(
        max_error,
        confidence,
        float(THRESHOLDS[passed]),
        len(held_out),
        int(answered[passed]),
        int(errors[passed]),
    )


def _inside(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise InputError(f"{name} is {value:g}", hint="give a number above 0 and below 1")


def _counts(held_out: HeldOut) -> tuple[Integers, Integers]:
    """How many documents reach each threshold, and how many of those are wrong."""
    order = np.argsort(-held_out.p_answer, kind="stable")
    reach = np.searchsorted(-held_out.p_answer[order], -THRESHOLDS, side="right")
    wrong = np.concatenate([[0], np.cumsum(~held_out.right[order])])
    return reach, wrong[reach]


def fewest(max_error: float, confidence: float = 0.95) -> int:
    """How many documents, all answered rightly, it takes to prove an error rate.

    >>> fewest(0.01)
    299
    """
    return math.ceil(math.log(1 - confidence) / math.log1p(-max_error))


def _last_pass(answered: Integers, errors: Integers, max_error: float, delta: float) -> int | None:
    """The last threshold before the first that fails, in one sequence or the better of two."""
    total = float(answered[-1])
    first = ROOM * fewest(max_error, 1 - delta)
    starts = [first] if SHARE * total < 2 * first else [first, SHARE * total]  # by their number alone
    each = delta / len(starts)
    least = fewest(max_error, 1 - each)
    found = [_sequence(answered, errors, max(least, min(at, total / 2)), max_error, each) for at in starts]
    return max((at for at in found if at is not None), default=None)


def _sequence(
    answered: Integers, errors: Integers, fewest_rows: float, max_error: float, delta: float
) -> int | None:
    start = int(np.searchsorted(answered, fewest_rows))
    if start == len(answered):
        return None
    p_values = binomial_cdf(errors[start:], answered[start:], max_error)  # (1)
    failed = np.flatnonzero(p_values > delta)
    passed = start + (int(failed[0]) if len(failed) else len(p_values)) - 1
    return passed if passed >= start else None


def _refusal(answered: Integers, errors: Integers, max_error: float, confidence: float) -> InputError:
    """Why there is no promise, what could be promised, and what it would take."""
    n, some = int(answered[-1]), answered > 0
    reached, wrong = answered[some].astype(np.float64), errors[some].astype(np.float64)
    levels = np.array([[confidence], [(1 + confidence) / 2]])  # of one sequence, and of two
    bounds = np.unique(_upper_bounds(reached, wrong, levels))
    below_one = bounds[bounds < 1].tolist()
    best = next(
        (up for up in below_one if _last_pass(answered, errors, up, 1 - confidence) is not None), None
    )
    rows = _rows_needed(answered, errors, max_error, confidence)
    possible = "" if best is None else f"ask for {best:g}, the lowest rate that these rows can prove"
    more = (
        "more rows would not help: even the most confident answers are wrong more often"
        if rows is None
        else f"learn from about {float(f'{rows:.2g}'):,.0f} rows, if errors stay as rare"
    )
    return InputError(
        f"an error rate of at most {max_error:g} among the answered cannot be guaranteed with "
        f"{confidence:.0%} confidence: {n:,} documents do not prove it",
        hint=f"{possible}; or {more}" if possible else more,
    )


def _upper_bounds(reached: Floats, wrong: Floats, levels: Floats) -> Floats:
    """Clopper and Pearson's upper bounds of error rates, up to the next thousandth, (levels, n).

    >>> _upper_bounds(np.array([100.0]), np.array([0.0]), np.array([[0.95]]))  # 1 - 0.05^(1/100) = 0.0295
    array([[0.03]])
    """
    a, b = wrong + 1.0, np.maximum(reached - wrong, 1e-9)
    low, high = (np.full(np.broadcast_shapes(a.shape, levels.shape), end) for end in (0, 1000))
    for _ in range(10):  # 2^10 > 1000: the bound is above low, and at most high
        middle = (low + high) // 2
        enough = beta_cdf(a, b, middle / 1000) >= levels
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray(high / 1000)


def _rows_needed(answered: Integers, errors: Integers, max_error: float, confidence: float) -> int | None:
    """How many documents would do if more of them came out as these did; None if no number would."""
    rows = 1.1 * float(answered[-1])
    while rows < 1e9:
        times = rows / float(answered[-1])
        more = [np.round(times * counts).astype(np.int64) for counts in (answered, errors)]
        if _last_pass(more[0], more[1], max_error, 1 - confidence) is not None:
            return math.ceil(rows)
        rows *= 1.1
    return None


@dataclass(frozen=True, eq=False)
class Sets:
    r"""Sets of classes that hold the true one with a promised probability.

    Model
    -----
    The set of a document is :math:`\{k : p_k \ge q\}`. With the n held-out documents' probabilities of their
    true classes in order, :math:`p_{(1)} \le \dots \le p_{(n)}`,

    .. math:: q = p_{(m)}, \qquad m = \lfloor (n + 1)(1 - \text{coverage}) \rfloor               \tag{1}

    A new document of the kind is as likely as any other to be the one whose true class is m-th least probable
    or less among n + 1, so it is outside its set with a probability of at most m / (n + 1): whatever the
    model, calibrated or not. That is so over documents of all classes together; with ``by_class``, q is found
    for each class among its own documents, and the promise holds within every class.

    A class with too few documents for (1), m being 0, is in every set. A set that would be empty holds the
    most probable class: coverage only rises by that.

    References
    ----------
    Vovk, Gammerman, Shafer (2005), *Algorithmic learning in a random world*, sections 2.2 and 4.5
    (Mondrian); Sadinle, Lei, Wasserman (2019), "Least ambiguous set-valued classifiers with bounded error
    levels", for sets of this form.

    Examples
    --------
    >>> log_p = np.log([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
    >>> sets = Sets.of(HeldOut.of(log_p, np.array([0, 1, 1, 1])), coverage=0.75)
    >>> sets.of_posteriors(np.log([[0.5, 0.5], [0.7, 0.3]]))
    array([[ True,  True],
           [ True, False]])
    """

    coverage: float
    limits: Floats  # (J,): the least probability that is in a set, of each class that was met
    by_class: bool = False

    @classmethod
    def of(cls, held_out: HeldOut, coverage: float = 0.9, by_class: bool = False) -> Sets:
        """The sets that cover the truth with a probability of ``coverage``, overall or within each class."""
        _inside(coverage, "the coverage")
        if not len(held_out):
            raise NoData("there are no documents to base a guarantee on")
        if not by_class:
            limit = _limit(held_out.p_truth, coverage)
            if limit is None:
                raise InputError(
                    f"a coverage of {coverage:g} takes more than {len(held_out):,} documents: every set "
                    "would hold every class",
                    hint=f"ask for at most {len(held_out) / (len(held_out) + 1):.4g}, or learn from "
                    f"{math.ceil(1 / (1 - coverage) - 1e-9) - 1:,} rows",
                )
            return cls(coverage, np.array([limit]), False)
        J = int(held_out.truth.max()) + 1
        found = [_limit(held_out.p_truth[held_out.truth == k], coverage) for k in range(J)]
        return cls(coverage, np.array([0.0 if limit is None else limit for limit in found]), True)

    def least(self, K: int) -> Floats:
        """The least probability with which each of K classes is in a set, (K,); 0 for one that always is."""
        if not self.by_class:
            return np.full(K, self.limits[0])
        return np.concatenate([self.limits, np.zeros(max(K - len(self.limits), 0))])[:K]

    def always(self, K: int) -> Integers:
        """Which of K classes are in every set, having too few documents to promise anything of."""
        return np.flatnonzero(self.least(K) == 0)

    def of_posteriors(self, log_posterior: Floats) -> Mask:
        """Whether each class is in the set of each document of these log-posteriors: (N, K)."""
        N, K = log_posterior.shape
        within = np.exp(log_posterior) >= self.least(K) * NEAR
        empty = ~within.any(axis=1)
        within[np.arange(N)[empty], log_posterior[empty].argmax(axis=1)] = True
        return np.asarray(within)


def _limit(p_truth: Floats, coverage: float) -> float | None:
    """The m-th smallest probability of a true class; None if there are too few."""
    m = math.floor((len(p_truth) + 1) * (1 - coverage) + 1e-9)  # (1); 0.1 * 10 is not quite 1
    return float(np.partition(p_truth, m - 1)[m - 1]) if m else None
