"""Linear and quadratic discriminant analysis of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
import textodds
from bench import SKLEARN, Bench, accuracy
from corpora import TITLES, Missing
from measure import InProcess, interleaved
from result import Bar, Result, Table, Target, digits, times
from textodds.learn.forms.linear import log_softmax

LEARNERS = ("lda", "qda")
SMS, NEWS = "sms_spam", "20newsgroups"
BINS = 15

FASTER = 50.0  # times, than scikit-learn's LDA on the SMS texts
SMS_RIGHT, SMS_SECONDS = 0.98, 0.5
NEWS_RIGHT = {"lda": 0.84, "qda": 0.80}
NEWS_SECONDS = {"lda": 5.0, "qda": 30.0}

PEER = f"{SKLEARN}, LDA, dense rows"

Floats = NDArray[np.float64]


def discriminant(bench: Bench) -> Result:
    result = Result(
        "discriminant",
        "Discriminant analysis of texts",
        "SMS spam: `train_test_split(test_size=0.3, random_state=42, stratify=y)` of all messages, "
        "`TfidfVectorizer(stop_words='english')`, and `LinearDiscriminantAnalysis` of scikit-learn on the "
        "dense matrix, against the estimators of textodds on the same sparse matrix, and against "
        '`textodds.train(texts, labels, learner="lda", threads=1)` and `"qda"` on raw text. '
        "20 Newsgroups: raw text to a model and to probabilities, by textodds alone.",
    )
    for name, measured in ((SMS, _sms), (NEWS, _news)):
        try:
            measured(bench, result)
        except Missing as missing:
            result.skip(str(missing))
            _targets_of_none(result, name)
    return result


def _sms(bench: Bench, result: Result) -> None:
    print(f"  {TITLES[SMS]}", flush=True)
    peers.module("sklearn")
    from sklearn import discriminant_analysis
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import train_test_split

    from textodds.interop import estimators

    corpus = bench.corpora[SMS]
    texts, labels = corpus.train.texts + corpus.test.texts, corpus.train.labels + corpus.test.labels
    kept, held, y, truth = train_test_split(texts, labels, test_size=0.3, random_state=42, stratify=labels)
    vectorizer = TfidfVectorizer(stop_words="english")
    X, Z = vectorizer.fit_transform(kept), vectorizer.transform(held)

    def on_rows(make: Callable[[], Any]) -> Callable[[Any], Any]:
        return lambda _: make().fit(X, y).predict(Z)

    def on_text(learner: str) -> Callable[[Any], Any]:
        def run(copies: tuple[list[str], list[str]]) -> Any:
            return textodds.train(copies[0], y, learner=learner, threads=1).predict(copies[1])

        return run

    def fresh() -> tuple[list[str], list[str]]:
        return [text.encode().decode() for text in kept], [text.encode().decode() for text in held]

    def by_peer(_: Any) -> Any:
        model = discriminant_analysis.LinearDiscriminantAnalysis()
        return model.fit(X.toarray(), y).predict(Z.toarray())

    makes = {
        "lda": estimators.LinearDiscriminantAnalysis,
        "qda": estimators.QuadraticDiscriminantAnalysis,
    }
    contenders = [InProcess(_same(kind), on_rows(make), times=3) for kind, make in makes.items()]
    contenders += [InProcess(_raw(kind), on_text(kind), prepare=fresh, times=3) for kind in LEARNERS]
    for contender in contenders:  # whatever is imported or made but once is not to be timed
        contender.time()
    if bench.quick:
        result.skip("scikit-learn's LDA of the SMS texts, which takes more than a minute: a quick run")
    else:
        contenders.append(InProcess(PEER, by_peer, rounds=1))
    series = interleaved(contenders, bench.rounds)
    right = {who.name: accuracy(who.result, truth) for who in contenders}
    result.record(SMS, series, accuracy=right)

    columns = (
        "data",
        "who",
        "fit and predict CPU s",
        "best",
        "faster than scikit-learn's LDA",
        "test accuracy",
    )
    table = Table("", columns)
    result.tables.append(table)
    for who, seconds in series.items():
        versus = "" if PEER not in series or who == PEER else times(_ratio(result, series, who).value)
        table.rows.append(
            (
                TITLES[SMS],
                who,
                digits(seconds.median()),
                digits(seconds.best()),
                versus,
                f"{100 * right[who]:.2f} %",
            )
        )
    peer = _ratio(result, series, _same("lda")) if PEER in series else None
    result.targets.append(Target.times(_claim_faster(), FASTER, peer))
    if peer:
        result.bars.append(Bar(f"LDA, {TITLES[SMS]}, same rows", SKLEARN, peer.value, FASTER))
        from_text = _ratio(result, series, _raw("lda"))
        result.bars.append(Bar(f"LDA, {TITLES[SMS]}, from text", SKLEARN, from_text.value))
    for kind in LEARNERS:
        for who in (_same(kind), _raw(kind)):
            _promised(result, TITLES[SMS], who, SMS_RIGHT, right[who], SMS_SECONDS, series[who].median())
    result.notes += [
        f"{len(kept):,} messages to learn from, {len(held):,} to predict, {X.shape[1]:,} words; in the "
        "experiment this repeats, on a copy with two messages fewer, 3,900, 1,672 and 6,889. Seconds are "
        "those of `fit` and `predict` together. On raw text the words are found within them; scikit-learn "
        "and the estimators of textodds are given the matrix, so that scikit-learn has its words for free. "
        "scikit-learn is run once, and needs the matrix made dense, which is timed.",
        "Not compared: scikit-learn's QDA. Tried once, apart from this benchmark, it refused (the covariance "
        "of a class is singular, as a class has fewer messages than there are words) or was not done after "
        "300 CPU s; in that experiment it was 48.33 % right.",
    ]


def _ratio(result: Result, series: dict[str, Any], who: str) -> Any:
    return result.ratio(SMS, series[PEER], series[who])


def _same(kind: str) -> str:
    return f"textodds, {kind}, same rows"


def _raw(kind: str) -> str:
    return f"textodds, {kind}, raw text"


def _claim_faster() -> str:
    return f"LDA, {TITLES[SMS]}, the same rows, CPU of fit and predict, against scikit-learn"


def _news(bench: Bench, result: Result) -> None:
    corpus = bench.corpora.head(NEWS, 3000) if bench.quick else bench.corpora[NEWS]
    print(f"  {corpus.title}", flush=True)
    fits = [
        InProcess(
            kind,
            lambda texts, kind=kind: textodds.train(texts, corpus.train.labels, learner=kind, threads=1),
            prepare=corpus.train.fresh,
            times=2 if kind == "lda" else 1,
        )
        for kind in LEARNERS
    ]
    fitting = interleaved(fits, bench.rounds)
    answers = [
        InProcess(fit.name, fit.result.predict_log_proba, prepare=corpus.test.fresh, times=2) for fit in fits
    ]
    predicting = interleaved(answers, bench.rounds)
    result.record(f"{corpus.name}, fit", fitting)
    result.record(f"{corpus.name}, predict", predicting)
    columns = (
        "data", "learner", "fit CPU s", "best", "predict CPU s", "best", "test accuracy", "test log-loss",
        "calibration error", "log-loss as it was", "calibration error as it was", "shrinkage", "temperature",
    )  # fmt: skip
    table = Table("", columns)
    result.tables.append(table)
    for fit, answer in zip(fits, answers, strict=True):
        kind, model, log_proba = fit.name, fit.result, answer.result
        codes = np.searchsorted(np.array(model.classes_), corpus.test.labels)
        about = model.info["fit"]
        plain = log_softmax((log_proba - np.array(about["bias"])) * about["temperature"])
        right = float(np.mean(log_proba.argmax(axis=1) == codes))
        quality = [f(of, codes) for of in (log_proba, plain) for f in (log_loss, calibration_error)]
        table.rows.append(
            (
                corpus.title,
                kind,
                digits(fitting[kind].median()),
                digits(fitting[kind].best()),
                digits(predicting[kind].median()),
                digits(predicting[kind].best()),
                f"{100 * right:.2f} %",
                *(digits(value) for value in quality),
                digits(about["shrinkage"]),
                digits(about["temperature"]),
            )
        )
        names = ("log_loss", "calibration_error", "log_loss_plain", "calibration_error_plain")
        result.raw.append(
            {
                "data": corpus.name,
                "learner": kind,
                "accuracy": right,
                **dict(zip(names, quality, strict=True)),
                "fit": about,
            }
        )
        who = f"textodds, {kind}, raw text"
        seconds = fitting[kind].median()
        _promised(result, corpus.title, who, NEWS_RIGHT[kind], right, NEWS_SECONDS[kind], seconds)
    result.notes += [
        f"20 Newsgroups: {len(corpus.train.labels):,} texts to learn from, {len(corpus.test.labels):,} to "
        "predict. Seconds are from raw text to a model, choosing the shrinkage on held-out texts included, "
        "and from raw text to probabilities. Calibration error: the expected one, in "
        f"{BINS} intervals of equal width of the probability of the label that is predicted. “As it was”: "
        "with the temperature and the bias, which are chosen on held-out texts, undone.",
        "Not compared: scikit-learn's LDA and QDA on 20 Newsgroups, whose dense matrix would be tens of "
        "thousands of columns wide; its covariance alone takes many gigabytes.",
    ]


def log_loss(log_proba: Floats, codes: NDArray[np.intp]) -> float:
    """Mean of minus the logarithm of the probability of the true label."""
    return float(-log_proba[np.arange(len(codes)), codes].mean())


def calibration_error(log_proba: Floats, codes: NDArray[np.intp]) -> float:
    """Expected calibration error of the label that is predicted, in intervals of equal width."""
    best = log_proba.argmax(axis=1)
    sure = np.exp(log_proba[np.arange(len(best)), best])
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, sure - (best == codes), BINS)
    return float(np.abs(gaps).sum() / len(codes))


def _promised(
    result: Result,
    title: str,
    who: str,
    right: float,
    reached: float | None,
    seconds: float,
    took: float | None,
) -> None:
    """The targets of a learner: how good, and how fast."""
    what = "fit and predict" if title == TITLES[SMS] else "fit from text"
    result.targets += [
        Target(f"test accuracy, {title}, {who}", True, right, reached, "accuracy"),
        Target(f"{what}, {title}, {who}", False, seconds, took, "CPU s"),
    ]


def _targets_of_none(result: Result, name: str) -> None:
    if name == SMS:
        result.targets.append(Target.times(_claim_faster(), FASTER, None))
    for kind in LEARNERS:
        if name == SMS:
            for who in (_same(kind), _raw(kind)):
                _promised(result, TITLES[SMS], who, SMS_RIGHT, None, SMS_SECONDS, None)
        else:
            _promised(result, TITLES[NEWS], _raw(kind), NEWS_RIGHT[kind], None, NEWS_SECONDS[kind], None)
