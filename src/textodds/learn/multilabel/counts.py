r"""Naive Bayes of several labels: each label against the rest, from counts by set of labels.

Model
-----
With :math:`n_{kv}` the occurrences of word v in texts that have label k, and :math:`n_v` those in all texts,

.. math::
    \theta_{kv} = \frac{n_{kv} + \alpha}{\sum_u (n_{ku} + \alpha)}, \qquad
    \bar\theta_{kv} = \frac{n_v - n_{kv} + \alpha}{\sum_u (n_u - n_{ku} + \alpha)}          \tag{1}

.. math::
    \log\frac{p(k \mid x)}{1 - p(k \mid x)} = \log\frac{\pi_k}{1 - \pi_k}
        + \sum_v x_v \log\frac{\theta_{kv}}{\bar\theta_{kv}}                                 \tag{2}

The rest is all texts less those of the label, so that only counts by label are needed; they are sums over
sets of labels, which add and subtract. A word that no text of the label has weighs
:math:`\log\alpha - \log(n_v + \alpha)` and a constant of the label: only words that were seen with a label
are stored for it, and 10,000 labels cost what they contain.
"""

from __future__ import annotations

import numpy as np

from textodds.errors import Unsupported
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LinearModel, Weights, log
from textodds.learn.multilabel.membership import Membership
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.stats.tally import Counts


def fit(learner: MultinomialLearner, counts: Counts, sets: Membership) -> LinearModel:
    r"""The log-odds of each label, of counts by set.

    Examples
    --------
    >>> from textodds.stats.tally import Tally
    >>> counts = Tally.of(["see", "see free", "free"], ["\x1e", "\x1ea", "\x1ea\x1eb"]).counts()
    >>> form = fit(MultinomialLearner(alpha=1.0), counts, Membership.of(counts.classes))
    >>> form.classes, np.exp(form.weights.rows(np.arange(2))).round(3)  # of `see` and of `free`
    (('a', 'b'), array([[0.6  , 0.556],
           [1.8  , 1.667]]))
    """
    if np.ndim(learner.smoothing):
        raise Unsupported("a smoothing for each word is for one label a text", hint="give one alpha")
    alpha, K, V = float(np.asarray(learner.smoothing, np.float64)), len(sets.labels), counts.n_features
    n = counts.documents if learner.binary else counts.occurrences  # (C,) by word and set
    starts, label_of, mine = _by_label(counts, n, sets)
    whole = counts.by_feature(n)  # (V,)
    total = np.bincount(label_of, mine, K).astype(np.float64, copy=False)  # (K,)
    feature_of = np.repeat(np.arange(V), np.diff(starts).astype(np.intp))
    ours = log(total + alpha * V)
    theirs = log(whole.sum() - total + alpha * V)
    ratio = log(mine + alpha) - log(np.maximum(whole[feature_of] - mine, 0.0) + alpha)
    cells = ratio - ours[label_of] + theirs[label_of]  # (1), (2)
    default = log(np.array([alpha])) - ours + theirs
    weights = Weights.of_cells(default, starts, label_of, cells, slope=np.ones(K), base=-log(whole + alpha))
    with_label = sets.totals(counts.class_documents)
    prior = log_odds(with_label, float(counts.class_documents.sum()))
    return LinearModel(sets.labels, prior, np.zeros(K), weights, presence=learner.binary)


def log_odds(with_label: Floats, n: float) -> Floats:
    """The log-odds of labels that so many of n documents have, (K,), half of one added to both sides."""
    return np.asarray(np.log(with_label + 0.5) - np.log(np.maximum(n - with_label, 0.0) + 0.5))


def _by_label(counts: Counts, n: Floats, sets: Membership) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Cells by word and label: where each word begins (V + 1,), their labels and their sums."""
    K, V = len(sets.labels), counts.n_features
    cell, label = sets.spread(counts.class_of.astype(np.int64))
    key = counts.feature_of[cell] * np.int64(K) + label
    cells, which = np.unique(key, return_inverse=True)
    sums = np.bincount(which, n[cell], len(cells)).astype(np.float64, copy=False)
    lengths = np.bincount(cells // K, minlength=V) if K else np.zeros(V, np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    return starts, (cells % max(K, 1)).astype(np.uint32), sums
