r"""Softmax regression pooled with naive Bayes of the same rows: log-linear, so that it stays one linear form.

.. math::
    p(k \mid x) \propto p_\text{softmax}(k \mid x)^{\beta}\; p_\text{nb}(k \mid x)^{\beta a}, \qquad
    a \ge 0                                                                          \tag{1}

A product of linear models is linear, and its weights are sums: with u those of softmax regression and r the
log-ratios of naive Bayes (`textodds.learn.softmax.penalty.log_ratios`), by presence,

.. math::
    w_{vk} = u_{vk} + a\, r_{vk} / \rho_v                                            \tag{2}

:math:`\rho_v` being what the features are scaled by already (1, where they are not): the rows have it, and
naive Bayes is of features that are not scaled. So it costs nothing in prediction or in a file. The two err on
different texts: one finds weights that are best together, of few texts too close to them, the other finds
each weight alone. :math:`\beta` is the slope of the calibration.

References
----------
Genest and Zidek (1986), "Combining probability distributions", section 3, for (1); Ng and Jordan (2001), "On
discriminative vs. generative classifiers"; Raina, Shen, Ng, McCallum (2003), "Classification with hybrid
generative/discriminative models".
"""

from __future__ import annotations

import numpy as np

from textodds.errors import Unsupported
from textodds.learn.arrays import Floats, Integers
from textodds.learn.design import Design, DesignMatrix
from textodds.learn.softmax.penalty import centre, log_ratios

SMOOTHING = 0.3
"""Pseudo-counts of naive Bayes in a pool, where it has not scaled the features: with others than those that
it scaled them by, a word that says nothing by one and something by the other would have no bounds in (2)."""


def pooled_weights(
    presence: Floats, factor: Floats | None, share: float, smoothing: float = SMOOTHING
) -> Floats:
    """What a pool adds to the weights of rows whose features are scaled by ``factor`` (V,), (V, M).

    ``presence`` (V, K) is the weight of the texts of each class with each word.

    Examples
    --------
    >>> pooled_weights(np.array([[3.0, 0.0], [0.0, 2.0]]), None, 0.5).round(3)  # of two classes, the second's
    array([[-1.036],
           [ 1.181]])
    """
    ratios = log_ratios(presence, smoothing)
    ratios[:, presence.sum(axis=0) == 0.0] = 0.0  # a class without texts
    own = centre(ratios)
    if factor is not None:  # a word that says nothing has the factor 0, or is not known
        own = own * np.divide(1.0, factor, out=np.zeros_like(factor), where=factor != 0.0)[:, None]
    return share * own  # (2)


def presence_in(design: Design, codes: Integers, weights: Floats, n_classes: int) -> Floats:
    """The presence (V, K) of words in a design of texts; refuses other rows."""
    if not isinstance(design, DesignMatrix):
        raise Unsupported(
            "`naive_bayes` pools softmax regression with naive Bayes of words, and these rows are not of "
            "words alone",
            hint="leave it out; it is for models of texts",
        )
    return design.presence(codes, weights, n_classes)
