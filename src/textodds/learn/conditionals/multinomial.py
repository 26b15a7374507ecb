"""Words drawn one by one: the multinomial distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textodds.learn.arrays import Floats
from textodds.learn.conditionals.estimate import Conditional, Estimate, alpha_of, log_table, log_total
from textodds.learn.forms.linear import Weights, log
from textodds.stats.tally import Counts


@dataclass(frozen=True)
class Multinomial(Conditional):
    r"""A document of class k is a sequence of independent draws from ``θ_k``.

    Model
    -----
    With :math:`x_v` occurrences of word v,

    .. math::
        \log p(x \mid k) = \text{const}(x) + \sum_v x_v \log\theta_{kv}             \tag{1}

    and the posterior mean under a Dirichlet prior with pseudo-counts :math:`\alpha_v` is

    .. math::
        \hat\theta_{kv} = \frac{n_{kv} + \alpha_v}{N_k + \sum_u \alpha_u},
        \qquad N_k = \sum_u n_{ku}                                                  \tag{2}

    where the sums go over the V words of the model: those it has seen and kept. Words learned later
    enlarge V; reading never does. Under feature hashing V is the number of buckets in use.

    Parameters
    ----------
    alpha : float or array of V, default 1.0
        :math:`\alpha` in (2). At 0 an unseen word is impossible: see `textodds.learn.forms.linear.LOG_ZERO`.
    binary : bool, default False
        Count a word once a document, in training and in prediction.

    References
    ----------
    Manning, Raghavan, Schütze (2008), *Introduction to Information Retrieval*, section 13.2; (2) at
    1.0 is its eq. 119 (online edition). McCallum and Nigam (1998), eq. 6.

    Differs
    -------
    At ``alpha=0`` scikit-learn gives -inf, and NaN where all classes are impossible; here scores
    stay finite and the class with the fewest impossible words wins. With ``HashingVectorizer``
    scikit-learn counts empty buckets in V; here an empty bucket is an unknown word.

    Examples
    --------
    >>> from textodds.stats.tally import Tally
    >>> counts = Tally.of(["see see", "free"], ["ham", "spam"]).counts()
    >>> np.exp(Multinomial().fit(counts).weights.rows(np.arange(2))).round(3)
    array([[0.75 , 0.333],
           [0.25 , 0.667]])
    """

    binary: bool = False

    @property
    def presence(self) -> bool:
        """Words count once in a binary model."""
        return self.binary

    def fit(self, counts: Counts) -> Estimate:
        """The estimate (2)."""
        if self.binary:
            counts = counts.binary()
        n = counts.occurrences  # (C,)
        alpha = np.broadcast_to(alpha_of(self.alpha, counts), counts.n_features)  # (V,)
        log_total = log(counts.by_class(n) + alpha.sum())  # (K,)
        cells = log(n + alpha[counts.feature_of]) - log_total[counts.class_of]  # (2)
        if np.ndim(self.alpha) == 0:
            default, slope, base = log(np.asarray([self.alpha])) - log_total, None, None
        else:
            default, slope, base = -log_total, np.ones(len(log_total)), log(alpha)
        weights = Weights.of_cells(default, counts.starts, counts.class_of, cells, slope=slope, base=base)
        return Estimate(np.zeros(len(log_total)), weights)

    def fit_table(self, n: Floats, rows: Floats) -> tuple[Floats, Floats]:
        """Intercepts (K,) and weights (K, V) from a full table of counts (K, V): those of `fit`."""
        theta = n + np.asarray(self.alpha)
        total = log_total(theta.sum(axis=1), n.shape[1])  # (K,)
        theta = log_table(theta)
        theta -= total[:, None]
        return np.zeros(len(rows)), theta
