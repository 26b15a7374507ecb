"""Several labels a text: quality and CPU on GoEmotions against scikit-learn, and thousands of labels."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import textodds
from bench import Bench
from corpora import Missing, folder
from measure import InProcess, Ratio, interleaved, run_child
from result import Result, Table, Target, digits

DATA = "multi_goemotions"
OURS, SAME = "textodds, defaults", "textodds, softmax:C=1, scikit-learn's rows"
LOGISTIC, SVM = "one-vs-rest LogisticRegression", "one-vs-rest LinearSVC"
CHOSEN = "the same, C of 1, 10 and 100 chosen in 3 folds"
MEASURES = ("micro-F1", "macro-F1", "LRAP")
ASKED = dict(zip(MEASURES, (0.56, 0.46, 0.70), strict=True))
FASTER = 10.0
BYTES_A_LABEL = 20_000.0  # of the file, with documents and held-out answers
OPENING = 100.0  # milliseconds, at most

MANY = """
import json, os, resource, sys, time
import numpy as np, textodds

n, K, V, path = int(sys.argv[1]), int(sys.argv[2]), 50_000, sys.argv[3]
own = np.random.default_rng(99).integers(0, V, size=(K, 20))
share = 1.0 / np.arange(1, K + 1)

def drawn(n, seed):
    random = np.random.default_rng(seed)
    labels = random.choice(K, size=(n, 2), p=share / share.sum())
    words = np.minimum((random.pareto(1.0, (n, 12)) * 10).astype(np.int64), V - 1)
    mine = random.random((n, 12)) < 0.5
    ours = own[np.repeat(labels, 6, axis=1), random.integers(0, 20, (n, 12))]
    texts = [" ".join(f"w{v}" for v in row) for row in np.where(mine, ours, words).tolist()]
    return texts, [[f"label {k}" for k in set(row)] for row in labels.tolist()]

def cpu(work):
    began = time.process_time()
    found = work()
    return found, time.process_time() - began

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

train, test = drawn(n, 0), drawn(2000, 1)
before = peak()
model, training = cpu(lambda: textodds.train(*train, learner="multinomial", threads=1))
grown = peak() - before
model.save(path)
opened, opening = cpu(lambda: textodds.load(path))
opened.predict(["w1"])
_, one = cpu(lambda: [opened.predict([text]) for text in test[0][:200]])
_, many = cpu(lambda: opened.predict(test[0]))
found, measuring = cpu(lambda: opened.evaluate(*test))
print(json.dumps({
    "labels": len(model.classes_), "texts": n, "training": training, "grown": grown,
    "bytes": os.path.getsize(path), "opening_ms": opening * 1e3, "one_ms": one / 200 * 1e3, "many": many,
    "measuring": measuring, "micro_f1": found.micro_f1, "macro_f1": found.macro_f1,
    "lrap": found.average_precision,
}))
"""


def labels(bench: Bench) -> Result:
    result = Result(
        "labels",
        "Several labels a text",
        "GoEmotions, 28 labels, from texts in memory to a model, on one thread: `textodds.train` with its "
        "defaults, which choose learner, features, penalty, calibration and thresholds, against "
        "`TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)` and one-vs-rest classifiers of "
        "scikit-learn. And multinomial naive Bayes of thousands of labels on made-up texts of 12 words and 2 "
        "labels each, labels as frequent as by Zipf's law.",
    )
    try:
        _emotions(bench, result)
    except Missing as missing:
        result.skip(str(missing))
    _many(bench, result)
    return result


@cache
def _read(part: str) -> tuple[list[str], list[list[str]]]:
    path = folder() / DATA / f"{part}.csv.gz"
    if not path.exists():
        raise Missing(f"{DATA} is not there")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [
        [each for each in row["labels"].split("|") if each] for row in rows
    ]


def _emotions(bench: Bench, result: Result) -> None:
    from sklearn.preprocessing import MultiLabelBinarizer

    texts, sets = _read("train")
    if bench.quick:
        texts, sets = texts[:4000], sets[:4000]
    binarizer = MultiLabelBinarizer()
    Y = binarizer.fit_transform(sets)
    contenders = [
        InProcess(OURS, lambda given: textodds.train(given, sets, threads=1), prepare=lambda: _fresh(texts)),
        InProcess(SAME, lambda given: _same(given, Y), prepare=lambda: _fresh(texts)),
        *(
            InProcess(name, lambda given, make=make: _fitted(given, Y, make), lambda: _fresh(texts), rounds=1)
            for name, make in ((LOGISTIC, _logistic), (SVM, _svm), (CHOSEN, _chosen))
            if name != CHOSEN or not bench.quick
        ),
    ]
    print("  GoEmotions", flush=True)
    series = interleaved(contenders, max(bench.rounds // 2, 1))
    result.record("GoEmotions", series)
    table = Table(f"GoEmotions, {len(texts):,} texts", ("who", *MEASURES, "CPU s", "times our CPU"))
    result.tables.append(table)
    found = {}
    for each in contenders:
        found[each.name] = _measured(each.result, binarizer.classes_, own=each.name == OURS)
        faster = series[SAME] if each.name == LOGISTIC else series[OURS]
        ratio = Ratio.of(series[each.name], series[OURS])
        shown = [f"{found[each.name][measure]:.4f}" for measure in MEASURES]
        table.rows.append((each.name, *shown, digits(series[each.name].median()), f"{ratio.value:.1f}"))
        result.raw.append({"data": "GoEmotions", "who": each.name, **found[each.name]})
        if each.name in (LOGISTIC, CHOSEN):
            what = "the same optimum" if each.name == LOGISTIC else "all chosen, against C chosen in 3 folds"
            claim = f"GoEmotions: CPU from texts to a model, {what}, one-vs-rest LogisticRegression"
            result.targets.append(Target.times(claim, FASTER, Ratio.of(series[each.name], faster)))
    for measure, asked in ASKED.items():
        result.targets.append(Target(f"GoEmotions: {measure}", True, asked, found[OURS][measure], ""))


def _fresh(texts: list[str]) -> list[str]:
    """New copies, of which nobody has asked for UTF-8 yet."""
    return [text.encode().decode() for text in texts]


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _chosen() -> Any:
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(_logistic(), {"C": [1.0, 10.0, 100.0]}, cv=3, scoring="neg_log_loss")


def _same(texts: list[str], Y: Any) -> Any:
    """The optimum of scikit-learn, by our kernels from texts on."""
    learner, weighting = "softmax:C=1", textodds.Weighting("log")
    how: dict[str, Any] = {"calibrate": False, "goal": "half", "min_df": 1, "ngrams": (1, 2), "threads": 1}
    model = textodds.MultiLabelTextClassifier(learner=learner, sklearn=True, weighting=weighting, **how)
    return model.fit(texts, Y)


def _svm() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC()


def _fitted(texts: list[str], Y: Any, make: Callable[[], Any]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    return make_pipeline(vectorizer, OneVsRestClassifier(make())).fit(texts, Y)


def _measured(model: Any, classes: Any, *, own: bool) -> dict[str, float]:
    """Micro- and macro-F1 and label ranking average precision on the test set, by scikit-learn."""
    from sklearn.metrics import f1_score, label_ranking_average_precision_score

    texts, sets = _read("test")
    index = {label: k for k, label in enumerate(classes)}
    truth = np.zeros((len(texts), len(index)), dtype=np.int64)
    for row, some in enumerate(sets):
        truth[row, [index[label] for label in some if label in index]] = 1
    if own:
        scores = model.predict_proba(texts)
        given = model.given(scores)
    else:
        scores, given = model.decision_function(texts), model.predict(texts)
    return {
        "micro-F1": float(f1_score(truth, given, average="micro", zero_division=0)),
        "macro-F1": float(f1_score(truth, given, average="macro", zero_division=0)),
        "LRAP": float(label_ranking_average_precision_score(truth, scores)),
    }


def _many(bench: Bench, result: Result) -> None:
    columns = (
        *("labels", "texts", "training, CPU s", "memory, MB", "file, MB", "opening, ms"),
        *("one text, ms", "2,000 texts, s", "evaluate, s", *MEASURES),
    )
    table = Table("Made-up texts, multinomial, one thread", columns)
    result.tables.append(table)
    sizes = [(4_000, 200), (8_000, 400)] if bench.quick else [(20_000, 1_000), (200_000, 10_000)]
    for n, K in sizes:
        print(f"  {K:,} labels", flush=True)
        path = bench.workspace / f"labels-{K}"
        run = run_child([sys.executable, "-W", "ignore", "-c", MANY, str(n), str(K), str(path)])
        told = json.loads(run.out)
        result.raw.append(told)
        sized = (told["grown"] / 1e6, told["bytes"] / 1e6, told["opening_ms"], told["one_ms"], told["many"])
        measured = [f"{told[name]:.4f}" for name in ("micro_f1", "macro_f1", "lrap")]
        shown = map(digits, (told["training"], *sized, told["measuring"]))
        table.rows.append((f"{told['labels']:,}", f"{n:,}", *shown, *measured))
    claim = f"{told['labels']:,} labels: bytes of the file a label"
    result.targets.append(Target(claim, False, BYTES_A_LABEL, told["bytes"] / told["labels"], "bytes"))
    claim = f"{told['labels']:,} labels: opening"
    result.targets.append(Target(claim, False, OPENING, told["opening_ms"], "ms"))
