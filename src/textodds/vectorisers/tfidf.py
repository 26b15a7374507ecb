"""Tf-idf, as scikit-learn has it."""

from __future__ import annotations

from sklearn.feature_extraction import text as parent
from sklearn.feature_extraction.text import TfidfTransformer

from textodds.vectorisers.count import CountVectorizer

__all__ = ["TfidfTransformer", "TfidfVectorizer"]


class TfidfVectorizer(parent.TfidfVectorizer, CountVectorizer):  # type: ignore[misc]
    r"""scikit-learn's ``TfidfVectorizer`` over the counts of `CountVectorizer`.

    Model
    -----
    Term v, which occurs :math:`n_{iv}` times in document i and is in :math:`d_v` of N documents, has

    .. math::
        x_{iv} = \frac{n_{iv}\, g_v}{\lVert n_i\, g \rVert}, \qquad g_v = 1 + \ln\frac{1 + N}{1 + d_v}   \tag{1}

    with :math:`1 + \ln n_{iv}` in the place of :math:`n_{iv}` if ``sublinear_tf``, and no ones under the
    logarithm without ``smooth_idf``. The numbers are scikit-learn's to the last bit.

    Parameters
    ----------
    norm, use_idf, smooth_idf, sublinear_tf and those of `CountVectorizer`
        As in scikit-learn.

    Differs
    -------
    As `CountVectorizer`.

    Examples
    --------
    >>> TfidfVectorizer().fit_transform(["free phone", "free"]).toarray().round(3)
    array([[0.58 , 0.815],
           [1.   , 0.   ]])
    """
