"""Asking a model on Spark: predictions and explanations as columns, and as functions of SQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from textodds.data import Batch
from textodds.data.admission import admit_texts
from textodds.data.arrow import texts_of
from textodds.data.rejects import Origin
from textodds.learn.forms.linear import log_softmax
from textodds.spark.dataframes import columns_of, must_be_frame, text_of
from textodds.spark.models import ModelOrFile, loaded, model_of, sent
from textodds.spark.quality import learned, without_own
from textodds.spark.tasks import RowErrors
from textodds.spark.wire import Task, telling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from textodds.model.text_model import TextModel

PREDICTION = "struct<label: string, probability: double, evidence: int>"
PROBABILITIES = (
    "struct<label: string, probability: double, evidence: int, probabilities: map<string, double>>"
)
SHARES = "struct<label: string, shares: array<double>>"
EXPLANATION = (
    "struct<label: string, rival: string, probability: double, log_odds: double, start: double, "
    "remainder: double, words: array<struct<word: string, count: int, log_odds: double>>>"
)
LEFT_OUT = "struct<label: string, probability: double, own: double>"


def predict(
    model: ModelOrFile,
    df: DataFrame,
    text: str | None = None,
    *,
    column: str = "prediction",
    probabilities: bool = False,
) -> DataFrame:
    """The DataFrame with a column of predictions: label, probability, and known words (``evidence``).

    A text that is null, or not UTF-8, has the prediction null. With ``probabilities`` there is a map of them
    all, by class.
    """
    asked = prediction(must_be_frame(df).sparkSession, model, probabilities=probabilities)
    return df.withColumn(column, asked(text_of(df, text)))


def explain(
    model: ModelOrFile, df: DataFrame, text: str | None = None, *, column: str = "explanation"
) -> DataFrame:
    """The DataFrame with a column of explanations: what each word adds to the log-odds of the answer.

    ``start``, the words and ``remainder`` add up to ``log_odds``, as in `textodds.model.explain.Explanation`.
    """
    asked = explanation(must_be_frame(df).sparkSession, model)
    return df.withColumn(column, asked(text_of(df, text)))


def leave_one_out(
    model: ModelOrFile,
    df: DataFrame,
    text: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    *,
    column: str = "left_out",
) -> DataFrame:
    """The DataFrame with a column of what the model of all other rows says of each: exactly, in one pass.

    ``label`` is its answer, ``probability`` that of the answer, ``own`` that of the row's own label: labels
    that look wrong are where it is small. The rows must have been learned, under these labels and weights.
    """
    columns = columns_of(df, text, label, weight, labelled=True)
    name = sent(df.sparkSession, learned(model), counts=True)
    return df.withColumn(column, _udf(_left_out(name), LEFT_OUT, several=True)(*columns.values()))


def register(spark: SparkSession, model: ModelOrFile, name: str = "textodds") -> None:
    """Make a model known to SQL, as functions ``<name>_predict`` and ``<name>_explain`` of a text.

    Examples
    --------
    ``SELECT mail_predict(body).label, count(*) FROM messages GROUP BY 1``
    """
    spark.udf.register(f"{name}_predict", prediction(spark, model, probabilities=True))
    spark.udf.register(f"{name}_explain", explanation(spark, model))


def prediction(spark: SparkSession, model: ModelOrFile, *, probabilities: bool = False) -> Any:
    """A function of a column of texts to one of predictions."""
    name = sent(spark, model_of(model))
    kind = PROBABILITIES if probabilities else PREDICTION
    return _udf(_predicted(name, ("probability", "evidence", *(["probabilities"] * probabilities))), kind)


def shares(spark: SparkSession, model: ModelOrFile) -> Any:
    """A function of a column of texts to one of labels and the probabilities of all classes, in order."""
    return _udf(_predicted(sent(spark, model_of(model)), ("shares",)), SHARES)


def explanation(spark: SparkSession, model: ModelOrFile) -> Any:
    """A function of a column of texts to one of explanations."""
    return _udf(_explained(sent(spark, model_of(model))), EXPLANATION)


def _udf(task: Task, kind: str, *, several: bool = False) -> Any:
    """A function of Spark that is given Arrow arrays."""
    from pyspark.sql.pandas.functions import arrow_udf  # where its types are known

    told = telling(task)

    def asked(batches: Any) -> Any:
        yield from told(batches)

    asked.__annotations__ = {
        "batches": Iterator[tuple[pa.Array, ...]] if several else Iterator[pa.Array],
        "return": Iterator[pa.Array],
    }
    return arrow_udf(asked, kind)  # type: ignore[call-overload]


def _readable(array: Any) -> tuple[Any, Any]:
    """The texts of an array, empty where there are none, and where that is (N,)."""
    texts, problems = texts_of(array)
    missing = np.zeros(len(array), dtype=bool)
    if problems:
        missing[list(problems)] = True
        texts = ["" if bad else texts[i].as_py() for i, bad in enumerate(missing)]
    return texts, missing


def _predicted(name: str, wanted: tuple[str, ...]) -> Task:
    def predicted(batches: Iterator[Any]) -> Iterator[Any]:
        model = loaded(name)
        names, K = pa.array(model.classes_, pa.string()), len(model.classes_)
        for array in batches:
            texts, missing = _readable(array)
            scores, evidence = model.score_batch(Batch(texts, None, None))
            posterior = np.exp(log_softmax(scores))
            best = scores.argmax(axis=1)
            columns = {"label": names.take(pa.array(best))}
            if "probability" in wanted:
                columns["probability"] = pa.array(posterior[np.arange(len(best)), best])
            if "evidence" in wanted:
                columns["evidence"] = pa.array(evidence[:, 0].astype(np.int32))
            ends = pa.array(np.arange(len(best) + 1, dtype=np.int32) * K)
            values = pa.array(posterior.reshape(-1))
            if "probabilities" in wanted:
                keys = names.take(pa.array(np.tile(np.arange(K), len(best))))
                columns["probabilities"] = pa.MapArray.from_arrays(ends, keys, values)
            if "shares" in wanted:
                columns["shares"] = pa.ListArray.from_arrays(ends, values)
            yield _struct(columns, missing)

    return predicted


def _explained(name: str) -> Task:
    word = pa.struct([("word", pa.string()), ("count", pa.int32()), ("log_odds", pa.float64())])
    kind = pa.struct(
        [("label", pa.string()), ("rival", pa.string())]
        + [(part, pa.float64()) for part in ("probability", "log_odds", "start", "remainder")]
        + [("words", pa.list_(word))]
    )

    def explained(batches: Iterator[Any]) -> Iterator[Any]:
        model = loaded(name)
        for array in batches:
            texts, missing = _readable(array)
            rows = [None if bad else _why(model, str(text)) for text, bad in zip(texts, missing, strict=True)]
            yield pa.array(rows, kind)

    return explained


def _why(model: TextModel, text: str) -> dict[str, Any]:
    why = model.explain(text)
    parts = ("label", "rival", "probability", "log_odds", "start", "remainder")
    found = {part: getattr(why, part) for part in parts}
    return {**found, "words": [word._asdict() for word in why.words]}


def _left_out(name: str) -> Task:
    def left_out(batches: Iterator[Any]) -> Iterator[Any]:
        model = loaded(name)
        names = pa.array(model.classes_, pa.string())
        for columns in batches:
            batch, here = _learned(*columns)
            n, answer = len(columns[0]), np.zeros(len(columns[0]), np.int64)
            probability, own, missing = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
            if batch is not None:
                found = without_own(name, batch)
                rows = here[found.rows]
                best = found.log_posterior.argmax(axis=1)
                missing[rows], answer[rows], own[rows] = False, best, np.exp(found.own)
                probability[rows] = np.exp(found.log_posterior.max(axis=1))
            said = {"label": names.take(pa.array(answer))}
            yield _struct(said | {"probability": pa.array(probability), "own": pa.array(own)}, missing)

    return left_out


def _learned(texts: Any, labels: Any, weights: Any = None) -> tuple[Batch | None, Any]:
    """The rows that can have been learned, and where they stand."""
    positions: list[int] = []
    rejects = RowErrors("skip")
    rejects.add = lambda origin, at, reason, row: positions.append(at)  # type: ignore[method-assign]
    batch = admit_texts(texts, labels, weights, rejects, Origin("the DataFrame", "row"), lambda at: at)
    return batch, np.delete(np.arange(len(texts)), positions)


def _struct(columns: dict[str, Any], missing: Any) -> Any:
    fields = [pa.field(name, array.type) for name, array in columns.items()]
    return pa.StructArray.from_arrays(list(columns.values()), fields=fields, mask=pa.array(missing))
