"""Every word of the vocabulary there or not: independent Bernoulli distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.errors import InputError
from textodds.learn.arrays import Floats
from textodds.learn.conditionals.estimate import Conditional, Estimate, alpha_of, log_table, log_total
from textodds.learn.forms.linear import LOG_ZERO, MOST_CELLS, Weights, log
from textodds.stats.tally import Counts


@dataclass(frozen=True)
class Bernoulli(Conditional):
    r"""A document of class k holds word v with probability ``p_kv``; absent words count too.

    Model
    -----
    With :math:`x_v` 1 if the document holds word v and 0 if not,

    .. math::
        \log p(x \mid k) = \sum_v \log(1 - p_{kv})
            + \sum_v x_v \log\frac{p_{kv}}{1 - p_{kv}}                              \tag{1}

    and with :math:`d_{kv}` of the :math:`n_k` documents of class k holding word v,

    .. math::
        \hat p_{kv} = \frac{d_{kv} + \alpha_v}{n_k + 2\alpha_v}                     \tag{2}

    The first sum in (1) is made once per class, so that a document costs what it holds.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        :math:`\alpha` in (2): a Beta(α, α) prior. One per word needs the full matrix of weights,
        since the weight of an unseen word then differs from word to word and class to class.

    References
    ----------
    McCallum and Nigam (1998), "A comparison of event models for naive Bayes text classification",
    eqs. 1 and 4.

    Differs
    -------
    Both factors of the odds are computed as logarithms of counts, never as log(1 - exp(x)), so that
    ``p = 1`` at ``alpha=0`` is no trouble; see `textodds.learn.forms.linear.LOG_ZERO`.

    Examples
    --------
    >>> from textodds.stats.tally import Tally
    >>> counts = Tally.of(["see", "see free", "free"], ["ham", "ham", "spam"]).counts()
    >>> estimate = Bernoulli().fit(counts)
    >>> np.exp(estimate.weights.rows(np.arange(2))).round(3)  # odds
    array([[3. , 0.5],
           [1. , 2. ]])
    """

    presence = True

    def fit(self, counts: Counts) -> Estimate:
        """The estimate (2)."""
        alpha = alpha_of(self.alpha, counts)
        if alpha.ndim == 1:
            return self._fit_full(counts, alpha)
        V = counts.n_features
        d, n = counts.documents, counts.class_documents  # (C,) (K,)
        cells = log(d + alpha) - log(n[counts.class_of] - d + alpha)  # (C,)
        default = log(alpha[None]) - log(n + alpha)  # (K,)
        unseen = V - counts.by_class(np.ones_like(d))  # (K,) words never seen in the class
        absent = log_absent(d + alpha, n[counts.class_of] + 2 * alpha)  # (C,)
        intercept = counts.by_class(absent) + unseen * log_absent(alpha + 0 * n, n + 2 * alpha)
        return Estimate(intercept, Weights.of_cells(default, counts.starts, counts.class_of, cells))

    def _fit_full(self, counts: Counts, alpha: Floats) -> Estimate:
        V, K = counts.n_features, len(counts.classes)
        if V * K > MOST_CELLS:
            raise InputError(
                f"a smoothing per word with {V:,} words and {K:,} classes needs {V * K * 8 / 1e9:.0f} GB",
                hint="use one alpha for all words, or fewer words (max_features)",
            )
        d = np.zeros((V, K))
        d[counts.feature_of, counts.class_of] = counts.documents
        n, a = counts.class_documents, alpha[:, None]
        intercept = log_absent(d + a, n + 2 * a).sum(axis=0)
        return Estimate(intercept, Weights.of_matrix(log(d + a) - log(n - d + a)))

    def log_p(self, d: Floats, n: Floats) -> tuple[Floats, Floats]:
        """``log p`` and ``log(1 - p)`` of (2) for full tables: of rows with a word (K, V), of rows (K,)."""
        alpha = np.asarray(self.alpha)
        total = log_total(n[:, None] + 2 * alpha, 2)  # (K, 1) or (K, V)
        present, absent = log_table(d + alpha), log_table(n[:, None] - d + alpha)
        present -= total
        absent -= total
        return present, absent

    def fit_table(self, n: Floats, rows: Floats) -> tuple[Floats, Floats]:
        """Intercepts (K,) and weights (K, V) of (1) from full tables, as in `log_p`: those of `fit`."""
        log_p, log_not = self.log_p(n, rows)
        intercept = log_not.sum(axis=1)
        log_p -= log_not
        return intercept, log_p


def log_absent(present: Floats, total: Floats) -> Floats:
    """``log(1 - present / total)``; near zero for the many rare words, so that their sum stays exact."""
    shape = np.broadcast(present, total).shape
    p = np.divide(present, total, out=np.zeros(shape), where=total > 0)
    out = np.broadcast_to(LOG_ZERO - log(total), shape).copy()  # log 0 - log total, as in the weights
    np.log1p(-p, out=out, where=p < 1)
    return out
