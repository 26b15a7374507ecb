"""Naive Bayes and logistic regression on Spark, of textodds and of MLlib, and a pass that does nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import Bench
from corpora import Missing, Part
from measure import Series
from result import Bar, Result, Table, Target, digits, times
from sparking.names import BEST, EMPTY, EXACT, MLLIB, NOT_CALIBRATED, NOT_SCALED, OURS, SOFTMAX
from sparking.program import found_by, must_have_spark, series_of
from sparking.replicated import replicated
from sparking.session import CORES, MEMORY

DATA = "ag_news_subset"
SIZE, QUICK_SIZE = 500e6, 20e6  # bytes of text
FILES = 8
STEPS, QUICK_STEPS = 100, 10  # of MLlib's optimiser, at most
PENALTIES = {
    SOFTMAX: (3e-6, 1e-5, 3e-5),
    MLLIB: (1e-1, 3e-1, 1.0),
    NOT_SCALED: (1e-3, 1e-2),
}
QUICK_PENALTIES = {SOFTMAX: (1e-5, 1e-4), MLLIB: (1e-1,), NOT_SCALED: (1e-2,)}
HELD_OUT = 0.2

BAYES, REGRESSION = "naive Bayes on Spark", "logistic regression on Spark"
TEN, FIVE, PASSES = 10, 5, 2.5


def spark(bench: Bench) -> Result:
    result = Result(
        "spark",
        "Training on Spark",
        "Copies of the AG News subset, each in another order, as Parquet (zstd): `textodds.spark.train` "
        "against MLlib's `Tokenizer`, `HashingTF` (2^18 buckets), `StringIndexer` and `NaiveBayes`, and "
        "against an empty pass, which is `mapInArrow` over the columns of texts and labels with a function "
        "that drops what it gets. Logistic regression is MLlib's `LogisticRegression` (at most 100 steps) of "
        "`IDF` of these features, against `textodds.spark.train` of `SoftmaxRegression` of single words. All "
        f"in one process and one session of Spark, `local[{CORES}]` with {MEMORY} for the driver. CPU "
        "seconds are those of the driver, of its JVM and of all Python workers. Accuracies are those on the "
        "test set.",
    )
    try:
        must_have_spark()
        order, data = _order(bench)
    except Missing as missing:
        result.skip(str(missing))
        for claim, at_least, asked in (
            (f"{BAYES}, MLlib's CPU", True, TEN),
            (f"{BAYES}, CPU in empty passes", False, PASSES),
            (f"{REGRESSION}, MLlib's CPU, {BEST}", True, FIVE),
        ):
            result.targets.append(Target(claim, at_least, asked, None, "times"))
        return result
    found = found_by("contest", order, bench.workspace)
    result.raw.append({"versions": found["about"], "partitions": found["partitions"], **data})
    result.notes.append(
        f"{data['rows']:,} rows, {digits(data['text_bytes'] / 1e6)} MB of text, "
        f"{digits(data['parquet_bytes'] / 1e6)} MB as {FILES} files of Parquet, which Spark reads as "
        f"{found['partitions']} partitions; {data['copies']} copies. Spark {found['about']['pyspark']}, "
        f"{found['about']['java']}. MLlib found no native BLAS where none is installed; it takes Java's "
        "vector instructions then."
    )
    _bayes(result, found["bayes"], data)
    _tuning(result, found["tuning"])
    for one in found["regression"]:
        _regression(result, one)
    return result


def _order(bench: Bench) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the program is told, and what there is in its data."""
    corpus = bench.corpora[DATA]
    print("  writing Parquet", flush=True)
    data = replicated(
        corpus.train, bench.workspace / "spark", size=QUICK_SIZE if bench.quick else SIZE, files=FILES
    )
    learned, held_out = _halves(corpus.train, bench.workspace, 5000 if bench.quick else None)
    order = {
        "data": str(data.paths[0].parent),
        "rows": data.rows,
        "test": str(corpus.test.path),
        "learned": str(learned),
        "held_out": str(held_out),
        "rounds": min(3, bench.rounds),
        "steps": QUICK_STEPS if bench.quick else STEPS,
        "penalties": QUICK_PENALTIES if bench.quick else PENALTIES,
    }
    told = ("copies", "rows", "text_bytes", "parquet_bytes")
    return order, {name: getattr(data, name) for name in told}


def _halves(part: Part, folder: Path, most: int | None) -> tuple[Path, Path]:
    """Rows to learn from and rows to choose penalties by."""
    table = pa.table({"text": part.texts, "label": part.labels})
    order = np.random.default_rng(0).permutation(len(table))[:most]
    cut = int(HELD_OUT * len(order))
    paths = folder / "spark-learned.parquet", folder / "spark-held-out.parquet"
    for path, rows in zip(paths, (order[cut:], order[:cut]), strict=True):
        pq.write_table(table.take(pa.array(rows)), path, compression="zstd", row_group_size=5000)
    return paths


def _bayes(result: Result, found: dict[str, Any], data: dict[str, Any]) -> None:
    series = series_of(found["series"])
    result.record("naive Bayes", series, accuracy=found["accuracy"])
    warm = {name: _warm(one) for name, one in series.items()}
    table = Table(
        "Naive Bayes",
        ("naive Bayes", "CPU s", "CPU s per GB", "wall s", "CPU s of the first round", "accuracy",
         "in empty passes", "textodds is faster by, CPU"),
    )  # fmt: skip
    for who, seconds in warm.items():
        accuracy = found["accuracy"].get(who)
        passes = result.ratio("naive Bayes", seconds, warm[EMPTY]).value
        faster = result.ratio("naive Bayes", seconds, warm[OURS]).value
        table.rows.append(
            (
                who,
                digits(seconds.median()),
                digits(seconds.median() / data["text_bytes"] * 1e9),
                digits(seconds.median("wall")),
                digits(series[who].of_round(0) or 0.0),
                "" if accuracy is None else f"{accuracy:.4f}",
                "" if who == EMPTY else digits(passes),
                times(faster) if who == MLLIB else "",
            )
        )
    result.tables.append(table)
    result.notes.append(
        "Rounds of naive Bayes: the first is shown apart, in which the JVM has yet to compile and Python "
        "workers have yet to start and import; the medians are of the others, before which workers are "
        "woken by a job that is not timed, and the JVM collects its garbage."
    )
    faster = result.ratio("naive Bayes", warm[MLLIB], warm[OURS])
    result.targets.append(Target.times(f"{BAYES}, MLlib's CPU", TEN, faster))
    result.bars.append(Bar("naive Bayes on Spark", MLLIB, faster.value, TEN))
    for who, told in ((OURS, ""), (NOT_CALIBRATED, ", not calibrated")):
        share = result.ratio("naive Bayes", warm[who], warm[EMPTY])
        claim = f"{BAYES}, CPU in empty passes{told}"
        result.targets.append(Target(claim, False, PASSES, share.value, "times", share.low, share.high))
    _as_accurate(result, f"{BAYES}, accuracy above MLlib's", found["accuracy"], OURS, MLLIB)


def _warm(series: Series) -> Series:
    """The series without its first round, if there are others."""
    later = tuple(timing for timing in series.timings if timing.round)
    return Series(series.name, later or series.timings)


def _tuning(result: Result, found: list[dict[str, Any]]) -> None:
    result.raw.append({"data": "one copy", "held_out": HELD_OUT, "tuning": found})
    columns = ("penalty, on one copy", "regParam", "CPU s", "steps", "accuracy, held out")
    rows = [
        (one["who"], f"{one['penalty']:g}", digits(one["cpu"]), str(one["steps"]), f"{one['accuracy']:.4f}")
        for one in found
    ]
    result.tables.append(Table("Penalties", columns, rows))
    result.notes.append(
        "Penalties are on the mean loss (`regParam`; `C` is 1 / (`regParam` × rows)). The best of each is "
        f"the most accurate on {HELD_OUT:.0%} of one copy, which were held out; for MLlib with its features "
        "scaled to unit variance, as it has it by default, or without that (`standardization`). "
        "The same number is not the same penalty: features of textodds are tf-idf of unit length, those of "
        "MLlib are not, and where it scales them, rare words are hardly held back; so "
        "the two are not compared at one number. The grids lie where an earlier look at one copy had found "
        "good ones."
    )


def _regression(result: Result, found: dict[str, Any]) -> None:
    title, series = found["title"], series_of(found["series"])
    data = f"logistic regression, {title}"
    told = {key: found[key] for key in ("accuracy", "steps", "penalties")}
    result.record(data, series, **told)
    columns = (data, "regParam", "steps", "CPU s", "runs", "wall s", "accuracy", "textodds is faster by, CPU")
    table = Table(title, columns)
    theirs = next(name for name in series if name in (MLLIB, NOT_SCALED))
    for who, seconds in series.items():
        ratio = result.ratio(data, series[theirs], seconds)
        table.rows.append(
            (
                who,
                f"{found['penalties'][who]:g}",
                str(found["steps"][who]),
                digits(seconds.median()),
                str(len(seconds.timings)),
                digits(seconds.median("wall")),
                f"{found['accuracy'][who]:.4f}",
                "" if who == theirs else times(ratio.value),
            )
        )
    result.tables.append(table)
    faster = result.ratio(data, series[theirs], series[SOFTMAX])
    result.targets.append(Target.times(f"{REGRESSION}, MLlib's CPU, {title}", FIVE, faster))
    result.bars.append(Bar(f"logistic regression on Spark, {title}", MLLIB, faster.value, FIVE))
    for who in (SOFTMAX, EXACT):
        claim = f"{REGRESSION}, accuracy above MLlib's, {title} ({who})"
        _as_accurate(result, claim, found["accuracy"], who, theirs)


def _as_accurate(result: Result, claim: str, accuracy: dict[str, float], ours: str, theirs: str) -> None:
    points = 100 * (accuracy[ours] - accuracy[theirs])
    result.targets.append(Target(claim, True, 0, round(points, 6), "points"))
