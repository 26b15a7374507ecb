"""scikit-learn's vectorisers and naive Bayes, and ours in their place: the same matrices, sooner."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import peers
import textodds
from bench import ONE, SKLEARN, TWO, Bench
from corpora import TITLES, Corpus, Missing
from measure import InProcess, interleaved
from result import Bar, Result, Table, Target, digits, times


@dataclass(frozen=True)
class Job:
    """A vectoriser, how much faster ours must be, and how often theirs is waited for."""

    label: str
    kind: str
    options: dict[str, Any]
    asked: float
    rounds: int | None = None


JOBS = (
    Job("`CountVectorizer`", "CountVectorizer", {}, 25),
    Job("`TfidfVectorizer`, words and pairs", "TfidfVectorizer", {"ngram_range": (1, 2)}, 20),
    Job("`HashingVectorizer`", "HashingVectorizer", {}, 20),
    Job(
        "`CountVectorizer`, char_wb 3 to 5",
        "CountVectorizer",
        {"analyzer": "char_wb", "ngram_range": (3, 5)},
        20,
        rounds=1,
    ),
)
ON_TWO = 40  # times, `CountVectorizer` by the clock
DATA = ("imdb", "20newsgroups")


def vectorisers(bench: Bench) -> Result:
    result = Result(
        "vectorisers",
        "In the place of scikit-learn's classes",
        "`fit_transform` of the training texts by the class of scikit-learn and by ours of the same name, "
        "which give the same matrix (checked bit for bit here, the order of indices with it), and "
        "`MultinomialNB.fit` on the counts. CPU seconds on one thread; on two by the clock.",
    )
    table = Table("", ("data", "what", "who", "CPU s", "best CPU s", "seconds", "times"))
    result.tables.append(table)
    for name in DATA:
        try:
            corpus = bench.corpora.head(name, 3000) if bench.quick else bench.corpora[name]
            peers.module("sklearn")
        except Missing as missing:
            result.skip(str(missing))
            for job in JOBS:
                result.targets.append(Target(_claim(job.label, TITLES[name]), True, job.asked, None, "times"))
            continue
        for job in JOBS:
            _vectorise(bench, corpus, job, result, table)
        _naive_bayes(bench, corpus, result, table)
    result.notes.append(
        "Texts are new copies in every run, so that no form of them is kept from the run before. Where "
        "scikit-learn takes longest it is run once only. `MultinomialNB` has labels as text, and counts of "
        "float64."
    )
    return result


def _claim(label: str, title: str) -> str:
    return f"{label}, {title}, CPU, 1 thread"


def _on(threads: int, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def limited(argument: Any) -> Any:
        os.environ["TEXTODDS_THREADS"] = str(threads)
        try:
            return run(argument)
        finally:
            del os.environ["TEXTODDS_THREADS"]

    return limited


def _vectorise(bench: Bench, corpus: Corpus, job: Job, result: Result, table: Table) -> None:
    from sklearn.feature_extraction import text

    print(f"  {corpus.title}, {job.label}", flush=True)
    ours, theirs = getattr(textodds, job.kind), getattr(text, job.kind)
    fresh = corpus.train.fresh
    peer = InProcess(SKLEARN, lambda texts: theirs(**job.options).fit_transform(texts), fresh)
    peer.rounds = job.rounds
    contenders = [
        peer,
        InProcess(ONE, _on(1, lambda texts: ours(**job.options).fit_transform(texts)), fresh, times=3),
        InProcess(TWO, _on(2, lambda texts: ours(**job.options).fit_transform(texts)), fresh, times=3),
    ]
    for contender in contenders[1:]:
        contender.time()  # whatever is made but once is not to be timed
    series = interleaved(contenders, bench.rounds)
    _same(contenders[0].result, contenders[1].result)
    _same(contenders[0].result, contenders[2].result)
    data = f"{corpus.name}, {job.label}"
    result.record(data, series)
    one = result.ratio(data, series[SKLEARN], series[ONE])
    two = result.ratio(data, series[SKLEARN], series[TWO], "wall")
    result.targets.append(Target.times(_claim(job.label, corpus.title), job.asked, one))
    if job is JOBS[0]:
        claim = f"{job.label}, {corpus.title}, by the clock, 2 threads"
        result.targets.append(Target.times(claim, ON_TWO, two))
    result.bars.append(Bar(f"{corpus.title}, {job.label.replace('`', '')}", SKLEARN, one.value))
    shown = {SKLEARN: "", ONE: times(one.value), TWO: f"{times(two.value)} by the clock"}
    for who, seconds in series.items():
        table.rows.append(
            (
                corpus.title, job.label, who, digits(seconds.median()), digits(seconds.best()),
                digits(seconds.median("wall")), shown[who],
            )
        )  # fmt: skip


def _same(theirs: Any, ours: Any) -> None:
    """Refuse a matrix that is not scikit-learn's to the last bit."""
    assert type(ours) is type(theirs)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


def _naive_bayes(bench: Bench, corpus: Corpus, result: Result, table: Table) -> None:
    from sklearn import naive_bayes

    print(f"  {corpus.title}, MultinomialNB", flush=True)
    counts = textodds.CountVectorizer(dtype=np.float64).fit_transform(corpus.train.texts)
    labels = np.array(corpus.train.labels)
    contenders = [
        InProcess(SKLEARN, lambda _: naive_bayes.MultinomialNB().fit(counts, labels), times=5),
        InProcess(ONE, lambda _: textodds.MultinomialNB().fit(counts, labels), times=5),
    ]
    for contender in contenders:
        contender.time()
    series = interleaved(contenders, bench.rounds)
    theirs, ours = (contender.result for contender in contenders)
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=0, atol=1e-10)
    data = f"{corpus.name}, MultinomialNB"
    result.record(data, series)
    ratio = result.ratio(data, series[SKLEARN], series[ONE])
    result.targets.append(Target.times(f"`MultinomialNB.fit` on rows, {corpus.title}, CPU", 1, ratio))
    for who, seconds in series.items():
        table.rows.append(
            (
                corpus.title, "`MultinomialNB.fit`", who, digits(seconds.median()), digits(seconds.best()),
                digits(seconds.median("wall")), times(ratio.value) if who == ONE else "",
            )
        )  # fmt: skip
