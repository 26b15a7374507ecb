"""Tf-idf, as scikit-learn has it."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.feature_extraction import text as parent
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds import _kernels
from textodds.interop.containers import Rows, Samples
from textodds.interop.vectorisers.count import CSR, CountVectorizer, as_configured
from textodds.interop.vectorisers.raw_documents import Documents


class TfidfTransformer(parent.TfidfTransformer, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """scikit-learn's ``TfidfTransformer``: same parameters, same numbers to the last bit, in less time.

    The kernels weigh sparse rows of float64; other rows, and the norm ``max``, are left to scikit-learn.

    Parameters
    ----------
    norm, use_idf, smooth_idf, sublinear_tf
        As in scikit-learn; see `TfidfVectorizer` for the formula.

    Examples
    --------
    >>> TfidfTransformer(use_idf=False).fit_transform(sparse.csr_array([[3.0, 4.0]])).toarray()
    array([[0.6, 0.8]])
    """

    def transform(self, X: Samples, copy: bool = True) -> Rows:
        """Weigh the counts of rows (N, V)."""
        check_is_fitted(self)
        kinds = [np.float64, np.float32]
        rows = validate_data(self, X, accept_sparse="csr", dtype=kinds, copy=copy, reset=False)
        scale = getattr(self, "idf_", np.zeros(0))
        is_plain = sparse.issparse(rows) and _is_plain(rows, scale) and self.norm in (None, "l1", "l2")
        if not is_plain or (self.sublinear_tf and rows.nnz and rows.data.min() <= 0):
            return super().transform(rows, copy=False)
        if self.sublinear_tf:
            np.log(rows.data, rows.data)
            rows.data += 1.0
        _kernels.weigh_rows(rows.indptr.astype(np.int64), rows.indices, rows.data, scale, self.norm or "")
        return as_configured(rows)


def _is_plain(X: CSR, scale: object) -> bool:
    """Whether rows are such as the kernels take, with a scale for each column, or none."""
    if not isinstance(scale, np.ndarray) or scale.dtype != np.float64 or not scale.flags.c_contiguous:
        return False
    if scale.shape not in ((0,), (X.shape[1],)):
        return False
    if X.nnz and not (X.indices.min() >= 0 and X.indices.max() < X.shape[1]):
        return False
    used = scale if scale.size <= X.nnz else scale[X.indices]
    is_writeable = X.data.flags.writeable and X.data.flags.c_contiguous
    is_finite = np.isfinite(used).all()
    return bool(is_finite and X.dtype == np.float64 and X.indices.dtype == np.int32 and is_writeable)


class TfidfVectorizer(parent.TfidfVectorizer, CountVectorizer):  # type: ignore[misc]
    r"""scikit-learn's ``TfidfVectorizer`` over the counts of `CountVectorizer`.

    Model
    -----
    Term v, which occurs :math:`n_{iv}` times in document i and is in :math:`d_v` of N documents, has

    .. math::
        x_{iv} = \frac{n_{iv}\, g_v}{\lVert n_i\, g \rVert}, \qquad
        g_v = 1 + \ln\frac{1 + N}{1 + d_v}                                          \tag{1}

    with :math:`1 + \ln n_{iv}` in the place of :math:`n_{iv}` if ``sublinear_tf``, and no ones under the
    logarithm without ``smooth_idf``. The numbers are scikit-learn's to the last bit; it differs as
    `CountVectorizer` does.

    Parameters
    ----------
    norm, use_idf, smooth_idf, sublinear_tf and those of `CountVectorizer`
        As in scikit-learn.

    Examples
    --------
    >>> TfidfVectorizer().fit_transform(["free phone", "free"]).toarray().round(3)
    array([[0.58 , 0.815],
           [1.   , 0.   ]])
    """

    def fit(self, raw_documents: Documents, y: object = None) -> TfidfVectorizer:
        """Learn the vocabulary and how many documents hold each term."""
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Documents, y: object = None) -> CSR:
        """Learn from documents, and weigh their terms, (N, V)."""
        counts = self._learn(raw_documents)
        return self._tfidf.transform(counts, copy=False)

    def _learn(self, raw_documents: Documents) -> CSR:
        """The counts, after it was learned from them."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        self._check_params()
        counts = CountVectorizer.fit_transform(self, raw_documents)
        self._tfidf = TfidfTransformer(
            norm=self.norm, use_idf=self.use_idf, smooth_idf=self.smooth_idf, sublinear_tf=self.sublinear_tf
        ).fit(counts)
        return counts
