"""Each class by what the others are not: complement naive Bayes and its weighted forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.learn.arrays import Floats, SparseRows
from textodds.learn.conditionals.estimate import Conditional, Estimate, alpha_of, log_table, log_total
from textodds.learn.forms.linear import Weights, log
from textodds.stats.tally import Counts


@dataclass(frozen=True)
class Complement(Conditional):
    r"""A document is scored against the words of all other classes.

    Model
    -----
    With :math:`n_{kv}` occurrences of word v in class k and :math:`n_v` in all,

    .. math::
        \hat\theta_{\bar k v} &= \frac{n_v - n_{kv} + \alpha_v}
            {\sum_u (n_u - n_{ku} + \alpha_u)}                                      \tag{1} \\
        w_{kv} &= -\log\hat\theta_{\bar k v}                                        \tag{2}

    and if ``norm``, the weights of a class are divided by their sum of absolute values (WCNB):

    .. math::
        w_{kv} \leftarrow \frac{\log\hat\theta_{\bar k v}}
            {\sum_u |\log\hat\theta_{\bar k u}|} \cdot (-1)                         \tag{3}

    The score is :math:`\sum_v x_v w_{kv}`; there is no prior, unless there is one class only. It is
    no log-likelihood: normalised scores order classes, and are no probabilities.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        :math:`\alpha` in (1).
    norm : bool, default False
        Use (3): long classes do not win by the size of their weights.
    transform : bool, default False
        Estimate from transformed training documents, see `transformed`. With ``norm`` this is the
        TWCNB of the paper. Every document's counts then depend on all others: such a model can
        neither learn nor forget, only be trained again.

    References
    ----------
    Rennie, Shih, Teevan and Karger (2003), "Tackling the poor assumptions of naive Bayes text
    classifiers", table 4; (1) is its step 4, (2) step 5, (3) step 6.

    Differs
    -------
    scikit-learn's ``ComplementNB(norm=True)`` is steps 4 to 6; steps 1 to 3 are ``transform`` here.
    In (3) the sign is kept so that the largest score wins, as in scikit-learn.

    Examples
    --------
    >>> from textodds.stats.tally import Tally
    >>> counts = Tally.of(["see see", "free"], ["ham", "spam"]).counts()
    >>> Complement().fit(counts).weights.rows(np.arange(2)).round(3)
    array([[1.099, 0.288],
           [0.405, 1.386]])
    """

    norm: bool = False
    transform: bool = False
    is_likelihood = False

    def fit(self, counts: Counts) -> Estimate:
        """The estimate (1) to (3)."""
        n = counts.occurrences  # (C,)
        alpha = np.broadcast_to(alpha_of(self.alpha, counts), counts.n_features)  # (V,)
        everywhere = counts.by_feature(n) + alpha  # (V,) n_v + α_v
        log_total = log(everywhere.sum() - counts.by_class(n))  # (K,)
        log_all = log(everywhere)  # (V,)
        # Sums of counts that cancel exactly may leave a trace below zero.
        others = np.maximum(everywhere[counts.feature_of] - n, alpha[counts.feature_of])
        log_theta = log(others) - log_total[counts.class_of]  # (C,) (1)
        if self.norm:
            sums = log_all.sum() - counts.n_features * log_total  # (K,) of words not in the class
            sums += counts.by_class(log_theta - (log_all[counts.feature_of] - log_total[counts.class_of]))
            scale = 1 / np.where(sums == 0, 1.0, sums)  # (3)
        else:
            scale = np.full(len(log_total), -1.0)  # (2)
        weights = Weights.of_cells(
            -log_total * scale,
            counts.starts,
            counts.class_of,
            log_theta * scale[counts.class_of],
            slope=scale,
            base=log_all,
        )
        return Estimate(np.zeros(len(log_total)), weights)

    def fit_table(self, n: Floats, rows: Floats) -> tuple[Floats, Floats]:
        """Intercepts (K,) and weights (K, V) from a full table of counts (K, V): those of `fit`."""
        others = n.sum(axis=0) - n  # (K, V) never below zero, since rounding keeps the order of sums
        others += np.asarray(self.alpha)
        total = log_total(others.sum(axis=1), n.shape[1])  # (K,)
        w = log_table(others)
        w -= total[:, None]  # (1)
        if not self.norm:
            return np.zeros(len(rows)), np.negative(w, out=w)  # (2)
        sums = w.sum(axis=1)
        w /= np.where(sums == 0, 1.0, sums)[:, None]  # (3)
        return np.zeros(len(rows)), w


def transformed(rows: SparseRows, document_frequency: Floats, n_documents: float) -> SparseRows:
    r"""Rows (N, V), sparse, after the transforms of TWCNB, steps 1 to 3 of table 4.

    .. math::
        d_{iv} &\leftarrow \log(1 + d_{iv}) \\
        d_{iv} &\leftarrow d_{iv} \log(N / \mathrm{df}_v) \\
        d_{iv} &\leftarrow d_{iv} / \lVert d_i \rVert_2

    Examples
    --------
    >>> from scipy import sparse
    >>> rows = sparse.csr_array([[3.0, 0.0], [1.0, 1.0]])
    >>> transformed(rows, np.array([1.0, 1.0]), 2).toarray().round(3)
    array([[1.   , 0.   ],
           [0.707, 0.707]])
    """
    rows = rows.copy()
    rows.data = np.log1p(rows.data)
    rows.data *= np.log(n_documents / document_frequency)[rows.indices]
    length = np.sqrt(
        np.bincount(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.data**2, rows.shape[0])
    )
    rows.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(rows.indptr))
    return rows
