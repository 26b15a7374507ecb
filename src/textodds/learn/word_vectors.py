"""Words that know their neighbours: a prior under which words of the same texts have like weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from textodds.learn.arrays import Floats, Integers, Mask
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.stats.compressed_rows import CompressedRows, beside, of_dense, stacked
from textodds.text import Vocabulary

SIZE = 100
"""Numbers of a word's vector: on AG News and 20 Newsgroups 300 were no better, with few labels worse."""

BEYOND, PASSES = 10, 3
"""Directions that are sought beside, and passes over the rows, so that the wanted ones are found well."""

FEW, CELLS = 10, 1 << 24
"""Times as many rows as directions, and numbers in all, up to which nothing is left to chance."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    r"""Vectors of words, and the mean and spread of the texts that are made of them.

    Model
    -----
    Softmax regression of texts x has weights :math:`w_k` with a Gaussian prior. Here the prior knows which
    words are alike: with E (V, D) the vectors of words,

    .. math::
        w_k = u_k + \tfrac{s}{r} E\, a_k, \qquad u_k \sim N(0, C I),\quad a_k \sim N(0, C I)  \tag{1}

    so that :math:`\operatorname{cov} w_k = C (I + \tfrac{s^2}{r^2} E E^\top)`. The posterior mode is that of
    softmax regression of the rows

    .. math:: [\,x,\; s\,(E^\top x - m) / r\,]                                         \tag{2}

    m being the mean of :math:`E^\top x` over all texts and :math:`r^2` their mean squared distance to it.
    What is found folds into one weight a word, by (1), and an intercept
    :math:`b_k - \tfrac{s}{r} m^\top a_k`: words that no labelled text has get weights too.

    Vectors come from a file (`given`), or are those of latent semantic analysis (`of`, `updated`): with
    :math:`X \approx P S Q^\top` the truncated singular value decomposition of the tf-idf rows of all texts,
    labelled or not, :math:`E = Q S^{1/2}`.

    References
    ----------
    Deerwester et al. (1990), *Indexing by latent semantic analysis*. Halko, Martinsson and Tropp (2011),
    *Finding structure with randomness*, algorithm 4.4, for the decomposition.
    """

    vectors: Floats  # (W, D) of some features
    places: Integers  # (V,) the vector of each feature, -1 for none
    mean: Floats  # (D,)
    spread: float

    @classmethod
    def of(cls, rows: CompressedRows, are_words: Mask, size: int = SIZE) -> Neighbours:
        """The neighbours of those features (V,) that are words, in the rows of all texts."""
        places = np.where(are_words, np.cumsum(are_words) - 1, -1).astype(np.int64)
        return cls.given(rows, places, made(of_words(rows, places, int(are_words.sum())), size))

    @classmethod
    def given(cls, rows: CompressedRows, places: Integers, vectors: Floats) -> Neighbours:
        """The neighbours by vectors (W, D) that come from elsewhere; ``places`` (V,) is -1 where none is."""
        if not vectors.shape[1]:
            return cls(vectors, places, np.zeros(0), 1.0)
        found = of_words(rows, places, len(vectors)) @ vectors
        mean = found.mean(axis=0) if len(found) else np.zeros(vectors.shape[1])
        spread = float(np.sqrt(np.einsum("ij,ij->", found - mean, found - mean) / max(len(found), 1)))
        return cls(vectors, places, mean, spread or 1.0)

    @classmethod
    def updated(
        cls, rows: CompressedRows, places: Integers, before: Floats, means: Floats, n: float
    ) -> Neighbours:
        r"""The neighbours in n texts whose rows are not there, and in the rows of others.

        Of the first, :math:`X_0 \approx P_0 S_0 Q_0^\top`, there is :math:`Q_0 S_0` (``before``, (U, D), of
        the first U words) and the mean of the rows (``means``, (U,)). Since :math:`X_0^\top X_0 \approx Q_0
        S_0^2 Q_0^\top`, the decomposition of all is that of :math:`[S_0 Q_0^\top;\, X]`: updating of latent
        semantic indexing (Zha and Simon 1999, *On updating problems in latent semantic indexing*, eq. 3.4).
        """
        U, W = len(before), max(int(places.max(initial=-1)) + 1, len(before))
        own = of_words(rows, places, W)
        first = of_dense(np.hstack([before.T, np.zeros((before.shape[1], W - U))]))
        vectors = made(stacked([first, own], W))
        if not vectors.shape[1]:
            return cls(vectors, places, np.zeros(0), 1.0)
        found, total = own @ vectors, n + rows.shape[0]
        mean = (n * (means @ vectors[:U]) + found.sum(axis=0)) / total
        squares = np.square(before.T @ vectors[:U]).sum() + np.einsum("ij,ij->", found, found)
        return cls(vectors, places, mean, float(np.sqrt(max(squares / total - mean @ mean, 0.0))) or 1.0)

    def rows(self, rows: CompressedRows, strength: float) -> CompressedRows:
        """The rows of (2), (N, V + D); without strength, (N, V), they are as they were."""
        if not strength or not self.vectors.shape[1]:
            return rows
        found = of_words(rows, self.places, len(self.vectors)) @ self.vectors
        return beside([rows, of_dense(strength * (found - self.mean) / self.spread)])

    def folded(self, model: LinearModel, strength: float) -> LinearModel:
        """The model of the rows of (2) as one of the features alone, by (1)."""
        if not strength or not self.vectors.shape[1]:
            return model
        V, share = len(self.places), strength / self.spread
        weights, a = model.weights.rows(np.arange(V)), model.weights.rows(np.arange(V, model.n_features))
        own = np.vstack([share * (self.vectors @ a), np.zeros((1, a.shape[1]))])
        intercept = model.intercept - share * (self.mean @ a)
        return replace(model, weights=Weights.of_matrix(weights + own[self.places]), intercept=intercept)

    def weights_of(self, model: LinearModel, strength: float, vectors: Floats) -> Floats:
        """Weights (M, K), by (1), of words with vectors (M, D) that no row has: u is 0."""
        a = model.weights.rows(np.arange(len(self.places), model.n_features))
        return np.asarray(strength / self.spread * (vectors @ a))


def made(rows: CompressedRows, size: int = SIZE) -> Floats:
    """Vectors of the features of rows (N, V), (V, D): those that occur with the same others are alike.

    Examples
    --------
    >>> from textodds.stats.compressed_rows import of_dense
    >>> texts = of_dense(np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]]))
    >>> E = made(texts, 2)
    >>> bool(E[0] @ E[1] > 0.9 and abs(E[0] @ E[2]) < 1e-9)
    True
    """
    scaled, values = factor(rows, size)
    return np.asarray(scaled / np.sqrt(values))  # Q S^(1/2)


def factor(rows: CompressedRows, size: int = SIZE) -> tuple[Floats, Floats]:
    """Q S (V, D), the truncated decomposition of rows (N, V) without its left side, and S (D,)."""
    N, V = rows.shape
    wide = min(size + BEYOND, N, V)
    if not wide or not len(rows.data):
        return np.zeros((V, 0)), np.zeros(0)
    if FEW * wide >= N and N * V <= CELLS:
        short = rows.toarray().T
    else:
        basis = np.random.default_rng(0).standard_normal((V, wide))
        for _ in range(PASSES):
            basis = np.linalg.qr(rows.T @ np.linalg.qr(rows @ basis)[0])[0]  # (V, wide)
        left = np.linalg.qr(rows @ basis)[0]  # (N, wide)
        short = rows.T @ left  # (V, wide), whose singular values and left vectors are those of Xᵀ
    squares, turn = np.linalg.eigh(short.T @ short)
    best = np.argsort(-squares, kind="stable")[: min(size, wide)]
    kept = best[squares[best] > 1e-12 * max(squares.max(), 1e-300)]
    return np.asarray(short @ turn[:, kept]), np.sqrt(squares[kept])


def is_word(term: str) -> bool:
    """Whether a term is a single word, rather than a pair or a run of letters."""
    return " " not in term and not term.startswith("~")


def are_single_words(vocabulary: Vocabulary) -> Mask:
    """Which terms (V,) are single words."""
    words = vocabulary.words()
    return np.fromiter(map(is_word, words), np.bool_, len(words))


def of_words(rows: CompressedRows, places: Integers, width: int) -> CompressedRows:
    """The rows of those features that have places, (N, W)."""
    at = places[rows.indices]
    keep = at >= 0
    before = np.concatenate([[0], np.cumsum(keep)])
    return CompressedRows((rows.data[keep], at[keep], before[rows.indptr]), (rows.shape[0], width))
