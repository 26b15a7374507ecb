"""Every path that people wait on, against its peer, in a few minutes: to judge a change, not for quoting."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dense
import peers
import textodds
from bench import SKLEARN, Bench, trained
from corpora import Missing
from measure import Child, InProcess, interleaved
from result import Result, Table, Target, digits, times

OURS = "textodds"
PARTS = {"imdb": 6_000, "20newsgroups": 4_000, "langid_lingua": 10_000}  # texts of each that are taken
LINE = "A dull, overlong film; I looked at my watch three times before the train left."
ELSEWHERE = {"one SMS in the service": "make bench-serve", "naive Bayes on Spark": "make bench-spark"}

Rows = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Pair:
    """What is timed, against what, and how many times faster it is asked to be."""

    path: str
    ours: Callable[[], object]
    peer: Callable[[], object]
    against: str
    asked: float


def ratios(bench: Bench) -> Result:
    result = Result(
        "ratios",
        "All paths in little",
        "Parts of the data sets, one thread, CPU time of textodds and a peer in turns: ratios that show what "
        "a change has done, on a busy machine too. The other cases measure the same paths at length.",
    )
    table = Table("", ("path", "textodds, CPU ms", "peer", "CPU ms", "times faster", "asked"))
    result.tables.append(table)
    for make in (_words, _solvers, _files, _others):
        try:
            pairs = make(bench)
        except Missing as missing:
            result.skip(str(missing))
            continue
        for pair in pairs:
            _measure(pair, bench, result, table)
    _fresh_process(bench, result)
    result.notes += [f"Not measured here: {path} (`{command}`)." for path, command in ELSEWHERE.items()]
    return result


def _measure(pair: Pair, bench: Bench, result: Result, table: Table) -> None:
    contenders = [
        InProcess(OURS, lambda _: pair.ours(), times=3),
        InProcess(pair.against, lambda _: pair.peer()),
    ]
    series = interleaved(contenders, bench.rounds)
    result.record(pair.path, series)
    ours, peer = series[OURS], series[pair.against]
    ratio = result.ratio(pair.path, peer, ours)
    result.targets.append(Target.times(pair.path, pair.asked, ratio))
    cells = (digits(1000 * ours.best()), pair.against, digits(1000 * peer.best()))
    table.rows.append((pair.path, *cells, times(ratio.value), digits(pair.asked)))


def _part(bench: Bench, name: str) -> Rows:
    texts, labels = bench.corpora[name].train.rows
    apart = max(1, len(texts) // PARTS[name])
    return texts[::apart], labels[::apart]


def _words(bench: Bench) -> list[Pair]:
    """Counting, predicting, vectorising."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    pairs = []
    for name, train, predict in (("imdb", 45, 60), ("20newsgroups", 45, 40), ("langid_lingua", 35, 20)):
        rows = bench.corpora[name].train.rows  # the whole set: of a part, fixed costs are most of it
        mine, theirs = trained(OURS, rows), peers.sklearn_fit(rows)
        pairs += [
            Pair(
                f"naive Bayes from memory, {name}",
                lambda rows=rows: trained(OURS, rows),
                lambda rows=rows: peers.sklearn_fit(rows),
                SKLEARN,
                train,
            ),
            Pair(
                f"naive Bayes, prediction, {name}",
                lambda model=mine, rows=rows: model.predict_proba(rows[0]),
                lambda model=theirs, rows=rows: model.predict_proba(rows[0]),
                SKLEARN,
                predict,
            ),
        ]
    texts = _part(bench, "imdb")[0][:2_000]
    both = [kind(ngram_range=(1, 2)).fit(texts) for kind in (textodds.TfidfVectorizer, TfidfVectorizer)]
    pairs.append(
        Pair(
            "transform with pairs of a fitted vectoriser",
            lambda: both[0].transform(texts),
            lambda: both[1].transform(texts),
            SKLEARN,
            20,
        )
    )
    return pairs


def _solvers(bench: Bench) -> list[Pair]:
    """Softmax regression: sparse rows of two, twenty and 150 classes, and dense rows."""
    draw, pairs = np.random.default_rng(0), []
    for name, options, C, asked in (
        ("imdb", {"solver": "liblinear", "dual": True, "tol": 1e-2}, 1.0, 1.3),
        ("20newsgroups", {"max_iter": 42}, 1.0, 10),
        ("150 classes", {"max_iter": 30}, 1.0, 20),
    ):
        texts, labels = _part(bench, "20newsgroups" if name == "150 classes" else name)
        if name == "150 classes":
            labels = [f"{label} {draw.integers(8)}" for label in labels]
        pairs.append(_fits(name, peers.tfidf().fit_transform(texts), labels, C, options, asked))
    rows, codes = dense.rows_of(30_000)
    wide = draw.normal(size=(5_000, 384)) + 0.3 * draw.normal(size=(10, 384))[codes[:5_000] * 2]
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    for about, matrix, classes in (("30,000 × 50", rows, codes), ("5,000 × 384", wide, codes[:5_000])):
        pairs.append(_fits(f"dense rows, {about}", matrix, classes, 1.0, {"max_iter": 1000}, 1))
    return pairs


def _fits(name: str, rows: Any, labels: Any, C: float, options: dict[str, Any], asked: float) -> Pair:
    from sklearn.linear_model import LogisticRegression

    return Pair(
        f"softmax regression, {name}",
        lambda: textodds.SoftmaxRegression(C=C, tol=1e-4).fit(rows, labels),
        lambda: LogisticRegression(C=C, **options).fit(rows, labels),
        f"{SKLEARN}, {options.get('solver', 'lbfgs')}",
        asked,
    )


def _files(bench: Bench) -> list[Pair]:
    """CSV against scikit-learn, and JSON lines against CSV."""
    texts, labels = _part(bench, "imdb")
    table, lines = bench.workspace / "part.csv", bench.workspace / "part.jsonl"
    rows = zip(texts, labels, strict=True)
    lines.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    quoted = (
        '"' + text.replace('"', '""') + f'",{label}\n' for text, label in zip(texts, labels, strict=True)
    )
    table.write_text("text,label\n" + "".join(quoted))

    def read(path: Path) -> int:
        return sum(len(batch) for _ in range(10) for batch in textodds.read(path))

    settings = {"learner": "multinomial:alpha=1", "calibrate": False, "threads": 1}
    return [
        Pair(
            "naive Bayes from CSV",
            lambda: textodds.train(table, **settings),
            lambda: peers.sklearn_fit(peers.rows_by_csv(table)),
            SKLEARN,
            40,
        ),
        Pair("JSON lines, reading", lambda: read(lines), lambda: read(table), "textodds, CSV", 0.5),
    ]


def _others(bench: Bench) -> list[Pair]:
    """Leave-one-out in terms of predictions, QDA in terms of naive Bayes."""
    rows = _part(bench, "imdb")
    model = trained(OURS, rows)
    few = tuple(part[:1_000] for part in rows)
    quadratic = textodds.train(*few, learner="qda", threads=1)
    linear = textodds.train(*few, learner="lda", threads=1)
    return [
        Pair(
            "leave-one-out, in predictions",
            lambda: model.leave_one_out(*rows),
            lambda: model.predict_proba(rows[0]),
            "textodds, prediction",
            0.5,
        ),
        Pair(
            "QDA, prediction, in those of LDA",
            lambda: quadratic.predict_proba(few[0]),
            lambda: linear.predict_proba(few[0]),
            "textodds, LDA",
            0.1,
        ),
    ]


def _fresh_process(bench: Bench, result: Result) -> None:
    path = bench.workspace / "part.textodds"
    try:
        trained(OURS, _part(bench, "imdb")).save(path)
    except Missing as missing:
        result.skip(str(missing))
        return
    command = Child("predict", [sys.executable, "-m", "textodds", "predict", str(path), "--say", LINE])
    bare = Child("python -c pass", [sys.executable, "-c", "pass"])
    command.time()
    series = interleaved([command, bare], 5 * bench.rounds)
    result.record("a fresh process, one line", series)
    taken = 1000 * series["predict"].best()
    result.targets.append(Target("a fresh process, one line, CPU ms", False, 120, taken, "ms"))
