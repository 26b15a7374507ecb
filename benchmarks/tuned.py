"""The peers at their best: settings chosen on the training set alone, every result kept once it is there.

    python benchmarks/tuned.py                 # what is missing, the cheap data sets first
    python benchmarks/tuned.py mr subjectivity

Settings are chosen by accuracy (once more by log-loss, for logistic regression) on a fifth of the training
set, drawn once, class by class; the peer is then fitted on all of it and measured on the test set. Results
depend on the data, the versions and the settings that are tried, so they are kept in
``results/best-peers.json`` and measured again where one of these differs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import peers
import textodds
from corpora import HERE, Corpora, Corpus, Missing
from kept import Measured, Place, Store, digest, versions

KEPT = HERE / "results" / "best-peers.json"

DATA = (
    "sms_spam", "mr", "subjectivity", "reuters_r8", "webkb_raw", "spamassassin", "ag_news_subset", "imdb",
    "20newsgroups", "langid_lingua",
)  # fmt: skip
"""The text sets, from cheap to dear."""

SEED, HELD = 0, 0.2
FLOOR = float(np.finfo(np.float64).eps)  # of a probability, as in scikit-learn's `log_loss`

MARKS = r"(?u)\w+|[^\w\s]"  # also words of one character, and punctuation

FEATURES: tuple[dict[str, Any], ...] = (
    {"ngram_range": (1, 1)},
    {"ngram_range": (1, 1), "min_df": 2},
    {"ngram_range": (1, 2)},
    {"ngram_range": (1, 2), "min_df": 2},
    {"ngram_range": (1, 3), "min_df": 2},
    {"ngram_range": (1, 2), "min_df": 2, "token_pattern": MARKS},
    {"analyzer": "char_wb", "ngram_range": (1, 4), "min_df": 2},
    {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 2},
)
"""Terms of TF-IDF to choose from."""

FINALISTS = 2  # sets of terms for which every C is tried; the others have the middle one only
MANY = 10  # classes above which there is one finalist, and machines stop early while settings are chosen
EARLY = 0.1  # LIBLINEAR's own tolerance; that of scikit-learn is 1e-4
LARGE = 150_000_000  # stored numbers times classes above which it is too slow at all

FASTTEXT: dict[str, tuple[Any, ...]] = {
    "subwords": ((0, 0), (2, 4), (3, 6)),
    "wordNgrams": (2, 1),
    "lr": (0.5, 0.1, 1.0),
    "epoch": (10, 5, 25, 50),
    "dim": (16, 50),  # with 10 and single words it ends in NaN
}
"""Options of fastText in the order they are chosen; it starts with the first of each."""

Codes = NDArray[np.int64]
Settings = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Texts with the numbers of their classes."""

    texts: list[str]
    codes: Codes  # (N,)
    n_classes: int

    def at(self, rows: Iterable[int]) -> Rows:
        """Some of them."""
        numbers = np.fromiter(rows, dtype=np.int64)
        return Rows([self.texts[i] for i in numbers], self.codes[numbers], self.n_classes)

    @cached_property
    def halves(self) -> tuple[Rows, Rows]:
        """What settings are tried on, and what they are compared on."""
        from sklearn.model_selection import StratifiedShuffleSplit

        cut = StratifiedShuffleSplit(1, test_size=HELD, random_state=SEED)
        fit, held = next(cut.split(self.codes[:, None], self.codes))
        return self.at(sorted(fit)), self.at(sorted(held))


@dataclass(frozen=True)
class Answers:
    """What a peer says of texts: a class each, and probabilities where it has them."""

    codes: Codes  # (N,)
    proba: NDArray[np.float64] | None = None  # (N, K)

    def accuracy(self, rows: Rows) -> float:
        """The share of right answers."""
        return float(np.mean(self.codes == rows.codes))

    def log_loss(self, rows: Rows) -> float | None:
        """Mean of minus the logarithm of the probability of the true class; none without probabilities."""
        if self.proba is None:
            return None
        true = self.proba[np.arange(len(rows.codes)), rows.codes] / self.proba.sum(axis=1)
        return float(-np.log(np.maximum(true, FLOOR)).mean())


@dataclass
class Search:
    """Settings that were tried, each with its accuracy and log-loss on held-out texts."""

    tried: list[tuple[Settings, float, float | None]] = field(default_factory=list)

    def add(self, settings: Settings, answers: Answers, held: Rows) -> None:
        """Keep what became of some settings."""
        right, loss = answers.accuracy(held), answers.log_loss(held)
        self.tried.append((settings, right, loss))
        told = "" if loss is None else f", log-loss {loss:.4f}"
        print(f"      {_line(settings)}: {100 * right:.2f} %{told}", flush=True)

    def ranked(self, *, by_loss: bool = False) -> list[Settings]:
        """The best first; of equals the one of the lower log-loss, then the one that was tried first."""

        def place(one: tuple[Settings, float, float | None]) -> tuple[float, float]:
            loss = 0.0 if one[2] is None else one[2]
            return (loss, -one[1]) if by_loss else (-one[1], loss)

        return [settings for settings, _, _ in sorted(self.tried, key=place)]


class Peer(Measured, Protocol):
    """A way to classify texts that knows how to choose its own settings."""

    def answers(self, train: Rows, test: Rows, search: Search) -> tuple[Answers, Settings]:
        """Answers to the test texts, and the settings that were chosen for them."""


@dataclass(frozen=True)
class Naive:
    """Counts of words and naive Bayes, both with their defaults: there is nothing to choose."""

    name: str
    kind: str
    packages: tuple[str, ...] = ("scikit-learn",)

    def space(self) -> Any:
        return {}

    def answers(self, train: Rows, test: Rows, search: Search) -> tuple[Answers, Settings]:
        from sklearn import naive_bayes

        vectoriser = textodds.CountVectorizer()
        model = getattr(naive_bayes, self.kind)().fit(vectoriser.fit_transform(train.texts), train.codes)
        proba = model.predict_proba(vectoriser.transform(test.texts))
        return Answers(model.classes_[proba.argmax(axis=1)], proba), {}


@dataclass(frozen=True)
class Linear:
    """TF-IDF with logarithmic counts and a linear model, of terms and a C that are chosen.

    Every set of terms is tried with the middle C, then the best of them with every C.
    """

    name: str
    strengths: tuple[float, ...]
    fit: Callable[[Any, Codes, float, bool], tuple[Any, str]]  # rows, codes, C, whether it is the last
    packages: tuple[str, ...] = ("scikit-learn",)
    by_loss: bool = False  # whether log-loss chooses, rather than accuracy

    def space(self) -> Any:
        return {"features": FEATURES, "C": self.strengths}

    def answers(self, train: Rows, test: Rows, search: Search) -> tuple[Answers, Settings]:
        middle = self.strengths[len(self.strengths) // 2]
        fit, held = train.halves
        for terms in FEATURES:
            self._try(terms, (middle,), fit, held, search)
        for settings in search.ranked(by_loss=self.by_loss)[: 1 if train.n_classes > MANY else FINALISTS]:
            others = tuple(C for C in self.strengths if middle != C)
            self._try(settings["features"], others, fit, held, search)
        best = search.ranked(by_loss=self.by_loss)[0]
        rows, seen = _tfidf(best["features"], train, test)
        model, solver = self.fit(rows, train.codes, best["C"], True)
        return _answers(model, seen), {**best, "solver": solver}

    def _try(
        self, terms: Settings, strengths: Sequence[float], fit: Rows, held: Rows, search: Search
    ) -> None:
        rows, seen = _tfidf(terms, fit, held)
        for C in strengths:
            model, _ = self.fit(rows, fit.codes, C, False)
            search.add({"features": terms, "C": C}, _answers(model, seen), held)


def _tfidf(terms: Settings, fit: Rows, other: Rows) -> tuple[Any, Any]:
    vectoriser = textodds.TfidfVectorizer(sublinear_tf=True, **terms)
    return vectoriser.fit_transform(fit.texts), vectoriser.transform(other.texts)


def _answers(model: Any, rows: Any) -> Answers:
    if not hasattr(model, "predict_proba"):
        return Answers(model.predict(rows))
    proba = model.predict_proba(rows)
    return Answers(model.classes_[proba.argmax(axis=1)], proba)


def logistic(rows: Any, codes: Codes, C: float, last: bool) -> tuple[Any, str]:
    """Multinomial logistic regression, by scikit-learn unless that would take many minutes.

    Its lbfgs stops before the optimum where C is large, which often makes it better on other texts; so it is
    tuned as it will be used where there is time for that: with two classes.
    """
    from sklearn.linear_model import LogisticRegression

    n_classes = int(codes.max()) + 1
    if rows.nnz * n_classes <= LARGE and (last or n_classes == 2):
        return LogisticRegression(C=C, max_iter=1000).fit(rows, codes), "lbfgs"
    return textodds.SoftmaxRegression(C=C).fit(rows, codes), "the same optimum by textodds"


def svc(rows: Any, codes: Codes, C: float, last: bool) -> tuple[Any, str]:
    """A linear support vector machine, one class against the rest."""
    return _machine(C, int(codes.max()) + 1, last).fit(rows, codes), "LIBLINEAR"


def _machine(C: float, n_classes: int, last: bool) -> Any:
    from sklearn.svm import LinearSVC

    tolerance = EARLY if n_classes > MANY and not last else 1e-4
    return LinearSVC(C=C, tol=tolerance, random_state=SEED)


@dataclass(frozen=True)
class NBSVM:
    """A support vector machine on log-count ratios, drawn towards naive Bayes, one class against the rest.

    With binary rows f of words and pairs of words, r the logarithm of the ratio of the (smoothed) shares of
    a term within the class and outside it, and w the weights of the machine on f∘r, the weights on f∘r that
    classify are (1 - β) mean|w| + β w. The β of the paper, 0.25, is for classes of equal size: where one is
    rare, ratios of rare terms lean towards it. So β is chosen too; at 1 there is only the machine.

    References
    ----------
    Wang & Manning (2012), *Baselines and Bigrams*, ACL: section 2.3.
    """

    name: str = "NBSVM"
    features: tuple[Settings, ...] = (
        {"ngram_range": (1, 2)},
        {"ngram_range": (1, 2), "token_pattern": MARKS},
    )
    strengths: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    betas: tuple[float, ...] = (0.25, 0.5, 1.0)
    packages: tuple[str, ...] = ("scikit-learn",)

    def space(self) -> Any:
        return {"features": self.features, "C": self.strengths, "beta": self.betas}

    def answers(self, train: Rows, test: Rows, search: Search) -> tuple[Answers, Settings]:
        fit, held = train.halves
        for terms in self.features:
            rows, seen = _presence(terms, fit, held)
            for C in self.strengths:
                for beta, answers in self._answers(rows, fit, seen, C, self.betas, last=False).items():
                    search.add({"features": terms, "C": C, "beta": beta}, answers, held)
        best = search.ranked()[0]
        rows, seen = _presence(best["features"], train, test)
        beta = best["beta"]
        return self._answers(rows, train, seen, best["C"], (beta,), last=True)[beta], best

    def _answers(
        self, rows: Any, of: Rows, seen: Any, C: float, betas: Sequence[float], *, last: bool
    ) -> dict[float, Answers]:
        """Answers by β, all from the same machines."""
        total = np.asarray(rows.sum(axis=0)).ravel()
        scores: dict[float, list[Any]] = {beta: [] for beta in betas}
        for k in range(of.n_classes) if of.n_classes > 2 else (1,):
            inside = np.asarray(rows[of.codes == k].sum(axis=0)).ravel()
            p, q = 1.0 + inside, 1.0 + total - inside
            ratio = np.log(p / p.sum()) - np.log(q / q.sum())  # (V,)
            scaled = rows.copy()
            scaled.data *= ratio[scaled.indices]
            model = _machine(C, of.n_classes, last).fit(scaled, of.codes == k)
            weights = model.coef_.ravel()
            for beta in betas:
                drawn = (1 - beta) * np.abs(weights).mean() + beta * weights
                scores[beta].append(seen @ (ratio * drawn) + model.intercept_[0])
        if of.n_classes == 2:
            return {beta: Answers(np.greater(found[0], 0).astype(np.int64)) for beta, found in scores.items()}
        return {beta: Answers(np.argmax(found, axis=0)) for beta, found in scores.items()}


def _presence(terms: Settings, fit: Rows, other: Rows) -> tuple[Any, Any]:
    vectoriser = textodds.CountVectorizer(binary=True, dtype=np.float64, **terms)
    return vectoriser.fit_transform(fit.texts), vectoriser.transform(other.texts)


@dataclass(frozen=True)
class FastText:
    """fastText on words set apart beforehand; one option after another is chosen, the rest left as it was."""

    name: str = "fastText"
    packages: tuple[str, ...] = ("fasttext-numpy2",)

    def space(self) -> Any:
        return FASTTEXT

    def answers(self, train: Rows, test: Rows, search: Search) -> tuple[Answers, Settings]:
        peers.module("fasttext")
        fit, held = (_words(half) for half in train.halves)
        with tempfile.TemporaryDirectory() as folder:
            path = _written(fit, Path(folder) / "fit.txt")
            chosen = {option: values[0] for option, values in FASTTEXT.items()}
            _try_fasttext(path, chosen, held, search)
            for option, values in FASTTEXT.items():
                for value in values[1:]:
                    _try_fasttext(path, {**chosen, option: value}, held, search)
                chosen = search.ranked()[0]
            path = _written(_words(train), Path(folder) / "train.txt")
            return _fasttext(path, chosen, _words(test)), chosen


def _try_fasttext(path: Path, settings: Settings, held: Rows, search: Search) -> None:
    try:
        search.add(settings, _fasttext(path, settings, held), held)
    except RuntimeError as error:  # steps that are too long end in "Encountered NaN."
        print(f"      {_line(settings)}: {error}", flush=True)


def _words(rows: Rows) -> Rows:
    return Rows([peers.words(text) for text in rows.texts], rows.codes, rows.n_classes)


def _written(rows: Rows, path: Path) -> Path:
    order = np.random.default_rng(SEED).permutation(len(rows.texts))  # it takes them as they come
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"__label__{rows.codes[i]} {rows.texts[i]}\n" for i in order)
    return path


def _fasttext(path: Path, settings: Settings, rows: Rows) -> Answers:
    options = {name: value for name, value in settings.items() if name != "subwords"}
    shortest, longest = settings["subwords"]
    model = peers.fasttext_train(path, minn=shortest, maxn=longest, **options)
    proba = np.zeros((len(rows.texts), rows.n_classes))
    for i, (labels, values) in enumerate(zip(*model.predict(rows.texts, k=-1), strict=True)):
        proba[i, [int(label.removeprefix("__label__")) for label in labels]] = values
    return Answers(proba.argmax(axis=1), proba)


PEERS: tuple[Peer, ...] = (
    Naive("MultinomialNB", "MultinomialNB"),
    Naive("BernoulliNB", "BernoulliNB"),
    Naive("ComplementNB", "ComplementNB"),
    Linear("LogisticRegression", (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0), logistic),
    Linear(
        "LogisticRegression, by log-loss",
        (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
        logistic,
        by_loss=True,
    ),
    Linear("LinearSVC", (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), svc),
    NBSVM(),
    FastText(),
)


def _place(result: Mapping[str, Any]) -> tuple[int, ...]:
    names = [peer.name for peer in PEERS]
    return DATA.index(result["data"]), names.index(result["peer"])


@dataclass
class Kept(Store):
    """Results of peers in a file, by peer and data set."""

    path: Path = KEPT
    place: Place = _place

    def result(self, peer: Peer, corpus: Corpus) -> dict[str, Any]:
        """The result of a peer on a data set: the one that is kept, else measured now and kept."""
        key = {"data": corpus.name, "peer": peer.name}
        means = {
            "files": digest(corpus),
            "versions": versions(peer.packages),
            "space": _plain(peer.space()),
        }
        return self.once(key, means, lambda: _measured(peer, corpus))


def _measured(peer: Peer, corpus: Corpus) -> dict[str, Any]:
    print(f"    {peer.name}", flush=True)
    index = {label: k for k, label in enumerate(sorted(set(corpus.train.labels)))}
    train, test = (
        Rows(part.texts, np.array([index[label] for label in part.labels]), len(index))
        for part in (corpus.train, corpus.test)
    )
    search, begin = Search(), time.process_time()
    answers, chosen = peer.answers(train, test, search)
    return {
        "accuracy": answers.accuracy(test),
        "log_loss": answers.log_loss(test),
        "chosen": _plain(chosen),
        "tried": len(search.tried),
        "cpu_s": round(time.process_time() - begin, 1),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _plain(value: Any) -> Any:
    """The value as JSON will give it back."""
    return json.loads(json.dumps(value))


def _line(settings: Settings) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def main(argv: list[str] | None = None) -> int:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description="Measure the tuned peers and keep their results.")
    parser.add_argument("data", nargs="*", metavar="DATA", help=f"data sets: {', '.join(DATA)} (all)")
    args = parser.parse_args(argv)
    if unknown := set(args.data) - set(DATA):
        parser.error(f"no data set {', '.join(sorted(unknown))}; there are {', '.join(DATA)}")
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="textodds-bench-") as workspace:
        corpora, kept = Corpora(Path(workspace)), Kept()
        for name in args.data or DATA:
            print(f"  {name}", flush=True)
            for peer in PEERS:
                try:
                    found = kept.result(peer, corpora[name])
                except Missing as missing:
                    print(f"    skipped: {missing}", flush=True)
                    continue
                loss = "" if found["log_loss"] is None else f", log-loss {found['log_loss']:.4f}"
                print(
                    f"    {peer.name}: {100 * found['accuracy']:.2f} %{loss}, {found['cpu_s']} s", flush=True
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
