"""Counts of hashed words by document, as scikit-learn has them."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.feature_extraction import text as parent
from sklearn.preprocessing import normalize

from textodds import _kernels
from textodds.interop.vectorisers.count import CSR, csr
from textodds.interop.vectorisers.raw_documents import Documents, hold, plain, replayable
from textodds.interop.vectorisers.settings import analyser_of
from textodds.stats.tally import default_threads

MOST_COLUMNS = 1 << 24  # beyond so many columns scikit-learn's own code runs


class HashingVectorizer(parent.HashingVectorizer, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """scikit-learn's ``HashingVectorizer``: same parameters, same matrix, in less time.

    The kernels do the work under the conditions of `CountVectorizer`, with up to 2**24 columns; it differs as
    that one does.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
    token_pattern, ngram_range, analyzer, n_features, binary, norm, alternate_sign, dtype
        As in scikit-learn.

    Examples
    --------
    >>> X = HashingVectorizer(n_features=16, norm=None).transform(["free phone", "see you: free"])
    >>> X.shape, X.toarray()[0].nonzero()[0]
    ((2, 16), array([12, 14]))
    """

    def transform(self, X: Documents) -> CSR:
        """The hashed counts (N, n_features) of documents."""
        documents = replayable(self, X)
        analyser = analyser_of(self, parent.HashingVectorizer)
        n = self.n_features
        is_whole = isinstance(n, Integral) and not isinstance(n, bool)
        fits = len(documents) and is_whole and 1 <= n <= MOST_COLUMNS
        if analyser is None or not fits:
            return super().transform(plain(documents))
        self._validate_ngram_range()
        self.build_analyzer()  # which looks at the stop words
        texts = hold(self, documents)
        if texts is None:
            return super().transform(plain(documents))
        signed, threads = bool(self.alternate_sign), default_threads()
        rows = _kernels.hashed_rows(analyser, self.n_features, signed, texts, threads)
        counted = csr(self, rows, self.n_features)
        if self.norm is None:
            return counted
        is_plain = counted.dtype == np.float64 and counted.indices.dtype == np.int32
        if not is_plain or self.norm not in ("l1", "l2"):
            return normalize(counted, norm=self.norm, copy=False)
        starts = counted.indptr.astype(np.int64)
        _kernels.weigh_rows(starts, counted.indices, counted.data, np.zeros(0), self.norm)
        return counted
