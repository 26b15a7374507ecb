"""A program: textodds and MLlib take turns in one session of Spark, on the same Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import textodds.spark
from corpora import Part
from measure import interleaved
from sparking.names import (
    BAYES,
    BEST,
    EMPTY,
    EXACT,
    MLLIB,
    NOT_CALIBRATED,
    NOT_SCALED,
    OURS,
    SOFTMAX,
    TOLERANCES,
)
from sparking.program import main, plain
from sparking.session import OnSpark, about, passed, started
from textodds.learn.softmax.regression import SoftmaxLearner

BUCKETS = 1 << 18

Labelled = Sequence[tuple[str, str]]  # texts and labels


def contest(order: dict[str, Any]) -> dict[str, Any]:
    """Timings and accuracies of naive Bayes, and of logistic regression by penalty."""
    spark = started(Path(order["scratch"]))
    rows = spark.read.parquet(order["data"])
    test: Labelled = list(zip(*Part(Path(order["test"])).rows, strict=True))
    found = {"about": about(), "partitions": rows.rdd.getNumPartitions()}
    found["bayes"] = bayes(spark, rows, test, order["rounds"])
    found["tuning"] = tuning(spark, order)
    found["regression"] = regression(spark, rows, test, order, found["tuning"])
    return found


def bayes(spark: Any, rows: Any, test: Labelled, rounds: int) -> dict[str, Any]:
    """Naive Bayes, and a pass that does nothing."""
    from pyspark.ml.classification import NaiveBayes

    jobs: dict[str, Callable[[], Any]] = {
        EMPTY: lambda: rows.select("text", "label").mapInArrow(passed, "n int").collect(),
        OURS: lambda: textodds.spark.train(rows, learner=BAYES),
        NOT_CALIBRATED: lambda: textodds.spark.train(rows, learner=BAYES, calibrate=False),
        MLLIB: lambda: _pipeline(NaiveBayes(featuresCol="counts", labelCol="y")).fit(rows),
    }
    contenders = {name: OnSpark(name, job, spark) for name, job in jobs.items()}
    series = interleaved(contenders.values(), rounds)
    return {
        "series": plain(series),
        "accuracy": {
            OURS: _accuracy(contenders[OURS].result, test),
            NOT_CALIBRATED: _accuracy(contenders[NOT_CALIBRATED].result, test),
            MLLIB: _accuracy_of_mllib(spark, contenders[MLLIB].result, test),
        },
    }


@dataclass(frozen=True)
class Regression:
    """One of the logistic regressions that are compared, with a penalty on the mean loss of n rows."""

    name: str
    penalty: float
    n: int
    most: int  # steps of MLlib's optimiser

    @property
    def is_ours(self) -> bool:
        return self.name in TOLERANCES

    def fit(self, rows: Any) -> Any:
        """The model of a DataFrame."""
        if self.is_ours:  # whose penalty is on the sum
            learner = SoftmaxLearner(C=1 / (self.penalty * self.n), tolerance=TOLERANCES[self.name])
            return textodds.spark.train(rows, learner=learner, ngrams=(1, 1))
        from pyspark.ml.classification import LogisticRegression
        from pyspark.ml.feature import IDF

        weighed = IDF(inputCol="counts", outputCol="features")
        theirs = LogisticRegression(
            labelCol="y", regParam=self.penalty, maxIter=self.most, standardization=self.name != NOT_SCALED
        )
        return _pipeline(weighed, theirs).fit(rows)

    def steps(self, model: Any) -> int:
        """Steps of the optimiser."""
        return int(model.info["fit"]["steps"] if self.is_ours else model.stages[-1].summary.totalIterations)

    def accuracy(self, spark: Any, model: Any, test: Labelled) -> float:
        """The share of right answers."""
        return _accuracy(model, test) if self.is_ours else _accuracy_of_mllib(spark, model, test)


def tuning(spark: Any, order: dict[str, Any]) -> list[dict[str, Any]]:
    """Accuracies on rows of one copy that were held out, by learner and penalty.

    A penalty on the mean loss is as good for one copy as for many.
    """
    rows, held = (spark.read.parquet(order[part]) for part in ("learned", "held_out"))
    n, test = rows.count(), [(row.text, row.label) for row in held.collect()]
    found = []
    for name, penalties in order["penalties"].items():
        for penalty in penalties:
            one = Regression(name, penalty, n, order["steps"])
            who = OnSpark(
                f"{name}, penalty {penalty:g}, one copy", partial(one.fit, rows), spark, is_cold=False
            )
            cpu, _ = who.time()
            told = {"cpu": cpu, "steps": one.steps(who.result), "rows": n}
            accuracy = one.accuracy(spark, who.result, test)
            found.append({"who": name, "penalty": penalty, "accuracy": accuracy, **told})
    return found


def regression(
    spark: Any, rows: Any, test: Labelled, order: dict[str, Any], tuned: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Logistic regression on all rows; what takes long runs once."""
    best = {name: max((one for one in tuned if one["who"] == name), key=_good) for name in order["penalties"]}
    theirs = max((MLLIB, NOT_SCALED), key=lambda name: best[name]["accuracy"])
    ours = best[SOFTMAX]["penalty"]
    contests = {
        BEST: {SOFTMAX: ours, theirs: best[theirs]["penalty"], EXACT: ours},
    }
    found = []
    for title, penalties in contests.items():
        print(f"  {title}", flush=True)
        each = {
            name: Regression(name, penalty, order["rows"], order["steps"])
            for name, penalty in penalties.items()
        }
        contenders = {
            name: OnSpark(
                name, partial(one.fit, rows), spark, rounds=None if name == SOFTMAX else 1, is_cold=False
            )
            for name, one in each.items()
        }
        series = interleaved(contenders.values(), max(1, order["rounds"] - 1))
        models = {name: who.result for name, who in contenders.items()}
        found.append(
            {
                "title": title,
                "penalties": penalties,
                "series": plain(series),
                "accuracy": {name: one.accuracy(spark, models[name], test) for name, one in each.items()},
                "steps": {name: one.steps(models[name]) for name, one in each.items()},
            }
        )
    return found


def _good(tuned: dict[str, Any]) -> tuple[float, float]:
    """More accurate, or as accurate for less."""
    return tuned["accuracy"], -tuned["cpu"]


def _pipeline(*rest: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, StringIndexer, Tokenizer

    return Pipeline(
        stages=[
            StringIndexer(inputCol="label", outputCol="y"),
            Tokenizer(inputCol="text", outputCol="words"),
            HashingTF(inputCol="words", outputCol="counts", numFeatures=BUCKETS),
            *rest,
        ]
    )


def _accuracy(model: Any, test: Labelled) -> float:
    texts, labels = zip(*test, strict=True)
    return float(model.evaluate(list(texts), list(labels)).accuracy)


def _accuracy_of_mllib(spark: Any, model: Any, test: Labelled) -> float:
    rows = spark.createDataFrame(list(test), "text string, label string")
    right = model.transform(rows).selectExpr("avg(cast(y = prediction as double))")
    return float(right.first()[0])


if __name__ == "__main__":
    main(contest)
