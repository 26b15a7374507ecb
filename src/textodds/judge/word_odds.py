r"""The words that most separate two classes, with intervals that respect how little was counted.

The weight of a word alone favours rare words: one seen once in one class and never in the other looks
decisive. Here each word's log-odds ratio comes with its standard error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textodds.errors import InputError
from textodds.judge.evaluation import Z
from textodds.learn.arrays import Floats
from textodds.stats.tally import Counts
from textodds.text import Vocabulary


class LogOddsRatios(NamedTuple):
    """Log-odds ratios of all words between two classes, (V,) each."""

    log_odds: Floats
    error: Floats  # standard errors
    count: Floats  # type: ignore[assignment]  # in the first class, and in the second
    rival_count: Floats

    @property
    def z(self) -> Floats:
        """Log-odds ratios in standard errors."""
        return self.log_odds / self.error


class SeparatingWord(NamedTuple):
    """A word, its log-odds ratio with z-score and 95 % interval, and how often each class has it."""

    word: str
    log_odds_ratio: float
    z: float
    low: float
    high: float
    count: float  # type: ignore[assignment]  # the name that fits, though tuples have a method of it
    rival_count: float


def separation(
    counts: Counts, label: int, rival: int, *, prior: float | None = None, documents: bool = False
) -> LogOddsRatios:
    r"""Log-odds ratios of all words between two classes, under a Dirichlet prior like the whole data.

    Model
    -----
    With :math:`y_{kv}` occurrences of word v in class k, :math:`n_k` in all, and a Dirichlet prior of
    :math:`\alpha_0` words that are distributed as those of all classes together,

    .. math::
        \alpha_v &= \alpha_0 \frac{\sum_k y_{kv}}{\sum_k n_k}                              \tag{1} \\
        \delta_v &= \log\frac{y_{av} + \alpha_v}{n_a + \alpha_0 - y_{av} - \alpha_v}
                  - \log\frac{y_{bv} + \alpha_v}{n_b + \alpha_0 - y_{bv} - \alpha_v}       \tag{2} \\
        \sigma_v^2 &\approx \sum_{k \in \{a, b\}} \frac1{y_{kv} + \alpha_v}
                  + \frac1{n_k + \alpha_0 - y_{kv} - \alpha_v}                             \tag{3}

    and :math:`z_v = \delta_v / \sigma_v`. Words that occur as often in both classes have :math:`\delta`
    near zero, rare ones are drawn to it, and the interval is :math:`\delta_v \pm 1.96 \sigma_v`.

    Parameters
    ----------
    prior : float or None, default None
        :math:`\alpha_0`, in words. By default a tenth of the smaller class, at most 500.
    documents : bool, default False
        Count the documents that hold a word instead of its occurrences; :math:`n_k` are then documents,
        and the odds those of a document to hold it.

    References
    ----------
    Monroe, Colaresi and Quinn (2008), "Fightin' words: lexical feature selection and evaluation for
    identifying the content of political conflict", *Political Analysis* 16(4): log-odds ratio with an
    informative Dirichlet prior.

    Differs
    -------
    (3) keeps the terms of all other words, which the paper drops as small; with few words they are not.

    Examples
    --------
    >>> from textodds.stats.tally import Tally
    >>> texts = ["win " * 30 + "you " + "the " * 69, "win " * 10 + "you " + "the " * 89]
    >>> tally = Tally.of(texts, ["a", "b"])
    >>> ratios = separation(tally.counts(), 0, 1)
    >>> tally.vocabulary.words(), ratios.log_odds.round(2), ratios.z.round(2)
    (['the', 'you', 'win'], array([-1.16,  0.  ,  1.21]), array([-3.21,  0.  ,  3.26]))
    """
    if prior is not None and not (prior > 0 and np.isfinite(prior)):
        raise InputError(
            f"the prior must be above 0, got {prior!r}", hint="it is a number of words, such as 500"
        )
    cells = counts.documents if documents else counts.occurrences
    total = counts.class_documents if documents else counts.by_class(cells)  # (K,)
    held = np.zeros((2, counts.n_features))
    for row, k in enumerate((label, rival)):
        mine = counts.class_of == k
        held[row, counts.feature_of[mine]] = cells[mine]
    n = total[[label, rival]]
    size = float(min(500.0, n.min() / 10)) if prior is None else prior
    size = size or 1.0  # a class without words
    alpha = size * counts.by_feature(cells) / max(float(total.sum()), 1e-300)  # (1)
    inside = held + alpha
    # A word that every document holds, or the only one, has no complement to compare with.
    outside = np.maximum((n + size)[:, None] - inside, size * 1e-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(inside) - np.log(outside)
        error = np.sqrt((1 / inside + 1 / outside).sum(axis=0))  # (3)
        delta = odds[0] - odds[1]  # (2)
    nowhere = alpha == 0
    return LogOddsRatios(np.where(nowhere, 0.0, delta), error, held[0], held[1])


def separating_words(ratios: LogOddsRatios, vocabulary: Vocabulary, n: int | None) -> list[SeparatingWord]:
    """The n words of largest z-score either way, or all, with intervals; the strongest first."""
    numbers = np.argsort(-np.abs(ratios.z), kind="stable")[:n]
    words = vocabulary.words(numbers)
    delta, error = ratios.log_odds[numbers], ratios.error[numbers]
    columns = (delta, delta / error, delta - Z * error, delta + Z * error)
    counts = (ratios.count[numbers], ratios.rival_count[numbers])
    return list(map(SeparatingWord, words, *(column.tolist() for column in (*columns, *counts))))
