"""Prediction from raw text: many documents at once, and one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import peers
from bench import ONE, SAME, SKLEARN, TWO, Bench, accuracy
from corpora import TITLES, Corpus, Missing
from measure import InProcess, interleaved, percentiles
from result import Bar, Result, Table, Target, digits, times

PROMISED = ("imdb", "20newsgroups")
FASTTEXT = "fastText, bigrams, words given"


def predict(bench: Bench) -> Result:
    result = Result(
        "predict",
        "Prediction of many documents",
        "From texts in a list to an array of probabilities: `model.predict_proba(texts)` against "
        "`pipeline.predict_proba(texts)`, on the test set.",
    )
    columns = (
        "data",
        "who",
        "CPU s",
        "documents per CPU s",
        "wall s",
        "textodds is faster by",
        "test accuracy",
    )
    result.tables.append(Table("", columns))
    for name in bench.corpora_for_all():
        try:
            _many(bench, bench.corpora[name], result)
        except Missing as missing:
            result.skip(str(missing))
            if name in PROMISED:
                claim = f"predict many, {TITLES[name]}, CPU, against scikit-learn"
                result.targets.append(Target.times(claim, 80, None))
    result.notes.append(
        "fastText is given texts whose words were lower-cased and set apart beforehand, which is not timed."
    )
    return result


def _many(bench: Bench, corpus: Corpus, result: Result) -> None:
    print(f"  {corpus.title}", flush=True)
    small = 3 if corpus.test.size < 2_000_000 else 1
    contenders, labels_of = [], {}
    for kind, runs in ((ONE, 3), (TWO, 3), (SAME, 2), (SKLEARN, 1)):
        model = bench.model(corpus, kind)
        model.predict_proba(corpus.test.texts[:100])
        contenders.append(InProcess(kind, model.predict_proba, prepare=corpus.test.fresh, times=runs * small))
        labels_of[kind] = _by_column(model)
    if corpus.name == "imdb":
        try:
            model = bench.fasttext(corpus)
            prepared = [peers.words(text) for text in corpus.test.texts]
            contenders.append(
                InProcess(FASTTEXT, lambda texts: peers.fasttext_labels(model, texts), lambda: prepared)
            )
            labels_of[FASTTEXT] = lambda labels: labels
        except Missing as missing:
            result.skip(str(missing))
    series = interleaved(contenders, bench.rounds)
    right = {who.name: accuracy(labels_of[who.name](who.result), corpus.test.labels) for who in contenders}
    result.record(corpus.name, series, accuracy=right)
    one = series[ONE]
    for who, seconds in series.items():
        mine = who.startswith("textodds")
        ratio = result.ratio(corpus.name, seconds, one)
        result.tables[0].rows.append(
            (
                corpus.title,
                who,
                digits(seconds.median()),
                digits(len(corpus.test.labels) / seconds.median()),
                digits(seconds.median("wall")),
                "" if mine else times(ratio.value),
                f"{100 * right[who]:.2f} %",
            )
        )
        if not mine:
            target = 80 if who == SKLEARN and corpus.name in PROMISED else None
            result.bars.append(
                Bar(f"predict many, {corpus.title}", who.partition(",")[0], ratio.value, target)
            )
            if target:
                claim = f"predict many, {corpus.title}, CPU, against scikit-learn"
                result.targets.append(Target.times(claim, target, ratio))


def _by_column(model: Any) -> Callable[[Any], Any]:
    classes = np.asarray(model.classes_)
    return lambda probabilities: classes[probabilities.argmax(axis=1)]


def predict_one(bench: Bench) -> Result:
    result = Result(
        "predict-one",
        "Prediction of one document",
        "Microseconds, of the clock on the wall, from one `str` to an answer in Python: `model(text)`, "
        "which gives the label, the probability of each class and how many words were known, against "
        "`pipeline.predict_proba([text])`.",
    )
    columns = ("data", "who", "p50 µs", "p99 µs", "textodds is faster by (p50)")
    result.tables.append(Table("", columns))
    for name in ("imdb", "sms_spam"):
        claim = f"predict one document, {TITLES[name]}, median"
        try:
            _one_by_one(bench, bench.corpora[name], result, claim)
        except Missing as missing:
            result.skip(str(missing))
            if name == "imdb":
                result.targets.append(Target(claim, False, 20, None, "µs"))
    result.notes.append(
        "Different documents, in the order of the test set (2,000, or all where there are fewer; "
        "scikit-learn and `--quick` 500 of them), each once a round. A review of IMDB has some 230 words, "
        "a short message 16."
    )
    return result


def _one_by_one(bench: Bench, corpus: Corpus, result: Result, claim: str) -> None:
    print(f"  {corpus.title}", flush=True)
    most = 500 if bench.quick else 2000
    textodds_model, pipeline = bench.model(corpus, ONE), bench.model(corpus, SKLEARN)
    calls: dict[str, tuple[Callable[[str], Any], Callable[[], list[str]]]] = {
        "textodds": (textodds_model, lambda: corpus.test.fresh()[:most]),
        SKLEARN: (lambda text: pipeline.predict_proba([text]), lambda: corpus.test.fresh()[:500]),
    }
    try:
        fasttext = bench.fasttext(corpus)
        calls[FASTTEXT] = (fasttext.predict, lambda: [peers.words(text) for text in corpus.test.texts[:most]])
    except Missing as missing:
        result.skip(str(missing))
    taken: dict[str, list[float]] = {who: [] for who in calls}
    for _ in range(min(3, bench.rounds)):
        for who, (call, prepare) in calls.items():
            documents = prepare()
            call(documents[0])
            taken[who] += [_microseconds(call, document) for document in documents]
    middle = {who: percentiles(each) for who, each in taken.items()}
    for who, (p50, p99) in middle.items():
        ratio = p50 / middle["textodds"][0]
        mine = who == "textodds"
        row = (corpus.title, who, digits(p50), digits(p99), "" if mine else times(ratio))
        result.tables[0].rows.append(row)
        result.raw.append(
            {"data": corpus.name, "contender": who, "p50_us": p50, "p99_us": p99, "n": len(taken[who])}
        )
        if not mine:
            result.bars.append(Bar(f"predict one, {corpus.title}", who.partition(",")[0], ratio))
            result.ratios.append(
                {
                    "data": corpus.name,
                    "slower": who,
                    "faster": "textodds",
                    "basis": "wall p50",
                    "value": ratio,
                }
            )
    if corpus.name == "imdb":
        result.targets.append(Target(claim, False, 20, middle["textodds"][0], "µs"))


def _microseconds(call: Callable[[str], Any], document: str) -> float:
    begin = time.perf_counter_ns()
    call(document)
    return (time.perf_counter_ns() - begin) / 1000
