"""Counts of words by document, as scikit-learn has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.feature_extraction import text as parent

from textodds import _kernels
from textodds.interop.vectorisers.names import Names
from textodds.interop.vectorisers.raw_documents import Documents, Vectoriser, hold, plain, replayable
from textodds.interop.vectorisers.settings import analyser_of
from textodds.stats.tally import default_threads

CSR: TypeAlias = sparse.csr_array | sparse.csr_matrix
"""Sparse rows, as scikit-learn is told to give them."""


class CountVectorizer(parent.CountVectorizer):  # type: ignore[misc]
    r"""scikit-learn's ``CountVectorizer``: same parameters, same vocabulary, same matrix, in less time.

    The kernels do the work where ``analyzer`` is ``word``, ``char`` or ``char_wb``, up to 16 units make a
    term, and ``token_pattern`` is a run of ``\w``, of ``\S`` or of ASCII letters and digits, such as the
    default, ``\w+``, ``\b\w{3,}\b``, ``\S+``, ``[a-zA-Z]+`` (see `textodds.text.settings.unit_of`). With
    callables, other patterns or methods that a subclass overrides, scikit-learn's own code runs.

    All cores are used; ``TEXTODDS_THREADS`` limits them. Every number gives the same matrix.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words
        As in scikit-learn.
    token_pattern, ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As in scikit-learn.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term; made when it is first looked at.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

    Differs
    -------
    Documents may also be an Arrow array of strings. A generator of documents is held in memory until they
    are counted. ``vocabulary_`` may be replaced, but to change it in place has no effect.

    Examples
    --------
    >>> vectoriser = CountVectorizer()
    >>> vectoriser.fit_transform(["free phone", "see you: free"]).toarray()
    array([[1, 1, 0, 0],
           [1, 0, 1, 1]])
    >>> vectoriser.get_feature_names_out()
    array(['free', 'phone', 'see', 'you'], dtype=object)
    """

    def fit_transform(self, raw_documents: Documents, y: object = None) -> CSR:
        """Learn the vocabulary, and the counts (N, V) of its terms."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        documents = replayable(self, raw_documents)
        analyser = analyser_of(self, parent.CountVectorizer)
        if analyser is None:
            return super().fit_transform(plain(documents))
        self._validate_ngram_range()
        self._warn_for_unused_params()
        self._validate_vocabulary()
        if self.fixed_vocabulary_:
            self._warn_of_upper_case()
        self.build_analyzer()  # which looks at the stop words
        texts = hold(self, documents)
        names = self._names() if self.fixed_vocabulary_ else None
        if texts is None or (self.fixed_vocabulary_ and names is None):
            return super().fit_transform(plain(documents))
        if names is not None:
            return self._count_terms(analyser, names, texts)
        vectoriser = _kernels.Vectoriser(analyser, default_threads(), self._is_real)
        vectoriser.add(texts)
        return self._learn_from(vectoriser, len(texts))

    def transform(self, raw_documents: Documents) -> CSR:
        """The counts (N, V) of the terms of the vocabulary."""
        documents = replayable(self, raw_documents)
        self._check_vocabulary()
        analyser = analyser_of(self, parent.CountVectorizer)
        names = None if analyser is None else self._names()
        if analyser is None or names is None:
            return super().transform(plain(documents))
        self.build_analyzer()
        texts = hold(self, documents)
        if texts is None:
            return super().transform(plain(documents))
        return self._count_terms(analyser, names, texts)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The terms in the order of their columns, (V,)."""
        self._check_vocabulary()
        names = self._names()
        if names is None:
            return np.asarray(super().get_feature_names_out(input_features))
        return np.array(names.words(), dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        if "vocabulary_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'vocabulary_'")
        known: dict[str, int] | Names = self.__dict__["vocabulary_"]
        return known.columns if isinstance(known, Names) else known

    @vocabulary_.setter
    def vocabulary_(self, vocabulary: dict[str, int] | Names) -> None:
        self.__dict__["vocabulary_"] = vocabulary

    @vocabulary_.deleter
    def vocabulary_(self) -> None:
        del self.__dict__["vocabulary_"]

    def _check_vocabulary(self) -> None:
        if not isinstance(self.__dict__.get("vocabulary_"), Names):
            super()._check_vocabulary()

    def _names(self) -> Names | None:
        """The terms by column as the kernels take them; None if they cannot, since the vocabulary is odd."""
        known: dict[str, int] | Names = self.__dict__["vocabulary_"]
        if isinstance(known, Names):
            return known
        given: dict[str, int] | None
        names: Names | None
        given, names = self.__dict__.get("_given", (None, None))
        if given is not known or names is None or len(names) != len(known):
            names = Names.of_columns(known)
            self._given = known, names
        return names

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in super().__getstate__().items() if name != "_given"}

    @property
    def _is_real(self) -> bool:
        return bool(np.dtype(self.dtype) == np.float64)

    def _count_terms(self, analyser: _kernels.Analyser, names: Names, texts: _kernels.Held) -> CSR:
        """The counts of the terms that have names."""
        rows = _kernels.count_rows(analyser, names.index, texts, default_threads(), self._is_real)
        return csr(self, rows, len(names))

    def _learn_from(self, vectoriser: _kernels.Vectoriser, N: int) -> CSR:
        """The counts of the columns that are wanted, in the order of their names.

        Within rows terms stand in the order in which they came, as in scikit-learn.
        """
        least, most = (
            float(df if isinstance(df, Integral) else df * N)  # whole numbers are documents, others a share
            for df in (self.min_df, self.max_df)
        )
        all_stay = (least <= 1 and most >= N) or most < least
        rows, packed, has_terms = vectoriser.finish(None if all_stay else (least, most))
        names = Names(*packed)
        if not has_terms:
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        if most < least:
            raise ValueError("max_df corresponds to < documents than min_df")
        if not len(names):
            raise ValueError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        if self.max_features is not None and len(names) > self.max_features:
            total = np.asarray(csr(self, rows, len(names)).sum(axis=0)).ravel()
            # Of terms as frequent as the last the same must stay: the order of a sort that is not stable.
            keep = np.zeros(len(names), dtype=bool)
            keep[(-total).argsort()[: self.max_features]] = True
            names = names.select(keep)
            rows = _kernels.select_columns(*rows, np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32))
        self.vocabulary_ = names
        return csr(self, rows, len(names))

    def _warn_of_upper_case(self) -> None:
        terms: Iterable[str] = self.vocabulary
        if self.lowercase and any(any(map(str.isupper, term)) for term in terms):
            warnings.warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not "
                "be matched with any documents",
                stacklevel=3,
            )


def csr(vectoriser: Vectoriser, rows: _kernels.RawCounts, V: int) -> CSR:
    """Counts as sparse rows of V columns, with the numbers that a vectoriser gives."""
    starts, columns, counts = rows
    dtype, index = vectoriser.dtype, np.int32 if starts[-1] < 2**31 else np.int64
    values = np.ones_like(counts, dtype) if vectoriser.binary else counts.astype(dtype, copy=False)
    cells = values, columns.astype(index, copy=False), starts.astype(index, copy=False)
    return as_configured(sparse.csr_array(cells, shape=(len(starts) - 1, V)))


def as_configured(X: CSR) -> CSR:
    """Sparse rows as scikit-learn is told to give them: a matrix, or an array of SciPy."""
    is_array = get_config().get("sparse_interface") == "sparray"  # it has been asked since 1.9
    if sparse.isspmatrix(X) != is_array:
        return X
    return sparse.csr_array(X) if is_array else sparse.csr_matrix(X)
