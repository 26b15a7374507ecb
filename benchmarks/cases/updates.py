"""Learning and forgetting: what a change costs, and whether the model is that of training."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import textodds
from bench import Bench
from corpora import TITLES, Corpus, Missing
from result import Result, Table, Target, digits
from textodds.errors import InputError
from textodds.judge.guarantees import at_most

SOFTMAX, COUNTS = "softmax:C=10:ngrams=1-2", "multinomial:alpha=1"
SHARES = {1: 0.05, 100: 0.10}  # of the CPU of training that learning or forgetting so many may take
OPENING = 20.0  # milliseconds, at most
LARGER = 2.0  # times the file without documents, at most
KEPT = 0.1  # of the documents, after forgetting the others
ERRORS = (0.05, 0.1, 0.2, 0.3)  # among the answered, that are promised
CONFIDENCE = 0.95


def updates(bench: Bench) -> Result:
    result = Result(
        "updates",
        "Learning and forgetting",
        f"`{SOFTMAX}` and `{COUNTS}`, calibrated, in memory on one thread: `model.learn` and "
        "`model.forget` of 1 and of 100 texts, as a share of the CPU of `textodds.train` with the same "
        "recipe; then all test texts under the changed model and under one trained on the same documents. "
        "Files with and without documents, and opening them. And how often a promised error rate is exceeded "
        "by a model that has forgotten nine tenths of its documents.",
    )
    for measured in (_changes, _files, _promises):
        try:
            measured(bench, result)
        except Missing as missing:
            result.skip(str(missing))
    return result


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _changes(bench: Bench, result: Result) -> None:
    corpus = bench.corpora.head("imdb", 4000) if bench.quick else bench.corpora["imdb"]
    table = Table(
        "", ("learner", "texts", "learn, CPU s", "forget, CPU s", "training, CPU s", "share of training")
    )
    result.tables.append(table)
    for learner in (COUNTS, SOFTMAX):
        print(f"  {corpus.title}, {learner}", flush=True)
        _change(bench, corpus, learner, result, table)


def _change(bench: Bench, corpus: Corpus, learner: str, result: Result, table: Table) -> None:
    texts, labels = corpus.train.rows
    kept: dict[str, Any] = {}

    def train(n: int, name: str) -> None:
        kept[name] = textodds.train(texts[:n], labels[:n], learner=learner, threads=1)

    n = len(texts)
    for count, most in SHARES.items():
        trainings, learned, forgotten = [], [], []
        for _ in range(max(bench.rounds // 2, 1)):
            trainings.append(_cpu(lambda: train(n - count, "model")))  # noqa: B023 - called at once
            model = kept["model"]
            more = (texts[n - count :], labels[n - count :])
            model.learn(*more)  # with what follows from it, which is found when it is asked for
            model.forget(*more)
            learned.append(_cpu(lambda: (model.learn(*more), model.held_out)))  # noqa: B023
            forgotten.append(_cpu(lambda: (model.forget(*more), model.held_out)))  # noqa: B023
            model.learn(*more)
        share = max(np.median(learned), np.median(forgotten)) / np.median(trainings)
        row = (
            *map(digits, (np.median(learned), np.median(forgotten), np.median(trainings))),
            f"{100 * share:.0f} %",
        )
        table.rows.append((learner, f"{count}", *row))
        result.raw.append(
            {"learner": learner, "texts": count, "learn": learned, "forget": forgotten, "train": trainings}
        )
        if learner == SOFTMAX:
            claim = f"{TITLES['imdb']}, pairs, softmax: a change of {count}, CPU against training"
            result.targets.append(Target(claim, False, most, float(share), "of training"))
    train(n, "whole")
    changed, whole = kept["model"], kept["whole"]
    asked = corpus.test.texts
    other = int((changed.predict(asked) != whole.predict(asked)).sum())
    apart = float(np.abs(changed.predict_proba(asked) - whole.predict_proba(asked)).max())
    result.raw.append({"learner": learner, "labels_that_differ": other, "largest_difference": apart})
    result.notes.append(
        f"After learning, `{learner}` gives {other} of {len(asked):,} test texts another label than the "
        f"model trained on the same documents; probabilities differ by {apart:.2g} at most."
    )
    claim = f"{TITLES['imdb']}, {learner}: test labels that differ from those of training"
    result.targets.append(Target(claim, False, 0.0, float(other), "texts"))
    if learner == COUNTS:
        claim = f"{TITLES['imdb']}, {learner}: largest difference of calibrated probabilities"
        result.targets.append(Target(claim, False, 0.0, apart, ""))


def _files(bench: Bench, result: Result) -> None:
    corpus = bench.corpora.head("20newsgroups", 2000) if bench.quick else bench.corpora["20newsgroups"]
    print(f"  {corpus.title}, files", flush=True)
    table = Table("", ("learner", "with documents, MB", "without, MB", "opening, ms"))
    result.tables.append(table)
    for learner in (COUNTS, "softmax:C=10:ngrams=1", SOFTMAX):
        model = textodds.train(*corpus.train.rows, learner=learner)
        paths = [bench.workspace / name for name in ("with", "without")]
        for path, documents in zip(paths, (True, False), strict=True):
            model.save(path, documents=documents)
        sizes = [path.stat().st_size for path in paths]
        textodds.load(paths[0])
        began = time.perf_counter()
        for _ in range(5):
            textodds.load(paths[0])
        opening = (time.perf_counter() - began) / 5 * 1e3
        table.rows.append((learner, *(f"{size / 1e6:.1f}" for size in sizes), f"{opening:.1f}"))
        result.raw.append({"learner": learner, "bytes": sizes, "opening_ms": opening})
        claim = f"{TITLES['20newsgroups']}, {learner}: file with documents against without"
        result.targets.append(Target(claim, False, LARGER, sizes[0] / sizes[1], "times"))
        claim = f"{TITLES['20newsgroups']}, {learner}: opening"
        result.targets.append(Target(claim, False, OPENING, opening, "ms"))


def _promises(bench: Bench, result: Result) -> None:
    """How often promises are broken after forgetting, and those of the model before would be."""
    corpus = bench.corpora["mr"]
    runs = 20 if bench.quick else 200
    columns = (
        "learner",
        "promised error",
        "refused",
        "promised",
        "exceeded",
        "exceeded by the promise before",
    )
    result.tables.append(Table(f"{corpus.title}, {KEPT:.0%} of the documents left, {runs} times", columns))
    for learner in (COUNTS, "softmax:C=10:ngrams=1"):
        print(f"  {corpus.title}, {learner}, promises", flush=True)
        model: Any = textodds.train(*corpus.train.rows, learner=learner, threads=1)
        found = [_after_forgetting(model, corpus, run) for run in range(runs)]
        for error in ERRORS:
            now, before = ([run[who][error] for run in found] for who in (0, 1))
            refused, exceeded = now.count(None), sum(each is True for each in now)
            old = "refused" if None in before else f"{sum(map(bool, before)) / runs:.1%}"
            shares = (f"{refused / runs:.0%}", f"{runs - refused}", f"{exceeded / runs:.1%}", old)
            result.tables[-1].rows.append((learner, f"{error:.0%}", *shares))
            result.raw.append({"learner": learner, "promise": error, "runs": runs, "exceeded": exceeded})
            claim = f"{corpus.title}, {learner}: runs in which a promised error of {error:.0%} is exceeded"
            result.targets.append(Target(claim, False, round(1 - CONFIDENCE, 9), exceeded / runs, "of runs"))
    result.notes.append(
        "A promise is one of `--max-error` with 95 % confidence; it is exceeded if more of the answered "
        "among the test set and the forgotten documents, which are new to the model, are wrong."
    )


def _after_forgetting(model: Any, corpus: Corpus, run: int) -> tuple[dict[float, bool | None], ...]:
    """Whether each promise is exceeded, None where refused: of what is left, and of the model before."""
    texts, labels = corpus.train.rows
    gone = np.random.default_rng(run).permutation(len(texts))[int(KEPT * len(texts)) :].tolist()
    forgotten = [texts[i] for i in gone], [labels[i] for i in gone]
    left = copy.copy(model)
    left.forget(*forgotten)
    posterior = left.predict_proba(corpus.test.texts + forgotten[0])
    truth = np.array(corpus.test.labels + forgotten[1])
    wrong, top = np.array(left.classes_)[posterior.argmax(axis=1)] != truth, posterior.max(axis=1)
    outcomes: list[dict[float, bool | None]] = []
    for held_out in (left.held_out, model.held_out):
        outcomes.append({})
        for error in ERRORS:
            try:
                answered = top >= at_most(held_out, error, CONFIDENCE).threshold
            except InputError:
                outcomes[-1][error] = None
                continue
            outcomes[-1][error] = bool(wrong[answered].sum() > error * answered.sum())
    return tuple(outcomes)
